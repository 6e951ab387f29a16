"""The change between two runs on the same questions, its significance, and the words for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mores.benchmark.benchmark import Label
from mores.culture import language_name
from mores.diagnosis.paired import Names, QuestionPair, map_groups
from mores.errors import InputError
from mores.formatting import SIGNIFICANT, count, full_points, p_equals, to
from mores.stats.missing import decide
from mores.stats.paired import mcnemar, paired_difference
from mores.stats.resampling import adjust_p_values
from mores.stats.results import difference_result, mean_result
from mores.types import Record, Result

PERMUTATIONS = 10_000
FEW = 30
"""Below this many questions a paragraph says that there are few."""
GAIN = "gain"
PICKED = "the groups at both ends were selected, so they look more different than they are"


class Matrix(Record):
    """The numbers of questions that are correct in both, one or neither of two runs."""

    both: int = 0
    first: int = 0
    """Only in the first."""
    second: int = 0
    """Only in the second."""
    neither: int = 0


class RunChange(Record):
    """The changes from one run to another."""

    figures: dict[str, Result]
    """The share of correct answers in each, by name, and `gain`: the second minus the first, with its interval."""
    matrix: Matrix
    p: float | None
    """Paired permutation test of the credit, two-sided; None without questions."""
    mcnemar: float | None
    """McNemar's exact test of the matrix."""
    adjusted: float | None = None
    """p, adjusted for the number of groups (Benjamini and Hochberg); None for all questions together."""

    @property
    def gain(self) -> Result:
        """The second minus the first."""
        return self.figures[GAIN]


By = dict[str, dict[str, RunChange]]
"""Grouping, group."""


def change_of(pairs: Sequence[QuestionPair], names: Names, unscored: int = 0) -> RunChange:
    """Return both shares, the gain with its interval, the matrix and both tests."""
    first, second = [pair.credits[0] for pair in pairs], [pair.credits[1] for pair in pairs]
    gain, matrix = Result(name=GAIN, value=None, unscored=unscored), matrix_of(pairs)
    change = paired_difference(second, first, permutations=PERMUTATIONS)
    if change is not None:
        measured = {"value": change.difference, "low": change.low, "high": change.high, "n": len(pairs)}
        gain = gain.model_copy(update=measured)
    if unscored:
        nothing = [math.nan] * unscored
        missing = difference_result(GAIN, [*second, *nothing], [*first, *nothing])
        gain = gain.model_copy(update={"bounds": missing.bounds, "whole": missing.whole})
    return RunChange(
        figures={
            names[0]: mean_result(names[0], first, unscored=unscored),
            names[1]: mean_result(names[1], second, unscored=unscored), GAIN: gain,
        },
        matrix=matrix, p=change.p_value if change else None,
        mcnemar=mcnemar(matrix.first, matrix.second) if change else None,
    )  # fmt: skip


def changes_by(
    pairs: Sequence[QuestionPair], groups: Sequence[Mapping[str, str]], names: Names
) -> dict[str, dict[str, RunChange]]:
    """Return the change in every group of each grouping; p is adjusted within a grouping."""
    by = map_groups(lambda members: change_of(members, names), pairs, groups)
    for changes in by.values():
        fair = adjust_p_values([1.0 if change.p is None else change.p for change in changes.values()])
        for (group, change), p in zip(changes.items(), fair.tolist(), strict=True):
            changes[group] = change.model_copy(update={"adjusted": p})
    return by


def matrix_of(pairs: Iterable[QuestionPair]) -> Matrix:
    """Count questions by whether they are correct in each run."""
    cells = Counter((pair.first.correct, pair.second.correct) for pair in pairs)
    return Matrix(
        both=cells[True, True], first=cells[True, False], second=cells[False, True], neither=cells[False, False]
    )


class Uncertain(Record):
    """Questions that count as not correct but are not plainly incorrect, by run."""

    declined: dict[str, int]
    """The answer is a refusal, or says that the model does not know."""
    ties: dict[str, int]
    """Exactly half of several answers are correct."""


def uncertain_of(pairs: Sequence[QuestionPair], names: Names) -> Uncertain:
    """Count such questions in both runs."""
    sides = {names[0]: [pair.first for pair in pairs], names[1]: [pair.second for pair in pairs]}
    return Uncertain(
        declined={
            name: sum(asked.label is Label.NOT_ATTEMPTED for asked in questions) for name, questions in sides.items()
        },
        ties={name: sum(asked.credit == 0.5 for asked in questions) for name, questions in sides.items()},
    )


# ---- words -----------------------------------------------------------------------------------------------------


def significance_words(p: float | None, gain: Result) -> str:
    """Return whether a difference may be chance, or due to questions that could not be compared."""
    n = gain.n
    few = f" There are only {n} questions, so only a large difference would be significant." if n < FEW else ""
    if p is None:
        return "It cannot be tested." + few
    if p < SIGNIFICANT and gain.unscored and not decide(gain):
        ends = f", {to(*gain.whole)} points with them" if gain.whole else ""
        missing = f"but the {count(gain.unscored, 'question')} that could not be compared may explain it{ends}"
        return f"This is unlikely to be chance ({p_equals(p)}), {missing}.{few}"
    if p < SIGNIFICANT:
        return f"This is unlikely to be chance ({p_equals(p)}).{few}"
    return f"This may well be chance ({p_equals(p)}).{few}"


def uncertain_words(uncertain: Uncertain) -> str:
    """Return the answers that count as not correct; empty without any."""
    kinds = {"declined": uncertain.declined, "half correct": uncertain.ties}
    parts = [f"{n} {kind} {name}" for kind, counts in kinds.items() for name, n in counts.items() if n]
    return f"Counted as not correct: {', '.join(parts)}." if parts else ""


def language_label(tag: str) -> str:
    """Return the name of a language, or the tag itself if it is unknown."""
    try:
        return language_name(tag)
    except InputError:
        return tag


def language_words(by: By) -> str:
    """Return the languages that gain and lose the most, among those with enough questions."""
    changes = by.get("language", {}).items()
    large = [(name, change) for name, change in changes if change.gain.n >= FEW and change.gain.value is not None]
    if len(large) < 2:
        return ""
    (worst, least), *_, (best, most) = sorted(large, key=lambda entry: entry[1].gain.value or 0.0)
    high, low = most.gain.value or 0.0, least.gain.value or 0.0
    top, bottom = (f"({full_points(change.gain)})" for change in (most, least))
    if low < 0 < high:
        ends = f"{language_label(best)} gains the most {top} and {language_label(worst)} loses the most {bottom}"
    elif high > 0:
        ends = f"{language_label(best)} gains the most {top} and {language_label(worst)} the least {bottom}"
    elif low < 0:
        ends = f"{language_label(worst)} loses the most {bottom} and {language_label(best)} the least {top}"
    else:
        return "No language with enough questions changes."
    return f"Of the languages with enough questions, {ends}; {PICKED}."
