"""`mores show`, `runs` and `config`: look at a run or at judgements, at all runs of a folder, and at settings."""

from __future__ import annotations

import json
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import click

from mores.cli.command import command
from mores.cli.result import print_result, show_document
from mores.io.source import FORMATS
from mores.metric.groups import find_columns
from mores.metric.judged import read_judged
from mores.metric.summary import summarise
from mores.report.settings import JsonSettings, TextOutputSettings
from mores.run import find_runs, open_run
from mores.settings import Settings, declared, resolve_values, setting, settings_of
from mores.settings.files import redact, settings_files, user_file
from mores.settings.records import RECORDS, load_record
from mores.settings.values import AnyPath, Names, OptionalPath


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


class FolderSettings(Settings):
    """A folder of runs."""

    folder: AnyPath = setting(
        default=Path(), place="folder", metavar="[FOLDER]", kw_only=False, help="Folder with runs."
    )


@command(FolderSettings, JsonSettings)
def runs(settings: FolderSettings, output: JsonSettings) -> None:
    """List the runs in FOLDER and below: the kind, the status and the result of each.

    FOLDER is this folder unless another is given.
    """
    from mores.report.lists import runs_table

    listed = find_runs(settings.folder)
    rows = [{"folder": str(run.path)} | run.manifest.model_dump(mode="json") for run in listed]
    print_result(rows, runs_table(listed), output.json)


class ConfigSettings(Settings):
    """The command whose settings are shown."""

    of: str = setting(
        default="asking", option="--command", metavar="COMMAND", choices=lambda: list(RECORDS), help="Command."
    )
    config: OptionalPath = setting(default=None, place="file", metavar="FILE", help="Settings file.")
    model: str | None = setting(default=None, metavar="MODEL", help="Model, or a name of a settings file.")


@command(ConfigSettings, JsonSettings, name="show")
def show_settings(settings: ConfigSettings, output: JsonSettings) -> None:
    """Print every setting of a command, its value, and where it comes from; then the named models.

    Settings come from the command line, from the file that --config names, from the user's own file, or are defaults.
    Keys are never shown.
    """
    from mores.report.base.grid import plain_console
    from mores.report.lists import settings_table

    given = {name: value for name in ("config", "model") if (value := getattr(settings, name)) is not None}
    record = load_record(settings.of)
    offered = {entry.name for entry in settings_of(record) if declared(entry).command}
    values = [each for each in resolve_values(record, given) if each.name in offered and each.value is not MISSING]
    files = settings_files(settings.config)
    models = {name: redact(table) for file in reversed(files) for name, table in file.table("models").items()}
    if output.json:
        shown: dict[str, Any] = {value.name: {"value": str(value.value), "from": value.origin} for value in values}
        click.echo(json.dumps({"settings": shown, "models": models}, indent=2, default=str))
        return
    plain_console().print(settings_table(settings.of, values))
    for name, table in models.items():
        click.echo(f"model {name}: " + ", ".join(f"{key} = {value}" for key, value in table.items()))
    click.echo("files: " + (", ".join(str(file.path) for file in files) or f"none; yours would be {user_file()}"))


config = click.Group("config", [show_settings], help="Show the settings that commands use, and where each comes from.")
