"""What `mores bench` prints: the list of benchmarks, the tables of a run, and its headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mores.bench.benchmark import Benchmark
from mores.bench.score import BenchResult
from mores.report.base.grid import Cell, Grid, harmless, plain_console
from mores.show import between, number, percent, possible, show_failures
from mores.types import Result


def show_list(benchmarks: Iterable[Benchmark]) -> None:
    """Every benchmark in a row."""
    rows = [(one.name, one.title, one.graded_by, one.licence) for one in benchmarks]
    note = f"{len(rows)} benchmarks; `mores bench info NAME` says more of one"
    plain_console().print(
        Grid(("name", "what", "graded by", "licence"), [("", rows)], notes=[note], words=frozenset(range(4)))
    )


def show_results(results: Sequence[BenchResult]) -> None:
    """The tables of all runs, then a line for each: what a reader wants to know stands last."""
    console = plain_console()
    for result in results:
        console.print(grid(result))
        console.print()
    for result in results:
        console.print(harmless(result.headline), soft_wrap=True)


def grid(result: BenchResult) -> Grid:
    """All figures, overall and by group, with what a reader needs beside them."""
    groups = [(f"by {grouping}", [_row(*one) for one in by.items()]) for grouping, by in result.by.items()]
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
    sections = [("", [_row("all", result.figures)]), *groups]
    return Grid(("", *result.figures, "n", "unscored"), sections, f"{result.title}: {result.model}", notes)


def show(result: Result) -> str:
    """A share with its interval."""
    return " ".join(filter(None, cell(result)))


def cell(result: Result) -> tuple[str, str]:
    """A share and its interval."""
    interval = between(result)
    return percent(result.value), f"({interval})" if interval else ""


def _row(name: str, figures: Mapping[str, Result]) -> list[Cell]:
    first = next(iter(figures.values()))
    return [name, *map(cell, figures.values()), f"{first.n:,}", f"{first.unscored:,}"]
