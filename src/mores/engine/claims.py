"""Which questions a process is asking, so that other processes on the same store do not ask them.

A claim is a lock on one byte of a file beside the store, at a place that the question's key decides. The system takes
it back however the process ends, so that no other process waits in vain.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from mores.io.private import NO_LINK, open_private

try:
    import fcntl
except ImportError:  # Windows: every process asks for itself
    fcntl = None  # type: ignore[assignment]


class Claims:
    """The claims of one process on a store."""

    def __init__(self, store: Path) -> None:
        self._path = store.with_name(f"{store.name}-claims")
        self._file: int | None = None

    def take(self, key: bytes) -> bool:
        """Claim a question; False while another process has it. Where nothing can be locked, everything is ours."""
        if fcntl is None:
            return True
        try:
            if self._file is None:
                self._file = open_private(self._path, os.O_RDWR | NO_LINK)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):
            return self._file is None
        except OSError:  # a network drive without locks
            return True
        return True

    def release(self, key: bytes) -> None:
        """Give a question back."""
        if fcntl is not None and self._file is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(key))

    def close(self) -> None:
        """Give all back."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _place(key: bytes) -> int:
    return int.from_bytes(key[:7])
