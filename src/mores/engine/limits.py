"""How fast the engine may go: fixed limits from the user, and what the server can handle, learnt from its answers."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from mores.errors import Transient


@dataclass(frozen=True)
class Limits:
    """What a run may do; the defaults suit a hosted server."""

    concurrency: int | None = None
    """Most calls at once; None for what suits the kind of model."""
    attempts: int = 8
    """Tries per request before it becomes a failure."""
    timeout: float | None = None
    """Seconds for one try; None for what suits the kind of model."""
    backoff: float = 0.5
    """Seconds before the second try; doubled each time, drawn at random from zero to that."""
    longest_wait: float = 30.0
    """Most seconds between two tries, besides what the server asks for."""
    outage: float = 600.0
    """Seconds to wait for a server that cannot be reached; tries do not count meanwhile, unless this is 0."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    give_up: int = 10
    """Stop the run when this many requests in a row, and a twentieth of those that worked, used up all their tries."""


class Pace:
    """A token bucket of one second: calls start while it is not in debt, and what a call does not use is returned."""

    def __init__(self, per_minute: float | None) -> None:
        self._rate = per_minute / 60.0 if per_minute else 0.0
        self._level = 0.0
        self._at = 0.0

    def wait(self, now: float) -> float:
        """Return the seconds until the bucket is out of debt."""
        if not self._rate:
            return 0.0
        self._level = min(self._rate, self._level + (now - self._at) * self._rate) if self._at else 0.0
        self._at = now
        return -self._level / self._rate

    def take(self, amount: float) -> None:
        """Use up some; a negative amount gives it back."""
        self._level -= amount


class Throttle:
    """Admits calls: halves the number at once when the server is overloaded, and grows it back slowly."""

    def __init__(self, limits: Limits, concurrency: int) -> None:
        self.most = concurrency
        self.limit = float(concurrency)
        self._active = 0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._paused_until = 0.0
        self._last_cut = 0.0
        self._requests = Pace(limits.requests_per_minute)
        self._tokens = Pace(limits.tokens_per_minute)

    async def acquire(self, tokens: int) -> float:
        """Wait for a place and return the time at which the call starts; `tokens` is a guess of its size."""
        while True:
            now = time.monotonic()
            wait = max(self._paused_until - now, self._requests.wait(now), self._tokens.wait(now))
            if wait > 0:
                await asyncio.sleep(min(wait, 0.1))  # something may come back meanwhile
            elif self._active >= int(self.limit):
                await self._wait_for_place()
            else:
                self._active += 1
                self._requests.take(1)
                self._tokens.take(tokens)
                return now

    async def _wait_for_place(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def release(self) -> None:
        """Give the place back."""
        self._active -= 1
        while self._waiters and self._active < int(self.limit):
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def succeeded(self, surplus_tokens: int) -> None:
        """Note that a call was answered; `surplus_tokens` is what it used beyond the guess."""
        if self.limit < self.most:
            self.limit = min(float(self.most), self.limit + max(1.0 / self.limit, 0.05))
        self._tokens.take(surplus_tokens)

    def overloaded(self, problem: Transient, started: float) -> None:
        """Note that the server asked for fewer calls. Calls that were in flight at the last cut do not cut again."""
        now = time.monotonic()
        if problem.retry_after:
            self._paused_until = max(self._paused_until, now + problem.retry_after)
        if started >= self._last_cut:
            self._last_cut = now
            self.limit = max(1.0, self.limit / 2)
