"""The charts and tables of a run as files for a paper."""

from __future__ import annotations

from pathlib import Path

import click

from mores.errors import InputError
from mores.formatting import count
from mores.report import runs as reports
from mores.report.base.figures import write_figures
from mores.run import Run


def write_run_figures(run: Run, folder: Path) -> None:
    """Write the charts of a run's page as SVG and PDF, and its tables as LaTeX and CSV."""
    sections = reports.sections(run)
    if not sections:
        raise InputError(f"{run.path}: a run of mores {run.kind} has no charts; give one of another kind")
    written = write_figures(sections, reports.tables(run), folder)
    click.echo(f"wrote {count(len(written), 'file')} into {folder}", err=True)
