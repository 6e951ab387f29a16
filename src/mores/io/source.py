"""Where rows come from: a file or standard input, its format, and how an error names a place in it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from mores.errors import ConfigError, InputError, StoreError

FORMATS = ("jsonl", "csv", "tsv", "parquet", "text", "inspect", "lm-eval")
SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
    ".md": "text",
    ".eval": "inspect",
}
STDIN = "-"
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Source:
    """A file with rows, or standard input."""

    path: Path
    format: str | None
    """One of `FORMATS`; None where only the first line can tell."""
    stdin: bool = False

    @property
    def label(self) -> str:
        """What errors call it: the path as the user wrote it; `-` for standard input, spooled or not."""
        return STDIN if self.path.name == STDIN else str(self.path)

    @property
    def unit(self) -> str:
        """What its places are counted in."""
        return {"parquet": "row", "inspect": "sample"}.get(self.format or "", "line")

    def error(self, problem: str, line: int | None = None) -> InputError:
        """Return an error that says where: `texts.jsonl:17: …`."""
        place = "" if line is None else f" sample {line}:" if self.format == "inspect" else f"{line}:"
        return InputError(f"{self.label}:{place} {problem}")

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Its bytes; the system's errors become InputErrors."""
        if self.stdin:
            yield _stdin_bytes()
            return
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise self.error(why_unreadable(error)) from error


def find_source(path: str | Path, format: str | None = None) -> Source:  # noqa: A002 - the option's name
    """Return the source that a path and a format, or else the path's suffix, stand for."""
    if format is not None and format not in FORMATS:
        raise ConfigError(f"unknown format {format!r}; use one of {', '.join(FORMATS)}")
    place = to_path(path)
    source = Source(place, format or SUFFIXES.get(place.suffix.lower()), stdin=str(path) == STDIN)
    if source.format is None and source.label != STDIN:
        raise source.error(_unknown_suffix(source.path))
    if source.format == "parquet" and source.stdin:
        raise source.error("Parquet cannot be read from standard input; save it to a file")
    return source


def _stdin_bytes() -> IO[bytes]:
    if sys.stdin is None:  # Python's word for `<&-`
        raise InputError("-: standard input is closed; pipe texts into it or name a file")
    return sys.stdin.buffer


def to_path(path: str | Path) -> Path:
    """Return a path that the system accepts."""
    if "\0" in str(path):
        raise InputError(f"{str(path)!r}: no file has NUL in its name; check the path")
    return Path(path)


def _unknown_suffix(path: Path) -> str:
    if path.suffix.lower() == ".json":
        convert = f"jq -c '.[]' {path.name} > {path.stem}.jsonl"
        return f"JSON is read one object per line; convert it: {convert}; or, if it is a log, name the format: inspect"
    kind = f"suffix {path.suffix!r} is not known" if path.suffix else "the name has no suffix"
    return f"{kind}; use one of {', '.join(SUFFIXES)} or name the format: {', '.join(FORMATS)}"


def why_unreadable(error: OSError) -> str:
    """Why the system cannot read a file, and the fix."""
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
    source, lines = Source(path, "text"), []
    with source.open() as file:
        for number, line in numbered_lines(file):
            try:
                lines.append(line.decode())
            except UnicodeDecodeError as error:
                raise not_utf8(source, number, error) from error
    return "".join(lines).replace("\r\n", "\n")


def not_utf8(source: Source, number: int, error: UnicodeDecodeError) -> InputError:
    """Return the error for a line that is not UTF-8, with the character column of its first bad byte."""
    column = len(error.object[: error.start].decode()) + 1
    byte = error.object[error.start]
    return source.error(f"not valid UTF-8 (byte 0x{byte:02x} at column {column}); save the file as UTF-8", number)


@contextmanager
def spool(path: str) -> Iterator[Path]:
    """A path that can be read twice: a copy in a temporary file of standard input (`-`) or of a pipe."""
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
