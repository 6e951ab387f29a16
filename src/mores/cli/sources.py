"""`mores sources`: list the datasets that training data are made from."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mores.cli.options import FOLDER, json_option
from mores.factory import sources as datasets
from mores.report.base.grid import plain_console
from mores.report.lists import sources_table


@click.command()
@click.option("--data", metavar="DIR", type=FOLDER, help="Folder with one folder per source: also count what is in it.")
@click.option("--commercial", is_flag=True, help="Leave out those that may not be used commercially.")
@json_option("the table")
def sources(data: Path | None, commercial: bool, as_json: bool) -> None:
    """List the datasets that training data are made from, their licences and where to get them."""

    def note(text: object) -> None:
        click.echo(f"note: {text}", err=True)

    listed = [source for source in datasets.sources(note) if source.commercial or not commercial]
    rows = [datasets.describe(source) | (datasets.count_items(source, data, note) if data else {}) for source in listed]
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        plain_console().print(sources_table(rows))
