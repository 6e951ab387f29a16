"""Runs jobs against a model: a fixed pool of workers, retries, the store, answers in the order of the jobs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from mores.engine.blame import Doubts, ServerProbe, Trouble, attempt, is_cancelled
from mores.engine.claims import Claims
from mores.engine.cost import guess_tokens
from mores.engine.counts import Counts
from mores.engine.deadline import Deadlines
from mores.engine.job import Answer, Follow, Job
from mores.engine.limits import Limits, Throttle
from mores.engine.patience import Patience, Tries
from mores.engine.store import AnswerKey, Outcome, Store, request_key
from mores.errors import Transient
from mores.models.base import Completion, Model, Request
from mores.types import Failure

_CHUNK = 256
"""Jobs that are looked up in the store together."""
_MOMENT = 0.005
"""Seconds in which they are gathered."""
_SPARE = 4
"""Places of a lasting run for each call at once: who gives it jobs decides whose texts may not hold up others'."""
_ELSEWHERE = 0.2
"""Seconds until we look again for an answer that another process is asking for."""


class Lasting(NamedTuple):
    """A run that opens the model at once, and goes on while nothing has worked yet: requests of others may work."""

    on_open: Callable[[], object]
    """Called once the model is open."""
    worked: Request | None = None
    """A request that worked earlier, to be asked again where everything fails."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of putting jobs to a model."""

    store: Store | None = None
    """Keeps every answer; None keeps nothing."""
    limits: Limits = field(default_factory=Limits)
    fresh: bool = False
    """Ask again what the store already knows."""
    retry_failed: bool = False
    """Ask again what the store knows to have failed, or to be unusable by `read`."""
    read: Callable[[Answer], object] | None = None
    """Returns a Failure, or a record with one, for an answer that cannot be used."""
    lasting: Lasting | None = None
    """As a service needs it; without it, the model is opened at the first question that the store cannot answer, so a
    finished run needs no server."""
    follow: Follow | None = None
    counts: Counts = field(default_factory=Counts)
    """Filled as the run goes."""
    in_order: bool = True
    """Answers come in the order of the jobs, else as they arrive."""


async def run(
    jobs: Iterable[Job] | AsyncIterable[Job], model: Model, options: RunOptions | None = None
) -> AsyncGenerator[Answer, None]:
    """Answer every job.

    Jobs that are not known yet come by an asynchronous iterable; the run lasts as long as it does.
    """
    runner = _Runner(jobs, model, options or RunOptions())
    try:
        async for answer in runner.answers():
            yield answer
    finally:
        await runner.close()


@dataclass(slots=True)
class _Ticket:
    """A job in progress."""

    index: int
    job: Job
    request: Request
    key: AnswerKey
    followed: bool = False
    alone: bool = False
    """Whether no other process was asking anything when the question was looked up in the store."""
    waited: float = 0.0
    """Seconds to wait for another process that asks the same."""


class _Runner:
    def __init__(self, jobs: Iterable[Job] | AsyncIterable[Job], model: Model, options: RunOptions) -> None:
        self.jobs = jobs if isinstance(jobs, AsyncIterable) else iter(jobs)
        self.model = model
        self.options = options
        self.store, self.counts, self.limits = options.store, options.counts, options.limits
        self.arrivals = None if options.in_order else count()
        self.concurrency = self.limits.concurrency or model.concurrency
        self.timeout = self.limits.timeout or model.timeout
        self.deadlines = Deadlines(self.timeout)
        self.spare = _SPARE if options.lasting else 1
        self.throttle = Throttle(self.limits, self.concurrency * self.spare)
        self.patience = Patience(self.limits, self.counts)
        # How far the jobs may run ahead of the oldest open one: bounds memory, whatever the stream's length.
        self.window = max(4 * _CHUNK, 8 * self.concurrency)
        self.queue: asyncio.Queue[_Ticket] = asyncio.Queue()
        self.open_keys: dict[bytes, list[_Ticket]] = {}
        self.ready: dict[int, Answer] = {}
        self.next_out = 0
        self.taken = 0
        self.exhausted = False
        self.problem: BaseException | None = None
        self.news = asyncio.Event()
        self.room = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        self.opening: asyncio.Task[None] | None = None
        self.opened = False
        self.workers = 0
        self.entering = 0
        self.asking = 0
        self.full = False
        worked = options.lasting.worked if options.lasting else None
        self.probe = ServerProbe(model, self.limits, self.counts, self.deadlines, worked)
        self.doubts = Doubts[_Ticket](self.probe, self.limits, self._idle, lambda: self.asking, self._failed)
        self.doubts.lasting = options.lasting is not None

    async def answers(self) -> AsyncGenerator[Answer, None]:
        if self.store is not None:
            self.store.claims.enter()
            self._start(self._make_room(self.store.claims))
        if self.options.lasting:
            self.opening = self._start(self._enter())
        self._start(self._feed())
        while True:
            while (answer := self.ready.pop(self.next_out, None)) is not None:
                self.next_out += 1
                self.counts.done += 1
                self.counts.cached += answer.cached
                self.counts.fail(answer.failure)
                yield answer
            self.room.set()
            if self.problem is not None:
                raise self.problem
            if self.exhausted and self.next_out == self.taken:
                return
            await self.news.wait()
            self.news.clear()

    async def close(self) -> None:
        """Stop the workers, let the store finish what it has, and close the model."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.deadlines.close()
        if self.store is not None:
            await self.store.drain()
            for key in self.open_keys:
                self.store.claims.release(key)
            self.store.claims.leave()
        if self.opened:
            await self.model.__aexit__(None, None, None)

    def _start(self, coroutine: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(coroutine)
        self.tasks.append(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (exc := task.exception()) is not None:
            self._stop(exc)

    def _stop(self, problem: BaseException) -> None:
        self.problem = self.problem or problem
        self.news.set()

    # -- jobs in ------------------------------------------------------------------------------------------

    async def _feed(self) -> None:
        if isinstance(self.jobs, AsyncIterable):
            async for job in self.jobs:
                await self._take([job])
        else:
            while chunk := self._next_chunk(self.jobs):
                await self._take(chunk)
                await asyncio.sleep(0)
        self.exhausted = True
        self.news.set()
        await self.doubts.decide()

    async def _take(self, chunk: list[Job]) -> None:
        """Let jobs in as soon as there is room; a model on a cluster may take more calls at once than before."""
        self.concurrency = self.limits.concurrency or self.model.concurrency
        self.throttle.fit(self.concurrency * self.spare)
        self.window = max(self.window, 3 * self.concurrency)
        while self.taken + len(chunk) - self.next_out > self.window:
            self.room.clear()
            self.full = True
            await self.doubts.decide()
            await self.room.wait()
        self.full = False
        first, self.taken = self.taken, self.taken + len(chunk)
        self._admit(list(self._tickets(enumerate(chunk, first))))

    def _next_chunk(self, jobs: Iterator[Job]) -> list[Job]:
        """Return the jobs that arrive within a moment, so that a slow stream does not hold up jobs that are ready."""
        chunk: list[Job] = []
        enough = time.monotonic() + _MOMENT
        for job in jobs:
            chunk.append(job)
            if len(chunk) == _CHUNK or time.monotonic() > enough:
                break
        return chunk

    def _tickets(self, chunk: Iterable[tuple[int, Job]]) -> Iterator[_Ticket]:
        for index, job in chunk:
            if isinstance(job.request, Failure):
                self._deliver(index, Answer(job, failure=job.request))
            else:
                yield self._ticket(index, job, job.request)

    def _ticket(self, index: int, job: Job, request: Request, followed: bool = False) -> _Ticket:
        if job.sample and request.seed is not None:
            request = request._replace(seed=request.seed + job.sample)
        key = request_key(self.model.identity, request, job.sample)
        return _Ticket(index, job, request, key, followed)

    def _admit(self, tickets: list[_Ticket]) -> None:
        """Answer from the store what it knows, and queue the rest; the same question is asked once."""
        known: dict[bytes, Outcome] = {}
        alone = False
        if self.store is not None and not self.options.fresh:
            alone = self.store.claims.alone
            known = self.store.get_many([t.key.key for t in tickets])
        for ticket in tickets:
            ticket.alone = alone
            key = ticket.key.key
            if isinstance(outcome := known.get(key), Completion):
                self.probe.add(ticket.request, outcome)
            if outcome is not None and not (self.options.retry_failed and self._unusable(ticket, outcome)):
                self._settle(ticket, outcome, cached=True)
            elif key in self.open_keys:
                self.open_keys[key].append(ticket)
            else:
                self.open_keys[key] = [ticket]
                self.queue.put_nowait(ticket)
                if self.workers < self.concurrency * self.spare:
                    self.workers += 1
                    self._start(self._work())

    # -- calls --------------------------------------------------------------------------------------------

    def _unusable(self, ticket: _Ticket, outcome: Outcome) -> bool:
        """Return whether a stored outcome is a failure, or an answer of which nothing can be made."""
        if isinstance(outcome, Failure):
            return True
        record = self.options.read and self.options.read(Answer(ticket.job, outcome, followed=ticket.followed))
        failure = getattr(record, "failure", record)
        return isinstance(failure, Failure) or isinstance(outcome.complete(), Failure)

    async def _work(self) -> None:
        while not is_cancelled():
            ticket = await self.queue.get()
            if not self._claim(ticket):
                continue
            if not self.opened:
                self.entering += 1
                await self._open()
                self.entering -= 1
            await self.doubts.settled()
            if self.store is not None:
                await self.store.room(self.concurrency)
            self.asking += 1
            try:
                outcome = await self._ask(ticket.request)
            finally:
                self.asking -= 1
            if isinstance(outcome, Trouble):
                self.doubts.add(ticket, outcome)
            elif self.store is None:
                self._resolve(ticket, outcome)
            else:
                self._keep(ticket, outcome)
                if self._idle():  # nothing else will come with it
                    self.store.flush()
            await self.doubts.decide()

    def _claim(self, ticket: _Ticket) -> bool:
        """Return whether to ask.

        Another process may have the answer meanwhile, or be asking: then we come back to it.
        """
        if self.store is None or self.options.fresh or self.options.retry_failed:
            return True
        key = ticket.key.key
        claimed = self.store.claims.take(key)  # before we look, or the other could answer in between
        if ticket.alone and self.store.claims.alone:
            return True
        if (outcome := self.store.get_many([key]).get(key)) is not None:
            self.patience.succeeded()
            self._resolve(ticket, outcome, cached=True)
            return False
        if claimed or ticket.waited > self.timeout:  # the other may be stopped
            if ticket.waited:
                self.counts.problem = ""
            return True
        ticket.waited += _ELSEWHERE
        self.counts.problem = "another run is asking the same"
        asyncio.get_running_loop().call_later(_ELSEWHERE, self.queue.put_nowait, ticket)
        return False

    async def _make_room(self, claims: Claims) -> None:
        while claims.alone:
            await asyncio.sleep(_ELSEWHERE)
            claims.make_room()

    def _idle(self) -> bool:
        """Return whether no call is under way, and none comes before those that failed are decided."""
        waiting = self.exhausted or self.full or isinstance(self.jobs, AsyncIterable)
        return waiting and not self.asking and not self.entering and self.queue.empty()

    def _failed(self, ticket: _Ticket, failure: Failure, keep: bool) -> None:
        if keep and self.store is not None:
            self._keep(ticket, failure)
        else:
            self._resolve(ticket, failure)

    def _keep(self, ticket: _Ticket, outcome: Outcome) -> None:
        """Pass the answer on after it is committed; the worker does not wait for that, unless many are not."""
        assert self.store is not None
        self.store.put(ticket.key, outcome, partial(self._committed, ticket, outcome))

    def _committed(self, ticket: _Ticket, outcome: Outcome, problem: BaseException | None) -> None:
        try:
            if problem is not None:
                raise problem
            self._resolve(ticket, outcome)
        except BaseException as exc:  # nothing else would report it
            self._stop(exc)

    async def _open(self) -> None:
        """Enter the model once, however many workers need it at the same time."""
        if self.opening is None:
            self.opening = self._start(self._enter())
        await asyncio.wait([self.opening])
        if not self.opened:  # the run is stopping with the reason
            await asyncio.Event().wait()

    async def _enter(self) -> None:
        await self.model.__aenter__()
        self.opened = True
        if self.options.lasting:
            self.options.lasting.on_open()

    async def _ask(self, request: Request) -> Completion | Trouble:
        """Return one answer, with retries."""
        guess, counts = 0, self.counts
        if self.limits.tokens_per_minute:  # the server's own count corrects the guess afterwards
            answer = counts.completion_tokens // counts.calls if counts.calls else request.max_tokens
            guess = sum(guess_tokens(message.content) for message in request.messages) + answer
        tries, asked_again = Tries(), False
        while True:
            tries.started = await self.throttle.acquire(guess)
            try:
                outcome = await attempt(self.model, request, self.deadlines)
                if isinstance(outcome, Transient) and outcome.overload:
                    self.throttle.overloaded(outcome)
                elif isinstance(outcome, Completion):
                    used = outcome.prompt_tokens + outcome.completion_tokens
                    self.throttle.succeeded(used - guess if guess and used else 0)
            finally:
                self.throttle.release()
                counts.concurrency = min(self.concurrency, int(self.throttle.limit))
            if isinstance(outcome, Completion):
                self.patience.succeeded()
                self.probe.succeeded(tries.started)
                self.probe.add(request, outcome)
                counts.add(outcome)
                if asked_again or outcome.text.strip() or outcome.stop != "stop":
                    return outcome
                asked_again = True  # an empty answer is seldom meant; a second one is
                counts.retries += 1
            elif not isinstance(outcome, Transient):
                return Trouble(outcome)
            elif not await self.patience.another(tries, outcome, self.probe.works):
                return Trouble(outcome, tries.failed)

    # -- answers out --------------------------------------------------------------------------------------

    def _resolve(self, first: _Ticket, outcome: Outcome, cached: bool = False) -> None:
        """Give the outcome to the job that asked and to those that asked the same meanwhile."""
        if self.store is not None:
            self.store.claims.release(first.key.key)
        for ticket in self.open_keys.pop(first.key.key):
            self._settle(ticket, outcome, cached or ticket is not first)

    def _settle(self, ticket: _Ticket, outcome: Outcome, cached: bool) -> None:
        if isinstance(outcome, Failure):
            self._deliver(ticket.index, Answer(ticket.job, failure=outcome, cached=cached))
            return
        again = self.options.follow(ticket.job, outcome) if self.options.follow and not ticket.followed else None
        if again is not None:
            self._admit([self._ticket(ticket.index, ticket.job, again, followed=True)])
        else:
            self._deliver(ticket.index, Answer(ticket.job, outcome, None, cached, ticket.followed))

    def _deliver(self, index: int, answer: Answer) -> None:
        place = index if self.arrivals is None else next(self.arrivals)
        self.ready[place] = answer
        if place == self.next_out:
            self.news.set()
