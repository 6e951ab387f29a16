"""The figures of long answers in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mores.formatting import count, percent
from mores.longanswer.summary import LongformSummary
from mores.report.base.grid import Grid, Row
from mores.types import Result

SHOWN = ("without issues", "wrong language", "repetition", "precision", "F1", "relevance", "S", "english")
"""Figures of the table; the page has all."""


def tables(summaries: Sequence[LongformSummary]) -> list[Grid | str]:
    """Return a table of all answers and one of each kind, what could not be decided, and a headline for each model."""
    shown: list[Grid | str] = [_grid("all answers", [(each.model, each.figures) for each in summaries])]
    for kind in ("agnostic", "specific"):
        models = [(each.model, each.by["paper"][kind]) for each in summaries if kind in each.by.get("paper", {})]
        if models:
            shown.append(_grid(f"culturally {kind}, without Balochi, Hiligaynon, Kirundi and Papiamento", models))
    figures = [each.figures["without issues"] for each in summaries if "without issues" in each.figures]
    if unscored := sum(figure.unscored for figure in figures):
        shown.append(f"in no figure: {count(unscored, 'answer')} without a decision on the surface")
    for summary in summaries:
        shown += [*_undecided(summary), summary.headline]
    return shown


def _grid(title: str, models: Sequence[tuple[str, dict[str, Result]]]) -> Grid:
    names = [name for name in SHOWN if any(name in figures for _, figures in models)]
    rows: list[Row] = []
    for model, figures in models:
        n = figures["without issues"].n if "without issues" in figures else 0
        cells = (_cell(figures[name].value if name in figures else None) for name in names)
        rows.append((model or "–", *cells, f"{n:,}"))
    return Grid(("model", *names, "n"), [("", rows)], title)


def _undecided(summary: LongformSummary) -> Iterator[str]:
    """Yield what failed for a model's answers, and the bounds of the figures, whatever the undecided are."""
    name = summary.model or "answers"
    judged = {stage: n for stage, n in summary.failures.items() if stage != "answer"}
    if not judged:
        return
    stages = ", ".join(f"{stage} for {n:,}" for stage, n in judged.items())
    undecided = f"{summary.undecided:,} of {summary.claims:,} claims undecided"
    yield f"{name}: failures: {stages} of {summary.answers:,} answers; {undecided}"
    figures = [summary.figures[each] for each in ("precision", "F1", "relevance", "S") if each in summary.figures]
    ends = [f"{figure.name} {_cell(figure.bounds[0])}–{_cell(figure.bounds[1])}" for figure in figures if figure.bounds]
    yield f"{name}: bounds, whatever the undecided are: {', '.join(ends)}"


def _cell(value: float | None) -> str:
    return percent(value).removesuffix("%")
