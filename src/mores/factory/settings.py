"""The settings of a build: which recipe, and what overrides it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mores.engine.settings import AskSettings
from mores.settings import Settings, setting
from mores.settings.values import AnyPath, OptionalPath

if TYPE_CHECKING:
    from mores.factory.recipe import BuildRecipe
    from mores.models.base import Model


class SourcesSettings(Settings):
    """The sources to list."""

    data: OptionalPath = setting(
        default=None, place="folder", metavar="DIR", help="Folder with one folder per source: also count its items."
    )
    commercial: bool = setting(default=False, help="Leave out sources that may not be used commercially.")


class BuildSettings(AskSettings, table="build"):
    """A recipe, its data, and what overrides it."""

    recipe: str | Path | BuildRecipe = setting(
        kw_only=False, metavar="RECIPE", help="excam40k, free, or a YAML file of yours.", result=True
    )
    out: AnyPath = setting(kw_only=False, place="new folder", option="--out", help="Folder for the dataset.")
    data: OptionalPath = setting(
        default=None,
        place="folder",
        help="Folder with one folder per source.",
        default_text="from the Hugging Face Hub",
        result=True,
    )
    model: str | Model | None = setting(
        default=None,
        metavar="MODEL",
        help="Model that makes soft errors, with --soft model or both: openai:NAME, hf:PATH or vllm:PATH.",
        result=True,
    )
    soft: Literal["rules", "model", "both", "none"] | None = setting(
        default=None, help="Who makes soft errors.", default_text="the recipe's", result=True
    )
    verify: str | Model | None = setting(
        default=None,
        metavar="JUDGE",
        help="Judge that must find an error in each text that the model wrote, with the correct text as evidence, for "
        "example reader; texts in which it finds none are dropped.",
        result=True,
    )
    at_once: int = setting(
        default=1,
        at_least=1,
        at_most=20,
        help="With --soft model: pairs in one request; those that it leaves unanswered are asked for one by one.",
        result=True,
    )
    temperature: float | None = setting(
        default=None,
        help="With --soft model: sampling temperature.",
        default_text="the server's",
        result=True,
    )
    max_tokens: int = setting(
        default=16_384, at_least=1, help="With --soft model: maximum length of an answer, in tokens.", result=True
    )
    repair: bool | None = setting(
        default=None,
        help="With --soft model: repair unusable answers, and ask once more for those that cannot be repaired.",
        default_text="from edition 3 on",
        result=True,
    )
    soft_severity: Literal["answered", "asked"] | None = setting(
        default=None,
        help="With --soft model: an error has the severity that the model says it made, or the one it was asked for.",
        default_text="answered; asked in edition 2",
        result=True,
    )
    sampling: Literal["shortcut-free", "paper"] | None = setting(
        default=None, help="How correct and wrong pairs are chosen.", default_text="the recipe's", result=True
    )
    cap: int | None = setting(
        default=None, at_least=1, help="Maximum samples of a source.", default_text="the recipe's", result=True
    )
    seed: int | None = setting(
        default=None, help="Seed of all random choices.", default_text="the recipe's", result=True
    )
    commercial: bool = setting(default=False, help="Leave out sources that may not be used commercially.", result=True)
    validate: int | None = setting(
        default=None,
        at_least=1,
        metavar="N",
        help="Also write so many samples with errors for people to validate in the studio.",
    )
    validated: OptionalPath = setting(
        default=None,
        place="path",
        metavar="EXPORT",
        help="Export of the studio's validation campaign; the card prints the rate of bad samples that people found.",
        default_text="the folder `validated` in that of the dataset, if it exists",
    )


class DatasetSettings(Settings):
    """A built dataset."""

    folder: AnyPath = setting(kw_only=False, place="folder", metavar="FOLDER", help="Folder that `mores build` wrote.")


class DatasetsSettings(Settings):
    """Two built datasets."""

    before: AnyPath = setting(kw_only=False, place="path", metavar="A", help="A dataset, or its manifest.jsonl.")
    after: AnyPath = setting(kw_only=False, place="path", metavar="B", help="The other one.")
