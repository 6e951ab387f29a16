"""Sources of tables: a file, a folder, standard input or bytes; their formats, and the names of places in them."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import shutil
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from gzip import GzipFile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple
from zipfile import BadZipFile

from mores.errors import ConfigError, InputError, StoreError

LEAST = 2**28
"""Bytes that any file may unpack to."""
RATIO = 200
"""How many times its own size a larger one may; text rarely packs to a twentieth."""

BAD_ZIP = (BadZipFile, EOFError, RuntimeError, zlib.error, lzma.LZMAError)
"""What `zipfile` raises; a RuntimeError where a file has a password or is packed in a way that it does not know."""


class Room:
    """The bytes that a packed file may still unpack to; an InputError where they do not suffice."""

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


SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".txt": "text",
    ".md": "text",
    ".eval": "inspect",
}
FORMATS = (*dict.fromkeys(SUFFIXES.values()), "texts", "dataset", "lm-eval", "promptfoo")
"""`texts` is a folder of text files, `dataset` one that `datasets` saved."""
ARROW = ("parquet", "arrow", "dataset")
UNTYPED = ("csv", "tsv", "xlsx")
"""Formats whose cells do not say what they are: `NA` may be a word, a missing value or a country."""
STDIN = "-"
BOM = b"\xef\xbb\xbf"
_DAMAGED = (*BAD_ZIP, tarfile.TarError, gzip.BadGzipFile, ValueError)
_UNITS = {"inspect": "sample", "promptfoo": "result", "xlsx": "row", "texts": "file", **dict.fromkeys(ARROW, "row")}


@dataclass(frozen=True)
class TableSource:
    """A table to read, with its format."""

    path: Path
    format: str | None
    """One of `FORMATS`; None where only the first line can tell."""
    stdin: bool = False
    data: bytes | None = None
    """The content, where it is in memory: an upload, or a file of an archive."""
    encoding: str | None = None
    """Of its text; None means UTF-8, or what the bytes look like."""
    is_published: bool = False
    """Whether it is a published dataset, which nobody can correct: NaN in JSON and stray quotes in TSV are read."""

    @property
    def label(self) -> str:
        """The name in errors: the path as the user wrote it; `-` for standard input, spooled or not."""
        return STDIN if self.path.name == STDIN else str(self.path)

    @property
    def unit(self) -> str:
        """The unit of its places."""
        return _UNITS.get(self.format or "", "line")

    @property
    def is_untyped(self) -> bool:
        """True if its cells do not say what they are."""
        return self.format in UNTYPED

    def error(self, problem: str, line: int | None = None) -> InputError:
        """Return an error that says where: `texts.jsonl:17: …`."""
        place = "" if line is None else f" sample {line}:" if self.format == "inspect" else f"{line}:"
        return InputError(f"{self.label}:{place} {problem}")

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Yield its bytes; the system's errors become InputErrors."""
        if self.data is not None:
            yield io.BytesIO(self.data)
            return
        if self.stdin:
            yield _stdin_bytes()
            return
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            if error.errno is None:  # of a library, about the content
                raise
            raise self.error(why_unreadable(error)) from error

    def room(self) -> Room:
        """Return what it may unpack to."""
        return Room(self.path, len(self.data) if self.data is not None else None)


class TableRow(NamedTuple):
    """One row of a table and where it starts."""

    source: TableSource
    line: int
    values: Mapping[str, Any]
    path: tuple[str, ...] = ()
    """The keys of the containers around it in a JSON file."""
    keys: str = ""
    """The same for messages, where the whole file is one line."""

    @property
    def place(self) -> str:
        """The place where it starts: `texts.csv:17`."""
        return f"{self.source.label}:{self.line}{self.keys}"

    def error(self, problem: str, *, setting: str = "") -> InputError:
        """Return an error with its place."""
        error = self.source.error(problem, self.line)
        error.setting = setting
        return error


Rows = Iterator[TableRow | InputError]


def find_source(path: str | Path, format: str | None = None) -> TableSource:  # noqa: A002 - the option's name
    """Return the source that a path and a format, or else the path's suffix, stand for."""
    if format is not None and format not in FORMATS:
        raise ConfigError(f"unknown format {format!r}; use one of {', '.join(FORMATS)}")
    place = to_path(path)
    source = TableSource(place, format or format_of(place), stdin=str(path) == STDIN)
    if source.format is None and source.label != STDIN:
        kind = f"suffix {place.suffix!r} is not known" if place.suffix else "the name has no suffix"
        names = f"use one of {', '.join(SUFFIXES)} or name the format: {', '.join(FORMATS)}"
        raise source.error(f"{kind}; {names}")
    if source.stdin and source.format in (*ARROW, "xlsx"):
        name = {"parquet": "Parquet", "xlsx": "Excel"}.get(source.format, "Arrow")
        raise source.error(f"{name} cannot be read from standard input; save it to a file")
    return source


def format_of(path: Path) -> str | None:
    """Return the format that a path's name tells, or for a folder what is in it."""
    name = path.name.lower()
    if name.endswith((".zip", ".tar", ".tgz", ".tar.gz")):
        return "archive"
    known = SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)
    if known is None and path.is_dir():
        saved = any((path / name).is_file() for name in ("state.json", "dataset_dict.json"))
        return "dataset" if saved else "texts"
    return known


def unpack(source: TableSource) -> Iterator[TableSource]:
    """Yield the tables in a packed file or an archive, each with its content; any other source is its own."""
    path, name = source.path, source.path.name.lower()
    if source.stdin or not (source.format == "archive" or name.endswith(".gz")):
        yield source
        return
    try:
        with ExitStack() as stack:
            file, room = stack.enter_context(source.open()), source.room()
            if name.endswith((".tar.gz", ".tgz", ".tar")):
                tar = stack.enter_context(tarfile.open(fileobj=file))
                for member in tar:
                    if (content := tar.extractfile(member)) is not None:
                        yield _member(source, path / member.name, room.read(content))
            elif name.endswith(".zip"):
                archive = stack.enter_context(zipfile.ZipFile(file))
                for entry in archive.infolist():
                    if not entry.is_dir():
                        with archive.open(entry) as packed:
                            yield _member(source, path / entry.filename, room.read(packed))
            else:
                unpacked = stack.enter_context(gzip.open(file))
                yield replace(source, data=room.read(unpacked))
    except RuntimeError as error:  # a zip file with a password, or packed in a way that Python does not know
        raise InputError(f"{path}: cannot be unpacked ({error}); unpack it, or get it again") from error
    except _DAMAGED as error:
        raise InputError(f"{path}: damaged ({' '.join(str(error).split())[:100]}); get it again") from error


def _member(source: TableSource, path: Path, data: bytes) -> TableSource:
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None and not source.is_published:
        raise InputError(f"{path}: suffix {path.suffix!r} is not known; unpack the tables and name one")
    return replace(source, path=path, format=kind or "jsonl", data=data)


def _stdin_bytes() -> IO[bytes]:
    if sys.stdin is None:  # Python's word for `<&-`
        raise InputError("-: standard input is closed; pipe texts into it or name a file")
    return sys.stdin.buffer


def to_path(path: str | Path) -> Path:
    """Return a path that the system accepts."""
    if "\0" in str(path):
        raise InputError(f"{str(path)!r}: no file has NUL in its name; check the path")
    try:
        Path(path).stat()
    except (OSError, ValueError) as error:  # of a name that cannot be encoded; opening it says so
        if getattr(error, "errno", None) == errno.ELOOP:
            raise InputError(f"{path}: a link that leads back to itself; remove it, or give another path") from error
    return Path(path)


def real_path(path: str | Path) -> Path:
    """Return where a path leads, through all links."""
    return Path(os.path.realpath(to_path(path)))


def why_unreadable(error: OSError) -> str:
    """Return why the system cannot read a file, and the fix."""
    match error:
        case FileNotFoundError():
            return "no such file; check the path"
        case IsADirectoryError():
            return "is a folder; name a file in it"
        case PermissionError():
            return "may not be read; change its permissions"
        case _:
            return f"cannot be read ({error}); check the path and the disk"


def numbered_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, counted from 1, without a byte order mark; only a line feed ends a line."""
    for number, line in enumerate(file, 1):
        yield number, line.removeprefix(BOM) if number == 1 else line


def read_text(path: Path) -> str:
    """Return the text of a small file; InputError says where it is none."""
    source, lines = TableSource(path, "text"), []
    with source.open() as file:
        for number, line in numbered_lines(file):
            try:
                lines.append(line.decode())
            except UnicodeDecodeError as error:
                raise not_utf8(source, number, error) from error
    return "".join(lines).replace("\r\n", "\n")


def not_utf8(source: TableSource, number: int, error: UnicodeDecodeError) -> InputError:
    """Return the error for a line that is not UTF-8, with the character column of its first bad byte."""
    column = len(error.object[: error.start].decode()) + 1
    byte = error.object[error.start]
    return source.error(f"not valid UTF-8 (byte 0x{byte:02x} at column {column}); save the file as UTF-8", number)


@contextmanager
def spool(path: str) -> Iterator[Path]:
    """Yield a path that can be read twice: a copy in a temporary file of standard input (`-`) or of a pipe."""
    if path != STDIN and not Path(path).is_fifo():
        yield Path(path)
        return
    with TemporaryDirectory(prefix="mores-") as folder:
        copy = Path(folder) / STDIN  # this name makes ids and errors say `-`
        try:
            with ExitStack() as stack:
                source = _stdin_bytes() if path == STDIN else stack.enter_context(Path(path).open("rb"))
                shutil.copyfileobj(source, stack.enter_context(copy.open("wb")))
        except OSError as error:
            raise StoreError(f"{copy}: the input cannot be kept ({error}); free some space") from error
        yield copy
