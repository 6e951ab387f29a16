"""`mores build`: make instruction-text pairs with gold error reports from cultural datasets."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import aclosing
from pathlib import Path
from typing import Any

import click

from mores.cache import store_path
from mores.cli.progress import Bar, Stages
from mores.engine import Counts, Store
from mores.engine.cost import price_of
from mores.engine.loop import run
from mores.errors import ConfigError, InputError
from mores.extras import require
from mores.factory.build import Built, Soften
from mores.factory.build import build as make
from mores.factory.errors.model import make as make_soft
from mores.factory.gold import Gold
from mores.factory.output import verify as check
from mores.factory.output import write
from mores.factory.recipe import Recipe, read_recipe
from mores.models import Model, Options, open_model
from mores.report.base.grid import Grid, Row, plain_console
from mores.report.card import page
from mores.show import duration, number, percent, show_failures
from mores.train.ground import Grounded, ground_dataset

SHOWN = 20
"""Bad rows that are told of one by one."""


class _Recipes(click.Group):
    """`mores build verify DIR` and `mores build ground DIR` are commands; any other word is a recipe."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["recipe", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=_Recipes)
def build() -> None:
    """Make instruction-text pairs with gold error reports from cultural datasets.

    `mores build excam40k --data DIR --out DIR`, `mores build free …`, `mores build MINE.yaml …`,
    `mores build verify DIR`, or `mores build ground DIR --out DIR` for evidence.
    """


@build.command()
@click.argument("name", metavar="RECIPE")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the dataset.")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with one folder per source  [default: from the Hugging Face Hub].",
)
@click.option(
    "--soft", type=click.Choice(["rules", "model", "none"]), help="Who makes soft errors; overrides the recipe's."
)
@click.option("--model", help="The model that makes soft errors, with --soft model: openai:NAME or hf:PATH.")
@click.option("--base-url", metavar="URL", help="Address of its server [env: OPENAI_BASE_URL].")
@click.option("--sampling", type=click.Choice(["shortcut-free", "paper"]), help="Overrides the recipe's.")
@click.option("--cap", type=click.IntRange(1), help="Most items of a source; overrides the recipe's.")
@click.option("--seed", type=int, help="Overrides the recipe's.")
@click.option("--commercial", is_flag=True, help="Leave out sources that may not be used commercially.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
def recipe(name: str, out: Path, data: Path | None, commercial: bool, as_json: bool, **given: Any) -> None:
    """Build the dataset of RECIPE: `excam40k`, `free` or a YAML file of yours.

    `free` has the sources that the embedded metric was tuned on.
    """
    require("pip install 'mores[build]'", "yaml", "sklearn", "pyarrow")
    model = given.pop("model")
    soften = _soften(open_model(model, Options(given.pop("base_url")))) if model else None
    changed = {key: value for key, value in given.items() if value is not None and key != "base_url"}
    wanted = read_recipe(name).model_copy(update=changed)
    if model and wanted.soft != "model":
        raise ConfigError(f"--model makes soft errors, but {wanted.name} makes them by {wanted.soft}; add --soft model")
    built = _build(wanted, data, commercial, soften, out)
    for problem in built.problems[:SHOWN]:
        click.echo(f"left out: {problem}", err=True)
    if len(built.problems) > SHOWN:
        click.echo(f"left out: {len(built.problems) - SHOWN} more bad rows", err=True)
    for line in built.missing:
        click.echo(f"note: there was no {line}", err=True)
    click.echo(f"wrote {out}; its card is {out / 'card.html'}", err=True)
    if as_json:
        click.echo(json.dumps({source: found.model_dump() for source, found in built.shortcuts.items()}, indent=2))
    else:
        _show(built)


@build.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def verify(folder: Path) -> None:
    """Check a dataset: sums, records, spans, counts, and that nothing leaks from one split into another."""
    problems = check(folder)
    if problems:
        more = f"\n  and {len(problems) - 20} more" if len(problems) > 20 else ""
        raise InputError(f"{folder} is not as it was built:\n  " + "\n  ".join(problems[:20]) + more)
    click.echo(f"{folder} is as it was built")


@build.command()
@click.argument("folder", metavar="DATA", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the dataset with evidence.",
)
@click.option(
    "--passages", default=3, show_default=True, type=click.IntRange(1), help="Facts that a sample gets, at most."
)
@click.option(
    "--characters", default=300, show_default=True, type=click.IntRange(50), help="Length of a fact, at most."
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    help="Draws the half of the items that may see their own fact, and what is reworded.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
def ground(folder: Path, out: Path, passages: int, characters: int, seed: int, as_json: bool) -> None:
    """Give the samples of a built dataset evidence, for a metric that judges by it.

    The evidence of a sample are the nearest facts of the dataset. `mores train --data DIR` learns from it;
    test-covered.jsonl and test-uncovered.jsonl measure with a corpus that has what is asked, and with one that has not,
    test-reworded.jsonl with answers and facts in other words.
    """
    with Stages() as stages:
        made = ground_dataset(folder, out, passages, characters, seed, stages)
    click.echo(f"wrote {out}", err=True)
    if as_json:
        click.echo(made.model_dump_json(indent=2))
    else:
        plain_console().print(_retrieved(made))


def _soften(model: Model) -> Soften:
    """Soft errors by a model, through the engine and its store."""

    async def collect(golds: list[Gold], counts: Counts, bar: Bar) -> list[Gold]:
        made: list[Gold] = []
        reasons, uncultural = Counter[str](), 0
        with Store(store_path()) as store:
            async with bar.ticking(), aclosing(make_soft(golds, model, store=store, counts=counts)) as results:
                async for _, result in results:
                    if isinstance(result, Gold):
                        made.append(result)
                    elif result is None:
                        uncultural += 1
                    else:
                        reasons[result.kind] += 1
        found = ", ".join(filter(None, (f"{uncultural:,} not cultural" if uncultural else "", show_failures(reasons))))
        click.echo(f"{len(made)} soft errors made" + (f"; {found}" if found else ""), err=True)
        return made

    def soften(golds: list[Gold]) -> list[Gold]:
        counts = Counts()
        with Bar("soft errors", 2 * len(golds), counts, price_of(model.name)) as bar:
            return run(collect(golds, counts, bar))

    return soften


def _build(wanted: Recipe, data: Path | None, commercial: bool, soften: Soften | None, out: Path) -> Built:
    started = time.monotonic()
    with Stages() as stages:
        built = make(wanted, data, commercial, stages, stages.paused(soften) if soften else None)
        write(built, wanted, out, stages, page)
    click.echo(f"built {len(built.golds):,} samples in {duration(time.monotonic() - started)}", err=True)
    return built


def _retrieved(made: Grounded) -> Grid:
    """How often the own fact is among the evidence, in files where there are samples and it can be."""
    files = {name: found for name, found in made.found.items() if found and not name.endswith("-uncovered")}
    sources = sorted({source for found in files.values() for source in found if source != "all"})
    rows: list[Row] = []
    for source in [*sources, "all"]:
        parts = [found.get(source) for found in files.values()]
        rows.append((source, *("" if part is None else percent(part.own / part.samples) for part in parts)))
    return Grid(("own fact found", *files), [("", rows)])


def _show(built: Built) -> None:
    """The sources and, last, the whole: how well a classifier does that sees the text alone."""
    rows: list[Row] = []
    for source, found in built.shortcuts.items():
        counts = [built.items.get(source), built.bad.get(source), found.n, built.lost.get(source)]
        cells = ["" if count is None else f"{count:,}" for count in counts]
        paper = built.paper_shortcuts[source]
        rows.append((source, *cells, *((number(one.value, 3), f"± {number(one.error, 3)}") for one in (found, paper))))
    columns = ("source", "items", "bad", "samples", "left out", "shortcut", "paper's")
    console = plain_console()
    console.print(Grid(columns, [("", rows)]), "")
    if whole := built.shortcuts.get("all"):
        accuracy = f"{number(whole.value, 3)} ± {number(whole.error, 3)}"
        line = f"a classifier that sees the text alone has a scaled accuracy of {accuracy}, where 0 is chance"
        console.print(f"{whole.n:,} samples; {line}", soft_wrap=True)
