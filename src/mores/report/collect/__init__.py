"""A collection of questions (`mores collect`): what was kept, what was dropped, and why."""

from mores.report.collect.html import page, sections

__all__ = ["page", "sections"]
