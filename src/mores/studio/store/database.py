"""Opening a database: SQLite by default, PostgreSQL by URL; it is brought to the newest version of the tables first.

Every change is one transaction that is on disk before anybody is told that it happened: SQLite with a write-ahead log
and full synchronisation, PostgreSQL with its defaults. A single query is its own transaction (`fetch`); what must agree
with each other is read in one (`read`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import RLock
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine, Row, Select, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, OperationalError

from mores.errors import ConfigError, StoreError
from mores.studio.phrase import Phrase

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_SECONDS = 30
SYNCHRONOUS = "FULL"
"""A change is on SQLite's disk when its transaction ends."""
CONNECTIONS = 40
"""As many as there are threads that answer requests, so that none is opened and closed for a single request."""
AWAY = Phrase(
    "The studio cannot keep anything at the moment: its disk is full, or its database does not answer. What was saved "
    "before is safe. Please try again later, and tell the organiser."
)
"""What people read then."""
IDLE_SECONDS = 5.0
"""After that a connection to PostgreSQL may be gone without our knowing, and is tried first."""


class Database:
    """A database that is open; safe to use from several threads and processes."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        single: dict[str, Any] = {"mores_single": True} if self.sqlite else {"isolation_level": "AUTOCOMMIT"}
        self._single = engine.execution_options(**single)
        together = {} if self.sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._together = engine.execution_options(**together)
        self._writing = engine.execution_options(mores_write=True)
        # SQLite has one writer at a time and lets the others ask again and again; in one process they wait in line
        self._turn = RLock() if self.sqlite else nullcontext()

    def fetch(
        self, query: Select[*tuple[Any, ...]], values: Mapping[str, Any] | None = None
    ) -> Sequence[Row[*tuple[Any, ...]]]:
        """Return the rows of one query: as of one moment, and without the cost of a transaction around it."""
        with self._single.connect() as connection:
            return connection.execute(query, values).all()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a connection for several queries, which see everything as of one moment."""
        with self._together.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a connection whose changes are on disk when the block ends, or did not happen."""
        with self._turn, self._writing.connect() as connection, connection.begin():
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def open_database(address: str | Path | URL) -> Database:
    """Return the database at a path (SQLite) or a URL such as `postgresql://user@host/name`, brought up to date."""
    url = read_url(address)
    try:
        engine = _engine(url)
        migrate(engine)
    except (OperationalError, DBAPIError) as error:
        reason = str(error.orig).strip().splitlines()[0] if error.orig else str(error)
        raise ConfigError(f"{shown(url)} cannot be opened: {reason}", setting="database") from error
    return Database(engine)


def migrate(engine: Engine, to: str = "head") -> None:
    """Bring the tables to a version; one process at a time."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.connect().execution_options(mores_write=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7236837)")
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, to)
        except CommandError as error:
            fix = "it was made by a newer version of Mores; install that one"
            raise StoreError(f"{shown(engine.url)}: {error}; {fix}") from error


def shown(url: URL) -> str:
    """Return the address without its password."""
    return url.render_as_string(hide_password=True)


def read_url(address: str | Path | URL) -> URL:
    """Return the address of a database, from a path or a URL."""
    text = address if isinstance(address, URL) else str(address)
    if isinstance(text, str) and "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
    try:
        url = make_url(text)
    except ArgumentError as error:
        fix = "use a path, or postgresql://user:password@host/name"
        raise ConfigError(f"{text!r} is not the address of a database; {fix}", setting="database") from error
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        known = "use SQLite (a path) or PostgreSQL (postgresql://…)"
        raise ConfigError(f"{shown(url)}: unknown kind of database; {known}", setting="database")
    return url


def _engine(url: URL) -> Engine:
    # errors are logged, and values may be secret
    options: dict[str, Any] = {"pool_size": CONNECTIONS, "hide_parameters": True}
    if url.get_backend_name() != "sqlite":
        engine = create_engine(url, max_overflow=20, **options)
        _try_idle_connections(engine)
        return engine
    if url.database and url.database != ":memory:":
        path = Path(url.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}, **options)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if not options.get("mores_single"):
            # a reader that turned writer would fail at once where another process has written meanwhile
            connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("mores_write") else "BEGIN")

    return engine


def _try_idle_connections(engine: Engine) -> None:
    """Replace connections that broke while nobody used them; trying each before each use is a round trip."""

    @event.listens_for(engine, "checkin")
    def _note(_connection: Any, record: Any) -> None:
        record.info["since"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _try(connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get("since", time.monotonic()) > IDLE_SECONDS:
            try:
                engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error as error:
                raise DisconnectionError from error
