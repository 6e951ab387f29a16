"""`mores bench`: how well a model does on cultural benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import click

from mores.benchmark import all_in, benchmarks
from mores.benchmark.api import BenchOptions, open_session
from mores.cli import options
from mores.cli.appraise import facts_of, long_options
from mores.cli.bench_check import show_checks
from mores.cli.bench_plan import dry_run, show_info
from mores.engine.loop import run
from mores.errors import ConfigError, ModelError
from mores.gate import BenchGate
from mores.report import bench as report
from mores.report.base.figures import write_figures
from mores.report.base.grid import print_tables

LIST, INFO, CHECK = "list", "info", "check"
"""Words in the place of a benchmark: list all, describe some, check some."""

_ASKING = [
    click.option("--judge", multiple=True, metavar="MODEL",
                 help="Model that grades answers, where a benchmark needs one; given several times, the majority of "
                      "them counts."),
    click.option("--judge-url", metavar="URL", help="Address of its server  [default: as for the model]."),
    options.data_option,
    click.option("--labels", multiple=True, type=click.Path(exists=True, path_type=Path),
                 help="File of `mores tiers` or run of `mores topics`; results are broken down by what it says."),
    options.limit_option,
    click.option("--shuffle-options", "shuffle", type=int, metavar="SEED",
                 help="Multiple choice with the options of each question in another order, drawn by its id and SEED."),
    click.option("--variant", help="Another way to ask, where a benchmark has one, for example english."),
    click.option("--temperature", default="default",
                 type=options.NumberType(float, {"none": None, "default": "default"}),
                 help="Sampling temperature, or 'none' to send none  [default: the benchmark's]."),
    click.option("--max-tokens", type=click.IntRange(1), help="Longest answer  [default: the benchmark's]."),
    options.seed_option,
    options.price_option,
]  # fmt: skip
_SEARCHING = [
    click.option("--search", metavar="SEARCH",
                 help="Show the model what a search finds: serper, corpus:PATH, fused:PATH, replay:FILE."),
    click.option("--results", default=5, show_default=True, type=click.IntRange(1), help="Most results of a search."),
]  # fmt: skip


asking_options = options.several(_ASKING)
"""What `bench_options` reads of how questions are asked and graded."""
search_options = options.several(_SEARCHING)
"""What it reads of a search."""


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="BENCHMARK...")
@asking_options
@long_options
@click.option("--samples", default=1, show_default=True, type=click.IntRange(1), help="Answers to each question.")
@click.option("--out", type=options.NEW_FOLDER, default=Path("bench"), show_default=True,
              help="Folder for the runs: one folder for each benchmark and model.")  # fmt: skip
@search_options
@click.option(
    "--by-logprob",
    is_flag=True,
    help="Multiple choice by the likeliest option as the first word, instead of by what the model writes.",
)
@click.option(
    "--judge-failures",
    type=click.Choice(["unscored", "incorrect"]),
    default="unscored",
    show_default=True,
    help="What an answer counts as that the judge fails to grade; MSQA's authors count it as incorrect.",
)
@options.figures_option
@click.option("--dry-run", is_flag=True, help="Show what the run would send and cost, and stop.")
@options.bench_gate_options
@options.json_option("the tables")
@options.model_options
def bench(names: tuple[str, ...], **given: Any) -> None:
    """Ask a model the questions of BENCHMARK... and measure how well it does and where it is weak, with intervals.

    A BENCHMARK is a name or the path of a folder with a benchmark of your own, whose code is executed. `mores bench
    list` shows what there is, `mores bench info BENCHMARK` all about one: files, prompts, figures, paper and licence;
    `mores bench check BENCHMARK` says what a benchmark of yours lacks. A stopped run continues where it stopped.
    """  # fmt: skip
    if names == (LIST,):
        _list(given["as_json"])
        return
    if names[0] == CHECK:
        show_checks(names[1:], given["as_json"])
        return
    chosen = [one for name in dict.fromkeys(names[1:] if names[0] == INFO else names) for one in all_in(name)]
    if names[0] == INFO:
        if not chosen:
            raise ConfigError("name a benchmark: mores bench info BENCHMARK; `mores bench list` shows what there is")
        show_info(chosen, given["as_json"])
        return
    out, as_json = given.pop("out"), given.pop("as_json")
    gate = BenchGate(**options.take(given, "fail_under", "baseline", "max_unjudged"))
    gate.require_baseline(each.name for each in chosen)
    dry, figures = given.pop("dry_run"), given.pop("figures")
    session = open_session(given.pop("model"), **bench_options(given))
    for each in chosen:
        session.asking.check(each, session.judges)
    with options.run_of(session.asker):
        if dry:
            dry_run(session, chosen, as_json)
            return
        runs = [run(session.run(each, out)) for each in chosen]
    report.write_pages(runs, out)
    click.echo(f"wrote {out}; its page is {out / 'bench.html'}", err=True)
    results = [each.result for each in runs]
    if figures:
        write_figures(report.sections(results), report.tables(results), figures)
    if as_json:
        click.echo(json.dumps([result.model_dump(mode="json") for result in results], indent=2))
    else:
        print_tables(report.tables(results))
    if empty := [result.benchmark for result in results if not next(iter(result.figures.values())).n]:
        raise ModelError(f"{empty[0]}: no answer could be graded; the reasons are in verdicts.jsonl")
    gate.check(runs)


def bench_options(given: dict[str, Any]) -> BenchOptions:
    """Return how a benchmark is asked and graded, and how the model is reached; taken out of `given`."""
    if "facts" in given:
        given["facts"] = facts_of(given)
    asking = options.asking(given)
    return cast("BenchOptions", {**asking, **options.take(given, *BenchOptions.__annotations__)})


def _list(as_json: bool) -> None:
    every = list(benchmarks(lambda error: click.echo(f"note: {error}", err=True)))
    if as_json:
        rows = [{"name": b.name, "title": b.title, "licence": b.licence, "homepage": b.homepage, "files": b.files,
                 "judge": b.judging is not None, "variants": b.variants} for b in every]  # fmt: skip
        click.echo(json.dumps(rows, indent=2))
        return
    print_tables([report.benchmark_table(every)])
