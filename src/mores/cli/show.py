"""`mores show`: look at a run, or at judgements by a model or by people."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mores.cli.figures import write_run_figures
from mores.cli.options import figures_option, json_option
from mores.io import FORMATS, write_text
from mores.metric.judged import read_judged
from mores.metric.summary import ScoreTally
from mores.report import runs as reports
from mores.report.base.grid import plain_console, print_tables
from mores.report.score import page, show_summary, table
from mores.run import Run, open_run


@click.command()
@click.argument("files", metavar="RUN | [TEXTS] JUDGEMENTS", nargs=-1, required=True)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="Format of TEXTS, where its name does not tell.")
@click.option("--html", metavar="FILE", help="Also write the page: one file that shows everything.")
@figures_option
@click.option("--title", default="Cultural errors", show_default=True, help="Title of the page of JUDGEMENTS.")
@click.option("--quiet", is_flag=True, help="Print no table.")
@json_option("the tables")
def show(
    files: tuple[str, ...],
    format_: str | None,
    html: str | None,
    figures: Path | None,
    title: str,
    quiet: bool,
    as_json: bool,
) -> None:
    """Show the result of a RUN, or a file of JUDGEMENTS, as tables and as a page.

    A RUN is a folder with a run.json; `mores runs` lists them. A page is written only with --html.

    Each line of JUDGEMENTS holds the text that it judges, so that the file can be shown alone. Where it does not, give
    the file of TEXTS too: each judgement names the id of its text, and every text has one.
    """
    if len(files) > 2:
        raise click.UsageError(f"expected one file of texts and one of judgements, not {len(files)} files")
    if len(files) == 1 and Path(files[0]).is_dir():
        run = open_run(files[0])
        if figures:
            write_run_figures(run, figures)
        _show_run(run, html, quiet, as_json)
        return
    if figures:
        raise click.UsageError("--figures takes the charts of a RUN; a page of judgements has none")
    *texts, judgements = files
    pairs = list(read_judged(judgements, texts[0] if texts else None, format_))
    tally = ScoreTally()
    view = table(pairs, tally=tally)
    if html:
        write_text(html, page(pairs, title=title, summary={"Texts": texts[0] if texts else judgements}))
        click.echo(f"wrote {html}", err=True)
    if as_json:
        click.echo(tally.summary().model_dump_json(indent=2))
    elif not quiet:
        console = plain_console()
        console.print(view)
        console.print(show_summary(tally.summary()))


def _show_run(run: Run, html: str | None, quiet: bool, as_json: bool) -> None:
    if html:
        write_text(html, reports.page(run))
        click.echo(f"wrote {html}", err=True)
    if as_json:
        click.echo(json.dumps(reports.as_data(run), indent=2))
    elif not quiet:
        print_tables(reports.tables(run))
