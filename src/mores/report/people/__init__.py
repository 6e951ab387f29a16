"""Judges against people (`mores meta --data ratings:FILE`): correlation, agreement beside that of people, worth."""

from mores.report.people.html import run_page, run_sections
from mores.report.people.table import run_tables

__all__ = ["run_page", "run_sections", "run_tables"]
