"""Speed and memory of a benchmark run with a judge: every question many times, on loopback.

    python benchmarks/bench.py                          # 1,064 questions × 1 and × 100 samples, 200 connections, 200 ms
    python benchmarks/bench.py --samples 1,10

Each number of samples has its own process. The share is that of connections ÷ latency, which no client can pass,
over both stages: asking the model and asking the judge about every answer. Memory must not grow with the samples.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

import stub

from mores.benchmark.benchmark import Benchmark, Graded, Label
from mores.benchmark.run import Asking, BenchJob
from mores.engine import Store, open_asker
from mores.engine.loop import run
from mores.models import Message
from mores.types import Item

QUESTIONS, CONNECTIONS, LATENCY_MS = 1064, 200, 200.0


class Lenient:
    """A judge that accepts everything; all of its questions differ, so that the store answers none."""

    prompt = "bench"
    labels = tuple(Label)

    def __init__(self) -> None:
        self._number = count()

    def ask(self, item: Item, answer: str) -> tuple[Message, ...]:
        return (Message("user", f"{next(self._number)}: {item.prompt} {answer}"),)

    def ask_again(self, item: Item, answer: str, reply: str) -> None:
        """Nothing more to ask."""

    def read(self, item: Item, answer: str, reply: str, again: bool) -> Graded:  # noqa: ARG002 - the protocol's
        return Graded(label=Label.CORRECT)


def measure(samples: int, url: str, folder: Path) -> dict[str, float]:
    """One run in this process."""
    items = [Item(id=str(n), prompt=f"What is question {n}?", language="en") for n in range(QUESTIONS)]
    task = Benchmark("stub", "stub", "1", "", "", "", lambda *_: iter(items), "stub", judging=Lenient())
    started = time.monotonic()
    with Store(folder / "store.db") as store:
        asker = open_asker("openai:model", base_url=url, concurrency=CONNECTIONS, store=store)
        job = BenchJob(task, items, asker, (asker.open("openai:judge"),), Asking(samples=samples, temperature=1.0))
        run(job.ask(folder / "responses.jsonl"))
        run(job.grade(folder / "responses.jsonl", folder / "verdicts.jsonl"))
        result = job.score(folder / "verdicts.jsonl")
    seconds = time.monotonic() - started
    assert result.figures["accuracy"].n == QUESTIONS * samples
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"calls": 2 * QUESTIONS * samples, "seconds": seconds, "peak_mb": peak}


def main() -> None:
    """Measure each number of samples and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", default="1,100")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.one:
            print(json.dumps(measure(int(options.one[0]), options.one[1], Path(name))))
            return
        program = stub.build(Path(name), None)
        print(f"{'samples':>8} {'calls':>9} {'seconds':>8} {'calls/s':>8} {'of ideal':>8} {'peak MB':>8}")
        for samples in options.samples.split(","):
            with stub.serve(program, Path(name), LATENCY_MS) as server:
                command = [sys.executable, __file__, "--one", samples, server.base_url]
                row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            rate = row["calls"] / row["seconds"]
            share = rate / (CONNECTIONS / LATENCY_MS * 1000)
            cells = f"{int(samples):>8,} {row['calls']:>9,} {row['seconds']:>8.1f} {rate:>8.0f}"
            print(f"{cells} {share:>8.0%} {row['peak_mb']:>8,.0f}", flush=True)


if __name__ == "__main__":
    main()
