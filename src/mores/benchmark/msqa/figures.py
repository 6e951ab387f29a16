"""The figures of short answers (MSQA, Section 3.4), and how hard an item is."""

from __future__ import annotations

from collections.abc import Mapping

from mores.benchmark.benchmark import Figure

TIERS = ("Easy", "Medium", "Hard")


FIGURES: Mapping[str, Figure] = {
    "F": Figure((1, 0, 0), (1, 1, 0.5)),
    "CO": Figure((1, 0, 0), (1, 1, 1)),
    "NA": Figure((0, 0, 1), (1, 1, 1)),
    "IN": Figure((0, 1, 0), (1, 1, 1)),
    "CGA": Figure((1, 0, 0), (1, 1, 0)),
}
"""Of the correct, incorrect and not attempted answers.

CO, IN and NA are shares of all answers; CGA is that of the correct ones among those that assert something; F is the
harmonic mean of CO and CGA, which is 2·correct / (all + attempted).
"""


def fifths(correct: int, graded: int) -> str:
    """Return the tier of an item: Easy when solved in more than 3 of 5 runs, Hard when in none, else Medium.

    Easy is the rule by which items were returned to their authors (Appendix C, Stage 3). The released items have no
    tiers and the paper gives no rule for the other two.
    """
    return "Easy" if 5 * correct > 3 * graded else "Medium" if correct else "Hard"
