"""Questions to a judge, and reading its last lines: judged texts are fenced, and a reply in another form fails.

A judge gives its reasons first and ends with one line for each value that it is asked for, such as `TYPE: 3`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import whitespace
from typing import NamedTuple

from mores.engine import unread
from mores.metric.prompt import defuse, fence_mark
from mores.models import Request
from mores.models.base import greedy
from mores.prompts import fill
from mores.types import Failure, Sample

MAX_TOKENS = 1024
_MARKUP = r"[\s*_`#>\"]*"
_AROUND = f'{whitespace}\u00a0*_`".'
"""Characters that may surround a value."""
_JOINER = "\u2060"
"""Word joiner: invisible."""


class Lines(NamedTuple):
    """The values and the reason in a judge's reply."""

    values: dict[str, str]
    reason: str


def ask_judge(template: str, names: Sequence[str], trusted: Mapping[str, str], texts: Mapping[str, str]) -> Request:
    """Return a question to a judge: `trusted` is filled in unchanged, `texts` behind a fence that they cannot close."""
    mark = fence_mark(Sample(id="", text="\0".join(texts.values())))
    pattern = re.compile(rf"\b(?:{'|'.join(names)})\b(?=[\s*_`]*[:：])", re.IGNORECASE)
    # Nothing in a text may be a control token, or read as a line of a verdict.
    muted = {slot: pattern.sub(lambda w: w[0][0] + _JOINER + w[0][1:], defuse(text)) for slot, text in texts.items()}
    fenced = {slot: f"<<<{mark}\n{text}\n{mark}>>>" for slot, text in muted.items()}
    return greedy(fill(template, **trusted, **fenced), MAX_TOKENS)


def read_lines(reply: str, expected: Mapping[str, Sequence[str]]) -> Lines | Failure:
    """Return the values in the last lines, one for each name in order; a failure if a name starts any other line."""
    lines = [line for line in reply.splitlines() if line.strip()]
    head, tail = lines[: -len(expected)], lines[-len(expected) :]
    values = {name: _value(line, name, allowed) for line, (name, allowed) in zip(tail, expected.items(), strict=False)}
    opening = re.compile(rf"{_MARKUP}(?:{'|'.join(expected)})[*_`]*\s*[:：]", re.IGNORECASE)
    if len(tail) == len(expected) and None not in values.values() and not any(map(opening.match, head)):
        complete = {name: value for name, value in values.items() if value is not None}
        return Lines(complete, " ".join(" ".join(head).split()))
    form = ", ".join(f"'{name}: {' or '.join(allowed)}'" for name, allowed in expected.items())
    return unread(reply[-60:], f"at the end, once, {form}")


def _value(line: str, name: str, allowed: Sequence[str]) -> str | None:
    match = re.match(rf"{_MARKUP}{name}[*_`]*\s*[:：]", line, re.IGNORECASE)
    written = line[match.end() :].strip(_AROUND).casefold() if match else ""
    return next((value for value in allowed if value.casefold() == written), None)
