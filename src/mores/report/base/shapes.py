"""Other charts: a radar, a map of countries and a chart of ranks; and scores as strengths of a colour."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mores.culture import region_name
from mores.formatting import percent
from mores.report.base.blocks import STEPS, LegendSign, Ramp, few_sign, is_few
from mores.report.base.charts import COLOURS, NUMBERS, Chart, Rows, numbers_of, spoken, stroke
from mores.report.base.names import look_up
from mores.types import Result

# ---- strengths of a colour -------------------------------------------------------------------------------------

BRIGHT = 0.08
"""The weakest score still has so much colour, to be told from no data."""


class Shades(NamedTuple):
    """From scores to strengths of colour: the lightest for `low`, the full one for `high`."""

    low: float
    high: float

    def at(self, value: float | None) -> float | None:
        """Return the strength of a value, from just visible to 1."""
        if value is None or not math.isfinite(value):
            return None
        return BRIGHT + (1 - BRIGHT) * min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def ramp(self) -> Ramp:
        """Return the legend of a map or heatmap."""
        return Ramp(percent(self.low, 0), percent(self.high, 0))


def shades(values: Iterable[float | None]) -> Shades:
    """Return a scale that holds these values, between full tens of per cent."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    first, last = math.floor(low * 10 + 1e-9) / 10, math.ceil(high * 10 - 1e-9) / 10
    return Shades(first, max(last, first + 0.1))


# ---- radar -----------------------------------------------------------------------------------------------------

RADAR, CENTRE, RADIUS = (420, 300), (210.0, 150.0), 118.0
LINE = 15
"""Letters in a line of a radar's label."""


class RadarProfile(NamedTuple):
    """Scores on every axis, and how many samples each rests on."""

    label: str
    scores: Sequence[float]
    n: Sequence[int] = ()


class Radar(Chart):
    """One polygon for each model (MSQA, Figure 4); the rim is `top`, the same for radars that are compared."""

    axes: Sequence[str]
    profiles: Sequence[RadarProfile]
    top: float = 1.0
    faint: RadarProfile | None = None
    """Lies behind the others."""

    def data(self) -> Rows:
        return [["name", *self.axes], *([profile.label, *profile.scores] for profile in self.profiles)]

    def view(self) -> dict[str, Any]:
        signs = [LegendSign(profile.label, line=stroke(i)) for i, profile in enumerate(self.profiles)]
        signs += [LegendSign(self.faint.label, line="faint")] if self.faint else []
        return {
            "title": self.title,
            "size": RADAR,
            "centre": CENTRE,
            "legend": signs + few_sign("hollow", (n for profile in self.profiles for n in profile.n)),
            "rings": [_corners([step] * len(self.axes), 1.0) for step in (0.25, 0.5, 0.75, 1.0)],
            "marks": [(x + 4, y + 11, percent(step * self.top, 0)) for step in (0.5, 1.0)
                      for x, y in [_corner(0, len(self.axes), step)]],
            "spokes": [_spoke(i, self.axes) for i in range(len(self.axes))],
            "faint": (_corners(self.faint.scores, self.top), self.faint.label) if self.faint else None,
            "polygons": [self._polygon(i, profile) for i, profile in enumerate(self.profiles)],
        }  # fmt: skip

    def _polygon(self, place: int, profile: RadarProfile) -> dict[str, Any]:
        scores = ", ".join(f"{axis} {percent(value)}" for axis, value in zip(self.axes, profile.scores, strict=True))
        hollow = [
            (*_corner(i, len(self.axes), value / self.top), f"{profile.label}, {self.axes[i]}: n {n:,}")
            for i, (value, n) in enumerate(zip(profile.scores, profile.n, strict=bool(profile.n)))
            if is_few(n)
        ]
        filled = " filled" if len(self.profiles) < 3 else ""
        return {"label": profile.label, "said": f"{profile.label}: {scores}",
                "points": _corners(profile.scores, self.top), "stroke": stroke(place),
                "kind": f"{stroke(place)}{filled} g{place % COLOURS}",
                "hollow": hollow}  # fmt: skip


def _corner(i: int, count: int, share: float) -> tuple[float, float]:
    angle, far = 2 * math.pi * i / count - math.pi / 2, RADIUS * max(0.0, share if share > 1.05 else min(1.0, share))
    return round(CENTRE[0] + far * math.cos(angle), 1), round(CENTRE[1] + far * math.sin(angle), 1)


def _corners(values: Sequence[float], top: float) -> str:
    places = (_corner(i, len(values), min(1.0, value / top)) for i, value in enumerate(values))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _spoke(i: int, axes: Sequence[str]) -> dict[str, Any]:
    end, (x, y) = _corner(i, len(axes), 1.0), _corner(i, len(axes), 1.09)
    side = "" if abs(x - CENTRE[0]) < 12 else "first" if x > CENTRE[0] else "last"
    lines = _lines(axes[i])
    first = y + 4 - 6.5 * (len(lines) - 1) * (2 if y < CENTRE[1] - RADIUS else 0 if y > CENTRE[1] + RADIUS else 1)
    return {"end": end, "side": side, "x": x, "name": axes[i],
            "lines": [(f"{first + 13 * n:.1f}", line) for n, line in enumerate(lines)]}  # fmt: skip


def _lines(label: str) -> list[str]:
    """Return a label in at most two lines that have room beside a radar."""
    words, lines = label.replace("/", "/ ").split(), [""]
    for word in words:
        longer = f"{lines[-1]}{'' if lines[-1].endswith('/') else ' '}{word}".strip()
        if len(longer) <= LINE or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    cut = [line if len(line) <= LINE else f"{line[: LINE - 1]}…" for line in lines[:2]]
    return [*cut[:-1], f"{cut[-1][: LINE - 1]}…"] if len(lines) > 2 else cut


# ---- map -------------------------------------------------------------------------------------------------------

TILE = 20
"""Side of a country's square."""


@cache
def tiles() -> dict[str, tuple[int, int]]:
    """Column and row of each country on the map, as drawn in tiles.txt."""
    rows = Path(__file__).with_name("tiles.txt").read_text(encoding="utf-8").splitlines()
    return {
        code: (column, row) for row, line in enumerate(rows) for column, code in enumerate(line.split()) if code != ".."
    }


class World(Chart):
    """One square for each country, shaded by its score; pale where there is none."""

    scores: Mapping[str, Result]
    scale: Shades

    def data(self) -> Rows:
        return [["region", *NUMBERS], *([code, *numbers_of(result)] for code, result in self.scores.items())]

    def view(self) -> dict[str, Any]:
        grid = tiles()
        width, height = (TILE * (max(place[axis] for place in grid.values()) + 1) for axis in (0, 1))
        off = sorted(look_up(region_name, code) or code for code in self.scores if code not in grid)
        return {
            "title": self.title,
            "size": (width, height),
            "tiles": [self._tile(code, column, row) for code, (column, row) in grid.items()],
            "side": TILE - 1.5,
            "legend": few_sign("hollow", (result.n for code, result in self.scores.items() if code in grid)),
            "off": ", ".join(off),
        }

    def _tile(self, code: str, column: int, row: int) -> dict[str, Any]:
        result, name = self.scores.get(code), look_up(region_name, code) or code
        strength = self.scale.at(result.value) if result else None
        few = result is not None and is_few(result.n)
        look = "" if strength is None else "few" if few else f"s{max(1, round(STEPS * strength))}"
        return {"code": code, "look": look, "n": result.n if result and few else None,
                "said": spoken(name, result) if result else f"{name}: no data",
                "x": column * TILE + 0.75, "y": row * TILE + 0.75,
                "middle": ((column + 0.5) * TILE, (row + 0.5) * TILE + 3.2)}  # fmt: skip


# ---- ranks -----------------------------------------------------------------------------------------------------

STEP = 36
"""Height of one rank."""


class Ranks(Chart):
    """The shifts of ranks between benchmarks (MSQA, Figure 2): one line for each model, the best on top.

    Ranks may be shared; equal ones are drawn beside each other in the order given.
    """

    columns: Sequence[str]
    ranks: Mapping[str, Sequence[float]]

    def data(self) -> Rows:
        return [["name", *self.columns], *([name, *ranks] for name, ranks in self.ranks.items())]

    def view(self) -> dict[str, Any]:
        columns, names = range(len(self.columns)), list(self.ranks)
        order = [sorted(range(len(names)), key=lambda i: (self.ranks[names[i]][c], i)) for c in columns]
        heights = [[STEP * (order[c].index(i) + 0.5) for c in columns] for i in range(len(names))]
        xs = [f"{100 * (i + 0.5) / max(1, len(columns)):.2f}%" for i in columns]  # under their heads
        lines = []
        for i, name in enumerate(names):
            places = ", ".join(f"{c} {rank:g}" for c, rank in zip(self.columns, self.ranks[name], strict=True))
            knots = [(x, y, f"{rank:g}") for x, y, rank in zip(xs, heights[i], self.ranks[name], strict=True)]
            lines.append(
                {"said": f"{name}, rank on {places}", "knots": knots, "kind": stroke(i), "fill": f"f{i % COLOURS}"}
            )
        last = order[-1] if order else []
        return {"title": self.title, "columns": self.columns, "height": STEP * len(names), "lines": lines,
                "names": [(f"t{i % COLOURS}", names[i]) for i in last]}  # fmt: skip
