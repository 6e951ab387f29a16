"""The peer table of README.md, made of one small results file for each comparison.

    python benchmarks/peers.py                     # writes the table from results/peers/*.json
    python benchmarks/startup.py --save            # measures one comparison again and writes its file

Every benchmark that has `--save` writes its file with `save`: what was done, by which command, when, where, with which
versions, and what it measured. All contestants of a file did the same work in the same run.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results" / "peers"
README = Path(__file__).with_name("README.md")
START, END = "<!-- peers: written by peers.py -->\n", "<!-- /peers -->"
ORDER = ("startup", "calls", "whole", "language", "search", "ties", "embedded", "serve", "factory", "studio")
"""The comparisons from top to bottom."""
_LOAD = os.getloadavg()[0]
"""Before this program did anything."""

Figures = Mapping[str, Mapping[str, float]]
"""Values by figure and contestant; the first contestant is the one that the others are compared with."""


def save(name: str, work: str, versions: Mapping[str, str], figures: Figures) -> None:
    """Write what the benchmark that runs here measured; then bring the table up to date."""
    script = Path(sys.argv[0])
    record = {
        "work": work,
        "command": " ".join(["python", f"benchmarks/{script.name}", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()},
        "load_before": round(_LOAD, 2),
        "python": platform.python_version(),
        "versions": dict(versions),
        "figures": {
            figure: {who: float(f"{value:.4g}") for who, value in by.items()} for figure, by in figures.items()
        },
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8")
    write_table()


def write_table() -> None:
    """Put the table into README.md."""
    before, _, rest = README.read_text("utf-8").partition(START)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{README}: no place for the table; it needs the lines {START.strip()} and {END}")
    README.write_text(before + START + table() + END + after, "utf-8")


def table() -> str:
    """The table and where it was measured, as Markdown."""
    records = [json.loads((FOLDER / f"{name}.json").read_text("utf-8")) for name in ORDER if _is_there(name)]
    head = "| work, and the command | figure | Mores | others, and how many times the figure of Mores |\n"
    lines = "".join(f"{line}\n" for record in records for line in _rows(record))
    places = dict.fromkeys(_place(record) for record in records)
    return f"\n{head}| --- | --- | ---: | --- |\n{lines}\nMeasured on {'; '.join(places)}.\n"


def _is_there(name: str) -> bool:
    return (FOLDER / f"{name}.json").is_file()


def _rows(record: dict[str, Any]) -> Iterator[str]:
    """One row for each figure; the first one says what was done."""
    first = f"{record['work']}<br>`{record['command']}`"
    for figure, values in record["figures"].items():
        (_, ours), *others = values.items()
        cells = [_other(who, record["versions"].get(who, ""), value, ours, figure) for who, value in others]
        yield f"| {first} | {figure} | {_show(ours)} | {'<br>'.join(cells)} |"
        first = ""


def _other(who: str, version: str, value: float, ours: float, figure: str) -> str:
    times = value / ours
    ratio = "" if "%" in figure else f" ({times:.2g}×)" if times < 10 else f" ({times:.0f}×)"
    return f"{f'{who} {version}'.strip()}: {_show(value)}{ratio}"


def _place(record: dict[str, Any]) -> str:
    machine = record["machine"]
    where = f"{machine['system']} {machine['architecture']} with {machine['cores']} cores"
    return f"{record['date']}, {where}, Python {record['python']}, Mores {record['versions']['Mores']}"


def _show(value: float) -> str:
    """Three digits, or all of a whole number."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


if __name__ == "__main__":
    write_table()
