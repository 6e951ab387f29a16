"""The charts and tables of a page for a paper: SVG and PDF of every chart, LaTeX (booktabs) and CSV of every table.

`mores board runs --figures DIR` writes them. The charts are the records that the page draws. Needs the extra `figures`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar, cast

from mores.errors import ConfigError
from mores.extras import require
from mores.io import to_csv, write_text
from mores.io.source import read_text
from mores.io.values import load_toml
from mores.report.base.blocks import Section, walk
from mores.report.base.charts import Amounts, Chart, GroupedBars, Intervals
from mores.report.base.document import ResultDocument
from mores.report.base.drawing import DRAWN, draw
from mores.report.base.grid import Grid
from mores.report.settings import FigureSettings
from mores.types import Result

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
            texts = {".csv": block.csv() if isinstance(block, Grid) else to_csv(block.data())}
            if type(block) in DRAWN:
                written += draw(block, path, style, texts[".csv"])
            texts |= {".tex": block.latex(name, block.title or section)} if isinstance(block, Grid) else {}
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
        if isinstance(shown, dict):  # `[names]`, or a name with a point and without quotes
            fix = 'write every name in quotes, on a line of its own without a section: "openai:NAME" = "Name"'
            raise ConfigError(f"{path}: {name!r} is a section; {fix}")
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
