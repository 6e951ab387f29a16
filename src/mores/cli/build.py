"""`mores build`: make instruction-text pairs with gold error reports. `mores sources`: the datasets for that."""

from __future__ import annotations

import json
from shlex import quote
from typing import Any

import click

from mores.cli.command import command
from mores.cli.result import check_push, hint_at_failures, print_estimates, print_result, push, show_document
from mores.engine.loop import run as run_loop
from mores.errors import InputError
from mores.factory.settings import BuildSettings, DatasetSettings, DatasetsSettings, SourcesSettings
from mores.report.settings import DryRunSettings, JsonSettings, OutputSettings, PushSettings
from mores.search.settings import CorpusSettings
from mores.settings import apply
from mores.training.settings import GroundSettings


class _Recipes(click.Group):
    """`mores build verify DIR`, `diff A B` and `ground DIR` are commands; any other word is a recipe."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            args = ["recipe", *args]
        return super().resolve_command(ctx, args)


@command(BuildSettings, DryRunSettings, PushSettings, OutputSettings)
def recipe(settings: BuildSettings, dry: DryRunSettings, hub: PushSettings, output: OutputSettings) -> None:
    """Build the dataset of RECIPE: `excam40k`, `free` or a YAML file of yours.

    `free` has the sources that may be used commercially and passed on; `excam40k-2` and `free-2` are of edition 2.
    """
    from mores.factory import api
    from mores.report.runs import describe

    if dry.dry_run:
        print_estimates({"": api.estimate_soft(settings)}, output.json)
        return
    check_push(hub)
    try:
        run = run_loop(apply(api.build, settings))
    except KeyboardInterrupt:
        click.echo("Finished parts are saved; rerun to resume.", err=True)
        raise
    click.echo(f"wrote {settings.out}; its card is {settings.out / 'card.html'}", err=True)
    if settings.validate:
        folder = quote(str(settings.out))
        click.echo("next, for people to validate samples:", err=True)
        for step in ("new {}/validate.yaml", "import NAME {}/validate.jsonl", "export NAME {}/validated"):
            click.echo(f"  mores studio --database {folder}/validate.db {step.format(folder)}", err=True)
    hint_at_failures(run.manifest.failures)
    show_document(describe(run), output, run.about["shortcut"])
    push(hub, run.upload)


@command(DatasetSettings)
def verify(settings: DatasetSettings) -> None:
    """Check a dataset: sums, manifest, gold reports, counts, and that nothing leaks from one split into another."""
    from mores.factory import folder as built

    folder = settings.folder
    if problems := built.verify(folder):
        more = f"\n  and {len(problems) - 20} more" if len(problems) > 20 else ""
        raise InputError(f"{folder} is not as it was built:\n  " + "\n  ".join(problems[:20]) + more)
    click.echo(f"{folder} is as it was built; the sum of its manifest is {built.sum_of(folder / built.MANIFEST)}")


@command(DatasetsSettings, JsonSettings)
def diff(settings: DatasetsSettings, output: JsonSettings) -> None:
    """Compare the samples of two datasets, A and B: which were added, removed or changed.

    A and B are folders that `mores build` wrote, or their manifest.jsonl alone. The exit code is 1 if they differ.
    """
    from mores.factory.folder import compare
    from mores.report.card import difference_tables

    differences = compare(settings.before, settings.after)
    data = [difference.model_dump(mode="json") for difference in differences]
    print_result(data, difference_tables(differences), output.json)
    if not differences[-1].is_empty:
        click.get_current_context().exit(1)


@command(GroundSettings, JsonSettings)
def ground(settings: GroundSettings, output: JsonSettings) -> None:
    """Give the samples of a built dataset evidence, for a metric that judges by it.

    The evidence of a sample are the nearest facts of the dataset. `mores train --data DIR` learns from it;
    test-covered.jsonl and test-uncovered.jsonl measure with a corpus that covers what is asked, and one that does not,
    test-reworded.jsonl with answers and facts in other words.
    """
    from mores.report.train import grounded_table
    from mores.training.api import ground as ground_samples

    grounded = run_loop(apply(ground_samples, settings))
    click.echo(f"wrote {settings.out}", err=True)
    print_result(grounded, grounded_table(grounded), output.json)


ABOUT = """Make instruction-text pairs with gold error reports from cultural datasets.

`mores build excam40k --data DIR --out DIR`, `mores build free …`, `mores build MINE.yaml …`,
`mores build verify DIR`, `mores build diff A B`, or `mores build ground DIR --out DIR` for evidence.
The same command continues a build that was stopped.
"""
build = _Recipes("build", commands=[recipe, verify, diff, ground], help=ABOUT)


@command(CorpusSettings, JsonSettings)
def corpus(settings: CorpusSettings, output: JsonSettings) -> None:
    """Make one file of passages with its index, for --evidence, from what you have.

    INPUT is a Wikipedia dump (.xml, .xml.bz2) or its Parquet edition, any table with a column "text", a text, a PDF, a
    folder of these, the address of a web page, or a file with one address in each line.
    """
    from mores.search.api import corpus as make

    made = run_loop(apply(make, settings))
    click.echo(f"wrote {made.path}: {made.passages:,} passages of {made.kept:,} of {made.texts:,} texts", err=True)
    if output.json:
        click.echo(made.model_dump_json(indent=2))


@command(SourcesSettings, JsonSettings)
def sources(settings: SourcesSettings, output: JsonSettings) -> None:
    """List the datasets that training data are made from, their licences and where to get them."""
    from mores.factory.api import list_sources
    from mores.report.lists import sources_table

    rows = list_sources(settings, lambda text: click.echo(f"note: {text}", err=True))
    print_result(json.dumps(rows, indent=2, ensure_ascii=False), sources_table(rows), output.json)
