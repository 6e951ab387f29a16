"""What `mores bench` says before anything is asked: what a benchmark is, and what a run of it would send and cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from mores.bench.benchmark import Benchmark, Graded
from mores.bench.run import JUDGE_TOKENS, Run, judge_request
from mores.cli.score import print_estimate
from mores.engine import Job
from mores.engine.cost import price_of
from mores.metric import Metric, Settings
from mores.metric.estimate import estimate
from mores.search import search_cost
from mores.show import money

if TYPE_CHECKING:
    from mores.cli.bench import Session

ANSWER = "word " * 100
"""An answer of the usual length, to count what a judge would read."""


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
    for one in chosen:
        job = session.job(*session.items(one))
        found = {
            f"{one.name}: {job.model.name}": _estimate(
                session, session.how, job.jobs(), job.max_tokens or one.max_tokens
            )
        }
        for judge in session.judges if one.judging else ():
            how = replace(session.judging, model=judge.name)
            found[f"{one.name}: {judge.name} as the judge, at least"] = _estimate(
                session, how, _judged(job), JUDGE_TOKENS
            )
        plans |= {name: own.model_dump() for name, own in found.items()}
        for name, own in found.items() if not as_json else ():
            click.echo(f"{name}:")
            print_estimate(own, as_json=False)
        if session.search and not as_json:
            cost = search_cost(session.search, len(job.items), session.results)
            click.echo(f"{len(job.items):,} searches, at most {money(cost)}; what they find is not counted above")
        if one.long_answer and session.setup.judge and not as_json:
            click.echo(f"{one.name}: the judge of long answers is not counted; `mores longform --dry-run` counts it")
    if as_json:
        click.echo(json.dumps(plans, indent=2))


def _estimate(session: Session, how: Metric, jobs: Iterator[Job], max_tokens: int) -> Any:
    how = replace(how, store=session.store, settings=Settings(max_tokens=max_tokens))
    return estimate(how, jobs, price_of(how.judge_model.name, session.price))


def _judged(job: Run) -> Iterator[Job]:
    """What a judge would be asked about answers of the usual length."""
    judging = job.benchmark.judging
    assert judging is not None
    for item in job.items:
        asked = judging.ask(item, ANSWER)
        if not isinstance(asked, Graded):
            for sample in range(job.samples):
                yield Job(item.id, judge_request(asked), sample)
