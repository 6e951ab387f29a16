"""Samples with what a search finds about them, for a metric that judges by evidence.

async for sample, failure in ground(samples, search, k=3): ...
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from functools import lru_cache
from statistics import mean
from typing import TYPE_CHECKING

from mores.engine.counts import Counts
from mores.language.sentences import sentences
from mores.search.base import Evidence, Found, Query, Search, about
from mores.search.content import coverage
from mores.search.stream import find_all
from mores.types import DEFAULT_INSTRUCTION, Failure, Sample

if TYPE_CHECKING:
    from mores.search.encoders import Encoder, Floats

CHARACTERS = 300
"""Of one passage that a judge reads."""
LONGEST_QUERY = 1_000
"""Characters of a query: a text says at its beginning what it is about, and web searches accept little more."""
SHORTEST_SENTENCE = 25
"""Characters of a sentence that is looked up by itself."""
MOST_SENTENCES = 8
"""Sentences of a text that are looked up by themselves."""
NEAR, APART = 0.4, 0.1
"""The cosine of a passage that is about the same as a text, and how much more it is than the mean of the others."""
_LAST_WORD = re.compile(r"\s+\S*\Z")
_JOINER = "\u200d"


async def ground(
    samples: Iterable[Sample], search: Search, k: int, *, characters: int = CHARACTERS, counts: Counts | None = None
) -> AsyncGenerator[tuple[Sample, Failure | None], None]:
    """Yield each sample with passages about it, in order; where the search failed, without any and why.

    A text has at most k passages and, where documents are searched and it has several sentences, the best one for each
    of these. A sample with evidence keeps it and is not searched for. The search is not closed.
    """
    counts = counts or Counts()
    asked = (
        ((sample, len(queries)), about(query, f"{sample.instruction}\n{sample.text}", sample.source or ""))
        for sample in samples
        for queries in [queries_of(sample) if searches_sentences(search) else [query_of(sample)]]
        for query in queries
    )
    results: list[Found] = []
    async with aclosing(find_all(_Asking(search), asked, k)) as answers:
        async for (sample, number), result in answers:
            results.append(result)
            if len(results) == number:
                whole, results = merged(results, k), []
                counts.done += 1
                counts.fail(whole.failure)
                if whole.evidence and not sample.evidence:
                    pieces = tuple(shorten(piece, characters) for piece in whole.evidence)
                    sample = sample.model_copy(update={"evidence": pieces})
                yield sample, whole.failure


def searches_sentences(search: Search) -> bool:
    """Return whether each sentence of a text is searched for too: in documents, where a search costs nothing."""
    return bool(getattr(search, "is_local", False))


def query_of(sample: Sample) -> Query:
    """Return the query about a whole sample; None for one that has its evidence."""
    if sample.evidence:
        return Query("")
    instruction = "" if sample.instruction == DEFAULT_INSTRUCTION else cut(sample.instruction, LONGEST_QUERY // 2, "")
    text = cut(sample.text, LONGEST_QUERY - len(instruction) - 1, "")
    return Query(" ".join(f"{instruction} {text}".split()), sample.language, sample.region)


def queries_of(sample: Sample) -> list[Query]:
    """Return the queries about a sample: the whole, then each of its first sentences if there are several."""
    whole = query_of(sample)
    parts = [sample.text[start:end] for start, end in sentences(sample.text)] if whole.text else []
    parts = [part for part in parts if len(part) >= SHORTEST_SENTENCE][:MOST_SENTENCES]
    return [whole, *(Query(cut(part, LONGEST_QUERY, ""), *whole[1:]) for part in parts if len(parts) > 1)]


def covered(sample: Sample, by: Callable[[str, list[str]], float] = coverage) -> float:
    """Return the share of a sample that its evidence covers: of the whole, or of its sentences on average if more.

    `by` compares a text with passages: `coverage` by their words, `nearness` by their meaning.
    """
    passages = [f"{piece.title} {piece.text}".strip() for piece in sample.evidence]
    queries = queries_of(sample.model_copy(update={"evidence": ()}))
    whole, *parts = (by(query.text, passages) for query in queries)
    return max(whole, mean(parts)) if parts else whole


def is_near(sample: Sample, near: Callable[[str, list[str]], float]) -> bool:
    """Return whether one passage is near to a sample in meaning, and nearer than the others: it is about the same.

    Where no passage is, a search returns several that are about equally far.
    """
    text = query_of(sample.model_copy(update={"evidence": ()})).text
    best, *others = sorted(near(text, [f"{piece.title} {piece.text}".strip()]) for piece in sample.evidence)[::-1]
    return covered(sample, near) >= NEAR and (not others or best - mean(others) >= APART)


def nearness(encoder: Encoder) -> Callable[[str, list[str]], float]:
    """Return what compares a text with passages by the cosine of their vectors, of the nearest passage."""

    from mores.search.encoders import unit_vectors

    @lru_cache(maxsize=1024)
    def vector(text: str) -> Floats:
        row: Floats = unit_vectors(encoder, [text])[0]
        return row

    return lambda text, passages: max((float(vector(text) @ vector(passage)) for passage in passages), default=0.0)


def merged(results: Sequence[Found], k: int) -> Found:
    """Return the k best passages of the first search and the best of each other, each once; any failure counts."""
    if failure := next((result.failure for result in results if result.failure), None):
        return Found(failure=failure)
    whole, *parts = (result.evidence for result in results)
    pieces = whole[:k]
    for part in parts:
        pieces += tuple(piece for piece in part[:1] if piece not in pieces)
    return Found(evidence=pieces)


def shorten(evidence: Evidence, characters: int) -> Evidence:
    """Return the same passage with a text of at most so many characters, cut at the end of a word."""
    if len(evidence.text) <= characters:
        return evidence
    return evidence.model_copy(update={"text": cut(evidence.text, characters)})


def cut(text: str, longest: int, sign: str = "…") -> str:
    """Return the beginning of a text, at most so long including the sign that it continues."""
    if len(text) <= longest:
        return text
    end = max(0, longest - len(sign))
    last = None if text[end].isspace() else _LAST_WORD.search(text[:end])
    if last and last.start() >= end // 2:  # in scripts without spaces the last one is too far back
        end = last.start()
    while end and (_goes_on(text[end]) or text[end - 1] == _JOINER):
        end -= 1
    return text[:end].rstrip() + sign


def _goes_on(char: str) -> bool:
    """Return whether it belongs to the letter or emoji before it: an accent, a joiner, a colour of the skin."""
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf", "Sk")


class _Asking:
    """A search that gets no empty queries."""

    def __init__(self, search: Search) -> None:
        self.name, self.identity = search.name, search.identity
        self._search = search

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return what the search finds for the queries that ask something; for the others nothing."""
        nonempty = [query for query in queries if query.text]
        results = iter(await self._search.find(nonempty, k) if nonempty else ())
        return [next(results) if query.text else Found() for query in queries]

    async def close(self) -> None:
        """Leave the search open: the caller who opened it closes it."""
