"""The settings of training: what a model is tuned on, what evidence samples get, and what a tuned model becomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mores.engine.settings import ProgressSettings
from mores.settings import Settings, setting
from mores.settings.names import read_names
from mores.settings.values import AnyPath, Names, OptionalPath, Paths

if TYPE_CHECKING:
    from mores.training.recipe import TuningRecipe
    from mores.training.tune import TrainingStep

EMBEDDED = "embedded"


class TrainSettings(ProgressSettings, table="train"):
    """A dataset, the model that is tuned on it, and how."""

    data: AnyPath = setting(
        kw_only=False, place="folder", option="--data", help="Folder that `mores build` wrote.", result=True
    )
    out: AnyPath = setting(kw_only=False, place="new folder", option="--out", help="Folder for the result.")
    base: str = setting(
        default=EMBEDDED,
        metavar="MODEL",
        help="Model to tune: embedded, reader, a folder, or a name on the Hugging Face Hub.",
        result=True,
    )
    recipe: TuningRecipe | Path | str | None = setting(
        default=None, place="file", help="TOML file with settings.", default_text="the paper's", result=True
    )
    set: Names = setting(
        default=(), metavar="NAME=VALUE", help="One setting of the recipe (may be repeated).", result=True
    )
    leave_out: Names = setting(
        default=(),
        metavar="SOURCES",
        parse=read_names,
        help="Train without these sources, with commas, and decide about them.",
        result=True,
    )
    teacher: Paths = setting(
        default=(),
        place="folder",
        help="Larger model's run with --evaluate unlabelled, to learn its decisions (may be repeated).",
        result=True,
    )
    limit: int | None = setting(default=None, at_least=1, help="Maximum training samples.", result=True)
    evaluate: Names = setting(
        default=("dev", "test"),
        metavar="SPLITS",
        parse=read_names,
        help="Splits that the tuned model decides about, with commas.",
        result=True,
    )
    on_step: Callable[[TrainingStep], None] | None = setting(
        default=None, command=False, help="Called with every step of the training."
    )


class GroundingSettings(Settings):
    """The evidence that samples get."""

    passages: int = setting(default=3, at_least=1, help="Maximum facts that a sample gets.", result=True)
    characters: int = setting(default=300, at_least=1, help="Maximum length of a fact, in characters.", result=True)
    seed: int = setting(
        default=0, help="Seed that draws the items that may see their own fact, and what is reworded.", result=True
    )
    pairs: Paths = setting(
        default=(),
        place="folder",
        help="Folder of claims and passages that support or refute them, .jsonl (may be repeated).",
        result=True,
    )
    untrusted: Paths = setting(
        default=(),
        place="folder",
        help="Folder of more such pairs, whose labels are not used (may be repeated).",
        result=True,
    )
    sentences: OptionalPath = setting(
        default=None,
        place="folder",
        help="Folder with sentences, LANGUAGE.txt each, to make such pairs of.",
        result=True,
    )
    translated: OptionalPath = setting(
        default=None,
        place="folder",
        help="BLEnD's folder: adds its answers with facts in another language.",
        result=True,
    )


class GroundSettings(GroundingSettings, ProgressSettings, table="ground"):
    """A built dataset whose samples get evidence."""

    data: AnyPath = setting(kw_only=False, place="folder", metavar="DATA", help="Folder that `mores build` wrote.")
    out: AnyPath = setting(
        kw_only=False, place="new folder", option="--out", help="Folder for the dataset with evidence."
    )


class ExportSettings(Settings, table="export"):
    """A tuned model, and the GGUF file that it becomes."""

    tuned: AnyPath = setting(kw_only=False, place="folder", metavar="TUNED", help="Folder that `mores train` made.")
    out: AnyPath = setting(kw_only=False, place="new file", option="--out", help="The GGUF file to write.")
    base: str = setting(
        default=EMBEDDED,
        metavar="MODEL",
        help="GGUF file of the model that was tuned: embedded, reader, a file, or a name that was pulled.",
    )
    merged: bool = setting(default=False, help="Write a whole model instead of a LoRA.")
    type: Literal["q8_0", "q5_0", "q4_1", "q4_0", "f16", "f32"] = setting(default="q8_0", help="Type of numbers.")
    rank: int = setting(default=64, at_least=1, help="Rank of the LoRA of a model all of whose weights were tuned.")


class EachSettings(Settings):
    """Several trainings at once."""

    leave_one_out: bool = setting(default=False, help="Train on all, then once without each source.")
