"""The injection audit of a judge (`mores audit injection`)."""

from mores.report.audit.table import tables

__all__ = ["tables"]
