"""The weights of a model, named and stored as in GGUF files, from a GGUF file or a transformers folder.

A `WeightLayout` has the names, order and settings of the weights of a model architecture on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mores.errors import ConfigError, InputError
from mores.extras import require
from mores.models.gguf import is_gguf

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


def settings(file: FileWeights) -> dict[str, Any]:
    """Return transformers' configuration of the model."""
    kind, meta = file.layout.architecture, file.meta
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


class ModelWeights(Protocol):
    """A model's weights by their GGUF names."""

    path: Path
    layout: WeightLayout
    heads: Heads

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]: ...

    def read(self, name: str) -> Floats:
        """Return one weight in single precision."""


def open_weights(path: Path) -> ModelWeights:
    """Return the weights of a GGUF file or of a transformers folder."""
    return FolderWeights(path) if path.is_dir() else FileWeights(path)


class FileWeights:
    """A GGUF file; `meta` is its metadata."""

    def __init__(self, path: Path) -> None:
        self.path = path
        require("train", "gguf")
        from gguf import GGUFReader

        if not path.is_file():
            raise InputError(f"{path}: no such file; expected a GGUF model, which `mores pull` downloads")
        if not is_gguf(path):
            raise InputError(f"{path}: not a GGUF file; expected one made for llama.cpp")
        try:
            self.reader = GGUFReader(path)
        except (ValueError, IndexError, KeyError) as exc:
            raise InputError(f"{path}: a damaged GGUF file ({exc}); download it again") from exc
        self.meta: Mapping[str, Any] = {
            # Long lists, such as the tokens, are read when needed: they take seconds.
            key: field.contents()
            for key, field in self.reader.fields.items()
            if len(field.types) == 1
        }
        if self.meta.get("general.type") == "adapter":
            raise InputError(f"{path}: a LoRA, not a model; give the GGUF file of the model that it goes with")
        kind = self.meta.get("general.architecture")
        if kind not in LAYOUTS:
            raise InputError(f"{path}: unsupported architecture {kind!r}; supported are {', '.join(LAYOUTS)}")
        self.layout = LAYOUTS[kind]
        self.tensors = {tensor.name: tensor for tensor in self.reader.tensors}
        query = int(self.need(f"{kind}.attention.head_count"))
        self.heads = Heads(query, int(self.meta.get(f"{kind}.attention.head_count_kv", query)))

    def need(self, key: str) -> Any:
        """Return a required value of the metadata."""
        if key in self.meta:
            return self.meta[key]
        if key in self.reader.fields:
            return self.reader.fields[key].contents()
        raise InputError(f"{self.path}: its metadata lacks {key}; convert the model again with llama.cpp")

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {name: tuple(tensor.shape.tolist()[::-1]) for name, tensor in self.tensors.items()}

    def read(self, name: str) -> Floats:
        from gguf.quants import dequantize

        tensor = self.tensors[name]
        try:
            return np.array(dequantize(tensor.data, tensor.tensor_type), np.float32)
        except NotImplementedError as exc:
            reason = f"{name} has the type {tensor.tensor_type.name}, which cannot be read; use a Q8_0 file"
            raise InputError(f"{self.path}: {reason}") from exc


class FolderWeights:
    """A transformers folder with safetensors."""

    def __init__(self, path: Path) -> None:
        require("hf", "torch", "safetensors")
        self.path = path
        file = path / "config.json"
        try:
            self.config: dict[str, Any] = json.loads(file.read_bytes())
        except (OSError, ValueError) as exc:
            raise InputError(f"{file}: cannot be read ({exc}); expected a folder that transformers saved") from exc
        layouts = [layout for layout in LAYOUTS.values() if layout.model_type == self.config.get("model_type")]
        if not layouts:
            kind = self.config.get("model_type")
            raise InputError(f"{path}: unsupported model type {kind!r}; supported are {', '.join(LAYOUTS)}")
        self.layout = layouts[0]
        query = int(self.config["num_attention_heads"])
        self.heads = Heads(query, int(self.config.get("num_key_value_heads") or query))
        self._tied = bool(self.config.get("tie_word_embeddings"))

    @cached_property
    def _places(self) -> dict[str, tuple[Path, str]]:
        """The file of each weight and its name there."""
        from safetensors import safe_open

        places: dict[str, tuple[Path, str]] = {}
        for path in sorted(self.path.glob("*.safetensors")):
            with safe_open(path, "pt") as file:
                for name in file.keys():  # noqa: SIM118 - not a dict
                    gguf_name = self.layout.to_gguf_name(name)
                    if gguf_name is None:
                        kind = self.layout.architecture
                        raise InputError(f"{self.path}: a GGUF file of {kind} does not have the weight {name}")
                    places[gguf_name] = (path, name)
        if not places:
            raise InputError(f"{self.path}: no weights in it; expected model.safetensors")
        if self._tied:
            places.pop("output.weight", None)
        return places

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        from safetensors import safe_open

        sizes: dict[str, tuple[int, ...]] = {}
        for gguf_name, (path, name) in self._places.items():
            with safe_open(path, "pt") as file:
                sizes[gguf_name] = tuple(file.get_slice(name).get_shape())
        return sizes

    def read(self, name: str) -> Floats:
        from safetensors import safe_open

        path, theirs = self._places[name]
        with safe_open(path, "pt") as file:
            weight: Floats = file.get_tensor(theirs).float().numpy()
        return self.layout.to_gguf(name, weight, self.heads)


def check_same(weights: ModelWeights, base: ModelWeights) -> None:
    """Raise ConfigError if the weights do not have the shapes of the base."""
    fix = "give the model that it was tuned from"
    if weights.layout != base.layout:
        kinds = f"{weights.layout.architecture}, {base.path} of {base.layout.architecture}"
        raise ConfigError(f"{weights.path}: a model of {kinds}; {fix}")
    for name in sorted({*weights.shapes, *base.shapes}):
        shape, base_shape = weights.shapes.get(name), base.shapes.get(name)
        if shape != base_shape:
            sizes = f"{name} is {_size(shape)} here and {_size(base_shape)} in {base.path}"
            raise ConfigError(f"{weights.path}: {sizes}; {fix}")


def _size(shape: tuple[int, ...] | None) -> str:
    return "missing" if shape is None else "×".join(map(str, shape))
