"""Numbers as text: the only place that formats a share, an interval, a p value, a count, a price or a failure.

Minus signs are true ones and zero has no sign. What is not known is `NOTHING`, and an interval that is not known is
empty, so that it can simply be left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from mores.types import MUCH_MISSING, Failure, FailureKind, Result

if TYPE_CHECKING:
    from markupsafe import Markup

NOTHING = "–"
"""Shown where there is no value."""
SIGNIFICANT = 0.05
"""Below this, an adjusted p has a star."""
FAILED: dict[str, tuple[str, str]] = {
    FailureKind.INPUT: ("request could not be sent", "requests could not be sent"),
    FailureKind.MODEL: ("request was refused or not answered", "requests were refused or not answered"),
    FailureKind.FILTERED: ("answer was withheld by a content filter", "answers were withheld by a content filter"),
    FailureKind.TRUNCATED: ("answer was cut off", "answers were cut off"),
    FailureKind.REFUSED: ("answer was declined by the model", "answers were declined by the model"),
    FailureKind.EMPTY: ("answer was empty", "answers were empty"),
    FailureKind.PARSE: ("answer could not be parsed", "answers could not be parsed"),
    FailureKind.SCHEMA: ("answer had another form than asked for", "answers had another form than asked for"),
    "missing": ("text has no judgement", "texts have no judgement"),
}
"""Each kind of failure in plain words, of one and of many."""


def _known(*values: float | None) -> bool:
    return all(value is not None and math.isfinite(value) for value in values)


# ---- single values ---------------------------------------------------------------------------------------------


def number(value: float | None, digits: int = 2, *, signed: bool = False) -> str:
    """Return `0.41`, or `+0.41` when signed."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{digits}f}"


def percent(share: float | None, digits: int = 1, *, signed: bool = False) -> str:
    """Return `41.0%` for a share from 0 to 1."""
    return f"{number(100 * share, digits, signed=signed)}%" if share is not None and math.isfinite(share) else NOTHING


def points(difference: float | None) -> str:
    """Return `+4.0` for a difference of shares, in percentage points."""
    return number(None if difference is None else 100 * difference, 1, signed=True)


def show_score(value: float) -> str:
    """Return the score of a text: a sum of severities as a whole number, a certainty p(R) with three decimals."""
    return number(value, 0 if value <= 0 and value == int(value) else 3)


def p_value(p: float | None, digits: int = 3) -> str:
    """Return `0.031`; below 0.001, or what the digits can show, the size says no more."""
    least = 10.0**-digits
    return f"<{least:.{digits}f}" if p is not None and p < least else number(p, digits)


def p_equals(p: float) -> str:
    """Return `p = 0.031`, for a sentence."""
    return "p < 0.001" if p < 0.001 else f"p = {p_value(p)}"


def money(dollars: float, digits: int = 2) -> str:
    """Return `$1,234.50`."""
    return f"${dollars:,.{digits}f}"


def duration(seconds: float, digits: int = 0) -> str:
    """Return `1,234 s`."""
    return f"{seconds:,.{digits}f} s"


def megabytes(size: float, digits: int = 0) -> str:
    """Return `88 MB` for a number of bytes."""
    return f"{size / 1e6:,.{digits}f} MB"


# ---- intervals -------------------------------------------------------------------------------------------------


def span(low: float | None, high: float | None, digits: int = 2, *, signed: bool = False) -> str:
    """Return `[0.38, 0.44]`."""
    if not _known(low, high):
        return ""
    return f"[{number(low, digits, signed=signed)}, {number(high, digits, signed=signed)}]"


def to(low: float | None, high: float | None, form: Callable[[float | None], str] = points) -> str:
    """Return `−1.0 to +9.0`, each end as `form` shows it."""
    return f"{form(low)} to {form(high)}" if _known(low, high) else ""


def shares(low: float | None, high: float | None, digits: int = 1) -> str:
    """Return `38.2–43.9%`."""
    return f"{percent(low, digits).removesuffix('%')}–{percent(high, digits)}" if _known(low, high) else ""


def between(result: Result | None, digits: int = 1) -> str:
    """Return the 95% interval of a share."""
    return shares(result.low, result.high, digits) if result and _known(result.value) else ""


def possible(result: Result | None) -> str:
    """Return the 95% interval of a share, whatever the unscored are; empty where all are scored."""
    ends = result and (result.whole or result.bounds)  # results of 0.2.0 have only the bounds
    return f"{shares(*ends)} whatever the unscored are" if ends else ""


def headline_interval(result: Result) -> str:
    """Return the 95% interval of a share; where much is missing, the one that covers it too comes first."""
    interval, covering = between(result), possible(result)
    width = result.bounds[1] - result.bounds[0] if result.bounds else 0.0
    if not result.whole or max(width, result.missing) <= MUCH_MISSING:
        return interval
    return f"{covering}; {interval} if they are like the others" if interval else covering


def share_between(result: Result) -> str:
    """Return `41.0% (38.2–43.9%)`, for a headline."""
    interval = headline_interval(result)
    return f"{percent(result.value)} ({interval})" if interval else percent(result.value)


def full_share(result: Result) -> str:
    """Return `41.0% (95% interval 38.2% to 43.9%)`, for a sentence."""
    interval = to(result.low, result.high, percent)
    return f"{percent(result.value)} (95% interval {interval})" if _known(result.value) and interval else "unknown"


def full_points(result: Result) -> str:
    """Return `+4.0 percentage points (95% interval −1.0 to +9.0)`, for a sentence."""
    interval = to(result.low, result.high)
    known = _known(result.value) and interval
    return f"{points(result.value)} percentage points (95% interval {interval})" if known else "unknown"


# ---- counts ----------------------------------------------------------------------------------------------------


def count(n: int, noun: str = "") -> str:
    """Return `1,234`, or `1 answer` and `3 answers`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}" if noun else f"{n:,}"


def first_problems(problems: Sequence[object], most: int = 5, *, total: int | None = None) -> str:
    """Return the first problems on indented lines, each after a line break, and how many more there are."""
    more = (len(problems) if total is None else total) - min(most, len(problems))
    return "".join(f"\n  {line}" for line in (*problems[:most], *([f"and {more:,} more"] if more else [])))


def left_out(n: int) -> str:
    """Return `✕3`, to stand beside a number: three more could not be scored."""
    return f"✕{n:,}" if n else ""


def show_failures(failed: Mapping[FailureKind, int] | Mapping[str, int]) -> str:
    """Return how many requests came to nothing, and why, for example `15 answers could not be parsed`."""
    return ", ".join(_failure(kind, n) for kind, n in failed.items() if n)


def name_failure(kind: str) -> str:
    """Return one failure, for example `the answer could not be parsed`."""
    return _failure(kind, 1).replace("1", "the", 1)


def blame_failure(failure: Failure) -> str:
    """Return the same with whose fault it is: `the request was refused or not answered (fault of the text)`."""
    return f"{name_failure(failure.kind)} (fault of the {failure.blame})"


def _failure(kind: str, n: int) -> str:
    single, many = FAILED.get(kind, (f"answer without a result ({kind})", f"answers without a result ({kind})"))
    return f"{n:,} {single if n == 1 else many}"


def show_code(text: str) -> Markup:
    """Return a message as HTML, in which what stands between backticks is code."""
    from markupsafe import Markup, escape  # most commands draw no page

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))
