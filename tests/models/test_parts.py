"""An answer in parts, from a server that misbehaves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from mores.errors import Rejected, Transient
from mores.metric.parts import report_parts
from mores.metric.quotes import report_grammar
from mores.metric.schema import report_schema
from mores.models.base import Completion, Message, Request
from mores.models.parts import write_parts
from mores.types import Sample

SAMPLE = Sample(id="s", instruction="Do it.", text="Guests get green tea.")


def complete(*answers: tuple[str, float | None]) -> Completion:
    """What comes of a report for which the server writes these texts with these log-probabilities."""
    grammar = report_grammar(report_schema(1), SAMPLE)
    assert grammar is not None
    request = Request((Message("user", "Judge it."),), grammar=grammar, parts=report_parts(grammar, SAMPLE, 1))
    left: Iterator[tuple[str, float | None]] = iter(answers)

    async def call(path: str, body: dict[str, Any]) -> bytes:
        if path == "/apply-template":
            return orjson.dumps({"prompt": "Judge it. "})
        if path == "/tokenize":
            return orjson.dumps({"tokens": body["content"].split()})
        assert (path, body["id_slot"]) == ("/completion", 3)
        content, logprob = next(left)
        tokens = [{"logprob": logprob}]
        answer = {"content": content, "completion_probabilities": tokens, "stop_type": "word", "tokens_evaluated": 2}
        return orjson.dumps(answer)

    return asyncio.run(write_parts(request, call, 3))


def test_what_is_given_counts_as_certain() -> None:
    assert complete(("]", -0.25)) == Completion('{"errors":[]}', (0.0, -0.25, 0.0), "stop", 1, 3)


def test_a_log_probability_that_is_none_leaves_none() -> None:
    assert complete(("]", None)) == Completion('{"errors":[]}', None, "stop", 1, 3)


def test_a_server_that_writes_nothing_may_be_asked_again() -> None:
    with pytest.raises(Transient, match="wrote nothing after"):
        complete(("", -0.1))


def test_a_server_that_does_not_follow_the_grammar_is_not_believed() -> None:
    with pytest.raises(Rejected, match="'Sure' is none of"):
        complete(("Sure", -0.1))
