"""How close to the ideal a run comes on servers that refuse calls: `python benchmarks/throttle.py`.

Two servers answer in 0.1 s. One takes 8 calls at once and refuses others (429); one refuses more than 40 a second. The
ideal is what a client that knew these limits would need. Mores starts with 32 calls at once and knows nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from mores.engine import Asker, Counts, Job
from mores.models import Message, Request
from mores.models.openai import OpenAIModel

LATENCY = 0.1
SLOTS, RATE = 8, 40
CALLS = 600
BODY = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {}}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def slots() -> Handler:
    """A server that takes so many calls at once."""
    active = 0

    async def handle(_: web.Request) -> web.StreamResponse:
        nonlocal active
        if active >= SLOTS:
            return web.json_response({"error": {"message": "too many at once"}}, status=429)
        active += 1
        try:
            await asyncio.sleep(LATENCY)
        finally:
            active -= 1
        return web.json_response(BODY)

    return handle


def bucket() -> Handler:
    """A server that takes so many calls a second, and those of one second at once."""
    level, at = float(RATE), time.monotonic()

    async def handle(_: web.Request) -> web.StreamResponse:
        nonlocal level, at
        now = time.monotonic()
        level, at = min(float(RATE), level + (now - at) * RATE), now
        if level < 1:
            return web.json_response({"error": {"message": "too many in a second"}}, status=429)
        level -= 1
        await asyncio.sleep(LATENCY)
        return web.json_response(BODY)

    return handle


async def measure(handler: Handler) -> tuple[float, int]:
    """The seconds of one run, and how many calls were refused in it."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    asker = Asker(OpenAIModel("m", f"http://127.0.0.1:{port}/v1"), store=None)
    jobs = (Job(str(n), Request((Message("user", f"question {n}"),), logprobs=False)) for n in range(CALLS))
    counts, started = Counts(), time.monotonic()
    answers = [answer async for answer in asker.ask(jobs, counts=counts)]
    seconds = time.monotonic() - started
    await runner.cleanup()
    assert not any(answer.failure for answer in answers)
    return seconds, counts.retries


def main() -> None:
    """Measure both servers."""
    cases = {
        f"{SLOTS} at once": (slots(), CALLS * LATENCY / SLOTS),
        f"{RATE} a second": (bucket(), (CALLS - RATE) / RATE + LATENCY),
    }
    for name, (handler, ideal) in cases.items():
        seconds, refused = asyncio.run(measure(handler))
        times = {"seconds": seconds, "ideal": ideal, "ratio": seconds / ideal}
        row = {"server": name, "calls": CALLS, "refused": refused}
        print(json.dumps(row | {key: round(value, 2) for key, value in times.items()}))


if __name__ == "__main__":
    main()
