"""The card of a dataset (`mores build`): what is in it, where it comes from, what gives it away, and examples."""

from mores.report.card.html import page, sections

__all__ = ["page", "sections"]
