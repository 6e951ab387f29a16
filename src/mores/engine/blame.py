"""The blame for a failure: this text's, this moment's or the set-up's.

Once anything has worked, a refusal, a reset or an unreadable answer belongs to its text, which fails alone. Several in
a row may also mean that a key was revoked or a model taken down: then the cheapest request that worked is asked again,
and that decides. *Worked* means: in this process, on this server, with this model and key.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from mores.engine.counts import Counts
from mores.engine.deadline import Deadlines, LateError
from mores.engine.limits import Limits
from mores.errors import ModelError, MoresError, Rejected, Transient
from mores.models.base import Completion, Model, Request
from mores.types import Blame, Failure, FailureKind

Ticket = TypeVar("Ticket")
_MOST_TOKENS = 1 << 31
SEVERAL = 3
"""Failures in a row after which we ask again for something that worked."""


class Surprise(ModelError):  # noqa: N818 - as `Transient`
    """Something that a model should not raise; it is the cause."""


class Trouble(NamedTuple):
    """A request that failed for the last time."""

    problem: ModelError
    tries: int = 1

    def failure(self, *, works: bool) -> Failure:
        """Return the failure, where the server works for other requests or not."""
        tried = f" (tried {self.tries} times)" if self.tries > 1 else ""
        match self.problem:
            case Rejected():
                blame = Blame.TEXT
            case Transient(of_text=of_text):
                blame = Blame.TEXT if of_text and works else Blame.MOMENT
            case ModelError(account=account):
                blame = Blame.SETUP if not works else Blame.MOMENT if account else Blame.TEXT
        return Failure(kind=FailureKind.MODEL, reason=f"{self.problem}{tried}", blame=blame)


async def attempt(model: Model, request: Request, deadlines: Deadlines) -> Completion | ModelError:
    """Return one answer, or what went wrong, also in a model of the user's own; raise other errors of ours."""
    try:
        with deadlines:
            completion = await model.complete(request)
        for text in (completion.text, completion.thoughts):
            text.encode()  # a lone surrogate cannot be kept
        if not 0 <= completion.prompt_tokens + completion.completion_tokens < _MOST_TOKENS:
            raise ValueError("an impossible number of tokens")
        return completion
    except LateError:
        return Transient(f"no answer within {deadlines.seconds:g} s")
    except ModelError as exc:
        if is_cancelled():
            raise asyncio.CancelledError from exc
        return exc
    except MoresError:
        raise
    except Exception as exc:
        if is_cancelled():
            raise asyncio.CancelledError from exc
        surprise = Surprise(f"{model.name}: unexpected {type(exc).__name__}: {exc}")
        surprise.__cause__ = exc
        return surprise


def is_cancelled() -> bool:
    """Return whether this task was told to end, also where a model made another error of that, or an answer."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class ServerProbe:
    """Finds out whether the server still works, by asking the cheapest request that worked again."""

    def __init__(
        self, model: Model, limits: Limits, counts: Counts, deadlines: Deadlines, request: Request | None = None
    ) -> None:
        self._model, self._limits, self._counts, self._deadlines = model, limits, counts, deadlines
        self._request = request
        self._tokens = sys.maxsize
        self._lock = asyncio.Lock()
        self._asked_at = float("-inf")
        self.worked = 0
        """Answers of this process."""
        self.worked_at = float("-inf")
        """When the latest call that worked began, by `time.monotonic`."""
        self.problem: ModelError | None = None
        """The reason why the last probe failed, if nothing has worked since."""

    def add(self, request: Request, completion: Completion) -> None:
        """Consider an answered request, of this process or from the store, for asking again."""
        tokens = completion.prompt_tokens + completion.completion_tokens or request.max_tokens
        if tokens < self._tokens:
            self._request, self._tokens = request, tokens

    def succeeded(self, started: float) -> None:
        """Remember a call that worked."""
        self.worked += 1
        self.worked_at = max(self.worked_at, started)
        self.problem = None

    @property
    def possible(self) -> bool:
        """True if there is something to ask again."""
        return self._request is not None

    @property
    def wait(self) -> float:
        """Seconds until it may be asked again."""
        return self._asked_at + self._limits.confirm_every - time.monotonic()

    async def works(self) -> bool | None:
        """Return whether the server works now; None where that cannot be asked yet."""
        async with self._lock:
            if self._request is None or self.wait > 0:
                return None
            self._asked_at = started = time.monotonic()
            for _ in range(self._limits.attempts):
                outcome = await attempt(self._model, self._request, self._deadlines)
                if isinstance(outcome, Completion):
                    self._counts.add(outcome)
                    self.succeeded(started)
                    return True
                self.problem = outcome
                if not isinstance(outcome, Transient) or not outcome.overload or outcome.down:
                    return False
                await asyncio.sleep(outcome.retry_after or self._limits.backoff)
            return False


class Doubts(Generic[Ticket]):
    """Failures that are held until it is known whose fault they are."""

    def __init__(
        self,
        probe: ServerProbe,
        limits: Limits,
        idle: Callable[[], bool],
        asking: Callable[[], int],
        failed: Callable[[Ticket, Failure, bool], None],
    ) -> None:
        """Set up with what tells that nothing else is asked, and how many calls are under way.

        `failed` takes what is decided; the flag says that the failure is to be kept, for the text would fail again.
        """
        self._probe, self._limits, self._idle, self._asking, self._failed = probe, limits, idle, asking, failed
        self._held: list[tuple[Ticket, Trouble, float]] = []
        self._lock = asyncio.Lock()
        self._returned = asyncio.Event()
        self.lasting = False
        """True if the run goes on while nothing has worked yet."""

    def add(self, ticket: Ticket, trouble: Trouble) -> None:
        """Hold a failure."""
        self._held.append((ticket, trouble, time.monotonic()))

    async def settled(self) -> None:
        """Wait while something is being decided: if nothing works, nothing else is spent."""
        if self._lock.locked():
            async with self._lock:
                pass

    async def decide(self) -> None:
        """Decide whose fault the held failures are, as soon as that can be known. Call it whenever a call returns."""
        self._returned.set()
        if not self._held:
            return
        async with self._lock:
            while self._clear():
                idle, wait = self._idle(), self._probe.wait
                if not idle and len(self._held) < SEVERAL:
                    return
                if not self._probe.possible:
                    if not idle and not self._enough():
                        return
                    await self._see_or_give_up()
                elif wait > 0 and not idle and len(self._held) < self._limits.give_up:
                    return  # another call may show it before we may ask again
                elif wait > 0 and (not idle or self._probe.problem is not None):
                    await asyncio.sleep(min(wait, 1.0))
                elif wait > 0 or (works := await self._probe.works()):
                    self._pass(self._held, works=True)
                elif works is False:  # and not None: somebody else has just asked
                    self._give_up()

    async def _see_or_give_up(self) -> None:
        """Wait for a call under way, which may be the first that works; give up where there is none."""
        if self._asking():
            self._returned.clear()
            await self._returned.wait()
        else:
            self._give_up()

    def _clear(self) -> bool:
        """Pass on the failures that need no second opinion; return whether there are others."""
        # A call that began after a failure and worked shows that the server works for others.
        self._pass([held for held in self._held if held[2] <= self._probe.worked_at], works=True)
        if self._probe.worked or self._probe.possible:  # a refusal of one request is about that request
            self._pass([held for held in self._held if isinstance(held[1].problem, Rejected)], works=True)
        return bool(self._held)

    def _enough(self) -> bool:
        """Return whether so many failed that nothing else is asked before it is clear whether anything works."""
        claims = sum(not isinstance(trouble.problem, Transient | Rejected) for _, trouble, _ in self._held)
        return claims >= SEVERAL or len(self._held) >= self._limits.give_up

    def _give_up(self) -> None:
        """End the run because nothing works; a few requests that merely failed are failures of their own."""
        problems = [trouble.problem for _, trouble, _ in self._held]
        known = [*problems, self._probe.problem] if self._probe.problem else problems
        claim = next((problem for problem in known if not isinstance(problem, Transient | Rejected)), None)
        if not self.lasting or self._probe.possible:
            if claim:
                raise (claim.__cause__ if isinstance(claim, Surprise) else None) or claim
            if self._probe.possible or len(problems) >= self._limits.give_up:
                reason = self._held[-1][1].failure(works=False).reason
                if not self._probe.worked and all(isinstance(problem, Rejected) for problem in problems):
                    raise ModelError(f"every request so far was refused: {reason}")
                raise ModelError(f"{len(problems)} requests in a row failed, the last with: {reason}")
        self._pass(self._held, works=False)

    def _pass(self, failed: list[tuple[Ticket, Trouble, float]], *, works: bool) -> None:
        """Pass failures on; those of a text are kept."""
        self._held = [held for held in self._held if held not in failed]
        for ticket, trouble, _ in failed:
            failure = trouble.failure(works=works)
            final = not isinstance(trouble.problem, Rejected) or trouble.problem.final
            keep = works and final and failure.blame is Blame.TEXT and self._probe.worked > 0
            self._failed(ticket, failure, keep)
