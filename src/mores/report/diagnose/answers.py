"""The parts of the page of diagnoses that look at the answers of one run: calibration, stability, kinds of errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mores.bench.benchmark import Label
from mores.diagnose import calibration, errors, stability
from mores.diagnose.calibration import AGREEMENT, LIKELIHOOD, VERBALISED, Calibration, Case
from mores.diagnose.errors import ErrorCase, ErrorsResult, ErrorTable, TypeCheck, compare_models
from mores.diagnose.stability import ALWAYS, BEST, MAJORITY, MEAN, NEVER, PLURALITY, SOMETIMES, WORST, Stability
from mores.report.base.blocks import Block, Fold, Frame, Heading, Heat, Table, key
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
    subjects,
    unused,
)
from mores.show import name_failure, percent, points, to
from mores.stats.calibration import (
    ACCURACY,
    AT_HALF,
    AUROC,
    BRIER,
    CHANCE,
    CONFIDENCE,
    ECE,
    FIGURES,
    GAIN,
    GAP,
    SURELY,
)
from mores.types import Result

SOURCES = {VERBALISED: "stated", LIKELIHOOD: "likelihood", AGREEMENT: "agreement"}
"""Kinds of confidence, in short."""
SHORT = {ECE: "ECE, points", BRIER: "Brier", SURELY: "right at 90%+"}
"""Figures of calibration that are broken down by group."""
WIDE = {
    ECE: "ECE, points", CHANCE: "ECE by chance", BRIER: "Brier", CONFIDENCE: "mean confidence", ACCURACY: "right",
    GAP: "too sure by", SURELY: "right at 90%+", AUROC: "AUROC", AT_HALF: "surer half right", GAIN: "gain of that",
}  # fmt: skip
CURVES = {BEST: "best of n", MEAN: "mean", MAJORITY: "majority of n", PLURALITY: "most frequent", WORST: "worst of n"}
KINDS = (Part("always right", 2), Part("sometimes right", 5), Part("never right", 4))
LANGUAGE = "language"
STATES = {Label.CORRECT: "right", Label.INCORRECT: "wrong", Label.NOT_ATTEMPTED: "skipped"}


# ---- calibration -----------------------------------------------------------------------------------------------


def calibration_part(results: Sequence[Calibration], limit: int) -> list[Block]:
    """One model on one benchmark, every kind of confidence beside the others."""
    named = _named(results)
    others = [
        Fold(f"The same for {name}, in words", [paragraph(calibration.paragraph(one))])
        for name, one in list(named.items())[1:]
    ]
    text = (
        "ECE: mean distance of confidence and accuracy in percentage points; “by chance” is what a model would have "
        "that is exactly as often right as it says. Brier: 0 is perfect. AUROC: how often a right answer is surer than "
        "a wrong one. “✕3”: three more could not be used; they are in no number."
    )
    return [
        paragraph(calibration.paragraph(results[0])),
        *others,
        *_plots(_calibration_charts(named)),
        Table(_confidence_sheet(named)),
        key(text),
        *(_calibration_by(named, name) for name in _shared(named.values())),
        Fold("All bins", [Table(_bin_sheet(name, one)) for name, one in named.items()]),
        *(block for name, one in named.items() for block in _calibration_unused(name, one)),
        *(
            block
            for place, (name, one) in enumerate(named.items())
            for block in _calibration_items(name, one, limit, first=not place)
        ),
    ]


def _named(results: Sequence[Calibration]) -> dict[str, Calibration]:
    """By kind of confidence; a second result of the same kind has a number."""
    times, named = Counter[str](), dict[str, Calibration]()
    for one in results:
        times[one.source] += 1
        again = f" #{times[one.source]}" if times[one.source] > 1 else ""
        named[SOURCES.get(one.source, one.source) + again] = one
    return named


def _plots(charts: Sequence[Chart]) -> list[Block]:
    """All charts of calibration, and how to read them."""
    text = (
        "Dots: how often answers with such a confidence are right, with 95% intervals. Below the diagonal the model is "
        "too sure. Columns: how many answers. The curve: what is right when only the surest answers are given and the "
        "model says nothing to the others."
    )
    return [Frame(charts, "many wide" if len(charts) % 2 else "many wide even"), key(text)] if charts else []


def _calibration_charts(named: Mapping[str, Calibration]) -> list[Chart]:
    charts: list[Chart] = [_reliability(name, one) for name, one in named.items() if one.figures[ACCURACY].n]
    lines = [
        Line(name, [p.coverage for p in own], [p.accuracy for p in own], [p.low for p in own], [p.high for p in own])
        for name, one in named.items()
        if (own := one.curve)
    ]
    selective = Curves("Selective accuracy", lines, Axis("share of answers that are given"), "right")
    return [*charts, selective] if lines else charts


def _reliability(name: str, one: Calibration) -> Curves:
    """Accuracy against confidence: a point for each bin, over columns that say how many answers are in it."""
    rows = [
        (bar.confidence, bar.accuracy, bar)
        for bar in one.bins
        if bar.confidence is not None and bar.accuracy is not None
    ]
    line = Line(
        "with 95% intervals",
        [sure for sure, *_ in rows],
        [right for _, right, _ in rows],
        [bar.accuracy_low for *_, bar in rows],
        [bar.accuracy_high for *_, bar in rows],
        [f"{percent(sure, 0)} sure, {percent(right)} right, n {bar.n:,}" for sure, right, bar in rows],
        [bar.n for *_, bar in rows],
    )
    columns = [Column(bar.low, bar.high, bar.n) for bar in one.bins]
    axis, diagonal = Axis(f"confidence ({name})"), "as often right as it is sure"
    return Curves(f"Reliability: {name}", [line], axis, "right", diagonal, columns)


def _figure_cell(name: str, found: Result | None, *, sized: bool = False) -> Cell:
    if name in (ECE, CHANCE):
        return number_cell(found, 1, sized=sized)
    if name in (BRIER, AUROC):
        return number_cell(found, 3, sized=sized)
    if name in (GAP, GAIN) and found:
        return Cell(points(found.value), small=to(found.low, found.high))
    return share_cell(found, sized=sized)


def _confidence_sheet(named: Mapping[str, Calibration]) -> Sheet:
    shown = {name: WIDE[name] for name in WIDE if name in FIGURES}
    cells = [[_figure_cell(f, one.figures.get(f), sized=f == SURELY) for f in shown] for one in named.values()]
    heads = [Head(name, f"{one.figures[ACCURACY].n:,} answers") for name, one in named.items()]
    return Sheet("Confidence and correctness", heads, [Head(label) for label in shown.values()], cells)


def _shared(results: Iterable[Calibration]) -> list[str]:
    return groupings(dict.fromkeys(name for one in results for name, own in one.by.items() if len(own) > 1))


def _calibration_by(named: Mapping[str, Calibration], grouping: str) -> Fold:
    sizes: dict[str, int] = {}
    for one in named.values():
        for group, own in one.by.get(grouping, {}).items():
            sizes[group] = max(sizes.get(group, 0), own[ACCURACY].n)
    shown = [(figure, label, source) for figure, label in SHORT.items() for source in named]
    groups = largest(sizes)
    cells = [
        [_figure_cell(f, named[s].by.get(grouping, {}).get(g, {}).get(f), sized=f != BRIER) for f, _, s in shown]
        for g in groups
    ]
    heads = [Head(group_name(grouping, g), muted=sizes[g] < calibration.FEW) for g in groups]
    columns = [Head(label, source if len(named) > 1 else "") for _, label, source in shown]
    body = [Table(Sheet(f"Calibration by {grouping}", heads, columns, cells)), *more_groups(len(sizes))]
    return Fold(f"By {grouping}", body, grouping in ("language", "topic"))


def _bin_sheet(name: str, one: Calibration) -> Sheet:
    rows = [bar for bar in one.bins if bar.n]
    cells = [
        [Cell(f"{bar.n:,}"), Cell(percent(bar.confidence)),
         share_cell(Result(name="", value=bar.accuracy, low=bar.accuracy_low, high=bar.accuracy_high, n=bar.n))]
        for bar in rows
    ]  # fmt: skip
    heads = [Head(f"{percent(bar.low, 0)} to {percent(bar.high, 0)} sure", name) for bar in rows]
    return Sheet(f"Bins: {name}", heads, [Head("n"), Head("mean confidence"), Head("right")], cells)


def _calibration_unused(name: str, one: Calibration) -> list[Block]:
    left = unused(one.missing, f"Could not be used ({name}; {one.answers:,} answers in all)")
    return [left, unused({"not attempted": one.not_attempted}, "Counted as not right")] if one.not_attempted else [left]


def _calibration_items(name: str, one: Calibration, limit: int, *, first: bool) -> list[Block]:
    lists = {"Surest mistakes": one.surest_mistakes, "Least sure right answers": one.least_sure_hits}
    return [
        block
        for place, (title, cases) in enumerate(lists.items())
        for block in listing(
            f"{title} ({name})", [_case_card(case) for case in cases], len(cases), limit, folded=place > 0 or not first
        )
    ]


def _case_card(case: Case) -> ItemCard:
    texts = {"Question": case.question, "Answer": case.answer, "Right answer": case.reference, "Judge": case.why}
    where = places({"language": case.language})
    badge = f"{percent(case.confidence, 0)} sure"
    return ItemCard(case.id, STATES[case.label], badge, where, fields(texts, case.language))


# ---- stability -------------------------------------------------------------------------------------------------


def stability_part(one: Stability, limit: int) -> list[Block]:
    """Curves over n, what is always, sometimes and never right, and the questions that change."""
    text = (
        "Bands: 95% intervals. Best of n: at least one of n answers is right; worst of n: all are. Curves and figures "
        f"are estimated from all answers, figures for n = {one.depth}."
    )
    body: list[Block] = [
        paragraph(stability.paragraph(one)),
        Frame([*_stability_curves(one), *_stability_bars(one, LANGUAGE)], "many wide even"),
        key(text),
        Table(_stability_sheet({"All": one.figures}, {}, f"{one.questions:,} questions")),
    ]
    for name in groupings(name for name, own in one.by.items() if len(own) > 1):
        groups = largest({group: own[MEAN].n + own[MEAN].unscored for group, own in one.by[name].items()})
        heads = {group: group_name(name, group) for group in groups}
        sheet = _stability_sheet({group: one.by[name][group] for group in groups}, heads, "")
        drawn = [] if name == LANGUAGE else _stability_bars(one, name)
        body.append(Fold(f"By {name}", [*drawn, Table(sheet), *more_groups(len(one.by[name]))]))
    return [*body, unused(one.missing), *notes(one.notes), *_unstable_items(one, limit)]


def _stability_curves(one: Stability) -> list[Block]:
    lines = [
        Line(label, [p.n for p in own], [p.value for p in own], [p.low for p in own], [p.high for p in own])
        for name, label in CURVES.items()
        if (own := one.curves.get(name))
    ]
    last = max((x for line in lines for x in line.x), default=1)
    axis = Axis("answers to each question (n)", 1, last, shares=False)
    return [Curves("Right answers over n", lines, axis, "questions right")] if lines else []


def _stability_bars(one: Stability, grouping: str) -> list[Block]:
    """All questions, and each group where there are several."""
    groups = one.by.get(grouping, {})
    kept = largest({group: own[ALWAYS].n for group, own in groups.items()}) if len(groups) > 1 else []
    rows = [Stack("All questions", _kinds(one.figures))]
    rows += [Stack(group_name(grouping, g), _kinds(groups[g])) for g in kept if groups[g][ALWAYS].n]
    return [Stacks("Always, sometimes, never right", rows, KINDS)] if sum(rows[0].counts) else []


def _kinds(figures: Mapping[str, Result]) -> list[int]:
    return [round((figures[name].value or 0.0) * figures[name].n) for name in (ALWAYS, SOMETIMES, NEVER)]


def _stability_sheet(rows: Mapping[str, Mapping[str, Result]], names: Mapping[str, str], note: str) -> Sheet:
    known = [name for name in CURVES if any(name in own for own in rows.values())]
    columns = [*(Head(CURVES[name]) for name in known), *(Head(f"{name} right") for name in (ALWAYS, SOMETIMES, NEVER))]
    cells = [[share_cell(own.get(name)) for name in (*known, ALWAYS, SOMETIMES, NEVER)] for own in rows.values()]
    heads = [Head(names.get(row, row), note or f"n {own[MEAN].n:,}") for row, own in rows.items()]
    return Sheet("What several answers are worth", heads, columns, cells)


def _unstable_items(one: Stability, limit: int) -> list[Block]:
    cards = []
    for item in one.sometimes[:limit]:
        texts = {"Question": item.question, "Right answer": item.reference}
        texts |= {"Without a grade": f"{item.unscored:,}"} if item.unscored else {}
        where = places({"language": item.language, "topic": item.topic})
        given = given_answers(item.clusters, item.graded)
        badge = f"{item.right:,} of {item.graded:,} right"
        cards.append(ItemCard(item.id, "skipped", badge, where, fields(texts, item.language), given, item.more))
    return listing("Sometimes right, with the answers that were given", cards, one.sometimes_in_all, limit)


# ---- errors ----------------------------------------------------------------------------------------------------


def errors_part(
    results: Sequence[ErrorsResult], tables: Sequence[ErrorTable], checks: Sequence[TypeCheck], limit: int
) -> list[Block]:
    """Figure 9 and Table 4, each model by language, the answers with their types, and how good the judge is."""
    shown = tables or ([compare_models(results)] if results else [])
    drawn = [block for one in shown for block in _error_table(one)]
    if len(results) == 1:
        body = [paragraph(errors.paragraph(results[0])), *drawn, *_errors_of(results[0], limit)]
    else:
        body = drawn + subjects(
            results,
            lambda own: [block for one in own for block in (paragraph(errors.paragraph(one)), *_errors_of(one, limit))],
        )
    return body + [block for one in checks for block in _check(one)]


def _types(names: Iterable[str]) -> list[Part]:
    order = {name: place for place, name in enumerate(errors.type_names())}
    return [Part(name, order.get(name, len(order))) for name in names]


def _error_table(one: ErrorTable) -> list[Block]:
    names = [row.type for row in one.types]
    stacks = [Stack(bar.model, [bar.counts.get(name, 0) for name in names]) for bar in one.models]
    cells = [
        [Cell(f"{row.count:,}"), share_cell(row.share),
         *(share_cell(bar.shares.get(row.type)) for bar in one.models if len(one.models) > 1)]
        for row in one.types
    ]  # fmt: skip
    columns = [Head("wrong answers"), Head("share"), *(Head(b.model) for b in one.models if len(one.models) > 1)]
    sheet = Sheet("Kinds of errors", [Head(name) for name in names], columns, cells)
    return [
        Stacks("Kinds of errors by model", stacks, _types(names)),
        Table(sheet),
        key("Shares are of the wrong answers that have a type; “✕3”: three more have none."),
        *notes(one.notes),
    ]


def _errors_of(one: ErrorsResult, limit: int) -> list[Block]:
    body: list[Block] = [_errors_by(one, name) for name in groupings(n for n, own in one.by.items() if len(own) > 1)]
    failed = {f"the judge failed: {name_failure(kind)}": count for kind, count in one.failures.items()}
    left = {"answers without a grade": one.ungraded, "answers that decline, which are no errors": one.declined}
    body.append(unused(left | failed, f"In no share ({one.answers:,} graded answers, {one.wrong:,} wrong)"))
    for place, name in enumerate(sorted(one.counts, key=lambda name: -one.counts[name])):
        cards = [_error_card(case) for case in one.cases if case.type == name][:limit]
        body += listing(name, cards, one.counts[name], limit, folded=place > 0)
    return body


def _errors_by(one: ErrorsResult, grouping: str) -> Fold:
    groups, names = one.by[grouping], list(one.figures)
    kept = largest({group: max(r.n for r in own.values()) for group, own in groups.items()})
    stacks = [
        Stack(group_name(grouping, group), [round((groups[group][n].value or 0.0) * groups[group][n].n) for n in names])
        for group in kept
    ]
    drawn = Stacks(f"Kinds of errors by {grouping}", stacks, _types(names))
    return Fold(f"By {grouping}", [drawn, *more_groups(len(groups))], grouping == "language")


def _error_card(case: ErrorCase) -> ItemCard:
    texts = {"Question": case.question, "Answer": case.answer, "Right answer": " / ".join(case.reference),
             "Why this type": case.reason}  # fmt: skip
    language = case.groups.get("language")
    return ItemCard(case.item_id, "wrong", "Wrong", places(case.groups), fields(texts, language))


def _check(one: TypeCheck) -> list[Block]:
    """The judge against people: a matrix whose diagonal is agreement."""
    names = [name for name in one.confusion if any(one.confusion[name].values())]
    given = [name for name in one.confusion if any(row.get(name, 0) for row in one.confusion.values())]
    rows = [Head(name, f"n {sum(one.confusion[name].values()):,}") for name in names]
    cells = [
        [_agreed(one, person, judge) for judge in given] + [share_cell(one.recall.get(person))] for person in names
    ]
    sheet = Sheet("The judge against people", rows, [*map(Head, given), Head("same type")], cells)
    figures = {"accuracy": share_cell(one.accuracy, sized=True), "Cohen’s kappa": number_cell(one.kappa, 2, sized=True)}
    summary = Sheet("Agreement", [Head(one.judge)], [Head(name) for name in figures], [list(figures.values())])
    matrix = [Heat(sheet), key("Rows: the type that people gave; columns: the judge’s.")] if names else []
    return [
        Heading("The judge against people: ", [one.judge]),
        paragraph(errors.check_paragraph(one)),
        Table(summary),
        *matrix,
        unused({f"the judge failed: {name_failure(kind)}": count for kind, count in one.failures.items()}),
    ]


def _agreed(one: TypeCheck, person: str, judge: str) -> Cell:
    count, total = one.confusion[person].get(judge, 0), sum(one.confusion[person].values())
    share = count / total if total else 0.0
    hint = f"people: {person}; judge: {judge}: {count:,} of {total:,}"
    return Cell(f"{count:,}", share if person == judge else -share, hint=hint, outlined=person == judge, n=total)
