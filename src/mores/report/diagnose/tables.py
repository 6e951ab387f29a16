"""The tables of a diagnosis in the terminal: the figures, the figures by group, and the paragraph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mores.diagnosis import stability
from mores.diagnosis.calibration import CalibrationResult
from mores.diagnosis.change import GAIN, By
from mores.diagnosis.errors import ErrorsResult, ErrorTable, TypeCheck, type_names
from mores.diagnosis.folder import paragraph
from mores.diagnosis.locality import Locality, Rank
from mores.diagnosis.retrieval import RetrievalResult
from mores.diagnosis.stability import Stability
from mores.diagnosis.translation import TranslationResult
from mores.formatting import name_failure, number, p_equals, percent, points, show_failures
from mores.report.base.grid import Grid, Row, make_grid
from mores.stats import calibration as reliability
from mores.types import Record, Result

GROUPINGS = 2
"""At most this many groupings are printed, language and topic first; the page has all."""
_POINTS = (reliability.ECE, reliability.CHANCE)
_NUMBERS = (reliability.BRIER, reliability.AUROC, "kappa", "tau")
_CHANGES = (GAIN, reliability.GAP, reliability.GAIN, stability.GAP, stability.VOTING, "difference")
Figures = Mapping[str, Result]


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


def _calibration(result: CalibrationResult) -> Iterator[Grid]:
    title = f"calibration: {result.model} on {result.benchmark}, {result.source}"
    yield _figures(title, result.figures, _counts(result.missing | {"not attempted": result.not_attempted}))
    columns = (reliability.ECE, reliability.CONFIDENCE, reliability.ACCURACY, reliability.AT_90)
    yield from _groups(result.by, columns, reliability.ACCURACY)


def _stability(result: Stability) -> Iterator[Grid]:
    title = f"stability: {result.model} on {result.benchmark}, {result.depth} answers to each question"
    yield _figures(title, result.figures, _counts(result.missing))
    columns = (stability.MEAN, stability.BEST, stability.WORST, stability.SOMETIMES)
    yield from _groups(result.by, columns, stability.MEAN)


def _retrieval(result: RetrievalResult) -> Iterator[Grid]:
    title = f"retrieval: {result.model} on {result.benchmark}, {result.search}"
    yield _figures(title, result.figures, _uncertain(result))
    yield _figures("faults with evidence", result.faults, "")
    yield from _changes(result.by)


def _translation(result: TranslationResult) -> Iterator[Grid]:
    title = f"{result.names[0]} and {result.names[1]}: {result.model} on {result.benchmark}"
    yield _figures(title, result.figures, _uncertain(result))
    yield from _changes(result.by)


def _errors(result: ErrorsResult) -> Iterator[Grid]:
    title = f"errors: {result.model} on {result.benchmark}, classified by {result.judge}"
    rows = [(name, result.counts[name], *_cells(share)[:2]) for name, share in result.figures.items()]
    untyped = {f"no type, {name_failure(kind)}": number for kind, number in result.failures.items()}
    more = _counts(untyped | {"declined": result.declined, "without a grade": result.ungraded})
    yield _table(title, ("", "wrong answers", "share", "95% interval"), rows, more)


def _error_table(result: ErrorTable) -> Iterator[Grid]:
    names = [f"{number}" for number, _ in enumerate(type_names(), 1)]
    rows = [
        (bar.model, *(_shown(name, bar.shares[name].value) for name in type_names()), bar.wrong)
        for bar in result.models
    ]
    key = "\n".join(f"{number}: {name}" for number, name in zip(names, type_names(), strict=True))
    yield _table("errors by model: share of each type", ("model", *names, "wrong"), rows, key)


def _type_check(result: TypeCheck) -> Iterator[Grid]:
    figures = {"accuracy": result.accuracy, "kappa": result.kappa} | {
        f"found: {name}": share for name, share in result.recall.items() if share.n
    }
    yield _figures(f"{result.judge} beside people", figures, show_failures(result.failures))


def _locality(result: Locality) -> Iterator[Grid]:
    for profile in filter(lambda profile: profile.groups, result.profiles):
        rows = [
            (local.group, *_cells(local.credit)[:1], *_cells(local.difference)[:2],
             "" if local.adjusted is None else p_equals(local.adjusted), local.verdict, local.credit.n)
            for local in profile.groups
        ]  # fmt: skip
        columns = (result.grouping, "correct", "difference", "95% interval", "adjusted", "", "n")
        more = _counts({f"questions without a {result.grouping}": profile.ungrouped})
        yield _table(f"locality: {profile.model} on {profile.benchmark}", columns, rows, more)
    for shift in result.shifts:
        moved = [(row.model, _rank(row.first), _rank(row.second)) for row in shift.models]
        tau = _cells(shift.tau)
        left = f"\non only one of them: {', '.join(shift.left_out)}" if shift.left_out else ""
        more = f"Kendall's tau {tau[0]} ({tau[1]}); = is a tie{left}"
        yield _table("ranks, with 95% intervals", ("model", shift.first, shift.second), moved, more)


def _rank(rank: Rank) -> str:
    return f"{rank.rank}{'=' if rank.tied else ''} ({rank.low}–{rank.high})"


TABLES: dict[type[Record], Callable[[Any], Iterator[Grid]]] = {
    CalibrationResult: _calibration,
    Stability: _stability,
    RetrievalResult: _retrieval,
    TranslationResult: _translation,
    ErrorsResult: _errors,
    ErrorTable: _error_table,
    TypeCheck: _type_check,
    Locality: _locality,
}


# ---- their parts -----------------------------------------------------------------------------------------------


def _figures(title: str, figures: Figures, more: str) -> Grid:
    rows = [(name, *_cells(result, name), result.n, result.unscored) for name, result in figures.items()]
    return _table(title, ("", "value", "95% interval", "n", "unscored"), rows, more)


def _groups(by: Mapping[str, Mapping[str, Figures]], columns: Sequence[str], counted: str) -> Iterator[Grid]:
    for grouping in _broken_down(by):
        rows = [
            (group, *(_shown(name, figures[name].value) for name in columns), figures[counted].n)
            for group, figures in by[grouping].items()
        ]
        yield _table(f"by {grouping}", ("", *columns, "n"), rows, "")


def _changes(by: By) -> Iterator[Grid]:
    for grouping in _broken_down(by):
        rows = [
            (group, *(_shown(name, result.value) for name, result in change.figures.items()),
             "" if change.adjusted is None else p_equals(change.adjusted), change.gain.n)
            for group, change in by[grouping].items()
        ]  # fmt: skip
        names = next(iter(by[grouping].values())).figures
        yield _table(f"by {grouping}", ("", *names, "adjusted", "n"), rows, "")


def _broken_down(by: Mapping[str, Mapping[str, object]]) -> list[str]:
    return [grouping for grouping, groups in by.items() if len(groups) > 1][:GROUPINGS]


def _uncertain(result: RetrievalResult | TranslationResult) -> str:
    kinds = {"declined": result.uncertain.declined, "half correct": result.uncertain.ties}
    counts = {f"{kind} {name}": number for kind, by_run in kinds.items() for name, number in by_run.items()}
    return _counts(counts | result.left_out)


def _counts(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{name}: {number:,}" for name, number in counts.items() if number)


def _table(title: str, columns: Sequence[str], rows: Sequence[Row], more: str) -> Grid:
    return make_grid(title, columns, rows, *more.split("\n"))


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
