"""Long answers (`mores longform`) with CaLMQA's figures, and the answers with their claims and evidence."""

from mores.longform.folder import LongformRun
from mores.report.base.grid import Grid
from mores.report.longform.html import page, sections
from mores.report.longform.table import tables

__all__ = ["page", "run_page", "run_tables", "sections", "tables"]


def run_tables(run: LongformRun) -> list[Grid | str]:
    """What is printed about a run."""
    return tables(run.summaries)


def run_page(run: LongformRun) -> str:
    """The page of a run."""
    return page(run.summaries, run.appraised(), run.signature)
