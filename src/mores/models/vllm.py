"""`vllm:PATH`: a model in vLLM's engine, started here and without a server; needs `pip install vllm`.

    mores score texts.jsonl --model vllm:PATH

It reads the same folders, Hub names and adapters as `hf:PATH`, with the same prompts, and answers in the same records;
vLLM schedules the requests and runs in a process of its own, which ends with the run. What differs from `hf`:

- **Speed**: 512 answers are written at once, with vLLM's kernels and CUDA graphs. On a GPU it compiles as it starts,
  which takes longer than loading a model, so it pays for many texts.
- **Log-probabilities** of an answer under a schema or grammar are those among the tokens that it allows, because vLLM
  computes them after the constraint. Without one they are the model's own, as with `hf`.
- **Memory**: vLLM takes nine tenths of the GPU at once. Where that is too little for the model's whole context, it
  takes a shorter one, and longer prompts are turned away.
- **Repetition**: what shares a batch changes the low-order digits, as with `hf`; `max_num_seqs=1` asks one by one.

In Python, `VLLMModel(PATH, dtype="float16", enforce_eager=True)` passes any setting of vLLM's `AsyncEngineArgs`; these
are part of the identity.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import itertools
import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from mores.errors import ConfigError, ModelError, Rejected, Transient
from mores.extras import require
from mores.io.values import load_json
from mores.models.base import Completion, Request, Style, is_logprob
from mores.models.hf.files import adapter_folder, first_line, hub_commit, identify, local_folder, tuned_style
from mores.models.hf.load import has_gpu, load_tokenizer
from mores.models.hf.prompt import encode

_AT_ONCE = 512
_MEMORY = 0.9
"""Of a GPU, as vLLM takes by default."""
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Of LoRA adapters, that vLLM has room for."""
_LONGEST_REASON = 300
_ENVIRONMENT = {
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # standard output is for data
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",  # there are threads here, which a fork does not survive
}
"""How vLLM is to behave in a program, unless the user says otherwise; read as it is imported."""


class VLLMModel:
    """A causal language model in vLLM. `gpus` are those that it is split over, or a share of one."""

    constrained = False
    grammars = True
    timeout = 3600.0
    warning: str | None = None

    def __init__(self, name: str, adapter: str | None = None, gpus: float = 1.0, **settings: Any) -> None:
        self._folder = local_folder(name, "vllm")
        self.model = name
        self.adapter = adapter_folder(adapter)
        self._gpus, self._settings = gpus, settings
        self.style: Style | None = tuned_style(self.adapter or self._folder)
        require("vllm", "vllm")
        self._engine: Any = None

    @property
    def name(self) -> str:
        return f"vllm:{self.model}"

    @cached_property
    def identity(self) -> str:
        settings = [f"{key}={value}" for key, value in sorted(self._settings.items()) if key != "dtype"]
        split = [f"gpus{self._gpus:g}"] if self._gpus > 1 else []
        parts = [*identify(*self._origin, self.adapter), self._dtype, f"vllm-{_version()}", *split, *settings]
        return "vllm/" + "/".join([*parts, f"slots{self.concurrency}"]).replace("|", "/")

    @property
    def concurrency(self) -> int:
        return int(self._settings.get("max_num_seqs", _AT_ONCE))

    @cached_property
    def _dtype(self) -> str:
        return str(self._settings.get("dtype", "bfloat16" if has_gpu() else "float32"))

    @cached_property
    def _origin(self) -> tuple[str, str | None]:
        """A folder, or a name on the Hub and its commit."""
        return (str(self._folder), None) if self._folder else (self.model, hub_commit(self.model, "vllm"))

    # -- start and end ------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._numbers = itertools.count()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mores-vllm")
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._start)
            if self._lora is not None:
                await self._add_adapter()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._thread.shutdown(wait=False)
        if self._engine is not None:
            self._engine.shutdown()
        self._engine = None

    def _start(self) -> None:
        where, commit = self._origin
        origin = {} if commit is None else {"revision": commit}
        _import("vllm")
        engine = _import("vllm.v1.engine.async_llm").AsyncLLM
        arguments = _import("vllm.engine.arg_utils").AsyncEngineArgs
        lora = _import("vllm.lora.request").LoRARequest if self.adapter else None
        self._lora = lora(self.adapter.name, 1, str(self.adapter)) if self.adapter and lora else None
        try:
            self._tokenizer = load_tokenizer(where, origin, self.adapter)
            self._engine = engine.from_engine_args(arguments(**self._arguments(where, origin) | self._settings))
        except Exception as exc:  # the library raises anything at all for a folder or a setting that it cannot take
            reason = " ".join(str(exc).split())[:_LONGEST_REASON] or type(exc).__name__
            raise ConfigError(f"{self.name}: vLLM cannot start with it: {reason}; see what it wrote above") from exc
        self._context = int(self._engine.model_config.max_model_len)
        self._temperature = float(self._engine.model_config.get_diff_sampling_param().get("temperature", 1.0))

    def _arguments(self, where: str, origin: Mapping[str, str]) -> dict[str, Any]:
        constraints = _import("vllm.config").StructuredOutputsConfig
        arguments = {
            "model": where,
            "dtype": self._dtype,
            "max_num_seqs": self.concurrency,
            "max_model_len": -1,  # the model's own, or as much of it as there is memory for
            "enable_prefix_caching": True,
            # llguidance, as with `hf`; without white space of its choice: a small model happily fills pages with it.
            "structured_outputs_config": constraints(backend="guidance", disable_any_whitespace=True),
            "enforce_eager": not has_gpu(),  # compiling pays on a GPU
            "disable_log_stats": True,
            "use_tqdm_on_load": False,
            **origin,
        }
        if self._gpus > 1:
            arguments |= {"tensor_parallel_size": int(self._gpus), "distributed_executor_backend": "mp"}
        elif self._gpus < 1:
            arguments["gpu_memory_utilization"] = _MEMORY * self._gpus
        if self.adapter:
            arguments |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": _rank(self.adapter)}
            if (self.adapter / "tokenizer_config.json").exists():
                arguments["tokenizer"] = str(self.adapter)
        return arguments

    async def _add_adapter(self) -> None:
        """Add the adapter before the first request: one that does not fit would fail with each of them."""
        try:
            await self._engine.add_lora(self._lora)
        except Exception as exc:  # here too
            fix = "an adapter goes with the model it was trained on; see base_model_name_or_path in adapter_config.json"
            reason = f"vLLM cannot put it on the model: {first_line(exc)}"
            raise ConfigError(f"{self.adapter}: {reason}; {fix}", setting="adapter") from exc

    # -- calls --------------------------------------------------------------------------------------------

    async def complete(self, request: Request) -> Completion:
        """Return one attempt; vLLM puts it into a batch with what else is asked."""
        assert self._engine is not None, "the model is entered before it is asked"
        loop = asyncio.get_running_loop()
        ids = await loop.run_in_executor(self._thread, encode, self.name, self._tokenizer, request.messages)
        if len(ids) >= self._context:
            raise Rejected(
                f"{self.name}: the prompt has {len(ids)} tokens and the context is {self._context};"
                " shorten the text or take a model with a longer context"
            )
        try:
            sampling = self._sampling(request, self._context - len(ids))
            number = f"mores-{next(self._numbers)}"
            outputs = self._engine.generate({"prompt_token_ids": ids}, sampling, number, lora_request=self._lora)
            *_, output = [output async for output in outputs]  # one, with everything
        except Exception as exc:
            raise self._problem(exc) from exc
        return self._read(request, output)

    def _sampling(self, request: Request, room: int) -> Any:
        """Return the request in vLLM's words, without what the model itself would set, such as a repetition penalty."""
        parameters = _import("vllm.sampling_params")
        temperature = self._temperature if request.temperature is None else request.temperature
        constraint = None
        if request.grammar is not None:
            constraint = parameters.StructuredOutputsParams(grammar=request.grammar)
        elif request.schema is not None:
            constraint = parameters.StructuredOutputsParams(json=json.dumps(request.schema))
        return parameters.SamplingParams(
            max_tokens=min(request.max_tokens, room),
            temperature=temperature,
            top_p=request.top_p,
            top_k=request.top_k or 0,  # of all tokens
            seed=request.dice,
            logprobs=request.alternatives or (0 if request.logprobs else None),
            structured_outputs=constraint,
            detokenize=False,
            output_kind=parameters.RequestOutputKind.FINAL_ONLY,
        )

    def _read(self, request: Request, output: Any) -> Completion:
        answer = output.outputs[0]
        if answer.finish_reason not in ("stop", "length"):
            raise Rejected(f"{self.name}: vLLM ended the answer with {answer.finish_reason!r}")
        ended = answer.finish_reason == "stop"
        tokens = list(answer.token_ids)
        places = answer.logprobs or []
        logprobs = tuple(float(place[token].logprob) for token, place in zip(tokens, places, strict=False))
        if not all(map(is_logprob, logprobs)):
            raise Rejected(f"{self.name}: the model computed numbers that are not probabilities; check its weights")
        return Completion(
            text=self._decode(tokens[:-1] if ended else tokens),
            logprobs=logprobs if request.logprobs else None,
            stop=answer.finish_reason,
            prompt_tokens=len(output.prompt_token_ids),
            completion_tokens=len(tokens),
            alternatives=self._alternatives(places[0], request.alternatives) if places else None,
        )

    def _alternatives(self, place: Mapping[int, Any], most: int) -> tuple[tuple[str, float], ...] | None:
        """Return the likeliest first tokens; under a constraint, those that it allows."""
        pairs = sorted(((token, float(value.logprob)) for token, value in place.items()), key=lambda pair: -pair[1])
        return tuple((self._decode([token]), value) for token, value in pairs[:most] if is_logprob(value)) or None

    def _decode(self, tokens: list[int]) -> str:
        text = self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return str(text)

    def _problem(self, exc: Exception) -> ModelError:
        """Return an error of vLLM as ours: a request turned away, a call that failed, or an engine that has ended."""
        engine = _import("vllm.v1.engine.exceptions")
        refusals = (ValueError, getattr(_import("vllm.exceptions"), "VLLMClientError", ValueError))
        if isinstance(exc, engine.EngineDeadError):
            return ModelError(f"{self.name}: vLLM's engine has ended; the cause is in what vLLM wrote above")
        if isinstance(exc, engine.EngineGenerateError):
            return Transient(f"{self.name}: vLLM failed: {first_line(exc.__cause__ or exc)}")
        if isinstance(exc, refusals):
            return Rejected(f"{self.name}: vLLM does not take the request: {first_line(exc)}")
        return ModelError(f"{self.name}: {type(exc).__name__}: {first_line(exc)}")


def _import(name: str) -> Any:
    for variable, value in _ENVIRONMENT.items():
        os.environ.setdefault(variable, value)
    return importlib.import_module(name)


def _version() -> str:
    try:
        return importlib.metadata.version("vllm")
    except importlib.metadata.PackageNotFoundError:  # builds for other devices have other names
        return str(_import("vllm").__version__)


def _rank(adapter: Path) -> int:
    """Return room for the adapter's rank, which may be another one for some of the maps."""
    config = load_json((adapter / "adapter_config.json").read_bytes())
    rank = max([config.get("r", 8), *(config.get("rank_pattern") or {}).values()])
    fitting = [room for room in _RANKS if room >= rank]
    if not fitting:
        raise ConfigError(
            f"{adapter}: a LoRA of rank {rank}, and vLLM takes none above {_RANKS[-1]}; merge it into the model",
            setting="adapter",
        )
    return fitting[0]
