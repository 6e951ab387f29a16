"""The card of a dataset (`mores build`): what is in it, where it comes from, its shortcuts, and examples."""

from mores.report.card.html import page, sections
from mores.report.card.table import difference_tables, run_page, run_sections, run_tables

__all__ = ["difference_tables", "page", "run_page", "run_sections", "run_tables", "sections"]
