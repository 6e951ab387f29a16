"""A PEFT LoRA folder as low-rank changes of a GGUF file's weights."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mores.errors import ConfigError
from mores.models.hf.files import adapter_folder
from mores.training.gguf.layout import Floats
from mores.training.gguf.weights import ModelWeights

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
    _refuse(folder, config)
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


def _refuse(folder: Path, config: Mapping[str, Any]) -> None:
    """Raise ConfigError for settings that llama.cpp's LoRA cannot express."""
    wrong = [key for key in ("use_dora", "modules_to_save", "fan_in_fan_out", "lora_bias") if config.get(key)]
    if config.get("bias", "none") != "none":
        wrong.append("bias")
    if wrong:
        fix = "merge it into the model with PEFT and export that"
        raise ConfigError(f"{folder}: a LoRA with {wrong[0]}, which GGUF does not support; {fix}")


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
