"""Questions by topic (`mores topics`)."""

from mores.report.topics.html import run_page, run_sections
from mores.report.topics.table import run_tables

__all__ = ["run_page", "run_sections", "run_tables"]
