"""A meta-evaluation (`mores meta`): how well metrics agree with gold reports, in the forms of ExCAM."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mores.formatting import NOTHING, count, number, show_score, span
from mores.metaevaluation.folder import MetaRun
from mores.metaevaluation.records import (
    STATISTICS,
    Curve,
    Disagreement,
    JudgementComparison,
    Meta,
    MetricComparison,
    MetricEvaluation,
)
from mores.report.base.blocks import Fold, Frame, Heading, Hero, Notes, PageBlock, Paragraph, Ramp, Section, key
from mores.report.base.charts import IntervalRow, Intervals
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid
from mores.report.base.marks import MarkedSample, mark
from mores.report.base.names import group_name
from mores.report.base.plots import Axis, CurveLine, Curves, ScoreHistogram
from mores.report.base.text import plain
from mores.report.meta import tables
from mores.types import MUCH_MISSING, Result

__all__ = ["conclude", "describe", "describe_meta", "describe_versus", "markdown_tables"]

WIDE = 12
"""With more groups than this, groups are rows and metrics are columns in the terminal."""
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


def describe(run: MetaRun) -> ResultDocument:
    """Return the document of a run."""
    return describe_meta(run.result)


def describe_meta(meta: Meta, by: Sequence[str] = ("source",)) -> ResultDocument:
    """Return Table 4, breakdowns, curves, comparisons, disagreements, votes, and whether each judge is any good.

    The terminal shows the breakdown by `by`.
    """
    titles = TITLES | {name: f"By {name}" for name in meta.counts if name not in TITLES}
    groupings = [Section(name, title, _breakdown(meta, name)) for name, title in titles.items()]
    first = next((place for place, section in enumerate(groupings) if section.body), None)
    left_out = _left_out(meta)
    if first is not None:  # the colours are explained once
        groupings[first] = Section(groupings[first].id, groupings[first].title, [*groupings[first].body, COLOURS])
    elif left_out:
        left_out.append(COLOURS)
    quality = tables.statistics_table(meta, tables.QUALITY, "Spans and explanations")
    calibration = tables.calibration_table(meta)
    votes = [tables.vote_table(table) for table in meta.votes]
    table = tables.main_table(meta)
    groups = {name: tables.groups_of(meta, name) for name in by}
    split = {name: tables.breakdown(meta, name, groups[name]) for name in by}
    best_last = sorted(meta.advice, key=lambda advice: meta.best is not None and advice.metric == meta.best.metric)
    return ResultDocument(
        "meta-evaluation",
        meta.data,
        [
            *votes,
            *(grid.turn(name) if len(groups[name]) > WIDE else grid for name, grid in split.items()),
            table,
            conclude(meta),
            *(plain(advice.line) for advice in best_last),
        ],
        [
            Section("table", "Results", _results(meta, table) if meta.evaluations else []),
            Section("forest", "Intervals", _forest(meta)),
            *groupings,
            Section("left_out", "Left-out sources", left_out),
            Section("curves", "ROC and precision–recall", _curves(meta)),
            Section("distributions", "Scores", _distributions(meta)),
            Section("quality", "Spans and explanations", [quality] if quality else []),
            Section("confidence", "Confidence", [calibration] if calibration else []),
            Section("comparisons", "Comparisons", _comparisons(meta)),
            Section("disagreements", "Disagreements", _disagreements(meta)),
            Section("votes", "Votes of annotators", [block for vote in votes for block in (Heading(vote.title), vote)]),
            Section("notes", "Notes", [Notes(meta.notes)] if meta.notes else []),
        ],
        opening=_hero(meta),
        facts={
            "Split": meta.split,
            "Samples": count(meta.n),
            "Metrics": str(len(meta.evaluations)),
            "Revision": meta.revision,
        },
        signatures=[(e.metric, e.signature) for e in meta.evaluations if e.signature],
        look="report",
        name=f"{meta.data}, {meta.split}: meta-evaluation",
    )


def describe_versus(versus: JudgementComparison, shown: int = 1) -> ResultDocument:
    """Return the differences of two sets of judgements, in all and by every grouping, and what changed.

    The terminal shows the first groupings, so many.
    """
    changed, better = tables.changed_table(versus), tables.conclude_versus(versus)
    differences = {tables.NAMES[row.statistic]: row for row in versus.overall}
    more = f", {versus.left_out:,} more left out because one of them has no score" if versus.left_out else ""
    title = f"{versus.first} less {versus.second} on {versus.n:,} samples{more}"
    overall = tables.differences_table(differences, "statistic", title)
    sections = [Section("overall", "Differences", [_differences(differences, "All samples"), overall])]
    printed: list[Grid | str] = []
    for name, tests in versus.by.items():
        if not tests:
            printed.append(f"by {name}: no group has ten samples that both scored")
            continue
        rows = {group_name(name, group): test for group, test in tests.items()}
        statistic = next(iter(rows.values())).statistic
        what = "Scaled accuracy" if statistic == tables.MAIN else tables.NAMES[statistic]
        table = tables.differences_table(rows, name, f"{what} by {name}", adjusted=True)
        printed.append(table)
        sections.append(Section(name, f"By {name}", [_differences(rows, what), table]))
    return ResultDocument(
        "comparison",
        f"{versus.first} and {versus.second}",
        [*printed[:shown], *changed, overall, better],
        [*sections, Section("changed", "What changed", changed)],
        opening=[Paragraph(f"{better[0].upper()}{better[1:]}.")],
        facts={"Samples": count(versus.n), "Left out": count(versus.left_out)},
    )


def _differences(rows: Mapping[str, MetricComparison], title: str) -> Intervals:
    results = {name: Result(name=name, value=r.difference, low=r.low, high=r.high, n=r.n) for name, r in rows.items()}
    drawn = [IntervalRow(name, result, star=rows[name].significant) for name, result in results.items()]
    return Intervals(title, drawn, "number", zero="no difference")


def conclude(meta: Meta) -> str:
    """Return the best metric and its value, beside the value reached without the instruction."""
    top = meta.best
    if top is None:
        return "no metric has a score"
    return f"{top.metric}: {tables.shortcut_sentence(meta, top) or f'scaled accuracy {number(top.accuracy)}'}"


def markdown_tables(meta: Meta) -> str:
    """Return the tables of the paper in Markdown, and its heatmaps as numbers."""
    shown = [replace(tables.main_table(meta), title=f"{meta.data}, {meta.split}: agreement with the gold reports")]
    if groups := tables.groups_of(meta, "source"):
        shown.append(tables.breakdown(meta, "source", groups))
    if groups := tables.large(meta, "language"):
        title = "Scaled accuracy by language, those with more than 100 samples"
        shown.append(tables.breakdown(meta, "language", groups, title))
    shown += [tables.left_out_table(meta)] if meta.leave_one_out else []
    for trained in meta.leave_one_out:
        title = f"{trained.metric}: trained without a source, tested on each"
        shown.append(replace(tables.matrix(meta, trained), title=title))
    return "\n\n".join(table.markdown() for table in [*shown, *map(tables.vote_table, meta.votes)]) + "\n"


def _hero(meta: Meta) -> list[PageBlock]:
    top = meta.best
    if top is None:
        return []
    result, clear = top.scores[tables.MAIN], tables.significantly_best(meta, tables.MAIN) == top.metric
    counts = f"{top.n:,} scored, {top.unscored:,} unscored"
    sentence = tables.shortcut_sentence(meta, top) or NO_SHORTCUT
    words, interval = f" {_rank(meta, top, clear)}.", span(result.low, result.high)
    if result.whole and result.missing > MUCH_MISSING:
        interval = f"{span(*result.whole)} whatever the unscored are; {interval} if they are like the others"
    return [Hero(number(result.value, 3), interval, top.metric, words, counts, sentence)]


def _rank(meta: Meta, top: MetricEvaluation, clear: bool) -> str:
    highest = max((value for e in meta.evaluations if (value := e.accuracy) is not None), default=None)
    if highest is not None and highest > (top.accuracy or 0.0):
        above = next(e.metric for e in meta.evaluations if e.accuracy == highest)
        return f"has the highest scaled accuracy of all but baselines; the baseline {above} has {number(highest, 3)}"
    verdict = f", {'' if clear else 'not '}significantly better than all others" if len(meta.evaluations) > 1 else ""
    return f"has the highest scaled accuracy{verdict}"


def _results(meta: Meta, table: Grid) -> list[PageBlock]:
    sentences = {e.metric: tables.shortcut_sentence(meta, e) for e in meta.evaluations}
    rows = [
        (head._replace(note=sentences.get(head.label, "")), *row[1:])
        for head, row in zip(table.heads, table.rows, strict=True)
    ]
    rest = tables.statistics_table(
        meta, [n for n in STATISTICS if n not in (*tables.TABLE_4, *tables.QUALITY)], "Other statistics"
    )
    lead = (
        "S.Acc.: scaled accuracy, 0 is guessing; Kd: Kendall’s τ; T.Acc.: tie-calibrated accuracy. Brackets hold 95% "
        "intervals."
    )
    advice = [advice.line for advice in meta.advice]
    body: list[PageBlock] = (
        [Heading("Is it good enough for texts like these?"), Notes(advice), Paragraph(RULE)] if advice else []
    )
    body += [Paragraph(lead), replace(table, sections=[("", rows)])]
    return [*body, Fold("Other statistics", [rest])] if rest else body


def _forest(meta: Meta) -> list[PageBlock]:
    results = [(e, e.scores[tables.MAIN]) for e in meta.evaluations if e.accuracy is not None]
    rows = [IntervalRow(e.metric, result, baseline=e.baseline) for e, result in results]
    rows.sort(key=lambda row: -((row.result.value if row.result else None) or 0.0))
    shortcut = tables.value_of(meta.shortcut)
    references = {} if shortcut is None else {"shortcut, which never sees the instruction": shortcut}
    title = "Scaled accuracy with 95% intervals"
    return [Intervals(title, rows, "number", references, "0: guessing")] if rows else []


def _breakdown(meta: Meta, grouping: str) -> list[PageBlock]:
    groups = tables.groups_of(meta, grouping)
    if not groups:
        return []
    if grouping not in ("language", "region", "subregion"):
        lead = "Samples with such an error, and the correct samples of the same sources."
        body: list[PageBlock] = [Paragraph(lead)] if grouping == "kind" else []
        return [*body, tables.breakdown(meta, grouping, groups)]
    first = tables.large(meta, grouping)
    rest = [group for group in groups if group not in first]
    body = [tables.breakdown(meta, grouping, first).turn(grouping)] if first else []
    if rest:
        body.append(
            Fold(f"{len(rest)} with 100 samples or fewer", [tables.breakdown(meta, grouping, rest).turn(grouping)])
        )
    return body


def _left_out(meta: Meta) -> list[PageBlock]:
    if not meta.leave_one_out:
        return []
    body: list[PageBlock] = [Paragraph(LEFT_OUT), tables.left_out_table(meta)]
    for trained in meta.leave_one_out:
        body += [Heading("", [trained.metric], ": every model on every source"), tables.matrix(meta, trained)]
    return [*body, key("Outlined: the source that was left out.")]


def _curves(meta: Meta) -> list[PageBlock]:
    order = sorted(meta.evaluations, key=lambda e: -(tables.value_of(e.scores.get("auc")) or 0.0))
    roc = [_line(e, e.roc, "auc") for e in order if e.roc]
    pr = [_line(e, e.pr) for e in order if e.pr]
    title, x, y = "ROC, with the area under the curve", "false positive rate", "true positive rate"
    charts = [Curves(title, roc, Axis(x), y, "guessing")] if roc else []
    charts += [Curves("Precision and recall", pr, Axis("recall"), "precision")] if pr else []
    return [Frame(charts, "pair")] if charts else []


def _line(evaluation: MetricEvaluation, curve: Curve, statistic: str = "") -> CurveLine:
    area = tables.value_of(evaluation.scores.get(statistic))
    return CurveLine(evaluation.metric if area is None else f"{evaluation.metric} {number(area)}", curve.x, curve.y)


def _distributions(meta: Meta) -> list[PageBlock]:
    charts = [
        ScoreHistogram(e.metric, bars.edges, bars.counts, f"{e.unscored:,} unscored" if e.unscored else "")
        for e in meta.evaluations
        if (bars := e.distribution)
    ]
    return [Paragraph(SPREAD), Frame(charts, "many")] if charts else []


def _comparisons(meta: Meta) -> list[PageBlock]:
    grids = [tables.comparison(meta, statistic) for statistic in tables.compared(meta)]
    lead = Paragraph("On the samples that both metrics scored; p is two-sided, adjusted after Benjamini and Hochberg.")
    folds = [
        Fold(f"{table.title}: {count(len(table.rows), 'pair')}", [table], len(table.rows) <= SHORT and not place)
        for place, table in enumerate(grids)
    ]
    return [lead, *folds] if folds else []


class DisagreementCard(PageBlock, template="cards/meta.html.j2"):
    """A sample with its gold errors, and the scores, the highest first."""

    marked: MarkedSample
    kind: str
    places: Sequence[str]
    explanation: str
    scores: Sequence[tuple[str, str]]


def _disagreements(meta: Meta) -> list[PageBlock]:
    cards = [_card(place, disagreement) for place, disagreement in enumerate(meta.disagreements)]
    lead = (
        "Samples on which the metrics disagree, with the gold errors marked. Each metric has a different scale; higher "
        "is better."
    )
    rest = [Fold(f"{len(cards) - OPEN} more", cards[OPEN:])] if cards[OPEN:] else []
    return [Paragraph(lead), *cards[:OPEN], *rest] if cards else []


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
