"""Speed of the embedded judge as ratios measured in one run: against llama.cpp's own loop, idle and beside other load.

    python benchmarks/embedded.py                  # 4 texts of examples/world.jsonl, alone and beside 2 busy programs
    python benchmarks/embedded.py --texts 32 --load 4 --json
    python benchmarks/embedded.py --save           # and writes results/peers/embedded.json
    python benchmarks/embedded.py --rates reader   # its start, tokens a second and memory; also embedded:FILE.gguf

The judge's time for a text is all that a user waits for: setting the slot back, the prompt, the constraint and the
answer. llama.cpp's is what the same server reports for as many tokens without a constraint: like `llama-bench` it
counts no HTTP, no grammar and no log-probabilities. It writes all tokens of an answer; the judge reads those that must
stand there (`mores.models.parts`), so that it can be faster. The ways to wait are those of llama.cpp's threads for each
other, see `mores.models.embedded`. They answer each text in turn, so that whatever else the machine does affects all
equally.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson
import peers

import mores
from mores.metric.metric import Metric, Settings, as_sample
from mores.metric.opening import open_metric
from mores.models import Request, embedded, metric_adapter
from mores.registry import split_name

EXAMPLES = Path(__file__).parents[1] / "examples" / "world.jsonl"
WAYS: dict[str, dict[str, str]] = {
    "mores": {},
    "spinning": {"GOMP_SPINCOUNT": "300000"},  # what the library does by default
    "sleeping": {"GOMP_SPINCOUNT": "0"},
}
FIRST_TOKEN = 100
"""Tokens from here on are ordinary ones in every vocabulary."""


@dataclass
class Row:
    """What one way to wait took for all texts."""

    name: str
    busy: int
    """Other programs that kept a core busy meanwhile."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    tokens: int = 0
    library_seconds: float = 0.0
    """What llama.cpp takes for as many tokens."""


class Timed(embedded.EmbeddedModel):
    """The judge's model, which keeps what its server says about the first part of the last answer."""

    first: dict[str, Any] | None = None

    async def _call(self, path: str, body: dict[str, Any]) -> bytes:
        answer = await super()._call(path, body)
        if body.get("n_predict") and self.first is None:
            self.first = json.loads(answer)
        return answer

    @property
    def cpu_seconds(self) -> float:
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> int:
        """The most bytes that the server has had in memory, its file's included."""
        assert self._process is not None
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

    async def bare(self, prompt: int, answer: int) -> tuple[float, float]:
        """Seconds of llama.cpp to read and to write that many tokens, by its own clock."""
        assert self._session is not None
        tokens = [random.randrange(FIRST_TOKEN, 10_000) for _ in range(prompt)]
        body = {"prompt": tokens, "n_predict": answer, "cache_prompt": False, "ignore_eos": True}
        address = self.base_url.removesuffix("/v1") + "/completion"
        async with self._session.post(address, data=orjson.dumps(body), **self._arguments) as response:
            timings = json.loads(await response.read())["timings"]
        return timings["prompt_ms"] / 1000, timings["predicted_ms"] / 1000


async def judge(model: Timed, request: Request, row: Row) -> None:
    """Judge one text, then have llama.cpp read and write as many tokens."""
    start, cpu = perf_counter(), model.cpu_seconds
    model.first = None
    completion = await model.complete(request)
    row.seconds += perf_counter() - start
    row.cpu_seconds += model.cpu_seconds - cpu
    assert model.first is not None
    given = model.first["tokens_evaluated"] - completion.prompt_tokens  # of the answer
    prompt, answer = model.first["timings"]["prompt_n"] - given, completion.completion_tokens
    row.tokens += prompt + answer
    row.library_seconds += sum(await model.bare(prompt, answer))


@contextmanager
def busy_programs(number: int) -> Iterator[None]:
    """Other programs that compete for the cores; they end by themselves if this one is killed."""
    loop = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"
    programs = [subprocess.Popen([sys.executable, "-S", "-c", loop], start_new_session=True) for _ in range(number)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


async def measure(requests: Sequence[Request], models: dict[str, Timed], busy: int) -> list[Row]:
    """Every way to wait, text by text, beside that many busy programs."""
    rows = {name: Row(name, busy) for name in models}
    with busy_programs(busy):
        for request in requests:
            for name in random.sample(sorted(models), len(models)):
                await judge(models[name], request, rows[name])
    return list(rows.values())


async def run(texts: int, loads: Sequence[int], threads: int | None) -> list[Row]:
    rows: list[Row] = []
    async with AsyncExitStack() as stack:
        models: dict[str, Timed] = {}
        for name, waiting in WAYS.items():
            os.environ.update(waiting)
            models[name] = await stack.enter_async_context(Timed("", str(embedded.TUNED), threads=threads))
            for variable in waiting:
                del os.environ[variable]
        metric: Metric = open_metric(models["mores"], Settings(max_errors=1))
        lines = EXAMPLES.read_text("utf-8").splitlines()
        requests = [metric.request(as_sample(json.loads(line), n)) for n, line in enumerate(lines[: texts + 1], 1)]
        for model in models.values():  # the system prompt is read once, before the clock runs
            await model.complete(requests[0])
        for busy in loads:
            rows += await measure(requests[1:], models, busy)
    return rows


async def measure_rates(name: str, threads: int | None) -> dict[str, Any]:
    """How long a model takes to start, and then to read 128 tokens and to write 16, by the clock and in CPU time."""
    kind, file = split_name(name)
    model = Timed(file, metric_adapter(name, None), threads=threads, kind=kind)
    figures: dict[str, Any] = {"identity": model.identity, "threads": model.threads}  # which checks the file
    start = perf_counter()
    async with model:
        figures["start_seconds"] = perf_counter() - start
        for what, prompt, answer in (("read", 128, 1), ("written", 1, 16)):
            cpu = model.cpu_seconds
            seconds = max(await model.bare(prompt, answer))
            figures[f"{what}_per_second"] = max(prompt, answer) / seconds
            figures[f"{what}_per_cpu_second"] = max(prompt, answer) / (model.cpu_seconds - cpu)
        return figures | {"memory_bytes": model.memory}


def save(rows: Sequence[Row]) -> None:
    """The judge's rate, and that of llama.cpp's own loop, alone and beside busy programs."""
    figures = {}
    for row in rows:
        if row.name == "mores":
            beside = f"beside {row.busy} busy programs" if row.busy else "alone"
            rates = {"Mores": row.tokens / row.seconds, "llama.cpp's own loop": row.tokens / row.library_seconds}
            figures[f"tokens/s, {beside} (more is better)"] = rates
    versions = {"Mores": mores.__version__, "llama.cpp's own loop": f"in xllamacpp {version('xllamacpp')}"}
    peers.save(
        "embedded", "Embedded judge: whole answers against as many tokens without a constraint", versions, figures
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=4)
    parser.add_argument("--load", type=int, default=2, help="busy programs beside it in a second round; 0 for none")
    parser.add_argument("--threads", type=int, help="threads of the server; default: all cores")
    parser.add_argument("--rates", nargs="+", metavar="MODEL", help="only how fast these models read and write")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    options = parser.parse_args()
    before = os.getloadavg()[0]
    if options.rates:
        for name in options.rates:
            rates = asyncio.run(measure_rates(name, options.threads))
            print(json.dumps({"model": name, "load_before": round(before, 1)} | rates))
        return
    rows = asyncio.run(run(options.texts, sorted({0, options.load}), options.threads))
    if options.save:
        save(rows)
    if options.json:
        print(json.dumps({"load_before": before, "rows": [asdict(row) for row in rows]}, indent=2))
        return
    print(f"texts: {options.texts}; load of the machine before: {before:.1f}\n")
    print("waiting     busy   s/text  CPU s/text  tokens/s  of llama.cpp  CPU, mores = 1")
    for row in rows:
        ours = next(other for other in rows if other.busy == row.busy and other.name == "mores")
        print(
            f"{row.name:10}{row.busy:6}{row.seconds / options.texts:9.2f}{row.cpu_seconds / options.texts:12.2f}"
            f"{row.tokens / row.seconds:10.1f}{row.library_seconds / row.seconds:14.0%}"
            f"{row.cpu_seconds / ours.cpu_seconds:16.2f}"
        )


if __name__ == "__main__":
    main()
