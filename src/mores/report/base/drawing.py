"""Drawings of each kind of chart for a paper, with Matplotlib; `figures.py` writes them.

The records are those that the page draws. A figure is as wide as it is asked to be; its height follows from its rows.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from mores.formatting import NOTHING, SIGNIFICANT
from mores.report.base.blocks import few_sign, is_few
from mores.report.base.charts import (
    COLOURS,
    NARROW,
    Amounts,
    Chart,
    GroupedBars,
    IntervalRow,
    Intervals,
    Stacks,
    Unit,
)
from mores.report.base.grid import Cell, Grid, Head, Heat, as_head
from mores.report.base.plots import Curves, ScoreHistogram
from mores.report.base.shapes import Radar, Ranks, World, tiles
from mores.report.settings import FigureSettings
from mores.types import Result

LINE = 0.24
"""Inches of one row in a figure, where letters have the usual size."""
USUAL, LEAST = 8.0, 5.0
"""Sizes of letters in points: the usual one, and the smallest that a heatmap shrinks to."""
NAMES = 0.48
"""The share of the width that names of rows may take before they are broken into lines."""
UPRIGHT = 4
"""More names below a chart than this stand at an angle, so that long ones do not overlap."""
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#c00020", "#e69f00", "#56b4e9", "#5f6368")
"""Colours that people who are colour-blind can tell apart, after Okabe and Ito, in the order of the page's own."""
ABOVE, BELOW, NONE, INK, SOFT, FAINT = "#3f93d6", "#e58a45", "#f4f3ef", "#1c1e22", "#595e67", "#e3e1da"
DASHES = ("-", "--", ":")
WHEN = {".svg": "Date", ".pdf": "CreationDate", ".png": "Creation Time"}
"""What the formats call the time, which is left out: the same chart gives the same file."""
STYLE = {
    "axes.titlesize": "medium", "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 200,
    "axes.axisbelow": True, "grid.color": FAINT, "grid.linewidth": 0.5, "hatch.linewidth": 0.5,
    "text.parse_math": False, "pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "mores",
    "legend.frameon": False, "legend.handlelength": 1.4, "legend.columnspacing": 1.2,
    "figure.constrained_layout.use": True,
}  # fmt: skip
"""Names are hostile: none of them is read as mathematics. Text stays text in both formats."""


def draw(
    block: Chart | Grid, path: Path, style: FigureSettings, words: str, kinds: Sequence[str] = ("svg", "pdf")
) -> list[Path]:
    """Write a chart as files of these kinds; `words` are all that it shows, for which fonts are looked for."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    files = [path.with_name(f"{path.name}.{kind}") for kind in kinds]
    sizes = {"font.size": style.font_size, "legend.fontsize": style.font_size * 7 / 8, "font.family": _fonts(words)}
    with warnings.catch_warnings(), matplotlib.rc_context(STYLE | sizes):
        warnings.simplefilter("ignore")  # a letter that no font has: the SVG has it as text all the same
        figure = Figure(figsize=(style.figure_width, 3.0))
        FigureCanvasAgg(figure)  # measures words
        DRAWN[type(block)](figure, block)
        for file in files:
            figure.savefig(file, metadata={WHEN[file.suffix]: None})
    return files


def _fonts(words: str) -> list[str]:
    """Return DejaVu Sans, which Matplotlib brings, and the installed fonts with the letters that it lacks."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    fonts = ["DejaVu Sans"]
    missing = {ord(char) for char in words if char > "\u02ff"} - _letters(findfont(FontProperties(family=fonts)))
    plain = (font for font in fontManager.ttflist if font.weight == 400 and font.style == "normal")
    for font in sorted(plain, key=lambda font: (not font.name.startswith("Noto Sans"), font.name)) if missing else ():
        if missing and not re.search("Last Resort|Emoji", font.name) and missing & _letters(font.fname):
            missing -= _letters(font.fname)
            fonts.append(font.name)
    return fonts


@cache
def _letters(file: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(file).get_charmap())


# ---- room ------------------------------------------------------------------------------------------------------


def _colour(place: int) -> str:
    return PALETTE[place % COLOURS]


def _dash(place: int) -> str:
    return DASHES[place // COLOURS % len(DASHES)]


def _size() -> float:
    import matplotlib

    return float(matplotlib.rcParams["font.size"])


def _enlarged() -> float:
    """Return how many times larger than usual letters are."""
    return _size() / USUAL


def _width(figure: Any, texts: Iterable[str], size: float = 0.0) -> float:
    """Return how many inches the longest line takes."""
    from matplotlib.font_manager import FontProperties

    font, renderer = FontProperties(size=size or _size()), figure.canvas.get_renderer()
    lines = (line for text in texts for line in text.split("\n"))
    widths = (float(renderer.get_text_width_height_descent(line, font, False)[0]) for line in lines)
    return max(widths, default=0.0) / float(figure.dpi)


def _fold(figure: Any, text: str, room: float) -> str:
    """Return a name in lines that have room, broken after spaces and the signs of names."""
    lines = [""]
    for piece in re.findall(r"[^\s/_:-]*[\s/_:-]*", text):
        if lines[-1] and _width(figure, [lines[-1] + piece.rstrip()]) > room:
            lines.append(piece)
        else:
            lines[-1] += piece
    return "\n".join(line.strip() for line in lines)


def _tall(names: Sequence[str]) -> float:
    """Return how many times higher than usual rows must be, for names of several lines below each other."""
    lines = [name.count("\n") + 1 for name in names]
    most = max((above + below for above, below in pairwise(lines)), default=2 * max(lines, default=1))
    return 0.35 + 0.65 * most / 2


def _rows(figure: Any, labels: Sequence[str], height: float = 1.0) -> tuple[Any, float]:
    """Return axes with a row for each label, the first on top, and how many inches wide they are."""
    folded = [_fold(figure, label, NAMES * figure.get_figwidth()) for label in labels]
    figure.set_figheight((0.45 + LINE * max(height, _tall(folded)) * max(1, len(labels))) * _enlarged())
    axes = figure.add_subplot()
    axes.set_yticks(range(len(labels)), folded)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines.left.set_visible(False)
    return axes, figure.get_figwidth() - _width(figure, folded) - 0.3


def _ticks(low: float, high: float, room: float, unit: Unit) -> dict[float, str]:
    """Return round places from below `low` to above `high` that have room, and what is written there."""
    from matplotlib.ticker import MaxNLocator

    many = max(2, min(8, int(room / 0.48 / _enlarged())))
    steps = [1, 2, 2.5, 5, 10] if unit == "share" else [1, 2, 5, 10]
    locator = MaxNLocator(many, steps=steps, integer=unit == "place", min_n_ticks=2)
    factor, end = 100 if unit in ("share", "points") else 1, "%" if unit == "share" else ""
    places = [float(place) for place in locator.tick_values(low, max(high, low + 1e-6))]
    digits = max(len(f"{place * factor:.6f}".rstrip("0").partition(".")[2]) for place in places)
    plus = ["+" if unit == "points" and place > 1e-9 else "" for place in places]
    texts = [_minus(f"{place * factor:,.{digits}f}") for place in places]
    return {place: f"{sign}{text}{end}" for place, sign, text in zip(places, plus, texts, strict=True)}


def _minus(text: str) -> str:
    return "0" if re.fullmatch(r"-0(\.0+)?", text) else text.replace("-", "−")


def _across(axes: Any, ticks: Mapping[float, str]) -> None:
    """Let the x axis of rows go from the first tick to the last, with room for the marks at both ends."""
    low, high = min(ticks), max(ticks)
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
    axes.spines.bottom.set_bounds(low, high)
    axes.grid(axis="x")


def _legend(figure: Any) -> None:
    """Below the axes, in as many columns as have room."""
    labels = [label for axes in figure.axes for label in axes.get_legend_handles_labels()[1]]
    if not labels:
        return
    widths = [_width(figure, [label], _size() * 7 / 8) + 0.42 * _enlarged() for label in labels]
    columns = len(labels)
    while columns > 1 and sum(map(max, _split(widths, columns))) > figure.get_figwidth() - 0.1:
        columns -= 1
    figure.set_figheight(figure.get_figheight() + 0.17 * math.ceil(len(labels) / columns) * _enlarged())
    figure.legend(loc="outside lower center", ncols=columns)


def _split(widths: Sequence[float], columns: int) -> list[Sequence[float]]:
    """Return what stands in each column of a legend: as many in each, the first ones have one more."""
    ends = [math.ceil(len(widths) * column / columns) for column in range(columns + 1)]
    return [widths[start:end] for start, end in pairwise(ends)]


# ---- values, bars and parts ------------------------------------------------------------------------------------


def _whisker(axes: Any, result: Result, y: float, row: IntervalRow, colour: str) -> None:
    """Draw a value with its interval: hollow where it rests on few samples, a square where it is a baseline."""
    if result.low is not None and result.high is not None:
        axes.plot([result.low, result.high], [y, y], color=colour, linewidth=1.3, clip_on=False)
    face = "white" if is_few(result.n) and not row.second else colour
    mark = "s" if row.baseline else "o"
    axes.plot([result.value], [y], mark, color=colour, markerfacecolor=face, markersize=4, clip_on=False)
    if row.star and not row.second:
        left = (result.value or 0.0) < 0  # away from zero, whose line it would touch
        end = result.low if left else result.high
        look: dict[str, Any] = {
            "va": "center",
            "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.2},
        }  # lines may run there
        look |= {"xytext": (-3 if left else 3, -1), "ha": "right" if left else "left"}
        beside = (result.value if end is None else end, y)
        axes.annotate("*", beside, textcoords="offset points", annotation_clip=False, **look)


def _intervals(figure: Any, chart: Intervals) -> None:
    axes, room = _rows(figure, [row.label for row in chart.rows], 1.2 if any(chart.pair) else 1.0)
    shown = [result for row in chart.rows for result in (row.result, row.second) if result]
    known = (value for result in shown for value in (result.value, result.low, result.high))
    values = [*(v for v in known if v is not None and math.isfinite(v)), *chart.references.values()]
    start = {"place": [1.0, 2.0], "share": [0.0, 1.0]}.get(chart.unit, [0.0])
    _across(axes, _ticks(min(*values, *start, 1e9), max(*values, *start, -1e9), room, chart.unit))
    if chart.zero:
        axes.axvline(0, color=INK, linewidth=0.8, label=chart.zero)
    for place, (name, value) in enumerate(chart.references.items()):
        label = chart.named(name, value)
        axes.axvline(value, color=_colour(place + 1), linewidth=1, linestyle="--", label=label)
    for place, name in enumerate(filter(None, chart.pair)):
        axes.plot([], [], "o-", color=_colour(place), markersize=4, label=name)
    for y, row in enumerate(chart.rows):
        pair = [result for result in (row.result, row.second) if result is not None and result.value is not None]
        for place, result in enumerate(pair):
            shift = 0.18 * (2 * place - 1) if row.second else 0.0
            _whisker(axes, result, y + shift, row, _colour(place))
        if not pair:
            axes.text(0.01, y, "no score", color=SOFT, va="center", transform=axes.get_yaxis_transform())
    if any(row.baseline for row in chart.rows):
        axes.plot([], [], "s", color=_colour(0), markersize=4, label="a baseline")
    if any(row.star and not row.second for row in chart.rows):
        look = {"linestyle": "", "color": INK, "markersize": 5, "markeredgewidth": 0.6}
        axes.plot([], [], marker=(6, 2), label=f"p < {SIGNIFICANT:g}", **look)
    few = (row.result.n for row in chart.rows if row.result and row.result.value is not None and not row.second)
    for sign in few_sign("hollow", few):
        axes.plot([], [], "o", color=_colour(0), markerfacecolor="white", markersize=4, label=sign.label)
    _legend(figure)


def _bars(figure: Any, chart: GroupedBars) -> None:
    axes, room = _rows(figure, list(chart.rows), len(chart.groups) * 0.65 + 0.25)
    thick = 0.8 / max(1, len(chart.groups))
    _across(axes, _ticks(0, 1, room, "share"))
    for place, group in enumerate(chart.groups):
        for y, result in enumerate(results[place] for results in chart.rows.values()):
            if result is not None and result.value is not None:
                at, few = y - 0.4 + thick * (place + 0.5), is_few(result.n)
                axes.barh(at, result.value, thick * 0.86, color="white" if few else _colour(place),
                          edgecolor=_colour(place), linewidth=0.9)  # fmt: skip
                if result.low is not None and result.high is not None:
                    axes.plot([result.low, result.high], [at, at], color=INK, linewidth=1, clip_on=False)
        axes.plot([], [], "s", color=_colour(place), label=group)
    for sign in few_sign("hollow", (result.n for results in chart.rows.values() for result in results if result)):
        axes.plot([], [], "s", color=SOFT, markerfacecolor="white", label=sign.label)
    _legend(figure)


def _amounts(figure: Any, chart: Amounts) -> None:
    axes, _ = _rows(figure, list(chart.counts))
    figure.set_figheight(figure.get_figheight() - 0.25 * _enlarged())
    bars = axes.barh(range(len(chart.counts)), list(chart.counts.values()), color=_colour(0))
    axes.bar_label(bars, [f"{count:,}" for count in chart.counts.values()], padding=3)
    axes.xaxis.set_visible(False)
    axes.spines.bottom.set_visible(False)


def _stacks(figure: Any, chart: Stacks) -> None:
    sizes = [sum(stack.counts) for stack in chart.stacks]
    axes, room = _rows(figure, [f"{s.label} (n {n:,})" for s, n in zip(chart.stacks, sizes, strict=True)])
    _across(axes, _ticks(0, 1, room, "share"))
    small = _size() * 5 / 6
    starts = [0.0] * len(chart.stacks)
    for place, part in enumerate(chart.parts):
        axes.plot([], [], "s", color=_colour(part.colour), label=part.label)
        for y, (stack, n) in enumerate(zip(chart.stacks, sizes, strict=True)):
            share, colour, few = stack.counts[place] / (n or 1), _colour(part.colour), is_few(n)
            look = {"color": "white" if few else colour, "edgecolor": colour if few else "white", "linewidth": 0.9}
            if share:
                axes.barh(y, share, left=starts[y], **look)
            if share * room > _width(figure, [f"{share:.0%}"], small) + 0.05 and share >= NARROW / 2:
                ink = colour if few else "white" if _is_dark(colour) else INK
                middle = starts[y] + share / 2
                axes.text(middle, y, f"{share:.0%}", color=ink, fontsize=small, ha="center", va="center_baseline")
            starts[y] += share
    for sign in few_sign("hollow", filter(None, sizes)):
        axes.plot([], [], "s", color=SOFT, markerfacecolor="white", label=sign.label)
    _legend(figure)


def _is_dark(colour: str) -> bool:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140


# ---- two axes --------------------------------------------------------------------------------------------------


def _curves(figure: Any, chart: Curves) -> None:
    side = min(figure.get_figwidth(), 3.2 * _enlarged())
    ends = sorted((line.y[-1], line.label) for line in chart.lines if line.y)
    gaps = [upper[0] - lower[0] for lower, upper in pairwise(ends)]
    beside = len(ends) > 1 and min(gaps) * side * 0.75 > 0.95 * _size() / 72
    more = _width(figure, [label for _, label in ends]) + 0.1 if beside else 0.0
    figure.set_size_inches(min(figure.get_figwidth(), side + more), side)
    axes = figure.add_subplot()
    axes.set(xlim=(chart.axis.low, max(chart.axis.high, chart.axis.low + 1e-9)), ylim=(0, 1), xlabel=chart.axis.name,
             ylabel=chart.y)  # fmt: skip
    axes.set_xticks([tick for tick, _ in chart.axis.ticks()], [text for _, text in chart.axis.ticks()])
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.grid()
    most = max((column.n for column in chart.columns), default=0) or 1
    for column in chart.columns:
        middle, width = (column.low + column.high) / 2, column.high - column.low
        axes.bar(middle, 0.17 * column.n / most, width, color="#dfdcd4", edgecolor="white")
    if chart.diagonal:
        axes.plot((chart.axis.low, chart.axis.high), (0, 1), color=SOFT, linewidth=0.8, label=chart.diagonal)
    for place, line in enumerate(chart.lines):
        look = {"color": _colour(place), "linestyle": _dash(place), "label": "" if beside else line.label}
        axes.plot(line.x, line.y, linewidth=1.3, marker="o" if line.n else "", markersize=3, clip_on=False, **look)
        xs, lows, highs = ([row[i] for row in line.intervals()] for i in range(3))
        if line.n:
            axes.vlines(xs, lows, highs, color=_colour(place), linewidth=1, clip_on=False)
        else:
            axes.fill_between(xs, lows, highs, color=_colour(place), alpha=0.16, linewidth=0)
        if beside and line.y:
            _name(axes, line.label, (line.x[-1], line.y[-1]))
    _legend(figure)


def _name(axes: Any, name: str, end: tuple[float, float]) -> None:
    """Write the name of a line where it ends."""
    axes.annotate(name, end, (5, 0), textcoords="offset points", va="center", annotation_clip=False)


def _histogram(figure: Any, chart: ScoreHistogram) -> None:
    figure.set_figheight(min(3.0, 0.62 * figure.get_figwidth()))
    axes = figure.add_subplot()
    axes.set_ylabel("share of the kind’s samples")
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.margins(x=0)
    axes.grid(axis="y")
    for place, (kind, counts) in enumerate(chart.counts.items()):
        shares = [n / (sum(counts) or 1) for n in counts]
        label, places = f"{kind} (n {sum(counts):,})", [place - 0.5 for place in range(len(shares) + 1)]
        axes.stairs(shares, places, color=_colour(place), linewidth=1.3, label=label, clip_on=False)
    edges = [_minus(f"{edge:.3g}") for edge in chart.edges]
    room = (figure.get_figwidth() - 0.7) / (_width(figure, edges) + 0.12)
    ticks = range(0, len(edges), max(1, math.ceil(len(edges) / max(1.0, room))))
    axes.set_xticks([tick - 0.5 for tick in ticks], [edges[tick] for tick in ticks])
    _legend(figure)


def _ranks(figure: Any, chart: Ranks) -> None:
    names = [_fold(figure, name, NAMES * figure.get_figwidth()) for name in chart.ranks]
    figure.set_figheight((0.6 + LINE * _tall(names) * len(names)) * _enlarged())
    axes = figure.add_subplot()
    room = 0.55 * figure.get_figwidth() / max(1, len(chart.columns))
    labels, slant = [_fold(figure, column, room) for column in chart.columns], {}
    if len(labels) > UPRIGHT:
        labels, slant = list(chart.columns), {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(range(len(labels)), labels, **slant)
    axes.set_ylim(len(names) + 0.5, 0.5)
    axes.set_yticks(range(1, len(names) + 1, max(1, len(names) // 10)))
    axes.set_ylabel("rank")
    for place, (name, ranks) in enumerate(zip(names, chart.ranks.values(), strict=True)):
        axes.plot(range(len(ranks)), ranks, f"o{_dash(place)}", color=_colour(place), linewidth=1.3, markersize=4)
        _name(axes, name, (len(ranks) - 1, ranks[-1]))


# ---- shapes ----------------------------------------------------------------------------------------------------


def _radar(figure: Any, chart: Radar) -> None:
    side = min(figure.get_figwidth(), 3.6 * _enlarged())
    figure.set_size_inches(side, 0.82 * side)
    axes = figure.add_subplot(projection="polar")
    angles = [2 * math.pi * i / len(chart.axes) for i in range(len(chart.axes))]
    axes.set_theta_offset(math.pi / 2)
    axes.set_theta_direction(-1)
    axes.set_ylim(0, chart.top)
    axes.set_yticks([chart.top / 2, chart.top])
    axes.set_xticks(angles, [_fold(figure, name, 0.24 * side) for name in chart.axes])
    axes.tick_params(axis="x", pad=0)
    axes.tick_params(axis="y", labelsize=_size() * 5 / 6, labelcolor=SOFT)
    axes.set_rlabel_position(180 / len(chart.axes))
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.spines["polar"].set(color=SOFT, linewidth=0.6)
    axes.grid(visible=True)
    for tick, angle in zip(axes.xaxis.get_major_ticks(), angles, strict=True):
        right, up = math.sin(angle), math.cos(angle)
        tick.label1.set_horizontalalignment("center" if abs(right) < 0.2 else "left" if right > 0 else "right")
        tick.label1.set_verticalalignment("center" if abs(up) < 0.4 else "bottom" if up > 0 else "top")
    profiles = [*chart.profiles, *([chart.faint] if chart.faint else [])]
    for place, profile in enumerate(profiles):
        colour = SOFT if profile is chart.faint else _colour(place)
        closed = [*profile.scores, profile.scores[0]]
        dash = ":" if profile is chart.faint else _dash(place)
        axes.plot([*angles, angles[0]], closed, dash, color=colour, linewidth=1.3, label=profile.label, clip_on=False)
    _legend(figure)
    figure.draw_without_rendering()  # names around a circle have their places only after the first layout


def _world(figure: Any, chart: World) -> None:
    from matplotlib.patches import Rectangle

    grid = tiles()
    width, height = (max(place[axis] for place in grid.values()) + 1 for axis in (0, 1))
    line = width / figure.get_figwidth() * 0.17 * _enlarged()  # in tiles
    figure.set_figheight(figure.get_figwidth() * (height + 1.6 * line) / width)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.1, width), ylim=(height + 1.6 * line, -0.1), aspect="equal")
    axes.axis("off")

    def tile(x: float, y: float, face: str, side: float = 0.92) -> None:
        axes.add_patch(Rectangle((x, y), side, side, facecolor=face, edgecolor="#a9a69e", linewidth=0.3))

    counts = []
    for code, (x, y) in grid.items():
        result = chart.scores.get(code)
        strength = chart.scale.at(result.value) if result else None
        few = result is not None and is_few(result.n)
        tile(x, y, "white" if few else _blend(strength or 0.0))
        if strength is not None and result is not None:
            counts.append(result.n)
            size = 40 * figure.get_figwidth() / width
            axes.text(x + 0.46, y + 0.48, code, fontsize=size, ha="center", va="center")
    at, foot, ramp = 0.0, height + 0.6 * line, chart.scale.ramp()
    axes.text(at, foot, ramp.low, va="center")
    at += _width(figure, [ramp.low]) * width / figure.get_figwidth() + 0.4
    for step in range(20):
        axes.add_patch(Rectangle((at, foot - 0.3 * line), 0.25, 0.6 * line, facecolor=_blend((step + 1) / 20)))
        at += 0.25
    axes.text(at + 0.4, foot, ramp.high, va="center")
    at += _width(figure, [ramp.high]) * width / figure.get_figwidth() + 1.6
    for sign in few_sign("white", counts):
        tile(at, foot - 0.3 * line, "white", 0.6 * line)
        axes.text(at + 0.9 * line, foot, sign.label, va="center")


def _blend(value: float) -> str:
    """Return a colour from -1 over none at 0 to 1."""
    end, start = ABOVE if value > 0 else BELOW, NONE
    share = min(1.0, abs(value))
    parts = (round((1 - share) * int(start[i : i + 2], 16) + share * int(end[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)


def _heat(figure: Any, table: Heat) -> None:
    import matplotlib

    full = _size()
    tries = [(full - step / 2, NAMES) for step in range(max(0, int(2 * (full - LEAST))) + 1)]
    tries += [(tries[-1][0], share) for share in (0.3, 0.2)]
    for place, (size, names) in enumerate(tries, 1):
        with matplotlib.rc_context({"font.size": size}):
            room = _Room(figure, table, names)
            if room.width <= figure.get_figwidth() or place == len(tries):
                room.draw(figure, table)
                return


class _Room:
    """The places of a heatmap's cells, in inches: they share the width, but need not fill it."""

    def __init__(self, figure: Any, table: Heat, names_share: float) -> None:
        width, many = figure.get_figwidth(), max(1, len(table.columns) - 1)
        self.rows = [_fold(figure, _titled(head), names_share * width) for head in table.heads]
        self.columns = [_fold(figure, _titled(as_head(column)), 1.5 * _enlarged()) for column in table.columns[1:]]
        self.small, self.right = _size() * 5 / 6, 0.03
        self.left = _width(figure, self.rows) + 0.12
        texts = [_text(cell) for line in table.cells for cell in line]
        least, names = _width(figure, texts, self.small) + 0.06, [_width(figure, [name]) for name in self.columns]
        share, usual = (width - self.left - self.right) / many, 0.7 * _enlarged()
        self.level = max(names, default=0) + 0.08 <= share
        if self.level:
            self.cell = max(least, min(usual, share), max(names, default=0) + 0.08)
            self.top = _tall(self.columns) * 1.6 * _size() / 72
        else:  # a slanted name reaches over the cells at its right
            lines = max(name.count("\n") for name in self.columns)
            self.top = 0.87 * max(names) + (1.4 + 0.6 * lines) * _size() / 72
            for _ in range(4):
                self.cell = max(least, min(usual, (width - self.left - self.right) / many))
                over = (name / 2 + 0.08 - (many - place - 0.5) * self.cell for place, name in enumerate(names))
                self.right = max(0.03, *over)
        self.line = LINE * _enlarged() * _tall(self.rows)
        self.width = self.left + self.cell * many + self.right

    def draw(self, figure: Any, table: Heat) -> None:
        """Draw the cells: those of few samples have no colour, or where none has many, hatched ones."""
        from matplotlib.patches import Rectangle

        counts = [cell.n for line in table.cells for cell in line if cell.text != NOTHING]
        all_few = all(map(is_few, counts))
        note = few_sign("hatched" if all_few else "white", counts)
        foot = 1.8 * _size() / 72 if note else 0.03
        height = self.top + self.line * len(self.rows) + foot
        figure.set_layout_engine("none")
        figure.set_size_inches(self.width, height)
        wide, tall = self.cell * len(self.columns) / self.width, self.line * len(self.rows) / height
        axes = figure.add_axes((self.left / self.width, foot / height, wide, tall))
        axes.set(xlim=(-0.5, len(self.columns) - 0.5), ylim=(len(self.rows) - 0.5, -0.5))
        axes.set_yticks(range(len(self.rows)), self.rows)
        slant = {} if self.level else {"rotation": 60, "ha": "left", "rotation_mode": "anchor"}
        axes.set_xticks(range(len(self.columns)), self.columns, **slant)
        axes.xaxis.tick_top()
        axes.tick_params(length=0, pad=3)
        for spine in axes.spines.values():
            spine.set_visible(False)
        for sign in note:
            look = {"ha": "right", "va": "center", "size": self.small}
            figure.text(1 - 0.03 / self.width, 0.4 * foot / height, sign.label, **look)
        for y, line in enumerate(table.cells):
            for x, cell in enumerate(line):
                shade = cell.value if all_few or not is_few(cell.n) else None
                face = "white" if shade is None else _blend(shade)
                square = Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, facecolor=face, edgecolor="white", linewidth=0)
                square.set_hatch("///" if is_few(cell.n) and shade is not None else "")
                axes.add_patch(square)
                axes.text(x, y, _text(cell), ha="center", va="center_baseline", fontsize=self.small)


def _text(cell: Cell) -> str:
    return cell.text + "*" * cell.star


def _titled(head: Head) -> str:
    return f"{head.label} ({head.note})" if head.note else head.label


DRAWN: dict[type, Callable[[Any, Any], None]] = {
    Intervals: _intervals,
    GroupedBars: _bars,
    Amounts: _amounts,
    Stacks: _stacks,
    Curves: _curves,
    ScoreHistogram: _histogram,
    Radar: _radar,
    World: _world,
    Ranks: _ranks,
    Heat: _heat,
}
"""How each kind of chart is drawn."""
