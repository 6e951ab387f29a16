"""`mores serve`: the metric as an HTTP service."""

from __future__ import annotations

import os

import click

from mores.cli.command import command
from mores.cli.result import print_warnings
from mores.errors import ConfigError
from mores.extras import require
from mores.metric.metric import make_metric
from mores.metric.texts import make_lookup
from mores.serve.keys import Keys, read_keys
from mores.serve.service import Service
from mores.serve.settings import KEYS_VARIABLE, Bounds, ServeSettings

HERE = ("127.0.0.1", "localhost", "::1")


@command(ServeSettings)
def serve(settings: ServeSettings) -> None:
    """Serve the metric over HTTP: POST /score judges a text, or several, as `mores score` does.

    \b
    curl localhost:8010/score --json '{"text": "In Japan people eat sushi with a fork."}'

    The same judgements, from the same store, and one model for all requests. SIGTERM or Ctrl-C stops it after the
    accepted texts are judged. docs/serve.md says more.
    """
    require("pip install 'mores[serve]'", "fastapi", "uvicorn")
    from mores.serve.run import serve as serve_until_stopped

    host, port, file, open_to_all = settings.host, settings.port, settings.key_file, settings.no_keys
    if file and open_to_all:
        raise ConfigError("--keys and --no-keys contradict each other; give one of them")
    keys = Keys(() if open_to_all else read_keys(file, os.environ.get(KEYS_VARIABLE)))
    if not keys and not open_to_all and host not in HERE:
        fix = f"give keys by a file or {KEYS_VARIABLE}, or --no-keys where a server in front of it checks who asks"
        raise ConfigError(f"other machines can reach {host}, and nobody has to show a key; {fix}", setting="keys")
    metric = make_metric(settings.model, settings, settings.report)
    service = Service(metric, make_lookup(settings), settings.part(Bounds))
    address = f"http://{'localhost' if host in ('0.0.0.0', '::') else host}:{port}"
    click.echo(f"POST texts to {address}/score; {address}/openapi.json describes it (Ctrl-C stops it).", err=True)
    print_warnings(service.metric.asker)
    serve_until_stopped(service, keys, host, port)
