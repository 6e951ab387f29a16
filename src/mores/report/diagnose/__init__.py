"""Why a model fails (`mores diagnose`): every analysis that was made, under "the model's cultural health"."""

from mores.report.diagnose.html import page, sections

__all__ = ["page", "sections"]
