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
- **Batches**: requests that arrive together are generated together, 16 on a GPU, one on a CPU. A token's floats
  depend in their last digits on what shares its batch, so now and then a near tie falls the other way; the batch
  size is part of the identity, and one request at a time is exactly reproducible.
- **Schema**: llguidance masks the tokens that would leave it.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Self

from jinja2 import TemplateError

from mores.errors import ConfigError, ModelError, MoresError, Rejected
from mores.models.base import Completion, Message, Request

_BATCH_ON_GPU = 16
_LINGER = 0.01
"""Seconds that a batch waits for company."""
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_SETTINGS = (
    "config.json", "generation_config.json", "chat_template.jinja", "chat_template.json", "tokenizer.json",
    "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "vocab.txt", "merges.txt", "*.model",
)  # fmt: skip
_BLOCK = 1 << 16
_BLOCKS = 64


class _Job(NamedTuple):
    request: Request
    answer: asyncio.Future[Completion]


class HFModel:
    """A causal language model; `batch` overrides how many requests are generated together."""

    constrained = False
    warning: str | None = None

    def __init__(self, name: str, adapter: str | None = None, batch: int | None = None) -> None:
        self._folder = _local_folder(name)
        self.model = name
        self.adapter = _adapter_folder(adapter)
        self._batch = batch
        _require("pip install 'mores[hf]'", "torch", "transformers", *(["peft"] if adapter else []))
        self._network: _Network | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return f"hf:{self.model}"

    @cached_property
    def identity(self) -> str:
        if self._folder:
            parts = [f"{self._folder}@{_fingerprint(_model_files(self._folder))}"]
        else:
            parts = [f"{self.model}@{self._commit}"]
        if self.adapter:
            parts.append(f"lora@{_fingerprint(_adapter_files(self.adapter), whole=True)}")
        parts.append("bfloat16" if _has_gpu() else "float32")
        parts.append(f"transformers-{importlib.metadata.version('transformers')}")
        return "hf/" + "/".join([*parts, f"batch{self.concurrency}"])

    @cached_property
    def concurrency(self) -> int:
        return self._batch or (_BATCH_ON_GPU if _has_gpu() else 1)

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
        if _has_gpu():
            import torch

            torch.cuda.empty_cache()

    async def complete(self, request: Request) -> Completion:
        """One attempt, in a batch with whatever else is asked at the time."""
        assert self._network is not None, "the model is entered before it is asked"
        if request.schema is not None:
            _require("pip install llguidance", "llguidance")
        job = _Job(request, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        if len(self._waiting) >= self.concurrency:
            self._full.set()
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve(self._network))
        return await job.answer

    async def _serve(self, network: _Network) -> None:
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
        return _hub_commit(self.model)

    def _load(self) -> _Network:
        origin = {} if self._folder else {"revision": self._commit}
        with _quiet_if(self._folder is not None):
            return _load(str(self._folder or self.model), origin, self.adapter)


def _all_cancelled(answers: Iterable[asyncio.Future[Completion]]) -> bool:
    """Whether nobody waits any more, so that the work may stop; read from the model's thread."""
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
    problem = ModelError(f"{name}: {type(exc).__name__}: {_first_line(exc)}")
    problem.__cause__ = exc
    return problem


# -- generation: everything below here runs in the model's own thread -----------------------------------------


@dataclass(slots=True)
class _Row:
    """A request, ready for the network."""

    request: Request
    ids: list[int]
    limit: int
    """Most tokens that the answer may have: what was asked, or what the context leaves."""
    matcher: Any = None


@dataclass
class _Network:
    """A model and its tokenizer, in memory."""

    name: str
    model: Any
    tokenizer: Any
    context: int
    ends: list[int]
    """Tokens that end an answer."""
    temperature: float
    """For requests that leave it to the model."""
    _matchers: dict[str, Any] = field(default_factory=dict)

    @property
    def pad(self) -> int:
        pad = self.tokenizer.pad_token_id
        return int(pad) if pad is not None else (self.ends or [0])[0]

    def answer(self, requests: Sequence[Request], abandoned: Callable[[], bool]) -> list[Completion | ModelError]:
        """One outcome per request, in order."""
        outcomes: dict[int, Completion | ModelError] = {}
        rows: dict[int, _Row] = {}
        for index, request in enumerate(requests):
            try:
                rows[index] = self._row(request)
            except ModelError as exc:
                outcomes[index] = exc
        for group in self._groups(rows):
            outcomes.update(zip(group, self._attempt([rows[i] for i in group], abandoned), strict=True))
        return [outcomes[index] for index in range(len(requests))]

    def _row(self, request: Request) -> _Row:
        ids = self._encode(request.messages)
        if len(ids) >= self.context:
            raise Rejected(
                f"{self.name}: the prompt has {len(ids)} tokens and the model's context is {self.context};"
                " shorten the text or take a model with a longer context"
            )
        if max(ids) >= self.model.get_input_embeddings().weight.shape[0]:
            raise Rejected(
                f"{self.name}: the tokenizer has tokens that the model lacks; the two do not belong together"
            )
        matcher = None if request.schema is None else self._matcher(request.schema)
        return _Row(request, ids, min(request.max_tokens, self.context - len(ids)), matcher)

    def _encode(self, messages: tuple[Message, ...]) -> list[int]:
        if self.tokenizer.chat_template is None:
            text = "".join(f"{role}: {content}\n\n" for role, content in messages) + "assistant:"
            return list(self.tokenizer(text, split_special_tokens=True)["input_ids"])
        turns = [message._asdict() for message in messages]
        try:
            prompt = self.tokenizer.apply_chat_template(
                turns, add_generation_prompt=True, return_dict=True, **self._sanitizing(messages)
            )
        except (TemplateError, ValueError) as exc:
            raise Rejected(f"{self.name}: its chat template takes no such prompt: {exc}") from exc
        return list(prompt["input_ids"])

    def _sanitizing(self, messages: tuple[Message, ...]) -> dict[str, bool]:
        """How to have control tokens read as text; before transformers 5.20 a text that has any is turned away."""
        if "sanitize_control_tokens" in inspect.signature(self.tokenizer.apply_chat_template).parameters:
            return {"sanitize_control_tokens": True}
        template = str(self.tokenizer.chat_template)
        for token in self.tokenizer.added_tokens_decoder.values():
            control = token.special or (token.content.strip() and token.content in template)
            if control and any(token.content in message.content for message in messages):
                fix = "transformers before 5.20 cannot read it as text: pip install -U transformers"
                raise Rejected(f"{self.name}: the text contains the control token {token.content}; {fix}")
        return {}

    def _groups(self, rows: Mapping[int, _Row]) -> list[list[int]]:
        """Batches whose padded length stays inside the context, beyond which positions are undefined."""
        groups: list[list[int]] = []
        width = limit = 0
        for index, row in rows.items():
            width, limit = max(width, len(row.ids)), max(limit, row.limit)
            if groups and width + limit <= self.context:
                groups[-1].append(index)
            else:
                groups.append([index])
                width, limit = len(row.ids), row.limit
        return groups

    def _attempt(self, rows: list[_Row], abandoned: Callable[[], bool]) -> list[Completion | ModelError]:
        """Generate; what is too much for the GPU's memory is tried again in halves."""
        import torch

        try:
            return self._generate(rows, abandoned)
        except torch.cuda.OutOfMemoryError:
            pass  # left at once: the exception holds on to the memory that is needed
        torch.cuda.empty_cache()
        if len(rows) == 1:
            return [Rejected(
                f"{self.name}: the GPU's memory is too small for a prompt of {len(rows[0].ids)} tokens and up to"
                f" {rows[0].limit} more; shorten the text, lower the token limit or take a smaller model"
            )]  # fmt: skip
        half = len(rows) // 2
        return self._attempt(rows[:half], abandoned) + self._attempt(rows[half:], abandoned)

    def _generate(self, rows: list[_Row], abandoned: Callable[[], bool]) -> list[Completion | ModelError]:
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        device = self.model.device
        width = max(len(row.ids) for row in rows)
        padded = [[self.pad] * (width - len(row.ids)) + row.ids for row in rows]
        mask = [[0] * (width - len(row.ids)) + [1] * len(row.ids) for row in rows]
        limits = torch.tensor([row.limit for row in rows], device=device)
        chooser = _Chooser(rows, self, device)

        def finished(ids: Any, _: Any, **__: Any) -> Any:
            return (ids.shape[1] - width >= limits) | abandoned()

        with torch.inference_mode():
            ids = self.model.generate(
                input_ids=torch.tensor(padded, device=device),
                attention_mask=torch.tensor(mask, device=device),
                max_new_tokens=max(row.limit for row in rows),
                do_sample=False,
                logits_processor=LogitsProcessorList([chooser]),
                stopping_criteria=StoppingCriteriaList([finished]),
            )
        logprobs = torch.stack(chooser.logprobs, dim=1).tolist()
        answers = map(self._read, rows, ids[:, width:].tolist(), logprobs)
        return [chooser.problems.get(index, answer) for index, answer in enumerate(answers)]

    def _read(self, row: _Row, tokens: list[int], logprobs: list[float]) -> Completion | ModelError:
        """The answer in the tokens of a row: up to its end token, or up to its limit."""
        tokens = tokens[: row.limit]
        end = next((index for index, token in enumerate(tokens) if token in self.ends), None)
        count = len(tokens) if end is None else end + 1
        if not all(map(math.isfinite, logprobs[:count])):
            return Rejected(f"{self.name}: the model computed numbers that are no probabilities; check its weights")
        return Completion(
            text=self.tokenizer.decode(tokens[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False),
            logprobs=tuple(logprobs[:count]) if row.request.logprobs else None,
            stop="length" if end is None else "stop",
            prompt_tokens=len(row.ids),
            completion_tokens=count,
        )

    def _matcher(self, schema: Mapping[str, Any]) -> Any:
        """What follows an answer token by token and knows which may come next; to be copied for each answer."""
        key = json.dumps(schema)
        if key not in self._matchers:
            guide: Any = importlib.import_module("llguidance")
            # Without white space of its choice: a small model happily fills pages with it.
            grammar = guide.LLMatcher.grammar_from_json_schema(key, overrides={"whitespace_flexible": False})
            self._matchers[key] = guide.LLMatcher(self._vocabulary, grammar)
        matcher = self._matchers[key]
        if matcher.is_error():
            raise Rejected(f"{self.name}: the JSON schema cannot be enforced: {matcher.get_error()}")
        return matcher

    @cached_property
    def _vocabulary(self) -> Any:
        guide: Any = importlib.import_module("llguidance.hf")
        size = max(len(self.tokenizer), self.model.config.get_text_config().vocab_size)
        try:
            return guide.from_tokenizer(self.tokenizer, n_vocab=size, eos_token=self.ends or None)
        except ValueError as exc:
            raise ConfigError(
                f"{self.name}: a JSON schema cannot be enforced with its tokenizer ({exc});"
                " take a model with a fast tokenizer (tokenizer.json)"
            ) from exc


class _Chooser:
    """Chooses the next token of each row in the place of transformers, whose sampling has one seed for all.

    A logits processor: what it returns leaves only the chosen tokens possible. It notes their log-probabilities
    as it goes, which keeps one number per token instead of the whole vocabulary.
    """

    def __init__(self, rows: list[_Row], network: _Network, device: Any) -> None:
        import torch

        def column(values: Iterable[float]) -> Any:
            return torch.tensor(list(values), device=device, dtype=torch.float64)[:, None]

        heats = [network.temperature if r.request.temperature is None else r.request.temperature for r in rows]
        self.logprobs: list[Any] = []
        self.problems: dict[int, Rejected] = {}
        self._name = network.name
        self._ends = network.ends
        self._sampling = any(heats)
        self._greedy = column(heats) == 0
        self._heat = column(heat or 1.0 for heat in heats)
        self._top_p = column(row.request.top_p for row in rows)
        self._dice = [_dice(row.request.seed) for row in rows]
        self._matchers = {i: row.matcher.deep_copy() for i, row in enumerate(rows) if row.matcher is not None}

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ARG002 - transformers counts the parameters
        logprobs = scores.log_softmax(dim=-1)
        scores = self._constrain(scores)
        tokens = scores.argmax(dim=-1, keepdim=True)
        if self._sampling:
            tokens = tokens.where(self._greedy, self._draw(scores))
        self._follow(tokens)
        self.logprobs.append(logprobs.gather(1, tokens)[:, 0])
        return scores.new_full(scores.shape, -math.inf).scatter(1, tokens, 0.0)

    def _draw(self, scores: Any) -> Any:
        """One token per row from the smallest set of likely ones that holds top_p, by the inverse of its sum."""
        import torch

        likely, order = (scores.double() / self._heat).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
        mass = likely.cumsum(dim=-1)
        last = ((mass - likely < self._top_p) & (likely > 0)).sum(dim=-1, keepdim=True) - 1
        thrown = torch.cat([torch.rand(1, generator=dice, dtype=torch.float64) for dice in self._dice])
        point = thrown.to(scores.device)[:, None] * mass.gather(1, last)
        return order.gather(1, torch.searchsorted(mass, point, right=True).minimum(last))

    def _constrain(self, scores: Any) -> Any:
        """Rule out what would leave the schema."""
        import torch

        for index, matcher in self._matchers.items():
            bits = torch.frombuffer(bytearray(matcher.compute_bitmask()), dtype=torch.uint8)
            allowed = ((bits[:, None] >> torch.arange(8)) & 1).flatten()[: scores.shape[1]].bool()
            scores[index] = scores[index].where(allowed.to(scores.device), -math.inf)
        return scores

    def _follow(self, tokens: Any) -> None:
        for index, matcher in list(self._matchers.items()):
            token = int(tokens[index, 0])
            if token in self._ends:
                del self._matchers[index]
            elif not matcher.consume_token(token):
                self.problems[index] = Rejected(f"{self._name}: the JSON schema was lost: {matcher.get_error()}")
                del self._matchers[index]


def _dice(seed: int | None) -> Any:
    import torch

    dice = torch.Generator()
    if seed is None:
        dice.seed()
    else:
        dice.manual_seed(seed)
    return dice


# -- loading --------------------------------------------------------------------------------------------------


def _load(where: str, origin: Mapping[str, str], adapter: Path | None) -> _Network:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    placed = {"dtype": torch.bfloat16, "device_map": "auto"} if _has_gpu() else {"dtype": torch.float32}
    try:
        if adapter and (adapter / "tokenizer_config.json").exists():
            tokenizer = AutoTokenizer.from_pretrained(str(adapter), trust_remote_code=False)
        else:
            tokenizer = AutoTokenizer.from_pretrained(where, trust_remote_code=False, **origin)
        model, report = AutoModelForCausalLM.from_pretrained(
            where, trust_remote_code=False, output_loading_info=True, **placed, **origin
        )
    except Exception as exc:  # the library raises anything at all for a folder that it cannot read
        raise ConfigError(
            f"hf:{where}: transformers cannot load it: {_first_line(exc)};"
            " expected a causal language model (config.json, weights, tokenizer) of a kind that transformers knows"
        ) from exc
    if report["missing_keys"]:
        raise ConfigError(
            f"hf:{where}: its files lack {len(report['missing_keys'])} weights"
            f" (such as {min(report['missing_keys'])}), which would be random; is it a causal language model?"
        )
    if adapter:
        model = _with_adapter(model, adapter)
    return _network(f"hf:{where}", model.eval(), tokenizer)


def _network(name: str, model: Any, tokenizer: Any) -> _Network:
    """Set aside the model's own decoding settings, such as a repetition penalty: a request says it all."""
    from transformers import GenerationConfig

    given = model.generation_config
    ends = given.eos_token_id if isinstance(given.eos_token_id, list) else [given.eos_token_id]
    ends = sorted({int(token) for token in [*ends, tokenizer.eos_token_id] if token is not None})
    context = getattr(model.config.get_text_config(), "max_position_embeddings", None) or sys.maxsize
    heat = given.temperature if given.temperature is not None else 1.0
    network = _Network(name, model, tokenizer, int(context), ends, float(heat))
    model.generation_config = GenerationConfig(eos_token_id=ends or None, pad_token_id=network.pad)
    return network


def _with_adapter(model: Any, folder: Path) -> Any:
    from peft import PeftConfig, PeftModel

    fix = "an adapter goes with the model it was trained on; see base_model_name_or_path in adapter_config.json"
    try:
        config = PeftConfig.from_pretrained(str(folder))
        config.inference_mode = True
        wrapped = PeftModel(model, config)
        found = wrapped.load_adapter(str(folder), "default")
    except Exception as exc:  # here too
        raise ConfigError(f"--adapter {folder}: does not fit the model: {_first_line(exc)}; {fix}") from exc
    if wrong := [*found.missing_keys, *found.unexpected_keys]:
        raise ConfigError(
            f"--adapter {folder}: {len(wrong)} weights do not match the model's (such as {wrong[0]}); {fix}"
        )
    return wrapped.get_base_model()


@contextmanager
def _quiet_if(local: bool) -> Iterator[None]:
    """No progress bars of the library for a folder, which is read in a moment; a download keeps them."""
    from transformers.utils import logging

    if not local or not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()


# -- files and libraries --------------------------------------------------------------------------------------


def _local_folder(name: str) -> Path | None:
    """The folder of that name, or None for what can only be a name on the Hub."""
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        if (folder / "config.json").exists():
            return folder.resolve()
        if (folder / "adapter_config.json").exists():
            raise ConfigError(f"hf:{name}: a LoRA adapter; give its base model as hf:BASE with --adapter {name}")
        raise ConfigError(f"hf:{name}: no config.json in it; expected a folder that transformers saved")
    if not _HUB_NAME.fullmatch(name) or name.startswith("."):
        raise ConfigError(f"hf:{name}: no such folder; give a local folder or a Hub name such as hf:owner/model")
    return None


def _hub_commit(name: str) -> str:
    """The commit of the Hub's model, which pins every file of it; the cached one where there is no network."""
    _require("pip install 'mores[hf]'", "huggingface_hub")
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(name, "config.json")).parent.name
    except LocalEntryNotFoundError as exc:
        problem = "no such folder, and not in the Hub's cache here, and the Hub cannot be reached (no network, or"
        raise ConfigError(f"hf:{name}: {problem} HF_HUB_OFFLINE is set); give a local folder") from exc
    except EntryNotFoundError as exc:
        raise ConfigError(f"hf:{name}: no config.json on the Hub; it is not a transformers model") from exc
    except GatedRepoError as exc:
        fix = "ask for access on its page, then log in with `hf auth login`"
        raise ConfigError(f"hf:{name}: the Hub wants permission for it; {fix}") from exc
    except (OSError, ValueError) as exc:
        fix = "check the name, or give a local folder"
        raise ConfigError(f"hf:{name}: no such folder, and the Hub says: {_first_line(exc)}; {fix}") from exc


def _adapter_folder(adapter: str | None) -> Path | None:
    if adapter is None:
        return None
    folder = Path(adapter).expanduser()
    fix = "expected a PEFT LoRA folder with adapter_config.json and adapter_model.safetensors"
    try:
        config = json.loads((folder / "adapter_config.json").read_bytes())
        kind = config.get("peft_type")
    except (OSError, ValueError, AttributeError) as exc:
        raise ConfigError(f"--adapter {adapter}: no adapter_config.json that can be read; {fix}") from exc
    if kind != "LORA":
        raise ConfigError(f"--adapter {adapter}: an adapter of kind {kind}; {fix}")
    if not any(folder.glob("adapter_model.*")):
        raise ConfigError(f"--adapter {adapter}: no weights in it; {fix}")
    return folder.resolve()


def _model_files(folder: Path) -> list[Path]:
    settings = [path for pattern in _SETTINGS for path in folder.glob(pattern)]
    weights = [*folder.glob("*.safetensors")] or [*folder.glob("pytorch_model*.bin")]
    return sorted({*settings, *weights})


def _adapter_files(folder: Path) -> list[Path]:
    return sorted({*folder.glob("adapter_*"), *(path for pattern in _SETTINGS for path in folder.glob(pattern))})


def _fingerprint(files: Iterable[Path], whole: bool = False) -> str:
    """Hash of names, sizes and contents; of a big file a spread of blocks, since gigabytes take too long.

    Training moves nearly every weight, so a model trained again into the same folder gets another fingerprint.
    """
    digest = blake2b(digest_size=8)
    for path in files:
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        step = _BLOCK if whole or size <= _BLOCK * _BLOCKS else size // _BLOCKS
        with path.open("rb") as file:
            for start in range(0, size, step):
                file.seek(start)
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()


def _require(fix: str, *modules: str) -> None:
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise ConfigError(f"{' and '.join(missing)} must be installed for this: {fix}")


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def _first_line(exc: Exception) -> str:
    return (str(exc).strip() or type(exc).__name__).splitlines()[0]
