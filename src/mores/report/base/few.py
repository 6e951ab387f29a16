"""The one rule of every chart for a value of few samples, which says little.

It is hollow or hatched, has no colour and no part in a scale of colours, and its count stands beside it. A
chart that shows one explains the sign in its legend; nothing else on our pages is hollow or hatched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mores.types import FEW, Result


def is_few(n: int | None) -> bool:
    """Return whether a value rests on too few samples to be drawn like the others."""
    return n is not None and n < FEW


def few_count(n: int | None) -> str:
    """Return the count that stands beside a value of few samples; nothing beside others."""
    return f"n {n:,}" if n is not None and is_few(n) else ""


def telling(results: Iterable[Result | None]) -> Iterator[float]:
    """Return the values of enough samples: only these have a colour, so only these make its scale."""
    return (
        result.value for result in results if result is not None and result.value is not None and not is_few(result.n)
    )
