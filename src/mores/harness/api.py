"""The public function `mores.export_task`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mores.benchmark import benchmark as find_benchmark
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.session import Asking
from mores.harness.export import write_task


async def export_task(
    benchmark: str | Path | Benchmark,
    to: Literal["lm-eval", "inspect"],
    out: Path | str,
    *,
    data: Path | str | None = None,
    limit: int | None = None,
    variant: str | None = None,
) -> Path:
    """Write a benchmark as a task of lm-evaluation-harness or Inspect AI into the new folder `out`, and return that.

    The other parameters are those of `mores.bench`.
    """
    chosen = benchmark if isinstance(benchmark, Benchmark) else find_benchmark(benchmark)
    asking = Asking(data=Path(data) if data else None, limit=limit, variant=variant)
    write_task(chosen, to, Path(out), asking)
    return Path(out)
