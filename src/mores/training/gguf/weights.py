"""The weights of a model, named and stored as in GGUF files, from a GGUF file or a transformers folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mores.errors import ConfigError, InputError
from mores.extras import require
from mores.models.gguf import is_gguf
from mores.training.gguf.layout import LAYOUTS, Floats, Heads, WeightLayout


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
        self.reader = _open(path)
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


def _open(path: Path) -> Any:
    require("pip install 'mores[train]'", "gguf")
    from gguf import GGUFReader

    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a GGUF model, which `mores pull` downloads")
    if not is_gguf(path):
        raise InputError(f"{path}: not a GGUF file; expected one made for llama.cpp")
    try:
        return GGUFReader(path)
    except (ValueError, IndexError, KeyError) as exc:
        raise InputError(f"{path}: a damaged GGUF file ({exc}); download it again") from exc


class FolderWeights:
    """A transformers folder with safetensors."""

    def __init__(self, path: Path) -> None:
        require("pip install 'mores[hf]'", "torch", "safetensors")
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
