"""`mores train`, `export` and `pull`: tune a model into a metric, write it as a GGUF file, and get such files."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mores.cli.command import command
from mores.cli.progress import Terminal
from mores.cli.result import check_push, push, show_document
from mores.engine.loop import run
from mores.errors import ConfigError
from mores.formatting import megabytes, number, percent
from mores.models import pull as models
from mores.models.settings import PullSettings
from mores.report.settings import JsonSettings, OutputSettings, PushSettings
from mores.settings import apply
from mores.training.settings import EachSettings, ExportSettings, TrainSettings

if TYPE_CHECKING:
    from mores.training.folder import TrainRun
    from mores.training.tune import TrainingStep


@command(TrainSettings, EachSettings, PushSettings, OutputSettings)
def train(settings: TrainSettings, each: EachSettings, hub: PushSettings, output: OutputSettings) -> None:
    """Tune a model on the error reports of a dataset, so that `mores score` can use it as the metric.

    A stopped run continues where it stopped. On several GPUs: `accelerate launch --no_python mores train ...`.
    """
    from mores.metaevaluation.study import NONE
    from mores.report.train import describe_training
    from mores.training.api import join_team, sources_of
    from mores.training.api import train as tune

    data, out, every = settings.data, settings.out, each.leave_one_out
    refused = {
        "--push-to-hub uploads one model and --leave-one-out makes several; give only one of them": hub.push_to_hub,
        "--leave-out names sources and --leave-one-out takes each; give only one of them": settings.leave_out,
        "--teacher has learned from the sources that --leave-one-out leaves out; use --leave-out": settings.teacher,
    }
    if every and (reason := next((reason for reason, given in refused.items() if given), "")):
        raise ConfigError(reason)
    check_push(hub)
    team = join_team()
    runs: dict[str, TrainRun] = {}
    for left in [(), *((source,) for source in sources_of(data))] if every else [tuple(settings.leave_out)]:
        name = ",".join(left)
        training = _Training(f"without {name}" if left else "training", team.is_main_process)
        folder = out / f"without-{name or NONE}" if every else out
        chosen = replace(settings, out=folder, leave_out=left, progress=training, on_step=training.step)
        with closing(training):
            runs[name or "all"] = run(apply(tune, chosen))
    if team.is_main_process:
        click.echo(f"wrote {out}", err=True)
        results = {name: each.result for name, each in runs.items()}
        dumped = {name: result.model_dump(mode="json") for name, result in results.items()}
        show_document(describe_training(results), output, dumped)
        push(hub, runs[",".join(settings.leave_out) or "all"].upload)
    team.end_training()


class _Training(Terminal):
    """A bar for the steps of a training, with their loss and tokens a second."""

    def __init__(self, name: str, shown: bool) -> None:
        super().__init__(shown)
        self._name, self._lines = name, 0
        self._bars = self.bars()
        self._task = self._bars.add_task(name, total=None, text="")

    def step(self, step: TrainingStep) -> None:
        """Show where the training is; without a terminal, by twenty lines in all."""
        text = f"loss {number(step.loss, 3)}, {step.tokens / max(step.seconds, 1e-9):,.0f} tokens/s"
        self._bars.start()
        self._bars.update(self._task, completed=step.step, total=step.of, text=text)
        if step.step == step.of:
            self.close()
        if not self.console.is_terminal and (step.step == step.of or 20 * step.step // step.of > self._lines):
            self._lines = 20 * step.step // step.of
            self.console.print(f"{self._name}: {step.step} of {step.of}, {text}")

    def close(self) -> None:
        """Take the bar away, also when the training was stopped."""
        self._bars.stop()


@command(ExportSettings)
def export(settings: ExportSettings) -> None:
    """Write TUNED, a folder that `mores train` made, as a GGUF file.

    A LoRA goes with its base, `mores score --adapter FILE.gguf`; a merged model stands alone, `mores score --model
    embedded:FILE.gguf`. The file says with which prompt it was tuned, so that `mores score` asks with it.
    """
    from mores.training.api import export as write_tuned

    kept = run(apply(write_tuned, settings))
    if kept is not None:
        click.echo(f"the LoRA of rank {settings.rank} keeps {percent(kept)} of what the tuning changed", err=True)
    click.echo(f"wrote {settings.out} ({megabytes(settings.out.stat().st_size, 1)})", err=True)


@command(PullSettings, JsonSettings)
def pull(settings: PullSettings, output: JsonSettings) -> None:
    """Get a GGUF file for the embedded engine, check it, and keep it in the cache folder.

    NAME is empty for the default model (98 MB), reader for a better judge (1,117 MB), a path, or OWNER/REPO/FILE.gguf
    on the Hugging Face Hub. A download that was stopped continues. Where llama.cpp has no fast products of bytes (its
    wheels for Linux on ARM), the default model and the metric's adapter are also kept merged, in 457 MB.
    """
    from mores.models.embedded import TUNED, EmbeddedModel

    name = settings.name
    if not settings.list:
        if (known := models.FILES.get(name or "embedded")) and not known.path.exists():
            click.echo(models.announcement(known), err=True)
        models.pull(name, Terminal().track)
        if not name and (merged := EmbeddedModel("", str(TUNED)).merged):
            size = megabytes(merged.stat().st_size)
            click.echo(f"merged with the metric's adapter, which is faster here: {merged} ({size})", err=True)
    files = models.list_pulled()
    if output.json:
        click.echo(json.dumps(files, indent=2))
        return
    for file in files:
        default = " (the default)" if file["sha256"] == models.FILES["embedded"].sha256 else ""
        click.echo(f"{file['name']}{default}\n  {file['path']}\n  {file['bytes']:,} bytes, sha256 {file['sha256']}")
    if not files:
        click.echo("nothing pulled yet; `mores pull` gets the default model")
