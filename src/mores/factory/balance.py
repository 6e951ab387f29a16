"""The choice of correct and wrong answers that go into a dataset.

| sampling | method |
| --- | --- |
| `paper` | one wrong answer for each correct one, drawn at random (ExCAM, Appendix E) |
| `shortcut-free` | the same number of each, chosen so that the answer alone does not tell which it is |

Shortcut-free, in each source, task and fold: (1) an answer text that is correct for some items and wrong for others is
used equally often as each; (2) of the remaining texts, a correct and a wrong one are paired if they are at the same
place among the options and look equally correct to a guesser fitted on the other folds; texts without a partner are
left out. This is repeated with a new guesser, until it does hardly better than chance. Folds are balanced one by one: a
balanced whole may have unbalanced parts, and one part would give away the other. All decisions rest on integers, so
the choice is the same on every processor. `mores.factory.audit` checks the result with classifiers of other kinds.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

import numpy as np

from mores.factory.columns import Integers
from mores.factory.drafts import Stratum, draw_number
from mores.factory.shortcut import ROUNDS as STEPS
from mores.factory.shortcut import SeenTexts, gain, out_of_fold
from mores.factory.split import normalise
from mores.factory.table import DraftTable

ROUNDS = 6
ENOUGH = 0.02
"""Scaled accuracy of the guesser at which balancing stops; in small strata half a standard error."""
CALIPER, NEAR = 10, 4
"""A pair differs by at most a tenth of a standard deviation of the odds, or by what `NEAR` drafts of a cell span."""


def paper(drafts: DraftTable, rows: Integers, seed: int) -> Integers:
    """Return one correct and one wrong answer of each item that has both."""
    rank, correct = drafts.items.rank[drafts.place[rows]], drafts.correct[rows]
    wrong = np.flatnonzero(~correct)
    first_wrong = wrong[np.lexsort((drafts.draws(rows[wrong], seed), rank[wrong]))]
    of_wrong, at_wrong = np.unique(rank[first_wrong], return_index=True)
    right = np.flatnonzero(correct)
    of_right, at_right = np.unique(rank[right], return_index=True)
    _, in_right, in_wrong = np.intersect1d(of_right, of_wrong, assume_unique=True, return_indices=True)
    pairs = rows[right[at_right[in_right]]], rows[first_wrong[at_wrong[in_wrong]]]
    return np.stack(pairs, axis=1).ravel()


def shortcut_free(drafts: DraftTable, rows: Integers, seed: int) -> Integers:
    """Return as many correct as wrong answers, which cannot be told apart without the instruction."""
    fold, busy = drafts.fold[rows], np.zeros(len(drafts.items), bool)
    matched = np.concatenate([_match_texts(drafts, rows[fold == of], seed) for of in np.unique(fold)])
    busy[drafts.place[matched[~drafts.correct[matched]]]] = True
    used = np.isin(drafts.sortable_key[rows], drafts.sortable_key[matched])
    rest = rows[~used & (drafts.correct[rows] | ~busy[drafts.place[rows]])]
    return np.concatenate([matched, _match_looks(drafts, rest, seed)])


SAMPLINGS: dict[str, Callable[[DraftTable, Integers, int], Integers]] = {
    "paper": paper,
    "shortcut-free": shortcut_free,
}
"""Each returns pairs, one after the other: a correct and a wrong draft of one fold, as their rows."""


def _match_texts(drafts: DraftTable, rows: Integers, seed: int) -> Integers:
    """Return texts that are both, equally often correct and wrong, with at most one wrong answer of an item."""
    by_text: dict[str, list[int]] = defaultdict(list)
    for row, answer in zip(rows.tolist(), drafts.answers(rows), strict=True):
        by_text[normalise(answer)].append(row)
    is_correct, places = drafts.correct, drafts.place
    several = [by_text[text] for text in sorted(text for text, same in by_text.items() if len(same) > 1)]
    both = [same_text for same_text in several if 0 < is_correct[same_text].sum() < len(same_text)]
    firsts = list(drafts.answers(same_text[0] for same_text in both))
    busy: set[int] = set()
    chosen: list[int] = []
    # The rarest first: they have least choice.
    for number in sorted(range(len(both)), key=lambda number: (len(both[number]), firsts[number])):
        same_text = np.array(both[number])
        ordered = same_text[np.argsort(drafts.draws(same_text, seed))]
        wrong: dict[int, int] = {}
        for row in ordered[~is_correct[ordered]].tolist():
            if (place := int(places[row])) not in busy:
                wrong.setdefault(place, row)
        pairs = list(zip(ordered[is_correct[ordered]].tolist(), wrong.items(), strict=False))
        busy.update(place for _, (place, _) in pairs)
        chosen += [row for correct, (_, other) in pairs for row in (correct, other)]
    return np.array(chosen, np.int64)


def _match_looks(drafts: DraftTable, rows: Integers, seed: int) -> Integers:
    ordered = rows[np.argsort(drafts.sortable_key[rows], kind="stable")]
    is_correct, item = drafts.correct[ordered], drafts.place[ordered]
    if is_correct.all() or not is_correct.any():
        return ordered[:0]
    everything = see_drafts(drafts, ordered)
    # With the place among the options: outputs may name it, and sources do not shuffle well.
    cells = (everything.folds.astype(np.int64) << 16) + drafts.option[ordered]
    draws = drafts.draws(ordered, seed)
    chosen = np.arange(len(ordered))
    odds = out_of_fold(everything, STEPS)
    for _ in range(ROUNDS):
        ranked = np.lexsort((draws[chosen], odds, cells[chosen]))
        count, numbers = len(odds), memoryview(odds.data)  # integers of any size, so that no sum is rounded
        variance = (count * sum(value * value for value in numbers) - sum(numbers) ** 2) // count**2
        span = max(count, CALIPER * NEAR * len(np.unique(cells[chosen])))
        caliper = math.isqrt(variance) * span // (CALIPER * count)
        rows, of_row = chosen[ranked], odds[ranked]
        starts = np.flatnonzero(np.diff(cells[rows], prepend=-1, append=-1)).tolist()
        busy, pairs = bytearray(len(drafts.items)), array("q")
        for start, end in pairwise(starts):
            in_cell = rows[start:end]
            looks = in_cell.tolist(), of_row[start:end].tolist(), is_correct[in_cell].tolist(), item[in_cell].tolist()
            pairs.extend(_pair(zip(*looks, strict=True), busy, caliper))
        chosen = np.sort(pairs)
        seen = everything.take(chosen)
        odds = out_of_fold(seen, STEPS)
        shortcut = gain(odds, seen.correct)
        if not pairs or shortcut.value <= max(shortcut.error / 2, ENOUGH):
            break
    return ordered[pairs]


_Candidate = tuple[int, int, bool, int]
"""Row and odds of a draft, whether it is correct, and its item."""


def _pair(ranked: Iterable[_Candidate], busy: bytearray, caliper: int) -> list[int]:
    """Return neighbours in a cell by their odds, one correct and one wrong; a wrong answer makes its item busy."""
    waiting: dict[bool, deque[_Candidate]] = {True: deque(), False: deque()}
    chosen: list[int] = []
    for candidate in ranked:
        row, odds, correct, item = candidate
        if not correct and busy[item]:
            continue
        others = waiting[not correct]
        while others and (odds - others[0][1] > caliper or (correct and busy[others[0][3]])):
            others.popleft()
        if not others:
            waiting[correct].append(candidate)
            continue
        other = others.popleft()
        busy[other[3] if correct else item] = True
        chosen += (other[0], row)
    return chosen


def see_drafts(drafts: DraftTable, rows: Integers) -> SeenTexts:
    """Return the answers, labels and folds of drafts, as the shortcut audit sees them."""
    return SeenTexts(drafts.looks[drafts.text[rows]], drafts.correct[rows], drafts.fold[rows])


def limit(drafts: DraftTable, chosen: Mapping[Stratum, Integers], *, most: int, seed: int) -> Integers:
    """Return at most `most` drafts of a source, in the pairs that a sampling made, in equal shares for its strata.

    The rest of a stratum's share goes to the strata with soft errors, which are smaller.
    """
    kept = [np.zeros(0, np.int64)]
    soft = drafts.soft
    for source in sorted({stratum[0] for stratum in chosen}):
        strata = [chosen[key].reshape(-1, 2) for key in sorted(chosen) if key[0] == source]
        strata.sort(key=lambda pairs: (bool(soft[pairs].any()), len(pairs)))
        room, left = most // 2, len(strata)
        equal = room // left
        for pairs in strata:
            share = room // left if soft[pairs].any() else equal
            keys = zip(*map(drafts.keys, pairs.T), strict=True)
            draws = np.fromiter((draw_number(seed, "limit", *pair) for pair in keys), np.uint64, len(pairs))
            taken = pairs[np.argsort(draws)[:share]]
            room, left = room - len(taken), left - 1
            kept.append(taken.ravel())
    return np.concatenate(kept)
