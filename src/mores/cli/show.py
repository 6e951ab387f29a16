"""`mores show`: look at a run, or at judgements by a model or by people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mores.cli.command import command
from mores.cli.result import check_output, write_document_figures
from mores.io import write_text
from mores.io.source import FORMATS
from mores.metric.judged import read_judged
from mores.metric.summary import summarise
from mores.report.base.document import ResultDocument
from mores.report.base.grid import print_tables
from mores.report.base.page import render_page
from mores.report.runs import as_data, describe
from mores.report.score import describe_judgements
from mores.report.settings import OutputSettings
from mores.run import open_run
from mores.settings import Settings, setting
from mores.settings.values import Names


class ShownFiles(Settings):
    """What is shown."""

    files: Names = setting(
        kw_only=False, metavar="RUN | [TEXTS] JUDGEMENTS...", help="A run, or judgements and perhaps their texts."
    )
    format: str | None = setting(
        default=None, choices=lambda: FORMATS, help="Format of TEXTS.", default_text="by the name of the file"
    )
    title: str = setting(default="Cultural errors", help="Title of the page of JUDGEMENTS.")
    quiet: bool = setting(default=False, help="Print no table.")


@command(ShownFiles, OutputSettings)
def show(settings: ShownFiles, output: OutputSettings) -> None:
    """Show the result of a RUN, or a file of JUDGEMENTS, as tables and as a page.

    A RUN is a folder with a run.json; `mores runs` lists them. A page is written only with --html.

    Each line of JUDGEMENTS holds the text that it judges, so that the file can be shown alone. Where it does not, give
    the file of TEXTS too: each judgement names the id of its text, and every text has one.
    """
    files = settings.files
    if len(files) > 2:
        raise click.UsageError(f"expected one file of texts and one of judgements, not {len(files)} files")
    check_output(output)
    if len(files) == 1 and Path(files[0]).is_dir():
        run = open_run(files[0])
        _show(describe(run), settings.quiet, output, as_data(run) if output.json else None)
        return
    *texts, judgements = files
    pairs = list(read_judged(judgements, texts[0] if texts else None, settings.format))
    document = describe_judgements(pairs, settings.title, {"Texts": texts[0] if texts else judgements})
    summary = summarise(judgement for _, judgement in pairs).model_dump(mode="json") if output.json else None
    _show(document, settings.quiet, output, summary)


def _show(document: ResultDocument, quiet: bool, output: OutputSettings, data: Any) -> None:
    write_document_figures(document, output)
    if output.html:
        write_text(output.html, render_page(document))
        click.echo(f"wrote {output.html}", err=True)
    if output.json:
        click.echo(json.dumps(data, indent=2))
    elif not quiet:
        print_tables(document.printed)
