"""The tables of judges on JuICE, for the page, the terminal and papers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
from mores.report.base.names import group_name
from mores.report.base.sheet import Cell, Head, Sheet
from mores.types import Result

KINDS = {"metric": "", "baseline": "baseline", "model": "detector", "human": "detector, a person"}
MAIN = ("precision", "recall", "f1", "sentence_f1")
PUBLISHED_NOTE = (
    "Published: the best two judges of the paper, whose overlap and sentences may be defined in another way than ours."
)


def score_sheet(juice: Juice, statistics: Sequence[str] = MAIN) -> Sheet:
    """Precision, recall and F1 of each judge, with the published ones below."""
    columns = [Head(STATISTICS[name]) for name in statistics] + [Head("answers"), Head("marked")]
    rows, cells = [], []
    for judge in juice.judges:
        note = "detectors, together" if judge.judge == EVERYBODY else KINDS[judge.kind]
        rows.append(Head(judge.judge, note, muted=judge.kind != "metric"))
        results = [_cell(judge.scores[name]) for name in statistics]
        failed = f"✕{judge.unscored:,}" if judge.unscored else ""
        cells.append([*results, Cell(f"{judge.answers:,}", small=failed), Cell(_marked(judge))])
    for published in PUBLISHED:
        rows.append(Head(published.judge, "published", muted=True))
        values = [getattr(published, name, None) for name in statistics]
        cells.append([*(Cell(number(value)) for value in values), Cell(NOTHING), Cell(NOTHING)])
    title = f"Errors found in {count(juice.answers, 'answer')}, at an overlap of {juice.threshold:g}"
    return Sheet(title, rows, columns, cells, PUBLISHED_NOTE)


def recall_sheet(juice: Juice) -> Sheet:
    """Return the share of errors that each judge found, by kind of error: a row for each kind."""
    kinds = [
        kind
        for kind in ("thin", "thick", *CATEGORIES, *TYPES, "found by people", "found by models", "found by people only")
        if any(kind in judge.recall for judge in juice.judges)
    ]
    judges = shown_judges(juice.judges)
    rows = [Head(kind, _note(kind)) for kind in kinds]
    cells = [[*(_cell(judge.recall.get(kind)) for judge in judges), Cell(_published(kind))] for kind in kinds]
    columns = [*(Head(judge.judge) for judge in judges), Head("published")]
    note = "Published: the lowest and the highest of the paper's judges, and the highest for errors found by people."
    return Sheet("Recall by kind of error", rows, columns, cells, note)


def group_sheet(juice: Juice, grouping: str, title: str) -> Sheet:
    """F1 of each judge by group."""
    judges = shown_judges(juice.judges)
    groups = sorted({group for judge in judges for group in judge.by.get(grouping, {})})
    rows = [Head(group_name(grouping, group)) for group in groups]
    cells = [[_cell(judge.by.get(grouping, {}).get(group)) for judge in judges] for group in groups]
    return Sheet(title, rows, [Head(judge.judge) for judge in judges], cells)


def shown_judges(judges: Iterable[JuiceScore]) -> list[JuiceScore]:
    """Return all but single people, of whom there are dozens: together they are one judge."""
    return [judge for judge in judges if judge.kind != "human" or judge.judge == EVERYBODY]


def data_notes(juice: Juice) -> list[str]:
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
    notes.append(
        "Detectors are judged by what the others marked; a person by the answers in which they marked something."
    )
    return [*notes, *juice.notes]


def _cell(result: Result | None) -> Cell:
    if result is None or result.value is None:
        return Cell(NOTHING)
    return Cell(number(result.value), result.value, span(result.low, result.high), n=result.n)


def _marked(judge: JuiceScore) -> str:
    lost = f" ({judge.unlocated:,} not in the text)" if judge.unlocated else ""
    return f"{judge.predicted:,}{lost}"


def _note(kind: str) -> str:
    return ("thin" if kind in THIN else "thick") if kind in PUBLISHED_RECALL else ""


def _published(kind: str) -> str:
    if kind == "found by people":
        return number(PUBLISHED_HUMAN)
    low, high = PUBLISHED_RECALL.get(kind, (None, None))
    return f"{number(low)}–{number(high)}" if low is not None else NOTHING
