"""`mores serve` under load, beside the same metric called in process, with a fast fake judge.

    python benchmarks/serve.py                      # a judge that answers at once: what the service itself costs
    python benchmarks/serve.py --latency-ms 200     # a judge as slow as a hosted one: whether it is kept busy
    python benchmarks/serve.py --json
    python benchmarks/serve.py --save               # and writes results/peers/serve.json

All ways judge the same texts in one run, without a store, with as many calls at once. The service has its own process;
its CPU time is user and system time from the first request to the last answer, without what the client takes. Every
judgement is compared with the one made in process: a difference is a failure (exit 1). Bare FastAPI reads the same
requests and answers each with a constant: what HTTP costs at least.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import math
import os
import platform
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import orjson
import peers
from fastapi import FastAPI, Response
from fastapi import Request as FastAPIRequest

import mores
from mores.cli import COLLECTING
from mores.engine.loop import run
from mores.io import json_line
from mores.metric import open_metric
from mores.models import Completion, Request
from mores.models.fake import FakeModel, fake
from mores.serve import Bounds
from mores.serve.run import make_server, run_server
from mores.types import Sample

BATCH = 256
LINES = {"Accept": "application/x-ndjson"}


class Judge(FakeModel):
    """Says after a while that the first word is wrong."""

    def __init__(self, latency: float, concurrency: int) -> None:
        super().__init__("judge", lambda _: Completion(""))
        self.concurrency = concurrency
        self._latency, self._first_word = latency, fake("first-word")

    async def complete(self, request: Request) -> Completion:
        if self._latency:
            await asyncio.sleep(self._latency)
        return await self._first_word.complete(request)


class Row(NamedTuple):
    """How fast one way is."""

    way: str
    seconds: float
    cpu: float
    """Seconds of processor time of the process that judges."""
    waits: list[float]
    """Seconds of each request."""


def texts(number: int) -> list[Sample]:
    """Different texts of a few sentences."""
    sentence = "In the north of the country people drink tea with salt and butter. "
    return [Sample(id=str(place), text=f"Text {place}. " + sentence * 5, region="MN") for place in range(number)]


async def judge_here(samples: Sequence[Sample], judge: Judge) -> tuple[Row, dict[str, bytes]]:
    """The metric in this process; the row, and the line of every judgement."""
    metric = open_metric(judge, store=None)
    start, cpu, lines = time.perf_counter(), time.process_time(), {}
    async for sample, judgement in metric.stream(samples):
        lines[sample.id] = json_line(judgement)
    return Row("in process", time.perf_counter() - start, time.process_time() - cpu, []), lines


class Client:
    """Sends texts to a service, with so many requests at once."""

    def __init__(self, address: str, server: int, expected: dict[str, bytes]) -> None:
        self.address, self.server, self.expected = address, server, expected
        self.waits: list[float] = []
        self.judged = 0

    async def measure(
        self, way: str, parts: Sequence[Sequence[Sample]], connections: int, send: Callable[..., Awaitable[list[bytes]]]
    ) -> Row:
        """Send all parts; every text must be judged as it is in process."""
        self.waits, self.judged = [], 0
        waiting = iter(parts)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def work() -> None:
                for part in waiting:
                    start = time.perf_counter()
                    lines = await send(session, part)
                    self.waits.append(time.perf_counter() - start)
                    self.check(lines)

            cpu, start = cpu_seconds(self.server), time.perf_counter()
            await asyncio.gather(*(work() for _ in range(connections)))
            seconds = time.perf_counter() - start
        assert self.judged == sum(map(len, parts)), f"{way}: {self.judged} judgements"
        return Row(way, seconds, cpu_seconds(self.server) - cpu, self.waits)

    def check(self, lines: list[bytes]) -> None:
        """Compare judgements with those made in process."""
        for line in lines:
            expected = self.expected[json.loads(line)["sample_id"]]
            assert line == expected.rstrip(), f"another judgement:\n{line!r}\n{expected!r}"
        self.judged += len(lines)

    async def send_one(self, session: aiohttp.ClientSession, part: Sequence[Sample]) -> list[bytes]:
        """One text as an object."""
        async with session.post(f"{self.address}/score", json=part[0].model_dump()) as response:
            assert response.status == 200, await response.text()
            return [await response.read()]

    async def send_bare(self, session: aiohttp.ClientSession, part: Sequence[Sample]) -> list[bytes]:
        """One text as an object, to the app that judges nothing."""
        async with session.post(f"{self.address}/score", json=part[0].model_dump()) as response:
            assert (await response.json())["sample_id"] == part[0].id
        self.judged += 1
        return []

    async def send_stream(self, session: aiohttp.ClientSession, part: Sequence[Sample]) -> list[bytes]:
        """Several texts, with judgements as they come."""
        rows = [sample.model_dump() for sample in part]
        async with session.post(f"{self.address}/score", json=rows, headers=LINES) as response:
            assert response.status == 200, await response.text()
            return (await response.read()).splitlines()


def cpu_seconds(process: int) -> float:
    """The processor time of a process so far; not a number where the system does not tell it (Linux does)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bare_app() -> FastAPI:
    """FastAPI alone: reads a text, and answers as long as a judgement without errors."""
    app = FastAPI()

    @app.get("/ready")
    async def ready() -> Response:
        return Response()

    @app.post("/score")
    async def score(request: FastAPIRequest) -> Response:
        text = orjson.loads(await request.body())
        answer = {"sample_id": text["id"], "score": 0, "report": {"errors": []}, "signature": "-" * 150}
        return Response(orjson.dumps(answer), media_type="application/json")

    return app


def listen(port: int, judge: Judge | None) -> None:
    """The service, or bare FastAPI, in a process of its own; both as `mores serve` runs it."""
    gc.set_threshold(*COLLECTING)
    bounds = Bounds(max_waiting=100_000, max_batch=BATCH)
    app = mores.serve_app(judge, store=None, bounds=bounds) if judge else bare_app()
    run_server(make_server(app, "127.0.0.1", port))


def start(options: argparse.Namespace, *more: str) -> tuple[subprocess.Popen[bytes], str]:
    """A service in a process of its own, when it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["--latency-ms", str(options.latency_ms), "--concurrency", str(options.concurrency)]
    process = subprocess.Popen([sys.executable, __file__, "--listen", str(port), *settings, *more])

    async def wait() -> None:
        async with aiohttp.ClientSession() as session:
            while process.poll() is None:
                try:
                    async with session.get(f"http://127.0.0.1:{port}/ready") as response:
                        if response.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.05)
        raise RuntimeError("the service did not start")

    run(wait())
    return process, f"http://127.0.0.1:{port}"


async def compare(options: argparse.Namespace, process: int, address: str, bare: tuple[int, str]) -> list[Row]:
    """All ways, one after the other."""
    samples = texts(options.texts)
    here, expected = await judge_here(samples, Judge(options.latency_ms / 1000, options.concurrency))
    client = Client(address, process, expected)
    batches = [samples[first : first + BATCH] for first in range(0, len(samples), BATCH)]
    several = max(2, -(-options.concurrency // BATCH) * 2)
    streams = await client.measure(f"streams of {BATCH}", batches, several, client.send_stream)
    parts = [[sample] for sample in samples]
    single = await client.measure("one by one", parts, options.connections, client.send_one)
    client = Client(bare[1], bare[0], {})
    return [here, streams, single, await client.measure("bare FastAPI", parts, options.connections, client.send_bare)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=4096)
    parser.add_argument("--concurrency", type=int, default=64, help="calls of the judge at once")
    parser.add_argument("--connections", type=int, default=128, help="requests at once, with one text each")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="of the judge")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    parser.add_argument("--listen", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.listen:
        listen(options.listen, None if options.bare else Judge(options.latency_ms / 1000, options.concurrency))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service ends with us
    process, address = start(options)
    bare, place = start(options, "--bare")
    try:
        rows = run(compare(options, process.pid, address, (bare.pid, place)))
    finally:
        for each in (process, bare):
            each.terminate()
            each.wait(30)
    show(rows, options)
    if options.save:
        save(rows, options.texts)


def save(rows: list[Row], texts: int) -> None:
    """Write the results file."""
    names = {row.way: "Mores" if row is rows[0] else row.way for row in rows}
    figures = {
        "texts/s (more is better)": {names[row.way]: texts / row.seconds for row in rows},
        "CPU ms per text": {names[row.way]: 1000 * row.cpu / texts for row in rows},
    }
    versions = {"Mores": mores.__version__, "FastAPI": version("fastapi"), "uvicorn": version("uvicorn")}
    peers.save("serve", f"`mores serve`: {texts:,} texts over HTTP; Mores is the metric in process", versions, figures)


def show(rows: list[Row], options: argparse.Namespace) -> None:
    """The table, with ratios to the first row."""
    first, results = rows[0], []
    for row in rows:
        waits = sorted(row.waits)
        result: dict[str, Any] = {"way": row.way, "texts_per_s": options.texts / row.seconds}
        result["speed"] = first.seconds / row.seconds
        result["cpu_ms"] = 1000 * row.cpu / options.texts
        result["cpu"] = row.cpu / first.cpu
        for share in (0.5, 0.99):
            result[f"p{100 * share:g}_ms"] = 1000 * waits[int(share * len(waits))] if waits else None
        results.append(result)
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if options.json:
        about = {"date": time.strftime("%Y-%m-%d"), "system": platform.platform(), "cores": cores, "load": load}
        versions = {"mores": mores.__version__} | {name: version(name) for name in ("fastapi", "uvicorn")}
        versions["python"] = platform.python_version()
        settings = {name: getattr(options, name) for name in ("texts", "concurrency", "connections", "latency_ms")}
        print(json.dumps(about | {"versions": versions, "settings": settings, "rows": results}, indent=2))
        return
    print(f"{options.texts:,} texts, a judge of {options.latency_ms:g} ms, {options.concurrency} calls at once\n")
    print(f"{'':<16}{'texts/s':>10}{'ratio':>8}{'CPU ms/text':>14}{'ratio':>8}{'p50 ms':>10}{'p99 ms':>10}")
    for result in results:
        percentiles = [result[name] for name in ("p50_ms", "p99_ms") if result[name] is not None]
        print(
            f"{result['way']:<16}{result['texts_per_s']:>10,.0f}{result['speed']:>8.2f}"
            f"{result['cpu_ms']:>14.2f}{result['cpu']:>8.2f}" + "".join(f"{value:>10,.1f}" for value in percentiles)
        )
    if load > cores:
        print(f"\nOther programs used the machine (load {load:.0f}, {cores} cores): compare the CPU time, not texts/s.")


if __name__ == "__main__":
    main()
