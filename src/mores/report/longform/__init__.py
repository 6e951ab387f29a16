"""Long answers (`mores longform`) with CaLMQA's figures, and the answers with their claims and evidence."""

from mores.longanswer.folder import LongformRun
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid
from mores.report.longform.html import page, sections
from mores.report.longform.table import tables

__all__ = ["page", "run_page", "run_sections", "run_tables", "sections", "tables"]


def run_tables(run: LongformRun) -> list[Grid | str]:
    """Return what is printed about a run."""
    return tables(run.summaries)


def run_page(run: LongformRun) -> str:
    """Return the page of a run."""
    return page(run.summaries, run.appraised(), run.signature)


def run_sections(run: LongformRun) -> list[Section]:
    """Return the charts and tables of its page."""
    return [*sections(run.summaries)]
