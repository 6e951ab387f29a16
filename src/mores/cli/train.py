"""`mores train`: tune a model into a metric."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from pydantic import ValidationError
from rich.progress import TaskID

from mores.cli.progress import Stages, Terminal
from mores.engine.loop import run
from mores.errors import ConfigError
from mores.meta.leave_one_out import NONE
from mores.report.base.grid import print_tables
from mores.report.train import tables
from mores.show import number
from mores.train.api import EMBEDDED, join_team, sources_of
from mores.train.api import train as tune
from mores.train.folder import TrainRun
from mores.train.recipe import Recipe, read_recipe

if TYPE_CHECKING:
    from mores.train.tune import Progress as Step

T = TypeVar("T")


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Folder that `mores build` wrote.")  # fmt: skip
@click.option("--base", default=EMBEDDED, show_default=True, metavar="MODEL",
              help="Model to tune: embedded, a folder, or a name on the Hugging Face Hub.")  # fmt: skip
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the result.")
@click.option("--recipe", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="TOML file with settings  [default: the paper's].")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="One setting of the recipe.")
@click.option("--leave-out", metavar="SOURCE", help="Train without the samples of a source.")
@click.option("--leave-one-out", is_flag=True, help="Train on all, then once without each source.")
@click.option("--limit", type=click.IntRange(1), help="Most training samples.")
@click.option("--evaluate", default="dev,test", show_default=True, help="Splits that the tuned model decides about.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
def train(data: Path, base: str, out: Path, as_json: bool, **given: Any) -> None:
    """Tune a model on the error reports of a dataset, so that `mores score` can use it as the metric.

    A stopped run continues where it stopped. On several GPUs: `accelerate launch --no_python mores train ...`.
    """
    team = join_team()
    recipe, leave_out, each = _recipe(given["recipe"], given["settings"]), given["leave_out"], given["leave_one_out"]
    if leave_out and each:
        raise ConfigError("--leave-out names one source and --leave-one-out takes each; give one of both")
    runs: dict[str, TrainRun] = {}
    for source in [None, *sources_of(data)] if each else [leave_out]:
        folder = out / f"without-{source or NONE}" if each else out
        with _Training(f"without {source}" if source else "training", team.is_main_process) as shown:
            runs[source or "all"] = run(
                tune(data, folder, base=base, recipe=recipe, leave_out=source, limit=given["limit"],
                     evaluate=given["evaluate"].split(","), progress=shown, on_step=shown.step)
            )  # fmt: skip
    if team.is_main_process:
        click.echo(f"wrote {out}", err=True)
        results = {name: each.result for name, each in runs.items()}
        if as_json:
            click.echo(json.dumps({name: result.model_dump(mode="json") for name, result in results.items()}, indent=2))
        else:
            print_tables(tables(results))
    team.end_training()


def _recipe(path: Path | None, settings: Sequence[str]) -> Recipe:
    recipe = read_recipe(path) if path else Recipe()
    given: dict[str, Any] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or name not in Recipe.model_fields:
            raise ConfigError(f"--set {setting}: expected NAME=VALUE with NAME one of {', '.join(Recipe.model_fields)}")
        given[name] = value
    try:
        return Recipe.model_validate(recipe.model_dump() | given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ConfigError(f"--set {first['loc'][0]}={first['input']}: {first['msg']}") from error


class _Training(Stages, Terminal):
    """The stages of a training; its steps show their loss and tokens a second, too."""

    def __init__(self, what: str, shown: bool) -> None:
        super().__init__(shown)
        self._what, self._shown, self._said = what, shown, 0
        self._task: TaskID | None = None

    def note(self, text: str) -> None:
        """A line, where this process is the one that speaks."""
        if self._shown:
            super().note(text)

    def track(self, name: str, things: Iterable[T], total: int | None = None) -> Iterator[T]:
        """A bar in the same display."""
        return self(name, things, total)

    def step(self, step: Step) -> None:
        """Show where the training is."""
        text = f"loss {number(step.loss, 3)}, {step.tokens / max(step.seconds, 1e-9):,.0f} tokens/s"
        if self._task is None:
            self._task = self._progress.add_task(self._what, text="")
        self._progress.update(self._task, completed=step.step, total=step.of, text=text)
        if not self._console.is_terminal and (step.step == step.of or 20 * step.step // step.of > self._said):
            self._said = 20 * step.step // step.of
            self._console.print(f"{self._what}: {step.step} of {step.of}, {text}")
