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
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from mores.factory.drafts import Draft, draw
from mores.factory.items import Task
from mores.factory.shortcut import ROUNDS as STEPS
from mores.factory.shortcut import Integers, SeenTexts, gain, out_of_fold, see
from mores.factory.split import normalise

ROUNDS = 6
ENOUGH = 0.02
"""Scaled accuracy of the guesser at which balancing stops; in small strata half a standard error."""
CALIPER, NEAR = 10, 4
"""A pair differs by at most a tenth of a standard deviation of the odds, or by what `NEAR` drafts of a cell span."""

Folds = Mapping[str, int]
"""The fold of each item, by `source/id`."""


def paper(drafts: Sequence[Draft], folds: Folds, seed: int) -> list[Draft]:  # noqa: ARG001 - one signature for all
    """Return one correct and one wrong answer of each item that has both."""
    chosen: list[Draft] = []
    for of_item in _group(drafts, lambda d: d.item.id):
        wrong = _drawn((d for d in of_item if not d.correct), seed)
        if wrong:
            chosen += [next(d for d in of_item if d.correct), wrong[0]]
    return chosen


def shortcut_free(drafts: Sequence[Draft], folds: Folds, seed: int) -> list[Draft]:
    """Return as many correct as wrong answers, which cannot be told apart without the instruction."""
    by_fold = _group(drafts, lambda d: str(folds[d.item.name]))
    matched = [draft for of_fold in by_fold for draft in _match_texts(of_fold, seed)]
    used = {d.key for d in matched}
    busy = {d.item.id for d in matched if not d.correct}
    rest = [d for d in drafts if d.key not in used and (d.correct or d.item.id not in busy)]
    return matched + _match_looks(rest, folds, seed)


SAMPLINGS: dict[str, Callable[[Sequence[Draft], Folds, int], list[Draft]]] = {
    "paper": paper,
    "shortcut-free": shortcut_free,
}
"""Each returns pairs, one after the other: a correct and a wrong draft of one fold."""


def _match_texts(drafts: Sequence[Draft], seed: int) -> list[Draft]:
    """Return texts that are both, equally often correct and wrong, with at most one wrong answer of an item."""
    texts = _group(drafts, lambda d: normalise(d.answer))
    both = [same_text for same_text in texts if 0 < sum(d.correct for d in same_text) < len(same_text)]
    busy: set[str] = set()
    chosen: list[Draft] = []
    # The rarest first: they have least choice.
    for same_text in sorted(both, key=lambda group: (len(group), group[0].answer)):
        correct = _drawn((d for d in same_text if d.correct), seed)
        wrong: dict[str, Draft] = {}
        for draft in _drawn((d for d in same_text if not d.correct and d.item.id not in busy), seed):
            wrong.setdefault(draft.item.id, draft)
        pairs = list(zip(correct, wrong.values(), strict=False))
        busy.update(d.item.id for _, d in pairs)
        chosen += [draft for pair in pairs for draft in pair]
    return chosen


def _match_looks(drafts: Sequence[Draft], folds: Folds, seed: int) -> list[Draft]:
    ordered = sorted(drafts, key=lambda d: d.key)
    if not any(d.correct for d in ordered) or all(d.correct for d in ordered):
        return []
    everything = see_drafts(ordered, folds)
    cells = []
    for d in ordered:  # with the place among the options: outputs may name it, and sources do not shuffle well
        is_option = d.task is Task.QA and d.answer in d.item.options
        cells.append((folds[d.item.name], d.item.options.index(d.answer) if is_option else 0))
    places = [draw(seed, d.key) for d in ordered]
    rows = np.arange(len(ordered))
    odds = out_of_fold(everything, STEPS)
    for _ in range(ROUNDS):
        candidates = [(cells[row], value, row) for row, value in zip(rows.tolist(), odds.tolist(), strict=True)]
        order = sorted(candidates, key=lambda c: (*c[:2], places[c[2]]))
        values, count = odds.tolist(), len(odds)  # integers of any size, so that no sum is rounded
        variance = (count * sum(value * value for value in values) - sum(values) ** 2) // count**2
        span = max(count, CALIPER * NEAR * len({cells[row] for row in rows.tolist()}))
        pairs = _pair(order, ordered, math.isqrt(variance) * span // (CALIPER * count))
        rows = np.sort(pairs)
        seen = everything.take(rows)
        odds = out_of_fold(seen, STEPS)
        shortcut = gain(odds, seen.correct)
        if not len(rows) or shortcut.value <= max(shortcut.error / 2, ENOUGH):
            break
    return [ordered[row] for row in pairs]


_Candidate = tuple[tuple[int, int], int, int]
"""Fold and option, odds and row of a draft."""


def _pair(ranked: list[_Candidate], drafts: Sequence[Draft], caliper: float) -> Integers:
    """Return neighbours in a cell by their odds, one correct and one wrong; each item has at most one wrong answer."""
    waiting: dict[bool, deque[_Candidate]] = {True: deque(), False: deque()}
    busy: set[str] = set()
    chosen: list[int] = []
    for cell, odds, row in ranked:
        draft = drafts[row]
        if _taken(draft, busy):
            continue
        others = waiting[not draft.correct]
        while others and (others[0][0] != cell or odds - others[0][1] > caliper or _taken(drafts[others[0][2]], busy)):
            others.popleft()
        if not others:
            waiting[draft.correct].append((cell, odds, row))
            continue
        pair = (others.popleft()[2], row)
        busy.update(drafts[member].item.id for member in pair if not drafts[member].correct)
        chosen += pair
    return np.array(chosen, dtype=np.int64)


def _taken(draft: Draft, busy: set[str]) -> bool:
    return not draft.correct and draft.item.id in busy


def see_drafts(drafts: Sequence[Draft], folds: Folds) -> SeenTexts:
    """Return the answers, labels and folds of drafts, as the shortcut audit sees them."""
    return see([d.answer for d in drafts], [d.correct for d in drafts], [folds[d.item.name] for d in drafts])


def _group(drafts: Iterable[Draft], key: Callable[[Draft], str]) -> list[list[Draft]]:
    """Return drafts with the same key together, in the order of the keys."""
    groups: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[key(draft)].append(draft)
    return [groups[name] for name in sorted(groups)]


def _drawn(drafts: Iterable[Draft], seed: int) -> list[Draft]:
    return sorted(drafts, key=lambda d: draw(seed, d.key))
