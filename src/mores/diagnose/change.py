"""What changes between two runs on the same questions, how sure that is, and how it is said in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mores.bench.benchmark import Label
from mores.culture import language_name
from mores.diagnose.paired import Names, Pair, map_groups
from mores.errors import InputError
from mores.show import SIGNIFICANT, full_points, p_equals
from mores.stats.paired import mcnemar, paired_difference
from mores.stats.resampling import adjust_p_values
from mores.stats.results import mean_result
from mores.types import Record, Result

PERMUTATIONS = 10_000
FEW = 30
"""Below so many questions a paragraph says that there are few."""
GAIN = "gain"
PICKED = "groups that are picked because they stand out look more different than they are"


class Matrix(Record):
    """How many questions are correct in which of two runs."""

    both: int = 0
    first: int = 0
    """In the first only."""
    second: int = 0
    """In the second only."""
    neither: int = 0


class Change(Record):
    """What changes from one run to the other."""

    figures: dict[str, Result]
    """The share of correct answers in each, by name, and `gain`: the second less the first, with its interval."""
    matrix: Matrix
    p: float | None
    """Paired permutation test of the credit, two-sided; None without questions."""
    mcnemar: float | None
    """McNemar's exact test of the matrix."""
    adjusted: float | None = None
    """p, adjusted for the number of groups (Benjamini and Hochberg); None for the whole."""

    @property
    def gain(self) -> Result:
        """The second less the first."""
        return self.figures[GAIN]


By = dict[str, dict[str, Change]]
"""Grouping, group."""


def change_of(pairs: Sequence[Pair], names: Names, unscored: int = 0) -> Change:
    """Both shares, the gain with its interval, the matrix and both tests."""
    first, second = [pair.credits[0] for pair in pairs], [pair.credits[1] for pair in pairs]
    gain, matrix = Result(name=GAIN, value=None, unscored=unscored), matrix_of(pairs)
    change = paired_difference(second, first, permutations=PERMUTATIONS)
    if change is not None:
        measured = {"value": change.difference, "low": change.low, "high": change.high, "n": len(pairs)}
        gain = gain.model_copy(update=measured)
    return Change(
        figures={
            names[0]: mean_result(names[0], first, unscored=unscored),
            names[1]: mean_result(names[1], second, unscored=unscored), GAIN: gain,
        },
        matrix=matrix, p=change.p_value if change else None,
        mcnemar=mcnemar(matrix.first, matrix.second) if change else None,
    )  # fmt: skip


def changes_by(
    pairs: Sequence[Pair], groups: Sequence[Mapping[str, str]], names: Names
) -> dict[str, dict[str, Change]]:
    """The same by every grouping that has at least two groups, or one that is not all; p adjusted within each."""
    by = map_groups(lambda some: change_of(some, names), pairs, groups)
    for changes in by.values():
        fair = adjust_p_values([1.0 if change.p is None else change.p for change in changes.values()])
        for (group, change), p in zip(changes.items(), fair.tolist(), strict=True):
            changes[group] = change.model_copy(update={"adjusted": p})
    return by


def matrix_of(pairs: Iterable[Pair]) -> Matrix:
    """Questions by whether they are correct in each run."""
    cells = Counter((pair.first.right, pair.second.right) for pair in pairs)
    return Matrix(
        both=cells[True, True], first=cells[True, False], second=cells[False, True], neither=cells[False, False]
    )


class Uncertain(Record):
    """Questions that count as not right without being plainly wrong, by run."""

    declined: dict[str, int]
    """The answer declines, or says that it does not know."""
    ties: dict[str, int]
    """Exactly half of several answers are correct."""


def uncertain_of(pairs: Sequence[Pair], names: Names) -> Uncertain:
    """How many of them there are."""
    sides = {names[0]: [pair.first for pair in pairs], names[1]: [pair.second for pair in pairs]}
    return Uncertain(
        declined={name: sum(one.label is Label.NOT_ATTEMPTED for one in own) for name, own in sides.items()},
        ties={name: sum(one.credit == 0.5 for one in own) for name, own in sides.items()},
    )


# ---- words -----------------------------------------------------------------------------------------------------


def sureness(p: float | None, n: int) -> str:
    """How far a difference can be trusted."""
    few = f" There are only {n} questions, which is few: only a large difference would show." if n < FEW else ""
    if p is None:
        return "Nothing can be said of it." + few
    if p < SIGNIFICANT:
        return f"This is unlikely to be chance ({p_equals(p)}).{few}"
    return f"This may well be chance ({p_equals(p)}).{few}"


def uncertain_words(uncertain: Uncertain) -> str:
    """What counts as not right; nothing where there is none."""
    kinds = {"declined": uncertain.declined, "half right": uncertain.ties}
    told = [f"{n} {kind} {name}" for kind, own in kinds.items() for name, n in own.items() if n]
    return f"Counted as not right: {', '.join(told)}." if told else ""


def spoken(tag: str) -> str:
    """The name of a language; a tag that names none stays as it is."""
    try:
        return language_name(tag)
    except InputError:
        return tag


def language_words(by: By) -> str:
    """The languages at both ends, of those with enough questions to be named, said by the size and the direction."""
    changes = by.get("language", {}).items()
    large = [(name, one) for name, one in changes if one.gain.n >= FEW and one.gain.value is not None]
    if len(large) < 2:
        return ""
    (worst, least), *_, (best, most) = sorted(large, key=lambda one: one[1].gain.value or 0.0)
    high, low = most.gain.value or 0.0, least.gain.value or 0.0
    top, bottom = (f"({full_points(one.gain)})" for one in (most, least))
    if low < 0 < high:
        ends = f"{spoken(best)} gains most {top} and {spoken(worst)} loses most {bottom}"
    elif high > 0:
        ends = f"{spoken(best)} gains most {top} and {spoken(worst)} least {bottom}"
    elif low < 0:
        ends = f"{spoken(worst)} loses most {bottom} and {spoken(best)} least {top}"
    else:
        return "No language with enough questions changes."
    return f"Of the languages with enough questions, {ends}; {PICKED}."
