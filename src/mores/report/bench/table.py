"""What is printed about benchmarks: the list of them, the tables of runs, a leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mores.benchmark.benchmark import Benchmark
from mores.benchmark.board import Board, Gap, Leaderboard, RankShift, Standing
from mores.benchmark.contract import BenchmarkCheck
from mores.benchmark.score import BenchResult
from mores.formatting import SIGNIFICANT, between, number, p_value, percent, possible, show_failures
from mores.report.base.grid import Cell, Grid, Row
from mores.types import Result


def benchmark_table(benchmarks: Iterable[Benchmark]) -> Grid:
    """Return every benchmark in a row."""
    rows = [(each.name, each.title, each.graded_by, each.licence) for each in benchmarks]
    note = f"{len(rows)} benchmarks; `mores bench info NAME` says more about one"
    return Grid(("name", "what", "graded by", "licence"), [("", rows)], notes=[note], words=frozenset(range(4)))


# ---- runs ------------------------------------------------------------------------------------------------------


def tables(results: Sequence[BenchResult]) -> list[Grid | str]:
    """Return a table for each run, then a line for each: what a reader wants to know comes last."""
    return [*map(_result_grid, results), *(result.headline for result in results)]


def _result_grid(result: BenchResult) -> Grid:
    """Return all figures, overall and by group, with what a reader needs beside them."""
    groups = [(f"by {grouping}", [_figures(*group) for group in by.items()]) for grouping, by in result.by.items()]
    compared = [f"{name} {percent(value)}" for name, value in result.references.items()]
    if result.rows and result.rows.value is not None:
        compared.insert(0, f"statements alone {percent(result.rows.value)}")
    agreement = result.agreement
    name, first = next(iter(result.figures.items()), ("", None))
    bounds = possible(first)
    notes = [
        f"{name} {bounds}" if bounds else "",
        f"could not be graded: {show_failures(result.failures)}" if result.failures else "",
        "" if agreement is None else f"agreement of the judges: Krippendorff's α {number(agreement, 3)}",
        f"for comparison: {', '.join(compared)}" if compared else "",
    ]
    sections = [("", [_figures("all", result.figures)]), *groups]
    return Grid(("", *result.figures, "n", "unscored"), sections, f"{result.title}: {result.model}", notes)


def _figures(name: str, figures: Mapping[str, Result]) -> list[Cell]:
    first = next(iter(figures.values()))
    return [name, *map(_cell, figures.values()), f"{first.n:,}", f"{first.unscored:,}"]


def _cell(result: Result) -> tuple[str, str]:
    """Return a share and its interval."""
    interval = between(result)
    return percent(result.value), f"({interval})" if interval else ""


# ---- a leaderboard ---------------------------------------------------------------------------------------------


def board_tables(board: Board) -> list[Grid | str]:
    """Return a table for each benchmark, how ranks shift between them, and who is first on each."""
    ranks = [_ranks(board.shift)] if board.shift else []
    return [*map(_leaderboard_grid, board.leaderboards), *ranks, *map(_leaderboard_headline, board.leaderboards)]


def _leaderboard_grid(leaderboard: Leaderboard) -> Grid:
    references = ", ".join(f"{name} {percent(value)}" for name, value in leaderboard.references.items())
    ungraded = [  # by kind; a question may have several answers, so they are not those in the table
        f"{each.model}: " + "; ".join(filter(None, (show_failures(each.failures), possible(each.result))))
        for each in leaderboard.standings
        if each.failures
    ]
    notes = [
        f"for comparison: {references}" if references else "",
        "* adjusted p < 0.05",
        *ungraded,
        *leaderboard.notes,
    ]
    columns = ("", "model", leaderboard.figure, "p, best", "p, next", "n", "unscored")
    return Grid(columns, [("", list(map(_standing, leaderboard.standings)))], leaderboard.title, notes, frozenset({1}))


def _standing(standing: Standing) -> Row:
    result = standing.result
    return (
        "–" if standing.rank is None else str(standing.rank), standing.model, _cell(result),
        _chance(standing.best), _chance(standing.next), f"{result.n:,}", f"{result.unscored:,}",
    )  # fmt: skip


def _chance(gap: Gap | None) -> str:
    return f"{p_value(gap.adjusted)}{'*' if gap.adjusted < SIGNIFICANT else ' '}" if gap else ""


def _leaderboard_headline(leaderboard: Leaderboard) -> str:
    """Return who is first, and whether the next one is really behind."""
    ranked = [each for each in leaderboard.standings if each.rank is not None]
    if not ranked:
        return f"{leaderboard.title}: no model has a score"
    first = [each for each in ranked if each.rank == 1]
    names = " and ".join(each.model for each in first)
    text = (
        f"{leaderboard.title}: {names} {'is' if len(first) == 1 else 'are'} first with {percent(first[0].result.value)}"
    )
    if len(first) > 1 or not first[0].next or len(ranked) == 1:
        return text
    gap = first[0].next.adjusted
    ahead = "significantly" if gap < SIGNIFICANT else "not significantly"
    return f"{text}, {ahead} ahead of {ranked[1].model} (adjusted p {p_value(gap)})"


def _ranks(shift: RankShift) -> Grid:
    rows = [(model, *map(str, ranks)) for model, ranks in shift.ranks.items()]
    title = "Ranks among the models that were run on all of these"
    return Grid(("model", *shift.benchmarks), [("", rows)], title)


# ---- the check of a benchmark ----------------------------------------------------------------------------------


def check_table(name: str, checks: Sequence[BenchmarkCheck]) -> Grid:
    """Return what a benchmark has of what it needs, and what is missing."""
    rows = [(check.name, check.status, "\n".join(check.problems)) for check in checks]
    passed = sum(check.status == "ok" for check in checks)
    note = f"{name}: {passed} of {len(checks)} checks are ok"
    return Grid(("check", "", "what is missing"), [("", rows)], name, [note], frozenset(range(3)))
