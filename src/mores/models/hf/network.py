"""The model in memory: prompts to tokens, generation in batches, tokens to answers; all in the model's own thread."""

from __future__ import annotations

import importlib
import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jinja2 import TemplateError

from mores.errors import ConfigError, ModelError, Rejected
from mores.models.base import Completion, Message, Request, is_logprob


@dataclass(slots=True)
class _Row:
    """A request, ready for the network."""

    request: Request
    ids: list[int]
    limit: int
    """Most tokens that the answer may have: what was asked, or what the context leaves."""
    matcher: Any = None


@dataclass
class Network:
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
        return _Row(request, ids, min(request.max_tokens, self.context - len(ids)), self._matcher(request))

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
        answers = map(self._read, rows, ids[:, width:].tolist(), logprobs, self._firsts(rows, chooser.first))
        return [chooser.problems.get(index, answer) for index, answer in enumerate(answers)]

    def _firsts(self, rows: list[_Row], first: Any) -> list[tuple[tuple[str, float], ...] | None]:
        """The likeliest first tokens of each row that wants them."""
        if first is None:
            return [None] * len(rows)
        pairs = zip(first.indices.tolist(), first.values.tolist(), strict=True)
        alternatives = [tuple(zip(map(self.tokenizer.decode, ids), values, strict=True)) for ids, values in pairs]
        return [tokens[: row.request.alternatives] or None for row, tokens in zip(rows, alternatives, strict=True)]

    def _read(
        self, row: _Row, tokens: list[int], logprobs: list[float], first: tuple[tuple[str, float], ...] | None
    ) -> Completion | ModelError:
        """The answer in the tokens of a row: up to its end token, or up to its limit."""
        tokens = tokens[: row.limit]
        end = next((index for index, token in enumerate(tokens) if token in self.ends), None)
        count = len(tokens) if end is None else end + 1
        if not all(map(is_logprob, logprobs[:count])):
            return Rejected(f"{self.name}: the model computed numbers that are no probabilities; check its weights")
        return Completion(
            text=self.tokenizer.decode(tokens[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False),
            logprobs=tuple(logprobs[:count]) if row.request.logprobs else None,
            stop="length" if end is None else "stop",
            prompt_tokens=len(row.ids),
            completion_tokens=count,
            alternatives=first,
        )

    def _matcher(self, request: Request) -> Any:
        """What follows an answer token by token and knows which may come next; to be copied for each answer."""
        if not request.constrained:
            return None
        guide: Any = importlib.import_module("llguidance")
        if request.grammar is not None:  # made for one text
            matcher = guide.LLMatcher(self._vocabulary, request.grammar)
        else:
            key = json.dumps(request.schema)
            # Without white space of its choice: a small model happily fills pages with it.
            grammar = guide.LLMatcher.grammar_from_json_schema(key, overrides={"whitespace_flexible": False})
            matcher = self._matchers.get(key) or guide.LLMatcher(self._vocabulary, grammar)
            self._matchers[key] = matcher
        if matcher.is_error():
            what = "JSON schema" if request.grammar is None else "grammar"
            raise Rejected(f"{self.name}: the {what} cannot be enforced: {matcher.get_error()}")
        return matcher

    @cached_property
    def _vocabulary(self) -> Any:
        guide: Any = importlib.import_module("llguidance.hf")
        size = max(len(self.tokenizer), self.model.config.get_text_config().vocab_size)
        try:
            return guide.from_tokenizer(self.tokenizer, n_vocab=size, eos_token=self.ends or None)
        except ValueError as exc:
            raise ConfigError(
                f"{self.name}: an answer cannot be constrained with its tokenizer ({exc});"
                " take a model with a fast tokenizer (tokenizer.json)"
            ) from exc


class _Chooser:
    """Chooses the next token of each row in the place of transformers, whose sampling has one seed for all.

    A logits processor: what it returns leaves only the chosen tokens possible. It notes their log-probabilities
    as it goes, which keeps one number per token instead of the whole vocabulary.
    """

    def __init__(self, rows: list[_Row], network: Network, device: Any) -> None:
        import torch

        def column(values: Iterable[float]) -> Any:
            return torch.tensor(list(values), device=device, dtype=torch.float64)[:, None]

        temperatures = [network.temperature if r.request.temperature is None else r.request.temperature for r in rows]
        self.logprobs: list[Any] = []
        self.first: Any = None
        """Log-probabilities and ids of the likeliest first tokens, where a row wants them."""
        self._most = max(row.request.alternatives for row in rows)
        self.problems: dict[int, Rejected] = {}
        self._name = network.name
        self._ends = network.ends
        self._sampling = any(temperatures)
        self._greedy = column(temperatures) == 0
        self._temperature = column(temperature or 1.0 for temperature in temperatures)
        self._top_p = column(row.request.top_p for row in rows)
        self._dice = [_dice(row.request.seed) for row in rows]
        self._matchers = {i: row.matcher.deep_copy() for i, row in enumerate(rows) if row.matcher is not None}

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ARG002 - transformers counts the parameters
        logprobs = scores.log_softmax(dim=-1)
        if self._most and self.first is None:
            self.first = logprobs.topk(min(self._most, logprobs.shape[-1]), dim=-1)
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

        likely, order = (scores.double() / self._temperature).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
        mass = likely.cumsum(dim=-1)
        last = ((mass - likely < self._top_p) & (likely > 0)).sum(dim=-1, keepdim=True) - 1
        thrown = torch.cat([torch.rand(1, generator=dice, dtype=torch.float64) for dice in self._dice])
        point = thrown.to(scores.device)[:, None] * mass.gather(1, last)
        return order.gather(1, torch.searchsorted(mass, point, right=True).minimum(last))

    def _constrain(self, scores: Any) -> Any:
        """Rule out what would leave the schema or grammar."""
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
                self.problems[index] = Rejected(f"{self._name}: the constraint was lost: {matcher.get_error()}")
                del self._matchers[index]


def _dice(seed: int | None) -> Any:
    import torch

    dice = torch.Generator()
    if seed is None:
        dice.seed()
    else:
        dice.manual_seed(seed)
    return dice
