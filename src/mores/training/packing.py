"""Examples one after the other in long rows, so that nearly no token is padding.

A row is one sequence to the GPU: positions start again at each example, and `starts` keeps attention inside of each.
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
    """What all rows of a run have in common, so that a network is compiled once."""

    size: int
    """Tokens."""
    examples: int
    """The most examples of a row."""
    longest: int
    """No example is longer."""

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
    """Of each target in the loss; 0 for prompts, the first token of an example, and padding."""
    others: Tokens
    """The token that follows by a second label, where there is doubt about the first."""
    doubts: Floats
    """Of each of those in the loss."""
    starts: Tokens
    """Where each example starts, then the padding, then the end, which may come several times."""
    examples: int
    """How many there are."""


def pack(examples: Iterable[TokenizedExample], shape: Shape, decision_weight: float = 1.0) -> Iterator[PackedRow]:
    """Rows of whole examples, in order; a row is closed when the next example does not fit."""
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
    # Padding makes separate examples, none too long: a token that no attention computes may hold anything.
    starts = np.full(shape.starts, size, np.int32)
    every = [0, *ends, *range(int(ends[-1]) + shape.longest, size, shape.longest)]
    starts[: len(every)] = every
    return PackedRow(tokens, positions, targets, weights, others, doubts, starts, len(examples))


def shape_of(lengths: Sequence[int], batch: int, most: int) -> Shape:
    """A shape that fits all of these examples, for batches of `batch`, with at most `most` tokens if possible."""
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
