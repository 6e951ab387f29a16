"""The public functions `mores.train`, `ground` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mores.cache import models_folder
from mores.engine import Progress
from mores.engine.loop import interruptible
from mores.errors import ConfigError
from mores.extras import require
from mores.factory.output import read_split
from mores.models import pull
from mores.settings import takes
from mores.training.folder import TrainRun
from mores.training.recipe import TuningRecipe, read_recipe
from mores.training.settings import ExportSettings, GroundingSettings, GroundSettings, TrainSettings

if TYPE_CHECKING:
    from mores.training.ground import Grounded


@takes(TrainSettings)
async def train(settings: TrainSettings) -> TrainRun:
    """Tune a model on the error reports of a dataset, so that it can be used as the metric; a stopped run continues."""
    progress, leave_out, recipe, data = settings.progress, tuple(settings.leave_out), settings.recipe, settings.data
    with interruptible():
        team = join_team()
        from mores.training.study import TrainingStudy

        chosen = recipe if isinstance(recipe, TuningRecipe) else read_recipe(recipe, settings.set)
        if leave_out and (unknown := sorted(set(leave_out).difference(sources := sources_of(data)))):
            reason = f"no such source {unknown[0]!r} in {data}; there are {', '.join(sources)}"
            raise ConfigError(reason, setting="leave_out")
        folder = _unpacked(settings.base, team, progress) if settings.base in pull.FILES else settings.base
        progress.note(f"loading {settings.base}")
        study = TrainingStudy(data, folder, settings.base, chosen, settings.out, leave_out, settings.limit)
        study.teachers = list(settings.teacher)
        study.evaluate = settings.evaluate
        study.on_step = settings.on_step or study.on_step
        study.progress = progress
        return study.run()


@takes(GroundSettings)
async def ground(settings: GroundSettings) -> Grounded:
    """Give the samples of a built dataset evidence, for a metric that judges by it."""
    from mores.training.ground import ground_dataset

    return ground_dataset(settings.data, settings.out, settings.part(GroundingSettings), settings.progress)


@takes(ExportSettings)
async def export(settings: ExportSettings) -> float | None:
    """Write a tuned model as a GGUF file: its LoRA, or with `merged` the whole model.

    Of a model all of whose weights were tuned, the LoRA of that rank is written that comes nearest; the share of the
    change that it keeps is returned.
    """
    require("train", "gguf", "torch", "safetensors")
    from mores.training.gguf import export_adapter, export_difference, export_merged

    tuned, out, kind = settings.tuned, settings.out, settings.type
    if out.suffix != ".gguf":
        raise ConfigError(f"{out}: the name of a GGUF file ends in .gguf", setting="out")
    origin = pull.resolve(settings.base)
    is_adapter = (tuned / "adapter_config.json").is_file()
    if settings.merged:
        export_merged(origin if is_adapter else tuned, tuned if is_adapter else None, origin, out, kind)
    elif is_adapter:
        export_adapter(tuned, origin, out, kind)
    else:
        return export_difference(tuned, origin, out, settings.rank, kind)
    return None


def join_team() -> Any:
    """Return this process among those that train together (`accelerate launch`)."""
    require("train", "torch", "transformers", "peft", "accelerate")
    from mores.training.tune import join

    return join()


def sources_of(data: Path) -> list[str]:
    """Return the sources of the training samples."""
    return sorted({gold.sample.source or "unknown" for gold in read_split(data, "train")})


def _unpacked(base: str, team: Any, progress: Progress) -> str:
    """Return a model that Mores knows as transformers reads it; it is unpacked once, by one process of each machine."""
    require("train", "gguf")
    from mores.training.gguf import unpack

    source = pull.FILES[base].path
    folder = models_folder() / f"{source.stem}.unpacked"
    # The first process of all goes before those of other machines, which may share its folders or not.
    for goes in (team.is_main_process, team.is_local_main_process):
        if goes and not (folder / "config.json").exists():
            progress.note(f"unpacking {source.name}")
            unpack(pull.resolve("", base), folder)
        team.wait_for_everyone()
    return str(folder)
