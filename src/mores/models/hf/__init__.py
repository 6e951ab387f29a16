"""`hf:PATH`: a transformers model in this process, from a local folder or the Hugging Face Hub; needs the extra `hf`.

It computes in bfloat16 on a CUDA GPU, else in float32 on the CPU, or as `precision` says. `--adapter` puts a PEFT LoRA
folder on top, unmerged, and takes the tokenizer from that folder where it brings one. Code that comes with a model is
never run.

- **Prompt**: the tokenizer's chat template. Without one each message becomes a paragraph `role: content`, and the
  answer starts after `assistant:`. Control tokens written inside a message are read as plain text, so a judged text
  cannot end its turn and start another.
- **Decoding**: greedy at temperature 0, else nucleus sampling with a generator of the request's own seed; of the
  model's own settings only the end tokens count and, where a request names none, the temperature.
- **Log-probabilities**: natural logarithm under the model's own softmax, before temperature, top-p, top-k and schema,
  with the end token's as the last one.
- **Batches**: on a GPU up to 256 answers are written at once, and as some end, the next requests take their rows
  (`continuous.py`); what all prompts begin with is read once. Models whose layers keep more than plain keys and
  values, such as sliding windows or states, are asked in static batches of 16, and on a CPU requests are answered one
  by one. What shares a batch changes the low-order digits of a log-probability (below 1e-4 in float32, some
  hundredths in bfloat16), so in bfloat16 a near tie now and then falls the other way. The way, the number of answers
  and the precision are part of the identity; asked one by one, answers repeat exactly.
- **Schema or grammar**: llguidance masks the tokens that would leave it.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from mores.errors import ModelError, MoresError
from mores.extras import require
from mores.models.base import Completion, Precision, Request, Style
from mores.models.hf.continuous import Stream, supports
from mores.models.hf.files import adapter_folder, first_line, hub_commit, identify, local_folder, tuned_style
from mores.models.hf.load import has_gpu, load_network
from mores.models.hf.network import Network

_SLOTS_ON_GPU = 256
_BATCH_ON_GPU = 16
_LINGER = 0.01
"""Seconds that a batch waits for more requests."""


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A request and who waits for its answer in the event loop."""

    model: str
    request: Request
    answer: asyncio.Future[Completion]

    @property
    def abandoned(self) -> bool:
        return self.answer.cancelled()

    def settle(self, outcome: Completion | Exception) -> None:
        """Deliver the outcome, from any thread."""
        known = _known(outcome, self.model) if isinstance(outcome, Exception) else outcome
        self.answer.get_loop().call_soon_threadsafe(_settle, self.answer, known)


class HFModel:
    """A causal language model.

    `slots` overrides how many answers are written at once, `batch` asks in static batches of that many requests.
    """

    constrained = False
    grammars = True
    timeout = 3600.0
    warning: str | None = None

    def __init__(
        self, name: str, adapter: str | None = None, batch: int = 0, slots: int = 0, precision: Precision | None = None
    ) -> None:
        self._folder = local_folder(name)
        self.model = name
        self.adapter = adapter_folder(adapter)
        self._batch, self._slots, self._precision = batch, slots, precision
        self.style: Style | None = tuned_style(self.adapter or self._folder)
        require("hf", "torch", "transformers", *(["peft"] if adapter else []))
        self._network: Network | None = None
        self._stream: Stream | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return f"hf:{self.model}"

    @cached_property
    def identity(self) -> str:
        parts = identify(*self._origin, self.adapter)
        parts.append(self.precision)
        parts.append(f"transformers-{importlib.metadata.version('transformers')}")
        return "hf/" + "/".join([*parts, f"slots{self.slots}" if self.slots else f"batch{self.concurrency}"])

    @cached_property
    def precision(self) -> Precision:
        """The numbers that it computes with."""
        return self._precision or ("bfloat16" if has_gpu() else "float32")

    @cached_property
    def slots(self) -> int:
        """The number of answers that continuous batching writes at once; 0 for static batches."""
        slots = self._slots or (_SLOTS_ON_GPU if has_gpu() and not self._batch else 0)
        return slots if slots and supports(*self._origin) else 0

    @cached_property
    def concurrency(self) -> int:
        return self.slots or self._batch or (_BATCH_ON_GPU if has_gpu() else 1)

    async def __aenter__(self) -> Self:
        self._waiting: deque[_Job] = deque()
        self._full = asyncio.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mores-hf")
        try:
            self._network = await asyncio.get_running_loop().run_in_executor(self._thread, self._load)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        self._stream = Stream(self._network, self.slots) if self.slots else None
        return self

    async def __aexit__(self, *exc: object) -> None:
        for job in tuple(self._waiting):
            job.answer.cancel()
        if self._serving is not None:
            await self._serving
        self._thread.shutdown()
        self._network = self._stream = None
        if has_gpu():
            import torch

            torch.cuda.empty_cache()

    async def complete(self, request: Request) -> Completion:
        """Return one attempt, in a batch with other requests of the moment."""
        assert self._network is not None, "the model is entered before it is asked"
        if request.constrained:
            require("hf", "llguidance")
        job = _Job(self.name, request, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        if len(self._waiting) >= self.concurrency:
            self._full.set()
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve(self._network))
        return await job.answer

    async def _serve(self, network: Network) -> None:
        """Answer all that wait."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            with suppress(TimeoutError):  # others may join
                async with asyncio.timeout(_LINGER):
                    await self._full.wait()
            self._full.clear()
            if self._stream:
                await loop.run_in_executor(self._thread, self._stream.run, self._waiting)
            else:
                await loop.run_in_executor(self._thread, _answer_batch, network, self._next_batch())

    def _next_batch(self) -> list[_Job]:
        jobs = [self._waiting.popleft() for _ in range(min(self.concurrency, len(self._waiting)))]
        if len(self._waiting) >= self.concurrency:
            self._full.set()
        return [job for job in jobs if not job.abandoned]

    @cached_property
    def _commit(self) -> str:
        return hub_commit(self.model)

    @property
    def _origin(self) -> tuple[str, str | None]:
        """A folder, or a name on the Hub and its commit."""
        return (str(self._folder), None) if self._folder else (self.model, self._commit)

    def _load(self) -> Network:
        return load_network(*self._origin, self.adapter, self.precision)


def _answer_batch(network: Network, jobs: Sequence[_Job]) -> None:
    """Answer a static batch; stop when nobody waits for it any more."""
    outcomes: Sequence[Completion | Exception]
    try:
        outcomes = network.answer([job.request for job in jobs], lambda: all(job.abandoned for job in jobs))
    except Exception as exc:  # whatever it was, those who wait must hear of it
        outcomes = [exc] * len(jobs)
    for job, outcome in zip(jobs, outcomes, strict=True):
        job.settle(outcome)


def _settle(answer: asyncio.Future[Completion], outcome: Completion | MoresError) -> None:
    if answer.done():
        return
    if isinstance(outcome, MoresError):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def _known(exc: Exception, name: str) -> MoresError:
    if isinstance(exc, MoresError):
        return exc
    problem = ModelError(f"{name}: {type(exc).__name__}: {first_line(exc)}")
    problem.__cause__ = exc
    return problem
