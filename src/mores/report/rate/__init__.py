"""The analysis of people's ratings (`mores rate`)."""

from mores.report.rate.html import run_page, run_sections
from mores.report.rate.table import files, run_tables

__all__ = ["files", "run_page", "run_sections", "run_tables"]
