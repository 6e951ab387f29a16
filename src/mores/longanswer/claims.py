"""Claims: from an answer to the statements in it that can be checked, sentence by sentence (after VeriScore).

Each sentence is read with the question, the three sentences before it and the one after it. Our prompt asks for
claims that stand alone; a reply is `- claim` line by line, or NONE, and anything else is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from mores.engine import unread
from mores.language.sentences import sentences
from mores.metric.prompt import fill_fenced
from mores.models import Request
from mores.models.base import greedy
from mores.models.written import object_schema, read_object
from mores.prompts import read_prompt
from mores.types import Failure

PROMPTS = ("claims",)
BEFORE, AFTER = 3, 1
"""Sentences of context (VeriScore's window)."""
MAX_TOKENS = 1024
_TEXTS = {"type": "array", "items": {"type": "string", "maxLength": 200}, "minItems": 1, "maxItems": 4}
SCHEMA = object_schema(claims=_TEXTS)
"""For a model that writes these lines only under a schema; it must write NONE too: small ones overuse empty lists."""

_CLAIM = re.compile(r"(?:[-*•–]|\d{1,2}[.)])(?:\s+(.*)|)")
_NONE = re.compile(r"(?:[-*•–]\s*)?[`*\"']*NONE[`*\"']*\.?", re.IGNORECASE)
_EXPECTED = "one claim per line, each after '- ', or NONE"


class Window(NamedTuple):
    """A sentence with the text around it."""

    before: str
    sentence: str
    after: str


def windows(text: str) -> list[Window]:
    """Return every sentence of a text in its context."""
    spans = sentences(text)
    return [
        Window(
            _between(text, spans[max(0, place - BEFORE) : place]),
            text[start:end],
            _between(text, spans[place + 1 : place + 1 + AFTER]),
        )
        for place, (start, end) in enumerate(spans)
    ]


def _between(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the text from the first span's start to the last one's end."""
    return text[spans[0][0] : spans[-1][1]] if spans else ""


def claims_request(question: str, window: Window) -> Request:
    """Ask for the claims of one sentence."""
    return greedy(
        fill_fenced(read_prompt(__file__, "prompts/claims"), question=question, **window._asdict()), MAX_TOKENS, SCHEMA
    )


def read_claims(reply: str) -> tuple[str, ...] | Failure:
    """Return the claims in a reply, () for NONE; a failure where any line is neither."""
    if (fields := read_object(reply, "claims")) is not None:
        listed = fields["claims"]
        if not isinstance(listed, list):
            return unread(reply, _EXPECTED)
        texts = [claim.strip() for claim in listed if isinstance(claim, str)]
        none = [text for text in texts if _NONE.fullmatch(text)]
        if len(texts) < len(listed) or (none and len(texts) > 1):
            return unread(str(listed), _EXPECTED)
        return () if none or not listed else tuple(filter(_says_something, texts)) or unread(str(listed), _EXPECTED)
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if len(lines) == 1 and _NONE.fullmatch(lines[0]):
        return ()
    claims = []
    for line in lines:
        match = _CLAIM.fullmatch(line)
        if match is None or _NONE.fullmatch(line):
            return unread(line, _EXPECTED)
        claims.append((match[1] or "").strip())
    return tuple(filter(_says_something, claims)) or unread(reply, _EXPECTED)


def _says_something(claim: str) -> bool:
    return any(character.isalnum() for character in claim)


def distinct(per_sentence: Iterable[tuple[str, ...]]) -> list[tuple[int, str]]:
    """Return each different claim with the first sentence that makes it, in order: exact duplicates are dropped."""
    first: dict[str, int] = {}
    for place, claims in enumerate(per_sentence):
        for claim in claims:
            first.setdefault(claim, place)
    return [(place, claim) for claim, place in first.items()]
