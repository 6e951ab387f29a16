"""A recipe is a small YAML file: which sources, how many items, how correct and wrong answers are chosen."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

from mores.errors import ConfigError, InputError
from mores.io.values import load_yaml
from mores.renamed import find_old_name
from mores.types import Record

__getattr__ = find_old_name(__name__, {"Recipe": "BuildRecipe"})

EDITIONS: Final = (2, 3)
"""Of the data factory: the same recipe gives other samples in another edition. Recipes of each can be built."""

SoftMaker = Literal["rules", "model", "both", "none"]
"""Who makes soft errors."""


class BuildRecipe(Record):
    """The settings of a build; the same recipe on the same data gives the same bytes."""

    name: str
    edition: Literal[2, 3] = 2
    """The edition of the data factory that it is for."""
    sources: tuple[str, ...] = Field(min_length=1)
    """Names of sources, or `PATH.jsonl` with your own items; `a | b` takes the first that is available."""
    seed: int = 0
    cap: int = Field(default=5000, ge=1)
    """Maximum samples, and items read, of a source (ExCAM, Table 2)."""
    sampling: Literal["shortcut-free", "paper"] = "shortcut-free"
    soft: SoftMaker = "rules"
    """How soft errors are made; `both` is by rules and by a model."""
    errors: int = Field(default=3, ge=1, le=5)
    """Maximum errors that rules put into one text."""
    compose: int = Field(default=3, ge=0, le=10)
    """Maximum composed texts that use the same fact; 0 composes none."""
    own_languages: float | None = Field(default=None, ge=0, le=1, exclude_if=lambda share: share is None)
    """Share of the items of a region that are taken in its language where the source has them, from edition 3 on."""
    templates: str | None = None
    """Folder with your own templates."""
    revisions: dict[str, str] = Field(default_factory=dict)
    """Commits on the Hub by source, instead of the pinned or newest ones."""


def list_recipes() -> list[str]:
    """Return the names of the recipes that come with Mores."""
    folder = files("mores.factory").joinpath("recipes")
    return sorted(Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def read_recipe(name: str) -> BuildRecipe:
    """Return the recipe of that name, such as `free`, of that name in an older edition (`free-2`), or in that file."""
    if name in list_recipes():
        data = files("mores.factory").joinpath("recipes", f"{name}.yaml").read_bytes()
    elif Path(name).is_file():
        data = Path(name).read_bytes()
    else:
        raise ConfigError(
            f"{name}: neither a recipe ({', '.join(list_recipes())}) nor a file; name one, or a YAML file"
        )
    try:
        values = load_yaml(data, "build")
    except ValueError as exc:
        raise InputError(f"{name}: not YAML: {exc}") from exc
    try:
        return BuildRecipe.model_validate(values)
    except ValidationError as exc:
        errors = exc.errors(include_url=False)
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'the whole'}: {e['msg']}" for e in errors)
        raise InputError(f"{name}: {problems}; see the recipes that come with Mores for an example") from exc


def first_available(line: str, available: Collection[str]) -> str | None:
    """Return the first available source of a line of a recipe."""
    names = map(str.strip, line.split("|"))
    return next((name for name in names if name in available or name.endswith(".jsonl")), None)
