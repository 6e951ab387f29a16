"""The embedded judge with its LoRA beside its model, and with both merged: seconds as ratios in one run.

    python benchmarks/merged.py [--texts 8] [--threads 1]

Both judge each text in turn, so that whatever else the machine does affects both. CPU seconds are those of the server.
With one thread no thread waits for another, and the CPU seconds are the work alone. The texts are those of
examples/world.jsonl, evenly spread. `mores.models.merged` says where Mores merges, which should be where it is faster.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from embedded import EXAMPLES, Row, Timed

from mores.metric.metric import Settings, as_sample
from mores.metric.opening import open_metric
from mores.models import Request, merged, pull, quants
from mores.models.embedded import EXPLANATIONS, TUNED


async def run(texts: int, threads: int | None, whole: Path) -> tuple[list[Row], int]:
    """What each takes for the texts, and how many answers are the same to the letter."""
    rows, same = [Row("LoRA", 0), Row("merged", 0)], 0
    async with AsyncExitStack() as stack:
        beside, inside = Timed("", str(TUNED), threads=threads), Timed(str(whole), threads=threads)
        beside.merged, inside.style, inside.explanations = None, beside.style, EXPLANATIONS
        models = [await stack.enter_async_context(model) for model in (beside, inside)]
        metric = open_metric(beside, Settings(max_errors=1))
        lines = EXAMPLES.read_text("utf-8").splitlines()
        requests = [metric.request(as_sample(json.loads(line), n)) for n, line in enumerate(lines, 1)]
        for model in models:  # the system prompt is read once, before the clock runs
            await model.complete(requests[0])
        for request in requests[1 :: max(1, (len(lines) - 1) // texts)][:texts]:
            answers = [await timed(model, request, row) for model, row in zip(models, rows, strict=True)]
            same += answers[0] == answers[1]
    return rows, same


async def timed(model: Timed, request: Request, row: Row) -> str:
    """An answer, whose time is added to the row."""
    loop = asyncio.get_running_loop()
    start, cpu = loop.time(), model.cpu_seconds
    completion = await model.complete(request)
    row.seconds += loop.time() - start
    row.cpu_seconds += model.cpu_seconds - cpu
    row.tokens += completion.completion_tokens or 0
    return completion.text


def main() -> None:
    """Merge, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=8)
    parser.add_argument("--threads", type=int, help="threads of the server; default: all cores")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "merged.gguf"
        floats = merged.fastest_type()
        merged.merge(pull.resolve(""), TUNED, whole, quants.F32 if floats is None else floats)
        rows, same = asyncio.run(run(options.texts, options.threads, whole))
    print(f"texts: {options.texts}, {same} with the same report; load of the machine before: {load:.1f}")
    print(f"Mores merges on this machine: {'no' if floats is None else merged.VERSIONS[floats]}\n")
    print("            s/text  CPU s/text  CPU, LoRA = 1  tokens written")
    for row in rows:
        share = row.cpu_seconds / rows[0].cpu_seconds
        seconds, cpu = row.seconds / options.texts, row.cpu_seconds / options.texts
        print(f"{row.name:10}{seconds:8.2f}{cpu:12.2f}{share:15.2f}{row.tokens:16}")


if __name__ == "__main__":
    main()
