"""The tables of a diagnosis: figures, figures by group, kinds of errors, ranks; the terminal shows their short form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mores.diagnosis import stability
from mores.diagnosis.calibration import CalibrationResult
from mores.diagnosis.change import GAIN, RunChange
from mores.diagnosis.contamination import Contamination
from mores.diagnosis.errors import ErrorsResult, ErrorTable, TypeCheck
from mores.diagnosis.folder import paragraph
from mores.diagnosis.locality import Locality, LocalityProfile, LocalityShift, Moved
from mores.diagnosis.retrieval import RetrievalResult
from mores.diagnosis.scale import ItemScale, QuestionDifficulty
from mores.diagnosis.stability import Stability
from mores.diagnosis.translation import TranslationResult
from mores.formatting import count, name_failure, number, p_equals, p_value, percent, points, show_failures, to
from mores.report.base.grid import UNADJUSTED, Cell, Grid, Head, make_grid, number_cell, share_cell
from mores.report.base.names import group_name
from mores.report.bench.findings import finding_tables
from mores.report.bench.tables import figure_cell
from mores.stats import calibration as reliability
from mores.types import Record, Result

GROUPINGS = 2
"""At most this many groupings are printed, language and topic first; the page has all."""
_POINTS = (reliability.ECE, reliability.CHANCE)
_NUMBERS = (reliability.BRIER, reliability.AUROC, "kappa", "tau")
_CHANGES = (GAIN, reliability.GAP, reliability.GAIN, stability.GAP, stability.VOTING, "difference")
NAMED, LISTED = 5, 50
"""At most this many questions are printed, and on the page."""
HARDEST, SUSPECTED = "the most difficult questions", "answered worse by better models: check the key"
Figures = Mapping[str, Result]
ADJUSTED = Head("adjusted", paper="adjusted p")


def tables(results: Iterable[Record]) -> list[Grid | str]:
    """Return the tables of each result and its paragraph."""
    blocks: list[Grid | str] = []
    for result in results:
        blocks += grids(result)
        if words := paragraph(result):
            blocks += [words, ""]
    return blocks


def grids(result: Record) -> Iterator[Grid]:
    """Yield all tables of a result."""
    yield from TABLES[type(result)](result)


# ---- tables ----------------------------------------------------------------------------------------------------


def calibration_figures(result: CalibrationResult, more: str = "") -> Grid:
    """Return the figures of one kind of confidence."""
    return _figures(f"calibration: {result.model} on {result.benchmark}, {result.source}", result.figures, more)


def calibration_by(result: CalibrationResult, grouping: str, groups: Iterable[str] | None = None) -> Grid:
    """Return the figures of some groups, or of all."""
    columns = (reliability.ECE, reliability.CONFIDENCE, reliability.ACCURACY, reliability.AT_90)
    return _by(result.by[grouping], grouping, columns, reliability.ACCURACY, (reliability.BRIER,), groups)


def _calibration(result: CalibrationResult) -> Iterator[Grid]:
    yield calibration_figures(result, _counts(result.missing | {"not attempted": result.not_attempted}))
    yield from (calibration_by(result, grouping) for grouping in _broken_down(result.by))


def stability_figures(result: Stability, more: str = "") -> Grid:
    """Return the figures of several answers to each question."""
    title = f"stability: {result.model} on {result.benchmark}, {result.depth} answers to each question"
    return _figures(title, result.figures, more)


def stability_by(result: Stability, grouping: str, groups: Iterable[str] | None = None) -> Grid:
    """Return the figures of some groups, or of all."""
    columns = (stability.MEAN, stability.BEST, stability.WORST, stability.SOMETIMES)
    more = (stability.MAJORITY, stability.PLURALITY, stability.ALWAYS, stability.NEVER)
    return _by(result.by[grouping], grouping, columns, stability.MEAN, more, groups)


def _stability(result: Stability) -> Iterator[Grid]:
    yield stability_figures(result, _counts(result.missing))
    yield from (stability_by(result, grouping) for grouping in _broken_down(result.by))


def change_figures(result: RetrievalResult | TranslationResult, more: str = "") -> Grid:
    """Return the figures of the same questions in two runs."""
    if isinstance(result, RetrievalResult):
        title = f"retrieval: {result.model} on {result.benchmark}, {result.search}"
    else:
        title = f"{result.names[0]} and {result.names[1]}: {result.model} on {result.benchmark}"
    return _figures(title, result.figures, more)


def fault_figures(result: RetrievalResult) -> Grid:
    """Return why questions are wrong with evidence."""
    return _figures("faults with evidence", result.faults)


def change_by(by: Mapping[str, RunChange], grouping: str, groups: Iterable[str] | None = None) -> Grid:
    """Return the change of some groups, or of all."""
    rows = [
        (
            Head(group_name(grouping, group), short=group),
            *(_cells(result, name) for name, result in change.figures.items()),
            "" if change.adjusted is None else p_equals(change.adjusted),
            p_value(change.p),
            f"{change.matrix.second:,} / {change.matrix.first:,}",
            change.gain.n,
        )
        for group, change in ((group, by[group]) for group in (by if groups is None else groups))
    ]
    tested = {GAIN: f"{GAIN} [{UNADJUSTED}]"}
    figures = (Head(name, bare=True, paper=tested.get(name, "")) for name in next(iter(by.values())).figures)
    hidden = (Head("p", hidden=True), Head("gained / lost", hidden=True))
    return make_grid(f"by {grouping}", (Head(grouping, short=""), *figures, ADJUSTED, *hidden, "n"), rows)


def _changed(result: RetrievalResult | TranslationResult) -> Iterator[Grid]:
    kinds = {"declined": result.uncertain.declined, "half correct": result.uncertain.ties}
    counts = {f"{kind} {name}": number for kind, by_run in kinds.items() for name, number in by_run.items()}
    yield change_figures(result, _counts(counts | result.left_out))
    if isinstance(result, RetrievalResult):
        yield fault_figures(result)
    yield from (change_by(result.by[grouping], grouping) for grouping in _broken_down(result.by))


def error_kinds(result: ErrorsResult, more: str = "") -> Grid:
    """Return the kinds of the wrong answers of one model."""
    title = f"errors: {result.model} on {result.benchmark}, classified by {result.judge}"
    rows = [(name, result.counts[name], *_cells(share)) for name, share in result.figures.items()]
    return make_grid(title, ("", "wrong answers", "share", "95% interval"), rows, more)


def _errors(result: ErrorsResult) -> Iterator[Grid]:
    untyped = {f"no type, {name_failure(kind)}": number for kind, number in result.failures.items()}
    yield error_kinds(result, _counts(untyped | {"declined": result.declined, "without a grade": result.ungraded}))


def compared_kinds(table: ErrorTable) -> Grid:
    """Return the kinds of the wrong answers of several models."""
    several = table.models if len(table.models) > 1 else ()
    rows = [
        (
            row.type,
            row.count,
            figure_cell(row.share),
            *(figure_cell(bar.shares.get(row.type)) for bar in several),
        )
        for row in table.types
    ]
    models = (Head(bar.model, f"n {bar.wrong:,}") for bar in several)
    return make_grid("Kinds of errors", ("type", "wrong answers", "share", *models), rows)


def check_figures(result: TypeCheck, more: str = "") -> Grid:
    """Return how well the judge agrees with people."""
    figures = {"accuracy": result.accuracy, "kappa": result.kappa} | {
        f"found: {name}": share for name, share in result.recall.items() if share.n
    }
    return _figures(f"{result.judge} beside people", figures, more)


def profile_table(profile: LocalityProfile, grouping: str) -> Grid:
    """Return how far each group of a model differs from all."""
    rows = [
        (local.group, _cells(local.credit)[0], *_cells(local.difference),
         "" if local.adjusted is None else p_equals(local.adjusted), local.verdict, local.credit.n)
        for local in profile.groups
    ]  # fmt: skip
    columns = (grouping, "correct", "difference", Head("95% interval", paper=UNADJUSTED), ADJUSTED, "", "n")
    more = _counts({f"questions without a {grouping}": profile.ungrouped})
    return make_grid(f"locality: {profile.model} on {profile.benchmark}", columns, rows, more)


def rank_table(shift: LocalityShift, *notes: str) -> Grid:
    """Return the rank of each model on two benchmarks."""
    rows = []
    for row in shift.models:
        ranks = (
            (f"{rank.rank}{'=' if rank.tied else ''}", f"{rank.low}–{rank.high}, {percent(rank.credit)}")
            for rank in (row.first, row.second)
        )
        interval = to(row.shift.low, row.shift.high, partial(number, digits=1))
        rows.append((row.model, *ranks, Cell(number(row.shift.value, 1), small=interval, star=has_moved(row))))
    columns = ("model", f"rank on {shift.first}", f"rank on {shift.second}", "shift")
    return make_grid("ranks, with 95% intervals", columns, rows, *notes)


def has_moved(row: Moved) -> bool:
    """Return whether a model has surely another rank on the second benchmark."""
    low, high = row.shift.low, row.shift.high
    return low is not None and high is not None and (low > 0 or high < 0)


def _locality(result: Locality) -> Iterator[Grid]:
    yield from (profile_table(profile, result.grouping) for profile in result.profiles if profile.groups)
    yield from (table for name, found in result.findings.items() for table in finding_tables(found, name))
    for shift in result.shifts:
        tau, left = _cells(shift.tau), ", ".join(shift.left_out)
        yield rank_table(
            shift, f"Kendall's tau {tau[0]} ({tau[1]}); = is a tie", f"on only one of them: {left}" if left else ""
        )


def contamination_table(result: Contamination) -> Grid:
    """Return every test of whether the data was seen."""
    rows = [
        (test.name, _cells(test.seen)[0], _cells(test.control)[0], *_cells(test.difference),
         "" if test.p is None else p_value(test.p), test.seen.n)
        for test in result.tests
    ]  # fmt: skip
    columns = ("test", "published", "control", "difference", "95% interval", "p", "n")
    title = f"contamination: {result.model} on {result.benchmark}"
    return make_grid(title, columns, rows, _counts(result.left_out))


def ability_table(result: ItemScale) -> Grid:
    """Return the ability of every model."""
    rows = [
        (each.model, number_cell(each.ability), share_cell(each.credit), each.ability.n) for each in result.abilities
    ]
    note = "abilities in logits; at 0, half of the questions of average difficulty are answered correctly"
    return make_grid(f"items: models on {result.benchmark}", ("model", "ability", "correct", "n"), rows, note)


def question_table(questions: Sequence[QuestionDifficulty], title: str) -> Grid:
    """Return the difficulty of questions."""
    own = any(each.discrimination is not None for each in questions)
    rows = [
        (each.id, number_cell(each.difficulty), percent(each.credit),
         *([number(each.discrimination)] if own else []), each.difficulty.n)
        for each in questions
    ]  # fmt: skip
    columns = ("question", "difficulty", "correct", *(["discrimination"] if own else []), "models")
    return make_grid(title, columns, rows, most=NAMED)


def form_table(result: ItemScale) -> Grid:
    """Return how well each short form stands for the whole."""
    rows = [
        (count(form.size), number_cell(form.tau), number(form.by_lot), percent(form.error)) for form in result.forms
    ]
    columns = ("questions", "Kendall's tau to the whole", "by lot", "error of the predicted share")
    return make_grid("short forms, on models that did not choose them", columns, rows)


def _items(result: ItemScale) -> Iterator[Grid]:
    yield ability_table(result)
    yield question_table(result.questions[:LISTED], HARDEST)
    suspected = [each for each in reversed(result.questions) if (each.discrimination or 0.0) < 0]
    if suspected:
        yield question_table(suspected[:LISTED], SUSPECTED)
    if result.forms:
        yield form_table(result)


TABLES: dict[type[Record], Callable[[Any], Iterator[Grid]]] = {
    CalibrationResult: _calibration,
    Stability: _stability,
    RetrievalResult: _changed,
    TranslationResult: _changed,
    ErrorsResult: _errors,
    ErrorTable: lambda table: iter([compared_kinds(table)]),
    TypeCheck: lambda check: iter([check_figures(check, show_failures(check.failures))]),
    Locality: _locality,
    ItemScale: _items,
    Contamination: lambda result: iter([contamination_table(result)]),
}


# ---- their parts -----------------------------------------------------------------------------------------------


def _figures(title: str, figures: Figures, more: str = "") -> Grid:
    rows = [(name, *_cells(result, name), result.n, result.unscored) for name, result in figures.items()]
    return make_grid(title, ("", "value", "95% interval", "n", "unscored"), rows, more)


def _by(
    by: Mapping[str, Figures],
    grouping: str,
    columns: Sequence[str],
    counted: str,
    hidden: Sequence[str],
    groups: Iterable[str] | None,
) -> Grid:
    """Return the figures of groups; the terminal shows neither the `hidden` ones nor intervals."""
    hidden = [name for name in hidden if any(name in figures for figures in by.values())]
    rows = [
        (
            Head(group_name(grouping, group), short=group),
            *(_cells(by[group].get(name, Result(name=name, value=None)), name) for name in (*columns, *hidden)),
            by[group][counted].n,
        )
        for group in (by if groups is None else groups)
    ]
    heads = (*(Head(name, bare=True) for name in columns), *(Head(name, hidden=True) for name in hidden))
    return make_grid(f"by {grouping}", (Head(grouping, short=""), *heads, "n"), rows)


def _broken_down(by: Mapping[str, Mapping[str, object]]) -> list[str]:
    return [grouping for grouping, groups in by.items() if len(groups) > 1][:GROUPINGS]


def _counts(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{name}: {number:,}" for name, number in counts.items() if number)


def _cells(result: Result, name: str | None = None) -> tuple[str, str]:
    """Return a value and its interval."""
    name = name or result.name
    if result.low is None or result.high is None:
        return _shown(name, result.value), ""
    return _shown(name, result.value), f"{_shown(name, result.low)} to {_shown(name, result.high)}"


def _shown(name: str, value: float | None) -> str:
    """ECE is already in percentage points; changes have a sign; the others are shares, or numbers from 0 to 1."""
    if name in _POINTS:
        return f"{number(value, 1)} points"
    if name in _NUMBERS:
        return number(value, 3)
    return f"{points(value)} points" if name in _CHANGES else percent(value)
