"""A collection of questions (`mores collect`): what was kept, what was dropped, and why."""

from mores.longanswer.folder import CollectRun
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid
from mores.report.collect.html import page, sections
from mores.report.collect.table import tables

__all__ = ["page", "run_page", "run_sections", "run_tables", "sections", "tables"]


def run_tables(run: CollectRun) -> list[Grid | str]:
    """Return what is printed about a run."""
    return tables(run.collection)


def run_page(run: CollectRun) -> str:
    """Return the page of a run."""
    return page(run.collection, list(run.questions()), run.collection.warning)


def run_sections(run: CollectRun) -> list[Section]:
    """Return the charts and tables of its page."""
    return [*sections(run.collection)]
