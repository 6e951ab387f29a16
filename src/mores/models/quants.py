"""The types of numbers in GGUF files as floats: those that the embedded model and its adapters have."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mores.errors import ConfigError

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

F32, F16, Q4_0, Q4_1, Q5_0, Q8_0 = 0, 1, 2, 3, 6, 8
_BLOCKS = {F32: (1, 4), F16: (1, 2), Q4_0: (32, 18), Q4_1: (32, 20), Q5_0: (32, 22), Q8_0: (32, 34)}
"""How many numbers make a block, and its bytes."""


def stored_bytes(shape: Sequence[int], kind: int) -> int:
    """Return the bytes of a weight in a file."""
    if kind not in _BLOCKS:
        raise ConfigError(f"a weight of llama.cpp's type {kind}; those that can be read are {sorted(_BLOCKS)}")
    numbers, size = _BLOCKS[kind]
    return math.prod(shape) // numbers * size


def to_floats(stored: Bytes, shape: Sequence[int], kind: int) -> Floats:
    """Return a weight in single precision."""
    if kind in (F32, F16):
        return stored.view("<f4" if kind == F32 else "<f2").astype(np.float32).reshape(shape)
    blocks = stored.reshape(-1, _BLOCKS[kind][1])
    scale = _halves(blocks[:, :2])
    if kind == Q8_0:
        return (scale * blocks[:, 2:].view(np.int8)).reshape(shape)
    digits = np.concatenate([blocks[:, -16:] & 15, blocks[:, -16:] >> 4], axis=1).astype(np.float32)
    if kind == Q4_0:
        return (scale * (digits - 8)).reshape(shape)
    if kind == Q4_1:
        return (scale * digits + _halves(blocks[:, 2:4])).reshape(shape)
    fifth = np.unpackbits(blocks[:, 2:6], axis=1, bitorder="little").astype(np.float32)
    return (scale * (digits + 16 * fifth - 16)).reshape(shape)


def _halves(stored: Bytes) -> Floats:
    return np.ascontiguousarray(stored).view("<f2").astype(np.float32)
