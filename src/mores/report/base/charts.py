"""Charts as small records: values with intervals, bars, parts of a whole, curves and histograms.

A record says what is shown; its `view` says where everything stands, in shares of the width so that words have the
same size on a phone. charts.html.j2 draws it, without scripts, styles or addresses; `figures.py` draws the same record
for a paper. A value with its interval is an `Intervals`, whatever its unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from string import ascii_uppercase
from typing import Any, ClassVar, Literal, NamedTuple

from mores.report.base.blocks import Block, Sign, few_sign
from mores.report.base.few import few_count, is_few
from mores.show import between, left_out, number, percent, points, possible, shares, span, to
from mores.types import Result

COLOURS, DASHES = 8, 3
"""How many colours and dash patterns the style sheet has for lines."""


@dataclass(frozen=True)
class Chart(Block):
    """A figure with a title."""

    template: ClassVar[str] = "base/charts.html.j2"
    title: str

    def data(self) -> Rows:
        """What it shows as plain numbers, under their names."""
        raise NotImplementedError


Rows = Sequence[Sequence[object]]
NUMBERS = ("value", "low", "high", "n", "unscored")
"""What is known of a result, as `numbers_of` gives it."""


def numbers_of(found: Result | None) -> list[object]:
    """A result as plain numbers."""
    return [found.value, found.low, found.high, found.n, found.unscored] if found else [None] * len(NUMBERS)


def stroke(place: int) -> str:
    """The classes of the line in that place: its colour and dashes."""
    return f"series c{place % COLOURS} d{place // COLOURS % DASHES}"


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _inside(value: float, low: float = 0.0, high: float = 1.0) -> float:
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


class Row(NamedTuple):
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


@dataclass(frozen=True)
class Intervals(Chart):
    """Values with their intervals on one scale, and lines for what they are compared with."""

    rows: Sequence[Row]
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
        signs = [Sign(self.named(name, value, kind), line=kind) for kind, name, value in lines]
        signs += [Sign(name, line=f"{stroke(i)} thick") for i, name in enumerate(self.pair) if name]
        signs += [Sign("a baseline", block="square")] if any(row.baseline for row in self.rows) else []
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
        """A line of the legend, with its value."""
        shown = number(value) if self.unit == "number" else FORMS[self.unit].value(value)
        return name if kind == "zero" else f"{name}: {shown}"

    def scale(self) -> Scale:
        """From the lowest to the highest that is shown; shares go from 0 to 100%."""
        found = [one for row in self.rows for one in (row.result, row.second) if one]
        known = [v for one in found for v in (one.value, one.low, one.high) if v is not None and math.isfinite(v)]
        if self.unit == "share":
            return Scale(0.0, 1.0, [(tick / 4, f"{25 * tick}%") for tick in range(5)])
        if self.unit == "points":
            reach = max(0.1, math.ceil(10 * max(map(abs, known), default=0.0) - 1e-9) / 10)
            return Scale(-reach, reach, [(reach * share, points(reach * share)) for share in (-1, -0.5, 0, 0.5, 1)])
        if self.unit == "place":
            last = int(max(known, default=1))
            places = range(1, last + 1, max(1, math.ceil(last / 12)))
            return Scale(1.0, max(2.0, last), [(float(place), str(place)) for place in places])
        return _nice_scale([0.0, *known, *self.references.values()])

    def _row(self, row: Row, scale: Scale) -> dict[str, Any]:
        form, marks, values, intervals = FORMS[self.unit], [], [], []
        heights = ["30%", "70%"] if row.second else ["50%"]
        for place, (found, y) in enumerate(zip((row.result, row.second), heights, strict=False)):
            known = found is not None and _finite(found.value)
            interval = form.interval(found.low, found.high) if found and known and found.low is not None else ""
            values.append(form.value(found.value if found else None))
            intervals.append(interval)
            if found is not None and found.value is not None and known:
                ends = (scale.at(found.low), scale.at(found.high)) if interval else None  # type: ignore[arg-type]
                marks.append({"x": scale.at(found.value), "y": y, "ends": ends, "place": place if row.second else None})
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

    def spoken(self, row: Row) -> str:
        """A row in words."""
        if row.second and row.result:
            first, second = (f"{one.value:g} ({one.low:g}–{one.high:g})" for one in (row.result, row.second))
            return f"{row.label}: place {first} on {self.pair[0]}, {second} on {self.pair[1]}"
        return spoken(row.label, row.result, self.unit)


def spoken(name: str, result: Result | None, unit: Unit = "share") -> str:
    """A number in words: its name, value, interval, how many it rests on and how many more have no score."""
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
        return f"{_inside(4 + 92 * (value - self.low) / (self.high - self.low), 0, 100):.2f}%"

    def marks(self) -> list[tuple[str, str]]:
        return [(self.at(value), text) for value, text in self.ticks]


SHARES = Scale(0.0, 1.0, [(tick / 4, f"{25 * tick}%") for tick in range(5)])


def _nice_scale(values: Sequence[float]) -> Scale:
    low, high = min(values), max(values)
    step = next(
        (s for s in (0.05, 0.1, 0.2, 0.5) if (high - low) / s <= 8),
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


@dataclass(frozen=True)
class Bars(Chart):
    """For each row one bar per group, for example the tiers of difficulty, with their intervals."""

    groups: Sequence[str]
    rows: Mapping[str, Sequence[Result | None]]

    def data(self) -> Rows:
        cells = [(name, pair) for name, own in self.rows.items() for pair in zip(self.groups, own, strict=True)]
        return [["name", "group", *NUMBERS], *([name, group, *numbers_of(one)] for name, (group, one) in cells)]

    def view(self) -> dict[str, Any]:
        signs = [Sign(group, block=f"f{i % COLOURS}") for i, group in enumerate(self.groups)]
        signs += few_sign("hollow", (found.n for results in self.rows.values() for found in results if found))
        return {
            "title": self.title,
            "legend": signs,
            "rows": [self._row(label, results) for label, results in self.rows.items()],
            "ticks": SHARES.marks(),
            "height": len(self.groups) * BAR + 8,
        }

    def _row(self, label: str, results: Sequence[Result | None]) -> dict[str, Any]:
        told = [spoken(group, found) for group, found in zip(self.groups, results, strict=True)]
        bars = []
        for i, found in enumerate(results):
            if found is None or found.value is None or not math.isfinite(found.value):
                continue
            colour, ends = i % COLOURS, None
            if between(found) and found.low is not None and found.high is not None:
                ends = (SHARES.at(found.low), SHARES.at(found.high), i * BAR + 5 + (BAR - 4) / 2)
            bars.append(
                {"kind": f"f{colour} c{colour} few" if is_few(found.n) else f"f{colour}", "title": told[i],
                 "y": i * BAR + 5, "width": f"{92 * _inside(found.value):.2f}%", "height": BAR - 4, "ends": ends}
            )  # fmt: skip
        beside = [" ".join(filter(None, (few_count(f.n), left_out(f.unscored)))) if f else "" for f in results]
        values = [percent(found.value if found else None) for found in results]
        return {
            "label": label,
            "title": "; ".join(told),
            "bars": bars,
            "values": list(zip(told, values, beside, strict=True)),
        }


@dataclass(frozen=True)
class Amounts(Chart):
    """How many there are of each, as bars."""

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


class Part(NamedTuple):
    """What the parts in one place of every bar are."""

    label: str
    colour: int


@dataclass(frozen=True)
class Stacks(Chart):
    """Bars of the same length, cut by share (MSQA, Figure 9), each part with its letter; beside each its size."""

    stacks: Sequence[Stack]
    parts: Sequence[Part]

    def data(self) -> Rows:
        return [["name", *(part.label for part in self.parts)], *([one.label, *one.counts] for one in self.stacks)]

    def view(self) -> dict[str, Any]:
        pairs = zip(ascii_uppercase, self.parts, strict=False)
        signs = [Sign(part.label, block=f"f{part.colour % COLOURS}", letter=letter) for letter, part in pairs]
        signs += few_sign("hollow", (total for stack in self.stacks if (total := sum(stack.counts))))
        return {"title": self.title, "legend": signs, "rows": [self._row(one) for one in self.stacks]}

    def _row(self, one: Stack) -> dict[str, Any]:
        total, left, pieces = sum(one.counts), 0.0, []
        for letter, part, count in zip(ascii_uppercase, self.parts, one.counts, strict=False):
            share, colour = count / total if total else 0.0, part.colour % COLOURS
            if count:
                pieces.append(
                    {"kind": f"f{colour} c{colour} few" if is_few(total) else f"f{colour}", "few": is_few(total),
                     "title": f"{part.label}: {count:,} ({percent(share)})",
                     "x": f"{100 * left:.2f}%", "width": f"{100 * share:.2f}%",
                     "middle": f"{100 * (left + share / 2):.2f}%",
                     "text": f"{letter} {percent(share, 0)}" if share >= NARROW else letter * (share >= NARROWEST)}
                )  # fmt: skip
            left += share
        told = ", ".join(f"{part.label} {count:,}" for part, count in zip(self.parts, one.counts, strict=True))
        return {"label": one.label, "title": f"{one.label}: {told}", "pieces": pieces, "n": f"n {total:,}"}


# ---- curves ----------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP, SIDE, FLOOR = 340, 316, 40, 8, 272, 46
"""The drawing and its square, from `LEFT` and `TOP`; the height of the largest column at its foot."""


class Axis(NamedTuple):
    """The x axis of a plot."""

    name: str
    low: float = 0.0
    high: float = 1.0
    shares: bool = True
    """Its numbers are per cent."""

    def ticks(self) -> list[tuple[float, str]]:
        """Where a line stands, and what is written there."""
        if self.shares:
            return [(tick / 4, f"{25 * tick}%") for tick in range(5)]
        room = max(1.0, self.high - self.low)
        step = next((s for s in (1, 2, 5, 10, 20, 25, 50, 100) if room / s <= 6), math.ceil(room / 6))
        full = range(step * math.ceil(self.low / step), int(self.high) + 1, step)
        return [(float(n), f"{n:,}") for n in sorted({int(self.low), *(n for n in full if n - self.low >= step / 2)})]

    def at(self, x: float, y: float) -> tuple[str, str]:
        across = _inside((x - self.low) / ((self.high - self.low) or 1))
        return f"{LEFT + SIDE * across:.1f}", f"{TOP + SIDE * (1 - _inside(y)):.1f}"


class Line(NamedTuple):
    """A line with its interval at each point, where it is known; shares on the y axis."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    hints: Sequence[str] = ()
    n: Sequence[int] = ()
    """How many samples each point rests on: then points with whiskers are drawn rather than a band."""


class Column(NamedTuple):
    """How many answers there are between two places of the x axis."""

    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Curves(Chart):
    """Lines from 0 to 100%, with bands or whiskers for their intervals, over columns of counts."""

    lines: Sequence[Line]
    axis: Axis
    y: str
    diagonal: str = ""
    """What the diagonal stands for; none without."""
    columns: Sequence[Column] = ()

    def data(self) -> Rows:
        rows = [
            [line.label, x, y, *(own[i] if own else None for own in (line.low, line.high, line.n))]
            for line in self.lines
            for i, (x, y) in enumerate(zip(line.x, line.y, strict=False))
        ]
        return [["line", "x", "y", "low", "high", "n"], *rows]

    def view(self) -> dict[str, Any]:
        axis = self.axis
        signs = [Sign(self.diagonal, line="guess")] if self.diagonal and self.columns else []
        signs += [Sign(one.label, line=stroke(i)) for i, one in enumerate(self.lines)]
        signs += [Sign(self.diagonal, line="guess")] if self.diagonal and not self.columns else []
        told = [f"{one.label} from {percent(one.y[0], 0)} to {percent(one.y[-1], 0)}" for one in self.lines if one.y]
        most = max((one.n for one in self.columns), default=0) or 1
        return {
            "title": self.title,
            "said": f"{self.y} against {axis.name}: {'; '.join(told) or 'nothing'}.",
            "legend": signs + few_sign("hollow", (n for one in self.lines for n in one.n)),
            "size": (WIDTH, HEIGHT),
            "across": [(*axis.at(axis.low, t), *axis.at(axis.high, t), percent(t, 0)) for t in (0, 0.25, 0.5, 0.75, 1)],
            "upright": [(*axis.at(tick, 0), *axis.at(tick, 1), text) for tick, text in axis.ticks()],
            "names": (axis.name, self.y, LEFT + SIDE / 2, TOP + SIDE / 2),
            "diagonal": (*axis.at(axis.low, 0), *axis.at(axis.high, 1)) if self.diagonal else None,
            "columns": [self._column(one, most) for one in self.columns if one.n],
            "lines": [self._line(i, one) for i, one in enumerate(self.lines)],
        }

    def _column(self, one: Column, most: int) -> dict[str, Any]:
        (left, foot), (right, _) = self.axis.at(one.low, 0), self.axis.at(one.high, 0)
        height, middle = max(1.5, FLOOR * one.n / most), self.axis.at((one.low + one.high) / 2, 0)[0]
        return {"x": f"{float(left) + 1:.1f}", "y": f"{float(foot) - height:.1f}", "height": f"{height:.1f}",
                "width": f"{float(right) - float(left) - 2:.1f}", "middle": middle, "n": f"{one.n:,}"}  # fmt: skip

    def _line(self, place: int, one: Line) -> dict[str, Any]:
        at = self.axis.at
        ends = [(x, low, high) for x, low, high in zip(one.x, one.low, one.high, strict=False)
                if low is not None and high is not None]  # fmt: skip
        band = [at(x, high) for x, _, high in ends] + [at(x, low) for x, low, _ in reversed(ends)]
        known = [(x, y) for x, y in zip(one.x, one.y, strict=False) if math.isfinite(x) and math.isfinite(y)]
        marks = [
            {"at": at(one.x[i], one.y[i]), "few": is_few(n), "hint": one.hints[i] if one.hints else "",
             "ends": (at(one.x[i], one.low[i]), at(one.x[i], one.high[i]))  # type: ignore[arg-type]
             if one.low and one.low[i] is not None and one.high[i] is not None else None}
            for i, n in enumerate(one.n)
        ]  # fmt: skip
        return {
            "label": one.label,
            "kind": stroke(place),
            "fill": f"f{place % COLOURS}",
            "points": " ".join(",".join(at(x, y)) for x, y in known),
            "band": " ".join(",".join(point) for point in band) if not one.n else "",
            "spot": at(*known[0]) if len(known) == 1 and not one.n else None,  # a line of one point is not seen
            "marks": marks,
        }


# ---- histogram -------------------------------------------------------------------------------------------------

BAND, ROOM = 64, 38
"""Height of one kind's band, and of the bars in it."""


@dataclass(frozen=True)
class Histogram(Chart):
    """One band of bars for each kind, all on one scale: the share of that kind's samples between two edges."""

    edges: Sequence[float]
    counts: Mapping[str, Sequence[int]]
    note: str = ""

    def data(self) -> Rows:
        rows = [[kind, *self.edges[i : i + 2], n] for kind, own in self.counts.items() for i, n in enumerate(own)]
        return [["kind", "from", "to", "count"], *rows]

    def view(self) -> dict[str, Any]:
        shares_of = {kind: [n / (sum(row) or 1) for n in row] for kind, row in self.counts.items()}
        top = max((share for row in shares_of.values() for share in row), default=0) or 1
        height = BAND * len(self.counts)
        return {
            "title": self.title,
            "note": self.note,
            "said": self._spoken(),
            "height": height,
            "kinds": [self._band(i, kind, shares_of[kind], top) for i, kind in enumerate(self.counts)],
            "ticks": self._ticks(),
            "legend": few_sign("hollow", map(sum, self.counts.values())),
        }

    def _band(self, place: int, kind: str, parts: Sequence[float], top: float) -> dict[str, Any]:
        counts, base = self.counts[kind], BAND * (place + 1)
        step, bars = 100 / max(1, len(counts)), []
        for i, (count, share) in enumerate(zip(counts, parts, strict=True)):
            if count:
                height = max(1.5, ROOM * share / top)
                where = self._between(i) or f"bar {i + 1}"
                bars.append({"x": f"{(i + 0.06) * step:.2f}%", "y": f"{base - height:.1f}", "height": f"{height:.1f}",
                             "width": f"{0.88 * step:.2f}%",
                             "title": f"{kind}, {where}: {count:,} ({percent(share)})"})  # fmt: skip
        few = is_few(sum(counts))
        return {"kind": kind, "base": base, "bars": bars, "few": few, "name": base - ROOM - 4, "n": f"{sum(counts):,}"}

    def _between(self, i: int, word: str = "to") -> str:
        edges = self.edges
        return f"{number(edges[i])} {word} {number(edges[i + 1])}" if i + 1 < len(edges) else ""

    def _ticks(self) -> list[tuple[str, str, str]]:
        """The first edge, the last, zero and those halfway, as far as they are not too close."""
        last = len(self.edges) - 1
        wanted = {0, last, *(i for i, edge in enumerate(self.edges) if edge == 0)}
        for middle in (last // 2, last // 4, 3 * last // 4):
            if all(abs(middle - other) >= last / 6 for other in wanted):
                wanted.add(middle)
        return [
            ("first" if i == 0 else "last" if i == last else "", f"{100 * i / last:.2f}%", _edge(self.edges[i]))
            for i in (sorted(wanted) if last > 0 else ())
        ]

    def _spoken(self) -> str:
        """Where most samples of each kind lie, for those who do not see the bars."""
        parts = []
        for kind, row in self.counts.items():
            if sum(row):
                where = self._between(max(range(len(row)), key=row.__getitem__), "and")
                parts.append(f"{sum(row):,} {kind}" + (f", most between {where}" if where else ""))
        return "; ".join(parts) + "."


def _edge(edge: float) -> str:
    return f"{edge:.3g}".replace("-", "−").replace("inf", "∞")
