"""The ASGI app: `serve_app("openai:NAME", keys=[…])`, to be served or mounted (docs/serve.md)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mores import __version__
from mores.engine.deadline import Deadlines, Expiry
from mores.errors import MoresError
from mores.io import json_line
from mores.metric.opening import make_metric
from mores.metric.texts import make_lookup
from mores.serve.body import JSON, LINES, read_body, read_texts
from mores.serve.keys import Keys
from mores.serve.meter import CONTENT_TYPE, Meter
from mores.serve.openapi import ANSWERS, REQUEST, UNKNOWN, ServiceStatus
from mores.serve.page import page_of
from mores.serve.service import Batch, Busy, Service
from mores.serve.settings import ServiceSettings
from mores.settings import takes
from mores.types import Judgement

ABOUT = (
    "Finds the cultural errors in texts, with the ExCAM metric: what is wrong, where, how bad it is and why."
    " A text that cannot be judged has a `failure` with its reason in place of a `score`."
)
GONE = 499
"""The status of a request whose client has gone; nobody reads it."""
SECONDS = 30.0
"""In which a request must have arrived."""
SOON = 0.1
"""Seconds in which a text may be judged before we look whether its client has gone."""
KEPT_NOWHERE = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
"""Headers of every answer."""

BEARER = HTTPBearer(auto_error=False, description="A key of the service.")


def check_key(request: Request, shown: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]) -> None:
    """Let in who shows a key; its name is `request.state.client`."""
    keys: Keys = request.app.state.keys
    request.state.client = keys.client(shown.credentials) if shown else None
    if request.state.client is None:
        raise HTTPException(401, "show a key: Authorization: Bearer KEY", {"WWW-Authenticate": "Bearer"})


@takes(ServiceSettings)
def serve_app(settings: ServiceSettings) -> FastAPI:
    """Return the metric as an ASGI app, to be served or mounted; it opens the model and finishes what was accepted."""
    metric = make_metric(settings.model, settings, settings.report)
    return app_of(Service(metric, make_lookup(settings, metric), settings.bounds), Keys(settings.keys))


def app_of(service: Service, keys: Keys) -> FastAPI:
    """Yield the app of one service; it is `app.state.service`."""

    deadlines = Deadlines(SECONDS)
    soon = Expiry[Callable[[], object]](SOON, lambda look: look())

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with service:
            yield
        deadlines.close()
        soon.close()

    meter = Meter(service)
    app = FastAPI(
        title="Mores", version=__version__, description=ABOUT, lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.state.service, app.state.keys = service, keys
    guarded = APIRouter(dependencies=[Depends(check_key)], responses=UNKNOWN) if keys else APIRouter()

    @guarded.post("/score", response_model=Judgement | list[Judgement], responses=ANSWERS, openapi_extra=REQUEST)
    async def score(request: Request) -> Response:
        """Judge one text, or several.

        One object is answered with its judgement, several with an array in the same order. With the header `Accept:
        application/x-ndjson` each judgement is a line, sent as soon as it is there: `sample_id` tells whose it is.
        """
        headers = dict(request.scope["headers"])
        media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
        body = await read_body(headers, request.receive, service.bounds.max_body, deadlines)
        samples, single = read_texts(body, media, service.bounds)
        address = request.scope.get("client") or [""]  # `request.client` would make a record of it
        batch = service.submit(samples, request.state.client if keys else address[0])
        if LINES.encode() in headers.get(b"accept", b""):
            return StreamingResponse(_lines(service, batch), media_type=LINES)
        return await _answer_at_once(request.receive, service, batch, single, soon)

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        """Return the page on which people try the service."""
        return page_of(app, service.bounds, keys=bool(keys))

    @app.head("/health", include_in_schema=False)  # what some load balancers ask
    @app.get("/health", response_model=ServiceStatus)
    async def health() -> ServiceStatus:
        """Tell whether the service runs; also while it cannot judge texts."""
        return ServiceStatus(status="ok")

    @app.head("/ready", include_in_schema=False)
    @app.get(
        "/ready", response_model=ServiceStatus, responses={503: {"model": ServiceStatus, "description": "Not ready"}}
    )
    async def ready() -> Response:
        """Tell whether texts can be judged now."""
        status = ServiceStatus(status=service.unready or "ok")
        return Response(status.model_dump_json(), 503 if service.unready else 200, media_type=JSON)

    @guarded.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Return counts for Prometheus."""
        return Response(meter.page(), media_type=CONTENT_TYPE)

    app.include_router(guarded)
    app.add_exception_handler(MoresError, _refuse)
    app.add_middleware(Front, meter=meter, keys=keys, score=score)
    return app


async def _answer_at_once(
    receive: Receive, service: Service, batch: Batch, single: bool, soon: Expiry[Callable[[], object]]
) -> Response:
    """Return all judgements at once, in the order of the texts; when the client goes, the rest is withdrawn."""
    watching: list[asyncio.Task[None]] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        service.withdraw(batch)

    def look() -> None:
        watching.append(asyncio.create_task(watch()))

    soon.add(look)
    try:
        judgements = dict(await batch.finished())
    finally:
        soon.pop(look, None)
        for task in watching:
            task.cancel()
        service.withdraw(batch)
    if len(judgements) < len(batch.samples):
        return Response(status_code=GONE)
    parts = [json_line(judgements[place]).rstrip() for place in range(len(batch.samples))]
    return Response(parts[0] if single else b"[" + b",".join(parts) + b"]", media_type=JSON)


async def _lines(service: Service, batch: Batch) -> AsyncIterator[bytes]:
    """Yield each judgement as soon as it is there; when the client goes, the rest is withdrawn."""
    try:
        async for arrived in batch.arrivals():
            yield b"".join(json_line(judgement) for _, judgement in arrived)
    finally:
        service.withdraw(batch)


def _refuse(_request: Request, error: Exception) -> Response:
    """Return what is wrong with a request, or when to send it again."""
    if not isinstance(error, Busy):
        return JSONResponse({"detail": str(error)}, 422)
    return JSONResponse({"detail": str(error)}, 429 if error.own else 503, {"Retry-After": str(error.retry_after)})


class Front:
    """ASGI middleware: answers and counts the requests to score texts, and says with all answers not to keep them.

    It calls the function of the route itself: what FastAPI does before it would take longer than the metric.
    """

    def __init__(self, app: ASGIApp, meter: Meter, keys: Keys, score: Callable[[Request], Awaitable[Response]]) -> None:
        self.app, self.meter, self.keys, self.score = app, meter, keys, score

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.monotonic(), 500
        path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        asks = path == "/score" and scope["method"] == "POST"

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *KEPT_NOWHERE]
            await send(message)

        try:
            await (self._answer if asks else self.app)(scope, receive, noted)
        finally:
            if scope["path"].endswith("/score"):
                self.meter.count(status, time.monotonic() - start)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            if self.keys:
                check_key(request, await BEARER(request))
            response = await self.score(request)
        except HTTPException as error:
            response = await http_exception_handler(request, error)
        except MoresError as error:
            response = _refuse(request, error)
        except ClientDisconnect:
            response = Response(status_code=GONE)
        await response(scope, receive, send)
