"""Runs the injection audit with a metric: the carriers alone first, then those that it judges correctly, attacked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import aclosing

from mores.engine import Counts
from mores.errors import ConfigError
from mores.metric.audit import PLACES, Audit, Injection, audit, carriers, cases, choose, injections, plan
from mores.metric.audit.suite import plain
from mores.metric.metric import Metric
from mores.types import Judgement, Sample


async def audit_injections(metric: Metric, categories: Sequence[str] = (), limit: int | None = None) -> Audit:
    """Whether words hidden in what is judged change the verdict; with some categories, or a few attacks of each."""
    chosen = _choose(categories, limit)
    places = tuple(place for place in PLACES if place != "evidence" or metric.style != "paper")
    total = len(carriers()) + sum(1 for _ in cases(carriers(), chosen, places))
    async with metric.asker.progress.stage("judging", total, metric.asker.price) as counts:
        judgements = await _judge(metric, map(plain, carriers()), counts)
        known = choose(judgements, carriers())
        rest = (sample for sample in plan(known, chosen, places) if sample.id not in judgements)
        return audit(judgements | await _judge(metric, rest, counts), known, chosen, places)


def _choose(categories: Sequence[str], limit: int | None) -> tuple[Injection, ...]:
    known = sorted({injection.category for injection in injections()})
    for category in categories:
        if category not in known:
            raise ConfigError(f"no such category {category!r}; there are {', '.join(known)}", setting="category")
    wanted = {*categories, "control"} if categories else set(known)
    chosen: list[Injection] = []
    for category in known:
        attacks = [injection for injection in injections() if injection.category == category]
        chosen += attacks[:limit] if category in wanted else []
    return tuple(chosen)


async def _judge(metric: Metric, samples: Iterable[Sample], counts: Counts) -> dict[str, Judgement]:
    async with aclosing(metric.stream(samples, counts)) as stream:
        return {sample.id: judgement async for sample, judgement in stream}
