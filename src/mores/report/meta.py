"""A meta-evaluation for people: tables for the terminal and for Markdown, and one HTML page.

The page asks the network for nothing and has no script at all; its policy forbids any. Texts, names and notes are
hostile input: the template escapes them, and `plain` takes out whatever could steer a terminal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from mores.culture import is_rtl
from mores.meta.records import GROUPINGS, STATISTICS, Curve, Disagreement, Evaluation, Meta, VoteTable
from mores.report.charts import (
    Cell,
    Interval,
    Series,
    forest,
    heatmap,
    histogram,
    lines,
    table,
)
from mores.report.meta_sheets import (
    MAIN,
    QUALITY,
    TABLE_4,
    Sheet,
    best,
    breakdown_sheet,
    compared,
    comparison_sheet,
    group_name,
    groups_of,
    headline_sheet,
    large,
    left_out_sheet,
    main_value,
    matrix_sheet,
    shortcut_sentence,
    significantly_best,
    statistics_sheet,
    value_of,
    vote_sheet,
)
from mores.report.page import TEMPLATES, hash_of, look_up, stylesheet
from mores.report.table import plain
from mores.report.terminal import Grid, Row
from mores.show import NOTHING, number, show_score, span
from mores.types import Error, Severity

WIDE = 12
"""With more groups than this, groups are rows and metrics are columns."""
OPEN = 5
"""Disagreements that are shown at once; the others are folded away."""
SHORT = 20
"""A list of comparisons that is not longer is open from the start."""
LONG = 1200
"""A text with more code points scrolls in its card."""
SURROGATES = re.compile("[\ud800-\udfff]")
MARKDOWN = re.compile(r"([\\`*|<>\[\]])")
TITLES = {
    "source": "Sources",
    "language": "Languages",
    "region": "Regions",
    "subregion": "Parts of countries",
    "task": "Tasks",
    "kind": "Hard and soft errors",
}
SECTIONS = {
    "table": "Results",
    "forest": "Intervals",
    **TITLES,
    "left_out": "Left-out sources",
    "curves": "ROC and precision–recall",
    "distributions": "Scores",
    "quality": "Spans and explanations",
    "comparisons": "Comparisons",
    "disagreements": "Disagreements",
    "votes": "Votes of annotators",
    "notes": "Notes",
    "signatures": "Signatures",
}
"""Every section of the page in its order; those without data are absent."""


# ---- the terminal ----------------------------------------------------------------------------------------------


def headline(meta: Meta) -> Grid:
    """ExCAM, Table 4, with intervals and failures; a star is what the paper underlines."""
    return _grid(headline_sheet(meta), "metric")


def breakdown(meta: Meta, grouping: str) -> Grid:
    """Scaled accuracy of each metric by group, the largest group first."""
    groups = groups_of(meta, grouping)
    sheet = breakdown_sheet(meta, grouping, groups)
    return _grid(sheet.turned(), grouping) if len(groups) > WIDE else _grid(sheet, "metric")


def votes(table: VoteTable) -> Grid:
    """ExCAM, Tables 3, 12 and 13."""
    return _grid(vote_sheet(table), "criterion")


def conclusion(meta: Meta) -> str:
    """The best metric and its value, beside the value reached without the instruction."""
    top = best(meta)
    if top is None:
        return "no metric has a score"
    return f"{top.metric}: {shortcut_sentence(meta, top) or f'scaled accuracy {number(main_value(top))}'}"


def _grid(sheet: Sheet, corner: str) -> Grid:
    rows: list[Row] = [
        (f"{row.label} {row.note}".strip(), *((cell.text + "*" * cell.star, cell.small) for cell in cells))
        for row, cells in zip(sheet.rows, sheet.cells, strict=True)
    ]
    columns = (corner, *(f"{column.label} {column.note}".strip() for column in sheet.columns))
    return Grid(columns, [("", rows)], sheet.title, [sheet.note])


# ---- Markdown --------------------------------------------------------------------------------------------------


def markdown_tables(meta: Meta) -> str:
    """The tables of the paper, and its heatmaps as numbers."""
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
    for one in meta.leave_one_out:
        sheet = matrix_sheet(meta, one)
        yield sheet._replace(title=f"{one.metric}: trained without a source, tested on each"), "trained"
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
    """Text that Markdown shows as it is, on one line."""
    return MARKDOWN.sub(r"\\\1", plain(text))


# ---- the page --------------------------------------------------------------------------------------------------


def meta_page(meta: Meta) -> str:
    """The whole page: one HTML file without scripts."""
    style = stylesheet("score.css", "charts.css", "meta.css")
    content = {name: body for name in SECTIONS if (body := BODIES[name](meta))}
    html = _template().render(
        meta=meta,
        headline=_headline(meta),
        content=content,
        sections=SECTIONS,
        groupings=TITLES,
        style=style,
        style_hash=hash_of(style),
    )
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", html)


@cache
def _template() -> Template:
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters.update(table=_table, heat=_heat)
    return environment.get_template("meta.html.j2")


def _table(sheet: Sheet) -> Markup:
    return table(sheet.rows, sheet.columns, sheet.cells, title=sheet.title)


def _heat(sheet: Sheet) -> Markup:
    return heatmap(sheet.rows, sheet.columns, sheet.cells, title=sheet.title)


def _headline(meta: Meta) -> dict[str, str] | None:
    top = best(meta)
    if top is None:
        return None
    result, clear = top.scores[MAIN], significantly_best(meta, MAIN) == top.metric
    return {
        "metric": top.metric,
        "rank": _rank(meta, top, clear),
        "value": number(result.value, 3),
        "interval": span(result.low, result.high),
        "sentence": shortcut_sentence(meta, top),
        "unscored": f"{top.n:,} scored, {top.unscored:,} unscored",
    }


def _rank(meta: Meta, top: Evaluation, clear: bool) -> str:
    highest = max((value for e in meta.evaluations if (value := main_value(e)) is not None), default=None)
    if highest is not None and highest > (main_value(top) or 0.0):
        above = next(e.metric for e in meta.evaluations if main_value(e) == highest)
        return f"has the highest scaled accuracy of all but baselines; the baseline {above} has {number(highest, 3)}"
    verdict = f", {'' if clear else 'not '}significantly better than all others" if len(meta.evaluations) > 1 else ""
    return f"has the highest scaled accuracy{verdict}"


def _results(meta: Meta) -> dict[str, Any]:
    sheet = headline_sheet(meta)
    said = [shortcut_sentence(meta, e) for e in meta.evaluations] + [""] * (len(sheet.rows) - len(meta.evaluations))
    rows = [head._replace(note=sentence) for head, sentence in zip(sheet.rows, said, strict=True)]
    rest = [name for name in STATISTICS if name not in (*TABLE_4, *QUALITY)]
    return {"main": sheet._replace(rows=rows), "rest": statistics_sheet(meta, rest, "Other statistics")}


def _forest(meta: Meta) -> Markup | None:
    results = [(e, e.scores.get(MAIN)) for e in meta.evaluations if main_value(e) is not None]
    rows = [Interval(e.metric, r.value, r.low, r.high, e.baseline, r.n) for e, r in results if r]
    rows.sort(key=lambda row: -(row.value or 0.0))
    shortcut = value_of(meta.shortcut)
    reference = None if shortcut is None else ("shortcut, which never sees the instruction", shortcut)
    title = "Scaled accuracy with 95% intervals"
    return forest(rows, title=title, zero="0: guessing", reference=reference) if rows else None


def _breakdown(grouping: str) -> Any:
    def body(meta: Meta) -> dict[str, Sheet | None] | None:
        groups = groups_of(meta, grouping)
        if not groups or grouping not in ("language", "region", "subregion"):
            return {"main": breakdown_sheet(meta, grouping, groups), "rest": None} if groups else None
        first = large(meta, grouping)
        rest = [group for group in groups if group not in first]
        parts = {"main": first, "rest": rest}
        return {k: breakdown_sheet(meta, grouping, part).turned() if part else None for k, part in parts.items()}

    return body


def _left_out(meta: Meta) -> dict[str, Any] | None:
    if not meta.leave_one_out:
        return None
    return {"diagonal": left_out_sheet(meta), "matrices": [matrix_sheet(meta, one) for one in meta.leave_one_out]}


def _curves(meta: Meta) -> list[Markup]:
    order = sorted(meta.evaluations, key=lambda e: -(value_of(e.scores.get("auc")) or 0.0))
    roc = [_series(e, e.roc, "auc") for e in order if e.roc]
    pr = [_series(e, e.pr) for e in order if e.pr]
    drawn = (
        [
            lines(
                roc,
                title="ROC, with the area under the curve",
                x="false positive rate",
                y="true positive rate",
                diagonal=True,
            )
        ]
        if roc
        else []
    )
    return drawn + ([lines(pr, title="Precision and recall", x="recall", y="precision")] if pr else [])


def _series(evaluation: Evaluation, curve: Curve, statistic: str = "") -> Series:
    area = value_of(evaluation.scores.get(statistic))
    return Series(evaluation.metric if area is None else f"{evaluation.metric} {number(area)}", curve.x, curve.y)


def _distributions(meta: Meta) -> list[Markup]:
    shown = [(e, e.distribution) for e in meta.evaluations if e.distribution]
    return [
        histogram(bars.edges, bars.counts, title=e.metric, note=f"{e.unscored:,} unscored" if e.unscored else "")
        for e, bars in shown
    ]


def _comparisons(meta: Meta) -> list[dict[str, Any]]:
    sheets = [comparison_sheet(meta, statistic) for statistic in compared(meta)]
    return [{"sheet": sheet, "open": len(sheet.rows) <= SHORT and i == 0} for i, sheet in enumerate(sheets)]


def _disagreements(meta: Meta) -> dict[str, Any] | None:
    cards = [_card(one) for one in meta.disagreements]
    return {"first": cards[:OPEN], "rest": cards[OPEN:]} if cards else None


def _card(one: Disagreement) -> dict[str, Any]:
    """A sample as the template shows it: its sides in pieces, its gold errors, and the scores, the highest first."""
    gold, sample = one.gold, one.gold.sample
    errors = [(error, _found(error, sample.side(error.side))) for error in gold.report.errors]
    known = {metric: score for metric, score in one.scores.items() if score is not None and math.isfinite(score)}
    scores = [(metric, show_score(known[metric])) for metric in sorted(known, key=lambda m: -known[m])]
    places = (sample.source, group_name("language", sample.language or ""), group_name("region", sample.region or ""))
    return {
        "id": sample.id,
        "places": [place for place in places if place and place != "not given"],
        "kind": gold.kind,
        "task": gold.task,
        "rtl": bool(look_up(is_rtl, sample.language)),
        "language": sample.language,
        "sides": {side: _pieces(sample.side(side), side, errors) for side in ("instruction", "text")},
        "long": len(sample.text) > LONG,
        "errors": [{"error": error, "found": found} for error, found in errors],
        "explanation": gold.report.explanation,
        "scores": scores + [(metric, NOTHING) for metric in one.scores if metric not in known],
    }


def _found(error: Error, text: str) -> bool:
    """Whether the quote is where the error says; otherwise nothing is marked, rather than the wrong words."""
    return error.start is not None and text[error.start : error.end] == error.quote


def _pieces(text: str, side: str, errors: Sequence[tuple[Error, bool]]) -> list[tuple[str, str]]:
    """The text cut where an error begins or ends, each piece with its classes; none outside of errors."""
    here = [(e.start, e.end, e.severity) for e, found in errors if found and e.side == side]
    edges = sorted({0, len(text), *(edge for start, end, _ in here for edge in (start, end) if edge is not None)})
    pieces = []
    for start, end in pairwise(edges):
        inside = [severity for first, last, severity in here if first <= start and end <= last]  # type: ignore[operator]
        worst = "major" if Severity.MAJOR in inside else "minor"
        pieces.append((text[start:end], (f"{worst} stacked" if len(inside) > 1 else worst) if inside else ""))
    return pieces


BODIES: dict[str, Any] = {
    "table": lambda meta: _results(meta) if meta.evaluations else None,
    "forest": _forest,
    **{grouping: _breakdown(grouping) for grouping in GROUPINGS},
    "left_out": _left_out,
    "curves": _curves,
    "distributions": _distributions,
    "quality": lambda meta: statistics_sheet(meta, QUALITY, "Spans and explanations"),
    "comparisons": _comparisons,
    "disagreements": _disagreements,
    "votes": lambda meta: [vote_sheet(one) for one in meta.votes],
    "notes": lambda meta: meta.notes,
    "signatures": lambda meta: [e for e in meta.evaluations if e.signature],
}
"""What each section shows; nothing where it has no data."""
