"""Annotators' votes on the samples: the tables of the human validation (ExCAM, Section 4 and Appendix G).

A vote is one line with the sample, the annotator, the criterion and the value.

| criterion | values |
| --- | --- |
| `culture` | `yes`, `no`: the sample is about a culture |
| `error` | `valid`, `partial`, `invalid`: the marked words are a cultural error (`partial`: with other words) |
| `explanation` | `valid`, `partial`, `invalid` |
| `severity`, `type` | `yes`, `no`: the annotator agrees with it |
| `changed` | `yes`, `no`: the explanation changed the annotator's mind |
| `similarity:METRIC` | 1 to 5: how similar a metric's explanation is to the gold one |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mores.culture import language_name
from mores.errors import InputError
from mores.factory.gold import Gold
from mores.factory.validation import SampleVote
from mores.formatting import NOTHING, number
from mores.io import read_records
from mores.metaevaluation.records import AnnotationTable
from mores.stats.agreement import krippendorff_alpha
from mores.stats.distributions import summarise
from mores.types import Severity

YES_NO = ("yes", "no")
DEGREES = ("valid", "partial", "invalid")
CRITERIA = {
    "culture": YES_NO,
    "error": DEGREES,
    "explanation": DEGREES,
    "severity": YES_NO,
    "type": YES_NO,
    "changed": YES_NO,
}
SIMILARITY = "similarity:"
LEVELS = ("1", "2", "3", "4", "5")


class PositiveClass(NamedTuple):
    """The values of a criterion that count as yes."""

    criterion: str
    values: frozenset[str]


VALID, PARTIAL, YES = frozenset({"valid"}), frozenset({"valid", "partial"}), frozenset({"yes"})
CULTURE = PositiveClass("culture", YES)
ERROR, ERROR_PARTLY = PositiveClass("error", VALID), PositiveClass("error", PARTIAL)
EXPLANATION, EXPLANATION_PARTLY = PositiveClass("explanation", VALID), PositiveClass("explanation", PARTIAL)
SEVERITY, TYPE, CHANGED = (PositiveClass(name, YES) for name in ("severity", "type", "changed"))
TABLE_3 = {
    "Culture rel.": CULTURE,
    "Error valid (strict)": ERROR,
    "Error valid (partial)": ERROR_PARTLY,
    "Expl. valid (strict)": EXPLANATION,
    "Expl. valid (partial)": EXPLANATION_PARTLY,
}
TABLE_12 = {"Culture rel.": CULTURE, "Error valid": ERROR_PARTLY, "Expl. valid": EXPLANATION}

Ballots = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Criterion, sample, annotator: value."""


def read_votes(path: Path, golds: Iterable[Gold]) -> list[SampleVote]:
    """Return the votes of a file, each on a sample of the dataset."""
    ids = {gold.sample.id for gold in golds}
    votes = list(read_records(path, SampleVote))
    seen: set[tuple[str, str, str]] = set()
    for row, vote in enumerate(votes, 1):
        key = (vote.sample_id, vote.annotator, vote.criterion)
        if problem := _problem(vote, ids) or ("is a duplicate" if key in seen else None):
            raise InputError(f"{path}: vote {row}, {vote.annotator} on {vote.criterion} of {vote.sample_id}, {problem}")
        seen.add(key)
    return votes


def _problem(vote: SampleVote, ids: set[str]) -> str | None:
    if vote.sample_id not in ids:
        return "is on a sample that is not in the dataset; is it the dataset that was annotated?"
    allowed = LEVELS if vote.criterion.startswith(SIMILARITY) else CRITERIA.get(vote.criterion)
    if allowed is None:
        return f"has an unknown criterion; known are {', '.join(CRITERIA)} and {SIMILARITY}METRIC"
    return None if vote.value in allowed else f"is {vote.value!r}; expected one of {', '.join(allowed)}"


def vote_tables(votes: Iterable[SampleVote], golds: Iterable[Gold]) -> list[AnnotationTable]:
    """Return Tables 3, 12 and 13, the annotators' agreement and ratings of explanations, as far as there are votes."""
    ballots: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for vote in votes:
        ballots[vote.criterion][vote.sample_id][vote.annotator] = vote.value
    by_id = {gold.sample.id: gold for gold in golds}
    of_samples = (_shares(ballots), _languages(ballots, by_id), _majorities(ballots, by_id))
    return [table for table in (*of_samples, _alpha(ballots), _likert(ballots)) if table.rows]


def _shares(ballots: Ballots) -> AnnotationTable:
    """Table 3: by how many annotators agree, over the samples with the most annotators."""
    criteria = [ballots.get(positive.criterion, {}) for positive in TABLE_3.values()]
    most = max((len(ballot) for samples in criteria for ballot in samples.values()), default=0)
    columns = tuple(f"{count}/{most}" for count in range(most, -1, -1))
    rows: dict[str, tuple[str, ...]] = {}
    full = 0
    for name, positive in TABLE_3.items():
        counts = spread_votes(map(_values, ballots.get(positive.criterion, {}).values()), positive, most)
        if any(counts):
            full = max(full, sum(counts))
            rows[name] = tuple(percent(count, sum(counts)) for count in counts)
    note = f"Percent of the samples that {most} annotators judged (N={full}), by how many of them agree."
    return AnnotationTable(title="Vote distributions", columns=columns, rows=rows, note=note)


def _languages(ballots: Ballots, golds: Mapping[str, Gold]) -> AnnotationTable:
    """Table 12: majority votes by language, without English."""
    languages = sorted(
        {golds[sample].sample.language or "" for samples in ballots.values() for sample in samples} - {"", "en"}
    )
    rows: dict[str, tuple[str, ...]] = {}
    for name, positive in TABLE_12.items():
        samples = ballots.get(positive.criterion, {})
        parts = [
            [_values(b) for sample, b in samples.items() if golds[sample].sample.language == language]
            for language in languages
        ]
        if any(parts):
            rows.setdefault("N", tuple(str(len(part)) for part in parts))
            rows[name] = tuple(percent(count_majorities(part, positive), len(part)) for part in parts)
    columns = tuple(language_name(language) for language in languages)
    return AnnotationTable(title="Majority votes by language", columns=columns, rows=rows, note=MAJORITY)


MAJORITY = "More than half of a sample's annotators must agree: with two, both."


def _majorities(ballots: Ballots, golds: Mapping[str, Gold]) -> AnnotationTable:
    """Table 13: whether annotators agree with severity and type, and whether they changed their mind."""

    def severity(level: Severity) -> Callable[[str], bool]:
        return lambda sample: level in {error.severity for error in golds[sample].report.errors}

    table: list[tuple[str, PositiveClass, Callable[[str], bool]]] = [
        ("Severity OK (minor)", SEVERITY, severity(Severity.MINOR)),
        ("Severity OK (major)", SEVERITY, severity(Severity.MAJOR)),
        ("Type OK", TYPE, lambda _: True),
        ("Changed mind", CHANGED, lambda _: True),
    ]
    rows: dict[str, tuple[str, ...]] = {}
    for name, positive, fits in table:
        chosen = [_values(ballot) for sample, ballot in ballots.get(positive.criterion, {}).items() if fits(sample)]
        yes = count_majorities(chosen, positive)
        if chosen:
            rows[name] = (str(yes), str(len(chosen)), percent(yes, len(chosen)))
    return AnnotationTable(title="Auxiliary results", columns=("Yes", "N", "%"), rows=rows, note=MAJORITY)


def _alpha(ballots: Ballots) -> AnnotationTable:
    rows: dict[str, tuple[str, ...]] = {}
    for criterion, samples in ballots.items():
        people = sorted({name for ballot in samples.values() for name in ballot})
        level = "nominal" if criterion not in ("error", "explanation") else "ordinal"
        levels = LEVELS if criterion.startswith(SIMILARITY) else CRITERIA[criterion]
        ratings = [
            [levels.index(ballot[name]) if name in ballot else None for ballot in samples.values()] for name in people
        ]
        alpha = krippendorff_alpha(ratings, "interval" if criterion.startswith(SIMILARITY) else level)  # type: ignore[arg-type]
        if alpha is not None:
            rows[criterion] = (number(alpha, 3), str(len(samples)), str(len(people)))
    return AnnotationTable(
        title="Agreement of the annotators", columns=("Krippendorff's α", "samples", "people"), rows=rows
    )


def _likert(ballots: Ballots) -> AnnotationTable:
    """Return how similar explanations are to the gold ones (ExCAM, Section 5)."""
    rows: dict[str, tuple[str, ...]] = {}
    for criterion, samples in ballots.items():
        if criterion.startswith(SIMILARITY):
            summary = summarise([int(value) for ballot in samples.values() for value in ballot.values()])
            if summary:
                cells = (number(summary.mean), number(summary.sd), f"{summary.median:g}")
                rows[criterion.removeprefix(SIMILARITY)] = (*cells, str(summary.n), str(len(samples)))
    return AnnotationTable(
        title="Explanations, 1 to 5", columns=("mean", "sd", "median", "ratings", "samples"), rows=rows
    )


def _values(ballot: Mapping[str, str]) -> list[str]:
    return list(ballot.values())


def spread_votes(ballots: Iterable[Sequence[str]], positive: PositiveClass, people: int) -> tuple[int, ...]:
    """Count the samples that so many people judged by how many of them say yes, from all to none (Table 3)."""
    yes = [sum(value in positive.values for value in ballot) for ballot in ballots if len(ballot) == people]
    return tuple(yes.count(count) for count in range(people, -1, -1))


def holds(ballot: Sequence[str], positive: PositiveClass) -> bool:
    """Return whether more than half of a sample's people say yes; of two, both must."""
    return 2 * sum(value in positive.values for value in ballot) > len(ballot)


def count_majorities(ballots: Iterable[Sequence[str]], positive: PositiveClass) -> int:
    """Count the samples for which a majority says yes (Tables 12 and 13)."""
    return sum(holds(ballot, positive) for ballot in ballots)


def percent(part: int, total: int) -> str:
    """Return `61.2`, rounded once, from the counts, as the paper's figures are."""
    return number(100 * part / total, 1) if total else NOTHING
