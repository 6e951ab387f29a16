"""What `mores bench` says before anything is asked: what a benchmark is, and what a run of it would send and cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from mores.benchmark.benchmark import Benchmark
from mores.benchmark.contract import check
from mores.benchmark.session import Session
from mores.cli.estimate import print_estimates
from mores.engine.estimate import Estimate
from mores.errors import ConfigError
from mores.formatting import money
from mores.io.source import read_text
from mores.report.base.grid import plain_console
from mores.report.bench import check_table
from mores.search import search_cost


def show_info(benchmarks: Sequence[Benchmark], as_json: bool) -> None:
    """Describe some benchmarks: their data, prompts, figures, paper and licence."""
    known = [_info(benchmark) for benchmark in benchmarks]
    if as_json:
        click.echo(json.dumps(known, indent=2, ensure_ascii=False))
        return
    for info in known:
        prompts = info.pop("prompts")
        for name, value in info.items():
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            click.echo(f"{name + ':':<13}{'–' if shown in (None, '') else shown}")
        for name, text in prompts.items():
            click.echo(f"\n{name}\n" + "\n".join(f"  {line}" for line in text.splitlines()))
        click.echo()


def _info(benchmark: Benchmark) -> dict[str, Any]:
    assert benchmark.folder is not None
    prompts = {path.name: read_text(path) for path in benchmark.folder.glob("*.txt")}
    sample = benchmark.folder / "sample"
    first = next(benchmark.read(sample, lambda _: None), None) if sample.is_dir() else None
    if first:
        prompts["for example, the model is asked"] = "\n".join(message.content for message in benchmark.messages(first))
    return {
        "name": benchmark.name,
        "what": benchmark.title,
        "paper": benchmark.homepage,
        "licence": benchmark.licence,
        "files": benchmark.files,
        "folder": f"DATA/{benchmark.source}, with --data DATA" + (f"; or {benchmark.data}" if benchmark.data else ""),
        "hub": benchmark.hub,
        "graded by": benchmark.graded_by,
        "figures": list(benchmark.figures),
        "broken down": [f"by {name}" for name in benchmark.groupings],
        "variants": list(benchmark.variants),
        "topics": list(benchmark.topics),
        "decoding": f"temperature {benchmark.temperature}, at most {benchmark.max_tokens:,} tokens",
        "version": benchmark.version,
        "prompts": dict(sorted(prompts.items(), key=lambda prompt: (" " in prompt[0], prompt[0]))),
    }


def dry_run(session: Session, chosen: Sequence[Benchmark], as_json: bool) -> None:
    """Print what the model, the judges and the search would be asked, and the cost."""
    estimates: dict[str, Estimate] = {}
    asking = session.asking
    for each in chosen:
        job = session.job(*session.items(each))
        of_one = {f"{each.name}: {name}": estimate for name, estimate in session.estimates(job).items()}
        estimates |= of_one
        if as_json:
            continue
        print_estimates(of_one, as_json)
        if asking.search:
            number = len(job.items)
            cost = search_cost(asking.search, number, asking.results)
            click.echo(f"{number:,} searches, at most {money(cost)}; what they find is not counted above")
        if each.long_answer and session.judges:
            click.echo(f"{each.name}: the judge of long answers is not counted; `mores longform --dry-run` counts it")
    if as_json:
        print_estimates(estimates, as_json)


def show_checks(names: Sequence[str], as_json: bool) -> None:
    """Print every check of some benchmarks with its result; exit with 1 where something is missing."""
    if not names:
        raise ConfigError("name a benchmark or its folder: mores bench check BENCHMARK")
    checked = {name: checks for given in names for name, checks in check(given).items()}
    complete = {name: all(each.status == "ok" for each in checks) for name, checks in checked.items()}
    if as_json:
        rows = [
            {"name": name, "ok": complete[name], "checks": [each.model_dump() for each in checks]}
            for name, checks in checked.items()
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        console = plain_console()
        for name, checks in checked.items():
            console.print(check_table(name, checks))
    if not all(complete.values()):
        click.get_current_context().exit(1)
