"""Names, order and settings of the weights of each model architecture in GGUF files and in transformers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

_ENDS = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
_LAYER = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
}
_SETTINGS = {
    "max_position_embeddings": "context_length",
    "num_hidden_layers": "block_count",
    "intermediate_size": "feed_forward_length",
    "hidden_size": "embedding_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
}
_GEMMA_PERIOD = 6
"""Every sixth of Gemma 3's layers sees the whole context; llama.cpp knows this, the file does not say it."""
NORMED = {"attn_norm": ("attn_q", "attn_k", "attn_v"), "ffn_norm": ("ffn_gate", "ffn_up")}
"""The matrices that read the output of a norm."""


@dataclass(frozen=True)
class WeightLayout:
    """A model architecture, with the names of a layer's modules in transformers and in GGUF files."""

    architecture: str
    model_type: str
    layer: Mapping[str, str]
    rotated: bool = False
    """Whether rows of q and k are reordered: llama.cpp rotates neighbouring pairs, transformers the two halves."""
    norm_offset: float = 0.0
    """Difference of the file's norm weights to those of transformers."""

    def to_gguf_name(self, name: str) -> str | None:
        """Return the name in GGUF files of a weight of transformers."""
        module, _, part = name.rpartition(".")
        if module in _ENDS:
            return f"{_ENDS[module]}.{part}"
        head, _, rest = module.removeprefix("model.layers.").partition(".")
        is_layer = module.startswith("model.layers.") and head.isdecimal() and rest in self.layer
        return f"blk.{head}.{self.layer[rest]}.{part}" if is_layer else None

    def to_hf_name(self, name: str) -> str | None:
        """Return the name in transformers of a GGUF file's weight."""
        module, _, part = name.rpartition(".")
        for hf_module, gguf_module in _ENDS.items():
            if module == gguf_module:
                return f"{hf_module}.{part}"
        _, number, rest = [*module.split(".", 2), "", ""][:3]
        hf_part = next((key for key, value in self.layer.items() if value == rest), "")
        return f"model.layers.{number}.{hf_part}.{part}" if hf_part else None

    def to_gguf(self, name: str, weight: Floats, heads: Heads) -> Floats:
        """Return a weight of transformers as GGUF files have it."""
        if count := self._rotated_heads(name, heads):
            return _reorder(weight, count, 2)
        return weight + np.float32(self.norm_offset) if "norm" in name else weight

    def to_hf(self, name: str, weight: Floats, heads: Heads) -> Floats:
        """Return a GGUF file's weight as transformers has it."""
        if count := self._rotated_heads(name, heads):
            return _reorder(weight, count, len(weight) // count // 2)
        return weight - np.float32(self.norm_offset) if "norm" in name else weight

    def _rotated_heads(self, name: str, heads: Heads) -> int:
        module = name.rpartition(".")[0].rpartition(".")[2]
        return {"attn_q": heads.query, "attn_k": heads.key}.get(module, 0) if self.rotated else 0


@dataclass(frozen=True)
class Heads:
    """Numbers of attention heads."""

    query: int
    key: int


def _reorder(weight: Floats, heads: int, parts: int) -> Floats:
    """Return the rows of each head regrouped from `parts` runs to runs of `parts`."""
    split = weight.reshape(heads, parts, len(weight) // heads // parts, *weight.shape[1:])
    return np.ascontiguousarray(split.swapaxes(1, 2).reshape(weight.shape))


_GEMMA_LAYER = {
    **_LAYER,
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
}
LAYOUTS = {
    "llama": WeightLayout("llama", "llama", {**_LAYER, "post_attention_layernorm": "ffn_norm"}, rotated=True),
    "qwen2": WeightLayout("qwen2", "qwen2", {**_LAYER, "post_attention_layernorm": "ffn_norm"}),
    "gemma3": WeightLayout("gemma3", "gemma3_text", _GEMMA_LAYER, norm_offset=1.0),
}


class Metadata(Protocol):
    """The metadata of a GGUF file."""

    meta: Mapping[str, Any]

    def need(self, key: str) -> Any:
        """Return a required value."""


def settings(layout: WeightLayout, file: Metadata) -> dict[str, Any]:
    """Return transformers' configuration of the model."""
    kind, meta = layout.architecture, file.meta
    values = {name: file.need(f"{kind}.{key}") for name, key in _SETTINGS.items()}
    width = values["hidden_size"] // values["num_attention_heads"]
    values["head_dim"] = meta.get(f"{kind}.attention.key_length", meta.get(f"{kind}.rope.dimension_count", width))
    rope = {"rope_type": "default", "rope_theta": meta.get(f"{kind}.rope.freq_base", 10_000.0)}
    if kind != "gemma3":
        return values | {"rope_parameters": rope}
    local = {"rope_type": "default", "rope_theta": meta.get("gemma3.rope.freq_base_swa", 10_000.0)}
    return values | {
        "rope_parameters": {"full_attention": rope, "sliding_attention": local},
        "query_pre_attn_scalar": values["head_dim"],
        "sliding_window": file.need("gemma3.attention.sliding_window"),
        "sliding_window_pattern": _GEMMA_PERIOD,
    }
