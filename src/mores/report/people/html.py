"""The page of judges against people."""

from __future__ import annotations

from mores.formatting import number, span
from mores.metaevaluation.people.records import People
from mores.metaevaluation.people.session import PeopleRun, headline
from mores.report.base.blocks import Block, Hero, Notes, Section, Table, Text
from mores.report.base.charts import Intervals, Row
from mores.report.base.page import Page, render, signatures_section
from mores.report.base.sheet import Sheet
from mores.report.people.sheets import (
    beside_sheet,
    comparison_sheet,
    correlation_sheet,
    group_sheet,
    notes,
    span_sheet,
    worth_sheet,
)


def run_page(run: PeopleRun) -> str:
    """Return the page of a run."""
    people = run.result
    facts = {"Answers": f"{people.answers:,}", "Ratings": f"{people.ratings:,}", "People": f"{people.people:,}",
             "Revision": people.revision}  # fmt: skip
    return render(Page("report", "judges against people", people.data, run_sections(run), facts, hero=_hero(people)))


def run_sections(run: PeopleRun) -> list[Section]:
    """Correlations, groups, agreement between people, worth, marks and differences."""
    people = run.result
    lead = (
        "Correlation of a judge's scores with the mean of people's ratings; “same preference”: of two answers to a "
        "question that people rate differently, how often the judge prefers the same one. Brackets hold 95% intervals."
    )
    correlations = [(judge.judge, judge.scores["pearson"]) for judge in people.judges]
    rows = [Row(name, result) for name, result in correlations if result.value is not None]
    parts: dict[str, tuple[str, list[Sheet | None]]] = {
        "beside": ("Beside people", [beside_sheet(people)]),
        "worth": ("What a judge is worth", [worth_sheet(people)]),
        "spans": ("Marked spans", [span_sheet(people)]),
        "groups": ("Groups", [*(group_sheet(judge) for judge in people.judges if judge.by)]),
        "comparisons": ("Differences", [comparison_sheet(people.comparisons)]),
    }
    body: list[Block] = [Text(lead), Table(correlation_sheet(people))]
    return [
        Section("correlation", "Agreement", body),
        Section("intervals", "Intervals", [Intervals("Pearson r", rows, "number")] if rows else []),
        *(Section(id_, title, [Table(s) for s in sheets if s]) for id_, (title, sheets) in parts.items()),
        Section("notes", "Notes", [Notes(list(notes(people)))]),
        signatures_section([(people.data, run.signature)]),
    ]


def _hero(people: People) -> Hero | None:
    best = people.best
    if best is None:
        return None
    result = best.scores["pearson"]
    words = f" has the {'highest ' if len(people.judges) > 1 else ''}{headline(people).partition(': ')[2]}."
    return Hero(number(result.value), span(result.low, result.high), best.judge, words)
