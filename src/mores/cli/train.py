"""`mores train`: tune a model into a metric."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError
from rich.progress import TaskID

from mores.cache import models_folder
from mores.cli.progress import Stages
from mores.errors import ConfigError
from mores.extras import require
from mores.factory.output import read_split
from mores.meta.leave_one_out import NONE
from mores.models import pull
from mores.report.base.grid import Grid, harmless, plain_console
from mores.show import number
from mores.train.recipe import Recipe, read_recipe
from mores.train.records import Trained
from mores.types import Result

if TYPE_CHECKING:
    from mores.train.tune import Progress as Step

EMBEDDED = "embedded"


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
def train(
    data: Path,
    base: str,
    out: Path,
    recipe: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
    leave_out: str | None,
    leave_one_out: bool,
    limit: int | None,
    evaluate: str,
) -> None:
    """Tune a model on the error reports of a dataset, so that `mores score` can use it as the metric.

    A stopped run goes on where it was. On several GPUs: `accelerate launch --no_python mores train ...`.
    """
    require("pip install 'mores[train]'", "torch", "transformers", "peft", "accelerate")
    from mores.train.study import Study
    from mores.train.tune import join

    chosen, sources = _recipe(recipe, settings), _left_out(data, leave_out, leave_one_out)
    team = join()
    where, found = _base(base, team), {}
    for source in sources:
        folder = out / f"without-{source or NONE}" if leave_one_out else out
        if team.is_main_process:
            click.echo(f"loading {base}", err=True)
        with _Training(f"without {source}" if source else "training", team.is_main_process) as shown:
            study = Study(
                data, where, base, chosen, folder, source, limit, evaluate.split(","), shown.step, progress=shown
            )
            found[source or "all"] = study.run()
    if team.is_main_process:
        _print(found, out, as_json)
    team.end_training()


def _print(found: Mapping[str, Trained], out: Path, as_json: bool) -> None:
    click.echo(f"wrote {out}", err=True)
    if as_json:
        click.echo(json.dumps({name: one.model_dump(mode="json") for name, one in found.items()}, indent=2))
    else:
        show_trained(found)


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


def _base(name: str, team: Any) -> str:
    """Where transformers finds the model; the embedded one is unpacked once, by one process of each machine."""
    if name != EMBEDDED:
        return name
    require("pip install 'mores[train]'", "gguf")
    source = pull.default_path()
    folder = models_folder() / f"{source.stem}.unpacked"
    # The first process of all goes before those of other machines, which may share its folders or not.
    for goes in (team.is_main_process, team.is_local_main_process):
        if goes and not (folder / "config.json").exists():
            _unpack(source, folder)
        team.wait_for_everyone()
    return str(folder)


def _unpack(source: Path, folder: Path) -> None:
    from mores.train.gguf import unpack

    click.echo(f"unpacking {source.name}", err=True)
    unpack(source if source.exists() else pull.pull(""), folder)


def _left_out(data: Path, leave_out: str | None, each: bool) -> list[str | None]:
    """The sources that are left out, one after the other; None for none."""
    if leave_out and each:
        raise ConfigError("--leave-out names one source and --leave-one-out takes each; give one of both")
    if not (leave_out or each):
        return [None]
    known = sorted({gold.sample.source or "unknown" for gold in read_split(data, "train")})
    if leave_out and leave_out not in known:
        raise ConfigError(f"--leave-out {leave_out}: no such source in {data}; there are {', '.join(known)}")
    return [leave_out] if leave_out else [None, *known]


class _Training(Stages):
    """The stages of a training; its steps show their loss and tokens a second, too."""

    def __init__(self, what: str, shown: bool) -> None:
        super().__init__(shown)
        self._what, self._said = what, 0
        self._task: TaskID | None = None

    def step(self, step: Step) -> None:
        """Show where the training is."""
        text = f"loss {number(step.loss, 3)}, {step.tokens / max(step.seconds, 1e-9):,.0f} tokens/s"
        if self._task is None:
            self._task = self._progress.add_task(self._what, text="")
        self._progress.update(self._task, completed=step.step, total=step.of, text=text)
        if not self._console.is_terminal and (step.step == step.of or 20 * step.step // step.of > self._said):
            self._said = 20 * step.step // step.of
            self._console.print(f"{self._what}: {step.step} of {step.of}, {text}")


def show_trained(found: Mapping[str, Trained]) -> None:
    """How well each model decides, by split and source."""
    rows = {(name, split): results for name, one in found.items() for split, results in one.decisions.items()}
    sources = list(dict.fromkeys(source for results in rows.values() for source in results))
    shown = [
        ("all" if name == "all" else f"all but {name}", split, *_cells(results, sources))
        for (name, split), results in rows.items()
    ]
    console = plain_console()
    columns = ("trained on", "split", *sources)
    console.print(Grid(columns, [("", shown)], "scaled accuracy of decisions", words=frozenset({0, 1})), "")
    for (name, split), results in rows.items():
        whole = "all" if name == "all" else f"all but {name}"
        line = f"trained on {whole}: scaled accuracy {next(_cells(results, ['all']))} on {split}"
        console.print(harmless(line), soft_wrap=True)


def _cells(results: Mapping[str, Result], sources: Sequence[str]) -> Iterator[str]:
    for source in sources:
        value = results[source].value if source in results else None
        yield number(value, 3)
