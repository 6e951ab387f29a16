"""A training (`mores train`): how well the tuned model decides, and what it was trained on."""

from mores.report.train.html import page, run_page, run_sections, sections
from mores.report.train.table import grounded_table, run_tables, tables

__all__ = ["grounded_table", "page", "run_page", "run_sections", "run_tables", "sections", "tables"]
