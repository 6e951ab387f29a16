"""Stands in for vLLM where it is not installed: the modules, names and behaviour that `vllm:` uses, and no more.

Its engine answers with `ANSWER` in tokens, or ends as the prompt says. Names and arguments that vLLM 0.26 does not
have fail here too, because everything is a dataclass or a function with its parameters.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import Enum
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ANSWER = [70, 71, 2]
"""The tokens of every answer; the last one ends it."""


class EngineDeadError(Exception):
    pass


class EngineGenerateError(Exception):
    pass


class VLLMClientError(Exception):
    """How later versions refuse a request; 0.26 does it with a ValueError."""


class RequestOutputKind(Enum):
    CUMULATIVE = 0
    FINAL_ONLY = 2


@dataclass
class StructuredOutputsParams:
    json: str | None = None
    grammar: str | None = None


@dataclass
class StructuredOutputsConfig:
    backend: str = "auto"
    disable_any_whitespace: bool = False


@dataclass
class SamplingParams:
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    max_tokens: int = 16
    logprobs: int | None = None
    detokenize: bool = True
    output_kind: RequestOutputKind = RequestOutputKind.CUMULATIVE
    structured_outputs: StructuredOutputsParams | None = None

    def __post_init__(self) -> None:
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], got {self.top_p}.")


@dataclass
class LoRARequest:
    lora_name: str
    lora_int_id: int
    lora_path: str = ""


@dataclass
class AsyncEngineArgs:
    model: str
    tokenizer: str | None = None
    revision: str | None = None
    dtype: str = "auto"
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    enable_prefix_caching: bool | None = None
    enforce_eager: bool = False
    structured_outputs_config: StructuredOutputsConfig = field(default_factory=StructuredOutputsConfig)
    disable_log_stats: bool = False
    use_tqdm_on_load: bool = True
    tensor_parallel_size: int = 1
    distributed_executor_backend: str | None = None
    gpu_memory_utilization: float = 0.9
    enable_lora: bool = False
    max_loras: int = 1
    max_lora_rank: int = 16


class AsyncLLM:
    """The engine. `calls` are the requests that it was sent; `failure` is what the next ones end with."""

    started: list[AsyncLLM]

    def __init__(self, arguments: AsyncEngineArgs) -> None:
        if arguments.dtype == "nonsense":
            raise ValueError("1 validation error for ModelConfig\ndtype\n  Unknown dtype: nonsense")
        self.arguments = arguments
        self.model_config = SimpleNamespace(max_model_len=200, get_diff_sampling_param=lambda: {"temperature": 0.6})
        self.calls: list[tuple[list[int], SamplingParams, str, LoRARequest | None]] = []
        self.adapters: list[LoRARequest] = []
        self.aborted: list[str] = []
        self.closed = False
        self.failure: Exception | None = None
        self.finish_reason = "stop"
        self.waits = False
        self.asked = asyncio.Event()
        self.logprob = -0.5

    @classmethod
    def from_engine_args(cls, arguments: AsyncEngineArgs) -> AsyncLLM:
        engine = cls(arguments)
        cls.started.append(engine)
        return engine

    def shutdown(self) -> None:
        self.closed = True

    async def add_lora(self, lora_request: LoRARequest) -> bool:
        if lora_request.lora_path.endswith("misfit"):
            raise RuntimeError("Call to add_lora method failed: size mismatch")
        self.adapters.append(lora_request)
        return True

    async def generate(
        self, prompt: Any, sampling_params: SamplingParams, request_id: str, *, lora_request: LoRARequest | None = None
    ) -> AsyncIterator[Any]:
        """Token by token, or all at once."""
        self.asked.set()
        self.calls.append((prompt["prompt_token_ids"], sampling_params, request_id, lora_request))
        try:
            if self.waits:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.aborted.append(request_id)
            raise
        if self.failure is not None:
            raise self.failure
        tokens = ANSWER[: sampling_params.max_tokens]
        ended = tokens == ANSWER
        steps = range(1, len(tokens) + 1) if sampling_params.output_kind is RequestOutputKind.CUMULATIVE else []
        for end in [*steps, len(tokens)]:
            places = [self._place(token, sampling_params.logprobs) for token in tokens[:end]]
            answer = SimpleNamespace(
                text="" if not sampling_params.detokenize else "detokenized",
                token_ids=tuple(tokens[:end]),
                logprobs=places if sampling_params.logprobs is not None else None,
                finish_reason=self.finish_reason if ended or self.finish_reason != "stop" else "length",
            )
            yield SimpleNamespace(outputs=[answer], prompt_token_ids=prompt["prompt_token_ids"])

    def _place(self, token: int, most: int | None) -> dict[int, Any]:
        """The chosen token and the likeliest ones, of which all but three are ruled out by the constraint."""
        likely = {token: self.logprob} | {80 + i: -1.0 - i if i < 2 else -float("inf") for i in range(most or 0)}
        return {token: SimpleNamespace(logprob=value, rank=i + 1) for i, (token, value) in enumerate(likely.items())}


def install(monkeypatch: pytest.MonkeyPatch) -> type[AsyncLLM]:
    """Put it in the place of vLLM; returns the class of its engines."""
    engines = type("AsyncLLM", (AsyncLLM,), {"started": []})
    modules: dict[str, dict[str, Any]] = {
        "vllm": {"__version__": "0.26.0", "__path__": []},
        "vllm.config": {"StructuredOutputsConfig": StructuredOutputsConfig},
        "vllm.exceptions": {"VLLMClientError": VLLMClientError},
        "vllm.sampling_params": {
            "SamplingParams": SamplingParams,
            "StructuredOutputsParams": StructuredOutputsParams,
            "RequestOutputKind": RequestOutputKind,
        },
        "vllm.engine.arg_utils": {"AsyncEngineArgs": AsyncEngineArgs},
        "vllm.lora.request": {"LoRARequest": LoRARequest},
        "vllm.v1.engine.async_llm": {"AsyncLLM": engines},
        "vllm.v1.engine.exceptions": {
            "EngineDeadError": EngineDeadError,
            "EngineGenerateError": EngineGenerateError,
        },
    }
    for name, contents in modules.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    return engines
