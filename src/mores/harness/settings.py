"""The settings of a benchmark that is written as a task of another harness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mores.benchmark.settings import DataSettings, VariantSettings
from mores.engine.settings import ProgressSettings
from mores.settings import setting
from mores.settings.values import AnyPath

if TYPE_CHECKING:
    from mores.benchmark.benchmark import Benchmark


class ExportTaskSettings(DataSettings, VariantSettings, ProgressSettings, table="export-task"):
    """A benchmark, and the harness that will run it."""

    benchmark: str | Path | Benchmark = setting(
        kw_only=False, metavar="BENCHMARK", help="Name of a benchmark, or its folder.", code=True
    )
    to: Literal["lm-eval", "inspect"] = setting(kw_only=False, option="--to", help="The harness.")
    out: AnyPath = setting(kw_only=False, place="new folder", option="--out", help="New folder for the task.")
