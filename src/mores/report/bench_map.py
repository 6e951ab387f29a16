"""Scores as strengths of one colour, and the map that shows them: a square for each country.

No script, `style` attribute or address; everything is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from markupsafe import Markup

from mores.culture import region_name
from mores.report.bench_charts import spoken
from mores.report.charts import STEPS, legend_of
from mores.report.few import few_key, is_few
from mores.report.page import TEMPLATES, look_up
from mores.show import percent
from mores.types import Result

BRIGHT = 0.08
"""The weakest score still has so much colour, to be told from no data."""
TILE = 20
"""Side of a country's square."""


class Shades(NamedTuple):
    """From scores to strengths of colour: the lightest for `low`, the full one for `high`."""

    low: float
    high: float

    def at(self, value: float | None) -> float | None:
        """The strength of a value, from just visible to 1."""
        if value is None or not math.isfinite(value):
            return None
        return BRIGHT + (1 - BRIGHT) * min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def shades(values: Iterable[float | None]) -> Shades:
    """A scale that holds these values, between full tens of per cent."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    first, last = math.floor(low * 10 + 1e-9) / 10, math.ceil(high * 10 - 1e-9) / 10
    return Shades(first, max(last, first + 0.1))


@cache
def tiles() -> dict[str, tuple[int, int]]:
    """Column and row of each country on the map, as drawn in templates/bench.tiles.txt."""
    rows = (TEMPLATES / "bench.tiles.txt").read_text(encoding="utf-8").splitlines()
    return {
        code: (column, row) for row, line in enumerate(rows) for column, code in enumerate(line.split()) if code != ".."
    }


def world(scores: Mapping[str, Result], scale: Shades, *, title: str) -> Markup:
    """One square for each country, shaded by its score; pale where there is none."""
    grid = tiles()
    width, height = (max(place[axis] for place in grid.values()) + 1 for axis in (0, 1))
    drawn = Markup().join(_tile(code, place, scores.get(code), scale) for code, place in grid.items())
    off = sorted(look_up(region_name, code) or code for code in scores if code not in grid)
    legend = legend_of(few_key("hollow", (found.n for code, found in scores.items() if code in grid)))
    missing = Markup('<p class="key">Not on the map: {}.</p>').format(", ".join(off)) if off else ""
    return Markup(
        '<figure class="chart"><figcaption><bdi>{0}</bdi></figcaption>'
        '<svg class="world" viewBox="0 0 {1} {2}" role="group" aria-label="{0}: scores by country">{3}</svg>'
        "{4}{5}</figure>"
    ).format(title, width * TILE, height * TILE, drawn, legend, missing)


def _tile(code: str, place: tuple[int, int], found: Result | None, scale: Shades) -> Markup:
    name = look_up(region_name, code) or code
    strength = scale.at(found.value) if found else None
    square = Markup('<rect x="{0}" y="{1}" width="{2}" height="{2}" rx="3"/>').format(
        place[0] * TILE + 0.75, place[1] * TILE + 0.75, TILE - 1.5
    )
    if strength is None:
        return Markup('<g class="tile" aria-hidden="true"><title>{}</title>{}</g>').format(
            spoken(name, found) if found else f"{name}: no data", square
        )
    said = spoken(name, found)
    return Markup(
        '<g class="tile known {}" role="img" aria-label="{}"><title>{}</title>{}<text x="{}" y="{}">{}</text></g>'
    ).format(
        "few" if found and is_few(found.n) else f"s{max(1, round(STEPS * strength))}",
        said,
        said,
        square,
        (place[0] + 0.5) * TILE,
        (place[1] + 0.5) * TILE + 3.2,
        Markup('{}<tspan class="n">{}</tspan>').format(code, found.n) if found and is_few(found.n) else code,
    )


def ramp(scale: Shades) -> Markup:
    """The legend of a map or heatmap."""
    return Markup('<span class="ends">{} <span class="ramp up" aria-hidden="true"></span> {}</span>').format(
        percent(scale.low, 0), percent(scale.high, 0)
    )
