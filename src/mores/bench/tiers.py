"""How hard a question is: by how many of its graded answers, in any set of runs, are correct.

mores tiers RUN... --out tiers.jsonl
mores bench NAME --labels tiers.jsonl ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from mores.bench.benchmark import Verdict, thirds
from mores.bench.msqa.figures import fifths
from mores.bench.score import tally

Rule = Callable[[int, int], str | None]
"""The tier of a question from how many answers are correct, and how many have a grade."""


RULES: Mapping[str, Rule] = {"thirds": thirds, "fifths": fifths}


def sort_questions(runs: Iterable[Iterable[Verdict]], rule: Rule) -> dict[str, str]:
    """The tier of each question that has one; answers without a grade do not count."""
    correct: Counter[str] = Counter()
    graded: Counter[str] = Counter()
    for run in runs:
        for unit, (hits, total) in tally(run).items():
            correct[unit] += hits
            graded[unit] += total
    return {unit: tier for unit, total in graded.items() if (tier := rule(correct[unit], total))}
