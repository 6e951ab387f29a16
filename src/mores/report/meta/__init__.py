"""A meta-evaluation (`mores meta`): how well metrics agree with gold reports, in the forms of ExCAM."""

from mores.report.meta.html import page, sections
from mores.report.meta.table import (
    breakdown,
    conclusion,
    headline,
    markdown_tables,
    run_page,
    run_sections,
    run_tables,
    tables,
    votes,
)
from mores.report.meta.versus import versus_tables

__all__ = [
    "breakdown", "conclusion", "headline", "markdown_tables", "page", "run_page", "run_sections", "run_tables",
    "sections", "tables", "versus_tables", "votes",
]  # fmt: skip
