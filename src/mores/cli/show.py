"""`mores show`, `cite`, `runs`, `doctor` and `config`: look at a run, at all of a folder, at judges, at settings."""

from __future__ import annotations

from pathlib import Path

import click

from mores.cli.command import command
from mores.cli.result import print_result, show_document
from mores.engine.loop import run as run_loop
from mores.metric.groups import find_columns
from mores.metric.judged import read_judged
from mores.metric.summary import summarise
from mores.report.settings import (
    CiteSettings,
    ConfigSettings,
    DoctorSettings,
    FolderSettings,
    JsonSettings,
    ShownFiles,
    TextOutputSettings,
)
from mores.run import find_runs, open_run
from mores.settings import apply


@command(ShownFiles, TextOutputSettings)
def show(settings: ShownFiles, output: TextOutputSettings) -> None:
    """Show the result of a RUN, or a file of JUDGEMENTS, as tables and as a page.

    A RUN is a folder with a run.json; `mores runs` lists them. A page is written only with --html.

    Each line of JUDGEMENTS holds the text that it judges, so that the file can be shown alone. Where it does not, give
    the file of TEXTS too: each judgement names the id of its text, and every text has one.
    """
    from mores.report.runs import as_data, describe
    from mores.report.score import describe_judgements

    files, tables = settings.files, () if settings.quiet else None
    if len(files) > 2:
        raise click.UsageError(f"expected one file of texts and one of judgements, not {len(files)} files")
    if len(files) == 1 and Path(files[0]).is_dir():
        run = open_run(files[0])
        show_document(describe(run, output.by), output, as_data(run, output.by) if output.json else None, tables)
        return
    *texts, judgements = files
    pairs = list(read_judged(judgements, texts[0] if texts else None, settings.format))
    facts = {"Texts": texts[0] if texts else judgements}
    document = describe_judgements(pairs, settings.title, facts, by=find_columns(output.by, pairs))
    summary = summarise(judgement for _, judgement in pairs).model_dump(mode="json") if output.json else None
    show_document(document, output, summary, tables)


@command(CiteSettings, JsonSettings)
def cite(settings: CiteSettings, output: JsonSettings) -> None:
    """Print the papers, data sets and software that RUN... used: BibTeX, and a sentence for the paper.

    `mores cite RUN > references.bib` keeps the entries alone.
    """
    from mores.report.api import cite as cite_given

    citation = run_loop(apply(cite_given, settings))
    click.echo(citation.model_dump_json(indent=2) if output.json else citation.bibtex)
    click.echo(f"\n{citation.sentence}", err=True)


@command(FolderSettings, JsonSettings)
def runs(settings: FolderSettings, output: JsonSettings) -> None:
    """List the runs in FOLDER and below: the kind, the status and the result of each.

    FOLDER is this folder unless another is given.
    """
    from mores.report.lists import runs_table

    listed = find_runs(settings.folder, on_bad=lambda error: click.echo(f"note: not listed: {error}", err=True))
    rows = [{"folder": str(run.path)} | run.manifest.model_dump(mode="json") for run in listed]
    print_result(rows, runs_table(listed), output.json)


@command(DoctorSettings, JsonSettings)
def doctor(settings: DoctorSettings, output: JsonSettings) -> None:
    """Say what is installed, which judges and searches can be used here, and what each is good for.

    It uses no network unless --ask is given, and loads no model. Keys are never shown.
    """
    from mores.report.doctor import examine

    found = run_loop(examine(ask=settings.ask, config=settings.config))
    print_result(found, found.tables(), output.json)


@command(ConfigSettings, JsonSettings, name="show")
def show_settings(settings: ConfigSettings, output: JsonSettings) -> None:
    """Print every setting of a command, its value, and where it comes from; then the named models.

    Settings come from the command line, from the file that --config names, from the user's own file, or are defaults.
    Keys are never shown.
    """
    from mores.report.lists import describe_settings

    print_result(*describe_settings(settings), output.json)


config = click.Group("config", [show_settings], help="Show the settings that commands use, and where each comes from.")
