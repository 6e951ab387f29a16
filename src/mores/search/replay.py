"""`replay:FILE`: searches that were recorded, so that anyone can repeat a run without a key and without cost.

A recording is JSON Lines, one query with its results per line; `Recording` writes it while another backend searches.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from hashlib import blake2b, file_digest
from pathlib import Path

from pydantic import ValidationError

from mores.errors import ConfigError, InputError, StoreError
from mores.io import read_records
from mores.io.private import open_private
from mores.io.source import to_path, why_unreadable
from mores.search.base import Evidence, Found, Query, Search
from mores.search.clean import writable
from mores.types import Failure, FailureKind, Record

_BEGINNING = b'{"query":'
"""Of every line that `Recording` writes."""


class Recorded(Record):
    """One search and its results."""

    query: str
    language: str | None = None
    """With the region, for whom it was asked; without both, for anybody."""
    region: str | None = None
    k: int | None = None
    """How many results were asked for; None when these are all that there are."""
    evidence: tuple[Evidence, ...]

    @property
    def asked(self) -> Query:
        """The query."""
        return Query(self.query, self.language, self.region)

    @property
    def exhaustive(self) -> bool:
        """True if a request for more results would return no more."""
        return self.k is None or len(self.evidence) < self.k


class Replay:
    """A recording that is searched; a query that is not in it is a failure that says so."""

    def __init__(self, path: str | Path) -> None:
        if not str(path):
            raise ConfigError("replay: needs a file, for example replay:searches.jsonl")
        self.name = f"replay:{path}"
        place = to_path(path)
        try:
            with place.open("rb") as file:
                self.identity = f"replay:{file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()}"
        except OSError as error:
            raise InputError(f"{place}: {why_unreadable(error)}") from error
        self._recorded: dict[Query, Recorded] = {}
        for recorded in read_records(place, Recorded):
            _add(self._recorded, recorded)

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return the recorded results of each query."""
        return [self._find_one(query, k) for query in map(writable, queries)]

    async def close(self) -> None:
        """Do nothing."""

    def _find_one(self, query: Query, k: int) -> Found:
        recorded = self._recorded.get(query) or self._recorded.get(Query(query.text))
        if recorded and (recorded.exhaustive or len(recorded.evidence) >= k):
            return Found(evidence=recorded.evidence[:k])
        what = f"recorded with {recorded.k} results, and {k} are asked for" if recorded else "not in the recording"
        shown = query.text if len(query.text) <= 80 else query.text[:80] + "…"
        reason = f"{self.name}: {shown!r} is {what}; record it with another search"
        return Found(failure=Failure(kind=FailureKind.MODEL, reason=reason))


class Recording:
    """Writes what another search finds, line by line as it comes; new lines are added to an existing file."""

    def __init__(self, search: Search, path: str | Path) -> None:
        self.name, self.identity = search.name, search.identity
        self._search = search
        self._path = to_path(path)
        self._recorded: dict[Query, Recorded] = {}
        try:
            if self._path.exists():
                _mend(self._path)
                for recorded in read_records(self._path, Recorded):
                    _add(self._recorded, recorded)
            self._file = os.fdopen(open_private(self._path, os.O_WRONLY | os.O_APPEND), "ab")
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written ({error}); choose another name") from error
        self._lock = asyncio.Lock()

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return what the other search finds, after it is written."""
        results = await self._search.find(queries, k)
        async with self._lock:
            for query, result in zip(map(writable, queries), results, strict=True):
                if result.failure is None:
                    asked = {"query": query.text, "language": query.language, "region": query.region}
                    recorded = Recorded(**asked, k=k, evidence=result.evidence)
                    if _add(self._recorded, recorded):
                        self._file.write(recorded.model_dump_json().encode() + b"\n")
            self._file.flush()
        return results

    async def close(self) -> None:
        """Close the file and the other search."""
        self._file.close()
        await self._search.close()


def _add(known: dict[Query, Recorded], recorded: Recorded) -> bool:
    """Keep a search unless a better one of the same query is known; of two the one with more results."""
    before = known.get(recorded.asked)
    if before is not None and (before.exhaustive or len(before.evidence) >= len(recorded.evidence)):
        return False
    known[recorded.asked] = recorded
    return True


def _mend(path: Path) -> None:
    """End the last line; when a run was killed in the middle of it, take it away. Of other files nothing is taken."""
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        while end and (file.seek(end - 1), file.read(1))[1] != b"\n":
            end -= 1
        file.seek(end)
        last = file.read()
        try:
            if last:
                Recorded.model_validate_json(last)
                file.write(b"\n")
        except ValidationError:
            if last.startswith(_BEGINNING[: len(last)]):
                file.truncate(end)
