"""How hard a question is: by how many of its graded answers, in any set of runs, are correct.

mores tiers RUN... --out tiers.jsonl
mores bench NAME --labels tiers.jsonl ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mores.benchmark.benchmark import Verdict, thirds
from mores.benchmark.folder import find_bench_runs
from mores.benchmark.labels import QuestionLabels
from mores.benchmark.msqa.figures import fifths
from mores.benchmark.score import tally
from mores.errors import ConfigError
from mores.io import JsonlWriter
from mores.types import Record

Rule = Callable[[int, int], str | None]
"""The tier of a question from how many answers are correct, and how many have a grade."""


RULES: Mapping[str, Rule] = {"thirds": thirds, "fifths": fifths}


def sort_questions(runs: Iterable[Iterable[Verdict]], rule: Rule) -> dict[str, str]:
    """Return the tier of each question that has one; answers without a grade do not count."""
    correct: Counter[str] = Counter()
    graded: Counter[str] = Counter()
    for run in runs:
        for unit, (hits, total) in tally(run).items():
            correct[unit] += hits
            graded[unit] += total
    return {unit: tier for unit, total in graded.items() if (tier := rule(correct[unit], total))}


class Tiers(Record):
    """How many questions each tier has."""

    counts: dict[str, int]
    without: int
    """Questions that no answer of which has a grade, or that the rule gives none."""
    answers: int
    """Answers to each question."""


def label_tiers(folders: Iterable[Path], out: Path, rule: str | None = None) -> Tiers:
    """Sort the questions of one benchmark by runs of it, in a file of labels; the rule is the benchmark's or named."""
    runs = list({run.path.resolve(): run for folder in folders for run in find_bench_runs(folder)}.values())
    results = [run.result for run in runs]
    names = sorted({result.benchmark for result in results})
    if len(names) > 1:
        raise ConfigError(f"these are runs of {', '.join(names)}; give runs of one benchmark")
    tiers = sort_questions((run.verdicts() for run in runs), RULES[rule] if rule else runs[0].benchmark().tier)
    with JsonlWriter(out) as writer:
        for unit, tier in tiers.items():
            writer.write(QuestionLabels(id=unit, labels={"tier": tier}))
    counts = Counter(tiers.values())
    return Tiers(
        counts={tier: counts[tier] for tier in ("Easy", "Medium", "Hard")},
        without=max(result.questions for result in results) - len(tiers),
        answers=sum(result.samples for result in results),
    )
