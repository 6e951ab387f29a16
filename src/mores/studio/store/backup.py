"""Copies of a whole database, made while the studio serves, and restored into SQLite or PostgreSQL.

A copy is an SQLite file, whatever the database is: `mores studio --database COPY` opens it too. It holds everything,
also the key that signs cookies, so it is as secret as the database.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, func, insert, select, text
from sqlalchemy.engine import URL

from mores.errors import ConfigError, InputError, StoreError
from mores.formatting import count
from mores.io.private import make_part
from mores.studio.store.database import Database, open_database, read_url, shown
from mores.studio.store.tables import campaigns, events, exports, metadata, people

BATCH = 1000
"""Rows that are in memory at a time; of exports, which are whole files, only one."""


class Copied(NamedTuple):
    """The contents of a copy."""

    campaigns: int
    people: int
    events: int

    @property
    def shown(self) -> str:
        """The counts in words."""
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        return f"{count(self.campaigns, 'campaign')}, {people}, {count(self.events, 'event')}"


def back_up(address: str | Path, file: Path) -> Copied:
    """Write a copy of a database as of one moment into a new file; whoever works in it goes on meanwhile."""
    url = read_url(address)
    if file.exists():
        raise ConfigError(f"{file} exists; give the name of a new file")
    if _is_file(url) and not Path(str(url.database)).is_file():
        raise InputError(f"{shown(url)}: no such database; name the one that the studio serves")
    with _new_file(file) as path:
        if _is_file(url):
            with closing(_connect(str(url.database))) as source, closing(sqlite3.connect(path)) as target:
                source.backup(target)  # in one step: a copy in several begins again with every write
                target.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
        else:
            with (
                closing(open_database(address)) as database,
                closing(open_database(path)) as copy,
                database.read() as reading,
                copy.write() as writing,
            ):
                _copy(reading, writing)
            with closing(sqlite3.connect(path)) as target:
                target.execute("PRAGMA journal_mode=DELETE")
        return _examine(path, file)


def restore(address: str | Path, file: Path) -> Copied:
    """Bring a copy back into a database that has no campaigns; a copy of an older version is brought up to date."""
    url = read_url(address)
    _examine(file, file)
    if _is_file(url):
        target = Path(str(url.database))
        if target.exists():
            with closing(open_database(url)) as database:
                _refuse_used(database)
            _refuse_served(target)
        with _new_file(target) as path:
            _copy_file(file, path)
            with closing(open_database(path)) as database:  # brings its tables up to date
                copied = _count(database)
        return copied
    with closing(open_database(url)) as database, _new_file(Path(f"{file}.restoring"), keep=False) as path:
        _refuse_used(database)
        _copy_file(file, path)
        with closing(open_database(path)) as copy, copy.read() as reading, database.write() as writing:
            for table in reversed(metadata.sorted_tables):
                writing.execute(table.delete())
            _copy(reading, writing)
        return _count(database)


def _copy(reading: Connection, writing: Connection) -> None:
    """Copy every row of every table, those first that others point to."""
    for table in metadata.sorted_tables:
        size = 1 if table is exports else BATCH
        rows = reading.execute(select(table).execution_options(yield_per=size)).mappings()
        for some in rows.partitions(size):
            writing.execute(insert(table), [dict(row) for row in some])
        if writing.dialect.name == "postgresql" and table.autoincrement_column is not None:
            name = f"pg_get_serial_sequence('{table.name}', 'id')"
            writing.execute(text(f"SELECT setval({name}, (SELECT max(id) FROM {table.name}))"))


def _copy_file(file: Path, path: Path) -> None:
    with closing(_connect(str(file))) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)


def _connect(path: str) -> sqlite3.Connection:
    """Open a file to read it; a copy on a disk that cannot be written is read too."""
    return sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)


@contextmanager
def _new_file(file: Path, *, keep: bool = True) -> Iterator[Path]:
    """Give a file that only its owner reads, and that gets its name once it is whole and on the disk."""
    path = make_part(file.with_name(f".{file.name}.{os.getpid()}"))  # one of a run of before may have this number too
    try:
        yield path
        if keep:
            with path.open("rb") as written:
                os.fsync(written.fileno())
            path.replace(file)
    finally:
        for name in ("", "-wal", "-shm", "-journal"):
            Path(f"{path}{name}").unlink(missing_ok=True)


def _examine(path: Path, name: Path) -> Copied:
    """Return what a copy holds; an error where it is damaged or no copy of a studio."""
    try:
        with closing(_connect(str(path))) as copy:
            [found] = copy.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise StoreError(f"{name}: the copy is damaged ({found}); take another one")
            counts = [copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in Copied._fields]
    except sqlite3.Error as error:
        raise InputError(f"{name}: not a copy of a studio ({error}); make one with `mores studio backup`") from error
    return Copied(*counts)


def _count(database: Database) -> Copied:
    tables = (campaigns, people, events)
    return Copied(*(int(database.fetch(select(func.count()).select_from(table))[0][0]) for table in tables))


def _refuse_used(database: Database) -> None:
    if any(_count(database)[::2]):
        fix = "restore into a new one, or move it away first"
        raise ConfigError(f"{shown(database.engine.url)} has campaigns; {fix}", setting="database")


def _refuse_served(path: Path) -> None:
    """Refuse a file that a studio has open: it would go on with the old one."""
    try:
        with closing(sqlite3.connect(path, timeout=0)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")  # needs the file for itself, and leaves no log beside it
    except sqlite3.OperationalError as error:
        raise ConfigError(f"{path} is in use ({error}); stop the studio first", setting="database") from error


def _is_file(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"
