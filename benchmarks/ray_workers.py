"""What Ray costs, and what its workers bring: texts per second with a fake judge, as ratios in one run.

    python benchmarks/ray_workers.py                      # 100 ms a text: no Ray, then 1, 2 and 4 workers
    python benchmarks/ray_workers.py --delay 0            # a judge that takes no time: what is left is the overhead
    python benchmarks/ray_workers.py --delay 0 --workers 2 --data 8,256     # beside Ray Data with batches of 8 and 256
    python benchmarks/ray_workers.py --rows 1000000 --delay 0 --workers 2 --only-ray     # memory of the driver
    python benchmarks/ray_workers.py … --save             # and adds a line to results/ray.jsonl

Each run has its own process; with `--rounds` all run in turn that many times, and medians are shown. Mores keeps all
answers in a store, in the order of the texts; Ray Data, with as many actors as the largest number of workers, only
returns them, and so does `workers alone` beside it: Mores' workers without the engine and the store. A worker answers
eight texts at once. Times begin with the first answer. CPU and memory are those of the process that runs the command,
and the CPU of Ray's processes; the memory after each tenth of the texts: it must not grow with them.
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
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median
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


class Clock:
    """Times, CPU and memory of a run, from its first answer on."""

    def __init__(self, rows: int) -> None:
        self.rows, self.answered, self.memory = rows, 0, list[int]()

    def count(self, answers: int) -> None:
        """Count answers that have come."""
        if not self.answered:
            self.first, self.started, self.cpu, self.others = answers, time.monotonic(), time.process_time(), children()
        tenth = max(1, self.rows // 10)
        if self.answered // tenth < (self.answered + answers) // tenth:
            self.memory.append(resident())
        self.answered += answers

    def result(self, name: str) -> dict[str, Any]:
        """Return what was measured."""
        assert self.answered == self.rows
        counted, seconds = self.rows - self.first, time.monotonic() - self.started
        return {
            "name": name,
            "per_second": round(counted / seconds, 1),
            "cpu_ms": round((time.process_time() - self.cpu) / counted * 1e3, 3),
            "ray_cpu_ms": round((children() - self.others) / counted * 1e3, 3),
            "memory_mb": self.memory,
        }


def start_ray(workers: int) -> Any:
    """Start a cluster with more than there are cores, because the judge only waits."""
    ray = import_module("ray")
    ray.init("local", num_cpus=workers + 1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    return ray


async def measure(rows: int, delay: float, workers: int) -> dict[str, Any]:
    """One run of Mores in this process; without workers, without Ray."""
    options: dict[str, Any] = {"ray": True, "ray_workers": workers} if workers else {}
    if workers:
        start_ray(workers)
    with tempfile.TemporaryDirectory(prefix="mores-") as folder, Store(Path(folder) / "store.db") as store:
        asker = open_asker(Slow(delay), store=store, **options)
        clock = Clock(rows)
        async for answer in asker.ask(jobs(rows)):
            assert answer.completion
            clock.count(1)
        result = clock.result(f"{workers} worker{'s' * (workers > 1)}" if workers else "no Ray")
        assert len(store) == rows
    return result


async def measure_calls(rows: int, delay: float, workers: int) -> dict[str, Any]:
    """One run of Mores' workers in this process, without the engine and the store."""
    start_ray(workers)
    model = open_asker(Slow(delay), store=None, ray=True, ray_workers=workers).model
    clock, asked = Clock(rows), jobs(rows)

    async def ask() -> None:
        for job in asked:
            assert isinstance(job.request, Request)
            assert await model.complete(job.request)
            clock.count(1)

    async with model:
        calls: list[asyncio.Task[None]] = []
        while clock.answered < rows:
            calls += [asyncio.create_task(ask()) for _ in range(model.concurrency - len(calls))]
            await asyncio.sleep(0.02)
        result = clock.result("workers alone")
        await asyncio.gather(*calls)
    return result


class Actor:
    """The same judge as Ray Data takes one."""

    def __init__(self, delay: float) -> None:
        self.judge, self.loop = Slow(delay), asyncio.new_event_loop()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Answer a batch, eight at once."""
        answers = self.loop.run_until_complete(self.answer(batch["prompt"].tolist()))
        return {
            "text": [answer.text for answer in answers],
            "logprobs": [list(answer.logprobs or ()) for answer in answers],
        }

    async def answer(self, prompts: list[str]) -> list[Completion]:
        """Return the judge's answers."""
        places = asyncio.Semaphore(self.judge.concurrency)

        async def one(prompt: str) -> Completion:
            async with places:
                return await self.judge.complete(Request((Message("user", prompt),)))

        return await asyncio.gather(*map(one, prompts))


def measure_data(rows: int, delay: float, workers: int, batch: int) -> dict[str, Any]:
    """One run of Ray Data in this process."""
    start_ray(workers)
    data = import_module("ray.data")
    data.DataContext.get_current().enable_progress_bars = False
    prompts = [{"prompt": f"{PROMPT}\nText: number {number}"} for number in range(rows)]
    answers = data.from_items(prompts, override_num_blocks=max(1, rows // batch)).map_batches(
        Actor, fn_constructor_args=(delay,), batch_size=batch, compute=data.ActorPoolStrategy(size=workers)
    )
    clock = Clock(rows)
    for found in answers.iter_batches(batch_size=None):
        clock.count(len(found["text"]))
    return clock.result(f"Ray Data, {batch}")


def children() -> float:
    """CPU seconds of all processes that this one started, and of those that they started."""
    parents, seconds = dict[int, int](), dict[int, float]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            pid = int(path.parent.name)
            parents[pid], seconds[pid] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    wanted = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in wanted} - wanted:
        wanted |= more
    return sum(seconds[pid] for pid in wanted - {os.getpid()})


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
    parser.add_argument("--data", default="", metavar="SIZES", help="batches of Ray Data to measure beside, as 8,256")
    parser.add_argument("--rounds", type=int, default=1, help="how often all run in turn")
    parser.add_argument("--only-ray", action="store_true", help="leave out the run without Ray")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help="add a line to results/ray.jsonl")
    parser.add_argument("--measure", nargs=2, type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        workers, batch = given.measure
        if batch < 0:
            print(json.dumps(run(measure_calls(given.rows, given.delay, workers))))
        elif batch:
            print(json.dumps(measure_data(given.rows, given.delay, workers, batch)))
        else:
            print(json.dumps(run(measure(given.rows, given.delay, workers))))
        return
    load = os.getloadavg()[0]
    numbers = [int(number) for number in given.workers.split(",")]
    wanted = [*([] if given.only_ray else [(0, 0)]), *((number, 0) for number in numbers)]
    if given.data:
        wanted += [(max(numbers), size) for size in (-1, *map(int, given.data.split(",")))]
    command = [sys.executable, __file__, "--rows", str(given.rows), "--delay", str(given.delay), "--measure"]
    rounds = [
        [
            json.loads(subprocess.run([*command, *map(str, one)], check=True, stdout=subprocess.PIPE).stdout)
            for one in wanted
        ]
        for _ in range(given.rounds)
    ]
    results = [
        runs[0] | {name: median(one[name] for one in runs) for name in ("per_second", "cpu_ms", "ray_cpu_ms")}
        for runs in zip(*rounds, strict=True)
    ]
    if given.save:
        save(load, results)
    if given.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{given.rows:,} texts, {given.delay * 1e3:g} ms each, 8 at once in each worker; {os.cpu_count()} cores")
    print(f"{'':14}{'texts/s':>9}{'ratio':>7}{'CPU ms/text':>13}{'of Ray':>9}{'MB early':>10}{'MB at end':>11}")
    for result in results:
        ratio = result["per_second"] / results[0]["per_second"]
        print(
            f"{result['name']:14}{result['per_second']:9.0f}{ratio:7.2f}{result['cpu_ms']:13.3f}"
            f"{result['ray_cpu_ms']:9.3f}{result['memory_mb'][0]:10}{result['memory_mb'][-1]:11}"
        )


if __name__ == "__main__":
    main()
