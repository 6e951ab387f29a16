"""Writes files completely or not at all: under another name in the same folder, and renamed when complete."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import orjson
from pydantic_core import PydanticSerializationError

from mores.errors import InputError, MoresError, StoreError
from mores.io.private import NO_LINK, open_private
from mores.io.source import to_path
from mores.types import Record

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

STDOUT = "-"
_SURROGATES = re.compile(r"[\ud800-\udfff]")


class JsonlWriter:
    """Writes records as JSON Lines; the file appears when the `with` block ends without an error.

    `-` is standard output. That, devices and pipes are written as the records come.
    """

    def __init__(self, path: str | Path) -> None:
        self._output = _Output(path)

    def __enter__(self) -> Self:
        self._output.__enter__()
        return self

    def write(self, record: Record) -> bytes:
        """Add a record, and returns its line."""
        line = json_line(record)
        self._output.write(line)
        return line

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._output.__exit__(kind, error, trace)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file as UTF-8, whole or not at all."""
    with _Output(path) as output:
        output.write(_utf8(text))


def json_line(record: Record) -> bytes:
    """Return a record as one line of JSON; files and services write the same."""
    try:
        return record.model_dump_json().encode() + b"\n"
    except PydanticSerializationError:  # half an emoji from a model: no reason to lose the other answers
        text = json.dumps(record.model_dump(mode="json"), ensure_ascii=False)
        return orjson.dumps(json.loads(_utf8(text))) + b"\n"


def _utf8(text: str) -> bytes:
    """Encode as UTF-8, with U+FFFD for each lone surrogate, which cannot be encoded: every span stays true."""
    return _SURROGATES.sub("\ufffd", text).encode()


class _Output:
    """A file that replaces its target when it is whole; standard output, devices and pipes are written directly."""

    def __init__(self, path: str | Path) -> None:
        self._path = to_path(path)
        self._target = Path(os.path.realpath(path))  # a link stays a link
        self._stdout = str(path) == STDOUT
        self._temporary: Path | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        with explain_writing(self._path):
            self._file = self._open()
        return self

    def _open(self) -> IO[bytes]:
        if self._stdout:
            sys.stdout.flush()
            return sys.stdout.buffer
        if self._path.exists() and not self._path.is_file():
            return self._path.open("wb")
        # Always the same name, so that what a killed run left behind is used again, and does not pile up.
        self._temporary = self._target.with_name(f".{self._target.name}.part")
        return _open_alone(self._temporary)

    def write(self, data: bytes) -> None:
        assert self._file is not None, "write inside the `with` block"
        with explain_writing(self._path):
            self._file.write(data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with explain_writing(self._path):
                    self._complete()
        finally:
            self._clean_up()

    def _complete(self) -> None:
        assert self._file is not None
        self._file.flush()
        if self._temporary is None:
            return
        os.fsync(self._file.fileno())
        self._file.close()
        if self._target.exists():
            shutil.copymode(self._target, self._temporary)
        self._temporary.replace(self._target)
        self._temporary = None  # the next run may have one of that name already

    def _clean_up(self) -> None:
        with suppress(OSError):  # what could not be written was said by `_complete`
            if self._file is not None and not self._stdout:
                self._file.close()
        if self._temporary is not None and self._file is not None:
            self._temporary.unlink(missing_ok=True)


def _open_alone(path: Path) -> IO[bytes]:
    """Return an empty file that no other process writes; BlockingIOError when one does."""
    file = os.fdopen(open_private(path, os.O_WRONLY | os.O_APPEND | NO_LINK), "ab")
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(file.fileno()), path.stat()):  # renamed between opening and locking
            raise BlockingIOError(errno.EAGAIN, "in use")
        file.truncate(0)
        path.chmod(0o600)  # a killed run may have left it, with other permissions
    except BaseException:
        file.close()
        raise
    return file


@contextmanager
def explain_writing(path: Path) -> Iterator[None]:
    """Turn the system's errors on writing into ours, with the fix."""
    try:
        yield
    except BrokenPipeError:  # the reader stopped early (`| head`): the command line ends quietly
        raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> MoresError:
    code = error.errno
    if code == errno.ENOENT:
        return InputError(f"{path}: no folder {path.parent}; make it first: mkdir -p {path.parent}")
    if code in {errno.EISDIR, errno.ENOTDIR}:
        return InputError(f"{path}: not a place for a file ({error.strerror}); give the name of a file in a folder")
    if code in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return InputError(f"{path}: may not be written ({error.strerror}); choose another folder")
    if code == errno.ELOOP:
        name = Path(error.filename or path).name
        link = "it" if name == path.name else f"{name} beside it"
        return InputError(f"{path}: {link} is a link, and may lead anywhere; remove it")
    if code == errno.EAGAIN:
        return InputError(f"{path}: another run is writing it; wait for that to end or choose another name")
    if code in {errno.ENOSPC, errno.EDQUOT}:
        return StoreError(f"{path}: the disk is full ({error.strerror}); free some space and run again")
    return StoreError(f"{path}: cannot be written ({error}); choose another path")


def file_name(text: str) -> str:
    """Return the name of a metric, benchmark or model as the name of a file or folder."""
    return re.sub(r"[^\w.+-]+", "_", text).strip("_")
