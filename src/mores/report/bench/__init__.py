"""Runs of benchmarks: every number with its interval, and what the model got wrong.

`page` and `tables` are for the runs of `mores bench`, `board_page` and `board_tables` for the leaderboard of
`mores board`.
"""

from collections.abc import Sequence
from pathlib import Path

from mores.benchmark import folder
from mores.io import write_text
from mores.longanswer.appraise import read_summaries
from mores.longanswer.evaluate import read_appraised
from mores.report import longform
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid
from mores.report.base.links import link_runs
from mores.report.bench.answers import BenchRun
from mores.report.bench.html import board_page, board_sections, page, sections
from mores.report.bench.table import benchmark_table, board_tables, check_table, tables

__all__ = [
    "BenchRun", "benchmark_table", "board_page", "board_sections", "board_tables", "check_table",
    "page", "run_page", "run_sections", "run_tables", "sections", "tables", "write_pages",
]  # fmt: skip


def run_tables(run: folder.BenchRun) -> list[Grid | str]:
    """Return what is printed about one run."""
    return tables([run.result])


def run_page(run: folder.BenchRun) -> str:
    """Return the page of one run."""
    return page([BenchRun(run.result, run.answers())])


def run_sections(run: folder.BenchRun) -> list[Section]:
    """Return the charts and tables of its page."""
    return sections([run.result])


def write_pages(runs: Sequence[folder.BenchRun], out: Path) -> None:
    """One page for all runs, `bench.html` in the folder `out`, and one more in the folder of each with long answers."""
    names = ((f"{run.result.model}, {run.result.name}", run.path) for run in runs)
    links = link_runs(out / "bench.html", names)
    write_text(out / "bench.html", page([BenchRun(run.result, run.answers()) for run in runs], links))
    for run in runs:
        if (inner := run.path / folder.LONGFORM).is_dir():
            summaries = read_summaries(inner)
            shown = longform.page(summaries, read_appraised(inner), summaries[0].signature)
            write_text(inner / "longform.html", shown)
