"""The items of a benchmark, from a folder or the Hub, with a word about what is wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import click

from mores.bench.benchmark import Benchmark
from mores.errors import InputError
from mores.factory.sources import download
from mores.types import Item


def read_items(one: Benchmark, data: Path | None, limit: int | None) -> list[Item]:
    """The items of a benchmark, or some of them; bad rows are told of and left out."""
    folder = data / one.source if data else one.data or download(one.name, one.hub, one.revision, one.homepage)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; put there {one.files} (from {one.homepage})")
    problems: list[InputError] = []
    items = list(_distinct(one.read(folder, problems.append), problems.append))
    if problems:
        more = f"\n  and {len(problems) - 5} more" if len(problems) > 5 else ""
        click.echo(
            f"{one.name}: left out {len(problems)} bad rows:\n  " + "\n  ".join(map(str, problems[:5])) + more, err=True
        )
    if not items:
        raise InputError(f"{folder}: there is no item in it; expected {one.files}")
    if about := one.about(items):
        click.echo(f"{one.name}: {about}", err=True)
    return items if limit is None else spread(one, items, limit)


def _distinct(items: Iterable[Item], on_bad: Callable[[InputError], None]) -> Iterator[Item]:
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            on_bad(InputError(f"item {item.id} is there twice; remove one"))
        else:
            yield item
        seen.add(item.id)


def spread(one: Benchmark, items: list[Item], limit: int) -> list[Item]:
    """So many whole questions, at equal distances."""
    units = [list(parts) for _, parts in groupby(items, one.unit)]
    step = max(1.0, len(units) / limit)
    return [item for number in range(min(limit, len(units))) for item in units[int(number * step)]]
