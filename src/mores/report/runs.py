"""Runs as they are shown, whatever their kind: `mores show RUN`, its page, its files for a paper, and a notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from typing import Any

from mores.errors import ConfigError, InputError
from mores.metric.folder import ScoreRun
from mores.report.base.document import ResultDocument
from mores.report.base.grid import Grid, tables_html
from mores.report.base.page import render_page
from mores.report.base.text import harmless
from mores.run import Run
from mores.types import Record

DESCRIBED = {
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
"""For each kind of run, the module whose `describe(run)` returns its document."""
BY_COLUMN = ("score", "bench", "longform", "rate")
"""The kinds whose `describe` also takes columns of what was judged."""


def describe(run: Run, by: Sequence[str] = ()) -> ResultDocument:
    """Return the document of a run, also by columns of its texts or questions; InputError without a result yet."""
    if by and run.kind not in BY_COLUMN:
        raise ConfigError(
            f"{run.path}: only runs of mores score, bench, longform and rate are shown by a column", setting="by"
        )
    if run.kind not in DESCRIBED:  # one that a user's package adds
        return ResultDocument(run.kind, run.manifest.name, [run.manifest.headline])
    function: Callable[..., ResultDocument] = import_module(DESCRIBED[run.kind]).describe
    return function(run, by) if by else function(run)


def run_tables(run: Run) -> list[Grid | str]:
    """Return what is printed about a run, the headline last."""
    return list(describe(run).printed)


def run_page(run: Run) -> str:
    """Return the run as one HTML file."""
    return render_page(describe(run))


def as_data(run: Run, by: Sequence[str] = ()) -> dict[str, Any]:
    """Return the manifest of a run with its result, or with its tables where it has no such record."""
    data: dict[str, Any] = run.manifest.model_dump(mode="json")
    result = getattr(run, "result", None)
    if isinstance(result, Record):
        if run.kind in ("bench", "rate"):
            result = run.result_by(by)  # type: ignore[attr-defined]
        columns = {column: run.by(column).model_dump(mode="json") for column in by} if isinstance(run, ScoreRun) else {}
        return data | {"result": result.model_dump(mode="json")} | ({"by": columns} if columns else {})
    grids = (table.brief() for table in describe(run, by).printed if isinstance(table, Grid))
    shown = [{"title": grid.title, "columns": grid.names, "rows": list(grid.lines())} for grid in grids]
    return data | {"tables": shown}


def as_html(run: Run) -> str:
    """Return the run's tables, for notebooks; a run that has no result yet is shown by its status."""
    manifest = run.manifest
    try:
        shown = run_tables(run)
    except InputError:
        shown = [manifest.headline or manifest.error]
    about = f"{manifest.kind} {manifest.name}, {manifest.status}: {run.path}"
    return f"<p><code>{escape(harmless(about))}</code></p>{tables_html(shown)}"
