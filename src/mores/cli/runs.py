"""`mores runs`: the runs in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mores.cli.options import FOLDER, json_option
from mores.report.base.grid import plain_console
from mores.report.lists import runs_table
from mores.run import find_runs


@click.command("runs")
@click.argument("folder", default=Path(), type=FOLDER)
@json_option("the table")
def runs(folder: Path, as_json: bool) -> None:
    """List the runs in FOLDER and below: the kind, the status and the result of each.

    FOLDER is this folder unless another is given.
    """  # fmt: skip
    listed = find_runs(folder)
    if as_json:
        rows = [{"folder": str(run.path)} | run.manifest.model_dump(mode="json") for run in listed]
        click.echo(json.dumps(rows, indent=2))
    else:
        plain_console().print(runs_table(listed))
