"""Train, dev and test without leakage: samples that share an item or a question, or are near twins, are in one split.

Two items are near twins if their distinctive n-grams overlap by half (Jaccard similarity): the runs of five characters
of question and answer, without case and punctuation, that few items have. N-grams that many items have are the wording
of a questionnaire, not what is asked. An item with hardly any distinctive n-grams has no twins.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from mores.factory.drafts import draw
from mores.factory.items import SourceItem, Task
from mores.factory.shortcut import Integers, char_ngrams


class Components:
    """Names in groups (union-find): names that have a key in common, or are joined, are in one."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._sizes: Counter[str] = Counter()

    def add(self, name: str, keys: Iterable[str] = ()) -> None:
        """Add a name and join it with all names that have one of its keys; no key is also a name."""
        self._sizes[self._root(name)] += 1
        for key in keys:
            self.join(name, key)

    def join(self, first: str, second: str) -> None:
        """Make one group of the groups of two names."""
        kept, other = sorted((self._root(first), self._root(second)))
        if kept != other:
            self._parent[other] = kept
            self._sizes[kept] += self._sizes.pop(other, 0)

    def size(self, name: str) -> int:
        """Return the number of names in the group of a name."""
        return self._sizes[self._root(name)]

    def by_first(self, names: Iterable[str]) -> dict[str, str]:
        """Return the group of each name, called after the first of these names that is in it."""
        first: dict[str, str] = {}
        return {name: first.setdefault(self._root(name), name) for name in names}

    def _root(self, node: str) -> str:
        parent = self._parent
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node


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


LENGTH = 5
OVERLAP = (1, 2)
"""The minimum similarity of twins, as a fraction."""
FEWEST = 12
"""An item with fewer distinctive n-grams is not compared."""
COMMON = 10
"""An n-gram is distinctive if no more items than this have it, or one in a hundred."""
_BITS = 30
_CHUNK = 100_000
"""Pairs compared at a time, to limit memory."""


class Twins(NamedTuple):
    """Two texts that are alike, and the items that have them, by `source/id`."""

    first: tuple[str, ...]
    second: tuple[str, ...]


def near_twins(items: Iterable[SourceItem]) -> list[Twins]:
    """Return all near twins among items whose texts differ, the most alike first."""
    names: dict[str, list[str]] = defaultdict(list)
    for item in items:
        # A topic is not a question: many different texts are written about one.
        text = item.answer if item.task is Task.GENERATION else f"{item.question} {item.answer}"
        names[normalise(text)].append(item.name)
    count = sum(map(len, names.values()))
    owners = sorted(tuple(sorted(of_text)) for of_text in names.values())
    text_of = {name: text for text, of_text in names.items() for name in of_text}
    rows = _distinctive([text_of[of_text[0]] for of_text in owners], max(COMMON, count // 100))
    sizes = np.diff(rows.indptr)
    ranked: list[tuple[float, int, int]] = []
    first, second = _candidates(rows)
    for start in range(0, len(first), _CHUNK):
        a, b = first[start : start + _CHUNK], second[start : start + _CHUNK]
        equal = np.asarray(rows[a].multiply(rows[b]).sum(axis=1)).ravel()
        total = sizes[a] + sizes[b] - equal
        alike = equal * OVERLAP[1] >= total * OVERLAP[0]
        ranked += zip((-equal / total)[alike].tolist(), a[alike].tolist(), b[alike].tolist(), strict=True)
    return [Twins(owners[a], owners[b]) for _, a, b in sorted(ranked)]


def count_leaks(twins: Iterable[Twins], split_of: Mapping[str, str]) -> int:
    """Return the number of items of the test split that have a near twin in the training split."""
    in_test: set[str] = set()
    for pair in twins:
        for names, others in (pair, pair[::-1]):
            if any(split_of[other] == "train" for other in others):
                in_test.update(name for name in names if split_of[name] == "test")
    return len(in_test)


def _distinctive(texts: Sequence[str], most: int) -> Any:
    """Return the distinctive n-grams of each text; columns are ordered by the number of texts that have them."""
    from scipy.sparse import csr_matrix

    rows = char_ngrams(texts, (LENGTH,), _BITS)
    text_of = np.repeat(np.arange(len(texts)), np.diff(rows.indptr))
    order = np.argsort(rows.indices, kind="stable")
    columns = np.zeros(len(order), np.int64)
    columns[order] = np.cumsum(np.diff(rows.indices[order], prepend=-1) > 0) - 1
    counts = np.bincount(columns)
    rank = np.argsort(np.argsort(counts, kind="stable"), kind="stable")
    kept = counts[columns] <= most
    kept &= np.bincount(text_of[kept], minlength=len(texts))[text_of] >= FEWEST
    cells = np.ones(int(kept.sum()), np.int64)
    matrix = csr_matrix((cells, (text_of[kept], rank[columns[kept]])), shape=(len(texts), len(counts)))
    matrix.sort_indices()
    return matrix


def _candidates(rows: Any) -> tuple[Integers, Integers]:
    """Return pairs that may be similar enough.

    Texts that share half of their n-grams share one of the rarest half of each (prefix filter), and texts that share
    few of these cannot make up for it with the others.
    """
    from scipy.sparse import csr_matrix, triu

    low, high = OVERLAP
    sizes = np.diff(rows.indptr)
    length = sizes - -(-sizes * low // high) + (sizes > 0)
    text_of = np.repeat(np.arange(len(sizes)), sizes)
    rare = np.arange(rows.nnz) - rows.indptr[text_of] < length[text_of]
    starts = np.concatenate([[0], np.cumsum(length)])
    prefix = csr_matrix((rows.data[rare], rows.indices[rare], starts), shape=rows.shape)
    shared = triu(prefix @ prefix.T, 1).tocoo()
    first, second, rest = shared.row, shared.col, sizes - length
    most = shared.data + np.maximum(rest[first], rest[second])
    possible = most * (low + high) >= low * (sizes[first] + sizes[second])
    return first[possible].astype(np.int64), second[possible].astype(np.int64)
