"""The time limit of calls: one timer for all of them, because one for each is much of what a short call costs."""

from __future__ import annotations

import asyncio
import time
from typing import Any


class LateError(Exception):
    """The time is over."""


class Deadlines:
    """Cancels the tasks in it whose time is over; all have the same number of seconds: the oldest is the next."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends: dict[asyncio.Task[Any], float] = {}
        self._late = set[asyncio.Task[Any]]()
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        """Give the current task its seconds."""
        self._ends[_current()] = time.monotonic() + self.seconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._look)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Raise LateError if the task was cancelled because its time was over, and for no other reason."""
        task = _current()
        self._ends.pop(task, None)
        if task in self._late:
            self._late.remove(task)
            if not task.uncancel() and kind is asyncio.CancelledError:
                raise LateError from None

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer, now = None, time.monotonic()
        for task, end in list(self._ends.items()):
            if end > now:
                self._timer = asyncio.get_running_loop().call_later(end - now, self._look)
                return
            del self._ends[task]
            self._late.add(task)
            task.cancel()


def _current() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task
