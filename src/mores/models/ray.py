"""A local model on many machines: one worker process for each copy of it, on a Ray cluster; needs the extra `ray`.

    mores score texts.jsonl --model hf:PATH --ray

To the engine this is one more model, with room for more calls at once: the store, the order of answers, retries and
limits are the same as on one machine, and so are all files. Only this process writes the store.

Ray starts the processes, moves the requests and tells which process died; handing out is done here, because Ray Data
does not give the rows of a dead actor to another one and may wait for ever. Each worker has two batches: one that it
works on and one that waits. A call of Ray takes two milliseconds of this process, however many requests it has, so
batches grow until one takes a quarter of a second. When a worker dies its requests go to others, in small batches and
then each alone, so that the one that kills workers is found; after three it is a failure, and the others are answered.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, isqrt
from typing import Any, Self

from mores.errors import ConfigError, ModelError, MoresError, Rejected
from mores.extras import require
from mores.models import LLAMA, Options
from mores.models.base import Calibration, Completion, Explanations, Model, Request, Style
from mores.models.cluster import ON_GPU, WorkerShare, check_address, connect, first_line, is_there, share
from mores.models.worker import Card, ModelWorker, Opening, Outcome, Worked, plain
from mores.registry import name_of, split_name

PATIENCE = 600.0
"""Seconds without any worker after which the run stops; answers are saved."""
NOTICE = 20.0
"""Seconds without a first worker after which that is said."""
LIVES = 3
"""Workers that one request may cost."""
BATCHES = 2
"""Batches that a worker has at once."""
BATCH_SECONDS = 0.25
"""Time that a batch should take: a hundred times what Ray takes for it, and little to ask again if its worker dies."""
LARGEST = 256
"""Most requests of a batch, unless the model takes more at once."""
MOST_CALLS = 2048
"""Most requests of all workers, unless the models take more at once; those of a run are in memory."""
_LONGEST_WAIT = 30.0
"""Most seconds before a worker that cannot be started is tried again."""


class _Lost(Exception):  # noqa: N818 - never leaves this file
    """The worker ended before it answered."""

    def __init__(self, reason: str, requests: int = 1) -> None:
        """Say why, and how many requests it had."""
        super().__init__(reason)
        self.requests = requests


@dataclass(eq=False)
class _Call:
    """A request that waits for a worker or for its answer."""

    request: Request
    answer: asyncio.Future[Completion]
    together: int | None = None
    """Most requests that a worker has while it has this one, because a worker died with it; None for any number."""
    worker: Any = None
    """The worker that has it."""

    def settle(self, outcome: Outcome | _Lost | MoresError) -> None:
        if self.answer.done():
            return
        if isinstance(outcome, Exception):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


@dataclass
class _Seat:
    """A worker with the requests that it has."""

    worker: Any
    smallest: int
    """Requests of a batch that the model works on at once."""
    size: int = field(init=False)
    """Requests of the next batch."""
    held: int = 0
    suspects: bool = False
    """Whether it has requests with which a worker died, and takes no others meanwhile."""
    ended: bool = False

    def __post_init__(self) -> None:
        self.size = self.smallest

    def learn(self, requests: int, seconds: float) -> None:
        """Set the size of the next batch by the time that one took, at most twice as large as that one."""
        if requests >= self.smallest:  # with fewer the model could have worked on more at once
            fitting = int(BATCH_SECONDS * requests / max(seconds, 1e-6))
            size = min(fitting, max(self.size, 2 * requests), LARGEST)
            self.size = (
                max(1, size // self.smallest) * self.smallest
            )  # with a rest the model would work on few at its end


class RayModel:
    """A model that answers in the processes of a Ray cluster."""

    def __init__(self, model: str | Model, options: Options) -> None:
        self._model, self._options = model, options
        self._kind = split_name(name_of(model))[0]
        self._problem: MoresError | None = None
        self._note: Callable[[str], object] = lambda _: None
        self._seats: list[_Seat] = []
        check_address(options.ray)
        require("ray", "ray")

    def listen(self, note: Callable[[str], object]) -> None:
        """Set who is told that a cluster has no room."""
        self._note = note

    # -- what it is ---------------------------------------------------------------------------------------

    @cached_property
    def _share(self) -> WorkerShare:
        cluster = connect(self._options.ray)
        found = share(self._kind, self._options, cluster.machines)
        if not found.room and cluster.own:
            setting = "ray_gpus" if found.gpus else "threads"
            needs = f"{self._model}: {found.needs}, and this machine has {cluster.resources}"
            raise ConfigError(f"{needs}; give each worker less", setting=setting)
        if found.room < found.workers:
            later = "" if cluster.own else "; the others start when machines join"
            room = f"the cluster has {cluster.resources}, which is room for {found.room} of {found.workers} workers"
            self._note(f"Ray: {found.needs}, and {room}{later}")
        return found

    @cached_property
    def _opening(self) -> Opening:
        options = replace(self._options, ray=None, ray_workers=None, ray_gpus=None)
        if self._kind in LLAMA:
            options = replace(options, threads=max(1, int(self._share.cpus)))
        if self._kind == "vllm":  # which splits a model over several, and takes no more than its share of one
            options = replace(options, ray_gpus=self._share.gpus)
        return Opening.here(self._model, options)

    @cached_property
    def _card(self) -> Card:
        """The card from where the model runs: this machine may have no GPU, and no torch."""
        import ray

        task = ray.remote(Opening.describe).options(**self._resources, max_retries=3)
        reference = task.remote(self._opening)
        if not ray.wait([reference], timeout=NOTICE)[0]:
            self._note(self._waits)
        try:
            card: Card | MoresError = ray.get(reference, timeout=PATIENCE)
        except ray.exceptions.GetTimeoutError as exc:
            ray.cancel(reference)
            raise self._none_started() from exc
        except ray.exceptions.RayError as exc:
            raise ModelError(f"{self._model}: no Ray worker could open it: {first_line(exc)}") from exc
        if isinstance(card, MoresError):
            raise card
        return card

    @property
    def _resources(self) -> dict[str, Any]:
        resources = {"num_cpus": self._share.cpus, "num_gpus": self._share.gpus, "scheduling_strategy": "SPREAD"}
        if self._kind in ON_GPU and not self._share.gpus:  # Ray leaves every GPU visible to those that ask for none
            return {**resources, "runtime_env": {"env_vars": {"CUDA_VISIBLE_DEVICES": ""}}}
        return resources

    @property
    def name(self) -> str:
        return self._card.name

    @property
    def identity(self) -> str:
        return self._card.identity

    @property
    def concurrency(self) -> int:
        """The requests of all batches: it grows with them if the model is fast."""
        grown = BATCHES * sum(seat.size for seat in self._seats)
        return max(self._share.workers * BATCHES * self._card.concurrency, min(grown, MOST_CALLS))

    @property
    def timeout(self) -> float:
        """A call may wait behind the batches that its worker has."""
        return BATCHES * self._card.timeout

    @property
    def constrained(self) -> bool:
        return self._card.constrained

    @property
    def style(self) -> Style | None:
        return self._card.style

    @property
    def warning(self) -> str | None:
        return self._card.warning

    @property
    def grammars(self) -> bool:
        return self._card.grammars

    @property
    def wants_evidence(self) -> bool:
        return self._card.wants_evidence

    @property
    def calibration(self) -> tuple[Calibration, Calibration] | None:
        return self._card.calibration

    @property
    def weak_without_evidence(self) -> str:
        return self._card.weak_without_evidence

    @property
    def weak_uncovered(self) -> str:
        return self._card.weak_uncovered

    @property
    def explanations(self) -> Explanations | None:
        return self._card.explanations

    # -- calls --------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Start the workers and wait for the first; the others join when the cluster has room for them."""
        self._problem = None
        self._calls: deque[_Call] = deque()
        self._news = asyncio.Event()
        self._up = asyncio.Event()
        self._seats = []
        self._watch = self._start_watch()
        self._keepers = [asyncio.create_task(self._keep()) for _ in range(self._share.workers)]
        notice = asyncio.get_running_loop().call_later(NOTICE, lambda: self._note(self._waits))
        try:
            await self._up.wait()
            if self._problem:
                raise self._problem
        except BaseException:
            await self.__aexit__()
            raise
        finally:
            notice.cancel()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._watch.cancel()
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def complete(self, request: Request) -> Completion:
        """Return one attempt, by one worker after the other while they die."""
        reason, together = "", None
        for life in range(1, LIVES + 1):
            if self._problem:
                raise self._problem
            call = _Call(request, asyncio.get_running_loop().create_future(), together)
            if together:
                self._calls.appendleft(call)
            else:
                self._calls.append(call)
            self._news.set()
            try:
                return await call.answer
            except _Lost as lost:
                reason = str(lost)
                together = isqrt(lost.requests) if life < LIVES - 1 else 1
            except asyncio.CancelledError:
                if call.worker is not None:  # it may hang: another takes its place
                    _kill(call.worker)
                elif call in self._calls:
                    self._calls.remove(call)
                raise
        raise Rejected(f"{self.name}: {LIVES} workers ended over this request, the last with: {reason}")

    async def _keep(self) -> None:
        """Have one worker at all times: one that ends is replaced."""
        import ray

        actor = ray.remote(ModelWorker).options(**self._resources, max_restarts=0, max_task_retries=0)
        failed = 0
        while True:
            worker = actor.remote()
            try:
                problem = await _settled(worker.open.remote(self._opening, self._card))
                if problem is None:
                    failed = 0
                    problem = await self._serve(worker)
            finally:
                _kill(worker)
            failed += 1
            if isinstance(problem, _Lost) and not await is_there():
                problem = MoresError("the Ray cluster has stopped, or cannot be reached any more")
            if self._is_final(problem, failed):
                ended = f"{self.name}: {LIVES} Ray workers ended as they loaded the model, the last with: {problem}"
                self._stop(problem if isinstance(problem, MoresError) else ModelError(ended))
                return
            await asyncio.sleep(min(_LONGEST_WAIT, 2.0**failed - 2))  # the first replacement starts at once

    def _is_final(self, problem: _Lost | MoresError, failed: int) -> bool:
        """Return whether another worker would do no better: a wrong setting, or a model that no worker can load."""
        if isinstance(problem, _Lost):
            return failed >= LIVES and not self._up.is_set()
        return not isinstance(problem, ModelError) or not self._up.is_set()

    async def _serve(self, worker: Any) -> _Lost | MoresError:
        """Let a worker work until it ends; returns why it did."""
        seat = _Seat(worker, self._card.concurrency)
        self._seats.append(seat)
        self._watch.cancel()
        self._up.set()
        lanes = [asyncio.create_task(self._hand_out(seat)) for _ in range(BATCHES)]
        try:
            done, _ = await asyncio.wait(lanes, return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)
            self._seats.remove(seat)
            if not self._seats:
                self._watch = self._start_watch()

    async def _hand_out(self, seat: _Seat) -> _Lost | MoresError:
        """Hand batch after batch to a worker, until it ends; whoever waits for it then hears of it."""
        from ray import cloudpickle

        while True:
            while not (batch := self._next_batch(seat)):
                self._news.clear()
                await self._news.wait()
            for call in batch:
                call.worker = seat.worker
            worked: Worked | MoresError | _Lost = _Lost("the run ended")
            try:
                requests = cloudpickle.dumps(plain([call.request for call in batch]))
                worked = await _settled(seat.worker.answer.remote(requests))
            finally:
                held, seat.held = seat.held, seat.held - len(batch)
                seat.ended = not isinstance(worked, Worked)
                seat.suspects = seat.suspects and bool(seat.held)
                if isinstance(worked, Worked):
                    self._settle(seat, batch, worked)
                else:  # a model that broke may work for another worker
                    broke = isinstance(worked, _Lost | ModelError)
                    for call in batch:
                        call.worker = None
                        call.settle(_Lost(str(worked), held) if broke else worked)
                self._news.set()
            if not isinstance(worked, Worked):
                return worked

    def _settle(self, seat: _Seat, batch: list[_Call], worked: Worked) -> None:
        """Give each request of a batch its outcome; those that were not begun come first in the next one."""
        outcomes = worked.outcomes()
        for call, outcome in zip(batch, outcomes, strict=True):
            call.worker = None
            if outcome is not None:
                call.settle(outcome)
        left = [call for call, outcome in zip(batch, outcomes, strict=True) if outcome is None]
        self._calls.extendleft(call for call in reversed(left) if not call.answer.done())
        seat.learn(len(batch) - len(left), worked.seconds)

    def _next_batch(self, seat: _Seat) -> list[_Call]:
        """Return the next requests for a worker: a fair part, or some that a worker died with if it has no others."""
        if not self._calls or seat.ended or seat.suspects:
            return []
        together = self._calls[0].together
        if together and seat.held:
            return []
        outstanding = len(self._calls) + sum(other.held for other in self._seats)
        size = together or min(seat.size, ceil(outstanding / (BATCHES * len(self._seats))))
        batch: list[_Call] = []
        while self._calls and len(batch) < size and self._calls[0].together == together:
            batch.append(self._calls.popleft())
        seat.suspects = together is not None
        seat.held += len(batch)
        return batch

    # -- the end ------------------------------------------------------------------------------------------

    def _start_watch(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(PATIENCE, lambda: self._stop(self._none_started()))

    def _stop(self, problem: MoresError) -> None:
        """Stop the run, and tell all that wait why."""
        self._problem = self._problem or problem
        self._up.set()
        while self._calls:
            self._calls.popleft().settle(self._problem)

    @property
    def _waits(self) -> str:
        why = f"it loads the model, or waits for room in the cluster, where {self._share.needs}"
        return f"Ray: no worker is ready after {NOTICE:g} s: {why}; without any, the run stops after {PATIENCE:g} s"

    def _none_started(self) -> ModelError:
        return ModelError(f"{self._model}: no Ray worker could be started within {PATIENCE:g} s; {self._share.needs}")


async def _settled(reference: Any) -> Any:
    """Return what a worker returned, or how it failed."""
    import ray

    try:
        return await reference
    except ray.exceptions.RayTaskError as exc:  # not a problem that we know, so it is in the code
        return MoresError(f"a Ray worker failed: {first_line(exc.cause)}")
    except ray.exceptions.RayError as exc:
        return _Lost(first_line(exc))


def _kill(worker: Any) -> None:
    import ray

    if ray.is_initialized():
        ray.kill(worker)
