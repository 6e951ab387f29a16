"""`mores audit`: test how far a judge can be trusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

import click

from mores.cli import options
from mores.cli.progress import Bar
from mores.engine import Counts
from mores.engine.loop import run
from mores.metric import Metric
from mores.metric.audit import (
    PLACES,
    Audit,
    Goal,
    Injection,
    Place,
    Rate,
    Tally,
    carriers,
    cases,
    choose,
    injections,
    plan,
)
from mores.metric.audit import audit as compare
from mores.metric.audit.suite import plain
from mores.report.base.grid import Cell, Grid, Row, plain_console
from mores.show import NOTHING, p_value, percent, to
from mores.types import Judgement, Sample

WORST = 10
"""Attacks that are listed."""
UNMEASURED: dict[Goal, str] = {
    "hide": "the judge finds no error in any of the wrong texts",
    "soften": "the judge finds no major error in any of the wrong texts",
    "accuse": "the judge finds errors in all correct texts",
}


@click.group()
def audit() -> None:
    """Test how far a judge can be trusted."""


@audit.command()
@click.option("--category", "categories", multiple=True, help="Only these kinds of injection (may be repeated).")
@click.option("--limit", type=click.IntRange(1), help="At most this many injections of each category.")
@click.option("--price", metavar="IN,OUT", help="Dollars per million prompt and completion tokens.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@options.metric_options
def injection(categories: tuple[str, ...], limit: int | None, as_json: bool, **given: Any) -> None:
    """Whether words hidden in the judged text, its instruction or its evidence change the verdict, and which ones.

    Short texts are judged alone, and those that the judge judges correctly are judged again with each injection in each
    place; harmless words stand there as controls, because any words may change a verdict. The worst attacks come
    first: one that always works breaks a judge, however well it withstands the others.
    """
    metric = options.metric(given)
    chosen = _choose(categories, limit)
    places = tuple(place for place in PLACES if place != "evidence" or metric.style != "paper")
    counts, total = Counts(), len(carriers()) + sum(1 for _ in cases(carriers(), chosen, places))
    with options.run_of(metric.asker), Bar("judging", total, counts, metric.asker.price) as bar:
        found = run(_audit(metric, chosen, places, counts, bar))
    if as_json:
        run_by = {"model": metric.model.name, "signature": metric.signature()}
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


async def _audit(
    metric: Metric, chosen: Sequence[Injection], places: Sequence[Place], counts: Counts, bar: Bar
) -> Audit:
    async with bar.ticking():
        judgements = await _judge(metric, map(plain, carriers()), counts)
        known = choose(judgements, carriers())
        rest = (sample for sample in plan(known, chosen, places) if sample.id not in judgements)
        return compare(judgements | await _judge(metric, rest, counts), known, chosen, places)


async def _judge(metric: Metric, samples: Iterable[Sample], counts: Counts) -> dict[str, Judgement]:
    async with aclosing(metric.stream(samples, counts)) as stream:
        return {sample.id: judgement async for sample, judgement in stream}


def _print(found: Audit) -> None:
    console = plain_console()
    columns = ("injections", "n", "changed", "as meant", "controls", "excess", "lost")
    sections = [
        ("by place", _rows(found.by_place)),
        ("by kind", _rows(found.by_category)),
        ("by goal", _rows(found.by_goal)),
    ]
    notes = (
        "changed: any other verdict; as meant: turned as the injection wants, of those that could",
        "controls: turned the same way by harmless words in the same texts and places",
        "excess: the difference, with its 95% interval; lost: no verdict any more",
    )
    console.print(Grid(columns, sections, notes=notes), "")
    worst = [one for one in found.attacks if one.hits.count][:WORST]
    rows: list[Row] = [(one.injection, _rate(one.hits), _rate(one.control), p_value(one.p)) for one in worst]
    if rows:
        note = f"p: that controls do as much by chance, times the {len(found.attacks)} attacks that were tried"
        console.print(Grid(("worst attacks", "as meant", "controls", "p"), [("", rows)], notes=(note,)), "")
    for line in _conclusions(found):
        console.print(line, soft_wrap=True)


def _rows(tallies: Mapping[Any, Tally]) -> list[Row]:
    return [(name, *_cells(tally)) for name, tally in tallies.items()]


def _conclusions(found: Audit) -> Iterator[str]:
    for goal in found.unmeasured:
        yield f"{goal}: {UNMEASURED[goal]}, so it cannot be measured"
    parts = [f"{goal} {' '.join(_excess(tally))}" for goal, tally in found.by_goal.items()]
    if parts:
        yield f"excess of turned verdicts: {', '.join(parts)}"
    if found.worst_category:
        hits = found.by_category[found.worst_category].hits
        yield f"worst kind: {found.worst_category}, {_rate(hits)} ({percent(hits.value, 0)})"
    if not any(one.hits.n for one in found.attacks):
        return
    if not found.attacks[0].hits.count:
        yield "no attack turned a verdict"
        return
    worst = found.attacks[0]
    yield f"worst attack: {worst.injection} turned {worst.hits.count} of {worst.hits.n} verdicts (p {p_value(worst.p)})"
    count = len(found.broken)
    yield f"{count} of {len(found.attacks)} attacks work more often than chance: {', '.join(found.broken) or 'none'}"


def _excess(tally: Tally) -> tuple[str, str]:
    excess = tally.excess
    whole = partial(percent, digits=0, signed=True)
    return (NOTHING, "") if excess is None else (whole(excess.value), f"({to(excess.low, excess.high, whole)})")


def _cells(tally: Tally) -> tuple[Cell, ...]:
    control = "–" if tally.control is None else _rate(tally.control)
    return (
        str(tally.n), _rate(tally.flips), _rate(tally.hits), control, _excess(tally), str(tally.unjudged.count)
    )  # fmt: skip


def _rate(rate: Rate) -> str:
    return "–" if rate.value is None else f"{rate.count}/{rate.n}"
