"""The tables and the page of a run, whatever its kind: what `mores show RUN` prints, and what a notebook shows."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from importlib import import_module
from typing import Any

from rich.console import RenderableType

from mores.errors import InputError
from mores.report.base.blocks import Section
from mores.report.base.grid import Grid, harmless, tables_html
from mores.run import Run
from mores.types import Record

REPORTS = {
    "bench": "mores.report.bench",
    "judge-check": "mores.report.judge_check",
    "topics": "mores.report.topics",
    "diagnose": "mores.report.diagnose",
    "score": "mores.report.score",
    "audit": "mores.report.audit",
    "longform": "mores.report.longform",
    "build": "mores.report.card",
    "meta": "mores.report.meta",
    "juice": "mores.report.juice",
    "people": "mores.report.people",
    "collect": "mores.report.collect",
    "train": "mores.report.train",
    "rate": "mores.report.rate",
}
"""For each kind of run, the package with its `run_tables`, `run_sections` (charts and tables) and `run_page`."""


def tables(run: Run) -> list[RenderableType]:
    """Return what is printed about a run, the headline last."""
    if run.kind not in REPORTS:  # one that a user's package adds
        return [run.manifest.headline]
    shown: list[RenderableType] = _load(run, "run_tables")(run)
    return shown


def page(run: Run) -> str:
    """Return the run as one HTML file."""
    shown: str = _load(run, "run_page")(run)
    return shown


def sections(run: Run) -> list[Section]:
    """Return the charts and tables of the page, for a paper; a run of judged texts has none."""
    shown: list[Section] = _load(run, "run_sections")(run)
    return shown


def as_data(run: Run) -> dict[str, Any]:
    """Return the manifest of a run with its result, or with its tables where it has no such record."""
    data: dict[str, Any] = run.manifest.model_dump(mode="json")
    result = getattr(run, "result", None)
    if isinstance(result, Record):
        return data | {"result": result.model_dump(mode="json")}
    grids = (table for table in tables(run) if isinstance(table, Grid))
    shown = [{"title": grid.title, "columns": grid.columns, "rows": list(grid.lines())} for grid in grids]
    return data | {"tables": shown}


def as_html(run: Run) -> str:
    """Return the run's tables, for notebooks; a run that has no result yet is shown by its status."""
    manifest = run.manifest
    try:
        shown = tables(run)
    except InputError:
        shown = [manifest.headline or manifest.error]
    about = f"{manifest.kind} {manifest.name}, {manifest.status}: {run.path}"
    return f"<p><code>{escape(harmless(about))}</code></p>{tables_html(shown)}"


def _load(run: Run, name: str) -> Callable[[Run], Any]:
    if run.kind not in REPORTS:
        raise InputError(f"{run.path}: a run of mores {run.kind} has no page; read its files")
    loaded: Callable[[Run], Any] = getattr(import_module(REPORTS[run.kind]), name)
    return loaded
