"""What `mores bench` says before anything is asked: what a benchmark is, and what a run of it would send and cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from mores.bench.benchmark import Benchmark
from mores.bench.session import Session
from mores.cli.score import print_estimate
from mores.search import search_cost
from mores.show import money


def show_info(benchmarks: Sequence[Benchmark], as_json: bool) -> None:
    """All about some benchmarks: their data, prompts, figures, paper and licence."""
    known = [_info(one) for one in benchmarks]
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


def _info(one: Benchmark) -> dict[str, Any]:
    assert one.folder is not None
    prompts = {path.name: path.read_text("utf-8") for path in one.folder.glob("*.txt")}
    sample = one.folder / "sample"
    first = next(one.read(sample, lambda _: None), None) if sample.is_dir() else None
    if first:
        prompts["for example, the model is asked"] = "\n".join(message.content for message in one.messages(first))
    return {
        "name": one.name,
        "what": one.title,
        "paper": one.homepage,
        "licence": one.licence,
        "files": one.files,
        "folder": f"DATA/{one.source}, with --data DATA" + (f"; or {one.data}" if one.data else ""),
        "hub": one.hub,
        "graded by": one.graded_by,
        "figures": list(one.figures),
        "broken down": [f"by {name}" for name in one.groupings],
        "variants": list(one.variants),
        "topics": list(one.topics),
        "decoding": f"temperature {one.temperature}, at most {one.max_tokens:,} tokens",
        "version": one.version,
        "prompts": dict(sorted(prompts.items(), key=lambda prompt: (" " in prompt[0], prompt[0]))),
    }


def dry_run(session: Session, chosen: Sequence[Benchmark], as_json: bool) -> None:
    """What the model, the judges and the search would be asked, and the cost."""
    plans: dict[str, dict[str, Any]] = {}
    asking = session.asking
    for one in chosen:
        job = session.job(*session.items(one))
        estimates = {f"{one.name}: {name}": found for name, found in session.estimates(job).items()}
        plans |= {name: found.model_dump() for name, found in estimates.items()}
        if as_json:
            continue
        for name, found in estimates.items():
            click.echo(f"{name}:")
            print_estimate(found, as_json=False)
        if asking.search:
            number = len(job.items)
            cost = search_cost(asking.search, number, asking.results)
            click.echo(f"{number:,} searches, at most {money(cost)}; what they find is not counted above")
        if one.long_answer and session.judges:
            click.echo(f"{one.name}: the judge of long answers is not counted; `mores longform --dry-run` counts it")
    if as_json:
        click.echo(json.dumps(plans, indent=2))
