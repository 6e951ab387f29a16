"""What is said of short answers (MSQA, Section 3.4), and how hard an item is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from mores.bench.benchmark import Counts, Figure, Label, Verdict, accuracy
from mores.stats.classification import Floats, ratios

TIERS = ("easy", "medium", "hard")


def not_attempted(counts: Counts) -> Floats:
    """NA: the share of answers that assert nothing wrong, and are not correct."""
    _, _, na = counts
    return ratios(na, counts.sum(axis=0))


def incorrect(counts: Counts) -> Floats:
    """IN: the share of answers that assert something wrong."""
    _, wrong, _ = counts
    return ratios(wrong, counts.sum(axis=0))


def correct_given_attempted(counts: Counts) -> Floats:
    """CGA: the share of correct answers among those that assert something."""
    right, wrong, _ = counts
    return ratios(right, right + wrong)


def f_score(counts: Counts) -> Floats:
    """F: the harmonic mean of CO and CGA, 2·right/(all + attempted); 0 where nothing is correct."""
    right, wrong, _ = counts
    return ratios(2 * right, counts.sum(axis=0) + right + wrong)


FIGURES: Mapping[str, Figure] = {
    "F": f_score,
    "CO": accuracy,
    "NA": not_attempted,
    "IN": incorrect,
    "CGA": correct_given_attempted,
}


def tiers(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """The tier of each item from graded runs: easy when solved in more than 3 of 5, hard when in none, else medium.

    Easy is the rule by which items were returned to their authors (Appendix C, Stage 3). The released items have no
    tiers and the paper gives no rule for the other two.
    """
    runs: Counter[str] = Counter()
    solved: Counter[str] = Counter()
    for verdict in verdicts:
        if verdict.label is not None:
            runs[verdict.item_id] += 1
            solved[verdict.item_id] += verdict.label is Label.CORRECT
    return {item: _tier(solved[item], count) for item, count in runs.items()}


def _tier(solved: int, runs: int) -> str:
    if 5 * solved > 3 * runs:
        return "easy"
    return "medium" if solved else "hard"
