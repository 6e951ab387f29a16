"""The public functions `mores.show` and `mores.cite`."""

from __future__ import annotations

from pathlib import PurePath

from mores.io import write_text
from mores.report.base.document import ResultDocument
from mores.report.base.figures import write_figures
from mores.report.base.page import render_page
from mores.report.cite import Citation, cite_runs
from mores.report.runs import describe
from mores.report.settings import CiteSettings, ShowSettings
from mores.run import Run, open_run
from mores.settings import takes


@takes(ShowSettings)
async def show(settings: ShowSettings) -> ResultDocument:
    """Return the result of a run as a document: tables, charts and notes; write it with `html` or `figures`."""
    run = settings.run if isinstance(settings.run, Run) else open_run(settings.run)
    document = describe(run, settings.by)
    if settings.html:
        write_text(settings.html, render_page(document))
    if settings.figures:
        write_figures(document, settings.figures, settings)
    return document


@takes(CiteSettings)
async def cite(settings: CiteSettings) -> Citation:
    """Return the papers, data sets and software that some runs used, as a sentence and as BibTeX."""
    given = [settings.runs] if isinstance(settings.runs, Run | str | PurePath) else settings.runs
    return cite_runs([run if isinstance(run, Run) else open_run(run) for run in given])
