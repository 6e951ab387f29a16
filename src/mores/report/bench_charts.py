"""Charts of benchmark results: dots, bars, radars and a chart of ranks, as `charts.py` makes its own.

Scores are shares from 0 to 1 and are shown in per cent. No script, `style` attribute or address; everything is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from mores.report.charts import COLOURS, Series, legend_of, stroke, swatch
from mores.report.few import few_count, few_key, is_few
from mores.show import between, left_out, percent, possible
from mores.types import Result

LINE = 15
"""Letters in a line of a radar's label."""


class Row(NamedTuple):
    """One line of a chart of scores."""

    label: str
    result: Result | None
    note: str = ""
    star: bool = False
    """Whether it is unlikely to be chance; the chart's key says of what."""


def spoken(name: str, result: Result | None) -> str:
    """A number in words: its name, value, interval, how many it rests on and how many more have no score."""
    if result is None or result.value is None:
        return f"{name}: no score" + (f", {result.unscored:,} unscored" if result else "")
    interval = f" (95% interval {between(result)})" if between(result) else ""
    bounds = f"; {possible(result)}" if possible(result) else ""
    return f"{name}: {percent(result.value)}{interval}, n {result.n:,}, {result.unscored:,} unscored{bounds}"


# ---- dots ------------------------------------------------------------------------------------------------------


def _at(value: float) -> str:
    return f"{2 + 96 * min(1.0, max(0.0, value)):.2f}%"


def dots(rows: Sequence[Row], references: Mapping[str, float], *, title: str) -> Markup:
    """Scores with their intervals from 0 to 100%, and a line for everything that is reached without knowledge."""
    lines = [(f"baseline b{i % 4}", name, value) for i, (name, value) in enumerate(references.items())]
    guides = Markup().join(
        Markup('<line class="{0}" x1="{1}" x2="{1}" y1="0" y2="100%"/>').format(kind, _at(value))
        for kind, _, value in lines
    )
    legend = Markup().join(swatch(kind, f"{name}: {percent(value)}") for kind, name, value in lines)
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption>{}<table class="forest dots"><tbody>{}</tbody>'
        '<tfoot aria-hidden="true"><tr><td></td><td class="plot">{}</td><td></td></tr></tfoot></table></figure>'
    ).format(
        title,
        legend_of(legend + few_key("hollow", counts(rows))),
        Markup().join(_dot_row(row, guides) for row in rows),
        _ticks(),
    )


def counts(rows: Iterable[Row]) -> list[int]:
    """How many samples the values rest on that are drawn."""
    return [row.result.n for row in rows if row.result and row.result.value is not None]


def star(row: Row) -> Markup:
    """The sign of what is unlikely to be chance."""
    return Markup('<b class="star">*</b>') if row.star else Markup()


def _dot_row(row: Row, guides: Markup) -> Markup:
    found, interval, drawn = row.result, between(row.result), Markup()
    note = row.note or few_count(found.n if found else None)
    if found and interval and found.low is not None and found.high is not None:
        ends = _at(found.low), _at(found.high)
        drawn += Markup('<line class="whisker" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(*ends)
    if found and found.value is not None and math.isfinite(found.value):
        drawn += Markup('<circle class="point" cx="{}" cy="50%" r="4.5"/>').format(_at(found.value))
    return Markup(
        '<tr{}><th scope="row"><bdi>{}</bdi>{}</th><td class="plot"><svg width="100%" height="26" role="img">'
        '<title>{}</title>{}{}</svg></td><td class="value">{}{} <small>{}</small>{}</td></tr>'
    ).format(
        Markup(' class="few"') if found and is_few(found.n) else "",
        row.label,
        Markup(" <small>{}</small>").format(note) if note else "",
        spoken(row.label, found),
        guides,
        drawn,
        percent(found.value if found else None),
        star(row),
        interval,
        Markup(' <small class="out">{}</small>').format(left_out(found.unscored)) if found and found.unscored else "",
    )


def _ticks() -> Markup:
    ticks = Markup().join(
        Markup('<line class="axis" x1="{0}" x2="{0}" y1="0" y2="5"/><text x="{0}" y="18"{2}>{1}</text>').format(
            _at(tick / 4), f"{25 * tick}%", Markup(' class="last"') if tick == 4 else ""
        )
        for tick in range(5)
    )
    return Markup('<svg width="100%" height="22"><line class="axis" x1="0" x2="100%" y1=".5" y2=".5"/>{}</svg>').format(
        ticks
    )


# ---- bars ------------------------------------------------------------------------------------------------------

BAR = 15
"""Height of one bar with its gap."""


def bars(groups: Sequence[str], rows: Mapping[str, Sequence[Result | None]], *, title: str) -> Markup:
    """For each model one bar per group, for example the tiers of difficulty, with their intervals."""
    legend = Markup().join(
        Markup('<li><span class="block f{}" aria-hidden="true"></span> <bdi>{}</bdi></li>').format(i % COLOURS, group)
        for i, group in enumerate(groups)
    )
    legend += few_key("hollow", (found.n for results in rows.values() for found in results if found))
    body = Markup().join(_bar_row(label, groups, results) for label, results in rows.items())
    return Markup(
        '<figure class="chart"><figcaption>{}</figcaption><ul class="legend">{}</ul>'
        '<table class="forest bars"><tbody>{}</tbody>'
        '<tfoot aria-hidden="true"><tr><td></td><td class="plot">{}</td><td></td></tr></tfoot></table></figure>'
    ).format(title, legend, body, _ticks())


def _bar_row(label: str, groups: Sequence[str], results: Sequence[Result | None]) -> Markup:
    drawn = Markup()
    for i, (group, found) in enumerate(zip(groups, results, strict=True)):
        if found is None or found.value is None or not math.isfinite(found.value):
            continue
        drawn += Markup(
            '<rect class="f{}{}" x="2%" y="{}" width="{:.2f}%" height="{}" rx="2"><title>{}</title></rect>'
        ).format(
            i % COLOURS,
            f" c{i % COLOURS} few" if is_few(found.n) else "",
            i * BAR + 5,
            96 * min(1.0, max(0.0, found.value)),
            BAR - 4,
            spoken(group, found),
        )
        if between(found) and found.low is not None and found.high is not None:
            middle = i * BAR + 5 + (BAR - 4) / 2
            drawn += Markup('<line class="error" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                _at(found.low), _at(found.high), middle, middle
            )
    said = "; ".join(spoken(group, found) for group, found in zip(groups, results, strict=True))
    values = Markup().join(
        Markup('<span title="{}">{}{}</span>').format(
            spoken(group, found), percent(found.value if found else None), _beside(found)
        )
        for group, found in zip(groups, results, strict=True)
    )
    return Markup(
        '<tr><th scope="row"><bdi>{0}</bdi></th><td class="plot"><svg width="100%" height="{1}" role="img">'
        '<title>{0}: {2}</title>{3}</svg></td><td class="value stack">{4}</td></tr>'
    ).format(label, len(groups) * BAR + 8, said, drawn, values)


def _beside(found: Result | None) -> Markup:
    """The count where it is few, and how many could not be scored."""
    shown = " ".join(filter(None, (few_count(found.n), left_out(found.unscored)))) if found else ""
    return Markup(" <small>{}</small>").format(shown) if shown else Markup()


# ---- radar -----------------------------------------------------------------------------------------------------

RADAR = (420, 300)
CENTRE, RADIUS = (210.0, 150.0), 118.0


def radar(
    axes: Sequence[str], series: Sequence[Series], *, title: str, top: float = 1.0, faint: Series | None = None
) -> Markup:
    """One polygon for each model, whose `y` are its scores on the axes (MSQA, Figure 4); `faint` lies behind.

    The rim is `top`: radars that are compared must have the same.
    """
    drawn = Markup().join(_spoke(i, axes) for i in range(len(axes)))
    drawn = _rings(len(axes), top) + drawn
    if faint:
        drawn += Markup('<polygon class="faint" points="{}"><title>{}</title></polygon>').format(
            _corners(faint.y, top), faint.label
        )
    drawn += Markup().join(_polygon(i, one, axes, top, filled=len(series) < 3) for i, one in enumerate(series))
    legend = [swatch(stroke(i), one.label) for i, one in enumerate(series)]
    legend += [swatch("faint", faint.label)] if faint else []
    legend.append(few_key("hollow", (n for one in series for n in one.n)))
    return Markup(
        '<figure class="chart"><figcaption>{0}</figcaption><svg class="radar" viewBox="0 0 {1} {2}" role="group" '
        'aria-label="{0}">{3}</svg><ul class="legend">{4}</ul></figure>'
    ).format(title, *RADAR, drawn, Markup().join(legend))


def _place(i: int, count: int, share: float) -> tuple[float, float]:
    angle = 2 * math.pi * i / count - math.pi / 2
    return CENTRE[0] + RADIUS * share * math.cos(angle), CENTRE[1] + RADIUS * share * math.sin(angle)


def _corners(values: Sequence[float], top: float) -> str:
    places = (_place(i, len(values), min(1.0, max(0.0, value / top))) for i, value in enumerate(values))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _polygon(place: int, one: Series, axes: Sequence[str], top: float, *, filled: bool) -> Markup:
    said = ", ".join(f"{axis} {percent(value)}" for axis, value in zip(axes, one.y, strict=True))
    hollow = Markup().join(
        Markup('<circle class="{} few" cx="{:.1f}" cy="{:.1f}" r="4.5"><title>{}</title></circle>').format(
            stroke(place), *_place(i, len(axes), min(1.0, max(0.0, value / top))), f"{one.label}, {axes[i]}: n {n:,}"
        )
        for i, (value, n) in enumerate(zip(one.y, one.n, strict=bool(one.n)))
        if is_few(n)
    )
    return hollow + Markup(
        '<polygon class="{}{} g{}" points="{}" role="img" aria-label="{}"><title>{}</title></polygon>'
    ).format(
        stroke(place),
        " filled" if filled else "",
        place % COLOURS,
        _corners(one.y, top),
        f"{one.label}: {said}",
        one.label,
    )


def _rings(count: int, top: float) -> Markup:
    rings = Markup()
    for step in (0.25, 0.5, 0.75, 1.0):
        rings += Markup('<polygon class="ring" points="{}"/>').format(_corners([step] * count, 1.0))
    for step in (0.5, 1.0):
        x, y = _place(0, count, step)
        rings += Markup('<text class="first ringed" x="{:.1f}" y="{:.1f}">{}</text>').format(
            x + 4, y + 11, percent(step * top, 0)
        )
    return rings


def _spoke(i: int, axes: Sequence[str]) -> Markup:
    (x, y), (tx, ty) = _place(i, len(axes), 1.0), _place(i, len(axes), 1.09)
    side = "" if abs(tx - CENTRE[0]) < 12 else "first" if tx > CENTRE[0] else "last"
    lines = _lines(axes[i])
    first = ty + 4 - 6.5 * (len(lines) - 1) * (2 if ty < CENTRE[1] - RADIUS else 0 if ty > CENTRE[1] + RADIUS else 1)
    text = Markup().join(
        Markup('<tspan x="{:.1f}" y="{:.1f}">{}</tspan>').format(tx, first + 13 * n, line)
        for n, line in enumerate(lines)
    )
    return Markup(
        '<line class="ring" x1="{}" y1="{}" x2="{:.1f}" y2="{:.1f}"/><text class="{}">{}<title>{}</title></text>'
    ).format(*CENTRE, x, y, side, text, axes[i])


def _lines(label: str) -> list[str]:
    """A label in at most two lines that have room beside a radar."""
    words, lines = label.replace("/", "/ ").split(), [""]
    for word in words:
        longer = f"{lines[-1]}{'' if lines[-1].endswith('/') else ' '}{word}".strip()
        if len(longer) <= LINE or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    kept = [line if len(line) <= LINE else f"{line[: LINE - 1]}…" for line in lines[:2]]
    return [*kept[:-1], f"{kept[-1][: LINE - 1]}…"] if len(lines) > 2 else kept


# ---- ranks -----------------------------------------------------------------------------------------------------

STEP = 36
"""Height of one rank."""


def bump(columns: Sequence[str], ranks: Mapping[str, Sequence[float]], *, title: str) -> Markup:
    """How ranks shift from one benchmark to the next (MSQA, Figure 2): one line for each model, the best on top.

    Ranks may be shared; equal ones are drawn beside each other in the order given.
    """
    heights = [_spread([row[i] for row in ranks.values()]) for i in range(len(columns))]
    xs = [100 * (i + 0.5) / max(1, len(columns)) for i in range(len(columns))]  # under their heads
    drawn = Markup().join(
        _rank_line(place, name, columns, list(row), [heights[i][place] for i in range(len(columns))], xs)
        for place, (name, row) in enumerate(ranks.items())
    )
    heads = Markup().join(Markup('<li title="{0}"><bdi>{0}</bdi></li>').format(column) for column in columns)
    order = sorted(range(len(ranks)), key=lambda i: heights[-1][i])
    names = list(ranks)
    right = Markup().join(
        Markup('<li class="t{0}" title="{1}"><bdi>{1}</bdi></li>').format(i % COLOURS, names[i]) for i in order
    )
    return Markup(
        '<figure class="chart"><figcaption>{0}</figcaption><div class="bump"><ol class="heads">{1}</ol>'
        '<svg width="100%" height="{2}" role="group" aria-label="{0}">{3}</svg>'
        '<ol class="names">{4}</ol></div></figure>'
    ).format(title, heads, STEP * len(ranks), drawn, right)


def _spread(ranks: Sequence[float]) -> list[int]:
    """Each model's own line from the top."""
    order = sorted(range(len(ranks)), key=lambda i: (ranks[i], i))
    return [order.index(i) for i in range(len(ranks))]


def _rank_line(
    place: int, name: str, columns: Sequence[str], ranks: Sequence[float], heights: Sequence[int], xs: Sequence[float]
) -> Markup:
    ys = [STEP * (height + 0.5) for height in heights]
    lines = Markup().join(
        Markup('<line class="{}" x1="{:.2f}%" y1="{}" x2="{:.2f}%" y2="{}"/>').format(
            stroke(place), xs[i], ys[i], xs[i + 1], ys[i + 1]
        )
        for i in range(len(xs) - 1)
    )
    knots = Markup().join(
        Markup(
            '<circle class="knot f{}" cx="{:.2f}%" cy="{}" r="12"/><text class="rank" x="{:.2f}%" y="{}">{:g}</text>'
        ).format(place % COLOURS, x, y, x, y + 4, rank)
        for x, y, rank in zip(xs, ys, ranks, strict=True)
    )
    said = ", ".join(f"{column} {rank:g}" for column, rank in zip(columns, ranks, strict=True))
    return Markup('<g class="shift" role="img" aria-label="{0}"><title>{0}</title>{1}{2}</g>').format(
        f"{name}, rank on {said}", lines, knots
    )
