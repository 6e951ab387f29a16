"""`mores board`: a leaderboard of runs of `mores bench`."""

from __future__ import annotations

from pathlib import Path

import click

from mores.benchmark.api import folders_of
from mores.benchmark.board import make_board, read_runs
from mores.benchmark.settings import BoardSettings
from mores.cli.command import command
from mores.cli.result import check_output, write_document_figures
from mores.io import write_text
from mores.report.base.grid import print_tables
from mores.report.base.links import link_runs
from mores.report.base.page import render_page
from mores.report.bench import describe_board
from mores.report.settings import OutputSettings


@command(BoardSettings, OutputSettings)
def board(settings: BoardSettings, output: OutputSettings) -> None:
    """Rank the models whose runs are in DIR..., one table for each benchmark.

    A DIR is what `mores bench --out` wrote, or one run in it. Every model is tested against the best and against the
    one below it, on the questions that both answered; p is adjusted for the number of tests.
    """
    check_output(output)
    entries = read_runs(folders_of(settings.runs))
    ranking = make_board(entries, force=settings.force, by=settings.by)
    names = ((f"{entry.result.model}, {entry.result.name}", Path(entry.folder)) for entry in entries)
    links = link_runs(output.html, names) if output.html else ()
    document = describe_board(ranking, [entry.result for entry in entries], links)
    if output.html:
        write_text(output.html, render_page(document))
        click.echo(f"wrote {output.html}", err=True)
    write_document_figures(document, output)
    if output.json:
        click.echo(ranking.model_dump_json(indent=2))
    else:
        print_tables(document.printed)
