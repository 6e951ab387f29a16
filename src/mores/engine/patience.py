"""When a call that failed is tried again: so many times, and by the clock while the server cannot be reached."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mores.engine.counts import Counts
from mores.engine.limits import Limits
from mores.errors import ModelError, Transient

_SHARE = 20
"""A run stops when consecutive failures exceed this fraction of the answers: a few bad questions must not end it."""
_TURNS = 100
"""Failures from which on a refusal counts although others are answered: the server may never take this request."""


@dataclass
class Tries:
    """The tries of one request."""

    started: float = 0.0
    """When the last one began, by `time.monotonic`."""
    failed: int = 0
    counted: int = 0
    """Those that failed while the server could be reached."""
    answered: int = 0
    """How many other calls had been answered when the last one failed."""
    is_last: bool = False
    """True if the server works for others: an outage may have ended just now, so that one more is due."""


class Patience:
    """One for all calls of a run, because an outage hits all of them."""

    def __init__(self, limits: Limits, counts: Counts) -> None:
        self._limits, self._counts = limits, counts
        self._down_since: float | None = None
        self._last_outage = (0.0, 0.0)
        """When it began and ended."""
        self._failed_in_a_row = 0
        self._worked = 0

    def succeeded(self) -> None:
        """Remember that the server has answered."""
        self._worked += 1
        self._failed_in_a_row = 0
        if self._down_since is not None:
            self._last_outage = self._down_since, time.monotonic()
        self._down_since = self._counts.gives_up_at = None
        self._counts.problem = ""

    async def another(
        self, tries: Tries, problem: Transient, works: Callable[[], Awaitable[bool | None]] | None = None
    ) -> bool:
        """Return whether to try again, after the wait for it. A try that began during an outage does not count.

        `works` finds out whether there is one: a single request that the server drops must not wait for its end.
        """
        now = time.monotonic()
        tries.failed += 1
        answered, tries.answered = tries.answered, self._worked
        is_turned_away = problem.overload and not problem.down and self._worked > answered and tries.failed <= _TURNS
        is_late = problem.down and self._last_outage[0] <= tries.started < self._last_outage[1]
        if is_turned_away or is_late:  # others are answered: its turn comes
            self._counts.retries += 1
            return True
        if tries.is_last and problem.down:
            return False
        self._counts.problem = str(problem)
        left = None
        if not problem.down or not self._limits.outage:
            self._down_since = self._counts.gives_up_at = None
        elif self._down_since is None:
            self._down_since, self._counts.gives_up_at = now, now + self._limits.outage
        elif tries.started >= self._down_since:
            left = self._down_since + self._limits.outage - now
        tries.counted += left is None
        if tries.counted >= self._limits.attempts or (left is not None and left <= 0):
            self._counts.problem = ""
            return False
        if left is not None and works is not None and tries.failed >= self._limits.attempts and await works():
            self.succeeded()
            tries.is_last, left = True, 0.0  # at once: it may not work for long
        self._counts.retries += 1
        longest = min(self._limits.longest_wait, self._limits.backoff * 2 ** min(tries.failed - 1, 30))
        wait = (problem.retry_after or 0.0) + random.uniform(0, longest)
        await asyncio.sleep(wait if left is None else min(wait, left))
        return True

    def gave_up(self, model: str, tries: Tries, problem: Transient) -> str:
        """Return why a request is not tried again; raise if only failures come."""
        self._failed_in_a_row += 1
        reason = f"{problem} (tried {tries.failed} times)"
        if self._failed_in_a_row >= max(self._limits.give_up, self._worked // _SHARE):
            count = self._failed_in_a_row
            raise ModelError(f"{model}: {count} requests in a row failed, the last with: {reason}")
        return reason
