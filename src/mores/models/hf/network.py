"""The model in memory: prompts to tokens, generation in batches, tokens to answers; all in the model's own thread."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mores.errors import ConfigError, ModelError, MoresError, Rejected
from mores.models.base import Completion, Request, is_logprob
from mores.models.hf.choose import Chooser, DraftAnswer, TokenizedRequest
from mores.models.hf.prompt import encode


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

    def answer(self, requests: Sequence[Request], abandoned: Callable[[], bool]) -> list[Completion | MoresError]:
        """Return one outcome per request, in order."""
        made = dict(enumerate(self.rows(requests)))
        rows = {index: row for index, row in made.items() if isinstance(row, TokenizedRequest)}
        outcomes: dict[int, Completion | MoresError] = {
            i: row for i, row in made.items() if not isinstance(row, TokenizedRequest)
        }
        for group in self._groups(rows):
            outcomes.update(zip(group, self._attempt([rows[i] for i in group], abandoned), strict=True))
        return [outcomes[index] for index in range(len(requests))]

    def rows(self, requests: Sequence[Request]) -> list[TokenizedRequest | MoresError]:
        """Return the requests in tokens, or why they cannot be answered."""
        begun = [self.begin(request) for request in requests]
        return [self.row(request, matcher) for request, matcher in zip(requests, begun, strict=True)]

    def begin(self, request: Request) -> Future[Any] | None:
        """Have a thread make what constrains the answer."""
        if not request.constrained:
            return None
        with suppress(ConfigError):  # which the request will hear
            _ = self._vocabulary  # once, for all threads
        return self._threads.submit(self._matcher, request)

    def row(self, request: Request, matcher: Future[Any] | None) -> TokenizedRequest | MoresError:
        """Return the request in tokens with what `begin` began, or why it cannot be answered."""
        try:
            ids = self._encode(request)
            limit = min(request.max_tokens, self.context - len(ids))
            return TokenizedRequest(request, ids, limit, matcher.result() if matcher else None)
        except MoresError as exc:
            return exc

    def _encode(self, request: Request) -> list[int]:
        ids = encode(self.name, self.tokenizer, request.messages)
        if len(ids) >= self.context:
            raise Rejected(
                f"{self.name}: the prompt has {len(ids)} tokens and the model's context is {self.context};"
                " shorten the text or take a model with a longer context"
            )
        if max(ids) >= self.model.get_input_embeddings().weight.shape[0]:
            raise Rejected(
                f"{self.name}: the tokenizer has tokens that the model lacks; the two do not belong together"
            )
        return ids

    def _groups(self, rows: Mapping[int, TokenizedRequest]) -> list[list[int]]:
        """Yield batches whose padded length stays inside the context, beyond which positions are undefined."""
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

    def _attempt(self, rows: list[TokenizedRequest], abandoned: Callable[[], bool]) -> list[Completion | ModelError]:
        """Generate; what is too much for the GPU's memory is tried again in halves."""
        import torch

        try:
            return self._generate(rows, abandoned)
        except torch.cuda.OutOfMemoryError:
            pass  # left at once: the exception holds on to the memory that is needed
        torch.cuda.empty_cache()
        if len(rows) == 1:
            return [self.too_long(rows[0])]
        half = len(rows) // 2
        return self._attempt(rows[:half], abandoned) + self._attempt(rows[half:], abandoned)

    def too_long(self, row: TokenizedRequest) -> Rejected:
        """Return what a request hears that does not even fit into the GPU's memory alone."""
        return Rejected(
            f"{self.name}: the GPU's memory is too small for a prompt of {len(row.ids)} tokens and up to"
            f" {row.limit} more; shorten the text, lower the token limit or take a smaller model"
        )

    def _generate(self, rows: list[TokenizedRequest], abandoned: Callable[[], bool]) -> list[Completion | ModelError]:
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        from mores.models.hf.attention import kernels

        device = self.model.device
        width = max(len(row.ids) for row in rows)
        padded = [[self.pad] * (width - len(row.ids)) + row.ids for row in rows]
        mask = [[0] * (width - len(row.ids)) + [1] * len(row.ids) for row in rows]
        answers = [DraftAnswer(row) for row in rows]

        def finished(ids: Any, _: Any, **__: Any) -> Any:
            return torch.tensor([answer.finished for answer in answers], device=ids.device) | abandoned()

        with torch.inference_mode(), kernels():
            self.model.generate(
                input_ids=torch.tensor(padded, device=device),
                attention_mask=torch.tensor(mask, device=device),
                max_new_tokens=max(row.limit for row in rows),
                do_sample=False,
                logits_processor=LogitsProcessorList([Chooser(answers, self)]),
                stopping_criteria=StoppingCriteriaList([finished]),
            )
        return [self.read(answer) for answer in answers]

    def read(self, answer: DraftAnswer) -> Completion | ModelError:
        """Return what the tokens of an answer say."""
        if answer.problem:
            return Rejected(f"{self.name}: {answer.problem}")
        if not all(map(is_logprob, answer.logprobs)):
            return Rejected(f"{self.name}: the model computed numbers that are not probabilities; check its weights")
        ended = bool(answer.tokens) and answer.tokens[-1] in self.ends
        text = answer.tokens[:-1] if ended else answer.tokens
        first = tuple((self.tokenizer.decode([token]), logprob) for token, logprob in answer.first)
        return Completion(
            text=self.tokenizer.decode(text, skip_special_tokens=True, clean_up_tokenization_spaces=False),
            logprobs=tuple(answer.logprobs) if answer.row.request.logprobs else None,
            stop="stop" if ended else "length",
            prompt_tokens=len(answer.row.ids),
            completion_tokens=len(answer.tokens),
            alternatives=first or None,
        )

    def _matcher(self, request: Request) -> Any:
        """Return what follows an answer token by token and knows which may come next; to be copied for each answer."""
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

    def masks(self, matchers: Sequence[tuple[Any, int]], rows: int) -> Future[Any]:
        """Return the tokens that may come next, a bit for each, in that many rows; all in a row without a matcher."""
        return self._masking.submit(self._make_masks, matchers, rows)

    def _make_masks(self, matchers: Sequence[tuple[Any, int]], rows: int) -> Any:
        import torch

        masks = torch.full((rows, (self._vocabulary.vocab_size + 31) // 32), -1, dtype=torch.int32)
        self._executor.unsafe_compute_mask_ptr(matchers, masks.data_ptr(), masks.shape[1] * masks.itemsize, rows)
        return masks

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(8, thread_name_prefix="mores-hf-constraint")

    @cached_property
    def _masking(self) -> ThreadPoolExecutor:
        """One of its own: whoever waits for masks does not wait for the constraints of others."""
        return ThreadPoolExecutor(1, thread_name_prefix="mores-hf-masks")

    @cached_property
    def _executor(self) -> Any:
        """Threads for the masks of many rows."""
        return importlib.import_module("llguidance").LLExecutor()

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
