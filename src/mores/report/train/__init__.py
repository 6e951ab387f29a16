"""A training (`mores train`): how well the tuned model decides, and what it was trained on."""

from mores.report.train.html import page, run_page, run_sections, sections
from mores.report.train.table import run_tables, tables

__all__ = ["page", "run_page", "run_sections", "run_tables", "sections", "tables"]
