"""A recipe: which sources, how many items, how correct and wrong answers are chosen. It is a small YAML file."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from mores.errors import ConfigError, InputError
from mores.io.values import load_yaml
from mores.renamed import find_old_name
from mores.types import Record

__getattr__ = find_old_name(__name__, {"Recipe": "BuildRecipe"})

EDITION: Final = 2
"""Of the data factory: the same recipe gives other samples in another edition."""


class BuildRecipe(Record):
    """What a build does; the same recipe on the same data gives the same bytes."""

    name: str
    edition: Literal[2] = EDITION
    """The edition of the data factory that it is for."""
    sources: tuple[str, ...] = Field(min_length=1)
    """Names of sources, or `PATH.jsonl` with your own items; `a | b` takes the first that is available."""
    seed: int = 0
    cap: int = Field(default=5000, ge=1)
    """Most samples of a source (ExCAM, Table 2); of no source are more items read."""
    sampling: Literal["shortcut-free", "paper"] = "shortcut-free"
    soft: Literal["rules", "model", "none"] = "rules"
    """How soft errors are made."""
    errors: int = Field(default=3, ge=1, le=5)
    """Most errors that rules put into one text."""
    compose: int = Field(default=3, ge=0, le=10)
    """In how many composed texts each fact may stand; 0 composes none."""
    templates: str | None = None
    """Folder with your own templates."""
    revisions: dict[str, str] = Field(default_factory=dict)
    """Commits on the Hub by source, to use instead of the pinned or the newest ones."""


def built_in() -> list[str]:
    """Names of the recipes that come with Mores."""
    folder = files("mores.factory").joinpath("recipes")
    return sorted(Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def read_recipe(name: str) -> BuildRecipe:
    """Return the recipe of that name, or in that file."""
    if name in built_in():
        data = files("mores.factory").joinpath("recipes", f"{name}.yaml").read_bytes()
    elif Path(name).is_file():
        data = Path(name).read_bytes()
    else:
        raise ConfigError(f"{name}: neither a recipe ({', '.join(built_in())}) nor a file; give a recipe as PATH.yaml")
    try:
        return BuildRecipe.model_validate(_load(data, name))
    except ValidationError as exc:
        errors = exc.errors(include_url=False)
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the whole'}: {e['msg']}" for e in errors)
        raise InputError(f"{name}: {problems}; see the recipes that come with Mores for an example") from exc


def _load(data: bytes, name: str) -> Any:
    try:
        return load_yaml(data, "pip install 'mores[build]'")
    except ValueError as exc:
        raise InputError(f"{name}: not YAML: {exc}") from exc


def first_there(line: str, there: Iterable[str]) -> str | None:
    """Return the first source of a line of a recipe that is available."""
    have = set(there)
    return next((name for name in map(str.strip, line.split("|")) if name in have or name.endswith(".jsonl")), None)
