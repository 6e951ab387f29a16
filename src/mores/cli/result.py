"""What commands do before and after the work: warnings, what is kept, and the result as tables, page, files or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from mores.engine import Asker
from mores.errors import InputError, ModelError
from mores.formatting import count
from mores.io import write_text
from mores.models import pull
from mores.report.base.document import ResultDocument
from mores.report.base.figures import require_figures, write_figures
from mores.report.base.grid import print_tables
from mores.report.base.page import render_page
from mores.report.runs import as_data, describe
from mores.report.settings import OutputSettings
from mores.run import Run


def show_run(run: Run, output: OutputSettings, data: Any = None, page: str = "", tables: Any = None) -> None:
    """Write the page of a run, and what else is asked for; print its tables, or JSON.

    `page` is the page's name in the run's folder, `data` what JSON shows, and `tables` those to print, where they are
    not the usual ones.
    """
    document, place = describe(run), run.path / (page or f"{run.kind}.html")
    html = render_page(document)
    write_text(place, html)
    click.echo(f"wrote {run.path}; its page is {place}", err=True)
    if output.html:
        write_text(output.html, html)
        click.echo(f"wrote {output.html}", err=True)
    write_document_figures(document, output)
    if output.json:
        click.echo(json.dumps(as_data(run) if data is None else data, indent=2))
    else:
        print_tables(document.printed if tables is None else tables)


def check_output(output: OutputSettings) -> None:
    """Refuse, before any work, what could not be written after it."""
    if output.figures:
        require_figures()
    if output.html and not output.html.resolve().parent.is_dir():
        folder = output.html.parent
        raise InputError(f"{output.html}: no folder {folder}; make it first: mkdir -p {folder}")


def write_document_figures(document: ResultDocument, output: OutputSettings) -> None:
    """Write the charts of a result as SVG and PDF, and its tables as LaTeX and CSV, if that is asked for."""
    if output.figures:
        written = write_figures(document, output.figures)
        click.echo(f"wrote {count(len(written), 'file')} into {output.figures}", err=True)


@contextmanager
def asking(*askers: Asker) -> Iterator[None]:
    """Print warnings about the models before a run and, if it stops early, what is kept of it."""
    print_warnings(*askers)
    try:
        yield
    except (KeyboardInterrupt, ModelError):  # a store that fails says its own fix
        if not askers:
            raise
        if askers[0].store is None:
            hint = "Nothing of the run is saved, because of --no-store."
        else:
            hint = f"Answers are saved; rerun {'without --fresh ' if askers[0].fresh else ''}to resume."
        click.echo(hint, err=True)
        raise


def print_warnings(*askers: Asker) -> None:
    """Print what a person must know about the models before they are used."""
    for warning in dict.fromkeys(asker.model.warning for asker in askers if asker.model.warning):
        click.echo(f"note: {warning}", err=True)
    if any(asker.model.name == "embedded" for asker in askers) and not pull.default_path().exists():
        click.echo(pull.announcement(), err=True)
