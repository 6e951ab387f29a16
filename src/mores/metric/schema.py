"""The error report as a model writes it: its JSON schema, and the strict parser.

A broken, truncated or off-schema report is a failure with its reason, never a score.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from mores.models.base import Stop, Written
from mores.models.written import read_written
from mores.types import Failure, FailureKind, Severity, Side

VERSION = 1


class WrittenError(BaseModel):
    """One error as the model wrote it, before its quote is looked up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    side: Side
    quote: str
    severity: Severity
    type: Annotated[str, Field(min_length=1)]
    explanation: str
    correction: str = ""
    """What would be correct in place of the quote; reports of tuned models do not have it."""
    occurrence: Annotated[int, Field(ge=1, strict=True)] | None = None
    """Which of several occurrences of the quote is meant, counted from 1."""
    evidence: tuple[Annotated[int, Field(ge=1, strict=True)], ...] = ()
    """Numbers of the evidence that it rests on."""


class WrittenReport(BaseModel):
    """The report as the model wrote it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    errors: tuple[WrittenError, ...]
    explanation: str = ""


LONGEST = 60
"""Characters of a quote or explanation of a model that was not tuned, where lengths are limited."""
LONGEST_TUNED = 400
"""The same for one that was: it knows when to stop."""
LONGEST_SUMMARY = 1000
"""The same for a summary that was asked for."""


@cache
def report_schema(
    most: int | None = None, *, longest: int = LONGEST, evidence: int = 0, summary: bool = False
) -> dict[str, Any]:
    """Return the JSON schema that constrains a model, which may cite `evidence` passages.

    With `most`, the number of errors and all lengths are limited, and there are no corrections and, unless it is asked
    for, no summary, so that a small model cannot ramble on. Without, it has only what the strict mode of hosted servers
    knows.
    """

    def text(longest: int) -> dict[str, Any]:
        return {"type": "string", "maxLength": longest} if most else {"type": "string"}

    numbers = {"type": "array", "items": {"type": "integer", "enum": list(range(1, evidence + 1))}}
    error = {
        "side": {"type": "string", "enum": ["instruction", "text"]},
        "quote": text(longest),
        "severity": {"type": "string", "enum": [str(s) for s in Severity]},
        "type": text(30) | ({"minLength": 1} if most else {}),
        **({"evidence": numbers | ({"maxItems": evidence} if most else {})} if evidence else {}),
        "explanation": text(longest),
        **({} if most else {"correction": text(longest)}),
    }
    errors: dict[str, Any] = {"type": "array", "items": _object(error)}
    if most:
        last = {"explanation": text(LONGEST_SUMMARY)} if summary else {}
        return _object({"errors": errors | {"maxItems": most}, **last})
    return _object({"errors": errors, "explanation": text(0)})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def schema_hash(schema: dict[str, Any] | None) -> str:
    """Return eight digits of the schema, or `none`."""
    return blake2b(json.dumps(schema).encode(), digest_size=4).hexdigest() if schema else "none"


def parse(reply: Written) -> WrittenReport | Failure:
    """Return the report in an answer, or why there is none. What was cut off after a whole report is no loss."""
    report = parse_text(reply.text)
    if isinstance(report, Failure) and reply.stop is Stop.LENGTH:
        tokens = f" after {reply.completion_tokens} tokens" if reply.completion_tokens else ""
        return Failure(kind=FailureKind.TRUNCATED, reason=f"the report was cut off{tokens}; raise max_tokens")
    return report


@lru_cache(maxsize=1024)  # each answer is read twice: to see whether to ask again, and for its judgement
def parse_text(text: str) -> WrittenReport | Failure:
    """Return the report in a text, or why there is none. A code fence around the whole is allowed, no more."""
    return read_written(text, WrittenReport, "an error report")
