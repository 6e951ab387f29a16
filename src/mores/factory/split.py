"""Train, dev and test without leakage: samples that share an item or a question are in the same split."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal

from mores.factory.components import Components
from mores.factory.drafts import draw
from mores.factory.items import SourceItem, Task

FOLDS = 10
Split = Literal["train", "dev", "test"]
SPLITS: Mapping[Split, tuple[int, ...]] = {"train": (0, 1, 2, 3, 4, 5, 6), "dev": (7,), "test": (8, 9)}
"""The folds of each split: the shares of ExCAM, Table 2."""

LARGEST = 50
"""Size up to which similarity always joins groups; items that share a unit or a question are never separated."""

_NOT_WORD = re.compile(r"[\W_]+")


def normalise(question: str) -> str:
    """Return the question without case, punctuation and forms of the same letters."""
    return _NOT_WORD.sub(" ", unicodedata.normalize("NFKC", question).casefold()).strip()


def groups(items: Iterable[SourceItem], alike: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Return the group of each item, `source/id` to a name: one for items of a unit, with the same question, or alike.

    `alike` are pairs of names, the most similar first. A pair is not joined if the group would hold more than one item
    in a hundred (and more than `LARGEST`): a chain of pairs would otherwise join items with little in common.
    """
    components = Components()
    names = []
    for item in items:
        # A topic is not a question: many different texts are written about one.
        sign, text = ("=", item.answer) if item.task is Task.GENERATION else ("?", item.question)
        keys = [f"{item.source}\0{item.unit or item.id}"]
        keys += [f"{sign}{words}"] if (words := normalise(text)) else []
        names.append(item.name)
        components.add(item.name, keys)
    largest = max(LARGEST, len(names) // 100)
    for first, second in alike:
        if components.size(first) + components.size(second) <= largest:
            components.join(first, second)
    return components.by_first(sorted(names))


def folds(items: Iterable[SourceItem], group_of: Mapping[str, str], seed: int) -> dict[str, int]:
    """Return the fold of each group: ten of equal size, also within each source.

    Large groups go first, each to the fold in which its sources are rarest; the seed orders groups of equal size.
    """
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    totals: Counter[str] = Counter()
    for item in items:
        sizes[group_of[item.name]][item.source] += 1
        totals[item.source] += 1
    filled: list[Counter[str]] = [Counter() for _ in range(FOLDS)]
    chosen = {}
    for group in sorted(sizes, key=lambda g: (-sizes[g].total(), draw(seed, g))):
        members = sizes[group].items()
        fullness = [sum(n * fold[source] / totals[source] for source, n in members) for fold in filled]
        chosen[group] = fullness.index(min(fullness))
        filled[chosen[group]].update(sizes[group])
    return chosen
