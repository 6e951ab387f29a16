"""Judges against people (`mores meta --data ratings:FILE`): correlation, agreement beside that of people, worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from mores.formatting import NOTHING, count, number, p_value, show_failures, span
from mores.metaevaluation.people.records import STATISTICS, People
from mores.metaevaluation.people.session import PeopleRun
from mores.report.base.blocks import Hero, Notes, Paragraph, Section
from mores.report.base.charts import IntervalRow, Intervals
from mores.report.base.document import ResultDocument
from mores.report.base.grid import UNADJUSTED, Cell, Grid, Head, count_cell, make_grid, number_cell
from mores.report.base.names import group_name
from mores.types import Result

BY = {"pearson": "Pearson r", "kendall": "Kendall τ", "people": "people's mean", "judge": "judge's mean",
      "multiple": "worth"}  # fmt: skip
WORTH = (
    "Worth: one answer that people rated counts as so many if the judge rates as many more as one likes, 1 / (1 − ρ²)."
)


def describe(run: PeopleRun) -> ResultDocument:
    """Return correlations, groups, agreement between people, worth, marks and differences."""
    people, best = run.result, run.result.best
    tables, notes = _tables(people), list(_notes(people))
    agreement, shown = _agreement(people), {name: [table] for name, table in tables.items() if table.rows}
    groups = _groups(people)
    lead = (
        "Correlation of a judge's scores with the mean of people's ratings; “same preference”: of two answers to a "
        "question that people rate differently, how often the judge prefers the same one. Brackets hold 95% intervals."
    )
    correlations = [(judge.judge, judge.scores["pearson"]) for judge in people.judges]
    rows = [IntervalRow(name, result) for name, result in correlations if result.value is not None]
    opening = []
    if best is not None:
        result, several = best.scores["pearson"], "highest " if len(people.judges) > 1 and people.decided else ""
        words = f" has the {several}{people.headline.partition(': ')[2]}."
        opening.append(Hero(number(result.value), span(result.low, result.high), best.judge, words))
    printed = [table for name in ("comparisons", "spans", "beside", "worth") for table in shown.get(name, ())]
    return ResultDocument(
        "judges against people",
        people.data,
        [*groups, *printed, replace(agreement, notes=notes), people.headline],
        [
            Section("correlation", "Agreement", [Paragraph(lead), agreement]),
            Section("intervals", "Intervals", [Intervals("Pearson r", rows, "number")] if rows else []),
            Section("beside", "Beside people", shown.get("beside", [])),
            Section("worth", "What a judge is worth", shown.get("worth", [])),
            Section("spans", "Marked spans", shown.get("spans", [])),
            Section("groups", "Groups", groups),
            Section("comparisons", "Differences", shown.get("comparisons", [])),
            Section("notes", "Notes", [Notes(notes)]),
        ],
        opening=opening,
        facts={
            "Answers": count(people.answers),
            "Ratings": count(people.ratings),
            "People": count(people.people),
            "Revision": people.revision,
        },
        signatures=[(people.data, run.signature)],
        look="report",
    )


def _agreement(people: People) -> Grid:
    """Return every judge's correlation with people's mean rating."""
    names = [name for name in STATISTICS if any(name in judge.scores for judge in people.judges)]
    rows = [
        (judge.judge, *(_cell(judge.scores.get(name)) for name in names), count_cell(judge.n, judge.unscored))
        for judge in people.judges
    ]
    title = f"Agreement with people's ratings of {count(people.answers, 'answer')}"
    return make_grid(title, ("judge", *(STATISTICS[name] for name in names), "answers"), rows)


def _groups(people: People) -> list[Grid]:
    """Return each judge by model, type and language."""
    return [
        make_grid(
            f"{judge.judge}, by group",
            ("group", *BY.values()),
            [
                (
                    Head(group_name(grouping, group), f"{grouping}, {results['people'].n:,}"),
                    *(_cell(results.get(name)) for name in BY),
                )
                for grouping, groups in judge.by.items()
                for group, results in groups.items()
            ],
            WORTH,
        )
        for judge in people.judges
        if judge.by
    ]


def _tables(people: People) -> dict[str, Grid]:
    """Return the differences, marks, agreement beside that of people, and worth; each may have no rows."""
    judges = people.judges
    worths = [(judge, judge.worth) for judge in judges if judge.worth]
    return {
        "comparisons": make_grid(
            "Differences between judges",
            ("judge", Head("difference", paper=f"difference [{UNADJUSTED}]"), "p", "adjusted p", "n"),
            [
                (
                    Head(f"{c.first} less {c.second}", STATISTICS[c.statistic]),
                    Cell(number(c.difference, signed=True), small=span(c.low, c.high, signed=True)),
                    p_value(c.p) if c.holds else NOTHING,
                    p_value(c.adjusted) if c.holds else NOTHING,
                    count_cell(c.n, c.missing),
                )
                for c in people.comparisons
            ],
        ),
        "spans": make_grid(
            "Marked spans",
            ("judge", "F1 with a person", "F1 between people", "κ with a person", "κ between people"),
            [
                (judge.judge, *map(_cell, (spans.judge, spans.people, spans.kappa, spans.people_kappa)))
                for judge in judges
                if (spans := judge.spans)
            ],
            "Over characters that were marked, whatever their labels; κ is what exceeds chance.",
        ),
        "beside": make_grid(
            "Judges beside people",
            ("judge", "judge with a person", "person with a person", "difference", "worth in people"),
            [
                (
                    judge.judge,
                    _cell(judge.with_person),
                    _cell(judge.between_people),
                    _cell(judge.difference, signed=True),
                    _cell(judge.worth.people if judge.worth else None),
                )
                for judge in judges
                if judge.with_person
            ],
            f"Correlations of single ratings, on the answers that several people rated ({people.shared:,}). Worth in "
            "people: the mean of so many people's ratings is as good as the judge.",
        ),
        "worth": make_grid(
            "What a judge is worth",
            ("judge", "each rated answer counts as", "rated", "judged only", "together worth"),
            [
                (judge.judge, _cell(worth.multiple), judge.n, worth.judged_only, _cell(worth.effective, 0))
                for judge, worth in worths
            ],
            "For the mean rating by people, estimated from people and judge together: if answers that only the judge "
            "rated are like those that people rated. See docs/meta.md.",
        ),
    }


def _notes(people: People) -> Iterator[str]:
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
    if not people.decided:
        yield (
            "Nobody can say what answers without a score would make of a correlation: where more than 2% have none, no "
            "difference between judges is tested. The interval of “same preference” covers them."
        )


def _cell(result: Result | None, digits: int = 2, *, signed: bool = False) -> Cell:
    """Return a result that may be infinite, as may the upper end of its interval."""
    if result is not None and result.value is not None and math.isinf(result.value):
        return Cell("∞", n=result.n)
    cell = number_cell(result, digits, signed=signed)
    if result and result.low is not None and result.high is not None and result.high >= 1e9 and cell.text != NOTHING:
        return cell._replace(small=f"[{number(result.low, digits)}, ∞]")
    return cell
