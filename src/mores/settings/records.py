"""Every record of settings, by its table in settings files; imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mores.settings.declare import Settings

RECORDS = {
    "asking": "mores.engine.settings:AskSettings",
    "report": "mores.metric.settings:ReportSettings",
    "score": "mores.metric.settings:ScoreFileSettings",
    "serve": "mores.serve.settings:ServeSettings",
    "audit": "mores.metric.settings:AuditSettings",
    "bench": "mores.benchmark.settings:BenchSettings",
    "board": "mores.benchmark.settings:BoardSettings",
    "judge-check": "mores.benchmark.settings:JudgeCheckSettings",
    "topics": "mores.benchmark.settings:TopicsSettings",
    "tiers": "mores.benchmark.settings:TiersSettings",
    "export-task": "mores.harness.settings:ExportTaskSettings",
    "longform": "mores.longanswer.settings:LongformSettings",
    "collect": "mores.longanswer.settings:CollectSettings",
    "diagnose": "mores.diagnosis.settings:DiagnoseSettings",
    "meta": "mores.metaevaluation.settings:MetaSettings",
    "compare": "mores.metaevaluation.settings:CompareSettings",
    "rate": "mores.rating.settings:RateSettings",
    "plan": "mores.planning.settings:PlanSettings",
    "build": "mores.factory.settings:BuildSettings",
    "corpus": "mores.search.settings:CorpusSettings",
    "ground": "mores.training.settings:GroundSettings",
    "train": "mores.training.settings:TrainSettings",
    "export": "mores.training.settings:ExportSettings",
    "studio": "mores.studio.settings:StudioSettings",
    "view": "mores.view.settings:ViewSettings",
    "output": "mores.report.settings:OutputSettings",
    "score-gate": "mores.gate:TextGate",
    "bench-gate": "mores.gate:BenchGate",
}


def load_record(table: str) -> type[Settings]:
    """Import the record of a table."""
    module, _, name = RECORDS[table].partition(":")
    record: type[Settings] = getattr(import_module(module), name)
    return record
