"""What Ray costs, and what its workers bring: texts per second with a fake judge, as ratios in one run.

    python benchmarks/ray_workers.py                      # 100 ms a text: no Ray, then 1, 2 and 4 workers
    python benchmarks/ray_workers.py --delay 0            # a judge that takes no time: what is left is the overhead
    python benchmarks/ray_workers.py --rows 1000000 --delay 0 --workers 2 --only-ray     # memory of the driver
    python benchmarks/ray_workers.py … --save             # and adds a line to results/ray.jsonl

Each run has its own process, and all answers are kept in a store. A worker answers eight texts at once. Times begin
with the first answer. CPU and memory are those of the process that runs the command, the memory after each tenth of the
texts: it must not grow with them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mores import __version__
from mores.engine import Job, Store, open_asker
from mores.engine.loop import run
from mores.models import Completion, Message, Request
from mores.models.fake import FakeModel, fake

RESULTS = Path(__file__).parent / "results" / "ray.jsonl"
PROMPT = "Find the cultural errors in this text. " * 20


class Slow(FakeModel):
    """A judge that takes its time."""

    def __init__(self, delay: float) -> None:
        super().__init__("clean", fake("clean")._answer)
        self.delay = delay

    async def complete(self, request: Request) -> Completion:
        await asyncio.sleep(self.delay)
        return await super().complete(request)


def jobs(rows: int) -> Iterator[Job]:
    """Questions that all differ."""
    for number in range(rows):
        yield Job(str(number), Request((Message("user", f"{PROMPT}\nText: number {number}"),)))


async def measure(rows: int, delay: float, workers: int) -> dict[str, Any]:
    """One run in this process; without workers, without Ray."""
    ray: dict[str, Any] = {"ray": True, "ray_workers": workers} if workers else {}
    if workers:  # more than there are cores, because the judge only waits
        import_module("ray").init("local", num_cpus=workers, include_dashboard=False, logging_level="ERROR")
    with tempfile.TemporaryDirectory(prefix="mores-") as folder, Store(Path(folder) / "store.db") as store:
        asker = open_asker(Slow(delay), store=store, **ray)
        answered, started, cpu, memory = 0, 0.0, 0.0, list[int]()
        async for answer in asker.ask(jobs(rows)):
            assert answer.completion
            answered += 1
            if answered == 1:
                started, cpu = time.monotonic(), time.process_time()
            if answered % max(1, rows // 10) == 0:
                memory.append(resident())
        seconds = time.monotonic() - started
        assert len(store) == rows
    return {
        "workers": workers,
        "per_second": round((rows - 1) / seconds, 1),
        "cpu_ms": round((time.process_time() - cpu) / rows * 1e3, 3),
        "memory_mb": memory,
    }


def resident() -> int:
    """Memory of this process now, in millions of bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


def save(load: float, results: list[dict[str, Any]]) -> None:
    """Add what was measured to the results file: by which command, when, where and with which versions."""
    record = {
        "command": " ".join(["python benchmarks/ray_workers.py", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()},
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "versions": {"mores": __version__, "ray": version("ray")},
        "results": results,
    }
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def main() -> None:
    """Run every number of workers in a process of its own, and print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--delay", type=float, default=0.1, help="seconds that the judge takes for a text")
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--only-ray", action="store_true", help="leave out the run without Ray")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help="add a line to results/ray.jsonl")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure is not None:
        print(json.dumps(run(measure(given.rows, given.delay, given.measure))))
        return
    load = os.getloadavg()[0]
    numbers = ([] if given.only_ray else [0]) + [int(number) for number in given.workers.split(",")]
    command = [sys.executable, __file__, "--rows", str(given.rows), "--delay", str(given.delay), "--measure"]
    results = [
        json.loads(subprocess.run([*command, str(number)], check=True, stdout=subprocess.PIPE).stdout)
        for number in numbers
    ]
    if given.save:
        save(load, results)
    if given.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{given.rows:,} texts, {given.delay * 1e3:g} ms each, 8 at once in each worker; {os.cpu_count()} cores")
    print(f"{'':14}{'texts/s':>9}{'ratio':>7}{'CPU ms/text':>13}{'MB early':>10}{'MB at end':>11}")
    for result in results:
        name = f"{result['workers']:.0f} workers" if result["workers"] else "no Ray"
        ratio = result["per_second"] / results[0]["per_second"]
        print(
            f"{name:14}{result['per_second']:9.0f}{ratio:7.2f}{result['cpu_ms']:13.2f}"
            f"{result['memory_mb'][0]:10}{result['memory_mb'][-1]:11}"
        )


if __name__ == "__main__":
    main()
