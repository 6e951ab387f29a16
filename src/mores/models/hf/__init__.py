"""`hf:PATH`: a transformers model in this process, from a local folder or the Hugging Face Hub; needs `mores[hf]`.

On a CUDA GPU it runs in bfloat16, else on the CPU in float32. `--adapter` puts a PEFT LoRA folder on top, unmerged,
and takes the tokenizer from that folder where it brings one. Code that comes with a model is never run.

- **Prompt**: the tokenizer's chat template. Without one each message becomes a paragraph `role: content`, and the
  answer starts after `assistant:`. Control tokens written inside a message are read as plain text, so a judged text
  cannot end its turn and start another.
- **Decoding**: greedy at temperature 0, else nucleus sampling with a generator of the request's own seed; of the
  model's own settings only the end tokens count and, where a request names none, the temperature.
- **Log-probabilities**: natural logarithm under the model's own softmax, before temperature, top-p and schema, with
  the end token's as the last one.
- **Batches**: requests that arrive together are generated together, 16 on a GPU, one on a CPU. What shares a batch
  changes the low-order digits of a log-probability (below 1e-4 in float32, some hundredths in bfloat16), so now
  and then a near tie falls the other way. The batch size is part of the identity; asked one by one, answers repeat
  exactly.
- **Schema or grammar**: llguidance masks the tokens that would leave it.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from typing import NamedTuple, Self

from mores.errors import ModelError, MoresError
from mores.extras import require
from mores.models.base import Completion, Request, Style
from mores.models.hf.files import (
    adapter_files,
    adapter_folder,
    fingerprint,
    first_line,
    hub_commit,
    local_folder,
    model_files,
    tuned_style,
)
from mores.models.hf.load import has_gpu, load_network
from mores.models.hf.network import Network

_BATCH_ON_GPU = 16
_LINGER = 0.01
"""Seconds that a batch waits for more requests."""


class _Job(NamedTuple):
    request: Request
    answer: asyncio.Future[Completion]


class HFModel:
    """A causal language model; `batch` overrides how many requests are generated together."""

    constrained = False
    grammars = True
    timeout = 3600.0
    warning: str | None = None

    def __init__(self, name: str, adapter: str | None = None, batch: int | None = None) -> None:
        self._folder = local_folder(name)
        self.model = name
        self.adapter = adapter_folder(adapter)
        self._batch = batch
        self.style: Style | None = tuned_style(self.adapter or self._folder)
        require("pip install 'mores[hf]'", "torch", "transformers", *(["peft"] if adapter else []))
        self._network: Network | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return f"hf:{self.model}"

    @cached_property
    def identity(self) -> str:
        """Of a local folder only the last name, not the place: a moved folder keeps its stored answers."""
        if self._folder:
            parts = [f"{self._folder.name}@{fingerprint(model_files(self._folder))}"]
        else:
            parts = [f"{self.model}@{self._commit}"]
        if self.adapter:
            parts.append(f"lora@{fingerprint(adapter_files(self.adapter), whole=True)}")
        parts.append("bfloat16" if has_gpu() else "float32")
        parts.append(f"transformers-{importlib.metadata.version('transformers')}")
        return "hf/" + "/".join([*parts, f"batch{self.concurrency}"])

    @cached_property
    def concurrency(self) -> int:
        return self._batch or (_BATCH_ON_GPU if has_gpu() else 1)

    async def __aenter__(self) -> Self:
        self._waiting: list[_Job] = []
        self._full = asyncio.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mores-hf")
        try:
            self._network = await asyncio.get_running_loop().run_in_executor(self._thread, self._load)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        for job in self._waiting:
            job.answer.cancel()
        if self._serving is not None:
            await self._serving
        self._thread.shutdown()
        self._network = None
        if has_gpu():
            import torch

            torch.cuda.empty_cache()

    async def complete(self, request: Request) -> Completion:
        """One attempt, in a batch with other requests of the moment."""
        assert self._network is not None, "the model is entered before it is asked"
        if request.constrained:
            require("pip install llguidance", "llguidance")
        job = _Job(request, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        if len(self._waiting) >= self.concurrency:
            self._full.set()
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve(self._network))
        return await job.answer

    async def _serve(self, network: Network) -> None:
        """Answer all that wait, batch after batch."""
        while self._waiting:
            jobs = await self._gather()
            abandoned = partial(_all_cancelled, [job.answer for job in jobs])
            outcomes: Sequence[Completion | MoresError]
            try:
                outcomes = await asyncio.get_running_loop().run_in_executor(
                    self._thread, network.answer, [job.request for job in jobs], abandoned
                )
            except Exception as exc:  # whatever it was, those who wait must hear of it
                outcomes = [_known(exc, self.name)] * len(jobs)
            for job, outcome in zip(jobs, outcomes, strict=True):
                _settle(job.answer, outcome)

    async def _gather(self) -> list[_Job]:
        """The next batch, after a moment for others to join it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                await self._full.wait()
        jobs, self._waiting = self._waiting[: self.concurrency], self._waiting[self.concurrency :]
        if len(self._waiting) < self.concurrency:
            self._full.clear()
        return [job for job in jobs if not job.answer.cancelled()]

    @cached_property
    def _commit(self) -> str:
        return hub_commit(self.model)

    def _load(self) -> Network:
        if self._folder:
            return load_network(str(self._folder), None, self.adapter)
        return load_network(self.model, self._commit, self.adapter)


def _all_cancelled(answers: Iterable[asyncio.Future[Completion]]) -> bool:
    """Whether no request waits any more, so that the work may stop; read from the model's thread."""
    return all(answer.cancelled() for answer in answers)


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
