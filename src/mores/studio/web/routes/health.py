"""`/health`, for whatever watches over the studio: it writes to the database and says what is wrong."""

from __future__ import annotations

import math
import time
from threading import Lock

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from mores.studio.store.health import find_problem
from mores.studio.web.visit import Studio, wants_json

router = APIRouter()
SECONDS = 2.0
"""How long a finding is told again: anybody may ask, and each look is a write."""
_lock = Lock()


def look(request: Request) -> str:
    """Return what is wrong now or was a moment ago; empty where nothing is."""
    studio: Studio = request.app.state.studio
    state = request.app.state
    with _lock:
        found, at = getattr(state, "health", ("", -math.inf))
        if time.monotonic() - at >= SECONDS:
            found = find_problem(studio.database)
            state.health = found, time.monotonic()
    return str(found)


@router.get("/health")
def health(request: Request) -> Response:
    """Answer `ok`, or 503 and what is wrong."""
    found = look(request)
    if wants_json(request):
        body = {"status": "error", "problem": found} if found else {"status": "ok"}
        return JSONResponse(body, 503 if found else 200)
    return PlainTextResponse(found or "ok", 503 if found else 200)
