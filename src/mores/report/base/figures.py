"""The charts and tables of a page for a paper: SVG and PDF of every chart, LaTeX (booktabs) and CSV of every table.

`mores board runs --figures DIR` writes them. The charts are the records that the page draws. Needs the extra `figures`.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar, cast

from mores.errors import ConfigError
from mores.extras import require
from mores.io import to_csv, write_text
from mores.io.source import read_text
from mores.io.values import load_toml
from mores.report.base.blocks import Section, is_few, walk
from mores.report.base.charts import COLOURS, FORMS, Amounts, Chart, GroupedBars, IntervalRow, Intervals, Stacks
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid, Heat
from mores.report.base.plots import Curves, ScoreHistogram
from mores.report.base.shapes import TILE, Radar, Ranks, World, tiles
from mores.report.settings import FigureSettings
from mores.types import Result

LINE = 0.24
"""Inches of one row in a figure, where letters have the usual size."""
USUAL = 8.0
"""Size of letters in points."""
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#1c1e22", "#e69f00", "#56b4e9", "#c00020")
"""Colours that people who are colour-blind can tell apart, after Okabe and Ito; the yellow is too light for lines."""
ABOVE, BELOW, NONE, INK = "#3f93d6", "#e58a45", "#f4f3ef", "#1c1e22"
WORDS = 32
"""Letters that have room in half of a legend."""
DASHES = ("-", "--", ":")
MINUS = "−"
STYLE = {
    "axes.titlesize": "medium", "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 200,
    "text.parse_math": False, "pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "mores",
    "legend.frameon": False, "figure.constrained_layout.use": True,
}  # fmt: skip
"""Names are hostile: none of them is read as mathematics. Text stays text in both formats."""
DEFAULT = FigureSettings()
T = TypeVar("T")


def write_figures(document: ResultDocument, folder: Path, style: FigureSettings = DEFAULT) -> list[Path]:
    """Write every chart and table of the page and every table that is printed, and return the files."""
    require("figures", "matplotlib")
    names = read_names(style.names) if style.names else {}
    folder.mkdir(parents=True, exist_ok=True)
    used, written, section = set[str](), list[Path](), ""
    shown = [*walk((*document.opening, *document.sections))]
    printed = [table for table in document.printed if not any(table is block for block in shown)]
    for block in (*shown, Section("", "", ()), *printed):
        if isinstance(block, Section):
            section = block.short or block.title
        elif isinstance(block, Chart | Grid):
            block = sort_rows(rename(block, names), style.order)
            words = (section[:40], (block.title or "table")[:60])
            parts = (re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words)
            stem = "-".join(filter(None, parts)) or "figure"
            stems = chain([stem], (f"{stem}-{number}" for number in count(2)))
            used.add(name := next(name for name in stems if name not in used))
            path = folder / name
            if not isinstance(block, Grid) or isinstance(block, Heat):
                written += _draw(block, path, style)
            texts = {".csv": block.csv() if isinstance(block, Grid) else to_csv(block.data())}
            texts |= {".tex": block.latex()} if isinstance(block, Grid) else {}
            for suffix, text in texts.items():
                written.append(path.with_name(path.name + suffix))
                write_text(written[-1], text)
    return written


def read_names(path: Path) -> dict[str, str]:
    """Return the names that a TOML file gives; ConfigError where it does not."""
    try:
        names = load_toml(read_text(path).encode())
    except ValueError as error:
        raise ConfigError(f'{path}: not TOML: {error}; write a line such as "openai:NAME" = "Name"') from error
    for name, shown in names.items():
        if not isinstance(shown, str):
            raise ConfigError(f'{path}: {name!r} is not a text; put quotes around both: "{name}" = "…"')
    return names


def rename(value: T, names: Mapping[str, str]) -> T:
    """Return a block whose texts show other names, also within a text: `1. openai:gpt-4.1`."""
    changed: Any = value
    if not names:
        return value
    if isinstance(value, str):
        longest = sorted(map(re.escape, names), key=len, reverse=True)
        changed = re.sub(rf"(?<![\w.:/-])(?:{'|'.join(longest)})(?![\w:/-]|\.\w)", lambda match: names[match[0]], value)
    elif isinstance(value, dict):
        changed = {rename(key, names): rename(part, names) for key, part in value.items()}
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        changed = type(value)(*(rename(part, names) for part in value))
    elif isinstance(value, list | tuple):
        changed = type(value)(rename(part, names) for part in value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = ((entry.name, getattr(value, entry.name)) for entry in fields(value) if entry.init)
        changed = replace(value, **{name: rename(part, names) for name, part in parts})
    return cast("T", changed)


def sort_rows(block: Chart | Grid, order: str) -> Chart | Grid:
    """Return a chart with its rows in another order; tables, and charts without rows, stay."""
    by_name = order == "name"
    if order == "page":
        return block
    if isinstance(block, Intervals):
        rows = sorted(block.rows, key=lambda row: row.label.casefold() if by_name else -_value(row.result))
        return replace(block, rows=rows)
    if isinstance(block, GroupedBars):
        bars = sorted(block.rows.items(), key=lambda bar: bar[0].casefold() if by_name else -_value(bar[1][0]))
        return replace(block, rows=dict(bars))
    if isinstance(block, Amounts):
        counts = sorted(block.counts.items(), key=lambda pair: pair[0].casefold() if by_name else -pair[1])
        return replace(block, counts=dict(counts))
    return block


def _value(result: Result | None) -> float:
    return -math.inf if result is None or result.value is None else result.value


def _draw(block: Chart | Grid, path: Path, style: FigureSettings) -> list[Path]:
    import matplotlib
    from matplotlib.figure import Figure

    files = [path.with_name(f"{path.name}.{kind}") for kind in ("svg", "pdf")]
    sizes = {"font.size": style.font_size, "legend.fontsize": style.font_size * 7 / 8}
    with warnings.catch_warnings(), matplotlib.rc_context(STYLE | sizes):
        warnings.simplefilter("ignore")  # a letter that the font lacks: the SVG has it as text all the same
        figure = Figure(figsize=(style.figure_width, 3.0))
        DRAWN[type(block)](figure, block)
        for file in files:
            when = {"Date" if file.suffix == ".svg" else "CreationDate": None}
            # A heatmap is as wide as its columns and names; every other figure is exactly as wide as asked.
            figure.savefig(file, metadata=when, bbox_inches="tight" if isinstance(block, Grid) else None)
    return files


# ---- drawing ---------------------------------------------------------------------------------------------------


def _colour(place: int) -> str:
    return PALETTE[place % COLOURS]


def _enlarged() -> float:
    """Return how many times larger than usual letters are."""
    import matplotlib

    return float(matplotlib.rcParams["font.size"]) / USUAL


def _rows(figure: Any, labels: Sequence[str], height: float = 1.0) -> Any:
    """Return axes with a row for each label, the first on top."""
    figure.set_figheight((0.5 + LINE * height * max(1, len(labels))) * _enlarged())
    axes = figure.add_subplot()
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    return axes


def _legend(figure: Any) -> None:
    """Below the axes, in two columns where the names have room."""
    labels = [label for axes in figure.axes for label in axes.get_legend_handles_labels()[1]]
    if labels:
        room = WORDS * figure.get_figwidth() / 5.5 / _enlarged()
        columns = 2 if max(map(len, labels)) < room else 1
        more = 0.16 * math.ceil(len(labels) / columns) * _enlarged()
        figure.set_figheight(figure.get_figheight() + more)
        figure.legend(loc="outside lower center", ncols=columns)


def _whisker(axes: Any, result: Result, y: float, row: IntervalRow, colour: str, label: str) -> None:
    """Draw a value with its interval: hollow where it rests on few samples, a square where it is a baseline."""
    if result.low is not None and result.high is not None:
        axes.plot([result.low, result.high], [y, y], color=colour, linewidth=1.3, clip_on=False)
    few = is_few(result.n) and not row.second
    face, mark = "white" if few else colour, "s" if row.baseline else "o"
    axes.plot([result.value], [y], mark, color=colour, markerfacecolor=face, markersize=4, label=label, clip_on=False)


def _intervals(figure: Any, chart: Intervals) -> None:
    axes, scale = _rows(figure, [row.label for row in chart.rows]), chart.scale()
    axes.set_xlim(scale.low, scale.high)
    axes.set_xticks([tick for tick, _ in scale.ticks], [text for _, text in scale.ticks])
    if chart.zero:
        axes.axvline(0, color=INK, linewidth=0.8)
    for place, (name, value) in enumerate(chart.references.items()):
        label = f"{name}: {FORMS[chart.unit].value(value)}"
        axes.axvline(value, color=_colour(place + 1), linewidth=1, linestyle="--", label=label)
    for y, row in enumerate(chart.rows):
        for place, result in enumerate((row.result, row.second)):
            if result is not None and result.value is not None:
                shift = 0.18 * (2 * place - 1) if row.second else 0.0
                _whisker(axes, result, y + shift, row, _colour(place), chart.pair[place] if not y else "")
    _legend(figure)


def _bars(figure: Any, chart: GroupedBars) -> None:
    axes, thick = _rows(figure, list(chart.rows), len(chart.groups) * 0.8), 0.8 / max(1, len(chart.groups))
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    for place, group in enumerate(chart.groups):
        for y, result in enumerate(results[place] for results in chart.rows.values()):
            if result is not None and result.value is not None:
                at, few = y - 0.4 + thick * (place + 0.5), is_few(result.n)
                axes.barh(at, result.value, thick * 0.9, color="none" if few else _colour(place), alpha=0.8,
                          edgecolor=_colour(place), linestyle="--" if few else "-")  # fmt: skip
                if result.low is not None and result.high is not None:
                    axes.plot([result.low, result.high], [at, at], color=INK, linewidth=1, clip_on=False)
        axes.plot([], [], "s", color=_colour(place), label=group)
    _legend(figure)


def _amounts(figure: Any, chart: Amounts) -> None:
    axes = _rows(figure, list(chart.counts))
    axes.barh(range(len(chart.counts)), list(chart.counts.values()), color=_colour(0))
    axes.xaxis.get_major_locator().set_params(integer=True)


def _stacks(figure: Any, chart: Stacks) -> None:
    axes = _rows(figure, [f"{stack.label} (n {sum(stack.counts):,})" for stack in chart.stacks])
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    starts = [0.0] * len(chart.stacks)
    for place, part in enumerate(chart.parts):
        shares = [stack.counts[place] / (sum(stack.counts) or 1) for stack in chart.stacks]
        axes.barh(
            range(len(starts)), shares, left=starts, color=_colour(part.colour), edgecolor="white", label=part.label
        )
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    _legend(figure)


def _curves(figure: Any, chart: Curves) -> None:
    side = min(figure.get_figwidth(), 3.4 * _enlarged())
    figure.set_size_inches(side, side)
    axes = figure.add_subplot()
    axes.set(xlim=(chart.axis.low, max(chart.axis.high, chart.axis.low + 1e-9)), ylim=(0, 1), xlabel=chart.axis.name,
             ylabel=chart.y)  # fmt: skip
    axes.set_xticks([tick for tick, _ in chart.axis.ticks()], [text for _, text in chart.axis.ticks()])
    axes.yaxis.set_major_formatter("{x:.0%}")
    most = max((column.n for column in chart.columns), default=0) or 1
    for column in chart.columns:
        axes.bar(
            (column.low + column.high) / 2,
            0.17 * column.n / most,
            column.high - column.low,
            color="#dfdcd4",
            edgecolor="white",
        )
    if chart.diagonal:
        ends = (chart.axis.low, chart.axis.high)
        axes.plot(ends, (0, 1), color="#595e67", linewidth=0.8, label=chart.diagonal)
    for place, line in enumerate(chart.lines):
        look = {"color": _colour(place), "linestyle": DASHES[place // COLOURS % len(DASHES)], "label": line.label}
        axes.plot(line.x, line.y, linewidth=1.3, marker="o" if line.n else "", markersize=3, clip_on=not line.n, **look)
        xs, lows, highs = ([row[i] for row in line.intervals()] for i in range(3))
        if line.n:
            axes.vlines(xs, lows, highs, color=_colour(place), linewidth=1)
        else:
            axes.fill_between(xs, lows, highs, color=_colour(place), alpha=0.16, linewidth=0)
    _legend(figure)


def _histogram(figure: Any, chart: ScoreHistogram) -> None:
    axes = figure.add_subplot()
    axes.set_ylabel("share of the kind’s samples")
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.margins(x=0)
    for place, (kind, counts) in enumerate(chart.counts.items()):
        shares = [n / (sum(counts) or 1) for n in counts]
        label, places = f"{kind} (n {sum(counts):,})", [place - 0.5 for place in range(len(shares) + 1)]
        axes.stairs(shares, places, color=_colour(place), linewidth=1.3, label=label, clip_on=False)
    ticks = range(0, len(chart.edges), max(1, len(chart.edges) // 8))
    axes.set_xticks([tick - 0.5 for tick in ticks], [f"{chart.edges[tick]:.3g}".replace("-", MINUS) for tick in ticks])
    _legend(figure)


def _radar(figure: Any, chart: Radar) -> None:
    side = min(figure.get_figwidth(), 3.85 * _enlarged())
    figure.set_size_inches(side, side)
    axes = figure.add_subplot(projection="polar")
    angles = [2 * math.pi * i / len(chart.axes) for i in range(len(chart.axes))]
    axes.set_theta_offset(math.pi / 2)
    axes.set_theta_direction(-1)
    axes.set_ylim(0, chart.top)
    axes.set_yticks([chart.top / 2, chart.top])
    axes.set_xticks(angles, chart.axes)
    axes.yaxis.set_major_formatter("{x:.0%}")
    for place, profile in enumerate([*chart.profiles, *([chart.faint] if chart.faint else [])]):
        colour = "#595e67" if profile is chart.faint else _colour(place)
        axes.plot(
            [*angles, angles[0]], [*profile.scores, profile.scores[0]], color=colour, linewidth=1.2, label=profile.label
        )
    _legend(figure)


def _world(figure: Any, chart: World) -> None:
    from matplotlib.patches import Rectangle

    grid = tiles()
    width, height = (max(place[axis] for place in grid.values()) + 1 for axis in (0, 1))
    figure.set_figheight(figure.get_figwidth() * height / width + 0.3 * _enlarged())
    size = 62 * figure.get_figwidth() / width / 2.6
    axes = figure.add_subplot()
    axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    axes.axis("off")
    for code, (x, y) in grid.items():
        result = chart.scores.get(code)
        strength = chart.scale.at(result.value) if result else None
        few = result is not None and is_few(result.n)
        face = "white" if few else _blend(strength or 0.0)
        side = (TILE - 1.5) / TILE
        axes.add_patch(Rectangle((x, y), side, side, facecolor=face, edgecolor="#a9a69e", linewidth=0.3))
        if strength is not None:
            axes.text(x + side / 2, y + side / 2, code, fontsize=size, ha="center", va="center")
    axes.set_title(f"{chart.scale.ramp().low} (light) to {chart.scale.ramp().high} (dark); white: few samples")


def _blend(value: float) -> str:
    """Return a colour from -1 over none at 0 to 1."""
    end, start = ABOVE if value > 0 else BELOW, NONE
    share = min(1.0, abs(value))
    parts = (round((1 - share) * int(start[i : i + 2], 16) + share * int(end[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)


def _ranks(figure: Any, chart: Ranks) -> None:
    figure.set_figheight((0.8 + LINE * len(chart.ranks)) * _enlarged())
    axes = figure.add_subplot()
    axes.set_xticks(range(len(chart.columns)), chart.columns)
    axes.set_ylim(len(chart.ranks) + 0.5, 0.5)
    axes.set_yticks(range(1, len(chart.ranks) + 1, max(1, len(chart.ranks) // 10)))
    axes.set_ylabel("rank")
    for place, (name, ranks) in enumerate(chart.ranks.items()):
        axes.plot(range(len(ranks)), ranks, "o-", color=_colour(place), label=name)
        axes.annotate(
            name, (len(ranks) - 1, ranks[-1]), (6, 0), textcoords="offset points", va="center", fontsize="small"
        )


def _heat(figure: Any, table: Heat) -> None:
    labels, columns = [head.text for head in table.heads], table.names[1:]
    figure.set_size_inches((1.8 + 0.5 * len(columns)) * _enlarged(), (1.2 + LINE * len(labels)) * _enlarged())
    axes = figure.add_subplot()
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xticks(range(len(columns)), columns, rotation=60, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(labels) - 0.5, -0.5))
    for spine in axes.spines.values():
        spine.set_visible(False)
    for y, line in enumerate(table.cells):
        for x, cell in enumerate(line):
            face = "white" if cell.value is None or is_few(cell.n) else _blend(cell.value)
            axes.axhspan(y - 0.48, y + 0.48, (x + 0.02) / len(columns), (x + 0.98) / len(columns), color=face)
            axes.text(x, y, cell.text + "*" * cell.star, ha="center", va="center", fontsize="small")


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
