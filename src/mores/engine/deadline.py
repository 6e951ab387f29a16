"""Time limits: one timer for all that have the same, because one for each is much of what a short call costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

Key = TypeVar("Key")


class LateError(Exception):
    """The time is over."""


class Expiry(dict[Key, float]):
    """Keys and when their time is over, by `time.monotonic`; all have as many seconds: the oldest is the next.

    It is of one event loop, and a key is in it once.
    """

    def __init__(self, seconds: float, expire: Callable[[Key], object]) -> None:
        """Set up; `expire` is called with each key whose time is over, after it was taken out."""
        super().__init__()
        self.seconds = seconds
        self._expire = expire
        self._timer: asyncio.TimerHandle | None = None

    def add(self, key: Key) -> None:
        """Give a new key its seconds."""
        self[key] = time.monotonic() + self.seconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._look)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        now = time.monotonic()
        try:
            for key, end in list(self.items()):
                if end > now:
                    break
                if self.pop(key, None) is not None:  # the end of one may have been that of another
                    self._expire(key)
        finally:  # also where something is wrong with one of them: the others have their time
            self.close()
            if self:
                oldest = next(iter(self.values()))
                self._timer = asyncio.get_running_loop().call_later(max(0.0, oldest - now), self._look)


class Deadlines(Expiry[asyncio.Task[Any]]):
    """Cancels the tasks in it whose time is over."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds, self._cancel)
        self._late = set[asyncio.Task[Any]]()

    def __enter__(self) -> None:
        """Give the current task its seconds."""
        self.add(_current())

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Raise LateError if the task was cancelled because its time was over, and for no other reason."""
        task = _current()
        self.pop(task, None)
        if task in self._late:
            self._late.remove(task)
            if not task.uncancel() and kind is asyncio.CancelledError:
                raise LateError from None

    def _cancel(self, task: asyncio.Task[Any]) -> None:
        self._late.add(task)
        task.cancel()


def _current() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task
