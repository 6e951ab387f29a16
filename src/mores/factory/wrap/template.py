"""Templates: literal text and slots; a line of a file may stand for several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import NoReturn

from mores.errors import InputError
from mores.factory.items import Task

MOST_PER_LINE = 1000
CONDITIONAL = frozenset({"context", "explanation"})
"""A template that uses one of these serves the items that have it, and only those."""


@dataclass(frozen=True)
class Slots:
    """The slots of one kind of template file."""

    required: frozenset[str]
    allowed: frozenset[str]


def _slots(required: str, optional: str = "") -> Slots:
    return Slots(frozenset(required.split()), frozenset(f"{required} {optional}".split()))


KINDS = {
    "qa.instruction": _slots("question options", "context"),
    "qa.output": _slots("answer", "letter explanation"),
    "freeform.instruction": _slots("question", "context"),
    "freeform.output": _slots("answer", "explanation"),
    "generation.instruction": _slots("question", "context"),
    "generation.output": _slots("answer", "explanation"),
    "impersonation.instruction": _slots("question role", "context"),
    "impersonation.output": _slots("answer", "explanation"),
    "option": _slots("letter option"),
    "role": _slots("name value"),
}
"""The template files, without `.txt`, and their slots."""

LINES = {Task.QA: "option", Task.IMPERSONATION: "role"}
"""The file with the template of a line of `{options}` or `{role}`."""


_ENDS = re.compile("[\"'“”»’」]? ?([?.？。؟])")


@dataclass(frozen=True)
class Slot:
    """A place in a template for data."""

    name: str


@dataclass(frozen=True)
class Template:
    """One template after the expansion of its alternations: literal text and slots in turn."""

    parts: tuple[str | Slot, ...]

    @property
    def slots(self) -> list[str]:
        return [part.name for part in self.parts if isinstance(part, Slot)]

    def __str__(self) -> str:
        return "".join(part if isinstance(part, str) else f"{{{part.name}}}" for part in self.parts)

    @property
    def answer_ends_line(self) -> bool:
        """Whether the answer ends its line, so that it may be long."""
        place = self.parts.index(Slot("answer"))
        following = self.parts[place + 1] if place + 1 < len(self.parts) else "\n"
        return isinstance(following, str) and following.startswith("\n")

    def fill(self, values: Mapping[str, str]) -> tuple[str, dict[str, tuple[int, int]]]:
        """Return the text and the span of each slot's value; in one pass, so values are never read as a template."""
        text, spans = "", {}
        for part in self.parts:
            if isinstance(part, Slot):
                spans[part.name] = (len(text), len(text) + len(values[part.name]))
                text += values[part.name]
            elif (repeated := _ENDS.match(part)) and text.endswith(repeated[1]):  # “Why?”, not “Why?”?
                text += part[: repeated.start(1)] + part[repeated.end(1) :]
            else:
                text += part
        return text, spans


_TOKEN = re.compile(r"\\(?P<escape>.?)|\{(?P<slot>\w*)\}|(?P<mark>\[\[|\]\]|[|{}])|(?P<text>[^\\{}\[\]|]+|.)")
_ESCAPES = {"n": "\n"} | {sign: sign for sign in "\\{}[]|#@"}


def parse(line: str, where: str, slots: Slots) -> list[Template]:
    """Return all templates that one written line stands for; `where` is its `file:line`."""
    segments = _segments(line, where)
    if (count := prod(map(len, segments))) > MOST_PER_LINE:
        fail(where, f"expands to {count} templates, the limit is {MOST_PER_LINE}", "use fewer alternations")
    templates = []
    for choice in product(*segments):
        template = _tidy([part for parts in choice for part in parts])
        _check(template, where, slots)
        templates.append(template)
    return templates


def _segments(line: str, where: str) -> list[list[list[str | Slot]]]:
    """Return the line as a sequence of choices; what stands outside of alternations is a choice of one."""
    segments: list[list[list[str | Slot]]] = [[[]]]
    inside = False
    for token in _TOKEN.finditer(line):
        mark = token["mark"]
        if mark in ("[[", "]]"):
            if (mark == "[[") == inside:
                fix = "close it with ']]' before the next" if inside else "open it with '[['"
                fail(where, f"unbalanced alternation at {mark!r}", f"{fix}, or write \\{mark[0]}\\{mark[0]}")
            inside = not inside
            segments.append([[]])
        elif mark == "|" and inside:
            segments[-1].append([])
        else:
            segments[-1][-1].append(_part(token, where))
    if inside:
        fail(where, "unbalanced alternation: '[[' is never closed", "close it with ']]'")
    return segments


def _part(token: re.Match[str], where: str) -> str | Slot:
    if (name := token["slot"]) is not None:
        return Slot(name)
    if (sign := token["escape"]) is not None:
        if sign not in _ESCAPES:
            fail(where, f"unknown sign '\\{sign}'", "known are " + " ".join("\\" + escape for escape in _ESCAPES))
        return _ESCAPES[sign]
    if token["mark"] == "|":
        fail(where, "'|' outside of an alternation", "write [[one|other]], or \\| for the sign itself")
    if token["mark"]:
        fail(where, f"{token['mark']!r} without a slot's name", f"write {{answer}}, or \\{token['mark']} for the sign")
    return token["text"]


def _tidy(parts: list[str | Slot]) -> Template:
    """Join neighbouring literals and remove the spaces that an empty alternative leaves."""
    joined: list[str | Slot] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(last := joined[-1], str):
            joined[-1] = last + part
        else:
            joined.append(part)
    tidy = [re.sub(" *\n *", "\n", re.sub(" +", " ", part)) if isinstance(part, str) else part for part in joined]
    if tidy and isinstance(first := tidy[0], str):
        tidy[0] = first.lstrip()
    if tidy and isinstance(last := tidy[-1], str):
        tidy[-1] = last.rstrip()
    return Template(tuple(part for part in tidy if part != ""))


def _check(template: Template, where: str, slots: Slots) -> None:
    used = Counter(template.slots)
    known = " ".join(f"{{{name}}}" for name in sorted(slots.allowed))
    for name, times in used.items():
        if name not in slots.allowed:
            fail(where, f"unknown slot {{{name}}}", f"this file may use {known}")
        if times > 1:
            fail(where, f"slot {{{name}}} occurs {times} times in '{template}'", "keep one")
    for name in sorted(slots.required - set(used)):
        fail(where, f"missing slot {{{name}}} in '{template}'", "every template of this file must use it")


def fail(where: str | Path, what: str, fix: str) -> NoReturn:
    """Raise an InputError with the problem of a template, its place, and the fix."""
    raise InputError(f"{where}: {what}; {fix}")
