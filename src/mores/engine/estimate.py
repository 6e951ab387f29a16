"""Estimates of what a run would send and cost, without sending anything."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from mores.engine.ask import Asker
from mores.engine.cost import guess_tokens
from mores.engine.job import Job
from mores.engine.store import Store, opened, request_key
from mores.models import Request
from mores.types import Record

USUAL_TOKENS = 150
"""About how long an answer is."""
_CHUNK = 500


class Estimate(Record):
    """Identical samples count once; tokens are estimated from the number of characters."""

    calls: int = 0
    """Requests that would be sent."""
    known: int = 0
    """Requests that the store can answer."""
    unsendable: int = 0
    """Rows that cannot be sent, for example because they are too long."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """If each answer is of the usual length."""
    cost: float | None = None
    """US dollars; None when the price is not known."""
    most: float | None = None
    """US dollars if every answer were as long as allowed."""


def estimate(asker: Asker, jobs: Iterable[Job], max_tokens: int, usual_tokens: int = USUAL_TOKENS) -> Estimate:
    """Count what asking these jobs would send; answers have about `usual_tokens` and at most `max_tokens`."""
    calls = known = unsendable = tokens = 0
    remaining = iter(jobs)
    with opened(asker.store) as store:
        while chunk := list(islice(remaining, _CHUNK)):
            requests = [(job.request, job.sample) for job in chunk if isinstance(job.request, Request)]
            new = _unknown(asker, requests, store)
            calls += len(new)
            known += len(requests) - len(new)
            unsendable += len(chunk) - len(requests)
            tokens += sum(guess_tokens(message.content) for request in new for message in request.messages)
    usual, price = calls * min(usual_tokens, max_tokens), asker.price
    return Estimate(
        calls=calls,
        known=known,
        unsendable=unsendable,
        prompt_tokens=tokens,
        completion_tokens=usual,
        cost=price.cost(tokens, usual) if price else None,
        most=price.cost(tokens, calls * max_tokens) if price else None,
    )


def _unknown(asker: Asker, requests: list[tuple[Request, int]], store: Store | None) -> list[Request]:
    """Return the requests that the store has no answer to; the second answer to a question is a different request."""
    if store is None or asker.fresh:
        return [request for request, _ in requests]
    keys = [request_key(asker.model.identity, request, sample).key for request, sample in requests]
    answered = store.get_many(keys)
    return [request for key, (request, _) in zip(keys, requests, strict=True) if key not in answered]
