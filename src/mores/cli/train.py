"""`mores train`: tune a model into a metric."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mores.cli.command import command
from mores.cli.progress import Terminal
from mores.cli.push import check_push, push
from mores.engine.loop import run
from mores.errors import ConfigError
from mores.formatting import number
from mores.metaevaluation.study import NONE
from mores.report.base.grid import print_tables
from mores.report.settings import JsonSettings, PushSettings
from mores.report.train import tables
from mores.settings import Settings, apply, setting
from mores.training.api import join_team, sources_of
from mores.training.api import train as tune
from mores.training.folder import TrainRun
from mores.training.settings import TrainSettings

if TYPE_CHECKING:
    from mores.training.tune import TrainingStep


class EachSettings(Settings):
    """Several trainings at once."""

    leave_one_out: bool = setting(default=False, help="Train on all, then once without each source.")


@command(TrainSettings, EachSettings, PushSettings, JsonSettings)
def train(settings: TrainSettings, each: EachSettings, hub: PushSettings, output: JsonSettings) -> None:
    """Tune a model on the error reports of a dataset, so that `mores score` can use it as the metric.

    A stopped run continues where it stopped. On several GPUs: `accelerate launch --no_python mores train ...`.
    """
    data, out, every = settings.data, settings.out, each.leave_one_out
    if hub.push_to_hub and every:
        raise ConfigError("--push-to-hub uploads one model and --leave-one-out makes several; give only one of them")
    check_push(hub)
    team = join_team()
    if settings.leave_out and every:
        raise ConfigError("--leave-out names sources and --leave-one-out takes each; give only one of them")
    if settings.teacher and every:
        raise ConfigError("--teacher has learned from the sources that --leave-one-out leaves out; use --leave-out")
    runs: dict[str, TrainRun] = {}
    for left in [(), *((source,) for source in sources_of(data))] if every else [tuple(settings.leave_out)]:
        name = ",".join(left)
        training = _Training(f"without {name}" if left else "training", team.is_main_process)
        chosen = replace(
            settings,
            out=out / f"without-{name or NONE}" if every else out,
            leave_out=left,
            progress=training,
            on_step=training.step,
        )
        with closing(training):
            runs[name or "all"] = run(apply(tune, chosen))
    if team.is_main_process:
        click.echo(f"wrote {out}", err=True)
        results = {name: each.result for name, each in runs.items()}
        if output.json:
            click.echo(json.dumps({name: result.model_dump(mode="json") for name, result in results.items()}, indent=2))
        else:
            print_tables(tables(results))
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
