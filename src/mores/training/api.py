"""The public function `mores.train`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from mores.cache import models_folder
from mores.engine import SILENT, Progress
from mores.engine.loop import interruptible
from mores.errors import ConfigError
from mores.extras import require
from mores.factory.output import read_split
from mores.models import pull
from mores.training.folder import TrainRun
from mores.training.recipe import TuningRecipe, read_recipe

if TYPE_CHECKING:
    from mores.training.tune import TrainingStep

EMBEDDED = "embedded"


class TrainOptions(TypedDict, total=False):
    """What `mores.train` takes besides the dataset, the folder, the model and its recipe."""

    leave_out: str | Sequence[str] | None
    """Sources whose samples are not trained on, in a list or with commas; the tuned model decides about them."""
    limit: int | None
    """Most training samples."""
    teacher: Path | str | Sequence[Path | str] | None
    """A run on the same data that evaluated `unlabelled`, or several; what they decided is trained on too."""
    evaluate: Sequence[str]
    """The splits that the tuned model decides about; `dev` and `test` by default."""
    progress: Progress
    """Shows the progress of the work."""
    on_step: Callable[[TrainingStep], None]
    """Is told about every step of the training."""


async def train(
    data: Path | str,
    out: Path | str,
    *,
    base: str = EMBEDDED,
    recipe: TuningRecipe | Path | str | None = None,
    **options: Unpack[TrainOptions],
) -> TrainRun:
    """Tune a model on the error reports of a dataset, so that it can be used as the metric; a stopped run continues.

    `base` is `embedded`, a folder or a name on the Hugging Face Hub; `recipe` is a TOML file with settings or a
    `TuningRecipe`, and the paper's by default.
    """
    progress, without = options.get("progress", SILENT), options.get("leave_out") or ()
    leave_out = tuple(without.split(",") if isinstance(without, str) else without)
    with interruptible():
        team = join_team()
        from mores.training.study import TrainingStudy

        chosen = recipe if isinstance(recipe, TuningRecipe) else read_recipe(Path(recipe)) if recipe else TuningRecipe()
        if leave_out and (unknown := sorted(set(leave_out).difference(sources := sources_of(Path(data))))):
            reason = f"no such source {unknown[0]!r} in {data}; there are {', '.join(sources)}"
            raise ConfigError(reason, setting="leave_out")
        folder = _unpacked(team, progress) if base == EMBEDDED else base
        progress.note(f"loading {base}")
        study = TrainingStudy(Path(data), folder, base, chosen, Path(out), leave_out, options.get("limit"))
        teachers = options.get("teacher") or ()
        study.teachers = [Path(each) for each in ([teachers] if isinstance(teachers, str | Path) else teachers)]
        study.evaluate = options.get("evaluate", study.evaluate)
        study.on_step = options.get("on_step", study.on_step)
        study.progress = progress
        return study.run()


def export_tuned(
    tuned: Path, base: str, out: Path, *, merged: bool = False, kind: str = "q8_0", rank: int = 64
) -> float | None:
    """Write a tuned model as a GGUF file: its LoRA, or with `merged` the whole model; `base` is its GGUF model.

    Of a model all of whose weights were tuned, the LoRA of that rank is written that comes nearest; the share of the
    change that it keeps is returned.
    """
    require("pip install 'mores[train]'", "gguf", "torch", "safetensors")
    from mores.training.gguf import export_adapter, export_difference, export_merged

    if out.suffix != ".gguf":
        raise ConfigError(f"{out}: the name of a GGUF file ends in .gguf", setting="out")
    origin = pull.resolve("" if base == EMBEDDED else base)
    is_adapter = (tuned / "adapter_config.json").is_file()
    if merged:
        export_merged(origin if is_adapter else tuned, tuned if is_adapter else None, origin, out, kind)
    elif is_adapter:
        export_adapter(tuned, origin, out, kind)
    else:
        return export_difference(tuned, origin, out, rank, kind)
    return None


def join_team() -> Any:
    """Return this process among those that train together (`accelerate launch`)."""
    require("pip install 'mores[train]'", "torch", "transformers", "peft", "accelerate")
    from mores.training.tune import join

    return join()


def sources_of(data: Path) -> list[str]:
    """Return the sources of the training samples."""
    return sorted({gold.sample.source or "unknown" for gold in read_split(data, "train")})


def _unpacked(team: Any, progress: Progress) -> str:
    """Return the embedded model as transformers reads it; it is unpacked once, by one process of each machine."""
    require("pip install 'mores[train]'", "gguf")
    from mores.training.gguf import unpack

    source = pull.default_path()
    folder = models_folder() / f"{source.stem}.unpacked"
    # The first process of all goes before those of other machines, which may share its folders or not.
    for goes in (team.is_main_process, team.is_local_main_process):
        if goes and not (folder / "config.json").exists():
            progress.note(f"unpacking {source.name}")
            unpack(source if source.exists() else pull.pull(""), folder)
        team.wait_for_everyone()
    return str(folder)
