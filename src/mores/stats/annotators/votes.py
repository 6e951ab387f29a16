"""Votes of people on items, as numbers; each item's majority."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mores.stats.agreement import Label
from mores.stats.classification import Floats
from mores.stats.resampling import Indices

Name: TypeAlias = str | int
"""Of an item or a person."""


@dataclass(frozen=True)
class LabelTable:
    """Votes with items, people and labels as places in lists; most people have labelled few of the items."""

    items: tuple[Name, ...]
    annotators: tuple[Name, ...]
    labels: tuple[Label, ...]
    """All that may be given, whether somebody did or not."""
    item: Indices
    """Of each vote, as are the next two."""
    annotator: Indices
    label: Indices

    @property
    def counts(self) -> Floats:
        """Items × labels: how many gave each label."""
        shape = len(self.items), len(self.labels)
        places = self.item * shape[1] + self.label
        return np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    def known_labels(self, known: Mapping[Name, Label] | None) -> Indices:
        """Return the place of each item's known label, -1 where it is not known; items without votes are ignored."""
        places = {label: place for place, label in enumerate(self.labels)}
        if wrong := [(item, label) for item, label in (known or {}).items() if label not in places]:
            item, label = wrong[0]
            raise ValueError(f"item {item!r} is known to be {label!r}, which is none of the labels {list(self.labels)}")
        return np.array([places[known[item]] if known and item in known else -1 for item in self.items], dtype=np.intp)


def table_votes(
    votes: Iterable[tuple[Name, Name, Label]], labels: Sequence[Label] | None = None, *, repeats: bool = False
) -> LabelTable:
    """Table (item, annotator, label) triples; `labels` are those that occur, sorted, unless they are given.

    Give `labels` where some may not occur: a label that nobody chose yet still has a probability. `repeats` allows a
    person several independent votes on an item, as the first observer of Dawid and Skene's data has; else a second one
    is an error.
    """
    triples = list(votes)
    for name, person, label in triples:
        if label is None or label != label:
            raise ValueError(f"{person!r} gave item {name!r} no label; leave out votes that are missing")
    given = [label for _, _, label in triples]
    try:
        scale = tuple(sorted(set(given)) if labels is None else labels)
    except TypeError as error:
        raise ValueError("labels mix names and numbers; give all as one or the other") from error
    place = {label: n for n, label in enumerate(scale)}
    if len(place) < len(scale):
        raise ValueError(f"a label occurs twice in {list(scale)}; give each once")
    if unknown := set(given) - place.keys():
        name, person, label = next(vote for vote in triples if vote[2] in unknown)
        raise ValueError(f"{person!r} gave item {name!r} the label {label!r}, which is none of {list(scale)}")
    items, item = _code(name for name, _, _ in triples)
    annotators, annotator = _code(person for _, person, _ in triples)
    _, first = np.unique(annotator * max(1, len(items)) + item, return_index=True)
    if not repeats and len(first) < len(triples):
        name, person, _ = triples[min(set(range(len(triples))) - set(first.tolist()))]
        raise ValueError(f"{person!r} labelled item {name!r} more than once; keep the vote that counts")
    codes = np.array([place[label] for label in given], dtype=np.intp)
    return LabelTable(items, annotators, scale, item, annotator, codes)


def _code(names: Iterable[Hashable]) -> tuple[tuple[Name, ...], Indices]:
    """Return the names in the order in which they first occur, and the place of each."""
    places: dict[Hashable, int] = {}
    codes = [places.setdefault(name, len(places)) for name in names]
    return tuple(places), np.array(codes, dtype=np.intp)  # type: ignore[arg-type]
