"""The files of an export: in memory while they are small, then on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple, Self

from pydantic import BaseModel

from mores.io.formulas import BATCH, to_csv

SMALL = 2**20
"""Bytes of a file that are in memory at most."""


class Spool(tempfile.SpooledTemporaryFile[bytes]):
    """An empty file that is on disk once it is no longer small, and gone when nobody needs it."""

    def __init__(self) -> None:
        super().__init__(SMALL)

    def __del__(self) -> None:
        self.close()


class ExportFile(NamedTuple):
    """One file of an export."""

    path: str
    data: bytes | Spool

    @property
    def size(self) -> int:
        """The number of bytes that it has."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.seek(0, os.SEEK_END)

    def read(self) -> bytes:
        """Return what is in it."""
        return b"".join(self.parts())

    def parts(self) -> Iterator[bytes]:
        """Yield what is in it, some at a time."""
        if isinstance(self.data, bytes):
            yield self.data
            return
        self.data.seek(0)
        while part := self.data.read(SMALL):
            yield part

    @classmethod
    def of_parts(cls, path: str, parts: Iterable[bytes]) -> Self:
        """Return a file of which not all is in memory."""
        file = Spool()
        file.writelines(parts)
        return cls(path, file)

    @classmethod
    def of_table(cls, path: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Self:
        """Return a CSV file with a header."""
        lines = chain([columns], rows)
        return cls.of_parts(path, (to_csv(some).encode() for some in iter(lambda: list(islice(lines, BATCH)), [])))


def to_line(record: BaseModel) -> bytes:
    """Return a record as a line of JSON."""
    return record.model_dump_json().encode() + b"\n"


def spool_files(paths: Iterable[str], parts: Iterable[tuple[str, bytes]]) -> list[ExportFile]:
    """Return files by the parts of each, which come in any order: items are read once for all of them.

    files = spool_files(["a.jsonl", "b.jsonl"], (part for item in items for part in to_parts(item)))
    """
    files = {path: Spool() for path in paths}
    for path, part in parts:
        files[path].write(part)
    return [ExportFile(path, file) for path, file in files.items()]
