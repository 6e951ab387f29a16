"""A local model on many machines: one worker process for each copy of it, on a Ray cluster; needs the extra `ray`.

    mores score texts.jsonl --model hf:PATH --ray

To the engine this is one more model, with room for more calls at once: the store, the order of answers, retries and
limits are the same as on one machine, and so are all files. Only this process writes the store.

Ray starts the processes, moves the requests and tells which process died; handing out is done here, because Ray Data
does not give the rows of a dead actor to another one and may wait for ever. Each worker has two batches: one that it
works on and one that waits. When a worker dies its requests go to others, each alone, so that the one that kills
workers is found; after three it is a failure, and the others are answered.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from mores.errors import ModelError, MoresError, Rejected
from mores.extras import require
from mores.models import LLAMA, Options
from mores.models.base import Calibration, Completion, Explanations, Model, Request, Style
from mores.models.cluster import ON_GPU, WorkerShare, check_address, connect, first_line, is_there, share
from mores.models.worker import Card, ModelWorker, Opening, Outcome
from mores.registry import name_of, split_name

PATIENCE = 600.0
"""Seconds without any worker after which the run stops; answers are saved."""
LIVES = 3
"""Workers that one request may cost."""
BATCHES = 2
"""Batches that a worker has at once."""
_LONGEST_WAIT = 30.0
"""Most seconds before a worker that cannot be started is tried again."""


class _Lost(Exception):  # noqa: N818 - never leaves this file
    """The worker ended before it answered."""


@dataclass(eq=False)
class _Call:
    """A request that waits for a worker or for its answer."""

    request: Request
    alone: bool
    """Whether a worker has nothing else meanwhile, because one died with it."""
    answer: asyncio.Future[Completion]
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
    held: set[_Call] = field(default_factory=set)
    ended: bool = False

    def may_take(self, call: _Call) -> bool:
        """Return whether a request may be handed to it now; one that is to be alone waits until it has nothing else."""
        return not self.ended and not any(other.alone for other in self.held) and not (call.alone and self.held)


class RayModel:
    """A model that answers in the processes of a Ray cluster."""

    def __init__(self, model: str | Model, options: Options) -> None:
        self._model, self._options = model, options
        self._kind = split_name(name_of(model))[0]
        self._problem: MoresError | None = None
        check_address(options.ray)
        require("ray", "ray")

    # -- what it is ---------------------------------------------------------------------------------------

    @cached_property
    def _share(self) -> WorkerShare:
        return share(self._kind, self._options, connect(self._options.ray))

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
        """As the model is where it runs: this machine may have no GPU, and no torch."""
        import ray

        task = ray.remote(Opening.describe).options(**self._resources, max_retries=3)
        reference = task.remote(self._opening)
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
        return self._share.workers * BATCHES * self._card.concurrency

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
        self._alive = 0
        self._watch = self._start_watch()
        self._keepers = [asyncio.create_task(self._keep()) for _ in range(self._share.workers)]
        try:
            await self._up.wait()
            if self._problem:
                raise self._problem
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._watch.cancel()
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def complete(self, request: Request) -> Completion:
        """Return one attempt, by one worker after the other while they die."""
        reason = ""
        for life in range(LIVES):
            if self._problem:
                raise self._problem
            call = _Call(request, life > 0, asyncio.get_running_loop().create_future())
            if call.alone:
                self._calls.appendleft(call)
            else:
                self._calls.append(call)
            self._news.set()
            try:
                return await call.answer
            except _Lost as lost:
                reason = str(lost)
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
        self._alive += 1
        self._watch.cancel()
        self._up.set()
        seat = _Seat(worker)
        lanes = [asyncio.create_task(self._hand_out(seat)) for _ in range(BATCHES)]
        try:
            done, _ = await asyncio.wait(lanes, return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)
            self._alive -= 1
            if not self._alive:
                self._watch = self._start_watch()

    async def _hand_out(self, seat: _Seat) -> _Lost | MoresError:
        """Hand batch after batch to a worker, until it ends; whoever waits for it then hears of it."""
        while True:
            while not (batch := self._next_batch(seat)):
                self._news.clear()
                await self._news.wait()
            for call in batch:
                call.worker = seat.worker
            outcomes: list[Outcome] | MoresError | _Lost = _Lost("the run ended")
            try:
                outcomes = await _settled(seat.worker.answer.remote([call.request for call in batch]))
            finally:
                seat.ended = not isinstance(outcomes, list)
                seat.held.difference_update(batch)
                self._news.set()
                answers: Sequence[Outcome | _Lost | MoresError] = outcomes if isinstance(outcomes, list) else ()
                if not isinstance(outcomes, list):  # a model that broke may work for another worker
                    answers = [_Lost(str(outcomes)) if isinstance(outcomes, ModelError) else outcomes] * len(batch)
                for call, answer in zip(batch, answers, strict=True):
                    call.worker = None
                    call.settle(answer)
            if not isinstance(outcomes, list):
                return outcomes

    def _next_batch(self, seat: _Seat) -> list[_Call]:
        """Return the next requests for a worker: as many as the model takes at once, or one that is to be alone."""
        batch: list[_Call] = []
        while self._calls and len(batch) < self._card.concurrency and seat.may_take(self._calls[0]):
            call = self._calls.popleft()
            seat.held.add(call)
            batch.append(call)
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

    def _none_started(self) -> ModelError:
        needed = f"each needs {self._share.cpus:g} CPUs and {self._share.gpus:g} GPUs"
        return ModelError(f"{self._model}: no Ray worker could be started within {PATIENCE:g} s; {needed}")


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
