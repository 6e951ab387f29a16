"""A server that speaks Serper's interface, or another provider's, in a thread; `faults` holds what it does first."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

KEY = "secret-key-0123456789"
Fault = Callable[["Server", web.Request], Awaitable[web.StreamResponse]]


def results(query: str, number: int = 3) -> dict[str, Any]:
    """Organic results as Serper writes them."""
    rows = [
        {"title": f"{query} {n}", "link": f"https://example.org/{n}", "snippet": f"About {query} {n}.", "position": n}
        for n in range(1, number + 1)
    ]
    return {"searchParameters": {"q": query, "type": "search", "engine": "google"}, "organic": rows, "credits": 1}


class Server:
    """Answers `answer(query)`, after the faults that it was given, one for each request."""

    def __init__(
        self,
        *faults: Fault,
        answer: Callable[[str], dict[str, Any]] = results,
        latency: float = 0.0,
        always: Fault | None = None,
        route: str = "/search",
        header: tuple[str, str] = ("X-API-KEY", KEY),
    ) -> None:
        self.route, self.header = route, header
        self.faults, self.answer, self.latency, self.always = list(faults), answer, latency, always
        self.bodies: list[dict[str, Any]] = []
        self.asked: list[str] = []
        """The query of every request that was answered properly."""
        self.active = self.most_active = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _serve(self) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        app = web.Application()
        app.router.add_route("*", self.route, self._search)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        self.port = runner.addresses[0][1]
        self._ready.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):  # those that are silent
            task.cancel()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _search(self, request: web.Request) -> web.StreamResponse:
        name, key = self.header
        if request.headers.get(name) != key:
            return web.json_response({"message": "Unauthorized.", "statusCode": 403}, status=403)
        body = await request.json() if request.method == "POST" else dict(request.query)
        self.bodies.append(body)
        self.active += 1
        self.most_active = max(self.most_active, self.active)
        try:
            await asyncio.sleep(self.latency)
            fault = self.faults.pop(0) if self.faults else self.always
            if fault is not None:
                return await fault(self, request)
            query = body.get("q") or body["query"]
            self.asked.append(query)
            return web.json_response(self.answer(query))
        finally:
            self.active -= 1


async def too_many(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"message": "Rate limit exceeded", "statusCode": 429}, status=429)


async def broken(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.Response(status=502, text="<html>Bad gateway</html>")


async def garbage(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.Response(text='{"organic": [{"titl', content_type="application/json")


async def not_results(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"organic": "none"})


async def dropped(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def silent(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    await asyncio.sleep(30)
    return web.Response()


async def endless(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.Response(body=b" " * (5 << 20))


async def no_credits(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"message": "Not enough credits", "statusCode": 400}, status=400)


async def refused(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"message": f"Query not allowed for {KEY}.", "statusCode": 400}, status=400)


async def redirected(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.Response(status=302, headers={"Location": f"{server.url}/elsewhere"})


async def later(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
    return web.json_response({"message": "Come back"}, status=503, headers={"Retry-After": "4000"})
