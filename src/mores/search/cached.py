"""Keeps paid results: every result is in one SQLite file before it is used, and is never requested twice.

The key is the hash of the backend's identity, the query and the number of results; failures are not kept.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import orjson

from mores.cache import cache_folder
from mores.engine import Counts
from mores.engine.claims import Claims
from mores.engine.database import DatabaseLayout, checksum, connect, explained
from mores.errors import StoreError
from mores.search.base import Evidence, Found, Query, Search
from mores.search.clean import writable
from mores.search.stream import together

LAYOUT = DatabaseLayout(
    content="search results",
    application=0x4D4F5346,  # MOSF
    version=2,
    tables=(
        """CREATE TABLE IF NOT EXISTS found (
            key BLOB PRIMARY KEY, query TEXT NOT NULL, backend TEXT NOT NULL, evidence BLOB NOT NULL,
            at REAL NOT NULL, sum BLOB)""",
    ),
    upgrade={1: ("ALTER TABLE found ADD COLUMN sum BLOB",)},
)
_CHUNK = 500
_ELSEWHERE = 0.2
"""Seconds until we look again for what another process is searching for."""
_LOOKS = 600
"""How often; then we assume that it was stopped."""


def searches_path() -> Path:
    """Return where results are kept when no other file is named."""
    return cache_folder() / "searches.db"


def search_key(identity: str, query: Query, k: int) -> bytes:
    """Return the same for the same backend, query and number of results, on every machine."""
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
        self._reader, self._writer = connect(self._path, LAYOUT), connect(self._path, LAYOUT)
        self._claims = Claims(self._path)
        self._claims.enter(alone=False)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mores-search")
        self._pending: list[_Row] = []
        self._lock = asyncio.Lock()
        self._problem: StoreError | None = None
        self._asked: dict[bytes, asyncio.Task[Found]] = {}

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return the results: known ones from the file, the rest from the backend, one by one: a kill loses none."""
        queries = [writable(query) for query in queries]
        keys = [search_key(self.identity, query, k) for query in queries]
        known = {} if self._fresh else self._known(keys)
        self.counts.cached += sum(key in known for key in keys)
        missing = {key: query for key, query in zip(keys, queries, strict=True) if key not in known}
        results = await together(self._ask_once(key, query, k) for key, query in missing.items())
        known.update(zip(missing, results, strict=True))
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
            self._claims.leave()

    async def _ask_once(self, key: bytes, query: Query, k: int) -> Found:
        if key not in self._asked:
            task = self._asked[key] = asyncio.create_task(self._ask(key, query, k))
            task.add_done_callback(lambda done: self._answered(key, done))
        # Whoever gives up must not take the answer from others who asked the same.
        return await asyncio.shield(self._asked[key])

    def _answered(self, key: bytes, task: asyncio.Task[Found]) -> None:
        del self._asked[key]
        if not task.cancelled():
            task.exception()  # whoever waits gets it; if nobody waits, asyncio must not warn

    async def _ask(self, key: bytes, query: Query, k: int) -> Found:
        """Search, unless another process on the same file is searching for the same: then wait for its results."""
        try:
            for _ in range(0 if self._fresh else _LOOKS):
                claimed = self._claims.take(key)  # before we look, or the other could find it in between
                if known := self._known([key]):
                    return known[key]
                if claimed:
                    break
                await asyncio.sleep(_ELSEWHERE)
            (result,) = await self._search.find([query], k)
            if result.failure is None:
                rows = orjson.dumps([piece.model_dump() for piece in result.evidence])
                self._pending.append(_Row(key, query.text, self.identity, rows, time.time()))
                await self._flush()
            return result
        finally:
            self._claims.release(key)

    async def _flush(self) -> None:
        """Commit all new results at once: after the wait for the lock, a caller finds its rows written."""
        async with self._lock:
            rows, self._pending = self._pending, []
            if rows:
                await asyncio.get_running_loop().run_in_executor(self._thread, self._write, rows)
        if self._problem is not None:
            raise self._problem

    def _write(self, rows: list[_Row]) -> None:
        try:
            with explained(self._path, LAYOUT), self._writer as db:
                sealed = ((*row, checksum(*row)) for row in rows)
                db.executemany("INSERT OR REPLACE INTO found VALUES (?, ?, ?, ?, ?, ?)", sealed)
        except StoreError as exc:
            self._problem = exc  # for all whose rows these were

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Found]:
        known: dict[bytes, Found] = {}
        with explained(self._path, LAYOUT):
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                query = f"SELECT sum, key, query, backend, evidence, at FROM found WHERE key IN ({marks})"
                for total, *row in self._reader.execute(query, chunk):
                    if total is None or total == checksum(*row):
                        pieces = orjson.loads(row[3])
                        known[row[0]] = Found(evidence=tuple(Evidence(**piece) for piece in pieces))
        return known
