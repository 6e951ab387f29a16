"""Judges on JuICE (`mores meta --data juice:FILE`): what they find of the errors that people and models marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mores.formatting import NOTHING, count, number, span
from mores.metaevaluation.juice.data import CATEGORIES, THIN, TYPES
from mores.metaevaluation.juice.records import (
    PUBLISHED,
    PUBLISHED_HUMAN,
    PUBLISHED_RECALL,
    STATISTICS,
    Juice,
    JuiceScore,
)
from mores.metaevaluation.juice.score import EVERYBODY
from mores.metaevaluation.juice.session import JuiceRun
from mores.report.base.blocks import Hero, Notes, Paragraph, Section, key
from mores.report.base.charts import IntervalRow, Intervals
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid, Head, Row, count_cell, make_grid, number_cell
from mores.report.base.names import group_name

KINDS = {"metric": "", "baseline": "baseline", "model": "detector", "human": "detector, a person"}
MAIN = ("precision", "recall", "f1", "sentence_f1")
GROUPINGS = {"region": "F1 by country", "language": "F1 by language", "language_type": "F1 in English and the language"}
PUBLISHED_NOTE = (
    "Published: the best two judges of the paper, whose overlap and sentences may be defined in another way than ours."
)


def describe(run: JuiceRun) -> ResultDocument:
    """Return the figures of every judge, the recall by kind of error, the countries and languages."""
    juice, best = run.result, run.result.best
    scores, recall, notes = _scores(juice, MAIN), _recall(juice), _notes(juice)
    judges = [(judge, judge.scores["f1"]) for judge in juice.judges if judge.f1 is not None]
    rows = [IntervalRow(judge.judge, result, baseline=judge.kind == "baseline") for judge, result in judges]
    published = {f"{PUBLISHED[0].judge}, published": PUBLISHED[0].f1 or 0.0}
    lead = (
        f"A marked span finds an error if their intersection over union is at least {juice.threshold:g}; each finds, "
        "and is found, at most once. A sentence is wrong if an error overlaps it. Brackets hold 95% intervals."
    )
    other = [name for name in STATISTICS if name not in ("precision", "recall", "f1")]
    groups = [_groups(juice, name, title) for name, title in GROUPINGS.items()] if _shown(juice) else []
    intervals = [Intervals("F1 of spans", rows, "number", published)] if rows else []
    opening = []
    if best is not None:
        result, several = best.scores["f1"], "the highest " if juice.decided else ""
        words = f" has {several}{juice.headline.partition(': ')[2]}."
        opening.append(Hero(number(result.value), span(result.low, result.high), best.judge, words))
    return ResultDocument(
        "judges of cultural errors",
        "JuICE",
        [recall, replace(scores, notes=[*scores.notes, *notes]), juice.headline],
        [
            Section("judges", "Judges", [Paragraph(lead), scores]),
            Section("intervals", "Intervals", intervals),
            Section("recall", "Kinds of errors", [recall, key("An error of several kinds is in each.")]),
            Section("overlap", "Sentences and any overlap", [_scores(juice, other)]),
            Section("groups", "Countries and languages", groups),
            Section("notes", "Notes", [Notes(notes)]),
        ],
        opening=opening,
        facts={
            "Answers": count(juice.answers),
            "Errors": count(juice.errors),
            "Overlap": f"{juice.threshold:g}",
            "Revision": juice.revision,
        },
        signatures=[(judge.judge, judge.signature) for judge in juice.judges if judge.signature],
        look="report",
    )


def _scores(juice: Juice, statistics: Sequence[str]) -> Grid:
    """Return the figures of each judge, with the published ones below."""
    rows: list[Row] = []
    for judge in juice.judges:
        note = "detectors, together" if judge.judge == EVERYBODY else KINDS[judge.kind]
        lost = f" ({judge.unlocated:,} not in the text)" if judge.unlocated else ""
        results = [number_cell(judge.scores[name]) for name in statistics]
        head = Head(judge.judge, note, muted=judge.kind != "metric")
        rows.append((head, *results, count_cell(judge.answers, judge.unscored), f"{judge.predicted:,}{lost}"))
    for published in PUBLISHED:
        values = [number(getattr(published, name, None)) for name in statistics]
        rows.append((Head(published.judge, "published", muted=True), *values, NOTHING, NOTHING))
    title = f"Errors found in {count(juice.answers, 'answer')}, at an overlap of {juice.threshold:g}"
    columns = ("judge", *(STATISTICS[name] for name in statistics), "answers", "marked")
    return make_grid(title, columns, rows, PUBLISHED_NOTE)


def _recall(juice: Juice) -> Grid:
    """Return the share of errors that each judge found, by kind of error."""
    rows: list[Row] = []
    judges = _shown(juice)
    found = ("found by people", "found by models", "found by people only")
    for kind in ("thin", "thick", *CATEGORIES, *TYPES, *found):
        if any(kind in judge.recall for judge in juice.judges):
            published = number(PUBLISHED_HUMAN) if kind == "found by people" else NOTHING
            note = ""
            if kind in PUBLISHED_RECALL:
                published = "–".join(map(number, PUBLISHED_RECALL[kind]))
                note = "thin" if kind in THIN else "thick"
            rows.append((Head(kind, note), *(number_cell(judge.recall.get(kind)) for judge in judges), published))
    note = "Published: the lowest and the highest of the paper's judges, and the highest for errors found by people."
    columns = ("kind of error", *(judge.judge for judge in judges), "published")
    return make_grid("Recall by kind of error", columns, rows, note)


def _groups(juice: Juice, grouping: str, title: str) -> Grid:
    """Return F1 of each judge by group."""
    judges = _shown(juice)
    rows = [
        (group_name(grouping, group), *(number_cell(judge.by.get(grouping, {}).get(group)) for judge in judges))
        for group in sorted({group for judge in judges for group in judge.by.get(grouping, {})})
    ]
    return make_grid(title, ("group", *(judge.judge for judge in judges)), rows)


def _shown(juice: Juice) -> list[JuiceScore]:
    """Return all judges but single people, of whom there are dozens: together they are one judge."""
    return [judge for judge in juice.judges if judge.kind != "human" or judge.judge == EVERYBODY]


def _notes(juice: Juice) -> list[str]:
    """Return what the numbers rest on, and what is in none of them."""
    notes = [
        f"{count(juice.errors, 'error')} in {count(juice.sentences, 'sentence')}, marked by "
        f"{count(juice.annotations, 'annotation')}."
    ]
    if juice.unlocated:
        notes.append(
            f"Annotations whose words are not in the answer: {juice.unlocated:,}. Errors without another annotation, "
            f"which are in no recall: {juice.lost:,}."
        )
    if juice.elsewhere:
        notes.append(f"{count(juice.elsewhere, 'annotation')} found outside of the paragraphs that they name.")
    if requests := sum(judge.in_request for judge in juice.judges):
        notes.append(f"{count(requests, 'error')} that metrics marked in the request: in no number.")
    if not juice.decided:
        notes.append(
            "Nobody can say how many spans a metric would have marked in answers that it did not judge: where more "
            "than 2% were not, precision and F1 of spans show no difference between metrics. The intervals of recall "
            "and of the figures by sentence cover them."
        )
    notes.append(
        "Detectors are judged by what the others marked; a person by the answers in which they marked something."
    )
    return [*notes, *juice.notes]
