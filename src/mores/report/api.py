"""The public function `mores.show`."""

from __future__ import annotations

from mores.io import write_text
from mores.report.base.document import ResultDocument
from mores.report.base.figures import write_figures
from mores.report.base.page import render_page
from mores.report.runs import describe
from mores.report.settings import ShowSettings
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
        write_figures(document, settings.figures)
    return document
