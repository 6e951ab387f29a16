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
    """A corpus of facts that is searched, and whose facts they are."""

    corpus: Corpus
    of: Mapping[str, CorrectFact]
    """All facts, by the source that their evidence names."""


def index_facts(data: Path, folder: Path, splits: tuple[str, ...]) -> SearchableFacts:
    """Return the facts of some splits, in an index that is thrown away afterwards."""
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
    """Return an item as its evidence names it."""
    return clean(item, LONGEST_SOURCE)


def own_facts(gold: Gold) -> frozenset[str]:
    """Return the items that a pair is made of, as their evidence names them."""
    return frozenset(map(name_of, gold.parts or (gold.item,)))
