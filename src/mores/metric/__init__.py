"""ExCAM, the explainable cultural awareness metric: prompt, schema, parser, span alignment, score."""

from mores.metric.metric import Metric, SampleLike, Settings, open_metric

__all__ = ["Metric", "SampleLike", "Settings", "open_metric"]
