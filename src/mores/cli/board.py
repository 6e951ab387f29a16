"""`mores board`: a leaderboard of runs of `mores bench`."""

from __future__ import annotations

from pathlib import Path

import click

from mores.bench.board import make_board, read_runs
from mores.cli.options import figures_option
from mores.io import write_text
from mores.report.base.figures import write_figures
from mores.report.base.grid import print_tables
from mores.report.base.links import link_runs
from mores.report.bench import board_page, board_sections, board_tables
from mores.show import count


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the page with all charts here.")
@figures_option
@click.option("--force", is_flag=True, help="Join also runs whose signatures say that they are not comparable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the tables.")
def board(folders: tuple[Path, ...], html: Path | None, figures: Path | None, force: bool, as_json: bool) -> None:
    """Rank the models whose runs are in DIR..., one table for each benchmark.

    A DIR is what `mores bench --out` wrote, or one run in it. Every model is tested against the best and against the
    one below it, on the questions that both answered; p is adjusted for the number of tests.
    """  # fmt: skip
    entries = read_runs(folders)
    found = make_board(entries, force=force)
    results = [entry.result for entry in entries]
    if html:
        links = link_runs(html, ((f"{one.result.model}, {one.result.name}", Path(one.folder)) for one in entries))
        write_text(html, board_page(found, results, links))
        click.echo(f"wrote {html}", err=True)
    if figures:
        written = write_figures(board_sections(found, results), [], figures)
        click.echo(f"wrote {count(len(written), 'file')} into {figures}", err=True)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        print_tables(board_tables(found))
