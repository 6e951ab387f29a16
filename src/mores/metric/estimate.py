"""What a run would send and cost, without sending anything."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from mores.engine import Job, Store, request_key
from mores.engine.cost import Price, guess_tokens
from mores.engine.store import opened
from mores.metric.metric import Metric
from mores.models import Request
from mores.types import Record

REPORT_TOKENS = 150
"""About how long a report is."""
_CHUNK = 500


class Estimate(Record):
    """Counts take no notice of samples that are the same; tokens are guessed from the number of characters."""

    calls: int = 0
    """Requests that would be sent."""
    known: int = 0
    """Requests that the store can answer."""
    unsendable: int = 0
    """Samples that are too long."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """If each report is of the usual length."""
    cost: float | None = None
    """US dollars; None when the price is not known."""
    most: float | None = None
    """US dollars if every report were as long as allowed."""


def estimate(metric: Metric, wanted: Iterable[Job], price: Price | None) -> Estimate:
    """Count what `metric` would do about these jobs."""
    calls = known = unsendable = tokens = 0
    with opened(metric.store) as store:
        jobs = iter(wanted)
        while chunk := list(islice(jobs, _CHUNK)):
            requests = [(job.request, job.sample) for job in chunk if isinstance(job.request, Request)]
            new = _unknown(metric, requests, store)
            calls += len(new)
            known += len(requests) - len(new)
            unsendable += len(chunk) - len(requests)
            tokens += sum(guess_tokens(message.content) for request in new for message in request.messages)
    reports = calls * min(REPORT_TOKENS, metric.settings.max_tokens)
    return Estimate(
        calls=calls,
        known=known,
        unsendable=unsendable,
        prompt_tokens=tokens,
        completion_tokens=reports,
        cost=price.cost(tokens, reports) if price else None,
        most=price.cost(tokens, calls * metric.settings.max_tokens) if price else None,
    )


def _unknown(metric: Metric, requests: list[tuple[Request, int]], store: Store | None) -> list[Request]:
    """The requests that the store has no answer to; the second answer to a question is another than the first."""
    if store is None or metric.fresh:
        return [request for request, _ in requests]
    keys = [request_key(metric.judge_model.identity, request, sample).key for request, sample in requests]
    found = store.get_many(keys)
    return [request for key, (request, _) in zip(keys, requests, strict=True) if key not in found]
