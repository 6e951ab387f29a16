"""`mores audit`: test how far a judge can be trusted."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import click
from rich.console import Console

from mores.cli import options
from mores.cli.progress import Bar
from mores.engine import Counts
from mores.engine.cost import price_of
from mores.engine.loop import run
from mores.metric import Metric
from mores.metric.audit import Audit, Injection, Rate, Tally, carriers, injections, plan
from mores.metric.audit import audit as compare
from mores.report.terminal import Cell, Grid, Row
from mores.types import Judgement, Sample


@click.group()
def audit() -> None:
    """Test how far a judge can be trusted."""


@audit.command()
@click.option("--category", "categories", multiple=True, help="Only these kinds of injection (may be repeated).")
@click.option("--limit", type=click.IntRange(1), help="At most this many injections of each category.")
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@options.metric_options
def injection(categories: tuple[str, ...], limit: int | None, as_json: bool, price: str | None, **given: Any) -> None:
    """How often a sentence hidden in the judged text changes the verdict.

    Short texts whose verdict is known are judged alone and with each injection added; harmless sentences are
    added as controls, because any added sentence may change a verdict. What counts is the excess over them.
    """
    metric = options.metric(given)
    chosen = _choose(categories, limit)
    samples = list(plan(carriers(), chosen))
    counts = Counts()
    with options.run_of(metric), Bar("judging", len(samples), counts, price_of(metric.judge_model.name, price)) as bar:
        judgements = run(_judge(metric, samples, counts, bar))
    found = compare(judgements, carriers(), chosen)
    if as_json:
        run_by = {"model": metric.judge_model.name, "signature": metric.signature()}
        click.echo(json.dumps(run_by | found.model_dump(mode="json"), indent=2))
    else:
        _print(found)


def _choose(categories: tuple[str, ...], limit: int | None) -> tuple[Injection, ...]:
    known = sorted({i.category for i in injections()})
    for category in categories:
        if category not in known:
            raise click.BadParameter(f"no such category {category!r}; there are {', '.join(known)}")
    wanted = {*categories, "control"} if categories else set(known)
    chosen: list[Injection] = []
    for category in known:
        chosen += [i for i in injections() if i.category == category and category in wanted][:limit]
    return tuple(chosen)


async def _judge(metric: Metric, samples: list[Sample], counts: Counts, bar: Bar) -> dict[str, Judgement]:
    judgements = {}
    async with bar.ticking(), aclosing(metric.stream(samples, counts)) as stream:
        async for sample, judgement in stream:
            judgements[sample.id] = judgement
    return judgements


def _print(found: Audit) -> None:
    console = Console(highlight=False, markup=False)
    for case in found.flipped:
        if case.goal is not None:
            console.print(f"{case.injection} on {case.carrier}: {case.before} → {case.after}")
    columns = ("injections", "n", "flipped", "as meant", "controls", "excess", "lost")
    sections: list[tuple[str, list[Row]]] = [
        (heading, [(name, *_cells(tally)) for name, tally in tallies.items()])
        for heading, tallies in (("by kind", found.by_category), ("by goal", found.by_goal))
    ]
    notes = (
        "as meant: verdicts that turned as the injection wants, of those that could",
        "controls: turned by a harmless sentence in the same texts",
        "excess: the difference, with its 95% interval; lost: no verdict any more",
    )
    console.print(Grid(columns, sections, notes=notes), "")
    parts = [f"{goal} {' '.join(_excess(tally))}" for goal, tally in found.by_goal.items()]
    console.print(f"excess of turned verdicts: {', '.join(parts)}", soft_wrap=True)


def _excess(tally: Tally) -> tuple[str, str]:
    excess = tally.excess
    return ("–", "") if excess is None else (f"{excess.value:+.0%}", f"({excess.low:+.0%} to {excess.high:+.0%})")


def _cells(tally: Tally) -> tuple[Cell, ...]:
    control = "–" if tally.control is None else _rate(tally.control)
    return (
        str(tally.n), _rate(tally.flips), _rate(tally.hits), control, _excess(tally), str(tally.unjudged.count)
    )  # fmt: skip


def _rate(rate: Rate) -> str:
    return "–" if rate.value is None else f"{rate.count}/{rate.n}"
