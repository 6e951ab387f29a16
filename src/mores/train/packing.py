"""Examples one after the other in long rows, so that nearly no token is padding.

A row is one sequence to the GPU: positions start again at each example, and `starts` keeps attention inside of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.train.examples import Example, Tokens

Floats = npt.NDArray[np.float32]


STEP = 512
"""Rows are as long as a multiple of this."""
SHORTEST = 32
"""No example is shorter, so that a row has room for the starts of all."""


@dataclass(frozen=True)
class Row:
    """Packed examples, with a little padding."""

    tokens: Tokens
    positions: Tokens
    targets: Tokens
    """The token that follows."""
    weights: Floats
    """Of each target in the loss; 0 for prompts, the first token of an example, and padding."""
    starts: Tokens
    """Where each example starts, then the padding, then the end, which may come several times."""
    examples: int
    """How many there are."""


def pack(examples: Iterable[Example], size: int, decision_weight: float = 1.0) -> Iterator[Row]:
    """Rows of whole examples, in order; a row is closed when the next example does not fit into `size` tokens."""
    own: list[Example] = []
    used = 0
    for example in examples:
        if own and used + len(example.tokens) > size:
            yield make_row(own, size, decision_weight)
            own, used = [], 0
        own.append(example)
        used += len(example.tokens)
    if own:
        yield make_row(own, size, decision_weight)


def make_row(examples: Sequence[Example], size: int, decision_weight: float = 1.0) -> Row:
    """One row of these examples; ValueError when they are longer than it."""
    ends = np.cumsum([len(example.tokens) for example in examples])
    if ends[-1] > size:
        raise ValueError(f"{ends[-1]} tokens do not fit into a row of {size}")
    tokens, positions = np.zeros(size, np.int32), np.zeros(size, np.int32)
    targets, weights = np.zeros(size, np.int32), np.zeros(size, np.float32)
    for example, end in zip(examples, ends.tolist(), strict=True):
        begin = end - len(example.tokens)
        tokens[begin:end] = example.tokens
        positions[begin:end] = np.arange(end - begin)
        targets[begin : end - 1] = example.tokens[1:]
        weights[begin + example.report - 1 : end - 1] = 1.0
        weights[begin + example.decision - 1] = decision_weight
    # The padding is an example of its own to the attention, so that every token belongs to one.
    starts = np.full(max(size // SHORTEST, len(examples)) + 2, size, np.int32)
    starts[: len(ends) + 1] = [0, *ends]
    return Row(tokens, positions, targets, weights, starts, len(examples))


def row_size(lengths: Sequence[int], batch: int, most: int) -> int:
    """How long rows must be: as long as the tokens of a usual batch, in as few equal parts as `most` allows."""
    whole = batch * float(np.mean(lengths)) * 1.02
    parts = max(1, math.ceil(whole / most))
    return max(_up(math.ceil(whole / parts), STEP), _up(max(lengths), STEP))


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def steps(count: int, batch: int, seed: int) -> Iterator[npt.NDArray[np.intp]]:
    """The places of the examples of each step of one epoch, shuffled; the last step may be smaller."""
    order = np.random.default_rng(seed).permutation(count)
    for start in range(0, count, batch):
        yield order[start : start + batch]
