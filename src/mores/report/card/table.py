"""A dataset's sources in the terminal, and how two datasets differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mores.factory.folder import BuildRun
from mores.factory.manifest import DatasetDifference
from mores.formatting import count, number
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid, Row
from mores.report.card.html import page, sections

SHOWN = 5
"""Samples that are named of those added, removed or changed."""


def run_tables(run: BuildRun) -> list[Grid | str]:
    """Return the sources and the whole: how well a classifier does that sees the text alone."""
    about, rows = run.about, list[Row]()
    sources = {source["name"]: source for source in about["sources"]}
    for name, shortcut in about["shortcut"].items():
        source, paper = sources.get(name, {}), about["paper_shortcut"][name]
        counts = (source.get("items"), source.get("bad"), shortcut["n"], source.get("lost"))
        cells = ["" if count is None else f"{count:,}" for count in counts]
        rows.append((name, *cells, _accuracy(shortcut), _accuracy(paper)))
    columns = ("source", "items", "bad", "samples", "left out", "shortcut", "paper's")
    return [Grid(columns, [("", rows)]), _audit_table(about["shortcut"], about["audits"]), run.manifest.headline]


def _audit_table(parts: Iterable[str], audits: dict[str, Any]) -> Grid:
    """Return what each classifier finds that nothing was balanced with."""
    rows: list[Row] = [(part, *(_accuracy(results[part]) for results in audits.values())) for part in parts]
    return Grid(("source", *audits), [("", rows)])


def _accuracy(audit: dict[str, Any]) -> tuple[str, str]:
    return number(audit["value"], 3), f"± {number(audit['error'], 3)}"


def difference_tables(differences: Sequence[DatasetDifference]) -> list[Grid | str]:
    """Return how many samples of each source differ, the first of them, and the sum."""
    columns = ("source", "same", "added", "removed", "changed", "in another split")
    rows = list[Row]()
    for part in differences:
        counts = (part.same, *map(len, (part.added, part.removed, part.changed, part.moved)))
        rows.append((part.source, *(f"{number:,}" for number in counts)))
    table, whole = Grid(columns, [("", rows)]), differences[-1]
    if whole.is_empty:
        return [table, f"the same {count(whole.same, 'sample')}"]
    lists = {"added": whole.added, "removed": whole.removed, "changed": whole.changed}
    named = [
        f"{what}: {', '.join(ids[:SHOWN])}{f' and {len(ids) - SHOWN:,} more' if len(ids) > SHOWN else ''}"
        for what, ids in lists.items()
        if ids
    ]
    sums = ", ".join(f"{len(ids):,} {what}" for what, ids in lists.items())
    return [table, *named, f"{sums}; {whole.same:,} the same"]


def run_sections(run: BuildRun) -> list[Section]:
    """Return the charts and tables of its page."""
    return sections(run.about)


def run_page(run: BuildRun) -> str:
    """Return the dataset's card."""
    return page(run.about)
