"""`mores board`: which model is better on which benchmark."""

from __future__ import annotations

from pathlib import Path

import orjson

from mores.benchmark.kept_board import find_board
from mores.benchmark.settings import BoardSettings
from mores.cli.command import command
from mores.cli.result import print_result, show_document
from mores.report.settings import OutputSettings


@command(BoardSettings, OutputSettings)
def board(settings: BoardSettings, output: OutputSettings) -> None:
    """Rank the models whose runs are in DIR..., one table for each benchmark.

    A DIR is what `mores bench --out` wrote, or one run in it. Every model is tested against the best and against the
    one below it, on the questions that both answered; p is adjusted for the number of tests.
    """
    if output.json and not (output.html or output.figures):
        folders = [Path(str(run)) for run in settings.runs]
        if (kept := find_board(folders, settings.force, settings.by, settings.ability)) is not None:
            print_result(orjson.dumps(kept, option=orjson.OPT_INDENT_2).decode(), (), True)
            return
    from mores.benchmark.board import rank_runs
    from mores.report.base.links import link_runs
    from mores.report.bench import describe_board

    ranking, runs = rank_runs(settings.runs, force=settings.force, by=settings.by, ability=settings.ability)
    names = ((f"{run.result.model}, {run.result.name}", run.path) for run in runs)
    links = link_runs(output.html, names) if output.html else ()
    show_document(describe_board(ranking, [run.result for run in runs], links), output, ranking)
