"""Judges on JuICE (`mores meta --data juice:FILE`): what they find of the errors that people and models marked."""

from mores.report.juice.html import run_page, run_sections
from mores.report.juice.table import run_tables

__all__ = ["run_page", "run_sections", "run_tables"]
