"""One contestant in a separate process, so that its CPU time and peak memory are its own.

    python contestants.py '{"name": "mores", "base_url": …, "calls": …, "connections": …, "folder": …}'

`engine.py` starts this file; the last line that it prints is the measurement as JSON. A contestant is a
function that imports and prepares, untimed, and returns what is timed.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import importlib
import importlib.metadata
import importlib.util
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import stub


class Plan(NamedTuple):
    """What every contestant does alike."""

    name: str
    base_url: str
    calls: int
    connections: int
    folder: str
    """Where it may write."""
    words: int = stub.WORDS
    """Of every answer."""

    @property
    def answer(self) -> str:
        """What every answer must be."""
        return stub.text_of(self.words)


class Done(NamedTuple):
    """What a contestant reports about its run."""

    good: int
    """Answers with the text that the server gave."""
    cached: int = 0
    """Those that came from a store."""


class Contestant(NamedTuple):
    """How it is shown, what must be installed for it, and how it is prepared."""

    title: str
    package: str
    """The name that pip knows."""
    prepare: Callable[[Plan], Callable[[], Done]]


KEY = "sk-proj-" + "Ab3dEf9hIj" * 15
"""As long as keys are: ours is looked for in every answer."""


def question(i: int) -> str:
    return f"question {i}"


def run_loop(main: Coroutine[Any, Any, Done]) -> Done:
    """On the same event loop as the engine, without importing the engine."""
    factory = importlib.import_module("uvloop").new_event_loop if importlib.util.find_spec("uvloop") else None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


# -- the contestants ---------------------------------------------------------------------------------------


def prepare_aiohttp(plan: Plan) -> Callable[[], Done]:
    """What the calls cost at least: a worker per connection, and each answer read as JSON. Nothing is kept."""
    import aiohttp
    import orjson

    url, expected = f"{plan.base_url}/chat/completions", plan.answer

    def body(i: int) -> bytes:
        messages = [{"role": "user", "content": question(i)}]
        return orjson.dumps({"model": "stub", "messages": messages, "logprobs": True})

    async def work(session: aiohttp.ClientSession, numbers: Iterator[int]) -> int:
        good = 0
        for i in numbers:
            async with session.post(url, data=body(i)) as response:
                answer = orjson.loads(await response.read())
            good += answer["choices"][0]["message"]["content"] == expected
        return good

    async def main() -> Done:
        numbers = iter(range(plan.calls))
        headers = {"Content-Type": "application/json"}
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:
            return Done(sum(await asyncio.gather(*(work(session, numbers) for _ in range(plan.connections)))))

    return lambda: run_loop(main())


def prepare_mores(plan: Plan) -> Callable[[], Done]:
    """The engine as the commands use it: every answer is in the store before it is handed on."""
    from mores.cli import COLLECTING
    from mores.engine import Job, Limits, RunOptions, Store, loop, run
    from mores.models.base import Message, Request
    from mores.models.openai import OpenAIModel

    gc.set_threshold(*COLLECTING)

    async def main() -> Done:
        good, cached, expected = 0, 0, plan.answer
        requests = (Request(messages=(Message("user", question(i)),)) for i in range(plan.calls))
        jobs = (Job(id=str(i), request=request) for i, request in enumerate(requests))
        model = OpenAIModel(name="stub", base_url=plan.base_url, api_key=KEY)
        with Store(Path(plan.folder) / "responses.sqlite") as store:
            options = RunOptions(store=store, limits=Limits(concurrency=plan.connections))
            async for answer in run(jobs, model, options):
                good += answer.completion is not None and answer.completion.text == expected
                cached += answer.cached
        return Done(good, cached)

    return lambda: loop.run(main())


def prepare_lm_eval(plan: Plan) -> Callable[[], Done]:
    """lm-evaluation-harness: its `local-chat-completions` model called with all requests at once; nothing is kept."""
    completion = importlib.import_module("lm_eval.models.openai_completions").LocalChatCompletion
    url = f"{plan.base_url}/chat/completions"
    model = completion(model="stub", base_url=url, num_concurrent=plan.connections)
    chat = importlib.import_module("lm_eval.models.api_models").JsonChatStr
    instance = importlib.import_module("lm_eval.api.instance").Instance
    decoding = {"until": [], "max_gen_toks": 1024, "logprobs": True}

    def ask(i: int) -> Any:
        messages = chat(json.dumps([{"role": "user", "content": question(i)}]))
        return instance("generate_until", {}, (messages, decoding), i)

    def main() -> Done:
        answers = model.generate_until([ask(i) for i in range(plan.calls)])
        return Done(sum(answer == plan.answer for answer in answers))

    return main


def prepare_inspect(plan: Plan) -> Callable[[], Done]:
    """Inspect AI: its `openai-api` model called from a worker per connection; nothing is kept."""
    models = importlib.import_module("inspect_ai.model")
    config = models.GenerateConfig(max_connections=plan.connections, logprobs=True)
    # It imports its client when it is made.
    model = models.get_model("openai-api/stub/stub", base_url=plan.base_url, api_key=KEY, config=config)

    expected = plan.answer

    async def work(numbers: Iterator[int]) -> int:
        return sum([(await model.generate(question(i))).completion == expected for i in numbers])

    async def main() -> Done:
        numbers = iter(range(plan.calls))
        return Done(sum(await asyncio.gather(*(work(numbers) for _ in range(plan.connections)))))

    return lambda: run_loop(main())


class _Caller(asyncio.Protocol):
    """Sends the same bytes as often as it may and only counts what comes back."""

    transport: asyncio.Transport

    def __init__(self, numbers: Iterator[int], request: bytes, expected: int, done: asyncio.Future[None]) -> None:
        self.numbers = numbers
        self.request = request
        self.expected = expected
        self.got = 0
        self.done = done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self._ask()

    def data_received(self, data: bytes) -> None:
        self.got += len(data)
        if self.got == self.expected:
            self.got = 0
            self._ask()

    def _ask(self) -> None:
        if next(self.numbers, None) is not None:
            self.transport.write(self.request)
        else:
            self.transport.close()
            self.done.set_result(None)


def prepare_socket(plan: Plan) -> Callable[[], Done]:
    """No contestant: bare sockets, to see that the server can do far more than the contestants ask of it."""
    body = b'{"model": "stub", "messages": [{"role": "user", "content": "question 0"}]}'
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: stub\r\nContent-Length: {len(body)}\r\n\r\n"
    port = urlsplit(plan.base_url).port or 80

    async def main() -> Done:
        running, numbers = asyncio.get_running_loop(), iter(range(plan.calls))
        waits = [running.create_future() for _ in range(plan.connections)]
        expected = len(stub.with_head(stub.answer_body()))
        for done in waits:
            make = functools.partial(_Caller, numbers, head.encode() + body, expected, done)
            await running.create_connection(make, "127.0.0.1", port)
        await asyncio.gather(*waits)
        return Done(plan.calls)

    return lambda: run_loop(main())


CONTESTANTS = {
    "mores": Contestant("Mores", "mores-eval", prepare_mores),
    "aiohttp": Contestant("raw aiohttp", "aiohttp", prepare_aiohttp),
    "lm-eval": Contestant("lm-evaluation-harness", "lm-eval", prepare_lm_eval),
    "inspect": Contestant("Inspect AI", "inspect-ai", prepare_inspect),
}


def version(name: str) -> str | None:
    """The version that is installed; None when it is not."""
    try:
        return importlib.metadata.version(CONTESTANTS[name].package)
    except importlib.metadata.PackageNotFoundError:
        return None


# -- the measurement ---------------------------------------------------------------------------------------


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    """Highest resident memory so far, in millions of bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def measure(plan: Plan) -> dict[str, Any]:
    """Run one contestant here and now."""
    prepare = prepare_socket if plan.name == "socket" else CONTESTANTS[plan.name].prepare
    main = prepare(plan)
    cpu, wall = cpu_seconds(), time.perf_counter()
    result = main()
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    return {**result._asdict(), "wall_s": wall, "cpu_s": cpu, "peak_mb": peak_mb()}


if __name__ == "__main__":
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    print(f"\n{json.dumps(measure(Plan(**json.loads(sys.argv[1]))))}")
