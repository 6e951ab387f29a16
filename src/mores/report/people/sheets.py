"""The tables of judges against people, for the page, the terminal and papers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mores.formatting import NOTHING, count, number, p_value, show_failures, span
from mores.metaevaluation.people.records import STATISTICS, People, PeopleScore
from mores.metaevaluation.records import MetricComparison
from mores.report.base.names import group_name
from mores.report.base.sheet import Cell, Head, Sheet
from mores.types import Result

BY = {"pearson": "Pearson r", "kendall": "Kendall τ", "people": "people's mean", "judge": "judge's mean",
      "multiple": "worth"}  # fmt: skip
WORTH = (
    "Worth: one answer that people rated counts as so many if the judge rates as many more as one likes, 1 / (1 − ρ²)."
)


def correlation_sheet(people: People) -> Sheet:
    """Return every judge's correlation with people's mean rating."""
    shown = [name for name in STATISTICS if any(name in judge.scores for judge in people.judges)]
    rows = [Head(judge.judge) for judge in people.judges]
    cells = [
        [*(_cell(judge.scores.get(name)) for name in shown), Cell(f"{judge.n:,}", small=_unscored(judge))]
        for judge in people.judges
    ]
    title = f"Agreement with people's ratings of {count(people.answers, 'answer')}"
    return Sheet(title, rows, [*(Head(STATISTICS[name]) for name in shown), Head("answers")], cells)


def group_sheet(judge: PeopleScore) -> Sheet:
    """Return one judge by model, type and language."""
    rows, cells = [], []
    for grouping, groups in judge.by.items():
        for group, results in groups.items():
            rows.append(Head(group_name(grouping, group), f"{grouping}, {results['people'].n:,}"))
            cells.append([_cell(results.get(name)) for name in BY])
    return Sheet(f"{judge.judge}, by group", rows, [Head(name) for name in BY.values()], cells, WORTH)


def beside_sheet(people: People) -> Sheet | None:
    """Judge with a person beside person with a person; None where nobody rated the same answer as another."""
    judges = [judge for judge in people.judges if judge.with_person]
    if not judges:
        return None
    columns = [Head("judge with a person"), Head("person with a person"), Head("difference"), Head("worth in people")]
    cells = [
        [_cell(j.with_person), _cell(j.between_people), _cell(j.difference, signed=True),
         _cell(j.worth.people if j.worth else None)]
        for j in judges
    ]  # fmt: skip
    note = (
        f"Correlations of single ratings, on the answers that several people rated ({people.shared:,}). Worth in "
        "people: the mean of so many people's ratings is as good as the judge."
    )
    return Sheet("Judges beside people", [Head(judge.judge) for judge in judges], columns, cells, note)


def worth_sheet(people: People) -> Sheet | None:
    """Return how many rated answers a judge's scores stand for."""
    judges = [(judge, judge.worth) for judge in people.judges if judge.worth]
    if not judges:
        return None
    columns = [Head("each rated answer counts as"), Head("rated"), Head("judged only"), Head("together worth")]
    cells = []
    for judge, worth in judges:
        counted = _cell(worth.effective, digits=0) if worth.effective else Cell(NOTHING)
        cells.append([_cell(worth.multiple), Cell(f"{judge.n:,}"), Cell(f"{worth.judged_only:,}"), counted])
    note = (
        "For the mean rating by people, estimated from people and judge together: if answers that only the judge rated "
        "are like those that people rated. See docs/meta.md."
    )
    return Sheet("What a judge is worth", [Head(judge.judge) for judge, _ in judges], columns, cells, note)


def span_sheet(people: People) -> Sheet | None:
    """F1 of marked characters, judge with person beside person with person."""
    judges = [(judge, judge.spans) for judge in people.judges if judge.spans]
    if not judges:
        return None
    columns = [Head("F1 with a person"), Head("F1 between people"), Head("κ with a person"), Head("κ between people")]
    cells = [[_cell(s.judge), _cell(s.people), _cell(s.kappa), _cell(s.people_kappa)] for _, s in judges]
    note = "Over characters that were marked, whatever their labels; κ is what exceeds chance."
    return Sheet("Marked spans", [Head(judge.judge) for judge, _ in judges], columns, cells, note)


def comparison_sheet(comparisons: tuple[MetricComparison, ...]) -> Sheet | None:
    """Return every two judges."""
    if not comparisons:
        return None
    rows = [Head(f"{c.first} less {c.second}", STATISTICS[c.statistic]) for c in comparisons]
    cells = [
        [Cell(number(c.difference, signed=True), small=span(c.low, c.high, signed=True)), Cell(p_value(c.p)),
         Cell(p_value(c.adjusted)), Cell(f"{c.n:,}")]
        for c in comparisons
    ]  # fmt: skip
    return Sheet("Differences between judges", rows, list(map(Head, ("difference", "p", "adjusted p", "n"))), cells)


def notes(people: People) -> Iterator[str]:
    """Yield what the numbers rest on."""
    yield (
        f"{count(people.ratings, 'rating')} of {count(people.answers, 'answer')} by "
        f"{'1 person' if people.people == 1 else f'{people.people:,} people'}; answers to one question are kept "
        "together in intervals and tests."
    )
    if people.alpha is None:
        yield "Nobody rated the same answer as another person: how far people agree with each other is not known."
    else:
        alpha = f"{number(people.alpha.value)} {span(people.alpha.low, people.alpha.high)}".rstrip()
        yield f"Krippendorff's α of people's ratings of {people.shared:,} answers: {alpha}."
    if people.unrated:
        yield f"Answers without a rating, in no number: {people.unrated:,}."
    for judge in people.judges:
        if judge.failures:
            yield f"{judge.judge}: {show_failures(judge.failures)}; in no number."


def _unscored(judge: PeopleScore) -> str:
    return f"✕{judge.unscored:,}" if judge.unscored else ""


def _cell(result: Result | None, digits: int = 2, *, signed: bool = False) -> Cell:
    if result is None or result.value is None:
        return Cell(NOTHING)
    low, high = result.low, result.high
    if math.isinf(result.value):
        return Cell("∞", n=result.n)
    interval = span(low, high, digits, signed=signed)
    if low is not None and high is not None and (math.isinf(high) or high >= 1e9):
        interval = f"[{number(low, digits)}, ∞]"
    return Cell(number(result.value, digits, signed=signed), result.value, interval, n=result.n)
