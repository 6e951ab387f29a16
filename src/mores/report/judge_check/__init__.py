"""The check of a judge (`mores judge-check`): how often it grades correctly, and what it prefers."""

from mores.report.judge_check.html import run_page, run_sections
from mores.report.judge_check.table import run_tables

__all__ = ["run_page", "run_sections", "run_tables"]
