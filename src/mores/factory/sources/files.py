"""The rows of the files that datasets are published in, packed or not, as `mores.io` reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from mores.errors import InputError
from mores.factory.items import SourceItem
from mores.factory.sources.rows import OnBad, SourceRow, items
from mores.io.rows import Reading, read_rows
from mores.io.source import TableSource, format_of

Rows = Iterator[SourceRow | InputError]


def find(folder: Path, *patterns: str) -> list[Path]:
    """Return the files of the first pattern that has any, anywhere under a folder, sorted."""
    for pattern in patterns:
        paths = sorted(path for path in folder.rglob(pattern) if path.is_file())
        if paths:
            return paths
    raise InputError(
        f"{folder}: no file {' or '.join(patterns)}; `mores sources` and `mores bench info` say where to get it"
    )


def read(path: Path, depth: int = 1) -> Rows:
    """Yield the rows of a file; `depth` is how many arrays and objects of a JSON file lie around its rows."""
    source = TableSource(path, format_of(path) or "jsonl", is_published=True)
    file = path
    for row in read_rows(source, Reading(depth=depth)):
        if isinstance(row, InputError):
            yield row
            continue
        if row.source is not source:  # a file of an archive
            file, source = row.source.path, row.source
        yield SourceRow(row.place, file, row.path, row.values)


def read_all(paths: list[Path], depth: int = 1) -> Rows:
    """Yield the rows of several files, one file after the other."""
    for path in paths:
        yield from read(path, depth)


def read_tables(
    make: Callable[[SourceRow], SourceItem | None], *patterns: str, depth: int = 1, repeated: bool = False
) -> Callable[[Path, OnBad], Iterator[SourceItem]]:
    """Return a function that reads the files of the first pattern that matches, with one item per row.

    `depth` is the nesting of rows in JSON files; with `repeated`, a duplicate is left out and not an error.
    """
    return lambda folder, on_bad: items(read_all(find(folder, *patterns), depth), make, on_bad, repeated=repeated)
