"""The tables of benchmark runs: all figures, ranks, and questions beside their parts."""

from __future__ import annotations

from collections.abc import Mapping

from mores.benchmark.board import Gap, Leaderboard
from mores.benchmark.score import BenchResult
from mores.formatting import NOTHING, SIGNIFICANT, between, left_out, number, p_value, percent, points, possible
from mores.report.base.sheet import Cell, Head, Sheet
from mores.types import Result

PARTS = "statements"
"""What the name of a reference ends with that is about the parts of questions."""


def headline_of(result: BenchResult) -> Result:
    """Return the first figure."""
    return next(iter(result.figures.values()), Result(name="", value=None))


def references_of(result: BenchResult, of: str = "") -> dict[str, float]:
    """Return what others reach: of a figure or of parts, whose name theirs ends with, or of the headline."""
    if of:
        return {name[: -len(of) - 2]: v for name, v in result.references.items() if name.endswith(f", {of}")}
    others = tuple(f", {name}" for name in (*result.figures, PARTS))
    return {name: value for name, value in result.references.items() if not name.endswith(others)}


def figure_sheet(named: Mapping[str, BenchResult]) -> Sheet | None:
    """Return every figure of every model, where there are more than the headline."""
    figures = list(dict.fromkeys(name for result in named.values() for name in result.figures))
    if len(figures) < 2:
        return None
    cells = [[plain_cell(result.figures.get(name)) for name in figures] for result in named.values()]
    first = next(iter(named.values()))
    others = {name: references_of(first, name) for name in figures}
    lines = list(dict.fromkeys(line for references in others.values() for line in references))
    cells += [[Cell(percent(others[name].get(line))) for name in figures] for line in lines]
    rows = [*map(Head, named), *(Head(f"“{line}”") for line in lines)]
    return Sheet("All figures", rows, [Head(name) for name in figures], cells)


def plain_cell(result: Result | None) -> Cell:
    """Return a figure with its interval and how many are left out."""
    small = " ".join(filter(None, (between(result), left_out(result.unscored)))) if result else ""
    return Cell(percent(result.value if result else None), small=small, hint=possible(result))


def standing_sheet(leaderboard: Leaderboard, begin: Mapping[str, str]) -> Sheet:
    """Ranks; `begin` says where the page of a run's folder is, or its first file."""
    rows = [
        Head(f"{standing.rank or NOTHING}. {standing.model}", link=begin.get(standing.folder, ""))
        for standing in leaderboard.standings
    ]
    cells = [
        [
            plain_cell(standing.result),
            _gap(standing.best),
            _gap(standing.next),
            Cell(f"{standing.result.n:,}"),
            Cell(f"{standing.result.unscored:,}"),
        ]
        for standing in leaderboard.standings
    ]
    columns = [
        Head(leaderboard.figure),
        Head("against the best"),
        Head("against the next"),
        Head("n"),
        Head("unscored"),
    ]
    return Sheet(f"{leaderboard.title}: ranks", rows, columns, cells)


def _gap(gap: Gap | None) -> Cell:
    if gap is None:
        return Cell(NOTHING)
    hint = f"against {gap.against}: difference {points(gap.difference)} points on {gap.n:,} shared questions"
    small = f"p {p_value(gap.adjusted)}, n {gap.n:,}".replace("p <", "p < ")
    return Cell(number(100 * gap.difference, 1), small=small, hint=hint, star=gap.adjusted < SIGNIFICANT)


def statement_sheet(named: Mapping[str, BenchResult]) -> Sheet | None:
    """Questions beside their parts alone, which flatter (CulturalBench, Section 4)."""
    in_parts = {model: result for model, result in named.items() if result.rows}
    if not in_parts:
        return None
    names = list(dict.fromkeys(name for result in in_parts.values() for name in references_of(result, PARTS)))
    cells = [
        [
            plain_cell(headline_of(r)),
            plain_cell(r.rows),
            *(Cell(percent(references_of(r, PARTS).get(n))) for n in names),
        ]
        for r in in_parts.values()
    ]
    columns = [Head("whole questions"), Head("statements alone"), *(Head(f"“{n}”, statements") for n in names)]
    return Sheet("Questions and statements", [Head(model) for model in in_parts], columns, cells)
