"""The injection audit of a judge (`mores audit injection`)."""

from mores.report.audit.html import run_page, run_sections
from mores.report.audit.table import run_tables

__all__ = ["run_page", "run_sections", "run_tables"]
