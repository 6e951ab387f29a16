"""Opens the metric: with one model, or with several that judge the same texts."""

from __future__ import annotations

from dataclasses import replace

from mores.engine import AskSettings, make_asker
from mores.metric.metric import Metric
from mores.metric.settings import PREFIX, EnsembleSettings, JudgeSettings, ReportSettings
from mores.models import Model, metric_adapter
from mores.settings import takes


@takes(JudgeSettings)
def open_metric(settings: JudgeSettings) -> Metric:
    """Open ExCAM with a model; the embedded model judges with the adapter that comes with Mores."""
    return make_metric(settings.model, settings, settings.report)


def make_metric(model: str | Model, settings: AskSettings, report: ReportSettings) -> Metric:
    """Open ExCAM with a model, or with several (`ensemble:A,B`), with the settings of any activity that judges."""
    several = model.removeprefix(PREFIX).split(",") if isinstance(model, str) and model.startswith(PREFIX) else [model]
    others = settings.ensemble if isinstance(settings, EnsembleSettings) else ()
    members = [_open(each, settings, report) for each in (*several, *others)]
    if len(members) == 1:
        return members[0]
    from mores.metric.ensemble import make_ensemble

    return make_ensemble(members)


def _open(model: str | Model, settings: AskSettings, report: ReportSettings) -> Metric:
    adapter = metric_adapter(model, settings.adapter, settings.config) if isinstance(model, str) else None
    return Metric(make_asker(model, replace(settings, adapter=adapter) if adapter else settings), report)
