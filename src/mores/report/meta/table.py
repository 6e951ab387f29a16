"""A meta-evaluation in the terminal and in Markdown: the same sheets as on its page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mores.formatting import number
from mores.metaevaluation.folder import MetaRun
from mores.metaevaluation.records import AnnotationTable, Meta
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid, plain
from mores.report.base.sheet import Cell, Sheet
from mores.report.meta.html import page, sections
from mores.report.meta.sheets import (
    breakdown_sheet,
    groups_of,
    headline_sheet,
    large,
    left_out_sheet,
    matrix_sheet,
    shortcut_sentence,
    vote_sheet,
)

WIDE = 12
"""With more groups than this, groups are rows and metrics are columns."""
MARKDOWN = re.compile(r"([\\`*|<>\[\]])")


def tables(meta: Meta, by: str = "source") -> list[Grid | str]:
    """Votes, the breakdown by `by`, Table 4, the conclusion, and whether each judge is any good, the best one last."""
    best_last = sorted(meta.advice, key=lambda advice: meta.best is not None and advice.metric == meta.best.metric)
    advice = [plain(advice.line) for advice in best_last]
    return [*map(votes, meta.votes), breakdown(meta, by), headline(meta), conclusion(meta), *advice]


def run_tables(run: MetaRun) -> list[Grid | str]:
    """Return what is printed about a run."""
    return tables(run.result)


def run_sections(run: MetaRun) -> list[Section]:
    """Return the charts and tables of its page."""
    return sections(run.result)


def run_page(run: MetaRun) -> str:
    """Return the run as one HTML file."""
    return page(run.result)


def headline(meta: Meta) -> Grid:
    """ExCAM, Table 4, with intervals and failures; a star is what the paper underlines."""
    return headline_sheet(meta).grid("metric")


def breakdown(meta: Meta, grouping: str) -> Grid:
    """Scaled accuracy of each metric by group, the largest group first."""
    groups = groups_of(meta, grouping)
    sheet = breakdown_sheet(meta, grouping, groups)
    return sheet.turned().grid(grouping) if len(groups) > WIDE else sheet.grid("metric")


def votes(table: AnnotationTable) -> Grid:
    """ExCAM, Tables 3, 12 and 13."""
    return vote_sheet(table).grid("criterion")


def conclusion(meta: Meta) -> str:
    """Return the best metric and its value, beside the value reached without the instruction."""
    top = meta.best
    if top is None:
        return "no metric has a score"
    return f"{top.metric}: {shortcut_sentence(meta, top) or f'scaled accuracy {number(top.accuracy)}'}"


# ---- Markdown --------------------------------------------------------------------------------------------------


def markdown_tables(meta: Meta) -> str:
    """Return the tables of the paper, and its heatmaps as numbers."""
    return "\n\n".join(_markdown(sheet, corner) for sheet, corner in _paper(meta)) + "\n"


def _paper(meta: Meta) -> Iterator[tuple[Sheet, str]]:
    yield headline_sheet(meta)._replace(title=f"{meta.data}, {meta.split}: agreement with the gold reports"), "metric"
    if groups := groups_of(meta, "source"):
        yield breakdown_sheet(meta, "source", groups), "metric"
    if groups := large(meta, "language"):
        title = "Scaled accuracy by language, those with more than 100 samples"
        yield breakdown_sheet(meta, "language", groups, title), "metric"
    if meta.leave_one_out:
        yield left_out_sheet(meta), "metric"
    for trained in meta.leave_one_out:
        sheet = matrix_sheet(meta, trained)
        yield sheet._replace(title=f"{trained.metric}: trained without a source, tested on each"), "trained"
    for votes_of in meta.votes:
        yield vote_sheet(votes_of), "criterion"


def _markdown(sheet: Sheet, corner: str) -> str:
    titles = [corner, *(_cut(f"{head.label} ({head.note})" if head.note else head.label) for head in sheet.columns)]
    lines = [f"### {_cut(sheet.title)}", "", _row(titles), "| --- |" + " ---: |" * len(sheet.columns)]
    for head, cells in zip(sheet.rows, sheet.cells, strict=True):
        name = f"{head.label} ({head.note})" if head.note else head.label
        lines.append(_row([_cut(name), *(_markdown_cell(cell) for cell in cells)]))
    return "\n".join(lines) + (f"\n\n{_cut(sheet.note)}" if sheet.note else "")


def _markdown_cell(cell: Cell) -> str:
    text = f"**{_cut(cell.text)}**\\*" if cell.star else _cut(cell.text)
    return f"{text} {_cut(cell.small)}" if cell.small else text


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cut(text: str) -> str:
    """Text that Markdown shows unchanged, on one line."""
    return MARKDOWN.sub(r"\\\1", plain(text))
