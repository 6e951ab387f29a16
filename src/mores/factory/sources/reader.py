"""The reader of a source whose files are tables: each row becomes one item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from mores.factory.items import SourceItem
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import OnBad, SourceRow, items


def read_tables(
    make: Callable[[SourceRow], SourceItem | None], *patterns: str, depth: int = 1, repeated: bool = False
) -> Callable[[Path, OnBad], Iterator[SourceItem]]:
    """Return a function that reads the files of the first pattern that matches, with one item per row.

    `depth` is the nesting of rows in JSON files; with `repeated`, a duplicate is left out and not an error.
    """
    return lambda folder, on_bad: items(read_all(find(folder, *patterns), depth), make, on_bad, repeated=repeated)
