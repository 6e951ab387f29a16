"""Values that are slow to make and depend on a campaign's events: kept until something happens.

What is quick is made again at once. What is slow is made again in the background, and not more often than every twenty
times as long as it takes: meanwhile pages show the one before, and stay fast while people vote.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from threading import Lock, Thread
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from mores.studio.store.database import Database

T = TypeVar("T")
QUICK = 0.25
"""Seconds of work that a page may wait for."""
PATIENCE = 20
"""What took a second to make may be this many seconds old."""


class _Value(NamedTuple, Generic[T]):
    version: Hashable
    value: T
    made: float
    took: float


class Keeper(Generic[T]):
    """Keeps one value for each name in each database."""

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Database, dict[str, _Value[T]]] = WeakKeyDictionary()
        self._making: set[tuple[int, str]] = set()
        self._lock = Lock()

    def get(self, database: Database, name: str, version: Hashable, make: Callable[[], T], *, fresh: bool = False) -> T:
        """Return the value of this version, or, where it is slow to make, one that is a little older."""
        with self._lock:
            kept = self._values.setdefault(database, {}).get(name)
        if kept and kept.version == version:
            return kept.value
        if fresh or kept is None or kept.took < QUICK:
            return self._make(database, name, version, make)
        if time.monotonic() - kept.made > PATIENCE * kept.took:
            Thread(target=self._renew, args=(database, name, version, make), daemon=True).start()
        return kept.value

    def _make(self, database: Database, name: str, version: Hashable, make: Callable[[], T]) -> T:
        started = time.thread_time()
        value = make()
        with self._lock:
            took = time.thread_time() - started
            self._values.setdefault(database, {})[name] = _Value(version, value, time.monotonic(), took)
        return value

    def _renew(self, database: Database, name: str, version: Hashable, make: Callable[[], T]) -> None:
        """Make it in the background, once at a time."""
        key = id(database), name
        with self._lock:
            if key in self._making:
                return
            self._making.add(key)
        try:
            self._make(database, name, version, make)
        finally:
            with self._lock:
                self._making.discard(key)
