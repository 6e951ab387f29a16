"""ExCAM, the explainable cultural awareness metric: prompt, schema, parser, span alignment, score."""

from typing import TYPE_CHECKING

from mores.lazy import find_lazily

if TYPE_CHECKING:
    from mores.metric.metric import Metric, Settings
    from mores.metric.opening import open_metric
    from mores.metric.settings import ReportSettings, SampleLike

_PLACES = {
    "metric": ("Metric", "Settings"),
    "opening": ("open_metric",),
    "settings": ("ReportSettings", "SampleLike"),
}
__getattr__ = find_lazily(__name__, _PLACES)
__all__ = ["Metric", "ReportSettings", "SampleLike", "Settings", "open_metric"]
