"""Charts for our pages: small pure functions that return accessible SVG or tables as markup.

Nothing here has a script, a `style` attribute or an address, so that a page's policy can forbid all three. Colours
come from the classes of templates/charts.css, for light and for dark. Every label is escaped: names are hostile.
Widths are shares of the place that a chart is given, so that its words have the same size on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from mores.report.few import few_count, few_key, is_few
from mores.show import NOTHING, number, percent, span

COLOURS, DASHES = 8, 3
"""How many colours and dash patterns charts.css has for lines."""
STEPS = 20
"""Shades of a heatmap between 0 and 1."""
LONG = 14
"""A column's name with more letters stands upright when there are several columns."""


class Interval(NamedTuple):
    """One row of a forest plot."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    baseline: bool = False
    """Drawn as a square: shown only for comparison."""
    n: int | None = None
    """How many samples it rests on."""


class Series(NamedTuple):
    """One line."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    n: Sequence[int] = ()
    """How many samples each value of a radar rests on."""


class Head(NamedTuple):
    """The name of a row or column."""

    label: str
    note: str = ""
    """A few more words, for example how many samples it has."""
    muted: bool = False
    link: str = ""
    """An address that the label leads to."""


class Cell(NamedTuple):
    """One place of a table or heatmap."""

    text: str
    value: float | None = None
    """What the colour shows, -1 to 1; no colour without."""
    small: str = ""
    """Beside the text, for example an interval."""
    hint: str = ""
    """The tooltip."""
    star: bool = False
    outlined: bool = False
    n: int | None = None
    """How many samples the value rests on, where it is a value of samples."""


# ---- forest ----------------------------------------------------------------------------------------------------


class _Scale(NamedTuple):
    """From values to shares of the width in per cent."""

    low: float
    high: float
    step: float

    def at(self, value: float) -> str:
        place = 3 + 94 * (value - self.low) / (self.high - self.low)
        return f"{min(100.0, max(0.0, place)):.2f}%"

    def ticks(self) -> list[float]:
        return [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)]


def forest(
    rows: Sequence[Interval], *, title: str, zero: str = "0", reference: tuple[str, float] | None = None
) -> Markup:
    """Values with their intervals on one scale, a line at zero and one at the `reference` (its name, its value)."""
    known = [v for row in rows for v in row[1:4] if v is not None and math.isfinite(v)]
    scale = _scale([0.0, *known, *([reference[1]] if reference else [])])
    marks = [("zero", 0.0), *([("reference", reference[1])] if reference else [])]
    guides = Markup().join(_upright(kind, scale.at(value)) for kind, value in marks)
    legend = [
        swatch("zero", zero),
        *([swatch("reference", f"{reference[0]}: {number(reference[1])}")] if reference else []),
        *([Markup('<li><span class="block square" aria-hidden="true"></span> a baseline</li>')]
          if any(row.baseline for row in rows) else []),
        few_key("hollow", (row.n for row in rows)),
    ]  # fmt: skip
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption><ul class="legend">{}</ul><table class="forest"><tbody>{}'
        '</tbody><tfoot aria-hidden="true"><tr><td></td><td class="plot">{}</td><td></td></tr></tfoot></table></figure>'
    ).format(title, Markup().join(legend), Markup().join(_forest_row(r, scale, guides) for r in rows), _axis(scale))


def _scale(values: Sequence[float]) -> _Scale:
    low, high = min(values), max(values)
    step = next(
        (s for s in (0.05, 0.1, 0.2, 0.5) if (high - low) / s <= 8),
        10 ** math.ceil(math.log10(max(high - low, 1)) - 0.7),
    )
    first, last = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return _Scale(first, max(last, first + step), step)


def _upright(kind: str, x: str) -> Markup:
    return Markup('<line class="{0}" x1="{1}" x2="{1}" y1="0" y2="30"/>').format(kind, x)


def swatch(kind: str, label: str) -> Markup:
    """One entry of a legend: a line of that kind and what it stands for."""
    return Markup(
        '<li><svg class="swatch" width="26" height="12" aria-hidden="true">'
        '<line class="{}" x1="1" x2="25" y1="6" y2="6"/></svg> <bdi>{}</bdi></li>'
    ).format(kind, label)


def legend_of(entries: Markup) -> Markup:
    """A legend with these entries; nothing where there are none."""
    return Markup('<ul class="legend">{}</ul>').format(entries) if entries else Markup()


def _forest_row(row: Interval, scale: _Scale, guides: Markup) -> Markup:
    shown = number(row.value, 3)
    interval = "" if shown == NOTHING else span(row.low, row.high)
    drawn = Markup()
    if interval and row.low is not None and row.high is not None:
        ends = (scale.at(row.low), scale.at(row.high))
        drawn += Markup('<line class="whisker" x1="{}" x2="{}" y1="15" y2="15"/>').format(*ends)
    if shown != NOTHING and row.value is not None:
        square = '<rect class="point" x="{}" y="10.5" width="9" height="9" transform="translate(-4.5 0)"/>'
        point = square if row.baseline else '<circle class="point" cx="{}" cy="15" r="5"/>'
        drawn += Markup(point).format(scale.at(row.value))
    return Markup(
        '<tr{}><th scope="row"><bdi>{}</bdi></th><td class="plot"><svg width="100%" height="30" role="img">'
        '<title>{}</title>{}{}</svg></td><td class="value">{}{}</td></tr>'
    ).format(
        _classed(" ".join([*(["muted"] if row.baseline else []), *(["few"] if is_few(row.n) else [])])),
        row.label,
        " ".join(filter(None, (f"{row.label}: {shown}", interval, few_count(row.n)))),
        guides,
        drawn,
        shown,
        _small(" ".join(filter(None, (interval, few_count(row.n))))),
    )


def _axis(scale: _Scale) -> Markup:
    digits = 2 if scale.step < 0.1 else 1
    ticks = (
        Markup('<line class="axis" x1="{0}" x2="{0}" y1="0" y2="5"/><text x="{0}" y="18">{1}</text>').format(
            scale.at(tick), number(tick, digits)
        )
        for tick in scale.ticks()
    )
    return Markup('<svg width="100%" height="22"><line class="axis" x1="0" x2="100%" y1=".5" y2=".5"/>{}</svg>').format(
        Markup().join(ticks)
    )


# ---- lines -----------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP, SIDE = 340, 316, 40, 8, 272
"""The drawing and its square: from `LEFT` and `TOP`, `SIDE` wide and high."""


def lines(series: Sequence[Series], *, title: str, x: str, y: str, diagonal: bool = False) -> Markup:
    """Curves in the unit square with axes and a legend; `diagonal` is what guessing gives."""
    guess = Markup('<line class="guess" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(*_point(0, 0), *_point(1, 1))
    legend = [swatch(stroke(i), one.label) for i, one in enumerate(series)]
    legend += [swatch("guess", "guessing")] if diagonal else []
    return Markup(
        '<figure class="chart"><figcaption>{0}</figcaption><svg class="lines" viewBox="0 0 {1} {2}" role="img">'
        "<title>{0}</title><desc>{3} against {4}, both from 0 to 1, for {5}.</desc>{6}{7}{8}</svg>"
        '<ul class="legend">{9}</ul></figure>'
    ).format(
        title, WIDTH, HEIGHT, y, x, ", ".join(one.label for one in series) or "nothing", _square(x, y),
        guess if diagonal else "", Markup().join(_curve(i, one) for i, one in enumerate(series)), Markup().join(legend),
    )  # fmt: skip


def stroke(place: int) -> str:
    """The classes of the line in that place: its colour and dashes."""
    return f"series c{place % COLOURS} d{place // COLOURS % DASHES}"


def _point(x: float, y: float) -> tuple[str, str]:
    inside = min(1.0, max(0.0, x)), min(1.0, max(0.0, y))
    return f"{LEFT + SIDE * inside[0]:.1f}", f"{TOP + SIDE * (1 - inside[1]):.1f}"


def _curve(place: int, one: Series) -> Markup:
    finite = [(x, y) for x, y in zip(one.x, one.y, strict=False) if math.isfinite(x) and math.isfinite(y)]
    points = " ".join(",".join(_point(x, y)) for x, y in finite)
    return Markup('<polyline class="{}" points="{}"><title>{}</title></polyline>').format(
        stroke(place), points, one.label
    )


def _square(x: str, y: str) -> Markup:
    """Grid, ticks and names of both axes."""
    grid = Markup()
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        (left, bottom), (right, top) = _point(0, tick), _point(1, tick)
        grid += Markup('<line class="grid" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(left, bottom, right, top)
        grid += Markup('<text class="last" x="{}" y="{}">{:g}</text>').format(LEFT - 6, float(bottom) + 4, tick)
        (left, bottom), (right, top) = _point(tick, 0), _point(tick, 1)
        grid += Markup('<line class="grid" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(left, bottom, right, top)
        grid += Markup('<text x="{}" y="{}">{:g}</text>').format(left, float(bottom) + 15, tick)
    middle = LEFT + SIDE / 2, TOP + SIDE / 2
    grid += Markup('<text class="label" x="{}" y="{}">{}</text>').format(middle[0], HEIGHT - 4, x)
    turned = Markup('<text class="label" x="10" y="{0}" transform="rotate(-90 10 {0})">{1}</text>')
    return grid + turned.format(middle[1], y)


# ---- histogram -------------------------------------------------------------------------------------------------

BAND, ROOM = 64, 38
"""Height of one kind's band, and of the bars in it."""


def histogram(edges: Sequence[float], counts: Mapping[str, Sequence[int]], *, title: str, note: str = "") -> Markup:
    """One band of bars for each kind, all on one scale: the share of that kind's samples between two edges."""
    top = max((share for kind in counts for share in _shares(counts[kind])), default=0) or 1
    bands = Markup().join(_band(i, kind, edges, counts[kind], top) for i, kind in enumerate(counts))
    height = BAND * len(counts)
    return Markup(
        '<figure class="chart"><figcaption><bdi>{0}</bdi>{5}</figcaption><svg width="100%" height="{1}" role="img">'
        "<title>{0}: how the scores are spread</title><desc>{2}</desc>{3}{4}</svg>{6}</figure>"
    ).format(
        title, height + 20, _spoken(edges, counts), bands, _edge_ticks(edges, height), _small(note),
        legend_of(few_key("hollow", map(sum, counts.values()))),
    )  # fmt: skip


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


def _band(place: int, kind: str, edges: Sequence[float], counts: Sequence[int], top: float) -> Markup:
    base, step = BAND * (place + 1), 100 / max(1, len(counts))
    bars, few = Markup(), _classed("few" if is_few(sum(counts)) else "")
    for i, (count, share) in enumerate(zip(counts, _shares(counts), strict=True)):
        if count:
            height = max(1.5, ROOM * share / top)
            where = f"{number(edges[i])} to {number(edges[i + 1])}" if i + 1 < len(edges) else f"bar {i + 1}"
            bars += Markup(
                '<rect{} x="{:.2f}%" y="{:.1f}" width="{:.2f}%" height="{:.1f}"><title>{}, {}: {:,} ({})</title></rect>'
            ).format(few, (i + 0.06) * step, base - height, 0.88 * step, height, kind, where, count, percent(share))
    return Markup(
        '<g class="kind {0}"><line class="axis" x1="0" x2="100%" y1="{1}" y2="{1}"/>{2}'
        '<text class="first name" x="0" y="{3}">{0}</text><text class="last" x="100%" y="{3}">{4:,}</text></g>'
    ).format(kind, base, bars, base - ROOM - 4, sum(counts))


def _edge_ticks(edges: Sequence[float], height: int) -> Markup:
    """The first edge, the last, zero and those halfway, as far as they are not too close."""
    last = len(edges) - 1
    wanted = {0, last, *(i for i, edge in enumerate(edges) if edge == 0)}
    for middle in (last // 2, last // 4, 3 * last // 4):
        if all(abs(middle - other) >= last / 6 for other in wanted):
            wanted.add(middle)
    ticks = Markup()
    for i in sorted(wanted) if last > 0 else ():
        side = "first" if i == 0 else "last" if i == last else ""
        ticks += Markup('<text class="{}" x="{:.2f}%" y="{}">{}</text>').format(
            side, 100 * i / last, height + 15, _short(edges[i])
        )
    return ticks


def _short(edge: float) -> str:
    return f"{edge:.3g}".replace("-", "−").replace("inf", "∞")


def _spoken(edges: Sequence[float], counts: Mapping[str, Sequence[int]]) -> str:
    """Where most samples of each kind lie, for those who do not see the bars."""
    parts = []
    for kind, row in counts.items():
        if sum(row):
            i = max(range(len(row)), key=row.__getitem__)
            where = f", most between {number(edges[i])} and {number(edges[i + 1])}" if i + 1 < len(edges) else ""
            parts.append(f"{sum(row):,} {kind}{where}")
    return "; ".join(parts) + "."


# ---- tables ----------------------------------------------------------------------------------------------------


def heatmap(rows: Sequence[Head], columns: Sequence[Head], values: Sequence[Sequence[Cell]], *, title: str) -> Markup:
    """A table whose cells are coloured from -1 over 0 (no colour) to 1."""
    return _grid("heat", rows, columns, values, title)


def table(rows: Sequence[Head], columns: Sequence[Head], cells: Sequence[Sequence[Cell]], *, title: str) -> Markup:
    """The same table without colours."""
    return _grid("plain", rows, columns, cells, title)


def _grid(
    kind: str, rows: Sequence[Head], columns: Sequence[Head], cells: Sequence[Sequence[Cell]], title: str
) -> Markup:
    upright = kind == "heat" and len(columns) > 5 and any(len(column.label) > LONG for column in columns)
    drawn = [cell.n for line in cells for cell in line if kind == "heat" and cell.text != NOTHING]
    few = few_key("hatched", drawn)
    head = Markup().join(_head("col", column) for column in columns)
    body = Markup().join(
        Markup("<tr{}>{}{}</tr>").format(
            _classed("muted" if row.muted else ""),
            _head("row", row),
            Markup().join(_cell(c, kind == "heat") for c in line),
        )
        for row, line in zip(rows, cells, strict=True)
    )
    return Markup(
        '<div class="scroll" role="region" tabindex="0" aria-label="{0}"><table class="{1}"><caption>{0}</caption>'
        "<thead><tr><td></td>{2}</tr></thead><tbody>{3}</tbody></table>{4}</div>"
    ).format(title, f"{kind} upright" if upright else kind, head, body, legend_of(few))


def _head(scope: str, head: Head) -> Markup:
    label = Markup('<bdi title="{0}">{0}</bdi>').format(head.label)
    if head.link:
        label = Markup('<a href="{}">{}</a>').format(head.link, label)
    return Markup('<th scope="{}">{}{}</th>').format(scope, label, _small(head.note))


def _cell(cell: Cell, coloured: bool) -> Markup:
    few = coloured and is_few(cell.n) and cell.text != NOTHING
    shade = ["few"] if few else _shade(cell.value) if coloured else ()
    classes = [*shade, *(["outlined"] if cell.outlined else []), *(["none"] if cell.text == NOTHING else [])]
    return Markup("<td{}{}>{}{}{}</td>").format(
        _classed(" ".join(classes)),
        Markup(' title="{}"').format(cell.hint) if cell.hint else "",
        cell.text,
        Markup('<b class="star">*</b>') if cell.star else "",
        _small(f"{few_count(cell.n)} {cell.small}".strip() if few else cell.small),
    )


def _shade(value: float | None) -> Iterable[str]:
    if value is None or not math.isfinite(value):
        return ()
    strength = round(STEPS * min(1.0, abs(value)))
    return ("above" if value > 0 else "below", f"s{strength}") if strength else ()


def _classed(names: str) -> Markup:
    return Markup(' class="{}"').format(names) if names else Markup()


def _small(text: str) -> Markup:
    return Markup(" <small>{}</small>").format(text) if text else Markup()
