"""Problems that keep a studio from working, as far as its database shows them: found by a real write."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from secrets import token_hex

from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from mores.studio.store.database import MIGRATIONS, Database

SECONDS = 2
"""How long a write may wait for another one."""
LOW = 100_000_000
"""Bytes that should be free where the database lies."""
_WRITE = "INSERT INTO secrets (name, value) VALUES ('health', :value) ON CONFLICT (name) DO UPDATE SET value = :value"
_VERSION = "SELECT version_num FROM alembic_version"


def find_problem(database: Database) -> str:
    """Return what is wrong, with the fix; empty where a change can be written and the tables are as they should be."""
    try:
        version = _write_file(Path(str(database.engine.url.database))) if database.sqlite else _write(database)
    except sqlite3.Error as error:
        return _explain_sqlite(str(error), Path(str(database.engine.url.database)))
    except DBAPIError as error:
        return _explain_postgres(error)
    if version != newest_version():
        return (
            f"migration missing: the tables are of version {version}, this Mores needs {newest_version()}; "
            "restart the studio, and update it where the tables are newer"
        )
    return ""


@cache
def newest_version() -> str:
    """Return the version of the tables that this Mores works with."""
    return str(ScriptDirectory(str(MIGRATIONS)).get_current_head())


def _write_file(path: Path) -> str:
    """Write to an SQLite file by a connection of its own: those of the pool wait longer than a watcher does."""
    uri = f"{path.absolute().as_uri()}?mode=rw"  # a file that is gone is not made again
    with closing(sqlite3.connect(uri, uri=True, timeout=SECONDS, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        [version] = connection.execute(_VERSION).fetchone() or [""]
        connection.execute(_WRITE, {"value": token_hex(8)})  # the same value again would not be written
        connection.execute("COMMIT")
    if (free := shutil.disk_usage(path).free) < LOW:
        raise sqlite3.OperationalError(f"disk is nearly full: {free:,} bytes are free")
    return str(version)


def _write(database: Database) -> str:
    with database.write() as connection:
        connection.execute(text(f"SET LOCAL lock_timeout = '{SECONDS}s'"))
        version = connection.execute(text(_VERSION)).scalar()
        connection.execute(text(_WRITE), {"value": token_hex(8)})
    return str(version)


def _explain_sqlite(reason: str, path: Path) -> str:
    fixes = {
        "nearly full": "make room",
        "is full": "make room",
        "locked": f"another program has kept it for {SECONDS} seconds: a long import, a copy or a shell; end that one",
        "readonly": "the user who runs the studio may not write it; change its owner or the mount",
        "no such table": "migration missing; restart the studio",
        "unable to open": "the file or its folder is gone or not readable; bring it back",
        "malformed": "the file is damaged; stop the studio and restore a backup",
        "disk I/O": "the disk fails or its quota is used up; see the system's log",
    }
    fix = next((fix for part, fix in fixes.items() if part in reason), "see the studio's log")
    free = f" ({shutil.disk_usage(path.parent).free:,} bytes are free)" if path.parent.exists() else ""
    return f"{reason}{free if 'free' not in reason else ''}: {fix}"


def _explain_postgres(error: DBAPIError) -> str:
    code = getattr(error.orig, "sqlstate", None) or ""
    fixes = {
        "53100": "disk full: make room where PostgreSQL keeps its data",
        "53300": "too many connections: raise max_connections, or start fewer processes",
        "55P03": f"database locked: somebody has kept the table for {SECONDS} seconds; end that transaction",
        "25006": "the database is read-only: it is a standby, or default_transaction_read_only is set",
        "42P01": "migration missing: restart the studio",
    }
    return fixes.get(code, "PostgreSQL cannot be reached or does not work; see the studio's log")
