"""`mores board`: a leaderboard of runs of `mores bench`."""

from __future__ import annotations

from pathlib import Path

import click

from mores.benchmark.api import folders_of
from mores.benchmark.board import make_board, read_runs
from mores.benchmark.settings import BoardSettings
from mores.cli.command import command
from mores.cli.result import check_output
from mores.formatting import count
from mores.io import write_text
from mores.report.base.figures import write_figures
from mores.report.base.grid import print_tables
from mores.report.base.links import link_runs
from mores.report.bench import board_page, board_sections, board_tables
from mores.report.settings import OutputSettings


@command(BoardSettings, OutputSettings)
def board(settings: BoardSettings, output: OutputSettings) -> None:
    """Rank the models whose runs are in DIR..., one table for each benchmark.

    A DIR is what `mores bench --out` wrote, or one run in it. Every model is tested against the best and against the
    one below it, on the questions that both answered; p is adjusted for the number of tests.
    """
    check_output(output)
    entries = read_runs(folders_of(settings.runs))
    ranking = make_board(entries, force=settings.force)
    results, html, figures = [entry.result for entry in entries], output.html, output.figures
    if html:
        links = link_runs(
            html, ((f"{entry.result.model}, {entry.result.name}", Path(entry.folder)) for entry in entries)
        )
        write_text(html, board_page(ranking, results, links))
        click.echo(f"wrote {html}", err=True)
    if figures:
        written = write_figures(board_sections(ranking, results), [], figures)
        click.echo(f"wrote {count(len(written), 'file')} into {figures}", err=True)
    if output.json:
        click.echo(ranking.model_dump_json(indent=2))
    else:
        print_tables(board_tables(ranking))
