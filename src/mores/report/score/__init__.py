"""Judgements of texts (`mores score`, `mores show`): `table` in the terminal, `page` in the browser."""

from mores.report.score.html import page
from mores.report.score.notebook import as_html
from mores.report.score.table import Pair, Summary, Tally, show_summary, summary, table

__all__ = ["Pair", "Summary", "Tally", "as_html", "page", "show_summary", "summary", "table"]
