"""The public function `mores.export_task`."""

from __future__ import annotations

from pathlib import Path

from mores.benchmark import benchmark as find_benchmark
from mores.harness.export import write_task
from mores.harness.settings import ExportTaskSettings
from mores.settings import takes


@takes(ExportTaskSettings)
async def export_task(settings: ExportTaskSettings) -> Path:
    """Write a benchmark as a task of lm-evaluation-harness or Inspect AI into the new folder `out`, and return that."""
    write_task(find_benchmark(settings.benchmark), settings)
    return settings.out
