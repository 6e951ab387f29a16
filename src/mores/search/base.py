"""The protocol of a search: a query in, pieces of evidence out. Every backend has one file here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mores.types import Evidence, Failure, Record

__all__ = ["Evidence", "Found", "Query", "Search"]


class Query(NamedTuple):
    """A query: the words to look for, and for whom."""

    text: str
    language: str | None = None
    """BCP 47."""
    region: str | None = None
    """ISO 3166-1 or 3166-2, or a cultural region."""


class SampleQuery(Query):
    """A query about a text: with what the whole text says, and the source of the text."""

    context: str
    source: str


def about(query: Query, context: str, source: str) -> SampleQuery:
    """Return the query with the text that it is about; to other searches it is the same query."""
    asked = SampleQuery(*query)
    asked.context, asked.source = context, source
    return asked


class Found(Record):
    """The results of a search, the best first; no result is not a failure."""

    evidence: tuple[Evidence, ...] = ()
    failure: Failure | None = None


class Search(Protocol):
    """A search for evidence. An object that has `find` alone is a search too; it is then named after its class."""

    name: str
    """As the user writes it, for example `serper` or `corpus:FILE`."""
    identity: str
    """What must be the same for two searches to return the same, for signatures and the cache."""

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return at most k results for each query, in the order of the queries."""

    async def close(self) -> None:
        """Close connections, at the end of each run; a later run may search again."""
