"""The queue in front of the judge: texts of many requests share one model and are judged together.

    async with Service(open_metric("openai:gpt-4.1-mini")) as service:
        batch = service.submit(samples, client="newsroom")      # or Busy
        async for judgements in batch.arrivals(): ...

One run of the engine lasts as long as the service. Only as many texts are in it as the model takes at once; the others
wait here, where they can still be withdrawn, and every request has its turn: a text does not wait behind a whole batch.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import lru_cache
from itertools import count
from typing import Self

from mores.engine import Answer, Counts, Job, Lasting
from mores.engine.deadline import Expiry
from mores.errors import ConfigError, MoresError
from mores.metric import Metric
from mores.metric.metric import no_evidence
from mores.metric.prompt import NO_PLACE
from mores.metric.texts import Lookup, OpenLookup
from mores.models import Request
from mores.search import ground
from mores.serve.settings import Bounds
from mores.types import Blame, Failure, FailureKind, Judgement, Sample, Signature

LONGEST_WAIT = 60
"""Most seconds after which a client that is refused may come again."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before a model that failed is opened again."""
UNAVAILABLE = {
    Blame.TEXT: "the judge gives no answer for this text",
    Blame.MOMENT: "the judge is not available at the moment; try again later",
    Blame.SETUP: "the judge cannot be asked; the log of the service says why",
}
"""What a client is told of a failure of the model."""
_ADDRESS = re.compile(r'@?https?://[^\s{"]*', re.IGNORECASE)
"""A server's address in a signature; what a configured model sends follows it in braces."""
_log = logging.getLogger(__name__)


@lru_cache(64)  # all judgements have one of a few
def _without_addresses(signature: Signature) -> Signature:
    if not any(map(_ADDRESS.search, signature.values())):
        return signature
    return Signature({name: _ADDRESS.sub("", value) for name, value in signature.items()})


class Busy(MoresError):  # noqa: N818 - as `Transient`
    """A request that is not accepted now; it may come again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int, *, own: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.own = own
        """True if the client's own texts are too many, rather than those of all."""


class Batch:
    """The texts of one request."""

    def __init__(self, client: str, samples: Sequence[Sample]) -> None:
        self.client = client
        self.samples = list(samples)
        self.waiting: deque[int] = deque()
        """The places of the texts that may be judged as soon as it is their turn."""
        self.left = dict.fromkeys(range(len(samples)))
        """The places of those without a judgement."""
        self.grounding: asyncio.Task[None] | None = None
        """The search for evidence."""
        self._arrived: list[tuple[int, Judgement]] = []
        self._news: asyncio.Future[None] | None = None

    def put(self, place: int, judgement: Judgement) -> bool:
        """Take a judgement; False where the text has one or nobody waits for it."""
        if place not in self.left:
            return False
        del self.left[place]
        self._arrived.append((place, judgement))
        self._wake()
        return True

    def close(self) -> None:
        """Stop; nobody waits for what is left."""
        self.left.clear()
        self.waiting.clear()
        self._wake()

    def _wake(self) -> None:
        if self._news and not self._news.done():
            self._news.set_result(None)

    async def _wait(self) -> None:
        self._news = asyncio.get_running_loop().create_future()  # an event would take longer
        await self._news

    async def finished(self) -> list[tuple[int, Judgement]]:
        """Return all judgements with the places of their texts, as soon as none is left to wait for."""
        while self.left:
            await self._wait()
        return self._arrived

    async def arrivals(self) -> AsyncIterator[list[tuple[int, Judgement]]]:
        """Yield judgements with the places of their texts: all new ones whenever there are any."""
        while self._arrived or self.left:
            if not self._arrived:
                await self._wait()
            arrived, self._arrived = self._arrived, []
            yield arrived


class Service:
    """A metric that judges texts as long as it is entered."""

    def __init__(
        self,
        metric: Metric,
        lookup: Lookup | None = None,
        bounds: Bounds | None = None,
        on_failed_start: Callable[[MoresError], object] = lambda _: None,
    ) -> None:
        if lookup and metric.style == "paper":
            raise ConfigError(NO_PLACE, setting="style")
        self.metric, self.lookup, self.bounds = metric, lookup, bounds or Bounds()
        self.on_failed_start = on_failed_start
        """Gets the reason where the model cannot be opened at the start."""
        self.counts = Counts()
        """The work of the engine since the start."""
        self.judged: Counter[str] = Counter()
        """Texts by outcome: scored, withdrawn, or the kind of their failure."""
        self.problem = "the service was not started; its lifespan must run (docs/serve.md)"
        """The reason why the model cannot be asked; empty where it can."""
        self.waiting: Counter[str] = Counter()
        """Texts that wait, by client."""
        self._started = self._closing = False
        self._again_at = 0.0
        self._failures = 0
        self._worked: Request | None = None
        self._pace, self._last = 0.0, time.monotonic()
        self._numbers = count()
        self._turns: dict[str, deque[Batch]] = {}
        """The requests with waiting texts, by client: each client has its turn, and then each of its requests."""
        self._asked: dict[str, tuple[Batch, int]] = {}
        self._with_model: Counter[str] = Counter()
        self._open = Expiry[Batch](self.bounds.deadline, self._expire)
        """The requests with texts that are left, the oldest first."""
        self._news, self._idle = asyncio.Event(), asyncio.Event()
        self._grounding: OpenLookup | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Open the model, in the background."""
        self._news, self._idle = asyncio.Event(), asyncio.Event()  # of this loop
        self.problem = "the model is being opened"
        self._task = asyncio.create_task(self._work())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Finish what was accepted, and close the model."""
        self._closing = True
        while self._open:
            self._idle.clear()
            await self._idle.wait()
        assert self._task is not None
        self._task.cancel()
        self._open.close()
        await asyncio.gather(self._task, return_exceptions=True)
        self._closing, self.problem = False, "the service has ended"

    @property
    def unready(self) -> str:
        """The reason why texts cannot be judged now; empty where they can."""
        if self._closing:
            return "the service is ending"
        return self.problem or (UNAVAILABLE[Blame.MOMENT] if self.counts.gives_up_at else "")

    @property
    def asked(self) -> int:
        """The number of texts that the model has at the moment."""
        return len(self._asked)

    # -- texts in -----------------------------------------------------------------------------------------

    def submit(self, samples: Sequence[Sample], client: str = "") -> Batch:
        """Accept the texts of a request, or raise Busy."""
        if self.metric.style == "paper" and any(sample.evidence for sample in samples):
            raise ConfigError(NO_PLACE, setting="style")
        if self._closing or self.problem:
            wait = math.ceil(max(1.0, self._again_at - time.monotonic()))
            raise Busy(self.unready, wait)
        total, share = self.waiting.total(), self.bounds.max_share
        if share and self.waiting[client] + len(samples) > share:
            reason = f"{self.waiting[client]} of your texts wait already; at most {share} may"
            raise Busy(reason, self._wait(self.waiting[client]), own=True)
        clients = len(self.waiting) + (client not in self.waiting)
        fair = self.bounds.max_waiting // clients if clients > 1 else 0  # nobody can fill the places of the others
        if total + len(samples) > self.bounds.max_waiting and self.waiting[client] + len(samples) > fair:
            raise Busy(f"{total} texts wait already; at most {self.bounds.max_waiting} may", self._wait(total))
        batch = Batch(client, samples)
        self.waiting[client] += len(samples)
        self._open.add(batch)
        if self._grounding:
            batch.grounding = asyncio.create_task(self._ground(batch, self._grounding))
        else:
            self._enqueue(batch, *range(len(samples)))
        return batch

    def withdraw(self, batch: Batch) -> None:
        """Drop the rest of a request that nobody waits for: what the model does not have yet is not judged."""
        if batch in self._open:
            self.judged["withdrawn"] += len(batch.left)
            self._unqueue(batch)
            batch.close()
            self._leave(batch)

    def _expire(self, batch: Batch) -> None:
        """Let the texts whose time is over be failures."""
        if self.counts.problem:
            _log.warning("not judged in time; the last problem was: %s", self.counts.problem)
        self._fail(batch, f"not judged within {self.bounds.deadline:g} s; try again later", Blame.MOMENT)

    def _wait(self, texts: int) -> int:
        """Return the seconds until so many texts are judged, at the latest speed."""
        return max(1, min(LONGEST_WAIT, math.ceil(texts * self._pace)))

    def _enqueue(self, batch: Batch, *places: int) -> None:
        if not batch.waiting:
            self._turns.setdefault(batch.client, deque()).append(batch)
        batch.waiting.extend(places)
        self._news.set()

    def _unqueue(self, batch: Batch) -> None:
        """Let nothing more of a batch be judged."""
        asked = {place for other, place in self._asked.values() if other is batch}
        self._waits_no_more(batch, sum(place not in asked for place in batch.left))
        if batch.waiting:
            self._turns[batch.client].remove(batch)
            batch.waiting.clear()

    def _waits_no_more(self, batch: Batch, texts: int) -> None:
        self.waiting[batch.client] -= texts
        if not self.waiting[batch.client]:
            del self.waiting[batch.client]

    async def _ground(self, batch: Batch, grounding: OpenLookup) -> None:
        """Look every text up; each may be judged as soon as something is known about it."""
        found = ground(batch.samples, grounding.search, grounding.lookup.k, counts=grounding.counts)
        place = 0
        try:
            async with aclosing(found) as pairs:
                async for sample, failure in pairs:
                    batch.samples[place] = sample
                    if failure:
                        self._waits_no_more(batch, 1)
                        self._deliver(batch, place, self._unsearched(sample, failure.reason, failure.blame))
                    else:
                        self._enqueue(batch, place)
                    place += 1
        except Exception as error:
            if not isinstance(error, MoresError):
                _log.error("unexpected failure", exc_info=error)
            for unsearched in range(place, len(batch.samples)):
                self._waits_no_more(batch, 1)
                judgement = self._unsearched(batch.samples[unsearched], str(error), Blame.MOMENT)
                self._deliver(batch, unsearched, judgement)

    def _unsearched(self, sample: Sample, reason: str, blame: Blame) -> Judgement:
        _log.warning("no evidence could be looked up (%s): %s", blame, reason)
        public = Failure(kind=FailureKind.MODEL, reason="the search gives no answer", blame=blame)
        return self.metric.failed(sample, no_evidence(public))

    # -- judgements out -----------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Judge what comes; where the model fails, what is open fails with it, and it is opened again."""
        while True:
            try:
                async with AsyncExitStack() as stack:
                    if self.lookup:
                        self._grounding = await stack.enter_async_context(self.lookup.open(self.metric))
                    lasting = Lasting(self._opened, self._worked)
                    answers = self.metric.answers(self._jobs(), self.counts, in_order=False, lasting=lasting)
                    async for answer in await stack.enter_async_context(aclosing(answers)):
                        self._answered(answer)
            except Exception as error:
                _log.error("the judge cannot be asked: %s", error, exc_info=not isinstance(error, MoresError))
                self.problem = UNAVAILABLE[Blame.SETUP]
                self._again_at = time.monotonic() + PAUSES[min(self._failures, len(PAUSES) - 1)]
                self._failures += 1
                if not self._started:
                    self.on_failed_start(error if isinstance(error, MoresError) else MoresError(repr(error)))
                for batch in list(self._open):
                    self._fail(batch, self.problem, Blame.SETUP)
                self._asked.clear()
                self._with_model.clear()
            await asyncio.sleep(max(0.0, self._again_at - time.monotonic()))

    def _opened(self) -> None:
        self.metric.signature()  # a model that cannot say what it is cannot be used
        self._started, self.problem = True, ""
        self.counts.problem, self.counts.gives_up_at = "", None

    async def _jobs(self) -> AsyncIterator[Job]:
        """Yield the next text whenever the model can take one."""
        while True:
            while (batch := self._next()) is None:
                self._news.clear()
                await self._news.wait()
            place = batch.waiting.popleft()
            if batch.waiting:
                self._turns[batch.client].append(batch)
            self._waits_no_more(batch, 1)
            if not self._asked:
                self._last = time.monotonic()
            number = str(next(self._numbers))
            self._asked[number] = batch, place
            self._with_model[batch.client] += 1
            yield self.metric.job(batch.samples[place], number)

    def _next(self) -> Batch | None:
        """Return the request whose text is next, of each client in turn; None while the model takes no more.

        Beyond what the model takes at once, each client has a few places that nobody else can fill: texts that are
        tried again and again, or never answered, hold up those of their own client alone.
        """
        most = self.metric.asker.limits.concurrency or self.metric.model.concurrency
        few = max(1, most // (4 * max(1, len(self._with_model))))
        for client, batches in list(self._turns.items()):
            if not batches:
                del self._turns[client]
            elif len(self._asked) < most or self._with_model[client] < few:
                self._turns[client] = self._turns.pop(client)  # it is now the last
                return batches.popleft()
        return None

    def _answered(self, answer: Answer) -> None:
        now = time.monotonic()
        self._pace += 0.1 * (now - self._last - self._pace)
        self._last = now
        request = answer.job.request
        if answer.failure is None and isinstance(request, Request):
            self._failures = 0
            if self._worked is None or len(request.messages[-1].content) < len(self._worked.messages[-1].content):
                self._worked = request
        batch, place = self._asked.pop(answer.job.id)
        self._with_model[batch.client] -= 1
        if not self._with_model[batch.client]:
            del self._with_model[batch.client]
        self._news.set()
        if place in batch.left:
            self._deliver(batch, place, self._disclosed(self.metric.read(answer)))

    def _disclosed(self, judgement: Judgement) -> Judgement:
        """Return a judgement whose failure says what a client may know: addresses and errors of servers are logged."""
        failure = judgement.failure
        if failure is None or failure.kind is not FailureKind.MODEL:
            return judgement
        _log.warning("a text could not be judged (%s): %s", failure.blame, failure.reason)
        return judgement.model_copy(
            update={"failure": failure.model_copy(update={"reason": UNAVAILABLE[failure.blame]})}
        )

    def _deliver(self, batch: Batch, place: int, judgement: Judgement) -> None:
        """Hand a judgement out, without the addresses of our servers in its signature."""
        public = _without_addresses(judgement.signature)
        if public is not judgement.signature:
            judgement = judgement.model_copy(update={"signature": public})
        if batch.put(place, judgement):
            self.judged[judgement.failure.kind.value if judgement.failure else "scored"] += 1
        if not batch.left:
            self._leave(batch)

    def _fail(self, batch: Batch, reason: str, blame: Blame) -> None:
        """Let every text that is left be a failure."""
        self._unqueue(batch)
        failure = Failure(kind=FailureKind.MODEL, reason=reason, blame=blame)
        for place in list(batch.left):
            self._deliver(batch, place, self.metric.failed(batch.samples[place], failure))

    def _leave(self, batch: Batch) -> None:
        self._open.pop(batch, None)
        if batch.grounding:
            batch.grounding.cancel()
        if not self._open:
            self._idle.set()
