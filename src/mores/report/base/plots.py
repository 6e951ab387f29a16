"""Charts with two axes: curves with their intervals, and histograms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mores.formatting import number, percent
from mores.report.base.blocks import LegendSign, few_sign, is_few
from mores.report.base.charts import COLOURS, Chart, Rows, inside, stroke

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
    marks: Sequence[tuple[float, str]] = ()
    """Where its lines stand, and what is written there, where it is neither shares nor whole numbers."""

    def ticks(self) -> list[tuple[float, str]]:
        """Return where a line stands, and what is written there."""
        if self.marks:
            return list(self.marks)
        if self.shares:
            return [(tick / 4, f"{25 * tick}%") for tick in range(5)]
        room = max(1.0, self.high - self.low)
        step = next((s for s in (1, 2, 5, 10, 20, 25, 50, 100) if room / s <= 6), math.ceil(room / 6))
        full = range(step * math.ceil(self.low / step), int(self.high) + 1, step)
        return [(float(n), f"{n:,}") for n in sorted({int(self.low), *(n for n in full if n - self.low >= step / 2)})]

    def at(self, x: float, y: float) -> tuple[str, str]:
        across = inside((x - self.low) / ((self.high - self.low) or 1))
        return f"{LEFT + SIDE * across:.1f}", f"{TOP + SIDE * (1 - inside(y)):.1f}"


class CurveLine(NamedTuple):
    """A line with its interval at each point, where it is known; shares on the y axis."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    hints: Sequence[str] = ()
    n: Sequence[int] = ()
    """How many samples each point rests on: then points with whiskers are drawn rather than a band."""

    def intervals(self) -> list[tuple[float, float, float]]:
        """Return each x whose interval is known, with both ends."""
        ends = zip(self.x, self.low, self.high, strict=False)
        return [(x, low, high) for x, low, high in ends if low is not None and high is not None]


class BinCount(NamedTuple):
    """The number of answers between two places of the x axis."""

    low: float
    high: float
    n: int


class Curves(Chart):
    """Lines from 0 to 100%, with bands or whiskers for their intervals, over columns of counts."""

    lines: Sequence[CurveLine]
    axis: Axis
    y: str
    diagonal: str = ""
    """What the diagonal stands for; none without."""
    columns: Sequence[BinCount] = ()

    def data(self) -> Rows:
        rows = [
            [line.label, x, y, *(values[i] if values else None for values in (line.low, line.high, line.n))]
            for line in self.lines
            for i, (x, y) in enumerate(zip(line.x, line.y, strict=False))
        ]
        return [["line", "x", "y", "low", "high", "n"], *rows]

    def view(self) -> dict[str, Any]:
        axis = self.axis
        signs = [LegendSign(self.diagonal, line="guess")] if self.diagonal and self.columns else []
        signs += [LegendSign(line.label, line=stroke(i)) for i, line in enumerate(self.lines)]
        signs += [LegendSign(self.diagonal, line="guess")] if self.diagonal and not self.columns else []
        sentences = [
            f"{line.label} from {percent(line.y[0], 0)} to {percent(line.y[-1], 0)}" for line in self.lines if line.y
        ]
        most = max((column.n for column in self.columns), default=0) or 1
        return {
            "title": self.title,
            "said": f"{self.y} against {axis.name}: {'; '.join(sentences) or 'nothing'}.",
            "legend": signs + few_sign("hollow", (n for line in self.lines for n in line.n)),
            "size": (WIDTH, HEIGHT),
            "across": [(*axis.at(axis.low, t), *axis.at(axis.high, t), percent(t, 0)) for t in (0, 0.25, 0.5, 0.75, 1)],
            "upright": [(*axis.at(tick, 0), *axis.at(tick, 1), text) for tick, text in axis.ticks()],
            "names": (axis.name, self.y, LEFT + SIDE / 2, TOP + SIDE / 2),
            "diagonal": (*axis.at(axis.low, 0), *axis.at(axis.high, 1)) if self.diagonal else None,
            "columns": [self._column(column, most) for column in self.columns if column.n],
            "lines": [self._line(i, line) for i, line in enumerate(self.lines)],
        }

    def _column(self, column: BinCount, most: int) -> dict[str, Any]:
        (left, foot), (right, _) = self.axis.at(column.low, 0), self.axis.at(column.high, 0)
        height, middle = max(1.5, FLOOR * column.n / most), self.axis.at((column.low + column.high) / 2, 0)[0]
        return {"x": f"{float(left) + 1:.1f}", "y": f"{float(foot) - height:.1f}", "height": f"{height:.1f}",
                "width": f"{float(right) - float(left) - 2:.1f}", "middle": middle, "n": f"{column.n:,}"}  # fmt: skip

    def _line(self, place: int, line: CurveLine) -> dict[str, Any]:
        at = self.axis.at
        ends = line.intervals()
        band = [at(x, high) for x, _, high in ends] + [at(x, low) for x, low, _ in reversed(ends)]
        points = [(x, y) for x, y in zip(line.x, line.y, strict=False) if math.isfinite(x) and math.isfinite(y)]
        marks = [
            {"at": at(line.x[i], line.y[i]), "few": is_few(n), "hint": line.hints[i] if line.hints else "",
             "ends": (at(line.x[i], line.low[i]), at(line.x[i], line.high[i]))  # type: ignore[arg-type]
             if line.low and line.low[i] is not None and line.high[i] is not None else None}
            for i, n in enumerate(line.n)
        ]  # fmt: skip
        return {
            "label": line.label,
            "kind": stroke(place),
            "fill": f"f{place % COLOURS}",
            "points": " ".join(",".join(at(x, y)) for x, y in points),
            "band": " ".join(",".join(point) for point in band) if not line.n else "",
            "spot": at(*points[0]) if len(points) == 1 and not line.n else None,  # a line of one point is not seen
            "marks": marks,
        }


# ---- histogram -------------------------------------------------------------------------------------------------

BAND, ROOM = 64, 38
"""Height of one kind's band, and of the bars in it."""


class ScoreHistogram(Chart):
    """One band of bars for each kind, all on one scale: the share of that kind's samples between two edges."""

    edges: Sequence[float]
    counts: Mapping[str, Sequence[int]]
    note: str = ""

    def data(self) -> Rows:
        rows = [[kind, *self.edges[i : i + 2], n] for kind, row in self.counts.items() for i, n in enumerate(row)]
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
        """Return the first edge, the last, zero and those halfway, as far as they are not too close."""
        last = len(self.edges) - 1
        places = {0, last, *(i for i, edge in enumerate(self.edges) if edge == 0)}
        for middle in (last // 2, last // 4, 3 * last // 4):
            if all(abs(middle - other) >= last / 6 for other in places):
                places.add(middle)
        names = [f"{edge:.3g}".replace("-", "−").replace("inf", "∞") for edge in self.edges]
        return [
            ("first" if i == 0 else "last" if i == last else "", f"{100 * i / last:.2f}%", names[i])
            for i in (sorted(places) if last > 0 else ())
        ]

    def _spoken(self) -> str:
        """Return where most samples of each kind lie, for those who do not see the bars."""
        parts = []
        for kind, row in self.counts.items():
            if sum(row):
                where = self._between(max(range(len(row)), key=row.__getitem__), "and")
                parts.append(f"{sum(row):,} {kind}" + (f", most between {where}" if where else ""))
        return "; ".join(parts) + "."
