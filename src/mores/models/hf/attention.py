"""Cheap steps of a continuous batch: a cache with columns to spare, and attention without copies of it.

A plain `DynamicCache` copies all keys and values at each step, and transformers' attention copies them again for each
head that shares them. Only this module knows the insides of transformers' cache and attention.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import AttentionInterface
from transformers.cache_utils import DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward

_SPARE = 64
"""Columns that are added to the cache at once."""
_NAME = "mores_grouped"
_KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Without cuDNN's, which torch prefers on newer GPUs and which makes a plan for each new shape: at nearly each step."""


class Columns(DynamicLayer):  # type: ignore[misc]
    """The keys and values of a layer; a step writes one more column in place."""

    def __init__(self, keys: Any, values: Any) -> None:
        super().__init__()
        self.dtype, self.device, self.is_initialized = keys.dtype, keys.device, True
        self.hold(keys, values)

    def hold(self, keys: Any, values: Any) -> None:
        """Replace all, and leave room after the last column."""
        self.keys, self._all_keys = _with_room(keys)
        self.values, self._all_values = _with_room(values)

    def put(self, rows: Any, keys: Any, values: Any) -> None:
        """Replace some rows, ending in the last column: nothing of them stays, not even where it is masked."""
        rows, width = rows.to(self.keys.device), max(keys.shape[2], self.keys.shape[2])
        if width > self.keys.shape[2]:
            self.hold(to_width(self.keys, width), to_width(self.values, width))
        self.keys[rows], self.values[rows] = to_width(keys, width), to_width(values, width)

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Write what is new after the rest; called by the model."""
        begin, end = self.keys.shape[2], self.keys.shape[2] + key_states.shape[2]
        if end > self._all_keys.shape[2]:
            self.hold(self.keys, self.values)
        self._all_keys[:, :, begin:end] = key_states
        self._all_values[:, :, begin:end] = value_states
        self.keys, self.values = self._all_keys[:, :, :end], self._all_values[:, :, :end]
        return self.keys, self.values


def to_width(states: Any, width: int) -> Any:
    """Return it with that many columns, ending in the same one."""
    return torch.nn.functional.pad(states, (0, 0, width - states.shape[2], 0))


def _with_room(states: Any) -> tuple[Any, Any]:
    """Return the states, and what they are the beginning of."""
    rows, heads, width, size = states.shape
    room = states.new_empty((rows, heads, width + _SPARE, size))
    room[:, :, :width] = states
    return room[:, :, :width], room


@contextmanager
def kernels() -> Iterator[None]:
    """Use attention kernels that take any shape at once."""
    with sdpa_kernel(_KERNELS):
        yield


_SPECIAL = ("position_bias", "softcap")
"""What some models add to attention: transformers' own function knows it, or refuses it."""


@contextmanager
def grouped(model: Any) -> Iterator[bool]:
    """Have the model attend in groups of heads, where it can: then it takes the mask of `step_mask`."""
    able = model.config._attn_implementation == "sdpa" and bool(getattr(model, "_supports_attention_backend", False))
    if not able:
        yield False
        return
    AttentionInterface.register(_NAME, _attend)
    model.config._attn_implementation = _NAME
    try:
        yield True
    finally:
        model.config._attn_implementation = "sdpa"


def step_mask(lengths: Any, width: int, dtype: Any) -> Any:
    """Return what each row's next token sees of `width` columns, as numbers to add: its last `lengths` and itself."""
    # The kernels want rows that begin at multiples of 16.
    columns = torch.arange(math.ceil((width + 1) / 16) * 16, device=lengths.device)
    mask = torch.zeros((len(lengths), len(columns)), device=lengths.device, dtype=dtype)
    mask.masked_fill_(columns < width - lengths, -math.inf)
    return mask[:, None, None, : width + 1]


def _attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, **more: Any
) -> tuple[Any, None]:
    """Attend with one token per row: the heads that share keys are asked together, like tokens of one head."""
    if any(more.get(name) is not None for name in _SPECIAL):
        output, _ = sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **more)
        return output, None
    rows, heads, _one, size = query.shape
    together = query.reshape(rows, key.shape[1], heads // key.shape[1], size)
    output = torch.nn.functional.scaled_dot_product_attention(
        together, key, value, attn_mask=attention_mask.to(query.dtype), scale=scaling
    )
    return output.reshape(rows, 1, heads, value.shape[3]), None
