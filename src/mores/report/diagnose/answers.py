"""The parts of the page about the answers of one run: calibration and stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mores.benchmark.benchmark import Label
from mores.diagnosis import calibration, stability
from mores.diagnosis.calibration import AGREEMENT, LIKELIHOOD, VERBALISED, CalibrationCase, CalibrationResult
from mores.diagnosis.stability import ALWAYS, BEST, MAJORITY, MEAN, NEVER, PLURALITY, SOMETIMES, WORST, Stability
from mores.formatting import percent
from mores.report.base.blocks import Fold, Frame, PageBlock, key
from mores.report.base.charts import Chart, Stack, StackPart, Stacks
from mores.report.base.grid import Grid, Head, make_grid
from mores.report.base.names import group_name, numbered
from mores.report.base.plots import Axis, BinCount, CurveLine, Curves
from mores.report.bench.tables import figure_cell
from mores.report.diagnose import items, tables
from mores.stats.calibration import ACCURACY
from mores.types import Result

SOURCES = {VERBALISED: "stated", LIKELIHOOD: "likelihood", AGREEMENT: "agreement"}
"""Kinds of confidence, in short."""
CURVES = {BEST: "best of n", MEAN: "mean", MAJORITY: "majority of n", PLURALITY: "most frequent", WORST: "worst of n"}
KINDS = (StackPart("always correct", 2), StackPart("sometimes correct", 5), StackPart("never correct", 4))
LANGUAGE = "language"
STATES = {Label.CORRECT: "right", Label.INCORRECT: "wrong", Label.NOT_ATTEMPTED: "skipped"}


# ---- calibration -----------------------------------------------------------------------------------------------


def calibration_part(results: Sequence[CalibrationResult], limit: int) -> list[PageBlock]:
    """Return one model on one benchmark, with every kind of confidence side by side."""
    by_source = dict(zip(numbered(SOURCES.get(r.source, r.source) for r in results), results, strict=True))
    others = [
        Fold(
            f"The same for {name}",
            [items.paragraph(calibration.paragraph(result)), tables.calibration_figures(result)],
        )
        for name, result in list(by_source.items())[1:]
    ]
    shared = dict.fromkeys(name for result in results for name, groups in result.by.items() if len(groups) > 1)
    text = (
        "ECE: mean difference between confidence and accuracy in percentage points; “by chance” is the ECE of a "
        "perfectly calibrated model. Brier: 0 is perfect. AUROC: how often a correct answer has a higher confidence "
        "than a wrong one."
    )
    unused_counts = []
    for name, result in by_source.items():
        unused_counts.append(
            items.unused(result.missing, f"Could not be used ({name}; {result.answers:,} answers in all)")
        )
        if result.not_attempted:
            unused_counts.append(items.unused({"not attempted": result.not_attempted}, "Counted as not correct"))
    return [
        items.paragraph(calibration.paragraph(results[0])),
        *_calibration_charts(by_source),
        tables.calibration_figures(results[0]),
        key(text),
        *others,
        *(_calibration_by(by_source, name) for name in items.groupings(shared)),
        Fold("All bins", [_bin_table(name, result) for name, result in by_source.items()]),
        *unused_counts,
        *(block for name, result in by_source.items() for block in _calibration_items(name, result, limit)),
    ]


def _calibration_charts(by_source: Mapping[str, CalibrationResult]) -> list[PageBlock]:
    """Return all charts of calibration, and how to read them."""
    charts: list[Chart] = [
        _reliability(name, result) for name, result in by_source.items() if result.figures[ACCURACY].n
    ]
    lines = [
        CurveLine(
            name,
            [p.coverage for p in curve],
            [p.accuracy for p in curve],
            [p.low for p in curve],
            [p.high for p in curve],
        )
        for name, result in by_source.items()
        if (curve := result.curve)
    ]
    if lines:
        charts.append(Curves("Selective accuracy", lines, Axis("share of answers that are given"), "correct"))
    text = (
        "Dots: how often answers with this confidence are correct, with 95% intervals. Below the diagonal the model is "
        "overconfident. Columns: how many answers. The curve: how often answers are correct if the model gives only "
        "the most confident ones."
    )
    return [Frame(charts, "many wide" if len(charts) % 2 else "many wide even"), key(text)] if charts else []


def _reliability(name: str, result: CalibrationResult) -> Curves:
    """Accuracy against confidence: a point for each bin, over columns with the number of answers in it."""
    rows = [
        (bar.confidence, bar.accuracy, bar)
        for bar in result.bins
        if bar.confidence is not None and bar.accuracy is not None
    ]
    line = CurveLine(
        "with 95% intervals",
        [confidence for confidence, *_ in rows],
        [accuracy for _, accuracy, _ in rows],
        [bar.accuracy_low for *_, bar in rows],
        [bar.accuracy_high for *_, bar in rows],
        [
            f"{percent(confidence, 0)} confident, {percent(accuracy)} correct, n {bar.n:,}"
            for confidence, accuracy, bar in rows
        ],
        [bar.n for *_, bar in rows],
    )
    columns = [BinCount(bar.low, bar.high, bar.n) for bar in result.bins]
    axis, diagonal = Axis(f"confidence ({name})"), "perfect calibration"
    return Curves(f"Reliability: {name}", [line], axis, "correct", diagonal, columns)


def _calibration_by(by_source: Mapping[str, CalibrationResult], grouping: str) -> Fold:
    body: list[PageBlock] = []
    for name, result in by_source.items():
        if groups := result.by.get(grouping, {}):
            largest = items.largest({group: figures[ACCURACY].n for group, figures in groups.items()})
            grid = tables.calibration_by(result, grouping, largest)
            body += [replace(grid, title=f"{name}, by {grouping}"), *items.more_groups(len(groups))]
    return Fold(f"By {grouping}", body)


def _bin_table(name: str, result: CalibrationResult) -> Grid:
    rows = []
    for bar in filter(lambda bar: bar.n, result.bins):
        head = Head(f"{percent(bar.low, 0)} to {percent(bar.high, 0)} confident", name)
        accuracy = Result(name="", value=bar.accuracy, low=bar.accuracy_low, high=bar.accuracy_high, n=bar.n)
        rows.append((head, bar.n, percent(bar.confidence), figure_cell(accuracy)))
    return make_grid(f"Bins: {name}", ("confidence", "n", "mean confidence", "correct"), rows)


def _calibration_items(name: str, result: CalibrationResult, limit: int) -> list[PageBlock]:
    lists = {
        "Most confident mistakes": result.most_confident_mistakes,
        "Least confident correct answers": result.least_confident_hits,
    }
    return [
        block
        for title, cases in lists.items()
        for block in items.listing(f"{title} ({name})", [_case_card(case) for case in cases], len(cases), limit)
    ]


def _case_card(case: CalibrationCase) -> items.ItemCard:
    texts = {"Question": case.question, "Answer": case.answer, "Correct answer": case.reference, "Judge": case.why}
    groups = items.places({"language": case.language})
    badge = f"{percent(case.confidence, 0)} confident"
    return items.ItemCard(case.id, STATES[case.label], badge, groups, items.fields(texts, case.language))


# ---- stability -------------------------------------------------------------------------------------------------


def stability_part(result: Stability, limit: int) -> list[PageBlock]:
    """Return curves over n, the shares of always, sometimes and never correct questions, and those that change."""
    text = (
        "Bands: 95% intervals. Best of n: at least one of n answers is correct; worst of n: all are. Curves and "
        f"figures are estimated from all answers, figures for n = {result.depth}."
    )
    body: list[PageBlock] = [
        items.paragraph(stability.paragraph(result)),
        Frame([*_stability_curves(result), *_stability_bars(result, LANGUAGE)], "many wide even"),
        key(text),
        tables.stability_figures(result),
    ]
    for name in items.groupings(name for name, groups_of_name in result.by.items() if len(groups_of_name) > 1):
        groups = items.largest(
            {group: figures[MEAN].n + figures[MEAN].unscored for group, figures in result.by[name].items()}
        )
        table = tables.stability_by(result, name, groups)
        charts = [] if name == LANGUAGE else _stability_bars(result, name)
        body.append(Fold(f"By {name}", [*charts, table, *items.more_groups(len(result.by[name]))]))
    return [*body, items.unused(result.missing), *items.notes(result.notes), *_unstable_items(result, limit)]


def _stability_curves(result: Stability) -> list[PageBlock]:
    lines = [
        CurveLine(
            label, [p.n for p in curve], [p.value for p in curve], [p.low for p in curve], [p.high for p in curve]
        )
        for name, label in CURVES.items()
        if (curve := result.curves.get(name))
    ]
    last = max((x for line in lines for x in line.x), default=1)
    axis = Axis("answers to each question (n)", 1, last, shares=False)
    return [Curves("Correct answers over n", lines, axis, "questions correct")] if lines else []


def _stability_bars(result: Stability, grouping: str) -> list[PageBlock]:
    """Return a bar for all questions and, if there are several groups, one for each."""
    groups = result.by.get(grouping, {})
    largest_groups = (
        items.largest({group: figures[ALWAYS].n for group, figures in groups.items()}) if len(groups) > 1 else []
    )
    rows = [Stack("All questions", _kinds(result.figures))]
    rows += [Stack(group_name(grouping, g), _kinds(groups[g])) for g in largest_groups if groups[g][ALWAYS].n]
    return [Stacks("Always, sometimes, never correct", rows, KINDS)] if sum(rows[0].counts) else []


def _kinds(figures: Mapping[str, Result]) -> list[int]:
    return [round((figures[name].value or 0.0) * figures[name].n) for name in (ALWAYS, SOMETIMES, NEVER)]


def _unstable_items(result: Stability, limit: int) -> list[PageBlock]:
    cards = []
    for item in result.sometimes[:limit]:
        texts = {"Question": item.question, "Correct answer": item.reference}
        texts |= {"Without a grade": f"{item.unscored:,}"} if item.unscored else {}
        groups = items.places({"language": item.language, "topic": item.topic})
        answers = items.given_answers(item.clusters, item.graded)
        badge = f"{item.correct:,} of {item.graded:,} correct"
        cards.append(
            items.ItemCard(item.id, "skipped", badge, groups, items.fields(texts, item.language), answers, item.more)
        )
    return items.listing("Sometimes correct, with all answers", cards, result.sometimes_in_all, limit)
