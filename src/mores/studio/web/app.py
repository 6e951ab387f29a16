"""The ASGI app: `app("studio.db")`, or `app("postgresql://…", model="openai:NAME")`, to be served or mounted."""

from __future__ import annotations

import logging
import re
from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os import PathLike, stat_result

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.types import Scope

from mores.engine import AskSettings
from mores.errors import ConfigError
from mores.settings import takes
from mores.studio.data.jobs import list_work
from mores.studio.settings import StudioAppSettings
from mores.studio.store.database import AWAY, Database, open_database
from mores.studio.store.jobs import JobRunner
from mores.studio.store.people import signing_key
from mores.studio.store.statistics import NotReady
from mores.studio.web.logs import RequestLog
from mores.studio.web.pages import DEFAULT, STATIC, environment, hash_static_files
from mores.studio.web.routes import account, campaigns, data, decide, health, known, organise, people, practice, work
from mores.studio.web.security import Guard, Limiter
from mores.studio.web.shared_limits import SharedLimiter
from mores.studio.web.visit import SIGN_IN, Elsewhere, Studio, visit, wants_json
from mores.studio.worker import AskWorker
from mores.studio.workflow import Refused, Unknown

TITLES = {403: "Not allowed", 404: "Not found", 413: "Too long", 429: "Too many requests"}
LOG = logging.getLogger(__name__)


class Static(StaticFiles):
    """Style sheets and scripts: an address with the version never changes what it gives, so browsers keep it."""

    def file_response(
        self, full_path: PathLike[str] | str, stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        versioned = scope.get("query_string", b"") == f"v={hash_static_files()}".encode()
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if versioned else "no-cache"
        return response


@takes(StudioAppSettings)
def app(settings: StudioAppSettings) -> FastAPI:
    """Return the studio on a database, as an ASGI app."""
    database, model = settings.database, settings.model
    store = database if isinstance(database, Database) else open_database(database)
    chosen = "" if model == "none" else model
    environment(DEFAULT)  # imports every kind of campaign, so that the first visitor does not wait for it
    worker = AskWorker(store, chosen, settings.part(AskSettings))
    runner = JobRunner(store, list_work(chosen))

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        runner.wake()  # what was given up when the studio stopped
        async with worker:
            yield
        await to_thread(runner.stop)
        if not isinstance(database, Database):
            store.close()

    studio = FastAPI(title="Mores studio", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    key = signing_key(store)
    alone = store.sqlite and settings.workers == 1
    limiter = Limiter() if alone else SharedLimiter(store, key)
    studio.state.studio = Studio(store, key, chosen, limiter, runner=runner)
    studio.mount("/static", Static(directory=STATIC), name="static")
    for routes in (account, campaigns, practice, work, organise, decide, known, people, data, health):
        studio.router.routes += routes.router.routes  # including a router makes its routes again, while a visitor waits
    for kind in (Elsewhere, NotReady, Refused, HTTPException, RequestValidationError, OperationalError):
        studio.add_exception_handler(kind, _handle)
    studio.add_middleware(Guard, root=clean_root(settings.root_path))
    studio.add_middleware(RequestLog)
    return studio


def clean_root(path: str) -> str:
    """Return the path under which a server in front offers the studio: `/studio`, or nothing."""
    inner = path.strip("/")
    if not re.fullmatch(r"[\w.~/-]*", inner, re.ASCII) or "//" in inner:
        raise ConfigError(f"{path!r} is not a path such as /studio", setting="root_path")
    return f"/{inner}" if inner else ""


def _handle(request: Request, error: Exception) -> Response:
    """Send the visitor where they have to go first, or explain what is wrong."""
    root = request.scope.get("root_path", "")
    match error:
        case NotReady():
            return visit(request).page("wait.html")
        case Elsewhere(path=path) if path == SIGN_IN and wants_json(request):
            return JSONResponse({"error": "Please sign in."}, 401)
        case Elsewhere(path=path):
            return RedirectResponse(f"{root}{path}", 303)
        case Refused():
            return _explain(request, 404 if isinstance(error, Unknown) else 409, error.args[0])
        case HTTPException(status_code=code, detail=detail):
            return _explain(request, code, "" if detail.lower() == TITLES.get(code, "").lower() else detail)
        case OperationalError():  # nothing was kept: scripts hold what was sent and try again
            LOG.error("the database does not work: %s", error.orig)
            return _explain(request, 503, AWAY)
    return _explain(request, 422, "This address cannot be read.")


def _explain(request: Request, status: int, reason: str) -> Response:
    try:
        visitor = visit(request)
        if wants_json(request):
            return JSONResponse({"error": visitor.translate(reason)}, status)
        return visitor.page("problem.html", code=status, reason=reason)
    except (
        HTTPException,
        OperationalError,
    ) as error:  # nothing is drawn where nobody knows who visits
        status, reason = (error.status_code, error.detail) if isinstance(error, HTTPException) else (503, AWAY)
        if wants_json(request):
            return JSONResponse({"error": reason}, status)
        return PlainTextResponse(reason, status)
