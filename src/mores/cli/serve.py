"""`mores serve`: the metric as an HTTP service."""

from __future__ import annotations

import os
from typing import Any

import click

from mores.cli import options
from mores.errors import ConfigError
from mores.extras import require
from mores.metric.texts import Lookup
from mores.search import search_or_corpus
from mores.serve.keys import Keys, read_keys
from mores.serve.service import Bounds, Service

VARIABLE = "MORES_SERVE_KEYS"
HERE = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0 for other machines.")
@click.option("--port", default=8010, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--keys", "file", type=options.FILE, help=f"File with one key in each line [env: {VARIABLE}].")
@click.option("--no-keys", is_flag=True, help="Let everybody who reaches it ask, also from other machines.")
@click.option("--evidence", metavar="SEARCH", help="Look each text up first, as `mores score --evidence` does.")
@click.option("--passages", default=3, show_default=True, type=click.IntRange(1, 20),
              help="Most pieces of evidence for a text; of several sentences, each has one more.")  # fmt: skip
@click.option("--max-waiting", default=Bounds.max_waiting, show_default=True, type=click.IntRange(1),
              help="Most texts that wait; further requests are told when to come again.")  # fmt: skip
@click.option("--max-share", type=click.IntRange(1), help="Most texts of one key that wait  [default: no other limit].")
@click.option("--max-batch", default=Bounds.max_batch, show_default=True, type=click.IntRange(1),
              help="Most texts in one request.")  # fmt: skip
@click.option("--max-body", default=Bounds.max_body, show_default=True, type=click.IntRange(1),
              help="Most bytes of one request.")  # fmt: skip
@click.option("--deadline", default=Bounds.deadline, show_default=True, type=click.FloatRange(0, min_open=True),
              metavar="SECONDS", help="What is not judged by then becomes a failure.")  # fmt: skip
@options.metric_options
def serve(host: str, port: int, **given: Any) -> None:
    """Serve the metric over HTTP: POST /score judges a text, or several, as `mores score` does.

    \b
    curl localhost:8010/score --json '{"text": "In Japan people eat sushi with a fork."}'

    The same judgements, from the same store, and one model for all requests. SIGTERM or Ctrl-C stops it after what
    was accepted is judged. docs/serve.md says more.
    """  # fmt: skip
    require("pip install 'mores[serve]'", "fastapi", "uvicorn")
    from mores.serve.run import serve as serve_until_stopped

    file, open_to_all = given.pop("file"), given.pop("no_keys")
    if file and open_to_all:
        raise ConfigError("--keys and --no-keys contradict each other; give one of them")
    keys = Keys(() if open_to_all else read_keys(file, os.environ.get(VARIABLE)))
    if not keys and not open_to_all and host not in HERE:
        fix = f"give keys by a file or {VARIABLE}, or --no-keys where a server in front of it checks who asks"
        raise ConfigError(f"other machines can reach {host}, and nobody has to show a key; {fix}", setting="keys")
    evidence, passages = given.pop("evidence"), given.pop("passages")
    lookup = Lookup(search_or_corpus(evidence), passages) if evidence else None
    bounds = Bounds(**options.take(given, *Bounds.__dataclass_fields__))
    service = Service(options.metric(given), lookup, bounds)
    address = f"http://{'localhost' if host in ('0.0.0.0', '::') else host}:{port}"
    click.echo(f"POST texts to {address}/score; {address}/openapi.json describes it (Ctrl-C stops it).", err=True)
    options.print_warnings(service.metric.asker)
    serve_until_stopped(service, keys, host, port)
