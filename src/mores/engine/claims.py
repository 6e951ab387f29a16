"""Which questions a process is asking, so that other processes on the same store do not ask them.

A claim is a lock on one byte of a file beside the store, at a place that the question's key decides. The system takes
it back however the process ends, so that no other process waits in vain. Another byte, beyond all keys, tells that a
process has the store open, and the file is one byte longer for every time that it was opened: while nobody else has it
open and it does not grow, no answer can be new in it but our own.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from mores.io.private import NO_LINK, open_private

try:
    import fcntl
except ImportError:  # Windows: every process asks for itself
    fcntl = None  # type: ignore[assignment]

_HERE, _PROCESSES = 1 << 60, 1 << 32
"""The bytes of processes that have the store open, by their number."""
_GUARD = threading.Lock()
_FILES: dict[tuple[int, Path], tuple[int, int]] = {}
"""The open files of each process, and the number of stores that use each: the system takes back all locks of a process
on a file when it closes any of its descriptors."""


class Claims:
    """The claims of one process on a store."""

    def __init__(self, store: Path) -> None:
        self._name = os.getpid(), store.with_name(f"{store.name}-claims").absolute()
        self._file: int | None = None
        if fcntl is None:
            return
        with _GUARD, suppress(OSError):  # a drive without locks, or one that cannot be written
            file, stores = _FILES.get(self._name, (None, 0))
            if file is None:
                file = open_private(self._name[1], os.O_RDWR | os.O_APPEND | NO_LINK)
            self._file = file
            _FILES[self._name] = file, stores + 1
            fcntl.lockf(file, fcntl.LOCK_EX, 1, _HERE + self._name[0])
            os.write(file, b".")

    def take(self, key: bytes) -> bool:
        """Claim a question; False while another process has it. Where nothing can be locked, everything is ours."""
        if self._file is None:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a network drive without locks
            return True
        return True

    def release(self, key: bytes) -> None:
        """Give a question back."""
        if self._file is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(key))

    def alone(self) -> int | None:
        """Return a mark for `still_alone`; None where another process or store has the file open, or may have."""
        if self._file is None or _FILES[self._name][1] > 1:
            return None
        mine, end = _HERE + self._name[0], _HERE + _PROCESSES
        try:
            mark = os.fstat(self._file).st_size  # before we look, or another could come in between
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, _PROCESSES, _HERE)
            fcntl.lockf(self._file, fcntl.LOCK_UN, mine - _HERE, _HERE)
            fcntl.lockf(self._file, fcntl.LOCK_UN, end - mine - 1, mine + 1)
        except OSError:
            return None
        return mark

    def still_alone(self, mark: int | None) -> bool:
        """Return whether nobody else has opened the file since the mark was made."""
        return mark is not None and self._file is not None and os.fstat(self._file).st_size == mark

    def close(self) -> None:
        """Give all back, once no other store of this process uses the file."""
        if self._file is None:
            return
        with _GUARD:
            file, stores = _FILES.pop(self._name)
            if stores > 1:
                _FILES[self._name] = file, stores - 1
            else:
                os.close(file)
        self._file = None


def _place(key: bytes) -> int:
    return int.from_bytes(key[:7])
