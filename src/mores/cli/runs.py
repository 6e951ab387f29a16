"""`mores runs`: the runs in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mores.cli.command import command
from mores.report.base.grid import plain_console
from mores.report.lists import runs_table
from mores.report.settings import JsonSettings
from mores.run import find_runs
from mores.settings import Settings, setting
from mores.settings.values import AnyPath


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
    listed = find_runs(settings.folder)
    if output.json:
        rows = [{"folder": str(run.path)} | run.manifest.model_dump(mode="json") for run in listed]
        click.echo(json.dumps(rows, indent=2))
    else:
        plain_console().print(runs_table(listed))
