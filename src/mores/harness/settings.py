"""The settings of a benchmark that is written as a task of another harness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mores.benchmark.settings import DataSettings
from mores.engine.progress import SILENT
from mores.settings import setting
from mores.settings.values import AnyPath

if TYPE_CHECKING:
    from mores.benchmark.benchmark import Benchmark
    from mores.engine.progress import Progress


class ExportTaskSettings(DataSettings, table="export-task"):
    """A benchmark, and the harness that will run it."""

    benchmark: str | Path | Benchmark = setting(
        kw_only=False, metavar="BENCHMARK", help="Name of a benchmark, or its folder.", code=True
    )
    to: Literal["lm-eval", "inspect"] = setting(kw_only=False, option="--to", help="The harness.")
    out: AnyPath = setting(kw_only=False, place="new folder", option="--out", help="New folder for the task.")
    progress: Progress = setting(default=SILENT, command=False, help="Shows the progress of the work.")
    shots: int = setting(
        default=0,
        at_least=0,
        help="Solved examples before each question, in its language; they are left out of the test.",
    )
    variant: str | None = setting(
        default=None, help="Another way to ask, where the benchmark has one, for example english."
    )
