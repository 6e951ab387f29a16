"""Values computed from files of a run, kept beside them, so that boards and pages need not read all answers again.

    tallies = kept(run.file("verdicts.jsonl"), "tallies-1", lambda: …)

It is only ever a shortcut. What is missing, damaged, of another version or of other content is computed again, and a
folder that cannot be written keeps nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from mores.io.private import make_part

SETTLED = 2 * 10**9
"""Nanoseconds after which another change of a file would change its times, whatever the clock of the file system."""


MOST_HASHED = 10_000
"""Files whose content a process remembers."""


class Content(NamedTuple):
    """The content of a file."""

    digest: str
    times: list[int] | None
    """What changes when the file does; None while it is so new that it could change without."""


_HASHED: dict[Path, Content] = {}


def content_of(source: Path) -> Content:
    """Return the content of a file; it is read only if it has changed since something was kept of it."""
    before = _times(source)
    if (known := _HASHED.get(source)) and known.times == before:
        return known
    header = _read(_beside(source), body=False)[0]
    if header.get("times") == before:
        return Content(str(header.get("content")), before)
    with source.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    settled = time.time_ns() - max(before[1:3]) > SETTLED and _times(source) == before
    content = Content(digest, before if settled else None)
    if settled and len(_HASHED) < MOST_HASHED:
        _HASHED[source] = content
    return content


def kept(source: Path, name: str, compute: Callable[[], Any]) -> Any:
    """Return the JSON value that `compute` makes of a file; that from before if the file has the same content.

    `name` says what it is and its version, with all that it depends on besides the file.
    """
    content = content_of(source)
    return recall(_beside(source), {"name": name, "content": content.digest}, compute, times=content.times)


def recall(path: Path, key: dict[str, str], compute: Callable[[], Any], **more: Any) -> Any:
    """Return the JSON value that a file keeps for a key; otherwise compute it, and keep it with `more` about it."""
    header, body = _read(path)
    wanted = key | more
    if is_kept := _has(header, key) and header.get("check") == _check(body):
        value = orjson.loads(body)
        if _has(header, wanted):
            return value
    if not is_kept:
        value = compute()
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError, orjson.JSONEncodeError):  # nowhere to write, or half an emoji in a name
        body = orjson.dumps(value)
        make_part(part).write_bytes(orjson.dumps(wanted | {"check": _check(body)}) + b"\n" + body)
        part.replace(path)
    return value


def look_up(path: Path, key: dict[str, str]) -> Any:
    """Return the JSON value that a file keeps for a key; None where it keeps none."""
    header, body = _read(path)
    return orjson.loads(body) if _has(header, key) and header.get("check") == _check(body) else None


def _has(header: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return {name: header.get(name) for name in wanted} == wanted


def _beside(source: Path) -> Path:
    return source.with_name(f".{source.stem}.figures")


def _times(path: Path) -> list[int]:
    now = path.stat()
    return [now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino]


def _read(path: Path, *, body: bool = True) -> tuple[dict[str, Any], bytes]:
    """Return what a file says about itself, and what it keeps; nothing where it is damaged."""
    with suppress(OSError, orjson.JSONDecodeError), path.open("rb") as file:
        if isinstance(header := orjson.loads(file.readline()), dict):
            return header, file.read() if body else b""
    return {}, b""


def _check(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()
