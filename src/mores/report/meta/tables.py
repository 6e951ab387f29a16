"""The tables of a meta-evaluation, in the forms of ExCAM."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from mores.formatting import NOTHING, SIGNIFICANT, count, left_out, number, p_value, show_failures, span
from mores.metaevaluation.people.records import STATISTICS as PEOPLE
from mores.metaevaluation.records import (
    STATISTICS,
    AnnotationTable,
    JudgementComparison,
    LeaveOneOut,
    Meta,
    MetricComparison,
    MetricEvaluation,
)
from mores.report.base.grid import UNADJUSTED, Cell, Grid, Head, Heat, Row, make_grid
from mores.report.base.names import group_name
from mores.stats.calibration import ACCURACY, AUROC, BRIER, CHANCE, CONFIDENCE, ECE
from mores.types import Result

MAIN = "scaled_accuracy"
TABLE_4 = ("scaled_accuracy", "kendall", "tie_accuracy")
QUALITY = ("span_f1", "span_f1_tokens", "span_f1_severity", "explanation_verbatim", "explanation")
MANY = 100
"""A group with more samples than this is always shown (ExCAM, Figure 10)."""
ALL_TRAINED = "none"
"""The row of a leave-one-out matrix for which nothing was left out."""
BETTER = "* significantly better than all others in the column (adjusted p < 0.05)."
APART = "* its 95% interval lies above those of all the others"
EMPTY = Cell(NOTHING)
NAMES = {**PEOPLE, **STATISTICS, "score": "mean score", "error_free": "without error", "credit": "correct"}
CHANGED = 10
"""Changed texts that are shown, of those where the first is better and of the others."""
WIDTHS = 36, 19, 19
"""Characters of what was asked, of A and of B, for a terminal of 80 columns."""


# ---- single numbers --------------------------------------------------------------------------------------------


def value_of(result: Result | None) -> float | None:
    """Return the value, when there is one and it is a number."""
    return result.value if result and result.value is not None and math.isfinite(result.value) else None


def shortcut_sentence(meta: Meta, evaluation: MetricEvaluation) -> str:
    """Return how much of a metric's scaled accuracy a classifier gets that never sees the instruction."""
    value, shortcut = evaluation.accuracy, value_of(meta.shortcut)
    if value is None or shortcut is None:
        return ""
    mine, its = number(value), number(shortcut)
    if value > shortcut:
        return f"Of this metric’s {mine}, a classifier that never sees the instruction gets {its}."
    return f"This metric’s {mine} is no more than the {its} of a classifier that never sees the instruction."


def _cell(where: str, result: Result | None, *, digits: int = 2, star: bool = False, interval: bool = False) -> Cell:
    """Return a result: what could not be scored is beside it, and everything else in the tooltip."""
    if result is None:
        return EMPTY
    value, ends = value_of(result), span(result.low, result.high, 3)
    unscored = f"{result.unscored:,} unscored" if result.unscored else ""
    shown = " ".join(filter(None, [number(value, 3), ends]))
    unscored += f" ({span(*result.whole, 3)} whatever they are)" if result.whole else ""
    hint = ", ".join(filter(None, [f"{where}: {shown}", f"n = {result.n:,}", unscored]))
    small = ends if interval else left_out(result.unscored)
    return Cell(number(value, digits), value, small, hint, star and value is not None, n=result.n)


# ---- which differences are real --------------------------------------------------------------------------------


def significantly_best(meta: Meta, statistic: str) -> str | None:
    """Return the metric that is better than each other one, all with an adjusted p below 0.05; None without one."""
    values = {e.metric: v for e in meta.evaluations if (v := value_of(e.scores.get(statistic))) is not None}
    return _best_of(values, [c for c in meta.comparisons if c.statistic == statistic])


def best_in_group(meta: Meta, grouping: str, group: str) -> str | None:
    """Return the same in one group, by scaled accuracy."""
    results = {e.metric: e.by.get(grouping, {}).get(group, {}).get(MAIN) for e in meta.evaluations}
    values = {metric: v for metric, result in results.items() if (v := value_of(result)) is not None}
    return _best_of(values, [c for c in meta.group_comparisons if (c.grouping, c.group) == (grouping, group)])


def _best_of(values: Mapping[str, float], comparisons: Iterable[MetricComparison]) -> str | None:
    if len(values) < 2:
        return None
    top = max(values, key=values.__getitem__)
    real = [c for c in comparisons if c.significant and c.difference]
    pairs = [(c.first, c.second) if c.difference > 0 else (c.second, c.first) for c in real]
    return top if set(values) - {top} <= {worse for better, worse in pairs if better == top} else None


def _apart(results: Sequence[Result | None]) -> int | None:
    """Return the place of the result whose interval lies above all the others; None when there is none."""
    places = [i for i, result in enumerate(results) if value_of(result) is not None]
    if len(places) < 2:
        return None
    top = max(places, key=lambda i: value_of(results[i]) or 0.0)
    low = results[top].low if results[top] else None  # type: ignore[union-attr]
    highs = [r.high for i in places if i != top and (r := results[i]) is not None]
    return top if low is not None and all(high is not None and high < low for high in highs) else None


# ---- the forms of the paper ------------------------------------------------------------------------------------


def main_table(meta: Meta) -> Grid:
    """Return Table 4 with intervals and failures, the shortcut last; a star is what the paper underlines."""
    stars = {name: significantly_best(meta, name) for name in TABLE_4}
    rows: list[Row] = [(_head(e), *_scores(e, TABLE_4, stars), e.n, e.unscored) for e in meta.evaluations]
    if shortcut := meta.shortcut:
        head = Head("shortcut, which never sees the instruction", muted=True)
        rows.append(
            (head, _cell("shortcut", shortcut, digits=3, interval=True), None, None, shortcut.n, shortcut.unscored)
        )
    note = BETTER if any(stars.values()) else "No metric is significantly better than all others."
    notes = [note] if len(meta.evaluations) > 1 else []
    columns = ("metric", *(STATISTICS[name] for name in TABLE_4), "n", "unscored")
    return make_grid("Agreement with the gold reports", columns, rows, " ".join(notes + _unscored(meta.evaluations)))


def statistics_table(meta: Meta, names: Iterable[str], title: str) -> Grid | None:
    """Return the statistics among `names` that some metric has, and the metrics that have any."""
    available = [n for n in names if any(value_of(e.scores.get(n)) is not None for e in meta.evaluations)]
    if not available:
        return None
    stars = {name: significantly_best(meta, name) for name in available}
    able = [e for e in meta.evaluations if any(value_of(e.scores.get(n)) is not None for n in available)]
    columns = ("metric", *(STATISTICS.get(name, name) for name in available), "unscored")
    notes = [BETTER] if any(stars.values()) else []
    rows = [(_head(e), *_scores(e, available, stars), e.unscored) for e in able]
    return make_grid(title, columns, rows, " ".join(notes + _unscored(able)))


def calibration_table(meta: Meta) -> Grid | None:
    """Return how well the confidence of the metrics that state one predicts whether their verdicts are correct."""
    names = (ECE, CHANCE, BRIER, CONFIDENCE, ACCURACY, AUROC)
    rows: list[Row] = []
    for each in (each for each in meta.evaluations if each.calibration):
        cells = (_cell(f"{each.metric}, {name}", each.calibration[name], digits=3, interval=True) for name in names)
        rows.append((_head(each), *cells))
    note = (
        "Accuracy is the share of correct verdicts. ECE is in percentage points; by chance it is what a perfectly"
        " calibrated metric would have on so many samples."
    )
    return make_grid("Confidence", ("metric", *names), rows, note) if rows else None


def _head(evaluation: MetricEvaluation) -> Head:
    return Head(evaluation.metric, muted=evaluation.baseline)


def _scores(evaluation: MetricEvaluation, names: Iterable[str], stars: dict[str, str | None]) -> list[Cell]:
    return [
        _cell(
            f"{evaluation.metric}, {STATISTICS.get(name, name)}",
            evaluation.scores.get(name),
            digits=3,
            star=stars.get(name) == evaluation.metric,
            interval=True,
        )
        for name in names
    ]


def _unscored(evaluations: Iterable[MetricEvaluation]) -> list[str]:
    """Return why samples have no score, in a sentence, if there are any."""
    why = [f"{e.metric}: {show_failures(e.failures)}" for e in evaluations if any(e.failures.values())]
    return [f"Unscored: {'; '.join(why)}."] if why else []


def groups_of(meta: Meta, grouping: str) -> list[str]:
    """Return the groups of a grouping that have any result, the largest first."""
    counts = meta.counts.get(grouping, {})
    seen = dict.fromkeys(group for e in meta.evaluations for group in e.by.get(grouping, {}))
    return sorted(seen, key=lambda group: (-counts.get(group, 0), group))


def large(meta: Meta, grouping: str) -> list[str]:
    """Return the groups with more than 100 samples."""
    return [group for group in groups_of(meta, grouping) if meta.counts.get(grouping, {}).get(group, 0) > MANY]


def breakdown(meta: Meta, grouping: str, groups: Sequence[str], title: str = "") -> Grid:
    """Return scaled accuracy of each metric by group (Figures 4 and 10)."""
    table = [[e.by.get(grouping, {}).get(group, {}).get(MAIN) for group in groups] for e in meta.evaluations]
    counts = meta.counts.get(grouping, {})
    columns = [Head(group_name(grouping, g), count(counts[g]) if g in counts else "") for g in groups]
    rows = list(map(_head, meta.evaluations))
    best = [best_in_group(meta, grouping, group) for group in groups]
    stars = [next((r for r, row in enumerate(rows) if row.label == metric), None) for metric in best]
    return _coloured(title or f"Scaled accuracy by {grouping}", rows, columns, table, stars, BETTER)


def _coloured(
    title: str,
    heads: Sequence[Head],
    columns: Sequence[Head],
    table: Sequence[Sequence[Result | None]],
    stars: Sequence[int | None],
    note: str,
) -> Grid:
    """Return a heatmap of results, with a star at a row of each column."""
    rows = [
        (
            head,
            *(_cell(f"{head.label}, {columns[c].label}", result, star=stars[c] == r) for c, result in enumerate(line)),
        )
        for r, (head, line) in enumerate(zip(heads, table, strict=True))
    ]
    starred = any(star is not None for star in stars)
    return make_grid(title, ("metric", *columns), rows, note if starred else "", kind=Heat)


def tested_sources(meta: Meta) -> list[str]:
    """Return the sources of all leave-one-out matrices, in the order of the breakdown."""
    seen = dict.fromkeys(source for trained in meta.leave_one_out for row in trained.matrix.values() for source in row)
    order = {source: place for place, source in enumerate(groups_of(meta, "source"))}
    return sorted(seen, key=lambda source: (order.get(source, len(order)), source))


def left_out_table(meta: Meta) -> Grid:
    """Return Figure 3: each metric on the source that it was trained without, and the others unchanged."""
    sources = tested_sources(meta)
    trained = [row.metric for row in meta.leave_one_out]
    others = [e for e in meta.evaluations if e.metric not in trained]
    table: list[list[Result | None]] = []
    for row in meta.leave_one_out:
        diagonal = [row.matrix.get(source, {}).get(source) for source in sources]
        table.append([*diagonal, row.trained_on_all, Result(name=MAIN, value=row.average, n=_tested(diagonal))])
    for e in others:
        alone = [e.by.get("source", {}).get(source, {}).get(MAIN) for source in sources]
        table.append([*alone, e.scores.get(MAIN), Result(name=MAIN, value=_mean(alone), n=_tested(alone))])
    rows = [*(Head(name, "left out") for name in trained), *map(_head, others)]
    columns = [*map(Head, sources), Head("ALL (ID)"), Head("AVG (OOD)")]
    stars = [_apart([line[i] for line in table]) for i in range(len(columns))]
    return _coloured("Scaled accuracy on a source that was left out of training", rows, columns, table, stars, APART)


def _tested(results: Iterable[Result | None]) -> int:
    return sum(result.n for result in results if result is not None and value_of(result) is not None)


def _mean(results: Iterable[Result | None]) -> float | None:
    values = [value for result in results if (value := value_of(result)) is not None]
    return sum(values) / len(values) if values else None


def matrix(meta: Meta, trained: LeaveOneOut) -> Grid:
    """Return Figure 11: every model on every source; what it was not trained on is outlined."""
    sources = tested_sources(meta)
    rows: list[Row] = []
    for out in sorted(
        trained.matrix, key=lambda s: (s != ALL_TRAINED, sources.index(s) if s in sources else len(sources), s)
    ):
        head = "trained on all" if out == ALL_TRAINED else f"without {out}"
        cells = (_cell(f"{trained.metric} {head}, on {source}", trained.matrix[out].get(source)) for source in sources)
        outlined = (cell._replace(outlined=out == source) for cell, source in zip(cells, sources, strict=True))
        rows.append((head, *outlined))
    return make_grid(trained.metric, ("trained", *sources), rows, kind=Heat)


def compared(meta: Meta) -> list[str]:
    """Return the statistics that were compared, in the order of `STATISTICS`."""
    seen = {comparison.statistic for comparison in meta.comparisons}
    return [*(name for name in STATISTICS if name in seen), *sorted(seen - set(STATISTICS))]


def comparison(meta: Meta, statistic: str) -> Grid:
    """Return every pair of metrics, the largest difference first."""
    rows = [
        (
            f"{c.first} − {c.second}",
            Cell(number(c.difference, 3), star=c.significant),
            span(c.low, c.high, 3) or NOTHING,
            p_value(c.p),
            p_value(c.adjusted),
            c.n,
        )
        for c in sorted((c for c in meta.comparisons if c.statistic == statistic), key=lambda c: -abs(c.difference))
    ]
    columns = ("metrics", "difference", Head("95% interval", paper=UNADJUSTED), "p", "adjusted p", "n")
    return make_grid(STATISTICS.get(statistic, statistic), columns, rows, "* adjusted p < 0.05")


def vote_table(votes: AnnotationTable) -> Grid:
    """Return Tables 3, 12 and 13."""
    rows = [(name, *(text or NOTHING for text in row)) for name, row in votes.rows.items()]
    return make_grid(votes.title, ("criterion", *votes.columns), rows, votes.note)


# ---- two sets of judgements (`mores compare`) ------------------------------------------------------------------


def changed_table(versus: JudgementComparison) -> list[Grid]:
    """Return the texts or questions on which the two differ most: who was right in which."""
    better = [change for change in versus.changed if change.difference > 0]
    worse = [change for change in versus.changed if change.difference < 0]
    if not versus.changed:
        return []
    title = f"Changed: {len(versus.changed):,} of {versus.n:,}; {len(better):,} better in A, {len(worse):,} better in B"
    rows = [
        tuple(textwrap.shorten(text, width, placeholder="…") for text, width in zip(texts, WIDTHS, strict=True))
        for change in (*better[:CHANGED], *worse[:CHANGED])
        for texts in [(change.asked or change.id, change.first, change.second)]
    ]
    names = f"A is {versus.first}, B is {versus.second}"
    more = "" if len(rows) == len(versus.changed) else f"the first {CHANGED} of each; JSON has all"
    return [make_grid(title, ("asked", "A", "B"), rows, names, more, words=frozenset({0, 1, 2}))]


def differences_table(rows: Mapping[str, MetricComparison], what: str, title: str, *, adjusted: bool = False) -> Grid:
    """Return differences with their intervals and p; for several groups also adjusted for their number."""
    difference = Head("difference", paper=f"difference [{UNADJUSTED}]" if adjusted else "")
    columns: list[str | Head] = [what, difference, "p", *(["adjusted p"] if adjusted else []), "n"]
    shown: list[Row] = []
    for name, row in rows.items():
        chances = [p_value(row.p), *([p_value(row.adjusted)] if adjusted else [])]
        shown.append((name, (number(row.difference, 3, signed=True), _interval(row)), *chances, row.n))
    return make_grid(title, columns, shown)


def _interval(row: MetricComparison) -> str:
    return span(row.low, row.high, 3, signed=True)


def conclude_versus(versus: JudgementComparison) -> str:
    """Return which is better by the first statistic, and whether that may be chance."""
    first = versus.overall[0]
    name = NAMES[first.statistic]
    size = f"{number(first.difference, 3, signed=True)} {_interval(first)}, p {p_value(first.p)}"
    if first.p >= SIGNIFICANT:
        return f"no significant difference in {name}: {size}"
    if not first.significant:
        ends = f", {span(*first.whole, 3, signed=True)} whatever they are" if first.whole else ""
        without = "1 sample lacks" if first.missing == 1 else f"{first.missing:,} samples lack"
        return f"cannot tell which has the better {name}, as {without} a score: {size}{ends}"
    better, worse = (versus.first, versus.second)[:: 1 if first.difference > 0 else -1]
    return f"{better} is better than {worse} in {name}: {size}"
