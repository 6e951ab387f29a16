"""ExCAM, the explainable cultural awareness metric: prompt, schema, parser, span alignment, score."""

from mores.metric.metric import Metric, Settings, open_metric
from mores.metric.settings import ReportSettings, SampleLike

__all__ = ["Metric", "ReportSettings", "SampleLike", "Settings", "open_metric"]
