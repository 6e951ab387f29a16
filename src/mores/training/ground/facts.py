"""The facts of a dataset, as a corpus to search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mores.errors import InputError
from mores.factory.facts import FACTS, CorrectFact
from mores.factory.gold import Gold
from mores.io import JsonlWriter, read_records
from mores.search.clean import LONGEST_SOURCE, clean
from mores.search.corpus import Corpus


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
