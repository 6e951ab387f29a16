"""`mores sources`: list the datasets that training data are made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mores.errors import InputError
from mores.factory import sources as datasets
from mores.factory.items import Source
from mores.report.base.grid import Grid, plain_console

COUNTS = ("items", "bad", "languages", "regions")


@click.command()
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with one folder per source: also count what is in it.",
)
@click.option("--commercial", is_flag=True, help="Leave out those that may not be used commercially.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")  # fmt: skip
def sources(data: Path | None, commercial: bool, as_json: bool) -> None:
    """List the datasets that training data are made from, their licences and where to get them."""
    listed = list(datasets.sources(lambda error: click.echo(f"note: {error}", err=True)))
    rows = [_describe(source, data) for source in listed if source.commercial or not commercial]
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        plain_console().print(_grid(rows, counted=data is not None))


def _describe(source: Source, data: Path | None) -> dict[str, Any]:
    about = {
        "name": source.name,
        "task": source.task.value,
        "title": source.title,
        "licence": source.licence,
        "commercial": source.commercial,
        "from": source.homepage,
        "hub": source.hub,
        "revision": datasets.REVISIONS.get(source.name),
        "files": source.files,
        "soft": source.soft,
        "stands_in_for": source.stands_in_for,
    }
    return about if data is None else about | _count(source, datasets.folder_of(source.name, data))


def _count(source: Source, folder: Path) -> dict[str, Any]:
    """What is in a folder; nothing where there is none, or where its files cannot be read."""
    if not folder.is_dir():
        return dict.fromkeys(COUNTS)
    bad: list[InputError] = []
    languages, regions, count = set(), set(), 0
    try:
        for item in datasets.load(source.name, folder, bad.append):
            count += 1
            languages.add(item.language)
            regions.add(item.region)
    except InputError as error:
        click.echo(f"note: {error}", err=True)
        return dict.fromkeys(COUNTS)
    for problem in bad[:3]:
        click.echo(f"note: left out {problem}", err=True)
    if len(bad) > 3:
        click.echo(f"note: left out {len(bad) - 3} more of {source.name}", err=True)
    found = (count, len(bad), len(languages - {None}), len(regions - {None}))
    return dict(zip(COUNTS, found, strict=True))


def _grid(rows: list[dict[str, Any]], counted: bool) -> Grid:
    shown = []
    for row in rows:
        licence = row["licence"] if row["commercial"] else f"{row['licence']} *"
        counts = ["–" if row[name] is None else f"{row[name]:,}" for name in COUNTS] if counted else []
        shown.append((row["name"], row["task"], licence, *(counts or [row["stands_in_for"] or "", _place(row)])))
    columns = ("name", "task", "licence", *(COUNTS if counted else ("for", "from")))
    free = sum(row["commercial"] for row in rows)
    note = f"{len(rows)} datasets, {free} of them also for commercial use (* is not)"
    return Grid(columns, [("", shown)], notes=[note], words=frozenset(range(3 if counted else 5)))


def _place(row: dict[str, Any]) -> str:
    return f"Hub: {row['hub']}" if row["hub"] else str(row["from"]).removeprefix("https://")
