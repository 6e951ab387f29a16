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

from mores.errors import InputError, StoreError
from mores.io.private import NO_LINK, open_private
from mores.io.source import real_path, to_path
from mores.types import Record

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

STDOUT = "-"
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file as UTF-8, whole or not at all."""
    with _Output(path) as output:
        output.add(_utf8(text))


def json_line(record: Record) -> bytes:
    """Return a record as one line of JSON; files and services write the same."""
    try:
        return record.__pydantic_serializer__.to_json(record) + b"\n"
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
        self._target = real_path(path)  # a link stays a link
        self._stdout = str(path) == STDOUT
        self._temporary: Path | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        with explain_writing(self._path):
            if self._stdout:
                sys.stdout.flush()
                self._file = sys.stdout.buffer
            elif self._path.exists() and not self._path.is_file():
                self._file = self._path.open("wb")
            else:
                # Always the same name, so that what a killed run left behind is used again, and does not pile up.
                self._temporary = self._target.with_name(f".{self._target.name}.part")
                self._file = _open_alone(self._temporary)
        return self

    def add(self, data: bytes) -> None:
        assert self._file is not None, "write inside the `with` block"
        try:
            self._file.write(data)
        except OSError:
            with explain_writing(self._path):
                raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with explain_writing(self._path):
                    self._complete()
        finally:
            with suppress(OSError):  # what could not be written was said by `_complete`
                if self._file is not None and not self._stdout:
                    self._file.close()
            if self._temporary is not None and self._file is not None:
                self._temporary.unlink(missing_ok=True)

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


class JsonlWriter(_Output):
    """Writes records as JSON Lines; the file appears when the `with` block ends without an error.

    `-` is standard output. That, devices and pipes are written as the records come.
    """

    def write(self, record: Record) -> bytes:
        """Add a record, and return its line."""
        line = json_line(record)
        self.add(line)
        return line


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
        why, name = error.strerror, Path(error.filename or path).name
        link = "it" if name == path.name else f"{name} beside it"
        fix, other = "give the name of a file in a folder", "choose another folder"
        reasons: dict[int | None, str] = {
            errno.ENOENT: f"no folder {path.parent}; make it first: mkdir -p {path.parent}",
            **dict.fromkeys((errno.EISDIR, errno.ENOTDIR), f"not a place for a file ({why}); {fix}"),
            **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), f"may not be written ({why}); {other}"),
            errno.ELOOP: f"{link} is a link, and may lead anywhere; remove it",
            errno.EAGAIN: "another run is writing it; wait for that to end or choose another name",
        }
        if reason := reasons.get(error.errno):
            raise InputError(f"{path}: {reason}") from error
        reason = f"cannot be written ({error}); choose another path"
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            reason = f"the disk is full ({why}); free some space and run again"
        raise StoreError(f"{path}: {reason}") from error


def file_name(text: str) -> str:
    """Return the name of a metric, benchmark or model as the name of a file or folder."""
    return re.sub(r"[^\w.+-]+", "_", text).strip("_")
