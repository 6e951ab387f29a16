"""A dataset's sources in the terminal."""

from __future__ import annotations

from mores.factory.folder import BuildRun
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid, Row
from mores.report.card.html import page, sections
from mores.show import number


def run_tables(run: BuildRun) -> list[Grid | str]:
    """The sources and the whole: how well a classifier does that sees the text alone."""
    about, rows = run.about, list[Row]()
    sources = {source["name"]: source for source in about["sources"]}
    for name, shortcut in about["shortcut"].items():
        source, paper = sources.get(name, {}), about["paper_shortcut"][name]
        counts = (source.get("items"), source.get("bad"), shortcut["n"], source.get("lost"))
        cells = ["" if count is None else f"{count:,}" for count in counts]
        audits = [(number(a["value"], 3), f"± {number(a['error'], 3)}") for a in (shortcut, paper)]
        rows.append((name, *cells, *audits))
    columns = ("source", "items", "bad", "samples", "left out", "shortcut", "paper's")
    return [Grid(columns, [("", rows)]), run.manifest.headline]


def run_sections(run: BuildRun) -> list[Section]:
    """The charts and tables of its page."""
    return sections(run.about)


def run_page(run: BuildRun) -> str:
    """The dataset's card."""
    return page(run.about)
