"""A training (`mores train`): how well the tuned models decide."""

from mores.report.train.table import run_tables, tables

__all__ = ["run_tables", "tables"]
