"""Every setting of a training run, in one file: `mores train --recipe mine.toml`.

The defaults are the paper's (ExCAM, Appendix B); fields that differ from the tools it used say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from mores.errors import ConfigError, InputError
from mores.io.values import load_toml
from mores.models.base import Style
from mores.renamed import find_old_name
from mores.types import Record

__getattr__ = find_old_name(__name__, {"Recipe": "TuningRecipe"})


class TuningRecipe(Record):
    """The settings of a training run."""

    method: Literal["lora", "full"] = "lora"
    """Low-rank adapters, or all weights."""
    rank: int = Field(128, ge=1)
    alpha: float = Field(32.0, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    learning_rate: float = Field(1e-4, gt=0)
    warmup_steps: int = Field(100, ge=0)
    """Steps in which the learning rate rises; then it falls along a cosine to 0."""
    epochs: float = Field(1.0, gt=0)
    batch: int = Field(8, ge=1)
    """Examples per step, over all GPUs: the paper has 4 on each of two."""
    row_tokens: int = Field(16_384, ge=256)
    """Tokens of a row into which examples are packed; a larger step has several rows."""
    longest: int = Field(2048, ge=64)
    """Maximum tokens of an example; longer ones are left out, and counted."""
    weight_decay: float = Field(0.1, ge=0)
    beta1: float = Field(0.9, ge=0, lt=1)
    beta2: float = Field(0.95, ge=0, lt=1)
    clip: float = Field(1.0, gt=0)
    """Maximum norm of the gradient."""
    precision: Literal["bf16", "fp32"] = "bf16"
    """bf16 on a GPU; a CPU always computes in fp32."""
    style: Style = "guided"
    """The metric's prompt."""
    summary: bool = True
    """Whether reports end with a summary."""
    decision_weight: float = Field(1.0, gt=0)
    """Weight in the loss of the token that says whether there is an error."""
    compile: bool = True
    """Compile the layers on a GPU."""
    shares: tuple[str, ...] = ()
    """`SOURCE=SHARE`: of these sources only such a share of the samples is used, for example `written_en=0.3`."""
    seed: int = 0

    @field_validator("shares")
    @classmethod
    def _are_shares(cls, shares: tuple[str, ...]) -> tuple[str, ...]:
        for share in shares:
            source, _, value = share.partition("=")
            if not source or not 0 <= float(value) <= 1:
                raise ValueError(f"{share}: expected SOURCE=SHARE with a share from 0 to 1")
        return shares


def read_recipe(path: Path | str | None = None, settings: Iterable[str] = ()) -> TuningRecipe:
    """Return the recipe in a TOML file, with changes such as `rank=64`; the defaults are the paper's."""
    recipe, known = TuningRecipe(), ", ".join(TuningRecipe.model_fields)
    if path:
        try:
            recipe = TuningRecipe.model_validate(load_toml(Path(path).read_bytes()))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise InputError(f"{path}: {where}: {first['msg']}; the settings are {known}") from error
        except ValueError as error:
            raise InputError(f"{path}: {error}; expected lines such as learning_rate = 1e-4") from error
    changes: dict[str, Any] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or name not in TuningRecipe.model_fields:
            raise ConfigError(f"{setting}: expected NAME=VALUE with NAME one of {known}", setting="set")
        changes[name] = value
    try:
        return TuningRecipe.model_validate(recipe.model_dump() | changes)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ConfigError(f"{first['loc'][0]}={first['input']}: {first['msg']}", setting="set") from error


def write_recipe(recipe: TuningRecipe) -> str:
    """Return the recipe as TOML, with every setting."""
    rows = recipe.model_dump(mode="json").items()
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in rows)
