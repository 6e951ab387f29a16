"""Chooses the next token of each answer: greedily or by the dice of its own seed, within its schema or grammar."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from mores.models.base import Request


class Guide(Protocol):
    """The network, as far as it guides the choice."""

    temperature: float
    ends: list[int]

    def masks(self, matchers: Sequence[tuple[Any, int]], rows: int) -> Future[Any]:
        """Return the tokens that may come next."""


@dataclass(slots=True)
class TokenizedRequest:
    """A request, ready for the network."""

    request: Request
    ids: list[int]
    limit: int
    """Most tokens that the answer may have: what was asked, or what the context leaves."""
    matcher: Any = None
    """Follows an answer token by token and knows which may come next; copied for each answer."""


class DraftAnswer:
    """An answer while it is written."""

    def __init__(self, row: TokenizedRequest) -> None:
        self.row = row
        self.tokens: list[int] = []
        self.logprobs: list[float] = []
        self.first: list[tuple[int, float]] = []
        """The likeliest first tokens and their log-probabilities, where the request wants them."""
        self.problem = ""
        """The reason why it cannot go on."""
        self.finished = False
        self.matcher = None if row.matcher is None else row.matcher.deep_copy()
        self.dice = _dice(row.request.dice)

    def add(self, token: int, logprob: float, ends: Sequence[int]) -> None:
        """Write one more token, which may be the last."""
        self.tokens.append(token)
        self.logprobs.append(logprob)
        self.finished = token in ends or len(self.tokens) >= self.row.limit
        if self.matcher is not None and not self.finished and not self.matcher.consume_token(token):
            self.problem = f"the constraint was lost: {self.matcher.get_error()}"
            self.finished = True
        if self.finished:
            self.matcher = None


class Chooser:
    """Chooses for the rows of a batch in the place of transformers, whose sampling has one seed for all."""

    def __init__(self, answers: Sequence[DraftAnswer], network: Guide) -> None:
        self.answers = answers
        self._network = network
        requests = [answer.row.request for answer in answers]
        self._temperatures = [network.temperature if r.temperature is None else r.temperature for r in requests]
        self._sampling = any(self._temperatures)
        self._masks: Future[Any] | None = None

    def foresee(self) -> None:
        """Have a thread find the tokens that may come next, while the network computes."""
        matchers = [(answer.matcher, i) for i, answer in enumerate(self.answers) if answer.matcher is not None]
        self._masks = self._network.masks(matchers, len(self.answers)) if matchers else None

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ARG002 - transformers counts the parameters
        """Leave only the chosen tokens possible, as a logits processor."""
        self.foresee()
        return scores.new_full(scores.shape, -math.inf).scatter(1, self.choose(scores), 0.0)

    def choose(self, scores: Any) -> Any:
        """Return the next token of each row, after `foresee`; also written into the answers.

        `scores` is overwritten.
        """
        import torch

        logprobs = scores.log_softmax(dim=-1)
        self._note_first(logprobs)
        scores = self._constrain(scores)
        tokens = scores.argmax(dim=-1, keepdim=True)
        if self._sampling:
            greedy = self._column(self._temperatures, scores.device) == 0
            tokens = tokens.where(greedy, self._draw(scores))
        # In one transfer: each waits for the GPU.
        chosen = torch.cat([tokens.double(), logprobs.gather(1, tokens).double()], dim=1).tolist()
        for answer, (token, logprob) in zip(self.answers, chosen, strict=True):
            if not answer.finished:
                answer.add(int(token), logprob, self._network.ends)
        return tokens

    def _note_first(self, logprobs: Any) -> None:
        new = [i for i, answer in enumerate(self.answers) if answer.row.request.alternatives and not answer.tokens]
        if not new:
            return
        most = max(self.answers[i].row.request.alternatives for i in new)
        values, ids = logprobs[new].topk(min(most, logprobs.shape[-1]), dim=-1)
        for i, pairs in zip(new, map(zip, ids.tolist(), values.tolist()), strict=True):
            self.answers[i].first = list(pairs)[: self.answers[i].row.request.alternatives]

    def _draw(self, scores: Any) -> Any:
        """Return one token per row from the smallest set of likely ones that holds top_p, by the inverse of its sum.

        Of the top_k likeliest alone, top_p is a share of their sum.
        """
        import torch

        temperature = self._column([temperature or 1.0 for temperature in self._temperatures], scores.device)
        top_p = self._column([answer.row.request.top_p for answer in self.answers], scores.device)
        likely, order = (scores.double() / temperature).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
        mass = likely.cumsum(dim=-1)
        if any(answer.row.request.top_k for answer in self.answers):
            most = [min(answer.row.request.top_k or mass.shape[1], mass.shape[1]) for answer in self.answers]
            ends = torch.tensor(most, device=scores.device)[:, None] - 1
            likely = likely.masked_fill(torch.arange(mass.shape[1], device=scores.device) > ends, 0)
            top_p = top_p * mass.gather(1, ends)
        last = ((mass - likely < top_p) & (likely > 0)).sum(dim=-1, keepdim=True) - 1
        thrown = torch.cat([torch.rand(1, generator=answer.dice, dtype=torch.float64) for answer in self.answers])
        point = thrown.to(scores.device)[:, None] * mass.gather(1, last)
        return order.gather(1, torch.searchsorted(mass, point, right=True).minimum(last))

    def _constrain(self, scores: Any) -> Any:
        """Rule out what would leave the schemas and grammars: one bit for each token, for all rows in one transfer."""
        import torch

        if self._masks is None:
            return scores
        masks = self._masks.result().to(scores.device)
        bits = torch.arange(32, dtype=torch.int32, device=scores.device)
        allowed = ((masks[:, :, None] >> bits) & 1).bool().flatten(1)[:, : scores.shape[1]]
        return scores.masked_fill_(~allowed, -math.inf)

    @staticmethod
    def _column(values: Iterable[float], device: Any) -> Any:
        import torch

        return torch.tensor(list(values), device=device, dtype=torch.float64)[:, None]


def _dice(seed: int | None) -> Any:
    import torch

    dice = torch.Generator()
    if seed is None:
        dice.seed()
    else:
        dice.manual_seed(seed)
    return dice
