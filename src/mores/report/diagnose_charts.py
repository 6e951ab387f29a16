"""Charts of diagnoses: curves with bands, reliability diagrams, stacked bars, changes around zero, and ranks.

Made as `charts.py` makes its own: no script, `style` attribute or address, every word escaped, colours from classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from markupsafe import Markup

from mores.report.bench_charts import Row, counts, star
from mores.report.charts import COLOURS, HEIGHT, LEFT, SIDE, TOP, WIDTH, stroke, swatch
from mores.report.few import few_count, few_key, is_few
from mores.show import left_out, percent, points, to

NARROW, NARROWEST = 0.12, 0.03
"""A smaller part of a stacked bar has no room for its per cent, and for its letter."""
LETTERS = ascii_uppercase
"""What tells the parts of a stacked bar apart without colour."""
FLOOR = 46
"""Height of the largest column at the foot of a reliability diagram."""


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


class Track(NamedTuple):
    """One line with its interval at each point; shares on the y axis."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None]
    high: Sequence[float | None]
    hints: Sequence[str] = ()
    n: Sequence[int] = ()
    """How many samples each point rests on, where points are drawn."""


class Column(NamedTuple):
    """How many answers there are between two places of the x axis."""

    low: float
    high: float
    n: int


# ---- plots -----------------------------------------------------------------------------------------------------


def curves(tracks: Sequence[Track], axis: Axis, *, title: str, y: str) -> Markup:
    """Lines with the bands of their intervals; the y axis goes from 0 to 100%."""
    drawn = Markup().join(_band(i, one, axis) for i, one in enumerate(tracks))
    drawn += Markup().join(_line(i, one, axis) for i, one in enumerate(tracks))
    legend = Markup().join(swatch(stroke(i), one.label) for i, one in enumerate(tracks))
    return _figure(title, _spoken(tracks, axis, y), _frame(axis, y) + drawn, legend)


def reliability(track: Track, columns: Sequence[Column], *, title: str, x: str, y: str) -> Markup:
    """Accuracy against confidence: a point with its interval for each bin, and below how many answers are in it."""
    axis, most = Axis(x), max((one.n for one in columns), default=0) or 1
    ends = *_at(0, 0, axis), *_at(1, 1, axis)
    drawn = Markup().join(_column(one, most, axis) for one in columns if one.n)
    drawn += Markup('<line class="guess" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(*ends)
    drawn += _line(0, track, axis) + Markup().join(_mark(track, place, axis) for place in range(len(track.x)))
    drawn += Markup().join(_count(one, axis) for one in columns if one.n)
    legend = swatch("guess", "as often right as it is sure") + swatch(stroke(0), "with 95% intervals")
    legend += few_key("hollow", track.n)
    return _figure(title, _spoken([track], axis, y), _frame(axis, y) + drawn, legend)


def _figure(title: str, said: str, drawn: Markup, legend: Markup) -> Markup:
    return Markup(
        '<figure class="chart"><figcaption><bdi>{0}</bdi></figcaption><svg class="lines" viewBox="0 0 {1} {2}" '
        'role="img"><title>{0}</title><desc>{3}</desc>{4}</svg><ul class="legend">{5}</ul></figure>'
    ).format(title, WIDTH, HEIGHT, said, drawn, legend)


def _spoken(tracks: Sequence[Track], axis: Axis, y: str) -> str:
    """Where each line begins and ends, for those who do not see it."""
    told = [f"{one.label} from {percent(one.y[0], 0)} to {percent(one.y[-1], 0)}" for one in tracks if one.y]
    return f"{y} against {axis.name}: {'; '.join(told) or 'nothing'}."


def _at(x: float, y: float, axis: Axis) -> tuple[str, str]:
    across = (x - axis.low) / ((axis.high - axis.low) or 1)
    inside = min(1.0, max(0.0, across)), min(1.0, max(0.0, y))
    return f"{LEFT + SIDE * inside[0]:.1f}", f"{TOP + SIDE * (1 - inside[1]):.1f}"


def _frame(axis: Axis, y: str) -> Markup:
    """Grid, ticks and names of both axes."""
    grid, lying = Markup(), Markup('<line class="grid" x1="{}" y1="{}" x2="{}" y2="{}"/>')
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        start, end = _at(axis.low, tick, axis), _at(axis.high, tick, axis)
        grid += lying.format(*start, *end)
        grid += Markup('<text class="last" x="{}" y="{}">{:.0%}</text>').format(LEFT - 5, float(start[1]) + 4, tick)
    for tick, text in axis.ticks():
        start, end = _at(tick, 0, axis), _at(tick, 1, axis)
        grid += lying.format(*start, *end)
        grid += Markup('<text x="{}" y="{}">{}</text>').format(start[0], float(start[1]) + 15, text)
    grid += Markup('<text class="label" x="{}" y="{}">{}</text>').format(LEFT + SIDE / 2, HEIGHT - 3, axis.name)
    turned = Markup('<text class="label" x="5" y="{0}" transform="rotate(-90 5 {0})">{1}</text>')
    return grid + turned.format(TOP + SIDE / 2, y)


def _band(place: int, one: Track, axis: Axis) -> Markup:
    known = [
        (x, low, high)
        for x, low, high in zip(one.x, one.low, one.high, strict=True)
        if low is not None and high is not None
    ]
    there = [_at(x, high, axis) for x, _, high in known]
    back = [_at(x, low, axis) for x, low, _ in reversed(known)]
    points = " ".join(",".join(point) for point in there + back)
    return Markup('<polygon class="band f{}" points="{}"/>').format(place % COLOURS, points)


def _line(place: int, one: Track, axis: Axis) -> Markup:
    points = " ".join(",".join(_at(x, y, axis)) for x, y in zip(one.x, one.y, strict=True) if math.isfinite(y))
    dots = Markup()
    if len(one.x) == 1:  # a line of one point is not seen
        spot = _at(one.x[0], one.y[0], axis)
        dots = Markup('<circle class="f{}" cx="{}" cy="{}" r="3.5"/>').format(place % COLOURS, *spot)
    return Markup('<polyline class="{}" points="{}"><title>{}</title></polyline>{}').format(
        stroke(place), points, one.label, dots
    )


def _mark(one: Track, place: int, axis: Axis) -> Markup:
    x, y, low, high = one.x[place], one.y[place], one.low[place], one.high[place]
    whisker = Markup()
    if low is not None and high is not None:
        ends = *_at(x, low, axis), *_at(x, high, axis)
        whisker = Markup('<line class="whisker thin" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(*ends)
    hint = one.hints[place] if one.hints else ""
    few = " few" if one.n and is_few(one.n[place]) else ""
    return Markup('<g><title>{}</title>{}<circle class="point{}" cx="{}" cy="{}" r="3.5"/></g>').format(
        hint, whisker, few, *_at(x, y, axis)
    )


def _column(one: Column, most: int, axis: Axis) -> Markup:
    (left, foot), (right, _) = _at(one.low, 0, axis), _at(one.high, 0, axis)
    height = max(1.5, FLOOR * one.n / most)
    return Markup('<rect class="floor" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
        float(left) + 1, float(foot) - height, float(right) - float(left) - 2, height
    )


def _count(one: Column, axis: Axis) -> Markup:
    x, foot = _at((one.low + one.high) / 2, 0, axis)
    return Markup('<text class="tiny" x="{}" y="{:.1f}">{:,}</text>').format(x, float(foot) - 4, one.n)


# ---- stacked bars ----------------------------------------------------------------------------------------------


class Stack(NamedTuple):
    """One bar, cut into parts."""

    label: str
    counts: Sequence[int]
    note: str = ""


class Part(NamedTuple):
    """What the parts in one place of every bar are."""

    label: str
    colour: int


def stacked(stacks: Sequence[Stack], parts: Sequence[Part], *, title: str) -> Markup:
    """Bars of the same length, cut by share (MSQA, Figure 9), each part with its letter; beside each its size."""
    legend = Markup().join(
        Markup('<li><span class="block f{}" aria-hidden="true"></span> <b>{}</b> <bdi>{}</bdi></li>').format(
            part.colour % COLOURS, letter, part.label
        )
        for letter, part in zip(LETTERS, parts, strict=False)
    )
    legend += few_key("hollow", (total for stack in stacks if (total := sum(stack.counts))))
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption><ul class="legend">{}</ul>'
        '<table class="forest stacks"><tbody>{}</tbody></table></figure>'
    ).format(title, legend, Markup().join(_stack(one, parts) for one in stacks))


def _stack(one: Stack, parts: Sequence[Part]) -> Markup:
    total, left, drawn = sum(one.counts), 0.0, Markup()
    for letter, part, count in zip(LETTERS, parts, one.counts, strict=False):
        share = count / total if total else 0.0
        drawn += _piece(letter, part, count, left, total) if count else Markup()
        left += share
    said = ", ".join(f"{part.label} {count:,}" for part, count in zip(parts, one.counts, strict=True))
    return Markup(
        '<tr><th scope="row"><bdi>{0}</bdi>{1}</th><td class="plot"><svg width="100%" height="30" role="img">'
        '<title>{0}: {2}</title>{3}</svg></td><td class="value">n {4:,}</td></tr>'
    ).format(one.label, Markup(" <small>{}</small>").format(one.note) if one.note else "", said, drawn, total)


def _piece(letter: str, part: Part, count: int, left: float, total: int) -> Markup:
    share, few, colour = count / total, is_few(total), part.colour % COLOURS
    shown = f"{letter} {percent(share, 0)}" if share >= NARROW else letter
    text = Markup('<text class="rank" x="{:.2f}%" y="19">{}</text>').format(100 * (left + share / 2), shown)
    return Markup(
        '<g{}><title>{}</title><rect class="{}" x="{:.2f}%" y="4" width="{:.2f}%" height="22"/>{}</g>'
    ).format(Markup(' class="few"') if few else "", f"{part.label}: {count:,} ({percent(share)})",
             f"f{colour} c{colour} few" if few else f"f{colour}", 100 * left, 100 * share,
             text if share >= NARROWEST else "")  # fmt: skip


# ---- changes ---------------------------------------------------------------------------------------------------


def changes(rows: Sequence[Row], *, title: str, zero: str = "no change") -> Markup:
    """Differences in points with their intervals on both sides of zero."""
    known = [abs(v) for row in rows if (r := row.result) for v in (r.value, r.low, r.high) if v is not None]
    reach = max(0.1, math.ceil(10 * max(known, default=0.0) - 1e-9) / 10)
    legend = swatch("zero", zero) + few_key("hollow", counts(rows))
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption><ul class="legend">{}</ul><table class="forest dots"><tbody>'
        '{}</tbody><tfoot aria-hidden="true"><tr><td></td><td class="plot">{}</td><td></td></tr></tfoot></table>'
        "</figure>"
    ).format(title, legend, Markup().join(_change(row, reach) for row in rows), _change_ticks(reach))


def _place(value: float, reach: float) -> str:
    return f"{50 + 46 * min(1.0, max(-1.0, value / reach)):.2f}%"


def _change(row: Row, reach: float) -> Markup:
    found, drawn = row.result, Markup()
    value = found.value if found else None
    interval = to(found.low, found.high) if found and value is not None else ""
    if found and interval and found.low is not None and found.high is not None:
        ends = _place(found.low, reach), _place(found.high, reach)
        drawn += Markup('<line class="whisker" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(*ends)
    if value is not None:
        drawn += Markup('<circle class="point" cx="{}" cy="50%" r="4.5"/>').format(_place(value, reach))
    n, out = (found.n, found.unscored) if found else (0, 0)
    note = row.note or few_count(n)
    said = f"{row.label}: {points(value)} points" + (f" (95% interval {interval})" if interval else "") + f", n {n:,}"
    return Markup(
        '<tr{}><th scope="row"><bdi>{}</bdi>{}</th><td class="plot"><svg width="100%" height="26" role="img"><title>{}'
        '</title><line class="zero" x1="50%" x2="50%" y1="0" y2="100%"/>{}</svg></td>'
        '<td class="value">{}{} <small>{}</small>{}</td></tr>'
    ).format(
        Markup(' class="few"') if value is not None and is_few(n) else "", row.label,
        Markup(" <small>{}</small>").format(note) if note else "", said, drawn, points(value), star(row), interval,
        Markup(' <small class="out">{}</small>').format(left_out(out)) if out else "",
    )  # fmt: skip


def _change_ticks(reach: float) -> Markup:
    return _ticks([(_place(reach * share, reach), points(reach * share)) for share in (-1, -0.5, 0, 0.5, 1)])


def _ticks(places: Sequence[tuple[str, str]]) -> Markup:
    marks = Markup('<line class="axis" x1="{0}" x2="{0}" y1="0" y2="5"/><text x="{0}" y="18">{1}</text>')
    drawn = Markup().join(marks.format(*one) for one in places)
    return Markup('<svg width="100%" height="22"><line class="axis" x1="0" x2="100%" y1=".5" y2=".5"/>{}</svg>').format(
        drawn
    )


# ---- ranks -----------------------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """A place among models, and where it may be."""

    rank: int
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.rank} ({self.low}–{self.high})"


class Mover(NamedTuple):
    """A model's places on two benchmarks."""

    label: str
    first: Standing
    second: Standing
    sure: bool
    """Whether it surely moved."""


def rank_shifts(movers: Sequence[Mover], names: tuple[str, str], *, title: str) -> Markup:
    """For each model both places with their intervals, the first benchmark above the second; place 1 is left."""
    last = max((one.high for mover in movers for one in (mover.first, mover.second)), default=1)
    step = max(1, math.ceil(last / 12))
    ticks = _ticks([(_spot(rank, last), str(rank)) for rank in range(1, last + 1, step)])
    legend = Markup().join(swatch(f"{stroke(i)} thick", name) for i, name in enumerate(names))
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption><ul class="legend">{}</ul><table class="forest dots ranks">'
        '<tbody>{}</tbody><tfoot aria-hidden="true"><tr><td></td><td class="plot">{}</td><td></td></tr></tfoot></table>'
        "</figure>"
    ).format(title, legend, Markup().join(_mover(one, names, last) for one in movers), ticks)


def _spot(rank: float, last: int) -> str:
    return f"{6 + 88 * (rank - 1) / max(1, last - 1):.2f}%"


def _mover(one: Mover, names: tuple[str, str], last: int) -> Markup:
    drawn = Markup('<line class="link" x1="{}" y1="30%" x2="{}" y2="70%"/>').format(
        _spot(one.first.rank, last), _spot(one.second.rank, last)
    )
    for place, (own, height) in enumerate(((one.first, "30%"), (one.second, "70%"))):
        drawn += Markup(
            '<line class="{0} thick" x1="{1}" x2="{2}" y1="{3}" y2="{3}"/>'
            '<circle class="f{4}" cx="{5}" cy="{3}" r="5"/>'
        ).format(stroke(place), _spot(own.low, last), _spot(own.high, last), height, place, _spot(own.rank, last))
    said = f"{one.label}: place {one.first} on {names[0]}, {one.second} on {names[1]}"
    return Markup(
        '<tr><th scope="row"><bdi>{}</bdi></th><td class="plot"><svg width="100%" height="40" role="img"><title>{}'
        '</title>{}</svg></td><td class="value">{} → {}{} <small>{}–{} → {}–{}</small></td></tr>'
    ).format(
        one.label, said, drawn, one.first.rank, one.second.rank, Markup('<b class="star">*</b>') if one.sure else "",
        one.first.low, one.first.high, one.second.low, one.second.high,
    )  # fmt: skip
