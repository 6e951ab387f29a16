"""`mores build`: make instruction-text pairs with gold error reports from cultural datasets."""

from __future__ import annotations

import json

import click

from mores.cli.command import command
from mores.cli.push import check_push, push
from mores.engine.loop import run as run_loop
from mores.errors import InputError
from mores.factory.api import build as make
from mores.factory.folder import MANIFEST, compare, sum_of
from mores.factory.folder import verify as check
from mores.factory.settings import BuildSettings
from mores.report.base.grid import plain_console, print_tables
from mores.report.card import difference_tables
from mores.report.runs import run_tables
from mores.report.settings import JsonSettings, PushSettings
from mores.report.train import grounded_table
from mores.settings import Settings, apply, setting
from mores.settings.values import AnyPath
from mores.training.api import ground as ground_samples
from mores.training.settings import GroundSettings


class _Recipes(click.Group):
    """`mores build verify DIR`, `diff A B` and `ground DIR` are commands; any other word is a recipe."""

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
    `mores build verify DIR`, `mores build diff A B`, or `mores build ground DIR --out DIR` for evidence.
    The same command continues a build that was stopped.
    """


@command(BuildSettings, PushSettings, JsonSettings)
def recipe(settings: BuildSettings, hub: PushSettings, output: JsonSettings) -> None:
    """Build the dataset of RECIPE: `excam40k`, `free` or a YAML file of yours.

    `free` has the sources that the embedded metric was tuned on.
    """
    check_push(hub)
    try:
        run = run_loop(apply(make, settings))
    except KeyboardInterrupt:
        click.echo("Finished parts are saved; rerun to resume.", err=True)
        raise
    click.echo(f"wrote {settings.out}; its card is {settings.out / 'card.html'}", err=True)
    if output.json:
        click.echo(json.dumps(run.about["shortcut"], indent=2))
    else:
        print_tables(run_tables(run))
    push(hub, run.upload)


class DatasetSettings(Settings):
    """A built dataset."""

    folder: AnyPath = setting(kw_only=False, place="folder", metavar="FOLDER", help="Folder that `mores build` wrote.")


@command(DatasetSettings)
def verify(settings: DatasetSettings) -> None:
    """Check a dataset: sums, manifest, gold reports, counts, and that nothing leaks from one split into another."""
    folder = settings.folder
    problems = check(folder)
    if problems:
        more = f"\n  and {len(problems) - 20} more" if len(problems) > 20 else ""
        raise InputError(f"{folder} is not as it was built:\n  " + "\n  ".join(problems[:20]) + more)
    click.echo(f"{folder} is as it was built; the sum of its manifest is {sum_of(folder / MANIFEST)}")


class DatasetsSettings(Settings):
    """Two built datasets."""

    before: AnyPath = setting(kw_only=False, place="path", metavar="A", help="A dataset, or its manifest.jsonl.")
    after: AnyPath = setting(kw_only=False, place="path", metavar="B", help="The other one.")


@command(DatasetsSettings, JsonSettings)
def diff(settings: DatasetsSettings, output: JsonSettings) -> None:
    """Compare the samples of two datasets, A and B: which were added, removed or changed.

    A and B are folders that `mores build` wrote, or their manifest.jsonl alone. The exit code is 1 if they differ.
    """
    differences = compare(settings.before, settings.after)
    if output.json:
        click.echo(json.dumps([difference.model_dump(mode="json") for difference in differences], indent=2))
    else:
        print_tables(difference_tables(differences))
    if not differences[-1].is_empty:
        click.get_current_context().exit(1)


@command(GroundSettings, JsonSettings)
def ground(settings: GroundSettings, output: JsonSettings) -> None:
    """Give the samples of a built dataset evidence, for a metric that judges by it.

    The evidence of a sample are the nearest facts of the dataset. `mores train --data DIR` learns from it;
    test-covered.jsonl and test-uncovered.jsonl measure with a corpus that covers what is asked, and one that does not,
    test-reworded.jsonl with answers and facts in other words.
    """
    grounded = run_loop(apply(ground_samples, settings))
    click.echo(f"wrote {settings.out}", err=True)
    if output.json:
        click.echo(grounded.model_dump_json(indent=2))
    else:
        plain_console().print(grounded_table(grounded))


for _command in (recipe, verify, diff, ground):
    build.add_command(_command)
