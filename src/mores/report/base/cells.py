"""Results as cells of a table."""

from __future__ import annotations

from mores.formatting import NOTHING, between, left_out, number, percent, span
from mores.report.base.grid import Cell
from mores.types import Result


def number_cell(result: Result | None, digits: int = 2, *, signed: bool = False) -> Cell:
    """Return `0.41 [0.38, 0.44]`."""
    if result is None or result.value is None:
        return Cell(NOTHING)
    interval = span(result.low, result.high, digits, signed=signed)
    return Cell(number(result.value, digits, signed=signed), result.value, interval, n=result.n)


def share_cell(result: Result | None) -> tuple[str, str]:
    """Return `41.0% (38.2–43.9%)`."""
    interval = between(result)
    return percent(result.value if result else None), f"({interval})" if interval else ""


def count_cell(n: int, unscored: int = 0) -> Cell:
    """Return how many there are, and how many more could not be scored: `40 ✕3`."""
    return Cell(f"{n:,}", small=left_out(unscored))
