"""`mores bench`: how well models do on cultural benchmarks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mores.benchmark.settings import BenchSettings, MoreModels
from mores.cli.command import command
from mores.cli.result import asking, hint_at_failures, print_estimates, print_result, show_document
from mores.errors import ConfigError, ModelError
from mores.formatting import money
from mores.gate import BenchGate
from mores.report.settings import DryRunSettings, OutputSettings

if TYPE_CHECKING:
    from mores.benchmark.benchmark import Benchmark
    from mores.benchmark.session import Session
    from mores.engine.estimate import Estimate


def show_list(_: Sequence[str], as_json: bool, __: BenchSettings) -> None:
    """List all benchmarks."""
    from mores.benchmark import benchmarks
    from mores.report.bench import benchmark_table

    every = list(benchmarks(lambda error: click.echo(f"note: {error}", err=True)))
    names = ("name", "title", "licence", "homepage", "files", "variants")
    rows = [{name: getattr(each, name) for name in names} | {"judge": each.judging is not None} for each in every]
    print_result(rows, [benchmark_table(every)], as_json)


def show_info(names: Sequence[str], as_json: bool, settings: BenchSettings) -> None:
    """Describe some benchmarks: their data, with counts where it is at hand, prompts, figures, paper and licence."""
    from mores.benchmark import all_in
    from mores.benchmark.contract import list_facts
    from mores.report.bench import facts_text
    from mores.report.cite import paper_of

    chosen = [benchmark for name in dict.fromkeys(names) for benchmark in all_in(name)]
    facts = (list_facts(benchmark, settings.data, settings.progress) for benchmark in chosen)
    known = [fact | {"paper": paper_of(benchmark)} for fact, benchmark in zip(facts, chosen, strict=True)]
    if not known:
        raise ConfigError("name a benchmark: mores bench info BENCHMARK; `mores bench list` shows what there is")
    if as_json:
        click.echo(json.dumps(known, indent=2, ensure_ascii=False))
        return
    click.echo("\n".join(map(facts_text, known)))


def dry_run(sessions: Sequence[Session], chosen: Sequence[Benchmark], as_json: bool) -> None:
    """Print what the models, the judges and the search would be asked, and the cost."""
    from mores.search import search_cost

    estimates: dict[str, Estimate] = {}
    search, results = sessions[0].asking.search, sessions[0].asking.results
    for session, each in product(sessions, chosen):
        job = session.job(*session.items(each))
        asked = each.name if len(sessions) == 1 else f"{session.asker.model.name}, {each.name}"
        of_one = {f"{asked}: {name}": estimate for name, estimate in session.estimates(job).items()}
        estimates |= of_one
        if as_json:
            continue
        print_estimates(of_one, as_json)
        if search:
            cost = money(search_cost(search, len(job.items), results))
            click.echo(f"{len(job.items):,} searches, at most {cost}; what they find is not counted above")
        if each.long_answer and session.judges:
            click.echo(f"{each.name}: the judge of long answers is not counted; `mores longform --dry-run` counts it")
    if as_json:
        print_estimates(estimates, as_json)


def show_checks(names: Sequence[str], as_json: bool, _: BenchSettings) -> None:
    """Print every check of some benchmarks with its result; exit with 1 where something is missing."""
    from mores.benchmark.contract import check
    from mores.report.base.grid import plain_console
    from mores.report.bench import check_table

    if not names:
        raise ConfigError("name a benchmark or its folder: mores bench check BENCHMARK")
    checked = {name: checks for given in names for name, checks in check(given).items()}
    complete = {name: all(each.status == "ok" for each in checks) for name, checks in checked.items()}
    if as_json:
        dumped = {name: [each.model_dump() for each in checks] for name, checks in checked.items()}
        rows = [{"name": name, "ok": complete[name], "checks": checks} for name, checks in dumped.items()]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        plain_console().print(*(check_table(name, checks) for name, checks in checked.items()))
    if not all(complete.values()):
        click.get_current_context().exit(1)


def write_files(names: Sequence[str], _: bool, __: BenchSettings) -> None:
    """Write the file that says how the questions of a table are asked."""
    from mores.benchmark.questions import write_definition

    for path in write_definition(Path(*names[:1] or ["questions.csv"])):
        click.echo(f"wrote {path}")


DESCRIBED = {"list": show_list, "info": show_info, "check": show_checks, "init": write_files}
"""What words in the place of a benchmark do."""


@command(BenchSettings, MoreModels, BenchGate, DryRunSettings, OutputSettings)
def bench(
    settings: BenchSettings, more: MoreModels, gate: BenchGate, dry: DryRunSettings, output: OutputSettings
) -> None:
    """Ask a model the questions of BENCHMARK... and measure how well it does and where it is weak, with intervals.

    A BENCHMARK is a name, a table of your own questions (docs/benchmarks.md), or the path of a folder with a benchmark
    of your own, whose code is executed. `mores bench list` shows what there is, `mores bench info BENCHMARK` all about
    one; `mores bench check BENCHMARK` says what a benchmark of yours lacks, and `mores bench init TABLE` writes a file
    that says how your questions are asked and graded. A stopped run continues where it stopped.
    """
    from mores.benchmark import all_in
    from mores.benchmark.api import open_session
    from mores.engine.loop import run
    from mores.report.bench import write_pages

    given: Any = settings.benchmark
    names, out = tuple(given) if isinstance(given, tuple | list) else (given,), settings.out
    if names[0] in DESCRIBED and (names[0] != "list" or len(names) == 1):
        DESCRIBED[names[0]](names[1:], output.json, settings)
        return
    chosen = [each for name in dict.fromkeys(names) for each in all_in(name)]
    gate.require_baseline(each.name for each in chosen)
    sessions = [
        open_session(model, settings, chosen, settings.by) for model in dict.fromkeys((settings.model, *more.also))
    ]
    for each in chosen:
        sessions[0].asking.check(each, sessions[0].judges)
    with asking(*(session.asker for session in sessions)):
        if dry.dry_run:
            dry_run(sessions, chosen, output.json)
            return
        runs = [run(session.run(each, out)) for session in sessions for each in chosen]
    document, results = write_pages(runs, out), [each.result for each in runs]
    click.echo(f"wrote {', '.join(str(each.path) for each in runs)}; the page is {out / 'bench.html'}", err=True)
    hint_at_failures(sum((Counter(each.manifest.failures) for each in runs), Counter[str]()))
    show_document(document, output, [result.model_dump(mode="json") for result in results])
    if empty := [result.benchmark for result in results if not next(iter(result.figures.values())).n]:
        raise ModelError(f"{empty[0]}: no answer could be graded; the reasons are in verdicts.jsonl")
    gate.check(runs)
