"""The tables and the page of a run, whatever its kind: what `mores show RUN` prints, and what a notebook shows."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from importlib import import_module
from typing import Any

from rich.console import RenderableType

from mores.errors import InputError
from mores.report.base.grid import harmless, tables_html
from mores.run import Run

REPORTS = {
    "bench": ("mores.report.bench:run_tables", "mores.report.bench:run_page"),
    "diagnose": ("mores.report.diagnose:run_tables", "mores.report.diagnose:run_page"),
    "score": ("mores.report.score:run_tables", "mores.report.score:run_page"),
    "longform": ("mores.report.longform:run_tables", "mores.report.longform:run_page"),
    "build": ("mores.report.card:run_tables", "mores.report.card:run_page"),
    "meta": ("mores.report.meta:run_tables", "mores.report.meta:run_page"),
    "collect": ("mores.report.collect:run_tables", "mores.report.collect:run_page"),
    "train": ("mores.report.train:run_tables", "mores.report.train:run_page"),
}
"""For each kind of run, the function that makes its tables and the function that makes its page."""


def tables(run: Run) -> list[RenderableType]:
    """What is printed about a run, the headline last."""
    shown: list[RenderableType] = _load(run, 0)(run)
    return shown


def page(run: Run) -> str:
    """The run as one HTML file."""
    shown: str = _load(run, 1)(run)
    return shown


def as_html(run: Run) -> str:
    """The run's tables, for notebooks; a run that has no result yet is shown by its status."""
    manifest = run.manifest
    try:
        shown = tables(run)
    except InputError:
        shown = [manifest.headline or manifest.error]
    about = f"{manifest.kind} {manifest.name}, {manifest.status}: {run.path}"
    return f"<p><code>{escape(harmless(about))}</code></p>{tables_html(shown)}"


def _load(run: Run, place: int) -> Callable[[Run], Any]:
    if run.kind not in REPORTS:
        known = ", ".join(REPORTS)
        raise InputError(f"{run.path}: runs of mores {run.kind} cannot be shown yet; {known} can; see its files")
    module, _, name = REPORTS[run.kind][place].partition(":")
    loaded: Callable[[Run], Any] = getattr(import_module(module), name)
    return loaded
