"""`mores bench`: how well a model does on cultural benchmarks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from mores.benchmark import all_in, benchmarks
from mores.benchmark.api import open_session
from mores.benchmark.settings import BenchSettings
from mores.cli.bench_plan import dry_run, show_checks, show_info
from mores.cli.command import command
from mores.cli.result import asking, check_output, write_document_figures
from mores.engine.loop import run
from mores.errors import ConfigError, ModelError
from mores.gate import BenchGate
from mores.io import write_text
from mores.report import bench as report
from mores.report.base.grid import print_tables
from mores.report.settings import DryRunSettings, OutputSettings

LIST, INFO, CHECK = "list", "info", "check"
"""Words in the place of a benchmark: list all, describe some, check some."""


@command(BenchSettings, BenchGate, DryRunSettings, OutputSettings)
def bench(settings: BenchSettings, gate: BenchGate, dry: DryRunSettings, output: OutputSettings) -> None:
    """Ask a model the questions of BENCHMARK... and measure how well it does and where it is weak, with intervals.

    A BENCHMARK is a name or the path of a folder with a benchmark of your own, whose code is executed. `mores bench
    list` shows what there is, `mores bench info BENCHMARK` all about one: files, prompts, figures, paper and licence;
    `mores bench check BENCHMARK` says what a benchmark of yours lacks. A stopped run continues where it stopped.
    """
    given: Any = settings.benchmark
    names, out = tuple(given) if isinstance(given, tuple | list) else (given,), settings.out
    if _describe(names, output.json):
        return
    chosen = [each for name in dict.fromkeys(names) for each in all_in(name)]
    check_output(output)
    gate.require_baseline(each.name for each in chosen)
    session = open_session(settings.model, settings)
    for each in chosen:
        session.asking.check(each, session.judges)
    with asking(session.asker):
        if dry.dry_run:
            dry_run(session, chosen, output.json)
            return
        runs = [run(session.run(each, out)) for each in chosen]
    report.write_pages(runs, out)
    click.echo(f"wrote {out}; its page is {out / 'bench.html'}", err=True)
    if output.html:
        write_text(output.html, (out / "bench.html").read_text("utf-8"))
    results = [each.result for each in runs]
    write_document_figures(report.describe_runs([report.AnsweredRun(result) for result in results]), output)
    if output.json:
        click.echo(json.dumps([result.model_dump(mode="json") for result in results], indent=2))
    else:
        print_tables(report.tables(results))
    if empty := [result.benchmark for result in results if not next(iter(result.figures.values())).n]:
        raise ModelError(f"{empty[0]}: no answer could be graded; the reasons are in verdicts.jsonl")
    gate.check(runs)


def _describe(names: Sequence[str], as_json: bool) -> bool:
    """List, check or describe benchmarks, where that is asked for."""
    if tuple(names) == (LIST,):
        _list(as_json)
    elif names[0] == CHECK:
        show_checks(names[1:], as_json)
    elif names[0] == INFO:
        chosen = [each for name in dict.fromkeys(names[1:]) for each in all_in(name)]
        if not chosen:
            raise ConfigError("name a benchmark: mores bench info BENCHMARK; `mores bench list` shows what there is")
        show_info(chosen, as_json)
    else:
        return False
    return True


def _list(as_json: bool) -> None:
    every = list(benchmarks(lambda error: click.echo(f"note: {error}", err=True)))
    if as_json:
        names = ("name", "title", "licence", "homepage", "files", "variants")
        rows = [{name: getattr(each, name) for name in names} | {"judge": each.judging is not None} for each in every]
        click.echo(json.dumps(rows, indent=2))
        return
    print_tables([report.benchmark_table(every)])
