"""A metric that judges texts as another program's tasks bring them; the model stays open between them."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import aclosing, nullcontext
from threading import Event, Lock, Thread

from mores.engine import Job
from mores.engine.loop import run
from mores.metric import Metric
from mores.metric.texts import Lookup, OpenLookup
from mores.search import ground
from mores.types import Judgement, Sample


class LiveMetric:
    """Judges texts in a thread with a loop of its own: the other program may use another kind of loop."""

    def __init__(self, metric: Metric, lookup: Lookup | None = None) -> None:
        self._metric, self._lookup = metric, lookup
        self._lock = Lock()
        self._thread: Thread | None = None
        self._waiting: dict[int, Future[Judgement]] = {}
        """By the identity of the sample."""

    def judge(self, sample: Sample) -> Future[Judgement]:
        """Return the judgement to come; an error that stops the judge is raised for all that wait."""
        future: Future[Judgement] = Future()
        with self._lock:
            if self._thread is None:
                self._start()
            self._waiting[id(sample)] = future
            self._loop.call_soon_threadsafe(self._queue.put_nowait, sample)
        return future

    def close(self) -> None:
        """End the judge, once what waits is judged."""
        with self._lock:
            thread = self._thread
            if thread:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, None)
        if thread:
            thread.join(10)

    def _start(self) -> None:
        ready = Event()
        self._thread = thread = Thread(target=lambda: run(self._work(ready)), name="mores-live", daemon=True)
        thread.start()
        ready.wait()
        atexit.register(self.close)

    async def _work(self, ready: Event) -> None:
        self._loop, self._queue = asyncio.get_running_loop(), asyncio.Queue[Sample | None]()
        ready.set()
        error: BaseException = RuntimeError("the judge has ended")
        try:
            async with self._lookup.open(self._metric) if self._lookup else nullcontext() as grounding:
                answers = self._metric.answers(self._jobs(grounding), in_order=False)
                async with aclosing(answers):
                    async for answer in answers:
                        self._waiting.pop(id(answer.job.data)).set_result(self._metric.read(answer))
        except BaseException as problem:
            error = problem
        with self._lock:
            self._thread = None
            left, self._waiting = self._waiting, {}
        for future in left.values():
            future.set_exception(error)

    async def _jobs(self, grounding: OpenLookup | None) -> AsyncIterator[Job]:
        while (asked := await self._queue.get()) is not None:
            sample = asked
            if grounding:
                async for sample, failure in ground([asked], grounding.search, grounding.lookup.k):
                    if failure:
                        self._metric.unsearched[sample.id] = failure
            self._waiting[id(sample)] = self._waiting.pop(id(asked))
            yield self._metric.job(sample, sample.id)
