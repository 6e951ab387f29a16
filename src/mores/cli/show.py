"""`mores show`: look at a run, or at judgements by a model or by people."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mores.cli.command import command
from mores.cli.result import check_output, write_run_figures
from mores.io import write_text
from mores.io.source import FORMATS
from mores.metric.judged import read_judged
from mores.metric.summary import ScoreTally
from mores.report import runs as reports
from mores.report.base.grid import plain_console, print_tables
from mores.report.score import page, show_summary, table
from mores.report.settings import OutputSettings
from mores.run import Run, open_run
from mores.settings import Settings, setting
from mores.settings.values import Names


class ShowSettings(Settings):
    """What is shown."""

    files: Names = setting(
        kw_only=False, metavar="RUN | [TEXTS] JUDGEMENTS...", help="A run, or judgements and perhaps their texts."
    )
    format: str | None = setting(
        default=None, choices=lambda: FORMATS, help="Format of TEXTS.", default_text="by the name of the file"
    )
    title: str = setting(default="Cultural errors", help="Title of the page of JUDGEMENTS.")
    quiet: bool = setting(default=False, help="Print no table.")


@command(ShowSettings, OutputSettings)
def show(settings: ShowSettings, output: OutputSettings) -> None:
    """Show the result of a RUN, or a file of JUDGEMENTS, as tables and as a page.

    A RUN is a folder with a run.json; `mores runs` lists them. A page is written only with --html.

    Each line of JUDGEMENTS holds the text that it judges, so that the file can be shown alone. Where it does not, give
    the file of TEXTS too: each judgement names the id of its text, and every text has one.
    """
    files, html = settings.files, output.html
    if len(files) > 2:
        raise click.UsageError(f"expected one file of texts and one of judgements, not {len(files)} files")
    check_output(output)
    if len(files) == 1 and Path(files[0]).is_dir():
        _show_run(open_run(files[0]), settings.quiet, output)
        return
    if output.figures:
        raise click.UsageError("--figures takes the charts of a RUN; a page of judgements has none")
    *texts, judgements = files
    pairs = list(read_judged(judgements, texts[0] if texts else None, settings.format))
    tally = ScoreTally()
    view = table(pairs, tally=tally)
    if html:
        write_text(html, page(pairs, title=settings.title, summary={"Texts": texts[0] if texts else judgements}))
        click.echo(f"wrote {html}", err=True)
    if output.json:
        click.echo(tally.summary().model_dump_json(indent=2))
    elif not settings.quiet:
        console = plain_console()
        console.print(view)
        console.print(show_summary(tally.summary()))


def _show_run(run: Run, quiet: bool, output: OutputSettings) -> None:
    write_run_figures(run, output)
    if output.html:
        write_text(output.html, reports.page(run))
        click.echo(f"wrote {output.html}", err=True)
    if output.json:
        click.echo(json.dumps(reports.as_data(run), indent=2))
    elif not quiet:
        print_tables(reports.tables(run))
