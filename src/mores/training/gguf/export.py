"""Export of a tuned model as a GGUF file for llama.cpp: a LoRA (`mores score --adapter FILE.gguf`) or a whole model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mores.errors import ConfigError, InputError
from mores.extras import require
from mores.io.private import make_folder, make_part
from mores.models.gguf import STYLE
from mores.models.hf.files import adapter_folder, tuned_style
from mores.training.gguf.weights import NORMED, FileWeights, Floats, ModelWeights, check_same, open_weights

_NAME = re.compile(r"base_model\.model\.(.+)\.lora_([AB])\.weight")
_FIX = "an adapter goes with the model it was trained on; see base_model_name_or_path in adapter_config.json"


class LowRankChange(NamedTuple):
    """The change of a weight: up × down, with rows in the order of the GGUF file."""

    down: Floats
    up: Floats


class Adapter(NamedTuple):
    """The changes of all weights; llama.cpp multiplies them with `alpha` divided by their rank."""

    changes: Mapping[str, LowRankChange]
    alpha: float

    def full(self, name: str) -> Floats:
        """Return the whole change of a weight."""
        down, up = self.changes[name]
        return up @ down * (self.alpha / len(down))


def read_adapter(folder: Path, base: ModelWeights) -> Adapter:
    """Return the adapter in a folder, fitted to the weights that it was trained on."""
    path = adapter_folder(str(folder))
    assert path is not None
    config: dict[str, Any] = json.loads((path / "adapter_config.json").read_bytes())
    wrong = [key for key in ("use_dora", "modules_to_save", "fan_in_fan_out", "lora_bias") if config.get(key)]
    wrong += ["bias"] if config.get("bias", "none") != "none" else []
    if wrong:
        fix = "merge it into the model with PEFT and export that"
        raise ConfigError(f"{folder}: a LoRA with {wrong[0]}, which GGUF does not support; {fix}")
    changes: dict[str, LowRankChange] = {}
    for module, (down, up) in _pairs(folder).items():
        name = base.layout.to_gguf_name(f"{module}.weight")
        size = (len(up), down.shape[1])
        if name is None or base.shapes.get(name) != size:
            raise ConfigError(f"{folder}: {module} is {size[0]}×{size[1]}, which {base.path} does not have; {_FIX}")
        # PEFT's rule for settings of single modules: a pattern matches the end of the name, after a dot.
        patterns = (config.get("alpha_pattern") or {}).items()
        special = next((value for key, value in patterns if re.match(rf"(.*\.)?({key})$", module)), None)
        alpha = special or config["lora_alpha"]
        scaling = float(alpha / (math.sqrt(len(down)) if config.get("use_rslora") else len(down)))
        factor = scaling * len(down) / config["lora_alpha"]
        changes[name] = LowRankChange(down, base.layout.to_gguf(name, up, base.heads) * factor)
    return Adapter(changes, float(config["lora_alpha"]))


def _pairs(folder: Path) -> dict[str, tuple[Floats, Floats]]:
    """Return the two matrices of each module."""
    from safetensors.torch import load_file

    path = folder / "adapter_model.safetensors"
    if not path.exists():
        raise ConfigError(f"{folder}: no adapter_model.safetensors in it; save the adapter again with PEFT")
    sides: dict[str, dict[str, Floats]] = {}
    for name, value in load_file(str(path)).items():
        match = _NAME.fullmatch(name)
        if match is None:
            raise ConfigError(f"{folder}: the weight {name} is not a LoRA of a linear layer; {_FIX}")
        sides.setdefault(match[1], {})[match[2]] = value.float().numpy()
    if lacking := [module for module, both in sides.items() if len(both) < 2]:
        raise ConfigError(f"{folder}: {lacking[0]} has only one of lora_A and lora_B; save it again")
    return {module: (both["A"], both["B"]) for module, both in sides.items()}


_TYPES = {kind: kind.upper() for kind in ("f32", "f16", "q8_0", "q5_0", "q4_1", "q4_0")}
KINDS = (*_TYPES, "like-base")
"""Number types; `like-base`, for whole models, gives each weight its type in the base."""
_FILE_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q8_0": 7, "q5_0": 8}
"""llama.cpp's file types, by the type of most weights."""
_SMALLEST = 1e-3
"""Minimum norm weight, relative to the largest, to divide by."""


def export_adapter(adapter: Path, base: Path, out: Path, kind: str = "f16") -> None:
    """Write a PEFT LoRA folder as a LoRA for llama.cpp; the base is a GGUF file or a transformers folder."""
    _check_kind(kind, [*_TYPES])
    weights = open_weights(base)
    lora = read_adapter(adapter, weights)
    _write_lora(out, weights.layout.architecture, lora.changes, lora.alpha, kind, tuned_style(adapter))


def export_merged(model_folder: Path, adapter: Path | None, base_gguf: Path, out: Path, kind: str) -> None:
    """Write a transformers folder, with an adapter or without, as a GGUF file with the metadata of the base's file.

    The folder may also be the base's file. `like-base` gives q8_0 for the types that only llama.cpp can make (Q4_K and
    the like).
    """
    _check_kind(kind, KINDS)
    base, weights = FileWeights(base_gguf), open_weights(model_folder)
    check_same(weights, base)
    lora = read_adapter(adapter, weights) if adapter else None
    with _Writer(out, base.layout.architecture) as file:
        file.copy(base, {} if kind == "like-base" else {"general.file_type": _FILE_TYPES[kind]})
        file.add_style(tuned_style(adapter or (model_folder if model_folder.is_dir() else None)))
        for name, tensor in base.tensors.items():
            weight = weights.read(name)
            if lora and name in lora.changes:
                weight = weight + lora.full(name)
            file.add(name, weight, tensor.tensor_type.name if kind == "like-base" else _TYPES[kind])


def export_difference(model_folder: Path, base: Path, out: Path, rank: int, kind: str = "f16") -> float:
    """Write a fully tuned model as a LoRA of its base: the best one of that rank for each weight.

    Return the share of the squared difference that it keeps. The norms before a layer's matrices are merged into them.
    Embeddings, biases and other norms are left out, and their change counts as lost: llama.cpp has no LoRA for biases
    and norms, and fails at one for embeddings that are also the output. So tune with these frozen.
    """
    _check_kind(kind, [*_TYPES])
    if rank < 1:
        raise ConfigError(f"rank {rank}: a rank is at least 1")
    tuned, origin = open_weights(model_folder), open_weights(base)
    check_same(tuned, origin)
    total = kept = 0.0
    changes: dict[str, LowRankChange] = {}
    for name in origin.shapes:
        in_layer = name.startswith("blk.")
        if in_layer and name.split(".")[2] in NORMED:  # merged into the matrices that read it
            continue
        difference = _difference(name, tuned, origin)
        total += float(np.sum(difference**2))
        if (in_layer or name == "output.weight") and difference.ndim == 2 and difference.any():
            changes[name], part = _shorten(difference, rank)
            kept += part
    if not changes:
        raise InputError(f"{model_folder}: its weights equal those of {base}; give the tuned model first")
    _write_lora(out, origin.layout.architecture, changes, float(rank), kind, tuned_style(model_folder))
    return kept / total


def _difference(name: str, tuned: ModelWeights, origin: ModelWeights) -> Floats:
    """Return the change of a weight, including that of the norm before it."""
    weight = tuned.read(name)
    layer, _, part = name.removesuffix(".weight").rpartition(".")
    for norm, readers in NORMED.items():
        if part in readers:
            before, after = (model.read(f"{layer}.{norm}.weight") for model in (origin, tuned))
            safe = np.abs(before) > _SMALLEST * np.abs(before).max()
            weight = weight * np.where(safe, after / np.where(safe, before, 1), 1)
    return np.asarray(weight - origin.read(name), np.float32)


def _shorten(difference: Floats, rank: int) -> tuple[LowRankChange, float]:
    """Return the nearest change of that rank, by the eigenvectors of the smaller square, and its squared norm.

    Magnitudes are in the rows of `down`, each of which is then quantised separately.
    """
    wide = difference.astype(np.float64)
    tall = wide.shape[0] > wide.shape[1]
    _, vectors = np.linalg.eigh(wide.T @ wide if tall else wide @ wide.T)
    best = vectors[:, ::-1][:, :rank]
    if tall:
        best, _ = np.linalg.qr(wide @ best)
    down = best.T @ wide
    even = np.sqrt(np.abs(best).max() / np.abs(down).max())  # neither side so small that f16 loses digits
    even_up = best / even * (len(down) / rank)  # a small weight has fewer rows than the rank that llama.cpp divides by
    return LowRankChange((down * even).astype(np.float32), even_up.astype(np.float32)), float(np.sum(down**2))


def _check_kind(kind: str, known: Iterable[str]) -> None:
    if kind not in known:
        raise ConfigError(f"unknown number type {kind}; choose from {', '.join(known)}")


def _write_lora(
    out: Path, architecture: str, changes: Mapping[str, LowRankChange], alpha: float, kind: str, style: str | None
) -> None:
    with _Writer(out, architecture) as file:
        file.writer.add_type("adapter")
        file.writer.add_string("adapter.type", "lora")
        file.writer.add_float32("adapter.lora.alpha", alpha)
        file.writer.add_file_type(_FILE_TYPES[kind])
        file.add_style(style)
        for name, change in changes.items():
            file.add(f"{name}.lora_a", change.down, _TYPES[kind])
            file.add(f"{name}.lora_b", change.up, _TYPES[kind])


class _Writer:
    """A GGUF file that appears when it is complete."""

    def __init__(self, out: Path, architecture: str) -> None:
        require("train", "gguf")
        from gguf import GGUFWriter

        self._out, self._part = out, out.with_name(f".{out.name}.part")
        make_folder(out.parent)
        self.writer: Any = GGUFWriter(str(make_part(self._part)), architecture)

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.writer.write_header_to_file()
            self.writer.write_kv_data_to_file()
            self.writer.write_tensors_to_file()
        self.writer.close()
        if kind is None:
            self._part.replace(self._out)
        self._part.unlink(missing_ok=True)

    def copy(self, base: FileWeights, instead: Mapping[str, int]) -> None:
        """Copy all metadata of a file, some of it with other values."""
        for key, field in base.reader.fields.items():
            if not key.startswith("GGUF.") and key != "general.architecture":
                inner = field.types[1] if len(field.types) > 1 else None
                self.writer.add_key_value(key, instead.get(key, field.contents()), field.types[0], inner)
        for key in instead.keys() - base.reader.fields.keys():
            self.writer.add_uint32(key, instead[key])

    def add_style(self, style: str | None) -> None:
        """Add the prompt style that the model was tuned with, so that the metric uses it."""
        if style:
            self.writer.add_string(STYLE, style)

    def add(self, name: str, weight: Floats, kind: str) -> None:
        """Add a weight in that number type, or in the nearest possible one."""
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
        from gguf.quants import quantize

        if kind.endswith("_K") or kind.startswith("IQ"):
            kind = "Q8_0"
        block, _ = GGML_QUANT_SIZES[GGMLQuantizationType[kind]]
        if weight.ndim == 1:
            kind = "F32"  # norms stay in single precision
        elif weight.shape[1] % block:
            kind = "F16"  # its rows do not fill blocks
        number = GGMLQuantizationType[kind]
        self.writer.add_tensor(name, quantize(np.ascontiguousarray(weight), number), raw_dtype=number)
