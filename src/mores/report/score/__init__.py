"""Judgements of texts (`mores score`, `mores show`): `table` in the terminal, `page` in the browser."""

from mores.report.score.html import page, run_page, run_sections
from mores.report.score.notebook import as_html
from mores.report.score.table import Pair, run_tables, show_summary, table

__all__ = ["Pair", "as_html", "page", "run_page", "run_sections", "run_tables", "show_summary", "table"]
