"""The speed of the engine: fixed limits from the user, and what the server can handle, learnt from its answers."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from mores.errors import Transient
from mores.settings import Settings, setting


class Limits(Settings):
    """The limits of a run: its speed and its patience; the defaults suit a hosted server."""

    concurrency: int | None = setting(
        default=None, at_least=1, help="Maximum concurrent calls.", default_text="by the kind of model"
    )
    requests_per_minute: float | None = setting(
        default=None, above=0, option="--rpm", help="Maximum requests per minute."
    )
    tokens_per_minute: float | None = setting(default=None, above=0, option="--tpm", help="Maximum tokens per minute.")
    timeout: float | None = setting(
        default=None, above=0, help="Seconds for one attempt.", default_text="by the kind of model"
    )
    attempts: int = setting(default=8, at_least=1, help="Attempts per request before it becomes a failure.")
    outage: float = setting(
        default=600.0,
        at_least=0,
        metavar="SECONDS",
        help="Time to wait for a server that cannot be reached; attempts do not count meanwhile.",
    )
    backoff: float = setting(
        default=0.5,
        command=False,
        help="Seconds before the second attempt; doubled each time, and drawn from 0 to that.",
    )
    longest_wait: float = setting(
        default=30.0, command=False, help="Maximum seconds between two attempts, besides what the server asks for."
    )
    give_up: int = setting(
        default=10,
        command=False,
        help="Stop after this many requests in a row failed while nothing works.",
    )
    confirm_every: float = setting(
        default=60.0,
        command=False,
        help="Minimum seconds between two requests that only find out whether the server still works.",
    )


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


_PAUSE = 0.1
"""Seconds without calls where a server refuses one while it has no other; doubled while it refuses all."""
_CALM = 5.0
"""Seconds after the last refusal in which the number of calls at once grows by one for all of them, not for each."""


class Throttle:
    """Admits calls: a server that refuses one gets no more at once than it has, and then again one more at a time."""

    def __init__(self, limits: Limits, concurrency: int) -> None:
        self.most = concurrency
        self.limit = float(concurrency)
        self._active = 0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._longest_wait = limits.longest_wait
        self._paused_until = 0.0
        self._refused_at = float("-inf")
        self._refused_alone = 0
        self._requests = Pace(limits.requests_per_minute)
        self._tokens = Pace(limits.tokens_per_minute)

    def fit(self, concurrency: int) -> None:
        """Set the most calls at once; more than before are allowed one by one, with each that is answered."""
        self.most = concurrency
        self.limit = min(self.limit, float(concurrency))

    async def acquire(self, tokens: int) -> float:
        """Wait for a place and return the time at which the call starts; `tokens` is a guess of its size."""
        try:
            while True:
                now = time.monotonic()
                wait = max(self._paused_until - now, self._requests.wait(now), self._tokens.wait(now))
                if wait > 0:
                    await asyncio.sleep(min(wait, 0.1))  # something may come back meanwhile
                elif self._active >= int(self.limit):
                    self._waiters.append(waiter := asyncio.get_running_loop().create_future())
                    await waiter
                else:
                    self._active += 1
                    self._requests.take(1)
                    self._tokens.take(tokens)
                    return now
        except asyncio.CancelledError:
            self._wake()  # where it was its turn, the next has it
            raise

    def release(self) -> None:
        """Give the place back."""
        self._active -= 1
        self._wake()

    def _wake(self) -> None:
        """Let one that waits look for a place, where there is one."""
        while self._waiters and self._active < int(self.limit):
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def succeeded(self, surplus_tokens: int) -> None:
        """Count a call that was answered; `surplus_tokens` is what it used beyond the guess."""
        self._refused_alone = 0
        if self.limit < self.most:
            calm = time.monotonic() - self._refused_at > _CALM
            self.limit = min(float(self.most), self.limit + (1.0 if calm else 1.0 / self.limit))
        self._tokens.take(surplus_tokens)

    def overloaded(self, problem: Transient) -> None:
        """Allow no more calls than the server has now without the one that it refused, or pause where it has none."""
        self._refused_at = now = time.monotonic()
        self.limit = max(1.0, min(self.limit, self._active - 1.0))
        wait = problem.retry_after or 0.0
        if self._active <= 1 and not problem.down:  # a server that is down is waited for by each call
            wait = max(wait, min(self._longest_wait, _PAUSE * 2.0 ** min(self._refused_alone, 8)))
            self._refused_alone += 1
        self._paused_until = max(self._paused_until, now + wait)
