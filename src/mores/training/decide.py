"""The decisions of a model about samples, without writing reports: the probability of an error.

One of a report's first tokens says whether errors follow. Its probability comes from one pass over the prompt, so that
thousands of samples take seconds. A greedy judge decides the same way, as long as it keeps to the report's form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from mores.factory.gold import Gold
from mores.stats.classification import Bools, Floats
from mores.stats.intervals import mean_interval
from mores.training.examples import Examples, TokenizedExample, pack, shape_of
from mores.training.network import last_hidden, words
from mores.training.tune import on_device
from mores.types import Result

ROW_TOKENS = {True: 16_384, False: 1024}
"""Tokens of a row, on a GPU or not: without flash attention the time grows with the square of the length."""


@dataclass(frozen=True)
class Decisions:
    """The decisions of a model about samples."""

    golds: Sequence[Gold]
    odds: Floats
    """Log-odds of an error."""

    @property
    def correct(self) -> Bools:
        """Whether each decision is correct."""
        wrong = np.array([bool(gold.report.errors) for gold in self.golds], dtype=bool)
        correct: Bools = (self.odds > 0) == wrong
        return correct

    def part(self, places: Sequence[int]) -> Decisions:
        """Return the decisions about some samples."""
        return Decisions([self.golds[place] for place in places], self.odds[list(places)])

    def result(self) -> Result:
        """Return the scaled accuracy, 2·accuracy − 1, so that guessing is 0 (ExCAM, Section 4)."""
        correct, n = int(self.correct.sum()), len(self.golds)
        if not n:
            return Result(name="scaled accuracy", value=None)
        low, high = mean_interval(self.correct, groups=[gold.group or gold.sample.id for gold in self.golds])
        return Result(name="scaled accuracy", value=2 * correct / n - 1, low=2 * low - 1, high=2 * high - 1, n=n)


def decide(
    model: Any,
    making: Examples,
    golds: Iterable[Gold],
    row_tokens: int | None = None,
    follow: Callable[[Iterable[float], int], Iterable[float]] = lambda odds, _: odds,
) -> Decisions:
    """Return the model's decisions about samples, which pass through `follow`, without samples that are too long."""
    # Each example ends with the decision, which is its only target.
    pairs = [
        (gold, TokenizedExample(example.tokens[: example.decision + 1], example.decision, example.decision))
        for gold, example in making.pairs(golds)
    ]
    if not pairs:
        return Decisions([], np.empty(0))
    lengths = [len(example.tokens) for _, example in pairs]
    device = next(model.parameters()).device
    row_tokens = row_tokens or ROW_TOKENS[device.type == "cuda"]
    shape = shape_of(lengths, max(1, int(row_tokens / np.mean(lengths))), 2 * row_tokens)
    clean, wrong = making.choices

    def odds() -> Iterator[float]:
        for row in pack((example for _, example in pairs), shape):
            tensors = on_device(row, shape, device)
            with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"):
                hidden = last_hidden(model, tensors)[tensors["places"]]
                logits = functional.linear(hidden, words(model).weight.to(hidden.dtype)).float()
            yield from (logits[:, wrong] - logits[:, clean]).tolist()

    return Decisions([gold for gold, _ in pairs], np.array(list(follow(odds(), len(pairs))), dtype=np.float64))
