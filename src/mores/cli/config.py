"""`mores config`: the settings that a command would use, and where each comes from."""

from __future__ import annotations

import json
from dataclasses import MISSING
from typing import Any

import click

from mores.cli.command import command
from mores.report.base.grid import plain_console
from mores.report.lists import settings_table
from mores.report.settings import JsonSettings
from mores.settings import Settings, declared, resolve_values, setting, settings_of
from mores.settings.files import redact, settings_files, user_file
from mores.settings.records import RECORDS, load_record
from mores.settings.values import OptionalPath


class ConfigSettings(Settings):
    """The command whose settings are shown."""

    of: str = setting(
        default="asking", option="--command", metavar="COMMAND", choices=lambda: list(RECORDS), help="Command."
    )
    config: OptionalPath = setting(default=None, place="file", metavar="FILE", help="Settings file.")
    model: str | None = setting(default=None, metavar="MODEL", help="Model, or a name of a settings file.")


@click.group()
def config() -> None:
    """Show the settings that commands use, and where each comes from."""


@command(ConfigSettings, JsonSettings)
def show(settings: ConfigSettings, output: JsonSettings) -> None:
    """Print every setting of a command, its value, and where it comes from; then the named models.

    Settings come from the command line, from the file that --config names, from the user's own file, or are defaults.
    Keys are never shown.
    """
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


config.add_command(show)
