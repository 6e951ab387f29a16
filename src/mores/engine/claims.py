"""The questions that a process is asking, so that other processes on the same store do not ask them.

A claim is a lock on one byte of a file beside the store, at a place that the question's key decides. The system takes
it back however the process ends, so that no other process waits in vain. The first process locks all places at once;
one that comes later makes the file longer, and the first then keeps only the places of its open questions.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic

from mores.io.private import NO_LINK, open_private

try:
    import fcntl
except ImportError:  # Windows: every process asks for itself
    fcntl = None  # type: ignore[assignment]

_PLACES = 1 << 56
_KNOCK = 0.1
"""Seconds between two signs that we wait."""


@dataclass(slots=True)
class _LockFile:
    """The file as one process has it open: the system takes back all its locks when it closes any descriptor."""

    descriptor: int
    runs: int = 0
    alone: bool = False
    knocked: float = 0.0
    places: set[int] = field(default_factory=set)
    """The places of its open questions."""

    def lock(self, place: int, places: int = 1) -> bool:
        """Lock places; False while another process has one. Where nothing can be locked, everything is ours."""
        try:
            fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, places, place)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a network drive without locks
            return places == 1
        return True

    def unlock(self, start: int, end: int) -> None:
        if start < end:
            with suppress(OSError):
                fcntl.lockf(self.descriptor, fcntl.LOCK_UN, end - start, start)

    def share(self) -> None:
        """Keep the places of open questions, and leave the others to whoever comes."""
        self.alone = False
        start = 0
        for place in sorted(self.places):
            self.unlock(start, place)
            start = place + 1
        self.unlock(start, _PLACES)


_OPEN: dict[tuple[int, Path], _LockFile] = {}
"""By process, because a fork inherits the record but not the locks."""
_GUARD = Lock()


class Claims:
    """The claims of one process on a store."""

    def __init__(self, store: Path) -> None:
        self._path = store.with_name(f"{store.name}-claims").absolute()
        self._file: _LockFile | None = None
        self._runs = 0

    def enter(self, *, alone: bool = True) -> None:
        """Begin to ask, until `leave`; whoever may be `alone` calls `make_room` now and then."""
        self._runs += 1
        if fcntl is None:
            return
        with _GUARD, suppress(OSError):  # a folder that cannot be written: everything is ours
            name = os.getpid(), self._path
            if name not in _OPEN:
                _OPEN[name] = _LockFile(open_private(self._path, os.O_RDWR | os.O_APPEND | NO_LINK))
            self._file = file = _OPEN[name]
            file.runs += 1
            if file.runs > 1:  # two runs of a process do not see each other's locks
                if file.alone:
                    file.share()
            elif alone and file.lock(0, _PLACES):
                os.truncate(file.descriptor, 0)
                file.alone = True

    def leave(self) -> None:
        """End what `enter` began."""
        self._runs -= 1
        if self._file is None:
            return
        with _GUARD:
            self._file.runs -= 1
            if not self._file.runs:
                os.close(self._file.descriptor)
                del _OPEN[os.getpid(), self._path]
        if not self._runs:
            self._file = None

    @property
    def alone(self) -> bool:
        """True if nobody else can have asked anything since `enter`; once this is lost it does not come back."""
        return self._file is not None and self._file.alone

    def make_room(self) -> None:
        """Let another process in that has come meanwhile."""
        if self._file is not None and self._file.alone and os.fstat(self._file.descriptor).st_size:
            with _GUARD:
                self._file.share()

    def take(self, key: bytes) -> bool:
        """Claim a question; False while another process has it."""
        if self._file is None:
            return True
        file, place = self._file, int.from_bytes(key[:7])
        if not file.alone and not file.lock(place):
            if monotonic() > file.knocked + _KNOCK:
                file.knocked = monotonic()
                with suppress(OSError):
                    os.write(file.descriptor, b".")
            return False
        file.places.add(place)
        return True

    def release(self, key: bytes) -> None:
        """Give a question back, if we have it."""
        if self._file is None:
            return
        place = int.from_bytes(key[:7])
        if place in self._file.places:
            self._file.places.remove(place)
            if not self._file.alone:
                self._file.unlock(place, place + 1)
