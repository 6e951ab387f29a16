"""SQLite files that several processes may use at once: one way to open them, and every problem comes with its fix."""

from __future__ import annotations

import marshal
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from mores.errors import StoreError
from mores.io.private import make_folder, open_private


class DatabaseLayout(NamedTuple):
    """The layout of a file of one kind."""

    content: str
    """For people: `answers`."""
    application: int
    """Marks the file as ours."""
    version: int
    tables: tuple[str, ...]
    upgrade: Mapping[int, Sequence[str]] = {}
    """What makes a file of an older version one of the next; the first that can be read has the lowest number."""


_CACHE = 32_000
"""Kilobytes of a file that are kept in memory: the index of a million answers."""


def connect(path: Path, layout: DatabaseLayout) -> sqlite3.Connection:
    """Open a file, which is created if it does not exist."""
    with explained(path, layout):
        make_folder(path.parent)
        if not path.exists():  # SQLite would make it for everyone to read; what it puts beside it is as private
            os.close(open_private(path, os.O_RDWR))
        db = sqlite3.connect(path, timeout=60, check_same_thread=False)
        try:
            _prepare(db, path, layout)
        except BaseException:
            db.close()
            raise
        return db


def checksum(*values: str | bytes | float | None) -> bytes:
    """Return a sum of a row's values; SQLite sees damage only where it breaks the structure of the file.

    A row that does not match its sum counts as unknown. Rows that older versions wrote have none.
    """
    return blake2b(marshal.dumps(values, 2), digest_size=8).digest()  # of all formats the fastest; 2 stays as it is


@contextmanager
def explained(path: Path, layout: DatabaseLayout) -> Iterator[None]:
    """Turn errors of SQLite and of decoding into ours, which name the file and the fix."""
    try:
        yield
    except (sqlite3.Error, OSError, ValueError) as exc:
        raise StoreError(f"{path}: {_problem(path, layout, exc)}") from exc


def _problem(path: Path, layout: DatabaseLayout, exc: Exception) -> str:
    text = str(exc)
    cause = exc.strerror or text if isinstance(exc, OSError) else text  # a path may be named full or locked
    if "full" in cause or "No space" in cause:
        return (
            f"{text}; the disk is full: free some space and run the same command again; the {layout.content} are kept"
        )
    if "locked" in cause:
        return f"{text}; another program holds it: wait for that to end, or name another file"
    if "not a database" in cause:
        return f"{text}; it is damaged or something else: move it away, or name another file"
    if "malformed" in cause or "no such" in cause or "decode" in cause or isinstance(exc, ValueError):
        return (
            f"damaged ({text}); rescue the {layout.content} that can be read with"
            f" `python -m mores.engine.rescue {path}`, or delete it: they are then asked for again"
        )
    return f"{text}; check that the folder can be written, or name another file"


def _prepare(db: sqlite3.Connection, path: Path, layout: DatabaseLayout) -> None:
    """Make the tables of a new file, whole or not at all, also when two processes start with it at once."""
    db.execute("BEGIN IMMEDIATE")
    application, version, tables = (
        db.execute(query).fetchone()[0]
        for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    if application == layout.application and min(layout.upgrade, default=layout.version) <= version < layout.version:
        for older in range(version, layout.version):
            for statement in layout.upgrade.get(older, ()):
                db.execute(statement)
    elif application == layout.application and version != layout.version:
        raise StoreError(f"{path}: written by another version of mores (version {version}); name another file")
    if application != layout.application and tables:
        raise StoreError(f"{path}: a database, but none with {layout.content} of mores; name another file")
    for statement in layout.tables:
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {layout.application}")
    db.execute(f"PRAGMA user_version = {layout.version}")
    db.commit()
    _to_wal(db)
    db.execute(f"PRAGMA cache_size = -{_CACHE}")
    db.execute("PRAGMA synchronous = FULL")  # what was paid for survives a power cut once it is handed on


def _to_wal(db: sqlite3.Connection) -> None:
    """Change the journal mode, which does not wait for other processes, as everything else does."""
    for attempt in range(100):
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if attempt == 99:
                raise
            time.sleep(0.05)
