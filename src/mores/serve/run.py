"""The server of `mores serve`, and what other servers share with it."""

from __future__ import annotations

import math
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from mores.errors import ConfigError, MoresError
from mores.serve.app import app_of
from mores.serve.keys import Keys
from mores.serve.service import Service


def make_server(app: ASGIApp, host: str, port: int, **options: Any) -> uvicorn.Server:
    """Return a server of an app, which logs no requests."""
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, host=host, port=port, **quiet, **options))


def run_server(server: uvicorn.Server) -> None:
    """Serve until it is stopped; ConfigError where the port is taken."""
    try:
        server.run()
    except SystemExit as error:
        place = f"{server.config.host}:{server.config.port}"
        raise ConfigError(f"{place} cannot be used; another program may be using it", setting="port") from error


def serve(service: Service, keys: Keys, host: str, port: int) -> None:
    """Serve until it is stopped, and finish what was accepted; MoresError where the model cannot be opened."""
    patience = math.ceil(service.bounds.deadline) + 5
    server = make_server(app_of(service, keys), host, port, timeout_graceful_shutdown=patience)
    failed: list[MoresError] = []

    def stop(error: MoresError) -> None:
        failed.append(error)
        server.should_exit = True

    service.on_failed_start = stop
    run_server(server)
    if failed:
        raise failed[0]
