"""The log as JSON (`mores studio --log json`): one object on a line for each request, warning and failure.

No addresses and no values are logged, only which route it was: invitations and names stand in addresses.
"""

from __future__ import annotations

import json
import logging
import time
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import LOGGING_CONFIG

REQUESTS = logging.getLogger("mores.studio.requests")
REQUESTS.setLevel(logging.CRITICAL)  # text is for people, who want no line for each request


class JsonFormatter(logging.Formatter):
    """A record of the log as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": moment, "level": record.levelname.lower(), "logger": record.name}
        line |= {"process": record.process, "message": record.getMessage()} | getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_config(form: str) -> dict[str, Any]:
    """Return how uvicorn and the studio log: `text` for people, or `json`; to standard error."""
    if form == "text":
        return LOGGING_CONFIG
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"json": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["json"], "level": "WARNING"},
        "loggers": {REQUESTS.name: {"level": "INFO"}, "uvicorn": {"level": "WARNING"}},
    }


class RequestLog:
    """ASGI middleware that logs each request: route, status and milliseconds."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not REQUESTS.isEnabledFor(logging.INFO):
            await self.app(scope, receive, send)
            return
        started, status, name = time.perf_counter(), 500, token_hex(4)

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", name.encode())]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            route = getattr(scope.get("route"), "path", "")
            fields = {"request": name, "method": scope["method"], "route": route, "status": status}
            fields["ms"] = round(1000 * (time.perf_counter() - started), 1)
            REQUESTS.info("request", extra={"fields": fields})
