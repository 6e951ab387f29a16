"""Mores measures how well language models know the cultures that they write about, and shows every mistake.

import mores
for judgement in mores.score(["In Japan people eat sushi with a fork."], model="openai:gpt-4.1-mini"):
    print(judgement.score, judgement.report)

Every command has a function (docs/python.md), and `mores.aio` has each of them as a coroutine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mores.calling import FUNCTIONS, blocking, load
from mores.renamed import accept_old_names
from mores.views import DRAWN

if TYPE_CHECKING:
    from mores import aio as aio
    from mores import studio as studio
    from mores.benchmark.settings import BenchSettings as BenchSettings
    from mores.benchmark.settings import BoardSettings as BoardSettings
    from mores.benchmark.settings import JudgeCheckSettings as JudgeCheckSettings
    from mores.benchmark.settings import TiersSettings as TiersSettings
    from mores.benchmark.settings import TopicsSettings as TopicsSettings
    from mores.diagnosis.settings import DiagnoseSettings as DiagnoseSettings
    from mores.engine.settings import AskSettings as AskSettings
    from mores.errors import ConfigError as ConfigError
    from mores.errors import GateError as GateError
    from mores.errors import InputError as InputError
    from mores.errors import ModelError as ModelError
    from mores.errors import MoresError as MoresError
    from mores.errors import StoreError as StoreError
    from mores.factory.settings import BuildSettings as BuildSettings
    from mores.factory.settings import SourcesSettings as SourcesSettings
    from mores.functions import *  # noqa: F403
    from mores.gate import BenchGate as BenchGate
    from mores.gate import TextGate as TextGate
    from mores.harness.settings import ExportTaskSettings as ExportTaskSettings
    from mores.longanswer.settings import CollectSettings as CollectSettings
    from mores.longanswer.settings import LongformSettings as LongformSettings
    from mores.metaevaluation.settings import CompareSettings as CompareSettings
    from mores.metaevaluation.settings import MetaSettings as MetaSettings
    from mores.metric.settings import AuditSettings as AuditSettings
    from mores.metric.settings import ReportSettings as ReportSettings
    from mores.metric.settings import ScoreFileSettings as ScoreFileSettings
    from mores.metric.settings import ScoreSettings as ScoreSettings
    from mores.models.pull import pull as pull
    from mores.planning.settings import PlanSettings as PlanSettings
    from mores.rating.settings import RateSettings as RateSettings
    from mores.run import Run as Run
    from mores.run import find_runs as find_runs
    from mores.run import open_run as open_run
    from mores.search.settings import CorpusSettings as CorpusSettings
    from mores.serve.app import serve_app as serve_app
    from mores.training.settings import ExportSettings as ExportSettings
    from mores.training.settings import GroundSettings as GroundSettings
    from mores.training.settings import TrainSettings as TrainSettings
    from mores.types import Error as Error
    from mores.types import ErrorReport as ErrorReport
    from mores.types import Evidence as Evidence
    from mores.types import Failure as Failure
    from mores.types import Item as Item
    from mores.types import JudgedClaim as JudgedClaim
    from mores.types import Judgement as Judgement
    from mores.types import Response as Response
    from mores.types import Result as Result
    from mores.types import Sample as Sample
    from mores.types import Severity as Severity
    from mores.types import Signature as Signature
    from mores.view.app import view_app as view_app

__version__ = "0.3.0"

PUBLIC = {
    "mores.errors": ("ConfigError", "GateError", "InputError", "ModelError", "MoresError", "StoreError"),
    "mores.gate": ("BenchGate", "TextGate"),
    "mores.models.pull": ("pull",),
    "mores.run": ("Run", "find_runs", "open_run"),
    "mores.serve": ("serve_app",),
    "mores.types": (
        "Error",
        "ErrorReport",
        "Evidence",
        "Failure",
        "Item",
        "JudgedClaim",
        "Judgement",
        "Response",
        "Result",
        "Sample",
        "Severity",
        "Signature",
    ),
    "mores.benchmark.settings": (
        "BenchSettings",
        "BoardSettings",
        "JudgeCheckSettings",
        "TiersSettings",
        "TopicsSettings",
    ),
    "mores.diagnosis.settings": ("DiagnoseSettings",),
    "mores.engine.settings": ("AskSettings",),
    "mores.factory.settings": ("BuildSettings", "SourcesSettings"),
    "mores.harness.settings": ("ExportTaskSettings",),
    "mores.longanswer.settings": ("CollectSettings", "LongformSettings"),
    "mores.metaevaluation.settings": ("CompareSettings", "MetaSettings"),
    "mores.metric.settings": ("AuditSettings", "ReportSettings", "ScoreFileSettings", "ScoreSettings"),
    "mores.planning.settings": ("PlanSettings",),
    "mores.rating.settings": ("RateSettings",),
    "mores.search.settings": ("CorpusSettings",),
    "mores.training.settings": ("ExportSettings", "GroundSettings", "TrainSettings"),
    "mores.view": ("view_app",),
}
"""The public names besides the functions, by their modules."""
DRAWN |= {
    "Run": "mores.report.runs:as_html",
    "Judgement": "mores.report.score:judgement_html",
    "BenchResult": "mores.report.bench:result_html",
    "Board": "mores.report.bench:board_html",
    "card": "mores.report.card:page",
}
MODULES = ("aio", "studio")
"""Public modules: the functions for services, and the web app (`mores.studio.app`)."""
RECORDS = {name: module for module, names in PUBLIC.items() for name in names}
__all__ = ["__version__", *MODULES, *RECORDS, *FUNCTIONS]


def __dir__() -> list[str]:
    """Return the public names, also those that are not imported yet."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used: `mores --help` need not wait for them."""
    if name in MODULES:
        return import_module(f"mores.{name}")
    if name in RECORDS:
        return getattr(import_module(RECORDS[name]), name)
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'mores' has no attribute {name!r}")
    globals()[name] = function = blocking(load(name))
    return function


accept_old_names()
