"""ExCAM, the explainable cultural awareness metric: prompt, schema, parser, span alignment, score."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mores.metric.metric import Metric, Settings
    from mores.metric.opening import open_metric
    from mores.metric.settings import ReportSettings, SampleLike

__all__ = ["Metric", "ReportSettings", "SampleLike", "Settings", "open_metric"]


def __getattr__(name: str) -> Any:
    """Import the metric when it is first used: the help of a command needs only its settings."""
    if name in __all__:
        return getattr(import_module("mores.metric.opening" if name == "open_metric" else "mores.metric.metric"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
