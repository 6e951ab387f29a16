"""`mores train`: tune a model into a metric."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mores.cli.options import FILE, FOLDER, NEW_FOLDER, json_option
from mores.cli.progress import Terminal
from mores.cli.push import push_options, take_push
from mores.engine.loop import run
from mores.errors import ConfigError
from mores.formatting import number
from mores.metaevaluation.leave_one_out import NONE
from mores.report.base.grid import print_tables
from mores.report.train import tables
from mores.training.api import EMBEDDED, join_team, sources_of
from mores.training.api import train as tune
from mores.training.folder import TrainRun
from mores.training.recipe import read_recipe

if TYPE_CHECKING:
    from mores.training.tune import TrainingStep


@click.command()
@click.option("--data", required=True, type=FOLDER,
              help="Folder that `mores build` wrote.")  # fmt: skip
@click.option("--base", default=EMBEDDED, show_default=True, metavar="MODEL",
              help="Model to tune: embedded, a folder, or a name on the Hugging Face Hub.")  # fmt: skip
@click.option("--out", required=True, type=NEW_FOLDER, help="Folder for the result.")
@click.option("--recipe", type=FILE,
              help="TOML file with settings  [default: the paper's].")  # fmt: skip
@click.option("--set", multiple=True, metavar="NAME=VALUE", help="One setting of the recipe.")
@click.option("--leave-out", metavar="SOURCES", help="Train without these sources, with commas, and decide about them.")
@click.option("--leave-one-out", is_flag=True, help="Train on all, then once without each source.")
@click.option("--teacher", multiple=True, type=FOLDER,
              help="Larger model's run with --evaluate unlabelled, to learn its decisions; repeatable.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), help="Most training samples.")
@click.option("--evaluate", default="dev,test", show_default=True, help="Splits that the tuned model decides about.")
@push_options
@json_option("the table")
def train(data: Path, base: str, out: Path, as_json: bool, **given: Any) -> None:
    """Tune a model on the error reports of a dataset, so that `mores score` can use it as the metric.

    A stopped run continues where it stopped. On several GPUs: `accelerate launch --no_python mores train ...`.
    """
    if given["push_to_hub"] and given["leave_one_out"]:
        raise ConfigError("--push-to-hub uploads one model and --leave-one-out makes several; give only one of them")
    push = take_push(given)
    team = join_team()
    recipe, leave_out, each = read_recipe(given["recipe"], given["set"]), given["leave_out"], given["leave_one_out"]
    if leave_out and each:
        raise ConfigError("--leave-out names sources and --leave-one-out takes each; give only one of them")
    if given["teacher"] and each:
        raise ConfigError("--teacher has learned from the sources that --leave-one-out leaves out; use --leave-out")
    runs: dict[str, TrainRun] = {}
    for source in [None, *sources_of(data)] if each else [leave_out]:
        folder = out / f"without-{source or NONE}" if each else out
        training = _Training(f"without {source}" if source else "training", team.is_main_process)
        with closing(training):
            runs[source or "all"] = run(
                tune(data, folder, base=base, recipe=recipe, leave_out=source, limit=given["limit"],
                     teacher=given["teacher"], evaluate=given["evaluate"].split(","), progress=training,
                     on_step=training.step)
            )  # fmt: skip
    if team.is_main_process:
        click.echo(f"wrote {out}", err=True)
        results = {name: each.result for name, each in runs.items()}
        if as_json:
            click.echo(json.dumps({name: result.model_dump(mode="json") for name, result in results.items()}, indent=2))
        else:
            print_tables(tables(results))
        push(runs[leave_out or "all"].upload)
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
