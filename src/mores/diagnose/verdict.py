"""What a judge is shown, and how its last lines are read: judged texts are fenced, and what has another form fails.

A judge gives its reasons first and ends with one line for each thing that it is asked, such as `TYPE: 3`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import whitespace
from typing import NamedTuple

from mores.bench.prompts import fill
from mores.engine import unread
from mores.metric.prompt import defuse, fence_mark
from mores.models import Request
from mores.models.base import greedy
from mores.types import Failure, Sample

MAX_TOKENS = 1024
_MARKUP = r"[\s*_`#>\"]*"
_AROUND = f'{whitespace}\u00a0*_`".'
"""What may stand around a value."""
_JOINER = "\u2060"
"""Word joiner: invisible."""


class Lines(NamedTuple):
    """What a judge said."""

    values: dict[str, str]
    reason: str


@cache
def prompt(name: str) -> str:
    """The prompt in a file of the folder `prompts`."""
    return files("mores.diagnose").joinpath("prompts", f"{name}.txt").read_text("utf-8").removesuffix("\n")


def ask_judge(template: str, names: Sequence[str], own: Mapping[str, str], texts: Mapping[str, str]) -> Request:
    """A question to a judge: our own words as they are, and texts of others behind a fence that they cannot close."""
    mark = fence_mark(Sample(id="", text="\0".join(texts.values())))
    fenced = {slot: f"<<<{mark}\n{_mute(text, names)}\n{mark}>>>" for slot, text in texts.items()}
    return greedy(fill(template, **own, **fenced), MAX_TOKENS)


def _mute(text: str, names: Sequence[str]) -> str:
    """A text without control tokens, in which no line of a verdict can be repeated."""
    known = re.compile(rf"\b(?:{'|'.join(names)})\b(?=[\s*_`]*[:：])", re.IGNORECASE)
    return known.sub(lambda word: word[0][0] + _JOINER + word[0][1:], defuse(text))


def read_lines(said: str, wanted: Mapping[str, Sequence[str]]) -> Lines | Failure:
    """The values in the last lines, one for each name and in their order; a failure where a name opens another line."""
    lines = [line for line in said.splitlines() if line.strip()]
    head, tail = lines[: -len(wanted)], lines[-len(wanted) :]
    values = {name: _value(line, name, known) for line, (name, known) in zip(tail, wanted.items(), strict=False)}
    if len(tail) == len(wanted) and None not in values.values() and not any(_opens(line, wanted) for line in head):
        found = {name: value for name, value in values.items() if value is not None}
        return Lines(found, " ".join(" ".join(head).split()))
    form = ", ".join(f"'{name}: {' or '.join(known)}'" for name, known in wanted.items())
    return unread(said[-60:], f"at the end, once, {form}")


def _opens(line: str, wanted: Mapping[str, Sequence[str]]) -> bool:
    return re.match(rf"{_MARKUP}(?:{'|'.join(wanted)})[*_`]*\s*[:：]", line, re.IGNORECASE) is not None


def _value(line: str, name: str, known: Sequence[str]) -> str | None:
    match = re.match(rf"{_MARKUP}{name}[*_`]*\s*[:：]", line, re.IGNORECASE)
    said = line[match.end() :].strip(_AROUND).casefold() if match else ""
    return next((value for value in known if value.casefold() == said), None)
