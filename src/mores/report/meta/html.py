"""The sections of the page for a meta-evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mores.formatting import NOTHING, count, number, show_score, span
from mores.metaevaluation.records import STATISTICS, Curve, Disagreement, Meta, MetricEvaluation
from mores.report.base.blocks import Block, Fold, Frame, Heading, Heat, Hero, Notes, Ramp, Section, Table, Text, key
from mores.report.base.blocks import Signatures as Signed
from mores.report.base.charts import Intervals, Row
from mores.report.base.marks import Marked, mark
from mores.report.base.names import group_name
from mores.report.base.page import Page, render
from mores.report.base.plots import Axis, Curves, Histogram, Line
from mores.report.base.sheet import Sheet
from mores.report.meta.sheets import (
    MAIN,
    QUALITY,
    TABLE_4,
    breakdown_sheet,
    compared,
    comparison_sheet,
    groups_of,
    headline_sheet,
    large,
    left_out_sheet,
    matrix_sheet,
    shortcut_sentence,
    significantly_best,
    statistics_sheet,
    value_of,
    vote_sheet,
)

OPEN = 5
"""Disagreements that are shown at once; the others are folded away."""
SHORT = 20
"""A list of comparisons that is not longer is open from the start."""
TITLES = {
    "source": "Sources",
    "language": "Languages",
    "region": "Regions",
    "subregion": "Parts of countries",
    "task": "Tasks",
    "kind": "Hard and soft errors",
}
COLOURS = key(
    "Scaled accuracy: 0 is guessing, 1 is perfect, below 0 is worse than guessing. “✕3”: three more could not be "
    "scored. Beside a name: its samples. Point at a cell for its interval and n.",
    Ramp(),
)
LEFT_OUT = (
    "“Left out”: each number is of a model that was trained without the source of its column. ALL (ID): trained and "
    "tested on everything. AVG (OOD): mean of the columns. The other metrics are tested unchanged, with what they "
    "may have learned from a source."
)
SPREAD = (
    "Share of each kind’s samples by score, in bars between the metric’s own edges. The better a metric, the further "
    "the correct samples are from the others."
)
RULE = (
    "Useful: the lower end of the interval is above 0, and a paired test against the best baseline is significant. Too "
    "few: neither is shown, but the judge may still be better than that baseline by 0.2 or more."
)
NO_SHORTCUT = "No shortcut was measured: how much of these numbers needs no instruction is not known."


def page(meta: Meta) -> str:
    """Return the whole page: one HTML file without scripts."""
    facts = {"Split": meta.split, "Samples": f"{meta.n:,}", "Metrics": str(len(meta.evaluations)),
             "Revision": meta.revision}  # fmt: skip
    name = f"{meta.data}, {meta.split}: meta-evaluation"
    return render(Page("report", "meta-evaluation", meta.data, sections(meta), facts, hero=_hero(meta), name=name))


def sections(meta: Meta) -> list[Section]:
    """Return every section of the page in its order; those without data have no blocks."""
    groupings = [Section(name, title, _breakdown(meta, name)) for name, title in TITLES.items()]
    first = next((place for place, section in enumerate(groupings) if section.body), None)
    left_out = _left_out(meta)
    if first is not None:  # the colours are explained once
        groupings[first] = Section(groupings[first].id, groupings[first].title, [*groupings[first].body, COLOURS])
    elif left_out:
        left_out.append(COLOURS)
    quality = statistics_sheet(meta, QUALITY, "Spans and explanations")
    votes = [block for table in meta.votes for block in (Heading(table.title), Table(vote_sheet(table)))]
    signatures = [(e.metric, e.signature) for e in meta.evaluations if e.signature]
    return [
        Section("table", "Results", _results(meta) if meta.evaluations else []),
        Section("forest", "Intervals", _forest(meta)),
        *groupings,
        Section("left_out", "Left-out sources", left_out),
        Section("curves", "ROC and precision–recall", _curves(meta)),
        Section("distributions", "Scores", _distributions(meta)),
        Section("quality", "Spans and explanations", [Table(quality)] if quality else []),
        Section("comparisons", "Comparisons", _comparisons(meta)),
        Section("disagreements", "Disagreements", _disagreements(meta)),
        Section("votes", "Votes of annotators", votes),
        Section("notes", "Notes", [Notes(meta.notes)] if meta.notes else []),
        Section("signatures", "Signatures", [Signed(signatures)] if signatures else []),
    ]


def _hero(meta: Meta) -> Hero | None:
    top = meta.best
    if top is None:
        return None
    result, clear = top.scores[MAIN], significantly_best(meta, MAIN) == top.metric
    return Hero(
        number(result.value, 3),
        span(result.low, result.high),
        top.metric,
        f" {_rank(meta, top, clear)}.",
        f"{top.n:,} scored, {top.unscored:,} unscored",
        shortcut_sentence(meta, top) or NO_SHORTCUT,
    )


def _rank(meta: Meta, top: MetricEvaluation, clear: bool) -> str:
    highest = max((value for e in meta.evaluations if (value := e.accuracy) is not None), default=None)
    if highest is not None and highest > (top.accuracy or 0.0):
        above = next(e.metric for e in meta.evaluations if e.accuracy == highest)
        return f"has the highest scaled accuracy of all but baselines; the baseline {above} has {number(highest, 3)}"
    verdict = f", {'' if clear else 'not '}significantly better than all others" if len(meta.evaluations) > 1 else ""
    return f"has the highest scaled accuracy{verdict}"


def _results(meta: Meta) -> list[Block]:
    sheet = headline_sheet(meta)
    sentences = [shortcut_sentence(meta, e) for e in meta.evaluations]
    sentences += [""] * (len(sheet.rows) - len(sentences))
    rows = [head._replace(note=sentence) for head, sentence in zip(sheet.rows, sentences, strict=True)]
    rest = statistics_sheet(meta, [n for n in STATISTICS if n not in (*TABLE_4, *QUALITY)], "Other statistics")
    lead = (
        "S.Acc.: scaled accuracy, 0 is guessing; Kd: Kendall’s τ; T.Acc.: tie-calibrated accuracy. Brackets hold 95% "
        "intervals."
    )
    advice = [advice.line for advice in meta.advice]
    body: list[Block] = (
        [Heading("Is it good enough for texts like these?"), Notes(advice), Text(RULE)] if advice else []
    )
    body += [Text(lead), Table(sheet._replace(rows=rows))]
    return [*body, Fold("Other statistics", [Table(rest)])] if rest else body


def _forest(meta: Meta) -> list[Block]:
    results = [(e, e.scores[MAIN]) for e in meta.evaluations if e.accuracy is not None]
    rows = [Row(e.metric, result, baseline=e.baseline) for e, result in results]
    rows.sort(key=lambda row: -((row.result.value if row.result else None) or 0.0))
    shortcut = value_of(meta.shortcut)
    references = {} if shortcut is None else {"shortcut, which never sees the instruction": shortcut}
    title = "Scaled accuracy with 95% intervals"
    return [Intervals(title, rows, "number", references, "0: guessing")] if rows else []


def _breakdown(meta: Meta, grouping: str) -> list[Block]:
    groups = groups_of(meta, grouping)
    if not groups:
        return []
    if grouping not in ("language", "region", "subregion"):
        lead = "Samples with such an error, and the correct samples of the same sources."
        body: list[Block] = [Text(lead)] if grouping == "kind" else []
        return [*body, Heat(breakdown_sheet(meta, grouping, groups))]
    first = large(meta, grouping)
    rest = [group for group in groups if group not in first]
    body = [Heat(breakdown_sheet(meta, grouping, first).turned())] if first else []
    if rest:
        sheet = breakdown_sheet(meta, grouping, rest).turned()
        body.append(Fold(f"{len(rest)} with 100 samples or fewer", [Heat(sheet)]))
    return body


def _left_out(meta: Meta) -> list[Block]:
    if not meta.leave_one_out:
        return []
    body: list[Block] = [Text(LEFT_OUT), Heat(left_out_sheet(meta))]
    for trained in meta.leave_one_out:
        sheet = matrix_sheet(meta, trained)
        body += [Heading("", [sheet.title], ": every model on every source"), Heat(sheet)]
    return [*body, key("Outlined: the source that was left out.")]


def _curves(meta: Meta) -> list[Block]:
    order = sorted(meta.evaluations, key=lambda e: -(value_of(e.scores.get("auc")) or 0.0))
    roc = [_line(e, e.roc, "auc") for e in order if e.roc]
    pr = [_line(e, e.pr) for e in order if e.pr]
    title, x, y = "ROC, with the area under the curve", "false positive rate", "true positive rate"
    charts = [Curves(title, roc, Axis(x), y, "guessing")] if roc else []
    charts += [Curves("Precision and recall", pr, Axis("recall"), "precision")] if pr else []
    return [Frame(charts, "pair")] if charts else []


def _line(evaluation: MetricEvaluation, curve: Curve, statistic: str = "") -> Line:
    area = value_of(evaluation.scores.get(statistic))
    return Line(evaluation.metric if area is None else f"{evaluation.metric} {number(area)}", curve.x, curve.y)


def _distributions(meta: Meta) -> list[Block]:
    charts = [
        Histogram(e.metric, bars.edges, bars.counts, f"{e.unscored:,} unscored" if e.unscored else "")
        for e in meta.evaluations
        if (bars := e.distribution)
    ]
    return [Text(SPREAD), Frame(charts, "many")] if charts else []


def _comparisons(meta: Meta) -> list[Block]:
    sheets = [comparison_sheet(meta, statistic) for statistic in compared(meta)]
    lead = Text("On the samples that both metrics scored; p is two-sided, adjusted after Benjamini and Hochberg.")
    folds = [_comparison(sheet, opened=len(sheet.rows) <= SHORT and not i) for i, sheet in enumerate(sheets)]
    return [lead, *folds] if folds else []


def _comparison(sheet: Sheet, *, opened: bool) -> Fold:
    return Fold(f"{sheet.title}: {count(len(sheet.rows), 'pair')}", [Table(sheet)], opened)


@dataclass(frozen=True)
class DisagreementCard(Block):
    """A sample with its gold errors, and the scores, the highest first."""

    template: ClassVar[str] = "meta/cards.html.j2"
    marked: Marked
    kind: str
    places: Sequence[str]
    explanation: str
    scores: Sequence[tuple[str, str]]


def _disagreements(meta: Meta) -> list[Block]:
    cards = [_card(place, disagreement) for place, disagreement in enumerate(meta.disagreements)]
    lead = (
        "Samples on which the metrics disagree, with the gold errors marked. Each metric has a different scale; higher "
        "is better."
    )
    rest = [Fold(f"{len(cards) - OPEN} more", cards[OPEN:])] if cards[OPEN:] else []
    return [Text(lead), *cards[:OPEN], *rest] if cards else []


def _card(place: int, disagreement: Disagreement) -> DisagreementCard:
    gold, sample = disagreement.gold, disagreement.gold.sample
    finite = {
        metric: score for metric, score in disagreement.scores.items() if score is not None and math.isfinite(score)
    }
    scores = [(metric, show_score(finite[metric])) for metric in sorted(finite, key=lambda m: -finite[m])]
    groups = (sample.source, group_name("language", sample.language or ""), group_name("region", sample.region or ""))
    return DisagreementCard(
        mark(place, sample, gold.report.errors),
        gold.kind,
        [*(name for name in groups if name and name != "not given"), gold.task],
        gold.report.explanation,
        scores + [(metric, NOTHING) for metric in disagreement.scores if metric not in finite],
    )
