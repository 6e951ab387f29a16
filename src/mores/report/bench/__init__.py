"""Runs of benchmarks: every number with its interval, and what the model got wrong.

`page` is for the runs of `mores bench`, `board_page` for the leaderboard of `mores board`.
"""

from mores.report.bench.answers import BenchRun
from mores.report.bench.html import board_page, board_sections, page, sections

__all__ = ["BenchRun", "board_page", "board_sections", "page", "sections"]
