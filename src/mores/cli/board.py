"""`mores board`: a leaderboard of runs of `mores bench`."""

from __future__ import annotations

from pathlib import Path

import click

from mores.benchmark.board import make_board, read_runs
from mores.cli.options import FOLDER, NEW_FILE, figures_option, json_option
from mores.formatting import count
from mores.io import write_text
from mores.report.base.figures import write_figures
from mores.report.base.grid import print_tables
from mores.report.base.links import link_runs
from mores.report.bench import board_page, board_sections, board_tables


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=FOLDER)
@click.option("--html", type=NEW_FILE, help="Write the page with all charts here.")
@figures_option
@click.option("--force", is_flag=True, help="Join also runs whose signatures say that they are not comparable.")
@json_option("the tables")
def board(folders: tuple[Path, ...], html: Path | None, figures: Path | None, force: bool, as_json: bool) -> None:
    """Rank the models whose runs are in DIR..., one table for each benchmark.

    A DIR is what `mores bench --out` wrote, or one run in it. Every model is tested against the best and against the
    one below it, on the questions that both answered; p is adjusted for the number of tests.
    """  # fmt: skip
    entries = read_runs(folders)
    ranking = make_board(entries, force=force)
    results = [entry.result for entry in entries]
    if html:
        links = link_runs(
            html, ((f"{entry.result.model}, {entry.result.name}", Path(entry.folder)) for entry in entries)
        )
        write_text(html, board_page(ranking, results, links))
        click.echo(f"wrote {html}", err=True)
    if figures:
        written = write_figures(board_sections(ranking, results), [], figures)
        click.echo(f"wrote {count(len(written), 'file')} into {figures}", err=True)
    if as_json:
        click.echo(ranking.model_dump_json(indent=2))
    else:
        print_tables(board_tables(ranking))
