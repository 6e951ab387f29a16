"""Examples packed into long rows, so that almost no token is padding.

A row is one sequence to the GPU: positions restart at each example, and `starts` keeps attention within each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mores.training.examples import TokenizedExample, Tokens

Floats = npt.NDArray[np.float32]

STEP = 256
"""Lengths are multiples of this."""


@dataclass(frozen=True)
class Shape:
    """The common size of all rows of a run, so that the network is compiled once."""

    size: int
    """Tokens."""
    examples: int
    """Maximum examples of a row."""
    longest: int
    """Maximum tokens of an example."""

    @property
    def starts(self) -> int:
        """Room for the starts of examples, those of pieces of padding, and the end."""
        return self.examples + self.size // self.longest + 2


@dataclass(frozen=True)
class PackedRow:
    """Packed examples, with a little padding."""

    tokens: Tokens
    positions: Tokens
    targets: Tokens
    """The token that follows."""
    weights: Floats
    """Weights of the targets in the loss; 0 for prompts, the first token of an example, and padding."""
    others: Tokens
    """The next token by a second label, where the first is in doubt."""
    doubts: Floats
    """Weights of these in the loss."""
    starts: Tokens
    """Starts of examples, then of the padding, then the end, which may be repeated."""
    examples: int
    """Number of examples."""


def pack(examples: Iterable[TokenizedExample], shape: Shape, decision_weight: float = 1.0) -> Iterator[PackedRow]:
    """Yield rows of whole examples, in order; a row ends when the next example does not fit."""
    examples_of_row: list[TokenizedExample] = []
    used = 0
    for example in examples:
        if examples_of_row and (used + len(example.tokens) > shape.size or len(examples_of_row) == shape.examples):
            yield make_row(examples_of_row, shape, decision_weight)
            examples_of_row, used = [], 0
        examples_of_row.append(example)
        used += len(example.tokens)
    if examples_of_row:
        yield make_row(examples_of_row, shape, decision_weight)


def make_row(examples: Sequence[TokenizedExample], shape: Shape, decision_weight: float = 1.0) -> PackedRow:
    """Return one row of these examples; ValueError when they do not fit."""
    size = shape.size
    ends = np.cumsum([len(example.tokens) for example in examples])
    if ends[-1] > size or max(len(example.tokens) for example in examples) > shape.longest:
        raise ValueError(f"{ends[-1]} tokens do not fit into a row of {size}, or one is longer than {shape.longest}")
    tokens, positions = np.zeros(size, np.int32), np.zeros(size, np.int32)
    targets, weights = np.zeros(size, np.int32), np.zeros(size, np.float32)
    others, doubts = np.zeros_like(targets), np.zeros_like(weights)
    for example, end in zip(examples, ends.tolist(), strict=True):
        begin = end - len(example.tokens)
        tokens[begin:end] = example.tokens
        positions[begin:end] = np.arange(end - begin)
        targets[begin : end - 1] = example.tokens[1:]
        weights[begin + example.report - 1 : end - 1] = 1.0
        decision = begin + example.decision - 1
        weights[decision] = decision_weight * (1 - example.doubt)
        others[decision], doubts[decision] = example.other, decision_weight * example.doubt
    # Padding is split into examples that are not too long: tokens without attention may hold any value.
    starts = np.full(shape.starts, size, np.int32)
    every = [0, *ends, *range(int(ends[-1]) + shape.longest, size, shape.longest)]
    starts[: len(every)] = every
    return PackedRow(tokens, positions, targets, weights, others, doubts, starts, len(examples))


def shape_of(lengths: Sequence[int], batch: int, most: int) -> Shape:
    """Return a shape that fits these examples, for batches of `batch`, with at most `most` tokens if possible."""
    longest = _up(max(lengths), STEP)
    whole = batch * float(np.mean(lengths)) + 3 * math.sqrt(batch) * float(np.std(lengths))
    parts = max(1, math.ceil(whole / most))
    size = max(longest, _up(math.ceil(whole / parts) + (longest // 2 if parts > 1 else 0), STEP))
    return Shape(size, min(batch, size // min(lengths)), longest)


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def steps(count: int, batch: int, seed: int) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the places of the examples of each step of one epoch, shuffled; the last step may be smaller."""
    order = np.random.default_rng(seed).permutation(count)
    for start in range(0, count, batch):
        yield order[start : start + batch]
