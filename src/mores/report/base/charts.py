"""Charts as small records: values with their intervals, bars, and parts of a whole.

A record says what is shown; its `view` says where everything stands, in shares of the width so that words have the
same size on a phone. charts.html.j2 draws it, without scripts, styles or addresses; `figures.py` draws the same record
for a paper. A value with its interval is an `Intervals`, whatever its unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple

from mores.formatting import between, left_out, number, percent, points, possible, shares, span, to
from mores.report.base.blocks import LegendSign, PageBlock, few_count, few_sign, is_few
from mores.types import Result

COLOURS, DASHES = 8, 3
"""How many colours and dash patterns the style sheet has for lines."""


class Chart(PageBlock, template="base/charts.html.j2"):
    """A figure with a title."""

    title: str

    def data(self) -> Rows:
        """Return what it shows as plain numbers, under their names."""
        raise NotImplementedError


Rows = Sequence[Sequence[object]]
NUMBERS = ("value", "low", "high", "n", "unscored")
"""The numbers of a result, as `numbers_of` returns them."""


def numbers_of(result: Result | None) -> list[object]:
    """Return a result as plain numbers."""
    return [result.value, result.low, result.high, result.n, result.unscored] if result else [None] * len(NUMBERS)


def stroke(place: int) -> str:
    """Return the classes of the line in that place: its colour and dashes."""
    return f"series c{place % COLOURS} d{place // COLOURS % DASHES}"


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def inside(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return the nearest value between both ends."""
    return min(high, max(low, value))


# ---- values with their intervals -------------------------------------------------------------------------------

Unit = Literal["share", "points", "number", "place"]


class _Form(NamedTuple):
    value: Callable[[float | None], str]
    interval: Callable[[float | None, float | None], str]


FORMS: dict[Unit, _Form] = {
    "share": _Form(percent, shares),
    "points": _Form(points, to),
    "number": _Form(partial(number, digits=3), span),
    "place": _Form(partial(number, digits=0), lambda low, high: f"{low:g}–{high:g}"),
}


class IntervalRow(NamedTuple):
    """One line of a chart of values."""

    label: str
    result: Result | None
    note: str = ""
    star: bool = False
    """Whether it is unlikely to be chance; the chart's key says of what."""
    baseline: bool = False
    """Drawn as a square: shown only for comparison."""
    second: Result | None = None
    """Another value of the same, below the first and joined with it."""


class Intervals(Chart):
    """Values with their intervals on one scale, and lines for what they are compared with."""

    rows: Sequence[IntervalRow]
    unit: Unit = "share"
    references: Mapping[str, float] = field(default_factory=dict)
    """Dashed lines, by name."""
    zero: str = ""
    """What the line at zero is called; none without."""
    pair: tuple[str, str] = ("", "")
    """What the first and the second value of each row are."""

    def data(self) -> Rows:
        two = any(self.pair)
        head = ["name", *NUMBERS, *(f"second {name}" for name in NUMBERS if two)]
        return [head, *([r.label, *numbers_of(r.result), *(numbers_of(r.second) * two)] for r in self.rows)]

    def view(self) -> dict[str, Any]:
        scale, pair = self.scale(), any(self.pair)
        lines = [("zero", self.zero, 0.0)] if self.zero else []
        lines += [(f"baseline b{i % 4}", name, v) for i, (name, v) in enumerate(self.references.items())]
        signs = [LegendSign(self.named(name, value, kind), line=kind) for kind, name, value in lines]
        signs += [LegendSign(name, line=f"{stroke(i)} thick") for i, name in enumerate(self.pair) if name]
        signs += [LegendSign("a baseline", block="square")] if any(row.baseline for row in self.rows) else []
        sizes = [] if pair else [row.result.n for row in self.rows if row.result and _finite(row.result.value)]
        return {
            "title": self.title,
            "kind": "forest dots ranks" if pair else "forest dots",
            "legend": signs + few_sign("hollow", sizes),
            "guides": [(kind, scale.at(value)) for kind, _, value in lines],
            "rows": [self._row(row, scale) for row in self.rows],
            "ticks": scale.marks(),
        }

    def named(self, name: str, value: float, kind: str = "") -> str:
        """Return a line of the legend, with its value."""
        shown = number(value) if self.unit == "number" else FORMS[self.unit].value(value)
        return name if kind == "zero" else f"{name}: {shown}"

    def scale(self) -> Scale:
        """Return the scale from the lowest to the highest that is shown; shares go from 0 to 100%."""
        results = [result for row in self.rows for result in (row.result, row.second) if result]
        known = (value for result in results for value in (result.value, result.low, result.high))
        values = [value for value in known if value is not None and math.isfinite(value)]
        if self.unit == "share":
            return SHARES
        if self.unit == "points":
            reach = max(0.1, math.ceil(10 * max(map(abs, values), default=0.0) - 1e-9) / 10)
            return Scale(-reach, reach, [(reach * share, points(reach * share)) for share in (-1, -0.5, 0, 0.5, 1)])
        if self.unit == "place":
            last = int(max(values, default=1))
            places = range(1, last + 1, max(1, math.ceil(last / 12)))
            return Scale(1.0, max(2.0, last), [(float(place), str(place)) for place in places])
        return _nice_scale([0.0, *values, *self.references.values()])

    def _row(self, row: IntervalRow, scale: Scale) -> dict[str, Any]:
        form, marks, values, intervals = FORMS[self.unit], [], [], []
        heights = ["30%", "70%"] if row.second else ["50%"]
        for place, (result, y) in enumerate(zip((row.result, row.second), heights, strict=False)):
            drawable = result is not None and _finite(result.value)
            interval = form.interval(result.low, result.high) if result and drawable and result.low is not None else ""
            values.append(form.value(result.value if result else None))
            intervals.append(interval)
            if result is not None and result.value is not None and drawable:
                ends = (scale.at(result.low), scale.at(result.high)) if interval else None  # type: ignore[arg-type]
                marks.append(
                    {"x": scale.at(result.value), "y": y, "ends": ends, "place": place if row.second else None}
                )
        n = row.result.n if row.result else None
        drawn = row.result is not None and _finite(row.result.value) and not row.second
        return {
            "label": row.label,
            "note": row.note or few_count(n),
            "kind": " ".join((["muted"] if row.baseline else []) + (["few"] if drawn and is_few(n) else [])),
            "title": self.spoken(row),
            "marks": marks,
            "value": " → ".join(values),
            "interval": " → ".join(filter(None, intervals)),
            "star": row.star,
            "baseline": row.baseline,
            "out": left_out(row.result.unscored) if row.result else "",
        }

    def spoken(self, row: IntervalRow) -> str:
        """Return a row in words."""
        if row.second and row.result:
            first, second = (
                f"{result.value:g} ({result.low:g}–{result.high:g})" for result in (row.result, row.second)
            )
            return f"{row.label}: place {first} on {self.pair[0]}, {second} on {self.pair[1]}"
        return spoken(row.label, row.result, self.unit)


def spoken(name: str, result: Result | None, unit: Unit = "share") -> str:
    """Return a number in words: its name, value, interval, how many it rests on and how many more have no score."""
    if result is None or not _finite(result.value):
        return f"{name}: no score" + (f", {result.unscored:,} unscored" if result else "")
    form = FORMS[unit]
    interval = form.interval(result.low, result.high) if _finite(result.low) and _finite(result.high) else ""
    shown = form.value(result.value) + (" points" if unit == "points" else "")
    inside = f" (95% interval {interval})" if interval else ""
    bounds = f"; {possible(result)}" if unit == "share" and result.bounds else ""
    return f"{name}: {shown}{inside}, n {result.n:,}, {result.unscored:,} unscored{bounds}"


class Scale(NamedTuple):
    """From values to shares of the width."""

    low: float
    high: float
    ticks: list[tuple[float, str]]

    def at(self, value: float) -> str:
        return f"{inside(4 + 92 * (value - self.low) / (self.high - self.low), 0, 100):.2f}%"

    def marks(self) -> list[tuple[str, str]]:
        return [(self.at(value), text) for value, text in self.ticks]


SHARES = Scale(0.0, 1.0, [(tick / 4, f"{25 * tick}%") for tick in range(5)])


def _nice_scale(values: Sequence[float]) -> Scale:
    low, high = min(values), max(values)
    step = next(
        (s for s in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if (high - low) / s <= 8),
        10 ** math.ceil(math.log10(max(high - low, 1)) - 0.7),
    )
    first, last = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    last = max(last, first + step)
    digits = 2 if step < 0.1 else 1
    ticks = [first + i * step for i in range(round((last - first) / step) + 1)]
    return Scale(first, last, [(tick, number(tick, digits)) for tick in ticks])


# ---- bars ------------------------------------------------------------------------------------------------------

BAR = 15
"""Height of one bar with its gap."""


class GroupedBars(Chart):
    """For each row one bar per group, for example the tiers of difficulty, with their intervals."""

    groups: Sequence[str]
    rows: Mapping[str, Sequence[Result | None]]

    def data(self) -> Rows:
        cells = [(name, pair) for name, results in self.rows.items() for pair in zip(self.groups, results, strict=True)]
        return [["name", "group", *NUMBERS], *([name, group, *numbers_of(result)] for name, (group, result) in cells)]

    def view(self) -> dict[str, Any]:
        signs = [LegendSign(group, block=f"f{i % COLOURS}") for i, group in enumerate(self.groups)]
        signs += few_sign("hollow", (result.n for results in self.rows.values() for result in results if result))
        return {
            "title": self.title,
            "legend": signs,
            "rows": [self._row(label, results) for label, results in self.rows.items()],
            "ticks": SHARES.marks(),
            "height": len(self.groups) * BAR + 8,
        }

    def _row(self, label: str, results: Sequence[Result | None]) -> dict[str, Any]:
        sentences = [spoken(group, result) for group, result in zip(self.groups, results, strict=True)]
        bars = []
        for i, result in enumerate(results):
            if result is None or result.value is None or not math.isfinite(result.value):
                continue
            colour, ends = i % COLOURS, None
            if between(result) and result.low is not None and result.high is not None:
                ends = (SHARES.at(result.low), SHARES.at(result.high), i * BAR + 5 + (BAR - 4) / 2)
            bars.append(
                {"kind": f"f{colour} c{colour} few" if is_few(result.n) else f"f{colour}", "title": sentences[i],
                 "y": i * BAR + 5, "width": f"{92 * inside(result.value):.2f}%", "height": BAR - 4, "ends": ends}
            )  # fmt: skip
        beside = [" ".join(filter(None, (few_count(f.n), left_out(f.unscored)))) if f else "" for f in results]
        values = [percent(result.value if result else None) for result in results]
        return {
            "label": label,
            "title": "; ".join(sentences),
            "bars": bars,
            "values": list(zip(sentences, values, beside, strict=True)),
        }


class Amounts(Chart):
    """The number of each of several things, as bars."""

    counts: Mapping[str, int]

    def data(self) -> Rows:
        return [("name", "count"), *self.counts.items()]

    def view(self) -> dict[str, Any]:
        top = max(self.counts.values(), default=0) or 1
        rows = [(name, f"{n:,}", f"{100 * n / top:.1f}%") for name, n in self.counts.items()]
        return {"title": self.title, "rows": rows}


# ---- parts of a whole ------------------------------------------------------------------------------------------

NARROW, NARROWEST = 0.12, 0.03
"""A smaller part of a bar has no room for its per cent, and for its letter."""


class Stack(NamedTuple):
    """One bar, cut into parts."""

    label: str
    counts: Sequence[int]


class StackPart(NamedTuple):
    """The meaning of the parts in one place of every bar."""

    label: str
    colour: int
    letter: str = ""
    """What stands in the parts; by default A, B, …"""


class Stacks(Chart):
    """Bars of the same length, cut by share (MSQA, Figure 9), each part with its letter; beside each its size."""

    stacks: Sequence[Stack]
    parts: Sequence[StackPart]

    def data(self) -> Rows:
        return [
            ["name", *(part.label for part in self.parts)],
            *([stack.label, *stack.counts] for stack in self.stacks),
        ]

    def view(self) -> dict[str, Any]:
        pairs = zip(self._letters(), self.parts, strict=False)
        signs = [
            LegendSign(part.label, block=f"f{part.colour % COLOURS}", letter="" if letter == part.label else letter)
            for letter, part in pairs
        ]
        signs += few_sign("hollow", (total for stack in self.stacks if (total := sum(stack.counts))))
        return {"title": self.title, "legend": signs, "rows": [self._row(stack) for stack in self.stacks]}

    def _letters(self) -> list[str]:
        return [part.letter or letter for part, letter in zip(self.parts, ascii_uppercase, strict=False)]

    def _row(self, stack: Stack) -> dict[str, Any]:
        total, start, pieces = sum(stack.counts), 0.0, []
        for letter, part, count in zip(self._letters(), self.parts, stack.counts, strict=False):
            share, colour = count / total if total else 0.0, part.colour % COLOURS
            if count:
                pieces.append(
                    {"kind": f"f{colour} c{colour} few" if is_few(total) else f"f{colour}", "few": is_few(total),
                     "title": f"{part.label}: {count:,} ({percent(share)})",
                     "x": f"{100 * start:.2f}%", "width": f"{100 * share:.2f}%",
                     "middle": f"{100 * (start + share / 2):.2f}%",
                     "text": f"{letter} {percent(share, 0)}" if share >= NARROW else letter * (share >= NARROWEST)}
                )  # fmt: skip
            start += share
        parts = ", ".join(f"{part.label} {count:,}" for part, count in zip(self.parts, stack.counts, strict=True))
        return {"label": stack.label, "title": f"{stack.label}: {parts}", "pieces": pieces, "n": f"n {total:,}"}
