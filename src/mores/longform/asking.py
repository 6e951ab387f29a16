"""Asking a model: greedily, several questions about one thing together, and what it replied."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson

from mores.engine import Answer, Counts, Job, Limits, Store, run
from mores.models import Message, Model, Request
from mores.models.written import without_thoughts
from mores.types import Failure, FailureKind

T = TypeVar("T")
Reply = str | Failure

_SHOWN = 60
"""Characters of a reply that a failure quotes."""
_NO_CALL = Failure(kind=FailureKind.INPUT, reason="there is nothing to ask")


@dataclass(frozen=True)
class How:
    """Where answers are kept, and how fast they may come."""

    store: Store | None = None
    limits: Limits = field(default_factory=Limits)
    fresh: bool = False
    """Ask again what the store already knows."""


async def ask_each(
    tasks: Iterable[tuple[T, Sequence[Request]]], model: Model, how: How, counts: Counts
) -> AsyncGenerator[tuple[T, list[Reply]], None]:
    """Each thing with the replies to its questions, in order; one without questions passes through in its place.

    `counts.done` counts things, not calls, because their number is known before the run. Only a model that needs its
    schema to write what was asked for is held to it: others are asked in words, as papers ask them.
    """
    finished, replies = 0, list[Reply]()
    answers = run(
        _jobs(tasks, model.constrained), model, store=how.store, limits=how.limits, counts=counts, fresh=how.fresh
    )
    async with aclosing(answers):
        async for answer in answers:
            thing, left = answer.job.data
            if answer.job.request is _NO_CALL:
                counts.failed -= 1
            else:
                replies.append(replied(answer))
            finished += left == 0
            counts.done = finished
            if left == 0:
                yield thing, replies
                replies = []


def _jobs(tasks: Iterable[tuple[T, Sequence[Request]]], constrained: bool) -> Iterator[Job]:
    """The calls to make, each with the number of those about the same thing that follow."""
    for number, (thing, requests) in enumerate(tasks):
        wanted = requests if constrained else [one._replace(schema=None) for one in requests]
        some: Sequence[Request | Failure] = wanted or (_NO_CALL,)
        for place, one in enumerate(some, 1):
            yield Job(str(number), one, data=(thing, len(some) - place))


def request(text: str, max_tokens: int, schema: Mapping[str, Any] | None = None) -> Request:
    """One question to a model, answered greedily."""
    return Request((Message("user", text),), max_tokens=max_tokens, logprobs=False, schema=schema)


def object_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these properties, in this order, and no others."""
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def read_object(said: str, *names: str) -> dict[str, Any] | None:
    """The JSON object with exactly these properties that a reply is, as a constrained model writes it."""
    try:
        made = orjson.loads(said) if said.startswith("{") else None
    except orjson.JSONDecodeError:
        return None
    return made if isinstance(made, dict) and set(made) == set(names) else None


def replied(answer: Answer) -> Reply:
    """What a model said after thinking aloud; a failure where it said nothing, was cut off or was filtered."""
    made = answer.completion
    if made is None:
        return answer.failure or Failure(kind=FailureKind.MODEL, reason="the model did not answer")
    if made.stop == "content_filter":
        return Failure(kind=FailureKind.FILTERED, reason="the provider's content filter withheld the answer")
    if made.stop == "length":
        reason = f"the answer was cut off; it ends with {made.text[-_SHOWN:]!r}"
        return Failure(kind=FailureKind.TRUNCATED, reason=reason)
    said = without_thoughts(made.text)
    return said or Failure(kind=FailureKind.PARSE, reason="the answer is empty")


def unread(said: str, expected: str) -> Failure:
    """The failure of a reply that is not what was asked for."""
    shown = said if len(said) <= _SHOWN else said[:_SHOWN] + "…"
    return Failure(kind=FailureKind.PARSE, reason=f"expected {expected}, found {shown!r}")
