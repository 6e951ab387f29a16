"""Questions asked with what a search found about them: `mores bench culturall --search corpus:DOCUMENTS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from mores.benchmark.benchmark import Benchmark
from mores.engine import Counts
from mores.io import JsonlWriter, read_records
from mores.metric.prompt import defuse, fence_mark
from mores.models import Message
from mores.prompts import fill, hash_prompts, read_prompt
from mores.search import Evidence, Found, Query, Search, find_all
from mores.search.base import about
from mores.types import Item, Record, Sample

TEMPLATE = read_prompt(__file__, "evidence")


class SearchedItem(Record):
    """The evidence found for an item."""

    id: str
    query: str
    found: Found


@dataclass(frozen=True)
class RetrievedEvidence:
    """The evidence found for every item, and the search that found it."""

    search: str
    """Identity of the search, with the number of results."""
    found: Mapping[str, Found]

    @property
    def signature(self) -> str:
        """The search and the words around its results."""
        return f"{self.search}.{hash_prompts(TEMPLATE)}"


async def retrieve(
    benchmark: Benchmark, items: Iterable[Item], search: Search, k: int, path: Path, counts: Counts
) -> None:
    """Search for every item, and write the results to a file."""
    queries = (
        (item, about(Query(query, item.language, item.region), query, benchmark.source))
        for item in items
        for query in [benchmark.query(item)]
    )
    answers = find_all(search, queries, k, counts=counts)
    with JsonlWriter(path) as writer:
        async with aclosing(answers):
            async for item, result in answers:
                writer.write(SearchedItem(id=item.id, query=benchmark.query(item), found=result))


def read_retrieval(path: Path, search: Search, k: int) -> RetrievedEvidence:
    """Return what `retrieve` wrote to a file."""
    return RetrievedEvidence(f"{search.identity}.k{k}", {row.id: row.found for row in read_records(path, SearchedItem)})


def with_evidence(messages: Sequence[Message], evidence: Sequence[Evidence]) -> tuple[Message, ...]:
    """Return the same messages with the evidence before the question; without evidence, unchanged."""
    *before, last = messages
    if not evidence:
        return tuple(messages)
    mark = fence_mark(
        Sample(id="", instruction=last.content, text="\n".join(piece.text + piece.title for piece in evidence))
    )
    texts = (defuse("\n".join(filter(None, (piece.title, piece.date, piece.text)))) for piece in evidence)
    shown = "\n\n".join(f"<<<{mark} {number}\n{text}\n{mark}>>>" for number, text in enumerate(texts, 1))
    return (*before, Message(last.role, fill(TEMPLATE, evidence=shown, question=last.content)))
