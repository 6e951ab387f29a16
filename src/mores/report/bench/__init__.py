"""Runs of benchmarks: every number with its interval, and what the model got wrong.

`page` and `tables` are for the runs of `mores bench`, `board_page` and `board_tables` for the leaderboard of
`mores board`.
"""

from mores.bench import folder
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid
from mores.report.bench.answers import BenchRun
from mores.report.bench.html import board_page, board_sections, page, sections
from mores.report.bench.table import benchmark_table, board_tables, judge_tables, tables

__all__ = [
    "BenchRun", "benchmark_table", "board_page", "board_sections", "board_tables", "judge_tables", "page", "run_page",
    "run_sections", "run_tables", "sections", "tables",
]  # fmt: skip


def run_tables(run: folder.BenchRun) -> list[Grid | str]:
    """What is printed about one run."""
    return tables([run.result])


def run_page(run: folder.BenchRun) -> str:
    """The page of one run."""
    return page([BenchRun(run.result, run.answers())])


def run_sections(run: folder.BenchRun) -> list[Section]:
    """The charts and tables of its page."""
    return sections([run.result])
