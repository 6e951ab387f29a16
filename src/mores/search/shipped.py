"""`mores`: the facts that come with Mores (`facts/README.md`), by words and, where an encoder is installed, by meaning.

A small corpus has nothing about most texts, and the nearest fact about another country would mislead. So only facts are
returned that have enough in common with the query, whose country the text names if it names any, and that are not of
the source that the text itself comes from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mores.culture import base_language, country
from mores.engine.progress import SILENT, Progress
from mores.language import detect
from mores.search import encoders, index
from mores.search.base import Query, SampleQuery
from mores.search.content import coverage
from mores.search.corpus import Corpus
from mores.search.dense import DenseCorpus
from mores.search.places import named_countries

FACTS = Path(__file__).parent / "facts" / "facts.jsonl.gz"
VERSION = 1
"""Goes up when the same query finds other facts in the same file."""
RELATED, NEAR = 0.45, 0.7
"""What a fact that is shown has in common with a query by `mores.search.content.coverage`, or its cosine with it."""


class ShippedFacts(Corpus):
    """The facts, searched by words."""

    def __init__(self, **options: Any) -> None:
        super().__init__(FACTS, **options)
        self.name, self.identity = "mores", f"mores.{VERSION}/{self.identity}"
        by = "words; the extra dense also compares meanings" if self.by_words else "words and meaning"
        self.about = f"{len(self):,} facts that come with Mores, by {by}"
        rows = [self.passage(place) for place in range(len(self))]
        self._countries = np.array([country(row["region"]) for row in rows])
        self._sources = np.array([row["evidence"]["source"].partition("/")[0] for row in rows])

    def best(self, scores: index.Floats, query: Query, k: int) -> list[int]:
        """Return the places of the best facts that may be shown and concern the query."""
        context, source = (query.context, query.source) if isinstance(query, SampleQuery) else (query.text, "")
        allowed = self._sources != source
        named = named_countries(context, query.language) | ({country(query.region)} if query.region else set())
        if named:
            allowed &= np.isin(self._countries, list(named))
        places = super().best(np.where(allowed, scores, np.float32(0)), query, k)
        return [place for place in places if self._is_related(query, place)]

    def _is_related(self, query: Query, place: int) -> bool:
        return coverage(query.text, [self.text(place)]) >= RELATED


class FusedFacts(ShippedFacts, DenseCorpus):
    """The facts, searched by words and by meaning."""

    def _is_related(self, query: Query, place: int) -> bool:
        if super()._is_related(query, place):
            return True
        # In languages that it does not know, the encoder gives all texts nearly the same vector.
        spoken = query.language or detect([query.text])[0].detected
        told = self.passage(place).get("language", "en")
        known = spoken is not None and {base_language(spoken), base_language(told)} <= encoders.LANGUAGES
        return known and self.cosine(query, place) >= NEAR


def shipped_facts(progress: Progress = SILENT) -> ShippedFacts:
    """Return the facts with the best search that is installed."""
    return FusedFacts(progress=progress) if encoders.has_encoder() else ShippedFacts()
