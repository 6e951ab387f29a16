"""Templates that turn items of every source into instructions and outputs (ExCAM, Section 3, Data Formatting).

The templates are text files; `templates/README.md` explains how to write them, where they are found and when a line is
used. `Wrapper(seed=7).wrap(item, answer)` gives an instruction and an output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from mores.factory.items import SourceItem, Task
from mores.factory.wrap.templates import CONDITIONAL, KINDS, Template, Templates, fail
from mores.types import Side

LONGEST_INLINE = 160
"""Maximum characters of an answer within a sentence; a longer one, or one of several lines, ends the text."""
LONG = "long"
"""Marks the key of templates for long answers."""


class Wrapped(NamedTuple):
    """An item as a metric reads it."""

    instruction: str
    text: str
    answer_start: int
    """`text[answer_start:answer_end]` is the answer, in code points."""
    answer_end: int


class Wrapper:
    """Wraps the items of a build; the same seed and items give the same texts.

    Within a stratum (source, task, language) the templates are dealt like cards: all of them once, in an order
    drawn from the seed, then all of them again in a new order. So each is used equally often, up to one, whatever the
    other strata. All versions of an item share the instruction; every version is dealt another output template.
    Nothing here depends on which answer is correct.
    """

    def __init__(self, templates: Templates | None = None, *, seed: int = 0) -> None:
        self._templates = templates or Templates()
        self._seed = seed
        self._dealt: Counter[tuple[str, ...]] = Counter()
        self._orders: dict[tuple[str, ...], list[Template]] = {}
        self._instructions: dict[tuple[str, str, Task], Template] = {}

    def wrap(
        self, item: SourceItem, answer: str, *, task: Task | None = None, explanation: str | None = None
    ) -> Wrapped:
        """Return an instruction made of the item and an output that gives `answer`, correct or wrong.

        `task=Task.FREEFORM` asks a QA item without its options. Give an `explanation` only if all versions of an item
        have one: if only correct answers had one, it would give them away.
        """
        task = task or item.task
        language = self._templates.language(item.source, task, item.language)
        values = self._values(item, answer, task, language) | ({"explanation": explanation} if explanation else {})
        key = (item.source, item.id, task)
        if key not in self._instructions:
            self._instructions[key] = self._deal(item, task, "instruction", language, values)
        instruction, _ = self._instructions[key].fill(values)
        text, spans = self._deal(item, task, "text", language, values).fill(values)
        start, end = spans["answer"]
        return Wrapped(instruction=instruction, text=text, answer_start=start, answer_end=end)

    def forget(self) -> None:
        """Forget which instruction each item has; no item so far comes again."""
        self._instructions.clear()

    def _values(self, item: SourceItem, answer: str, task: Task, language: str) -> dict[str, str]:
        where = f"{item.source} {item.id}"
        if not answer.strip() or not item.question.strip():
            fail(where, "the question or the answer is empty", "leave the item out")
        values = {"question": item.question, "answer": answer}
        if task is Task.QA:
            if answer not in item.options:
                fail(where, f"{answer!r} is not among the options", "give an option, or wrap it as freeform")
            line = self._templates.get(item.source, "option", language)[0]
            rows = [{"letter": letter(n), "option": option} for n, option in enumerate(item.options)]
            values |= {"letter": letter(item.options.index(answer)), "options": _fill_lines(line, rows)}
        if task is Task.IMPERSONATION:
            if not item.role:
                fail(where, "no role to impersonate", "give at least the country")
            line = self._templates.get(item.source, "role", language)[0]
            values["role"] = _fill_lines(line, [{"name": name, "value": value} for name, value in item.role])
        return values | ({"context": item.context} if item.context else {})

    def _deal(self, item: SourceItem, task: Task, side: Side, language: str, values: Mapping[str, str]) -> Template:
        kind = f"{task}.{'instruction' if side == 'instruction' else 'output'}"
        conditional = CONDITIONAL & KINDS[kind].allowed & set(values)
        answer = values["answer"]
        is_long = side == "text" and (len(answer) > LONGEST_INLINE or "\n" in answer)
        key = (item.source, kind, language, *sorted(conditional), *([LONG] if is_long else []))
        place = self._dealt[key] % len(self._orders.get(key, [None]))
        if place == 0:
            self._orders[key] = self._order(key, conditional)
        self._dealt[key] += 1
        return self._orders[key][place]

    def _order(self, key: tuple[str, ...], conditional: frozenset[str]) -> list[Template]:
        """Return all templates that fit the item, in the order of the next round."""
        source, kind, language = key[:3]
        fitting = [t for t in self._templates.get(source, kind, language) if CONDITIONAL & set(t.slots) == conditional]
        if LONG in key:
            fitting = [template for template in fitting if template.answer_ends_line] or fitting
        if not fitting:
            use = " and ".join(f"uses {{{name}}}" for name in sorted(conditional))
            use = use or f"does without {' '.join(f'{{{name}}}' for name in sorted(CONDITIONAL))}"
            fail(f"{source}/{language}/{kind}.txt", f"no template {use}, as an item needs", "add one")
        salt = "\0".join([str(self._seed), *key, str(self._dealt[key])])
        # A digest of the text, not random.shuffle: the same on every Python, and whatever the order of the lines.
        return sorted(fitting, key=lambda template: sha256(f"{salt}\0{template}".encode()).digest())


def letter(number: int) -> str:
    """Return A, B, …, Z, AA, AB, … for 0, 1, …"""
    rest = chr(ord("A") + number % 26)
    return rest if number < 26 else letter(number // 26 - 1) + rest


def _fill_lines(line: Template, rows: list[dict[str, str]]) -> str:
    return "\n".join(line.fill(row)[0] for row in rows)
