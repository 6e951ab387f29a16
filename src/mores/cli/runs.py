"""`mores runs`: the runs in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mores.report.base.grid import Grid, plain_console
from mores.run import find_runs
from mores.show import count


@click.command("runs")
@click.argument("folder", default=Path(), type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
def runs(folder: Path, as_json: bool) -> None:
    """List the runs in FOLDER and below: what each is, how far it has come, and its result.

    FOLDER is this folder unless another is given.
    """  # fmt: skip
    found = {run.path: run.manifest for run in find_runs(folder)}
    if as_json:
        rows = [{"folder": str(path)} | run.model_dump(mode="json") for path, run in found.items()]
        click.echo(json.dumps(rows, indent=2))
        return
    lines = [(str(path), run.kind, run.status.value, run.headline or run.error) for path, run in found.items()]
    columns = ("folder", "kind", "status", "result")
    notes = [count(len(found), "run")]
    plain_console().print(Grid(columns, [("", lines)], notes=notes, words=frozenset(range(4))))
