"""Keeps what was paid for: every result is in one SQLite file before it is used, and never asked for twice.

The key is the hash of the backend's identity, the query and the number of results; failures are not kept.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import orjson

from mores.cache import cache_folder
from mores.engine import Counts
from mores.errors import StoreError
from mores.search.base import Evidence, Found, Query, Search
from mores.search.clean import writable
from mores.search.stream import together

VERSION = 1
_APPLICATION = 0x4D4F5346
"""Marks a SQLite file as ours: MOSF."""
_CHUNK = 500
_TABLE = """CREATE TABLE IF NOT EXISTS found (
    key BLOB PRIMARY KEY, query TEXT NOT NULL, backend TEXT NOT NULL, evidence BLOB NOT NULL, at REAL NOT NULL)"""


def searches_path() -> Path:
    """Where results are kept when no other file is named."""
    return cache_folder() / "searches.db"


def search_key(identity: str, query: Query, k: int) -> bytes:
    """The same for the same backend, query and number of results, on every machine."""
    return blake2b(orjson.dumps([identity, *query, k]), digest_size=16).digest()


class _Row(NamedTuple):
    key: bytes
    query: str
    backend: str
    evidence: bytes
    at: float


class Cached:
    """A search with its results on disk. `fresh` asks again what is known; close it to close the file."""

    def __init__(
        self, search: Search, path: str | Path | None = None, *, counts: Counts | None = None, fresh: bool = False
    ) -> None:
        self.name, self.identity = search.name, search.identity
        self.counts = counts or Counts()
        self._search, self._fresh = search, fresh
        self._path = Path(path) if path is not None else searches_path()
        self._reader, self._writer = self._connect(), self._connect()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mores-search")
        self._pending: list[_Row] = []
        self._lock = asyncio.Lock()
        self._problem: StoreError | None = None
        self._asked: dict[bytes, asyncio.Task[Found]] = {}

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """What is known from the file, the rest from the backend, one by one, so that a kill loses none."""
        queries = [writable(query) for query in queries]
        keys = [search_key(self.identity, query, k) for query in queries]
        known = {} if self._fresh else self._known(keys)
        self.counts.cached += sum(key in known for key in keys)
        missing = {key: query for key, query in zip(keys, queries, strict=True) if key not in known}
        found = await together(self._ask_once(key, query, k) for key, query in missing.items())
        known.update(zip(missing, found, strict=True))
        return [known[key] for key in keys]

    async def close(self) -> None:
        """Write what is open, and close the file and the backend."""
        for task in (tasks := list(self._asked.values())):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await self._search.close()
            await self._flush()
        finally:
            self._thread.shutdown(wait=True)
            self._reader.close()
            self._writer.close()

    async def _ask_once(self, key: bytes, query: Query, k: int) -> Found:
        if key not in self._asked:
            task = self._asked[key] = asyncio.create_task(self._ask(key, query, k))
            task.add_done_callback(lambda done: self._answered(key, done))
        # Whoever gives up must not take the answer from others who asked the same.
        return await asyncio.shield(self._asked[key])

    def _answered(self, key: bytes, task: asyncio.Task[Found]) -> None:
        del self._asked[key]
        if not task.cancelled():
            task.exception()  # those who still wait are told; if nobody does, it is no accident

    async def _ask(self, key: bytes, query: Query, k: int) -> Found:
        (found,) = await self._search.find([query], k)
        if found.failure is None:
            rows = orjson.dumps([piece.model_dump() for piece in found.evidence])
            self._pending.append(_Row(key, query.text, self.identity, rows, time.time()))
            await self._flush()
        return found

    async def _flush(self) -> None:
        """One commit for all that came in meanwhile: who has waited for the lock finds its own rows written."""
        async with self._lock:
            rows, self._pending = self._pending, []
            if rows:
                await asyncio.get_running_loop().run_in_executor(self._thread, self._write, rows)
        if self._problem is not None:
            raise self._problem

    def _write(self, rows: list[_Row]) -> None:
        try:
            with self._writer as db:
                db.executemany("INSERT OR REPLACE INTO found VALUES (?, ?, ?, ?, ?)", rows)
        except sqlite3.Error as exc:
            self._problem = self._explained(exc)  # for all whose rows these were

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Found]:
        known: dict[bytes, Found] = {}
        for start in range(0, len(keys), _CHUNK):
            known.update(self._read(keys[start : start + _CHUNK]))
        return known

    def _read(self, keys: Sequence[bytes]) -> Iterable[tuple[bytes, Found]]:
        marks = ",".join("?" * len(keys))
        try:
            rows = self._reader.execute(f"SELECT key, evidence FROM found WHERE key IN ({marks})", keys).fetchall()
        except sqlite3.Error as exc:
            raise self._explained(exc) from exc
        return [(key, Found(evidence=tuple(Evidence(**piece) for piece in orjson.loads(body)))) for key, body in rows]

    def _connect(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self._path, timeout=60, check_same_thread=False)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
        except (sqlite3.Error, OSError) as exc:
            raise self._explained(exc) from exc
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the table of a new file, also when two processes start with it at once."""
        db.execute("BEGIN IMMEDIATE")
        application, version, tables = (
            db.execute(query).fetchone()[0]
            for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if tables and (application, version) != (_APPLICATION, VERSION):
            raise StoreError(f"{self._path}: not search results of this version of mores; give another file")
        if not tables:
            for statement in (_TABLE, f"PRAGMA application_id = {_APPLICATION}", f"PRAGMA user_version = {VERSION}"):
                db.execute(statement)
        db.commit()
        _to_wal(db)
        db.execute("PRAGMA synchronous = FULL")  # what was paid for survives a power cut

    def _explained(self, exc: Exception) -> StoreError:
        return StoreError(
            f"{self._path}: search results cannot be kept ({exc}); check the disk and the folder, or move the file away"
        )


def _to_wal(db: sqlite3.Connection) -> None:
    """Changing the journal does not wait for others as everything else does."""
    for attempt in range(100):
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if attempt == 99:
                raise
            time.sleep(0.05)
