"""How large a compressed file may become: a few kilobytes must not fill the memory."""

from __future__ import annotations

import lzma
import zlib
from gzip import GzipFile
from pathlib import Path
from typing import IO
from zipfile import BadZipFile

from mores.errors import InputError

LEAST = 2**28
"""Bytes that any file may unpack to."""
RATIO = 200
"""How many times its own size a larger one may; text rarely packs to a twentieth."""

BAD_ZIP = (BadZipFile, EOFError, RuntimeError, zlib.error, lzma.LZMAError)
"""What `zipfile` raises; a RuntimeError where a file has a password or is packed in a way that it does not know."""


class Room:
    """What is left of the bytes that a packed file may unpack to; an InputError where they do not suffice."""

    def __init__(self, path: Path, size: int | None = None) -> None:
        self._path = path
        self._most = self._left = max(LEAST, RATIO * (path.stat().st_size if size is None else size))

    def take(self, count: int) -> None:
        """Take what was unpacked, or is about to be."""
        self._left -= count
        if self._left < 0:
            limit = f"{self._most // 10**6:,} MB"
            raise InputError(f"{self._path}: unpacks to more than {limit}; check it, unpack it or split it")

    def read(self, file: IO[bytes] | GzipFile) -> bytes:
        """Return all bytes of an unpacked file."""
        data = file.read(self._left + 1)
        self.take(len(data))
        return data
