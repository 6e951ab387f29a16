"""Saves what can be read of a damaged store: `python -m mores.engine.rescue FILE`.

Every row is read by its number, so that a damaged page costs only the rows on it. The rows go into a new file, which
takes the place of the damaged one; that stays beside it as `FILE.damaged`.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from mores.engine.store import LAYOUT
from mores.errors import InputError, StoreError
from mores.io.private import make_part

_MISSES = 100_000
"""Numbers in a row without a readable row after which a table ends, where its last number cannot be read either."""


def rescue(path: Path) -> dict[str, int]:
    """Put a new file with all readable rows in the place of a damaged one; returns their number in each table."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    new = make_part(path.with_name(f"{path.name}.rescued"))
    try:
        with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(new)) as db:
            counts = _copy(old, db)
    except (sqlite3.Error, ValueError) as exc:  # the second where a name or a message is not UTF-8
        new.unlink(missing_ok=True)
        raise StoreError(f"{path}: nothing can be read ({exc}); delete it") from exc
    for end in ("", "-wal", "-shm"):
        part = path.with_name(path.name + end)
        if part.exists():
            part.replace(path.with_name(f"{path.name}.damaged{end}"))
    new.replace(path)
    return counts


def _copy(old: sqlite3.Connection, db: sqlite3.Connection) -> dict[str, int]:
    schemas = dict(old.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
    kind, version = (old.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    statements: Iterable[str] = schemas.values()
    if "response" in schemas:  # answers: what the file says about its own form may be damaged too
        kind, version, statements = LAYOUT.application, LAYOUT.version, LAYOUT.tables
    db.execute(f"PRAGMA application_id = {kind}")
    db.execute(f"PRAGMA user_version = {version}")
    for statement in statements:
        db.execute(statement)
    counts: dict[str, int] = {}
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        width = len(db.execute(f"PRAGMA table_info({table})").fetchall())
        insert = f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * width)})"
        for row in _rows(old, table) if table in schemas else ():
            with suppress(sqlite3.IntegrityError):  # a value is missing in it
                db.execute(insert, (*row, *[None] * (width - len(row)))[:width])
        counts[table] = int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    db.commit()
    return counts


def _rows(old: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    number = missed = 0
    last = _first(old, f"SELECT ifnull(max(rowid), 0) FROM {table}")
    while missed < _MISSES if last is None else number < last[0]:
        number += 1
        row = _first(old, f"SELECT * FROM {table} WHERE rowid = {number}")
        missed = missed + 1 if row is None else 0
        if row is not None:
            yield row


def _first(old: sqlite3.Connection, query: str) -> tuple[Any, ...] | None:
    try:
        row: tuple[Any, ...] | None = old.execute(query).fetchone()
    except (sqlite3.DatabaseError, ValueError):
        return None
    return row


def main(arguments: list[str]) -> None:
    """Rescue the one file that is named."""
    if len(arguments) != 1:
        sys.exit("usage: python -m mores.engine.rescue FILE")
    try:
        counts = rescue(Path(arguments[0]))
    except (InputError, StoreError) as exc:
        sys.exit(f"error: {exc}")
    rows = ", ".join(f"{count:,} of {table}" for table, count in counts.items())
    print(f"{arguments[0]}: rescued rows: {rows}; the damaged file is now {arguments[0]}.damaged")


if __name__ == "__main__":
    main(sys.argv[1:])
