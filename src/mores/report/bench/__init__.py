"""Runs of benchmarks (`mores bench`) and leaderboards (`mores board`): every number with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.benchmark import folder
from mores.benchmark.board import Board
from mores.benchmark.score import BenchResult
from mores.formatting import count
from mores.io import write_text
from mores.report.base.blocks import RunLinks, Section
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid, tables_html
from mores.report.base.links import link_runs
from mores.report.base.page import render_page
from mores.report.bench.answers import AnsweredRun, answers_section
from mores.report.bench.groups import board_sections, sections
from mores.report.bench.tables import (
    benchmark_table,
    board_tables,
    check_table,
    fact_lines,
    facts_text,
    setting_tables,
    tables,
)

__all__ = [
    "AnsweredRun", "benchmark_table", "board_tables", "check_table", "describe", "describe_board", "describe_runs",
    "facts_text", "tables", "write_pages",
]  # fmt: skip


def describe(run: folder.BenchRun, by: Sequence[str] = ()) -> ResultDocument:
    """Return the document of one run, also by columns of its questions."""
    return describe_runs([AnsweredRun(run.result_by(by), run.answers, run.facts)])


def describe_runs(runs: Sequence[AnsweredRun], links: Sequence[RunLinks] = ()) -> ResultDocument:
    """Return the figures of all runs; of the answers, a page holds some hundreds, the wrong and the unscored first."""
    results = [run.result for run in runs]
    compared = setting_tables((run.result, run.facts) for run in runs)
    settings = [Section("settings", "Settings", list(compared))] if compared else []
    parts, details = [*settings, *sections(results)], lambda: [answers_section(runs)]
    shown: list[Grid | str] = tables(results)
    shown[len(results) : len(results)] = compared  # before the headlines
    document = ResultDocument("benchmark", "", shown, parts, details, links=links, script=True)
    return _about(document, results, [run.facts for run in runs])


def describe_board(board: Board, results: Sequence[BenchResult], links: Sequence[RunLinks] = ()) -> ResultDocument:
    """Return a leaderboard; `results` are those of its runs."""
    parts = board_sections(board, results, links)
    document = ResultDocument("leaderboard", "", board_tables(board), parts, links=links, script=True)
    known = [standing.facts for leaderboard in board.leaderboards for standing in leaderboard.standings]
    return _about(document, results, known)


def _about(
    document: ResultDocument, results: Sequence[BenchResult], known: Iterable[Mapping[str, str]]
) -> ResultDocument:
    """Return a document with what results are about, facts that are `known` of each model too, and signatures."""
    titles = [part.title for part in document.sections if part.short]
    models, judges = (
        dict.fromkeys(filter(None, names)) for names in ([r.model for r in results], [r.judge for r in results])
    )
    facts = {"Model": ", ".join(models) if len(models) < 4 else f"{len(models)} models"}
    facts |= fact_lines(known) | ({"Judge": ", ".join(judges)} if judges else {})
    if most := max((r.samples for r in results), default=0):
        facts["Answers to each question"] = count(most)
    signatures = [(f"{r.model}, {r.benchmark}", r.signature) for r in results]
    heading = titles[0] if len(titles) == 1 else f"{len(titles)} benchmarks"
    return replace(document, heading=heading, facts=facts, signatures=signatures)


def result_html(result: BenchResult) -> str:
    """Return a result, in a notebook."""
    return tables_html(tables([result]))


def board_html(board: Board) -> str:
    """Return a leaderboard, in a notebook."""
    return tables_html(board_tables(board))


def write_pages(runs: Sequence[folder.BenchRun], out: Path) -> ResultDocument:
    """Write `bench.html` for all runs into the folder `out`, and a page into the folder of each with long answers.

    Return the document of all runs.
    """
    names = ((f"{run.result.model}, {run.result.name}", run.path) for run in runs)
    links = link_runs(out / "bench.html", names)
    document = describe_runs([AnsweredRun(run.result, run.answers, run.facts) for run in runs], links)
    write_text(out / "bench.html", render_page(document))
    for run in runs:
        if (inner := run.path / folder.LONGFORM).is_dir():
            from mores.longanswer.appraise import read_summaries
            from mores.longanswer.evaluate import read_appraised
            from mores.report import longform

            summaries = read_summaries(inner)
            of_run = longform.describe_summaries(summaries, partial(read_appraised, inner), summaries[0].signature)
            write_text(inner / "longform.html", render_page(of_run))
    return document
