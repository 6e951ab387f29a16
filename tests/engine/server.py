"""A chat server that misbehaves on purpose, in a thread of its own, for tests of everything that calls models."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

CLEAN = '{"errors": [], "explanation": "fine"}'
Fault = Callable[["Server", web.Request], Awaitable[web.StreamResponse]]


def completion(text: str, stop: str = "stop", logprobs: bool = True) -> dict[str, Any]:
    """A chat completion as the protocol writes it."""
    tokens: list[dict[str, Any]] = [
        {"token": t, "logprob": -0.25, "bytes": None, "top_logprobs": []} for t in text.split()
    ]
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": stop}
    choice["logprobs"] = {"content": tokens} if logprobs else None
    usage = {"prompt_tokens": 10, "completion_tokens": len(tokens), "total_tokens": 10 + len(tokens)}
    return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}


class Server:
    """Answers `answer(prompt)`; `faults` holds what may happen instead, each with its probability."""

    def __init__(
        self,
        faults: dict[Fault, float] | None = None,
        answer: Callable[[str], str] = lambda _: CLEAN,
        latency: float = 0.0,
        key: str | None = None,
        logprobs: bool = True,
        seed: int = 0,
        port: int = 0,
    ) -> None:
        self.faults, self.answer, self.latency, self.key, self.logprobs = faults or {}, answer, latency, key, logprobs
        self.asked: list[str] = []
        """The prompt of every request, in the order of arrival."""
        self.answered: Counter[str] = Counter()
        """How often each prompt was answered properly."""
        self.bodies: list[dict[str, Any]] = []
        self.active = self.most_active = 0
        self.port = port
        self.models_status = 200
        """What the list of models is answered with."""
        self.models: list[str] = []
        """The models in it; another one is not found."""
        self._random = random.Random(seed)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Listen."""
        self._thread.start()
        assert self._ready.wait(10)

    def stop(self) -> None:
        """Close all connections and listen no more."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _serve(self) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        self._loop.run_until_complete(site.start())
        self.port = runner.addresses[0][1]
        self._ready.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):  # those that are slow
            task.cancel()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    def _refused(self, request: web.Request) -> bool:
        return self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}"

    async def _models(self, request: web.Request) -> web.StreamResponse:
        if self._refused(request):
            return web.json_response({"error": {"message": "Incorrect API key provided"}}, status=401)
        return web.json_response({"data": [{"id": name} for name in self.models]}, status=self.models_status)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if self._refused(request):
            return web.json_response({"error": {"message": "Incorrect API key provided"}}, status=401)
        body = await request.json()
        if self.models and body["model"] not in self.models:
            return web.json_response({"error": {"message": "The model does not exist"}}, status=404)
        prompt = body["messages"][-1]["content"]
        self.asked.append(prompt)
        self.bodies.append(body)
        self.active += 1
        self.most_active = max(self.active, self.most_active)
        try:
            return await self._respond(request, prompt)
        finally:
            self.active -= 1

    async def _respond(self, request: web.Request, prompt: str) -> web.StreamResponse:
        if self.latency:
            await asyncio.sleep(self.latency)
        draw = self._random.random()
        for fault, share in self.faults.items():
            draw -= share
            if draw < 0:
                return await fault(self, request)
        return self.proper(prompt)

    def proper(self, prompt: str) -> web.StreamResponse:
        """The answer of a server that is well."""
        self.answered[prompt] += 1
        return web.json_response(completion(self.answer(prompt), logprobs=self.logprobs))


async def too_many(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "0.01"})


async def crowded(server: Server, request: web.Request) -> web.StreamResponse:
    """429 while more than four calls are under way."""
    if server.active > 4:
        return await too_many(server, request)
    return server.proper((await request.json())["messages"][-1]["content"])


async def unavailable(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.Response(status=503, text="<html>overloaded</html>")


async def broken(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.Response(status=500, text="Traceback (most recent call last)")


async def dropped(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def cut_short(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    """A body that ends before its Content-Length."""
    body = json.dumps(completion(CLEAN)).encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(body)), "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


async def garbage(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.Response(text='{"choices": [{"mess', content_type="application/json")


async def not_a_completion(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"choices": []})


async def error_in_200(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"error": {"message": "upstream failed", "code": 502}})


async def too_long(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"error": {"message": "maximum context length is 4096 tokens"}}, status=400)


ALL_FAULTS: tuple[Fault, ...] = (
    too_many, unavailable, broken, dropped, cut_short, garbage, not_a_completion, error_in_200,
)  # fmt: skip
