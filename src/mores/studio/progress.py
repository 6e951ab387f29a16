"""Progress of long work, and the way to give it up: `report` is called wherever something long is read or made.

with reporting(note):       # note(done, total) may raise Cancelled
    make_export(…)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

STOPPING = Event()
"""Set when the server is told to stop: what is being done is given up, and what is written stays whole."""
_note: ContextVar[Callable[[int, int], None] | None] = ContextVar("note", default=None)


class Cancelled(Exception):  # noqa: N818 - not an error
    """Somebody wants no more of it, or the server stops."""


def report(done: int = 0, total: int = 0) -> None:
    """Say how far the present work is, where somebody wants to know; raises `Cancelled` where it is given up."""
    if note := _note.get():
        note(done, total)


@contextmanager
def reporting(note: Callable[[int, int], None]) -> Iterator[None]:
    """Let a function know how far the work inside is."""
    token = _note.set(note)
    try:
        yield
    finally:
        _note.reset(token)
