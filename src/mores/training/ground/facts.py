"""The facts of a dataset, as a corpus to search, and those nearest to a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mores.errors import InputError
from mores.factory.facts import FACTS, CorrectFact
from mores.factory.gold import Gold
from mores.io import JsonlWriter, read_records
from mores.search.base import Found as Results
from mores.search.clean import LONGEST_SOURCE, clean
from mores.search.corpus import Corpus
from mores.search.ground import merged, queries_of
from mores.types import Evidence

_MORE = 5
"""Additional passages to search for, in case some are not allowed."""

Keep = Callable[[Gold, Evidence], bool]
"""Whether a sample may have a piece of evidence."""


@dataclass(frozen=True)
class SearchableFacts:
    """A corpus of facts, and the fact of each source."""

    corpus: Corpus
    of: Mapping[str, CorrectFact]
    """All facts, by the source of their evidence."""


def index_facts(data: Path, folder: Path, splits: tuple[str, ...]) -> SearchableFacts:
    """Return the facts of some splits, with an index in a temporary folder."""
    path = folder / f"{'-'.join(splits)}.jsonl"
    facts = {}
    with JsonlWriter(path) as writer:
        for fact in read_records(data / FACTS, CorrectFact):
            facts[name_of(fact.source)] = fact
            if fact.split in splits:
                writer.write(fact)
    if not path.stat().st_size:
        raise InputError(f"{data / FACTS}: no facts of {' or '.join(splits)}; build a larger dataset")
    return SearchableFacts(Corpus(path, folder / "index"), facts)


def name_of(item: str) -> str:
    """Return the name of an item as a source of evidence."""
    return clean(item, LONGEST_SOURCE)


def own_facts(gold: Gold) -> frozenset[str]:
    """Return the names of a pair's items as sources of evidence."""
    return frozenset(map(name_of, gold.parts or (gold.item,)))


class Near(NamedTuple):
    """The facts nearest to a sample."""

    passages: tuple[Evidence, ...]
    """The sample's evidence, in the order of the search."""
    others: tuple[Evidence, ...]
    """The next one, if there is any."""


async def nearest(corpus: Corpus, golds: Sequence[Gold], k: int, keep: Keep) -> list[Near]:
    """Return the best passages about each sample that it may have."""
    near: dict[int, Near] = {}
    queries = [queries_of(gold.sample) for gold in golds]
    short, limit = list(range(len(golds))), k + _MORE
    while short:
        results = iter(await corpus.find([query for place in short for query in queries[place]], limit))
        unfinished = []
        for place in short:
            parts = [next(results) for _ in queries[place]]
            kept = [Results(evidence=tuple(p for p in part.evidence if keep(golds[place], p))) for part in parts]
            passages = merged(kept, k).evidence
            others = tuple(piece for piece in kept[0].evidence[k:] if piece not in passages)
            near[place] = Near(passages, others[:1])
            # Passages that are not allowed can fill all places, as the parts of a long text do: look further down.
            if len(kept[0].evidence) <= k and len(parts[0].evidence) == limit:
                unfinished.append(place)
        short, limit = unfinished, 4 * limit
    return [near[place] for place in range(len(golds))]
