"""Examples one after the other in long rows, so that nearly no token is padding.

A row is one sequence to the GPU: positions start again at each example, and `starts` keeps attention inside of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.train.examples import Example, Tokens

Floats = npt.NDArray[np.float32]


STEP = 512
"""Rows are as long as a multiple of this, so that there are few lengths to compile for."""
_STARTS = 64
"""The same for the number of starts."""


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
    longest: int


def pack(examples: Iterable[Example], size: int, decision_weight: float = 1.0) -> Iterator[Row]:
    """Rows of whole examples, in order; a row is closed when the next example does not fit into `size` tokens."""
    own: list[Example] = []
    used = 0
    for example in examples:
        if own and used + len(example.tokens) > size:
            yield make_row(own, decision_weight)
            own, used = [], 0
        own.append(example)
        used += len(example.tokens)
    if own:
        yield make_row(own, decision_weight)


def make_row(examples: Sequence[Example], decision_weight: float = 1.0) -> Row:
    """One row of these examples."""
    lengths = [len(example.tokens) for example in examples]
    ends = np.cumsum(lengths)
    size = _up(int(ends[-1]), STEP)
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
    starts = np.full(_up(len(examples) + 2, _STARTS), size, np.int32)
    starts[: len(ends) + 1] = [0, *ends]
    return Row(tokens, positions, targets, weights, starts, len(examples), max(*lengths, STEP))


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def steps(count: int, batch: int, seed: int) -> Iterator[npt.NDArray[np.intp]]:
    """The places of the examples of each step of one epoch, shuffled; the last step may be smaller."""
    order = np.random.default_rng(seed).permutation(count)
    for start in range(0, count, batch):
        yield order[start : start + batch]
