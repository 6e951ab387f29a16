"""`mores sources`: list the datasets that training data are made from."""

from __future__ import annotations

import json

import click

from mores.cli.command import command
from mores.factory.api import list_sources
from mores.factory.settings import SourcesSettings
from mores.report.base.grid import plain_console
from mores.report.lists import sources_table
from mores.report.settings import JsonSettings


@command(SourcesSettings, JsonSettings)
def sources(settings: SourcesSettings, output: JsonSettings) -> None:
    """List the datasets that training data are made from, their licences and where to get them."""
    rows = list_sources(settings, lambda text: click.echo(f"note: {text}", err=True))
    if output.json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        plain_console().print(sources_table(rows))
