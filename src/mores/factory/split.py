"""Train, dev and test without leakage: samples that share an item or a question, or are near twins, are in one split.

Two items are near twins if their distinctive n-grams overlap by half (Jaccard similarity): the runs of five characters
of question and answer, without case and punctuation, that few items have. N-grams that many items have are the wording
of a questionnaire, not what is asked. An item with hardly any distinctive n-grams has no twins.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from mores.engine.progress import SILENT, Progress
from mores.factory.columns import Integers
from mores.factory.drafts import draw, draw_number
from mores.factory.items import SourceItem, Task
from mores.factory.looks import blocks_of, ngrams
from mores.factory.scratch import NumberFile
from mores.factory.table import ItemTable

FOLDS = 10
Split = Literal["train", "dev", "test"]
SPLITS: Mapping[Split, tuple[int, ...]] = {"train": (0, 1, 2, 3, 4, 5, 6), "dev": (7,), "test": (8, 9)}
"""The folds of each split: the shares of ExCAM, Table 2."""
SPLIT_OF: Mapping[int, Split] = {fold: split for split, of_split in SPLITS.items() for fold in of_split}

LARGEST = 50
"""Size up to which similarity always joins groups; items that share a unit or a question are never separated."""

_NOT_WORD = re.compile(r"[\W_]+")
_ONLY_WORDS = bytes(ord(" ") if _NOT_WORD.match(chr(sign)) else sign for sign in range(256))
"""The signs of ASCII, most texts: without an expression it takes a quarter of the time."""


def normalise(question: str) -> str:
    """Return the question without case, punctuation and forms of the same letters."""
    if question.isascii():
        return b" ".join(question.lower().encode().translate(_ONLY_WORDS).split()).decode()
    return _NOT_WORD.sub(" ", unicodedata.normalize("NFKC", question).casefold()).strip()


LENGTH = 5
OVERLAP = (1, 2)
"""The minimum similarity of twins, as a fraction."""
FEWEST = 12
"""An item with fewer distinctive n-grams is not compared."""
COMMON = 10
"""An n-gram is distinctive if no more items than this have it, or one in a hundred."""
_BITS = 30
_CELLS, _PAIRS = 1 << 20, 20_000
"""Common n-grams, and pairs of texts, that are looked at together, to limit memory."""


class Twins(NamedTuple):
    """Pairs of texts that are alike, the most alike first."""

    text: Integers
    """The number of each item's text; texts are numbered in the order of the names of their first items."""
    first: Integers
    second: Integers


def groups(items: ItemTable, twins: Twins | None = None) -> Integers:
    """Return the group of each item, as the place of its first item by name.

    Items of a unit, with the same question, or alike are in one. A pair of twins is not joined if the group would hold
    more than one item in a hundred (and more than `LARGEST`): a chain of pairs would otherwise join items with little
    in common.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    units, questions = array("q"), array("q")
    for item in items:
        # A topic is not a question: many different texts are written about one.
        sign, text = ("=", item.answer) if item.task is Task.GENERATION else ("?", item.question)
        units.append(_number("unit", item.source, item.unit or item.id))
        words = normalise(text)
        questions.append(_number(sign, words) if words else units[-1])
    keys = np.unique(np.concatenate([units, questions]), return_inverse=True)[1].ravel()
    count = len(items)
    shape = (count + int(keys.max()) + 1,) * 2
    joined = coo_array((np.ones(2 * count, bool), (np.tile(np.arange(count), 2), count + keys)), shape=shape)
    component = connected_components(joined, directed=False)[1][:count]
    sizes, order = np.bincount(component).tolist(), items.order
    joined_to: dict[int, int] = {}

    def root(number: int) -> int:
        while number in joined_to:
            number = joined_to[number]
        return number

    if twins:
        _, places = np.unique(twins.text[order], return_index=True)
        first, second = (memoryview(component[order[places[texts]]].data) for texts in (twins.first, twins.second))
        largest = max(LARGEST, count // 100)
        for pair in zip(first, second, strict=True):
            small, large = sorted(map(root, pair), key=sizes.__getitem__)
            if small != large and sizes[small] + sizes[large] <= largest:
                joined_to[small] = large
                sizes[large] += sizes[small]
    roots = np.array([root(number) for number in range(len(sizes))])
    _, places, group = np.unique(roots[component[order]], return_index=True, return_inverse=True)
    found = np.empty(count, np.int64)
    found[order] = order[places[group]]
    return found


def _number(*words: str) -> int:
    """Return a number of these words that others are not known to have."""
    return int.from_bytes(draw(0, *words), signed=True)


def folds(items: ItemTable, group: Integers, seed: int) -> Integers:
    """Return the fold of each item: ten of equal size, also within each source.

    Large groups go first, each to the fold in which its sources are rarest; the seed orders groups of equal size.
    """
    sources, members = items.source_of.tolist(), np.argsort(group, kind="stable")
    totals = np.bincount(items.source_of).tolist()
    names, starts = np.unique(group[members], return_index=True)
    draws = np.array([draw_number(seed, items.names[place]) for place in names.tolist()], np.uint64)
    bounds = [*starts.tolist(), len(members)]
    filled = [[0] * len(totals) for _ in range(FOLDS)]
    chosen = np.empty(len(sources), np.int64)
    for number in np.lexsort((draws, -np.diff(bounds))).tolist():
        places = members[bounds[number] : bounds[number + 1]]
        of_group = Counter(map(sources.__getitem__, places.tolist()))
        fullness = [sum(n * fold[source] / totals[source] for source, n in of_group.items()) for fold in filled]
        chosen[places] = fold = fullness.index(min(fullness))
        for source, n in of_group.items():
            filled[fold][source] += n
    return chosen


def near_twins(items: ItemTable, progress: Progress = SILENT) -> Twins:
    """Return all near twins among items whose texts differ."""
    seen, sizes, grams = array("q"), list[Integers](), NumberFile()
    for block in blocks_of(map(_compared, progress.track("grouping", items, len(items)))):
        seen.extend(map(_number, block))
        columns, at = ngrams(block, (LENGTH,), _BITS)
        sizes.append(np.diff(at))
        grams.add(columns)
    order, number_of = items.order, np.empty(len(items), np.int64)
    _, places, numbers = np.unique(np.asarray(seen)[order], return_index=True, return_inverse=True)
    number_of[order] = np.argsort(np.argsort(places))[numbers]
    is_first = np.zeros(len(items), bool)
    is_first[np.unique(seen, return_index=True)[1]] = True
    used = np.split(is_first, np.cumsum([len(block) for block in sizes])[:-1])
    texts = ((size[of], columns[np.repeat(of, size)]) for of, size, columns in zip(used, sizes, grams, strict=True))
    rows = _distinctive(texts, max(COMMON, len(items) // 100))
    first, second, likeness = _alike(rows)
    pairs = np.sort(number_of[np.flatnonzero(is_first)[np.stack([first, second])]], axis=0)
    ranked = np.lexsort((pairs[1], pairs[0], -likeness))
    return Twins(number_of, pairs[0][ranked], pairs[1][ranked])


def _compared(item: SourceItem) -> str:
    # A topic is not a question: many different texts are written about one.
    return normalise(item.answer if item.task is Task.GENERATION else f"{item.question} {item.answer}")


def count_leaks(twins: Twins, fold: Integers) -> int:
    """Return the number of items of the test split that have a near twin in the training split."""
    trained, tested = (np.isin(fold, SPLITS[split]) for split in ("train", "test"))
    is_trained, near = np.zeros((2, len(fold)), bool)
    is_trained[twins.text[trained]] = True
    for one, other in ((twins.first, twins.second), (twins.second, twins.first)):
        near[one[is_trained[other]]] = True
    return int(np.count_nonzero(tested & near[twins.text]))


def _distinctive(texts: Iterable[tuple[Integers, Any]], most: int) -> Any:
    """Return the distinctive n-grams of each text; columns are ordered by the number of texts that have them."""
    from scipy.sparse import csr_array

    sizes, grams, kept_grams = list[Integers](), NumberFile(), NumberFile()
    for size, columns in texts:
        sizes.append(size)
        grams.add(columns)
    every = grams.together()
    every.sort()
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(every)), bool), every[1:] != every[:-1]]))
    found, counts = every[starts], np.diff(starts, append=len(every)).astype(np.int32)
    del every, starts
    rank = np.empty(len(found), np.int32)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(found), dtype=np.int32)
    lengths = [np.zeros(0, np.int64)]
    for size, columns in zip(sizes, grams, strict=True):
        text_of, at = np.repeat(np.arange(len(size)), size), np.searchsorted(found, columns)
        kept = counts[at] <= most
        kept &= np.bincount(text_of[kept], minlength=len(size))[text_of] >= FEWEST
        text_of, columns = text_of[kept], rank[at[kept]]
        kept_grams.add(columns[np.lexsort((columns, text_of))])
        lengths.append(np.bincount(text_of, minlength=len(size)))
    cells, bounds = kept_grams.together(), _starts(np.concatenate(lengths))
    return csr_array((np.ones(len(cells), np.int8), cells, bounds), shape=(len(bounds) - 1, len(found)))


def _alike(rows: Any) -> tuple[Integers, Integers, Any]:
    """Return pairs of rows that are similar enough, and how similar each is.

    Texts that share half of their n-grams share one of the rarest half of each (prefix filter), and texts that share
    few of these cannot make up for it with the others.
    """
    from scipy.sparse import csr_array

    low, high = OVERLAP
    sizes = np.diff(rows.indptr).astype(np.int64)
    length = sizes - -(-sizes * low // high) + (sizes > 0)
    rest = sizes - length
    of_row = np.tile([True, False], len(sizes))
    rare = rows.indices[np.repeat(of_row, np.stack([length, rest], axis=1).ravel())]
    kind = np.int16 if sizes.max(initial=0) < 1 << 15 else np.int32  # of a number of n-grams
    prefix = csr_array((np.ones(len(rare), kind), rare, _starts(length)), shape=rows.shape)
    having = prefix.T.tocsr()
    # What all rows before one are compared with: the cells of their columns.
    work = _starts(prefix @ np.diff(having.indptr).astype(np.int64))
    found: list[tuple[Integers, Integers, Any]] = [(np.zeros(0, np.int64),) * 2 + (np.zeros(0),)]
    for start, end in _portions(work):
        shared = (prefix[start:end] @ having).tocoo()
        first, second = (places.astype(np.int64) for places in (shared.row + start, shared.col))
        most = shared.data + np.maximum(rest[first], rest[second])
        possible = (first < second) & (most * (low + high) >= low * (sizes[first] + sizes[second]))
        for at in np.array_split(np.flatnonzero(possible), possible.sum() // _PAIRS + 1):
            one, other = first[at], second[at]
            equal = np.asarray(rows[one].multiply(rows[other]).sum(axis=1)).ravel()
            total = sizes[one] + sizes[other] - equal
            alike = equal * high >= total * low
            found.append((one[alike], other[alike], (equal / total)[alike]))
    first, second, likeness = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, likeness


def _starts(sizes: Integers) -> Integers:
    """Return where each of some things of these sizes starts, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _portions(work: Integers) -> Iterator[tuple[int, int]]:
    """Yield the bounds of rows that are compared together; `work` is what all before a row are compared with."""
    portion = work[1:] // _CELLS
    bounds = np.flatnonzero(np.diff(portion, prepend=-1, append=-1))
    yield from pairwise(bounds.tolist())
