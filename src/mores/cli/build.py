"""`mores build`: make instruction-text pairs with gold error reports from cultural datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from mores.cli.options import FOLDER, NEW_FOLDER, json_option, ray_options
from mores.cli.progress import Terminal
from mores.cli.push import push_options, take_push
from mores.engine import AskOptions
from mores.engine.loop import run as run_loop
from mores.errors import InputError
from mores.factory.api import build as make
from mores.factory.manifest import MANIFEST, compare, sum_of
from mores.factory.verify import verify as check
from mores.report.base.grid import plain_console, print_tables
from mores.report.card import difference_tables, run_tables


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


@build.command()
@click.argument("name", metavar="RECIPE")
@click.option("--out", required=True, type=NEW_FOLDER, help="Folder for the dataset.")
@click.option("--data", type=FOLDER, help="Folder with one folder per source  [default: from the Hugging Face Hub].")
@click.option(
    "--soft", type=click.Choice(["rules", "model", "none"]), help="Who makes soft errors; overrides the recipe's."
)
@click.option("--model", help="The model that makes soft errors, with --soft model: openai:NAME, hf:PATH or vllm:PATH.")
@click.option("--base-url", metavar="URL", help="Address of its server [env: OPENAI_BASE_URL].")
@ray_options
@click.option("--sampling", type=click.Choice(["shortcut-free", "paper"]), help="Overrides the recipe's.")
@click.option("--cap", type=click.IntRange(1), help="Most samples of a source; overrides the recipe's.")
@click.option("--seed", type=int, help="Overrides the recipe's.")
@click.option("--commercial", is_flag=True, help="Leave out sources that may not be used commercially.")
@push_options
@json_option("the table")
def recipe(name: str, out: Path, data: Path | None, base_url: str | None, as_json: bool, **given: Any) -> None:
    """Build the dataset of RECIPE: `excam40k`, `free` or a YAML file of yours.

    `free` has the sources that the embedded metric was tuned on.
    """
    push = take_push(given)
    asking = AskOptions(base_url=base_url, progress=Terminal())
    try:
        run = run_loop(make(name, out, data=data, **given, **asking))
    except KeyboardInterrupt:
        click.echo("what is finished is kept: run the same command again to go on", err=True)
        raise
    click.echo(f"wrote {out}; its card is {out / 'card.html'}", err=True)
    if as_json:
        click.echo(json.dumps(run.about["shortcut"], indent=2))
    else:
        print_tables(run_tables(run))
    push(run.upload)


@build.command()
@click.argument("folder", type=FOLDER)
def verify(folder: Path) -> None:
    """Check a dataset: sums, manifest, gold reports, counts, and that nothing leaks from one split into another."""
    problems = check(folder)
    if problems:
        more = f"\n  and {len(problems) - 20} more" if len(problems) > 20 else ""
        raise InputError(f"{folder} is not as it was built:\n  " + "\n  ".join(problems[:20]) + more)
    click.echo(f"{folder} is as it was built; the sum of its manifest is {sum_of(folder / MANIFEST)}")


@build.command()
@click.argument("before", metavar="A", type=click.Path(exists=True, path_type=Path))
@click.argument("after", metavar="B", type=click.Path(exists=True, path_type=Path))
@json_option("all ids")
def diff(before: Path, after: Path, as_json: bool) -> None:
    """Compare the samples of two datasets, A and B: which were added, removed or changed.

    A and B are folders that `mores build` wrote, or their manifest.jsonl alone. The exit code is 1 if they differ.
    """
    differences = compare(before, after)
    if as_json:
        click.echo(json.dumps([difference.model_dump(mode="json") for difference in differences], indent=2))
    else:
        print_tables(difference_tables(differences))
    if not differences[-1].is_empty:
        click.get_current_context().exit(1)


@build.command()
@click.argument("folder", metavar="DATA", type=FOLDER)
@click.option("--out", required=True, type=NEW_FOLDER, help="Folder for the dataset with evidence.")
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
    help="Draws the items that may see their own fact, and what is reworded.",
)
@click.option("--pairs", multiple=True, type=FOLDER,
              help="Folder of claims and passages that support or refute them, .jsonl (may be repeated).")  # fmt: skip
@click.option("--untrusted", multiple=True, type=FOLDER,
              help="Folder of more such pairs, whose labels are not used (may be repeated).")  # fmt: skip
@click.option("--sentences", type=FOLDER, help="Folder with sentences, LANGUAGE.txt each, to make such pairs of.")
@click.option("--translated", type=FOLDER, help="BLEnD's folder: adds its answers with facts in another language.")
@json_option("the table")
def ground(folder: Path, out: Path, as_json: bool, **given: Any) -> None:
    """Give the samples of a built dataset evidence, for a metric that judges by it.

    The evidence of a sample are the nearest facts of the dataset. `mores train --data DIR` learns from it;
    test-covered.jsonl and test-uncovered.jsonl measure with a corpus that covers what is asked, and one that does not,
    test-reworded.jsonl with answers and facts in other words.
    """
    from mores.report.train import grounded_table
    from mores.training.ground import GroundSettings, ground_dataset

    grounded = ground_dataset(folder, out, GroundSettings(**given), Terminal())
    click.echo(f"wrote {out}", err=True)
    if as_json:
        click.echo(grounded.model_dump_json(indent=2))
    else:
        plain_console().print(grounded_table(grounded))
