"""Serving the studio: the owner of a new database, the demo, links to begin with, and the server."""

from __future__ import annotations

import gc
import io
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context, parent_process
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import NamedTuple

import segno
import uvicorn
from sqlalchemy import select, true

from mores.engine.progress import SILENT
from mores.errors import ConfigError, StoreError
from mores.io.addresses import HERE, address_of, lan_address
from mores.studio.demo import fill, guests
from mores.studio.progress import STOPPING
from mores.studio.records import Role
from mores.studio.settings import StudioAppSettings, StudioSettings
from mores.studio.store.database import Database, open_database
from mores.studio.store.people import add_person, link_back, read_profile
from mores.studio.store.tables import audit, people
from mores.studio.web.app import app, clean_root
from mores.studio.web.logs import log_config

PATIENCE = 5
"""Seconds that requests may take once the server is stopped; what an import has written whole stays."""

START_SECONDS = 10
"""A process that ends sooner could not start; it is tried again once for each."""


class Start(NamedTuple):
    """A studio that is ready to be served."""

    database: Database
    links: dict[str, str]
    """By role: the path that signs someone in once."""


def prepare(database: str | Path, *, demo: bool = False) -> Start:
    """Open a database, make its owner and the demo where they are missing, and make a link for each."""
    store = open_database(database)
    owner = find_owner(store)
    links = {}
    here = select(audit.c.id).where(audit.c.person == owner, audit.c.action == "signed in").limit(1)
    if demo or not store.fetch(here):  # later ones are made on demand: what is printed may be kept in a log
        links[Role.ORGANISER.value] = make_sign_in_link(store, owner, Role.ORGANISER)
    if demo:
        for role, person in guests(store, fill(store, owner)).items():
            links[role.value] = make_sign_in_link(store, person, role)
    return Start(store, links)


def find_owner(database: Database) -> str:
    """Return who may make campaigns in this database; made where there is nobody."""
    with database.write() as connection:
        owner = connection.execute(
            select(people.c.id)
            .where(people.c.organises == true(), people.c.withdrawn.is_(None))
            .order_by(people.c.created)
        ).scalar()
        return str(owner) if owner else add_person(connection, read_profile("Organiser"), organises=True)


def make_sign_in_link(database: Database, person: str, role: Role) -> str:
    """Return the path of a link that signs someone in, once."""
    return f"/join/{link_back(database, person, person, role=role)}"


class StudioServer(uvicorn.Server):
    """A server that gives up reading files when it is told to stop: its threads would go on."""

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        gc.freeze()  # modules stay: the collector would look through all of them while an export is made
        gc.set_threshold(20_000, 20, 20)  # and records in no circle are most of what an export makes
        super().run(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        STOPPING.set()
        super().handle_exit(sig, frame)


def open_and_serve(
    settings: StudioSettings, demo: bool, echo: Callable[[str], object], warn: Callable[[str], object]
) -> None:
    """Open the database, tell how people reach the studio, and serve until it is stopped."""
    if settings.share and settings.host in HERE:
        settings = replace(settings, host="0.0.0.0")
    start = prepare(str(settings.database), demo=demo)
    shared = lan_address() if settings.share else None
    place = f"http://{shared}:{settings.port}" if shared else address_of(settings.host, settings.port)
    address = place + clean_root(settings.root_path)
    echo(f"The studio is at {address} (Ctrl-C stops it).")
    echo("Open a link to sign in; each works once:" if start.links else "The organiser's link: mores studio link")
    for role, path in start.links.items():
        echo(f"  {role:<10} {address}{path}")
    if settings.share:
        echo(describe_sharing(address if shared else ""))
    elif settings.host not in HERE:
        fix = "put a server with HTTPS in front of it (docs/studio.md)"
        warn(f"\nwarning: other machines can reach the studio; {fix}")
    serve(start, settings)


def describe_sharing(address: str) -> str:
    """Return how people in this network reach the studio, and what to mind; `address` is empty without a network."""
    if not address:
        fix = "join one, or use a tunnel (docs/studio.md, Reaching volunteers)"
        return f"\nThis machine has no address in a network: {fix}."
    picture = io.StringIO()
    segno.make(address, error="m").terminal(picture, border=2, compact=True)
    return f"""
Phones and computers in this network open {address}

{picture.getvalue()}
Open it at this address yourself too: the invitations that you make have the address at which you opened the page.
Mind: nothing is encrypted. Everybody in this network can read what is sent, and open a link that they see.
Use it in a network that you trust; for people elsewhere use a tunnel or HTTPS (docs/studio.md, Reaching volunteers).
If phones cannot open it, the firewall of this machine or guest isolation of the Wi-Fi stands between."""


def serve(start: Start, settings: StudioSettings) -> None:
    """Serve until it is stopped, in this process or in several."""
    try:
        if settings.workers == 1:
            StudioServer(configure(settings, start.database)).run()
        else:
            start.database.close()  # every process opens its own
            serve_in_workers(settings)
    except SystemExit as error:
        place = f"{settings.host}:{settings.port}"
        raise ConfigError(f"{place} cannot be used; another program may be using it", setting="port") from error
    finally:
        start.database.close()


def configure(settings: StudioSettings, database: Database | None = None) -> uvicorn.Config:
    """Return the studio as uvicorn serves it. Addresses are not logged: invitations stand in them."""
    chosen = settings.part(StudioAppSettings)
    return uvicorn.Config(
        app(**vars(replace(chosen, database=database or chosen.database))),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        log_config=log_config(settings.log),
        access_log=False,
        timeout_graceful_shutdown=PATIENCE,
    )


def serve_in_workers(settings: StudioSettings) -> None:
    """Serve in several processes that share one port; one that dies is replaced, unless it could not start."""
    listener = uvicorn.Config(None, host=settings.host, port=settings.port, log_level="warning").bind_socket()  # type: ignore[arg-type]
    stopped = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    context = get_context("spawn")
    workers: list[tuple[SpawnProcess, float]] = []
    failures = 0
    while not stopped.is_set():
        for process, since in [(process, since) for process, since in workers if not process.is_alive()]:
            workers.remove((process, since))
            failures = failures + 1 if time.monotonic() - since < START_SECONDS else 0
        if failures > settings.workers:
            stopped.set()
        for _ in range(settings.workers - len(workers) if not stopped.is_set() else 0):
            process = context.Process(target=work, args=(replace(settings, progress=SILENT), listener))
            process.start()
            workers.append((process, time.monotonic()))
        stopped.wait(0.5)
    for process, _ in workers:
        process.terminate()
    for process, _ in workers:
        process.join(PATIENCE + START_SECONDS)
        process.kill()
    listener.close()
    if failures > settings.workers:
        raise StoreError("the processes that answer requests end at once; the reason stands above")


def work(settings: StudioSettings, listener: socket.socket) -> None:
    """Answer requests in a process of its own until it is told to stop, or the one that started it is gone."""
    server = StudioServer(configure(settings))
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        STOPPING.set()
        server.should_exit = True

    Thread(target=watch, daemon=True).start()
    server.run([listener])
