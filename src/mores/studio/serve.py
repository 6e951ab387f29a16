"""Serving the studio: the owner of a new database, the demo, links to begin with, and the server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import uvicorn
from sqlalchemy import select, true

from mores.errors import ConfigError
from mores.studio.data.incoming import STOPPING
from mores.studio.demo import fill, guests
from mores.studio.records import Role
from mores.studio.settings import StudioAppSettings, StudioSettings
from mores.studio.store.database import Database, open_database
from mores.studio.store.people import add_person, link_back, read_profile
from mores.studio.store.tables import audit, people
from mores.studio.web.app import app

PATIENCE = 5
"""Seconds that requests may take once the server is stopped; what an import has written whole stays."""


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

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        STOPPING.set()
        super().handle_exit(sig, frame)


def serve(start: Start, settings: StudioSettings) -> None:
    """Serve until it is stopped. Addresses are not logged: invitations stand in them."""
    config = uvicorn.Config(
        app(**vars(replace(settings.part(StudioAppSettings), database=start.database))),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    try:
        StudioServer(config).run()
    except SystemExit as error:
        place = f"{settings.host}:{settings.port}"
        raise ConfigError(f"{place} cannot be used; another program may be using it", setting="port") from error
    finally:
        start.database.close()
