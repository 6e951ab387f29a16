"""The parts of the page about the answers of one run: calibration and stability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mores.benchmark.benchmark import Label
from mores.diagnosis import calibration, stability
from mores.diagnosis.calibration import AGREEMENT, LIKELIHOOD, VERBALISED, CalibrationCase, CalibrationResult
from mores.diagnosis.stability import ALWAYS, BEST, MAJORITY, MEAN, NEVER, PLURALITY, SOMETIMES, WORST, Stability
from mores.formatting import percent, points, to
from mores.report.base.blocks import Block, Fold, Frame, Table, key
from mores.report.base.charts import Chart, Part, Stack, Stacks
from mores.report.base.names import group_name
from mores.report.base.plots import Axis, Column, Curves, Line
from mores.report.base.sheet import Cell, Head, Sheet
from mores.report.diagnose.items import (
    ItemCard,
    fields,
    given_answers,
    groupings,
    largest,
    listing,
    more_groups,
    notes,
    number_cell,
    paragraph,
    places,
    share_cell,
    unused,
)
from mores.stats.calibration import (
    ACCURACY,
    AT_90,
    AT_HALF,
    AUROC,
    BRIER,
    CHANCE,
    CONFIDENCE,
    ECE,
    FIGURES,
    GAIN,
    GAP,
)
from mores.types import Result

SOURCES = {VERBALISED: "stated", LIKELIHOOD: "likelihood", AGREEMENT: "agreement"}
"""Kinds of confidence, in short."""
SHORT = {ECE: "ECE, points", BRIER: "Brier", AT_90: "correct at 90%+"}
"""Figures of calibration that are broken down by group."""
WIDE = {
    ECE: "ECE, points", CHANCE: "ECE by chance", BRIER: "Brier", CONFIDENCE: "mean confidence", ACCURACY: "correct",
    GAP: "overconfident by", AT_90: "correct at 90%+", AUROC: "AUROC", AT_HALF: "more confident half correct",
    GAIN: "gain from that",
}  # fmt: skip
CURVES = {BEST: "best of n", MEAN: "mean", MAJORITY: "majority of n", PLURALITY: "most frequent", WORST: "worst of n"}
KINDS = (Part("always correct", 2), Part("sometimes correct", 5), Part("never correct", 4))
LANGUAGE = "language"
STATES = {Label.CORRECT: "right", Label.INCORRECT: "wrong", Label.NOT_ATTEMPTED: "skipped"}


# ---- calibration -----------------------------------------------------------------------------------------------


def calibration_part(results: Sequence[CalibrationResult], limit: int) -> list[Block]:
    """Return one model on one benchmark, with every kind of confidence side by side."""
    by_source = _by_source(results)
    others = [
        Fold(f"The same for {name}, in words", [paragraph(calibration.paragraph(result))])
        for name, result in list(by_source.items())[1:]
    ]
    text = (
        "ECE: mean difference between confidence and accuracy in percentage points; “by chance” is the ECE of a "
        "perfectly calibrated model. Brier: 0 is perfect. AUROC: how often a correct answer has a higher confidence "
        "than a wrong one. “✕3”: three more could not be used; they are in no number."
    )
    return [
        paragraph(calibration.paragraph(results[0])),
        *others,
        *_plots(_calibration_charts(by_source)),
        Table(_confidence_sheet(by_source)),
        key(text),
        *(_calibration_by(by_source, name) for name in _shared(by_source.values())),
        Fold("All bins", [Table(_bin_sheet(name, result)) for name, result in by_source.items()]),
        *(block for name, result in by_source.items() for block in _calibration_unused(name, result)),
        *(
            block
            for index, (name, result) in enumerate(by_source.items())
            for block in _calibration_items(name, result, limit, first=not index)
        ),
    ]


def _by_source(results: Sequence[CalibrationResult]) -> dict[str, CalibrationResult]:
    """Return the results by kind of confidence; a second result of the same kind has a number."""
    times, by_source = Counter[str](), dict[str, CalibrationResult]()
    for result in results:
        times[result.source] += 1
        again = f" #{times[result.source]}" if times[result.source] > 1 else ""
        by_source[SOURCES.get(result.source, result.source) + again] = result
    return by_source


def _plots(charts: Sequence[Chart]) -> list[Block]:
    """Return all charts of calibration, and how to read them."""
    text = (
        "Dots: how often answers with this confidence are correct, with 95% intervals. Below the diagonal the model is "
        "overconfident. Columns: how many answers. The curve: how often answers are correct if the model gives only "
        "the most confident ones."
    )
    return [Frame(charts, "many wide" if len(charts) % 2 else "many wide even"), key(text)] if charts else []


def _calibration_charts(by_source: Mapping[str, CalibrationResult]) -> list[Chart]:
    charts: list[Chart] = [
        _reliability(name, result) for name, result in by_source.items() if result.figures[ACCURACY].n
    ]
    lines = [
        Line(
            name,
            [p.coverage for p in curve],
            [p.accuracy for p in curve],
            [p.low for p in curve],
            [p.high for p in curve],
        )
        for name, result in by_source.items()
        if (curve := result.curve)
    ]
    selective = Curves("Selective accuracy", lines, Axis("share of answers that are given"), "correct")
    return [*charts, selective] if lines else charts


def _reliability(name: str, result: CalibrationResult) -> Curves:
    """Accuracy against confidence: a point for each bin, over columns with the number of answers in it."""
    rows = [
        (bar.confidence, bar.accuracy, bar)
        for bar in result.bins
        if bar.confidence is not None and bar.accuracy is not None
    ]
    line = Line(
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
    columns = [Column(bar.low, bar.high, bar.n) for bar in result.bins]
    axis, diagonal = Axis(f"confidence ({name})"), "perfect calibration"
    return Curves(f"Reliability: {name}", [line], axis, "correct", diagonal, columns)


def _figure_cell(name: str, result: Result | None, *, sized: bool = False) -> Cell:
    if name in (ECE, CHANCE):
        return number_cell(result, 1, sized=sized)
    if name in (BRIER, AUROC):
        return number_cell(result, 3, sized=sized)
    if name in (GAP, GAIN) and result:
        return Cell(points(result.value), small=to(result.low, result.high))
    return share_cell(result, sized=sized)


def _confidence_sheet(by_source: Mapping[str, CalibrationResult]) -> Sheet:
    figures = {name: WIDE[name] for name in WIDE if name in FIGURES}
    cells = [
        [_figure_cell(f, result.figures.get(f), sized=f == AT_90) for f in figures] for result in by_source.values()
    ]
    heads = [Head(name, f"{result.figures[ACCURACY].n:,} answers") for name, result in by_source.items()]
    return Sheet("Confidence and correctness", heads, [Head(label) for label in figures.values()], cells)


def _shared(results: Iterable[CalibrationResult]) -> list[str]:
    return groupings(dict.fromkeys(name for result in results for name, groups in result.by.items() if len(groups) > 1))


def _calibration_by(by_source: Mapping[str, CalibrationResult], grouping: str) -> Fold:
    sizes: dict[str, int] = {}
    for result in by_source.values():
        for group, figures in result.by.get(grouping, {}).items():
            sizes[group] = max(sizes.get(group, 0), figures[ACCURACY].n)
    shown = [(figure, label, source) for figure, label in SHORT.items() for source in by_source]
    groups = largest(sizes)
    cells = [
        [_figure_cell(f, by_source[s].by.get(grouping, {}).get(g, {}).get(f), sized=f != BRIER) for f, _, s in shown]
        for g in groups
    ]
    heads = [Head(group_name(grouping, g), muted=sizes[g] < calibration.FEW) for g in groups]
    columns = [Head(label, source if len(by_source) > 1 else "") for _, label, source in shown]
    body = [Table(Sheet(f"Calibration by {grouping}", heads, columns, cells)), *more_groups(len(sizes))]
    return Fold(f"By {grouping}", body, grouping in ("language", "topic"))


def _bin_sheet(name: str, result: CalibrationResult) -> Sheet:
    rows = [bar for bar in result.bins if bar.n]
    cells = [
        [Cell(f"{bar.n:,}"), Cell(percent(bar.confidence)),
         share_cell(Result(name="", value=bar.accuracy, low=bar.accuracy_low, high=bar.accuracy_high, n=bar.n))]
        for bar in rows
    ]  # fmt: skip
    heads = [Head(f"{percent(bar.low, 0)} to {percent(bar.high, 0)} confident", name) for bar in rows]
    return Sheet(f"Bins: {name}", heads, [Head("n"), Head("mean confidence"), Head("correct")], cells)


def _calibration_unused(name: str, result: CalibrationResult) -> list[Block]:
    missing = unused(result.missing, f"Could not be used ({name}; {result.answers:,} answers in all)")
    return (
        [missing, unused({"not attempted": result.not_attempted}, "Counted as not correct")]
        if result.not_attempted
        else [missing]
    )


def _calibration_items(name: str, result: CalibrationResult, limit: int, *, first: bool) -> list[Block]:
    lists = {
        "Most confident mistakes": result.most_confident_mistakes,
        "Least confident correct answers": result.least_confident_hits,
    }
    return [
        block
        for index, (title, cases) in enumerate(lists.items())
        for block in listing(
            f"{title} ({name})", [_case_card(case) for case in cases], len(cases), limit, folded=index > 0 or not first
        )
    ]


def _case_card(case: CalibrationCase) -> ItemCard:
    texts = {"Question": case.question, "Answer": case.answer, "Correct answer": case.reference, "Judge": case.why}
    groups = places({"language": case.language})
    badge = f"{percent(case.confidence, 0)} confident"
    return ItemCard(case.id, STATES[case.label], badge, groups, fields(texts, case.language))


# ---- stability -------------------------------------------------------------------------------------------------


def stability_part(result: Stability, limit: int) -> list[Block]:
    """Curves over n, the shares of always, sometimes and never correct questions, and the questions that change."""
    text = (
        "Bands: 95% intervals. Best of n: at least one of n answers is correct; worst of n: all are. Curves and "
        f"figures are estimated from all answers, figures for n = {result.depth}."
    )
    body: list[Block] = [
        paragraph(stability.paragraph(result)),
        Frame([*_stability_curves(result), *_stability_bars(result, LANGUAGE)], "many wide even"),
        key(text),
        Table(_stability_sheet({"All": result.figures}, {}, f"{result.questions:,} questions")),
    ]
    for name in groupings(name for name, groups_of_name in result.by.items() if len(groups_of_name) > 1):
        groups = largest(
            {group: figures[MEAN].n + figures[MEAN].unscored for group, figures in result.by[name].items()}
        )
        heads = {group: group_name(name, group) for group in groups}
        sheet = _stability_sheet({group: result.by[name][group] for group in groups}, heads, "")
        charts = [] if name == LANGUAGE else _stability_bars(result, name)
        body.append(Fold(f"By {name}", [*charts, Table(sheet), *more_groups(len(result.by[name]))]))
    return [*body, unused(result.missing), *notes(result.notes), *_unstable_items(result, limit)]


def _stability_curves(result: Stability) -> list[Block]:
    lines = [
        Line(label, [p.n for p in curve], [p.value for p in curve], [p.low for p in curve], [p.high for p in curve])
        for name, label in CURVES.items()
        if (curve := result.curves.get(name))
    ]
    last = max((x for line in lines for x in line.x), default=1)
    axis = Axis("answers to each question (n)", 1, last, shares=False)
    return [Curves("Correct answers over n", lines, axis, "questions correct")] if lines else []


def _stability_bars(result: Stability, grouping: str) -> list[Block]:
    """Return a bar for all questions and, if there are several groups, one for each."""
    groups = result.by.get(grouping, {})
    largest_groups = largest({group: figures[ALWAYS].n for group, figures in groups.items()}) if len(groups) > 1 else []
    rows = [Stack("All questions", _kinds(result.figures))]
    rows += [Stack(group_name(grouping, g), _kinds(groups[g])) for g in largest_groups if groups[g][ALWAYS].n]
    return [Stacks("Always, sometimes, never correct", rows, KINDS)] if sum(rows[0].counts) else []


def _kinds(figures: Mapping[str, Result]) -> list[int]:
    return [round((figures[name].value or 0.0) * figures[name].n) for name in (ALWAYS, SOMETIMES, NEVER)]


def _stability_sheet(rows: Mapping[str, Mapping[str, Result]], names: Mapping[str, str], note: str) -> Sheet:
    names_shown = [name for name in CURVES if any(name in figures for figures in rows.values())]
    columns = [
        *(Head(CURVES[name]) for name in names_shown),
        *(Head(f"{name} correct") for name in (ALWAYS, SOMETIMES, NEVER)),
    ]
    cells = [
        [share_cell(figures.get(name)) for name in (*names_shown, ALWAYS, SOMETIMES, NEVER)]
        for figures in rows.values()
    ]
    heads = [Head(names.get(row, row), note or f"n {figures[MEAN].n:,}") for row, figures in rows.items()]
    return Sheet("Several answers to each question", heads, columns, cells)


def _unstable_items(result: Stability, limit: int) -> list[Block]:
    cards = []
    for item in result.sometimes[:limit]:
        texts = {"Question": item.question, "Correct answer": item.reference}
        texts |= {"Without a grade": f"{item.unscored:,}"} if item.unscored else {}
        groups = places({"language": item.language, "topic": item.topic})
        answers = given_answers(item.clusters, item.graded)
        badge = f"{item.correct:,} of {item.graded:,} correct"
        cards.append(ItemCard(item.id, "skipped", badge, groups, fields(texts, item.language), answers, item.more))
    return listing("Sometimes correct, with all answers", cards, result.sometimes_in_all, limit)
