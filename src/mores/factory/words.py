"""The balance of single words, from edition 3 on: no word of a source tells correct from wrong texts.

`shortcut_free` balances texts by the sum of their features, so that a rare word may still be in wrong texts only. Here
texts are left out, one correct and one wrong at a time, until in each source

- no word is significantly more frequent in wrong or in correct texts: a binomial test of each, with the false-discovery
  rate held at 5% (Benjamini and Hochberg 1995);
- no word of 40 or more texts is in twice as many of one kind as of the other, with a margin for the words of templates;
- a logistic regression and naive Bayes on words and pairs of words do not exceed the bound of the audit.

The language of a text counts as one of its words. All decisions rest on integers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import numpy as np

from mores.factory.audit import LONG_FIT, naive_bayes, words_and_pairs
from mores.factory.columns import Integers
from mores.factory.drafts import draw
from mores.factory.errors.rules.edit import folded
from mores.factory.looks import count_tokens
from mores.factory.shortcut import Classify, SeenTexts, gain, out_of_fold
from mores.factory.split import FOLDS
from mores.factory.table import DraftTable

OFTEN = 40
"""Texts from which on a word may not be in twice as many of one kind as of the other."""
RATIO = (8, 5)
"""The bound of the ratio, with a margin: 1.6 to 1."""
FALSE_DISCOVERIES = 20
"""One false discovery in so many."""
SEEN, SEEN_BY_GROUP = 0.04, 0.06
"""Scaled accuracy at which a classifier's balancing stops, by the folds of the splits and by group."""
FILTERS = 40
"""Times that classifiers are fitted anew, at most."""
PORTION = 16
"""A classifier that does better by so much than it may costs one text in so many times as many at a time."""
CLASSIFIERS: dict[str, Classify | int] = {
    "logistic regression": LONG_FIT,
    "naive Bayes": naive_bayes,
}
_PRECISION = 1 << 256
"""The number 1 in fixed point, of the terms of a sum."""


def balance_words(drafts: DraftTable, rows: Integers, seed: int) -> Integers:
    """Return some drafts of one source in pairs, a correct and a wrong one of the same stratum and fold."""
    balance = _Balance(drafts, rows, seed)
    for _ in range(FILTERS):
        while balance.leave_out_words():
            pass
        if not balance.leave_out_recognised():
            break
    return balance.pairs()


class _Balance:
    """The texts that are left of a source, and the words of each."""

    def __init__(self, drafts: DraftTable, rows: Integers, seed: int) -> None:
        self._rows = rows = rows[np.argsort(drafts.draws(rows, seed, "words"), kind="stable")]
        self._correct = drafts.correct[rows]
        # Also by group: composed texts share facts with others of their fold, and people may split by group.
        names, groups, places = drafts.items.names, drafts.items.group, drafts.place[rows].tolist()
        by_group = (draw(seed, "group", names[groups[place]])[0] for place in places)
        folds = drafts.fold[rows]
        self._folds = {SEEN: folds, SEEN_BY_GROUP: np.array([number % FOLDS for number in by_group], np.int8)}
        cells: dict[tuple[int, int], int] = {}
        of_rows = zip(drafts.stratum[rows].tolist(), folds.tolist(), strict=True)
        self._cells = np.array([cells.setdefault(cell, len(cells)) for cell in of_rows], np.int64)
        spoken = (f"\0{drafts.items[place].language}" for place in places)
        words = map(folded, drafts.answers(rows))
        marked = ([*dict.fromkeys(of_text), said] for of_text, said in zip(words, spoken, strict=True))
        self._words = count_tokens(marked).tocsc().astype(np.int64)
        self._seen = words_and_pairs(map(folded, drafts.answers(rows)))
        self._left = np.ones(len(rows), dtype=bool)

    def pairs(self) -> Integers:
        """Return what is left, in pairs."""
        sides: dict[int, dict[bool, list[int]]] = defaultdict(lambda: {True: [], False: []})
        for place in np.flatnonzero(self._left):
            sides[int(self._cells[place])][bool(self._correct[place])].append(int(self._rows[place]))
        both = (zip(sides[cell][True], sides[cell][False], strict=True) for cell in sorted(sides))
        return np.array([row for pairs in both for pair in pairs for row in pair], np.int64)

    def leave_out_words(self) -> bool:
        """Leave out some texts with words that are unevenly spread; return whether there were such words."""
        ones = self._left.astype(np.int64)
        difference, total = self._words.T @ np.where(self._correct, -ones, ones), self._words.T @ ones
        tilted = tilted_words(difference.tolist(), total.tolist())
        if not tilted:
            return False
        roots = np.sqrt(total).astype(np.int64)
        weights = np.where(np.abs(difference) > roots, 256 * difference // np.maximum(roots, 1), 0)
        scores = np.where(self._correct, -1, 1) * (self._words @ weights)
        is_out = False
        for word in tilted:
            having = self._words.indices[self._words.indptr[word] : self._words.indptr[word + 1]]
            with_word = np.zeros(len(scores), dtype=bool)
            with_word[having] = True
            side = bool(difference[word] < 0)
            heavy = with_word & (self._correct == side)
            # First from the folds that have too many of them: a word that is even in all folds together, but not in
            # each, would be a sign of the opposite in the others.
            left = with_word & self._left
            excess = np.bincount(self._folds[SEEN][left], np.where(self._correct[left] == side, 1, -1), FOLDS)
            first = excess.astype(np.int64)[self._folds[SEEN]] * (2 * int(np.abs(scores).max()) + 1)
            is_out |= self._leave_out(heavy, ~with_word, scores + first, max(1, abs(int(difference[word])) // 4))
        return is_out

    def leave_out_recognised(self) -> bool:
        """Leave out some texts that a classifier recognises; return whether one does better than it may."""
        is_out = False
        for classify, (most, folds) in product(CLASSIFIERS.values(), self._folds.items()):
            rows = np.flatnonzero(self._left)
            seen = SeenTexts(self._seen[rows], self._correct[rows], folds[rows])
            odds = out_of_fold(seen, classify)
            shortcut = gain(odds, seen.correct)
            if shortcut.value <= max(most, shortcut.error):
                continue
            scores = np.zeros(len(self._rows), np.int64)
            scores[rows] = np.where(seen.correct, odds, -odds)
            every = np.ones(len(scores), dtype=bool)
            portion = int(len(rows) * (shortcut.value - most)) // PORTION + 1
            is_out |= self._leave_out(~self._correct, every, scores, portion)
        return is_out

    def _leave_out(self, heavy: Any, partners: Any, scores: Integers, most: int) -> bool:
        """Leave out texts of one label, the highest scores first, each with one of the other label in its cell."""
        rows = np.flatnonzero(self._left & heavy)
        if not len(rows):
            return False
        others = np.flatnonzero(self._left & partners & (self._correct != self._correct[rows[0]]))
        rows, others = (some[np.argsort(-scores[some], kind="stable")] for some in (rows, others))
        others = others[np.argsort(self._cells[others], kind="stable")]  # of each cell together, in their order
        bounds = np.searchsorted(self._cells[others], np.arange(self._cells.max() + 2)).tolist()
        waiting = [iter(others[first:last].tolist()) for first, last in pairwise(bounds)]
        count = 0
        for row in rows.tolist():
            if count == most:
                break
            if (other := next(waiting[self._cells[row]], None)) is not None:
                self._left[[row, other]] = False
                count += 1
        return count > 0


def tilted_words(differences: Sequence[int], totals: Sequence[int]) -> list[int]:
    """Return the places of words that are in too many wrong texts, or in too many correct ones, the clearest first.

    `differences` are their wrong texts less their correct ones, `totals` all their texts.
    """
    apart, total = np.abs(np.asarray(differences, np.int64)), np.asarray(totals, np.int64)
    tested, last = int(np.count_nonzero(total > 1)), 0
    notable = np.flatnonzero((total > 1) & (apart * apart > total)).tolist()  # the others cannot be significant
    chances = sorted((chance(int(apart[place]), int(total[place])), place) for place in notable)
    for rank, (value, _) in enumerate(chances, 1):
        if value * tested * FALSE_DISCOVERIES <= rank << 64:
            last = rank
    tilted = [place for _, place in chances[:last]]
    more, less = RATIO
    fewer = (total - apart) // 2
    lopsided = (total >= OFTEN) & ((total - fewer) * less > fewer * more)
    lopsided[tilted] = False
    return tilted + np.flatnonzero(lopsided).tolist()


@lru_cache(maxsize=200_000)
def chance(apart: int, total: int) -> int:
    """Return the two-sided probability that so many tosses of a coin differ so much, in units of 2 to the −64."""
    fewer = (total - apart) // 2
    if apart * apart > 400 * total:  # beyond 20 standard deviations
        return 0
    if apart * apart <= total:  # within one: never significant, and most words are
        return 1 << 64
    # Each term as a multiple of the middle one; those that are too small to matter are left out.
    term, tail, both = _PRECISION, 0, _PRECISION * (1 + total % 2)
    for number in range(total // 2, -1, -1):
        if number <= fewer:
            tail += term
        term = term * number // (total - number + 1)
        both += 2 * term
        if not term:
            break
    return min(1 << 64, ((tail << 129) // both + 1) >> 64)
