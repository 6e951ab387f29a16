"""The page of judges on JuICE."""

from __future__ import annotations

from mores.formatting import number, span
from mores.metaevaluation.juice.records import PUBLISHED, STATISTICS, Juice
from mores.metaevaluation.juice.session import JuiceRun, headline
from mores.report.base.blocks import Block, Hero, Notes, Section, Table, Text, key
from mores.report.base.charts import Intervals, Row
from mores.report.base.page import Page, render, signatures_section
from mores.report.juice.sheets import data_notes, group_sheet, recall_sheet, score_sheet, shown_judges

GROUPINGS = {"region": "F1 by country", "language": "F1 by language", "language_type": "F1 in English and the language"}


def run_page(run: JuiceRun) -> str:
    """Return the page of a run."""
    juice = run.result
    facts = {"Answers": f"{juice.answers:,}", "Errors": f"{juice.errors:,}", "Overlap": f"{juice.threshold:g}",
             "Revision": juice.revision}  # fmt: skip
    return render(Page("report", "judges of cultural errors", "JuICE", run_sections(run), facts, hero=_hero(juice)))


def run_sections(run: JuiceRun) -> list[Section]:
    """Return the figures of every judge, the recall by kind of error, the countries and languages."""
    juice = run.result
    judges = [(judge, judge.scores["f1"]) for judge in juice.judges if judge.f1 is not None]
    rows = [Row(judge.judge, result, baseline=judge.kind == "baseline") for judge, result in judges]
    published = {f"{PUBLISHED[0].judge}, published": PUBLISHED[0].f1 or 0.0}
    lead = (
        f"A marked span finds an error if their intersection over union is at least {juice.threshold:g}; each finds, "
        "and is found, at most once. A sentence is wrong if an error overlaps it. Brackets hold 95% intervals."
    )
    other = [name for name in STATISTICS if name not in ("precision", "recall", "f1")]
    body: list[Block] = [Text(lead), Table(score_sheet(juice))]
    groups: list[Block] = [Table(group_sheet(juice, name, title)) for name, title in GROUPINGS.items()]
    return [
        Section("judges", "Judges", body),
        Section("intervals", "Intervals", [Intervals("F1 of spans", rows, "number", published)] if rows else []),
        Section(
            "recall", "Kinds of errors", [Table(recall_sheet(juice)), key("An error of several kinds is in each.")]
        ),
        Section("overlap", "Sentences and any overlap", [Table(score_sheet(juice, other))]),
        Section("groups", "Countries and languages", groups if shown_judges(juice.judges) else []),
        Section("notes", "Notes", [Notes(data_notes(juice))]),
        signatures_section([(judge.judge, judge.signature) for judge in juice.judges if judge.signature]),
    ]


def _hero(juice: Juice) -> Hero | None:
    best = juice.best
    if best is None:
        return None
    result = best.scores["f1"]
    words = f" has the highest {headline(juice).partition(': ')[2]}."
    return Hero(number(result.value), span(result.low, result.high), best.judge, words)
