"""What is said of short answers (MSQA, Section 3.4), and how hard an item is."""

from __future__ import annotations

from collections.abc import Mapping

from mores.bench.benchmark import Counts, Figure, accuracy
from mores.stats.classification import Floats, ratios

TIERS = ("Easy", "Medium", "Hard")


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


def fifths(right: int, graded: int) -> str:
    """The tier of an item: Easy when solved in more than 3 of 5 runs, Hard when in none, else Medium.

    Easy is the rule by which items were returned to their authors (Appendix C, Stage 3). The released items have no
    tiers and the paper gives no rule for the other two.
    """
    return "Easy" if 5 * right > 3 * graded else "Medium" if right else "Hard"
