"""The one rule of every chart for a value of few samples, which says little.

It is hollow or hatched, has no colour of its own and no part in a scale of colours, and its count stands beside it. A
chart that shows one has `few_key` in its legend; nothing else on our pages is hollow or hatched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from markupsafe import Markup

from mores.types import FEW, Result


def is_few(n: int | None) -> bool:
    """Whether a value rests on too few samples to be drawn like the others."""
    return n is not None and n < FEW


def few_count(n: int | None) -> str:
    """The count that stands beside a value of few samples; nothing beside others."""
    return f"n {n:,}" if n is not None and is_few(n) else ""


def telling(results: Iterable[Result | None]) -> Iterator[float]:
    """The values of enough samples: only these have a colour, so only these make its scale."""
    return (one.value for one in results if one is not None and one.value is not None and not is_few(one.n))


def few_key(sign: Literal["hollow", "hatched"], counts: Iterable[int | None]) -> Markup:
    """The entry of a legend that explains the sign; nothing where none of the counts is few."""
    if not any(map(is_few, counts)):
        return Markup()
    return Markup(
        '<li class="few-key"><span class="block {0}" aria-hidden="true"></span> {0}: fewer than {1} samples</li>'
    ).format(sign, FEW)
