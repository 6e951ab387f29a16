"""Long answers (`mores longform`) with CaLMQA's figures, and the answers with their claims and evidence."""

from mores.report.longform.html import page, sections

__all__ = ["page", "sections"]
