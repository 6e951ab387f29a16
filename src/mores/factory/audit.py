"""The audit of a finished dataset by classifiers that were not used for balancing.

Each reads the whole output text, with the words that a template puts around the answer but without the instruction,
and is cross-validated over the same folds. They differ in their features and in what they can learn:

| classifier | features | learns |
| --- | --- | --- |
| naive Bayes | words | the effect of each word by itself |
| boosted trees | runs of one to three characters, shape | the joint effect of two of them |
| nearest neighbours | runs of three characters | the labels of similar texts |
| word pairs, from edition 3 on | words and pairs of words | a logistic regression, as in `mores.factory.words` |

As in `mores.factory.shortcut`, decisions rest on integers, or on floating-point numbers that no sum has rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mores.factory.columns import Folds, Integers, Labels, MarkedColumns, multiply
from mores.factory.looks import char_ngrams, count_tokens, mark, shape
from mores.factory.shortcut import ONE, Classify, SeenTexts, Shortcut, audit, probability

TREES = 40
LEAVES = 4
SPLITS_OF = 1500
"""Columns that a tree may use: those that most texts have."""
SMOOTH = 4
"""Pseudo-count of texts by which a leaf is shrunk: with as many texts, it says half of what they say."""
NEIGHBOURS = 15
COMMON = 20
"""Runs of characters that more than one in this many texts has do not count as similarity."""
BLOCK = 64
"""Texts whose neighbours are searched at a time, so that they stay in the processor's cache."""
MOST = 12_000
"""Maximum texts that an audit reads."""

BOUND = 0.08
"""Scaled accuracy above which a source may have a shortcut."""


class Auditor(NamedTuple):
    """A classifier, and how it sees texts."""

    look: Callable[[Sequence[str]], Any]
    classify: Classify | int
    """Or the steps of a logistic regression."""


def audit_texts(
    auditors: Iterable[tuple[str, Auditor]],
    texts: Callable[[list[int]], Iterable[str]],
    correct: Sequence[bool] | Labels,
    folds: Sequence[int] | Folds,
    parts: Mapping[str, Integers],
) -> dict[str, dict[str, Shortcut]]:
    """Return the result of each classifier in each part, which is given by the places of its texts."""
    results: dict[str, dict[str, Shortcut]] = {}
    thinned = {part: thin(rows) for part, rows in parts.items()}
    looked_at = np.unique(np.concatenate(list(thinned.values())))
    labels, fold_of = np.asarray(correct, dtype=bool)[looked_at], np.asarray(folds, dtype=np.int8)[looked_at]
    chosen = list(texts(looked_at.tolist()))
    places = {part: np.searchsorted(looked_at, rows) for part, rows in thinned.items()}
    for name, auditor in auditors:
        seen = SeenTexts(auditor.look(chosen), labels, fold_of)
        results[name] = {part: audit(seen.take(rows), auditor.classify) for part, rows in places.items()}
    return results


def thin(rows: Integers) -> Integers:
    """Return at most `MOST` of the rows, evenly spaced."""
    return rows[np.arange(min(len(rows), MOST)) * len(rows) // max(1, min(len(rows), MOST))]


def naive_bayes(rows: Any, correct: Labels, others: Any) -> Integers:
    """Classify by multinomial naive Bayes, with one count of each word added."""
    counts = [np.asarray(rows[correct == label].sum(axis=0)).ravel() for label in (True, False)]
    used = int(np.count_nonzero(counts[0] + counts[1]))
    logs = [_log(count + 1) - _log(np.array([max(1, count.sum() + used)])) for count in counts]
    odds: Integers = others @ (logs[0] - logs[1])
    return odds


def _log(numbers: Integers) -> Integers:
    # Rounded: the last bits of a logarithm differ between processors.
    rounded: Integers = np.rint(np.log(numbers) * ONE).astype(np.int64)
    return rounded


def boosted_trees(rows: Any, correct: Labels, others: Any) -> Integers:
    """Classify by gradient boosting of small trees, each of which asks for one column and then another."""
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    asked = np.sort(np.argsort(-counts, kind="stable")[:SPLITS_OF])
    rows, others = rows[:, asked].tocsc(), others[:, asked].tocsc()
    columns = rows.T
    columns.data = columns.data.astype(np.int64)
    wanted = np.where(correct, ONE, 0)
    odds, odds_of_others = np.zeros(len(correct), np.int64), np.zeros(others.shape[0], np.int64)
    for _ in range(TREES):
        chance = probability(odds)
        slopes = np.stack([wanted - chance, chance * (ONE - chance) // ONE])
        leaf, leaf_of_others = np.zeros(len(odds), np.int64), np.zeros(len(odds_of_others), np.int64)
        leaves, having_column = 1, _sums(columns, slopes, leaf, np.arange(1))
        while leaves < LEAVES:
            if leaves > 1:  # of the two halves of each leaf, one is read and the other is the rest
                upper = _sums(columns, slopes, leaf, np.arange(leaves // 2, leaves))
                having_column = np.concatenate([having_column - upper, upper], axis=1)
            for node, column in enumerate(_best_columns(having_column, slopes, leaf, leaves)):
                for matrix, place in ((rows, leaf), (others, leaf_of_others)):
                    having = matrix.indices[matrix.indptr[column] : matrix.indptr[column + 1]]
                    place[having[place[having] == node]] += leaves
            leaves *= 2
        first, second = _sums_of_leaves(slopes, leaf, leaves)
        values = first * ONE // (second + SMOOTH * ONE // 4) // 2
        odds += values[leaf]
        odds_of_others += values[leaf_of_others]
    return odds_of_others


def _sums(columns: Any, slopes: Any, leaf: Integers, nodes: Integers) -> Integers:
    """Return the sums of both slopes over the texts of each leaf that have each column."""
    of_leaf = (slopes[:, None] * (leaf == nodes[:, None])).reshape(2 * len(nodes), -1)
    return multiply(columns, of_leaf.T, len(leaf)).T.reshape(2, len(nodes), -1)


def _best_columns(having: Integers, slopes: Any, leaf: Integers, leaves: int) -> list[int]:
    """Return the column that divides each leaf best (the gain of second-order boosting)."""
    lacking = _sums_of_leaves(slopes, leaf, leaves)[:, :, None] - having
    gains = sum(part[0] * part[0] / (part[1] + SMOOTH * ONE / 4) for part in (having, lacking))
    best: list[int] = np.argmax(gains, axis=1).tolist()
    return best


def _sums_of_leaves(slopes: Any, leaf: Integers, leaves: int) -> Integers:
    """Return the sums of both slopes over the texts of each leaf: of whole numbers, which stay exact."""
    return np.stack([np.bincount(leaf, slope, leaves) for slope in slopes]).astype(np.int64)


def nearest_neighbours(rows: Any, correct: Labels, others: Any) -> Integers:
    """Return the majority of correct over wrong among the most similar texts, those that share rare runs."""
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    rare = np.flatnonzero((counts > 1) & (counts * COMMON <= rows.shape[0]))
    weight = _log(np.array([rows.shape[0]])) - _log(counts[rare])
    known, asked = rows[:, rare], others[:, rare].astype(np.float64)
    length = np.sqrt(known @ weight + 1)
    scaled = known.multiply(weight).T.tocsr().astype(np.float64)  # of whole numbers, which stay exact
    votes, places = np.where(correct, 1, -1), np.arange(len(correct), dtype=np.float64)
    odds = np.zeros(others.shape[0], np.int64)
    for start in range(0, others.shape[0], BLOCK):
        keys = (asked[start : start + BLOCK] @ scaled).toarray()
        np.floor(np.divide(keys, length, out=keys), out=keys)
        # Unique keys: which texts are nearest does not depend on how ties are sorted.
        keys *= len(votes)
        keys += places
        if len(votes) > NEIGHBOURS:
            keys.partition(len(votes) - NEIGHBOURS, axis=1)
        nearest = keys[:, -NEIGHBOURS:].astype(np.int64)
        odds[start : start + BLOCK] = np.where(nearest >= len(votes), votes[nearest % len(votes)], 0).sum(axis=1)
    return odds


def shared_runs(texts: Sequence[str]) -> Any:
    """Return the runs of three characters of each text, without those of one text only."""
    rows = char_ngrams(texts, (3,), 20)
    return rows[:, np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]) > 1)]


AUDITORS: dict[str, Auditor] = {
    "naive Bayes": Auditor(lambda texts: count_tokens(re.findall(r"\w+", text.lower()) for text in texts), naive_bayes),
    "boosted trees": Auditor(lambda texts: char_ngrams(texts, (1, 2, 3), 16, shape), boosted_trees),
    "nearest neighbours": Auditor(shared_runs, nearest_neighbours),
}


def words_and_pairs(texts: Iterable[Sequence[str]]) -> MarkedColumns:
    """Return the words of each text and its pairs of neighbouring words, in rows of equal length."""
    return mark(dict.fromkeys([*words, *map(" ".join, pairwise(words))]) for words in texts)


LONG_FIT = 30
"""Steps of a fit on words alone, which converges."""
WORD_PAIRS = Auditor(lambda texts: words_and_pairs(re.findall(r"\w+", text.lower()) for text in texts), LONG_FIT)
"""From edition 3 on, which balances words with it too."""
