"""The server of `mores serve`."""

from __future__ import annotations

import math

import uvicorn

from mores.errors import ConfigError, MoresError
from mores.serve.app import app_of
from mores.serve.keys import Keys
from mores.serve.service import Service


def serve(service: Service, keys: Keys, host: str, port: int) -> None:
    """Serve until it is stopped, and finish what was accepted; MoresError where the model cannot be opened."""
    config = uvicorn.Config(
        app_of(service, keys), host=host, port=port, log_level="warning", access_log=False, server_header=False,
        timeout_graceful_shutdown=math.ceil(service.bounds.deadline) + 5,
    )  # fmt: skip
    server = uvicorn.Server(config)
    failed: list[MoresError] = []

    def stop(error: MoresError) -> None:
        failed.append(error)
        server.should_exit = True

    service.on_failed_start = stop
    try:
        server.run()
    except SystemExit as error:
        raise ConfigError(f"{host}:{port} cannot be used; another program may be using it", setting="port") from error
    if failed:
        raise failed[0]
