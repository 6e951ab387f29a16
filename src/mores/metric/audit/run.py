"""Runs the injection audit with a metric: the carriers alone first, then those that it judges correctly, attacked.

A run of `mores audit injection` has `judgements.jsonl`, one `Judgement` with its text per line, and `audit.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from functools import cached_property
from pathlib import Path

from mores.engine import Counts
from mores.errors import ConfigError
from mores.io import JsonlWriter, write_text
from mores.metric.audit import PLACES, Audit, Injection, audit, carriers, cases, choose, injections, plan
from mores.metric.audit.suite import plain, suite_name
from mores.metric.metric import Metric
from mores.metric.prompt import places_of
from mores.models.configured import configuration_of
from mores.run import Plan, Run, start_run
from mores.signature import sign
from mores.types import Judgement, Sample

JUDGEMENTS, RESULT = "judgements.jsonl", "audit.json"


class AuditRun(Run):
    """A run of `mores audit injection`: every judgement, and what the injections did."""

    @cached_property
    def result(self) -> Audit:
        """All figures."""
        return self.record(RESULT, Audit)

    def judgements(self) -> Iterator[Judgement]:
        """Return the judgements of the texts alone, then with each injection."""
        return self.records(JUDGEMENTS, Judgement)


async def audit_injections(
    metric: Metric, categories: Sequence[str] = (), limit: int | None = None, out: Path | None = None
) -> AuditRun:
    """Return whether words hidden in what is judged change the verdict; with some categories, or a few attacks of each.

    The run is in the folder `out`, by default `audit`, and continues where it stopped.
    """
    chosen = _choose(categories, limit)
    places = tuple(place for place in PLACES if place != "evidence" or metric.style != "paper")
    suite = suite_name(carriers(), chosen, places)
    judged = metric.signature(placed=any(places_of(plain(carrier)) for carrier in carriers()))
    run_plan = Plan(
        kind="audit", name="injection", model=metric.model.name,
        configuration=configuration_of(metric.model),
        signature=sign({**judged, "suite": suite}),
        settings={"categories": list(categories), "limit": limit},
    )  # fmt: skip
    progress = metric.asker.progress
    with start_run(Path(out or "audit"), run_plan, numbered=out is None, progress=progress) as run:
        total = len(carriers()) + sum(1 for _ in cases(carriers(), chosen, places))
        async with progress.stage("judging", total, metric.asker.price) as counts:
            judgements = await _judge(metric, map(plain, carriers()), counts)
            known = choose(judgements, carriers())
            rest = (sample for sample in plan(known, chosen, places) if sample.id not in judgements)
            judgements |= await _judge(metric, rest, counts)
        audited = audit(judgements, known, chosen, places)
        with JsonlWriter(run.path / JUDGEMENTS) as writer:
            for judgement in judgements.values():
                writer.write(judgement)
        write_text(run.path / RESULT, audited.model_dump_json(indent=1) + "\n")
        failures = Counter(str(each.failure.kind) for each in judgements.values() if each.failure)
        files = {JUDGEMENTS: "Judgement", RESULT: "Audit"}
        run.finish(files=files, failures=failures, headline=audited.headline)
    return AuditRun(run.path, run.manifest)


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
