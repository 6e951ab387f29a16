"""The rows of the files that datasets are published in: JSON, JSON Lines, CSV, TSV, Parquet, packed or not.

`mores.io` reads texts to be judged; here every dataset has its own columns, and JSON may be nested. A bad row is a
value (an InputError) and the next one follows; what spoils a whole file is raised.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from mores.errors import InputError
from mores.factory.sources.rows import SourceRow
from mores.io.packed import BAD_ZIP, Room
from mores.io.parquet import import_parquet, parquet_values
from mores.io.rows import LONGEST_CELL
from mores.io.source import why_unreadable
from mores.io.values import load_json

Rows = Iterator[SourceRow | InputError]

_SPACE = re.compile(r"[ \t\r\n]*")
_DAMAGED = (*BAD_ZIP, tarfile.TarError, gzip.BadGzipFile, ValueError)


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
    if path.suffix.lower() == ".parquet":
        yield from _parquet(path)
        return
    for label, data in _contents(path):
        suffix = Path(label.removesuffix(".gz")).suffix.lower()
        text = _decoded(label, data)
        if suffix in {".csv", ".tsv"}:
            yield from _csv(label, text, "," if suffix == ".csv" else "\t")
        elif suffix == ".json" and (depth != 1 or text.lstrip()[:1] != "{" or _is_one_object(text)):
            yield from _json(label, text, depth)
        else:
            yield from _jsonl(label, text)


def read_all(paths: list[Path], depth: int = 1) -> Rows:
    """Yield the rows of several files, one file after the other."""
    for path in paths:
        yield from read(path, depth)


def _is_one_object(text: str) -> bool:
    """Return whether a .json file is one object; else it is JSON Lines under another name."""
    first = text.lstrip().split("\n", 1)[0]
    try:
        load_json(first)
    except ValueError:
        return True
    return text.strip() == first.strip()


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files in a file, each with the name that errors call it."""
    name = path.name.lower()
    with _explained(path):
        room = Room(path)
        if name.endswith((".tar.gz", ".tgz", ".tar")):
            with tarfile.open(path) as tar:
                for member in tar:
                    file = tar.extractfile(member)
                    if file is not None:
                        yield f"{path}/{member.name}", room.read(file)
        elif name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    if not entry.is_dir():
                        with archive.open(entry) as packed:
                            yield f"{path}/{entry.filename}", room.read(packed)
        elif name.endswith(".gz"):
            with gzip.open(path) as unpacked:
                yield str(path), room.read(unpacked)
        else:
            yield str(path), path.read_bytes()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # a zip file with a password, or packed in a way that Python does not know
        raise InputError(f"{path}: cannot be unpacked ({error}); unpack it, or get it again") from error
    except _DAMAGED as error:
        raise InputError(f"{path}: damaged ({' '.join(str(error).split())[:100]}); get it again") from error
    except OSError as error:
        raise InputError(f"{path}: {why_unreadable(error)}") from error


def _decoded(label: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"not valid UTF-8 (byte 0x{data[error.start]:02x})"
        raise InputError(f"{label}:{line}: {problem}; save the file as UTF-8") from error


def _jsonl(label: str, text: str) -> Rows:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = load_json(line)
        except ValueError as error:
            yield InputError(f"{label}:{number}: not valid JSON ({error}); write one JSON object per line")
            continue
        yield _row(label, f"{label}:{number}", (), values)


def _json(label: str, text: str, depth: int) -> Rows:
    line, counted, is_one_line = 1, 0, "\n" not in text.strip()
    try:
        for at, path, values in _Json(text).rows(depth):
            line, counted = line + text.count("\n", counted, at), at
            if len(path) == depth:  # what lies higher is about the file: its name, its task
                at_key = f" at /{'/'.join(path)}" if is_one_line else ""  # the line alone would say nothing
                yield _row(label, f"{label}:{line}{at_key}", path, values)
    except json.JSONDecodeError as error:
        problem = f"not valid JSON ({error.msg} at column {error.colno})"
        raise InputError(f"{label}:{error.lineno}: {problem}; get the file again") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets as deep
        raise InputError(f"{label}:{line}: not valid JSON ({error}); get the file again") from error


class _Json:
    """Walks through a JSON text and knows where each row starts, which `json.loads` does not tell."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._decoder = json.JSONDecoder()

    def rows(self, depth: int, path: tuple[str, ...] = ()) -> Iterator[tuple[int, tuple[str, ...], Any]]:
        """Start, keys and value of everything that lies `depth` containers deep, or higher and is no container."""
        self._skip()
        opened = self._text[self._at : self._at + 1]
        if depth == 0 or opened not in {"[", "{"}:
            start = self._at
            yield start, path, self._value()
            return
        self._at += 1
        count = 0
        while not self._take("]" if opened == "[" else "}"):
            if count:
                self._demand(",")
            key = str(count)
            if opened == "{":
                self._skip()
                key = str(self._value())
                self._demand(":")
            yield from self.rows(depth - 1, (*path, key))
            count += 1

    def _value(self) -> Any:
        value, self._at = self._decoder.raw_decode(self._text, self._at)
        return value

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at

    def _take(self, char: str) -> bool:
        self._skip()
        matches = self._text.startswith(char, self._at)
        self._at += matches
        return matches

    def _demand(self, char: str) -> None:
        if not self._take(char):
            raise json.JSONDecodeError(f"Expecting {char!r}", self._text, self._at)


def _csv(label: str, text: str, delimiter: str) -> Rows:
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=delimiter == ",")
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise InputError(f"{label}:1: column names are not valid CSV ({error}); get the file again") from error
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield InputError(f"{label}:{start}: not valid CSV ({error}); close every quoted cell")
            continue
        if len(cells) > len(names):
            problem = f"{len(cells)} cells under {len(names)} columns"
            yield InputError(f"{label}:{start}: {problem}; put cells that contain {delimiter!r} in quotes")
        elif any(cells):
            yield _row(label, f"{label}:{start}", (), dict(zip(names, cells, strict=False)))


def _parquet(path: Path) -> Rows:
    import_parquet()
    from pyarrow import ArrowException

    try:
        for number, values in enumerate(parquet_values(path), 1):
            if values is None:
                yield InputError(f"{path}:{number}: a string is not valid UTF-8; get the file again")
            else:
                yield _row(str(path), f"{path}:{number}", (), values)
    except (ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: not a Parquet file, or a damaged one; get it again") from error


def _row(label: str, place: str, path: tuple[str, ...], values: Any) -> SourceRow | InputError:
    if isinstance(values, dict):
        return SourceRow(place, _file(label), path, values)
    return InputError(f"{place}: not an object but {type(values).__name__}; expected the published columns")


@lru_cache(maxsize=1)
def _file(label: str) -> Path:
    """Return the same for all rows of a file: to make a path takes longer than to read a row."""
    return Path(label)
