"""The server of `mores view`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from secrets import token_urlsafe

from mores.errors import ConfigError
from mores.io.addresses import HERE, address_of
from mores.serve.run import make_server, run_server
from mores.view.app import view_app
from mores.view.settings import TOKEN_VARIABLE, ViewAppSettings, ViewSettings

SHORTEST = 16


def serve(settings: ViewSettings, tell: Callable[[str], object]) -> None:
    """Serve the viewer until it is stopped; `tell` gets its address, with a token where other machines reach it."""
    host, token = settings.host, os.environ.get(TOKEN_VARIABLE, "")
    if token and len(token) < SHORTEST:
        raise ConfigError(f"{TOKEN_VARIABLE} can be guessed; make one with: openssl rand -hex 24")
    token = token or ("" if host in HERE else token_urlsafe(24))
    hosts, write = (*settings.allow_host, host), settings.write or host in HERE
    options = replace(settings.part(ViewAppSettings), token=token, write=write, allow_host=hosts)
    address = address_of(host, settings.port)
    tell(f"The runs are at {address}/{f'?token={token}' if token else ''} (Ctrl-C stops it).")
    if token and host not in HERE:
        may = "write notes and judge texts" if settings.write else "only read"
        tell(f"Other machines can reach it; who has this link may {may}. Put a server with HTTPS in front of it.")
    run_server(make_server(view_app(**vars(options)), host, settings.port))
