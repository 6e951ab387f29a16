"""Turns items of every source into instruction and output texts through templates (ExCAM, Section 3, Data Formatting).

The templates are text files that people edit; `templates/README.md` says how they are written, where they are
looked for and when a line is used. `Wrapper(seed=7).wrap(item, answer)` gives an instruction and an output.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from math import prod
from pathlib import Path
from typing import NoReturn

from mores import culture
from mores.errors import InputError
from mores.factory.items import SourceItem, Task
from mores.types import Record, Side

BUILT_IN = Path(__file__).parent / "templates"
EXTEND = "@extend"
FALLBACK = "und"
"""Has templates without words: no phrase of one language stands around a question in another."""
UNSTATED = "en"
"""What an item without a language is taken to be in."""
MOST_PER_LINE = 1000
LONGEST_INLINE = 160
"""Characters of an answer that may stand within a sentence; a longer one, or one of several lines, ends the text."""
ENCODING = "utf-8-sig"  # editors on Windows may write a byte order mark

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
"""The template files, without `.txt`, and what may stand in them."""

LINES = {Task.QA: "option", Task.IMPERSONATION: "role"}
"""The file with the form of a line of `{options}` or `{role}`; it holds one template."""

LONG = "long"
"""Marks the order in which the templates for long answers are dealt."""


class Wrapped(Record):
    """An item in the form in which a metric reads it."""

    instruction: str
    text: str
    answer_start: int
    """`text[answer_start:answer_end]` is the answer, in code points."""
    answer_end: int


@dataclass(frozen=True)
class Slot:
    """A place in a template that data fill."""

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
        """Whether nothing stands behind the answer in its line, so that it may be long."""
        place = self.parts.index(Slot("answer"))
        following = self.parts[place + 1] if place + 1 < len(self.parts) else "\n"
        return isinstance(following, str) and following.startswith("\n")

    def fill(self, values: Mapping[str, str]) -> tuple[str, dict[str, tuple[int, int]]]:
        """The text and where each slot's value stands in it; one pass, so values are never read as template."""
        text, spans = "", {}
        for part in self.parts:
            if isinstance(part, Slot):
                spans[part.name] = (len(text), len(text) + len(values[part.name]))
            text += _after(text, part) if isinstance(part, str) else values[part.name]
        return text, spans


_ENDS = re.compile("[\"'“”»’」]? ?([?.？。؟])")


def _after(text: str, literal: str) -> str:
    """The literal that follows a text, without a second mark where both end alike: “Why?”, not “Why?”?"""
    repeated = _ENDS.match(literal)
    if repeated is None or not text.endswith(repeated[1]):
        return literal
    return literal[: repeated.start(1)] + literal[repeated.end(1) :]


_TOKEN = re.compile(r"\\(?P<escape>.?)|\{(?P<slot>\w*)\}|(?P<mark>\[\[|\]\]|[|{}])|(?P<text>[^\\{}\[\]|]+|.)")
_ESCAPES = {"n": "\n"} | {sign: sign for sign in "\\{}[]|#@"}


def parse(line: str, where: str, slots: Slots) -> list[Template]:
    """All templates that one written line stands for; `where` is its `file:line`."""
    segments = _segments(line, where)
    if (count := prod(map(len, segments))) > MOST_PER_LINE:
        _fail(where, f"expands to {count} templates, the limit is {MOST_PER_LINE}", "use fewer alternations")
    templates = []
    for choice in product(*segments):
        template = _tidy([part for parts in choice for part in parts])
        _check(template, where, slots)
        templates.append(template)
    return templates


def _segments(line: str, where: str) -> list[list[list[str | Slot]]]:
    """The line as a sequence of choices; what stands outside of alternations is a choice of one."""
    segments: list[list[list[str | Slot]]] = [[[]]]
    inside = False
    for token in _TOKEN.finditer(line):
        mark = token["mark"]
        if mark in ("[[", "]]"):
            if (mark == "[[") == inside:
                fix = "close it with ']]' before the next" if inside else "open it with '[['"
                _fail(where, f"unbalanced alternation at {mark!r}", f"{fix}, or write \\{mark[0]}\\{mark[0]}")
            inside = not inside
            segments.append([[]])
        elif mark == "|" and inside:
            segments[-1].append([])
        else:
            segments[-1][-1].append(_part(token, where))
    if inside:
        _fail(where, "unbalanced alternation: '[[' is never closed", "close it with ']]'")
    return segments


def _part(token: re.Match[str], where: str) -> str | Slot:
    if (name := token["slot"]) is not None:
        return Slot(name)
    if (sign := token["escape"]) is not None:
        if sign not in _ESCAPES:
            _fail(where, f"unknown sign '\\{sign}'", "known are " + " ".join("\\" + escape for escape in _ESCAPES))
        return _ESCAPES[sign]
    if token["mark"] == "|":
        _fail(where, "'|' outside of an alternation", "write [[one|other]], or \\| for the sign itself")
    if token["mark"]:
        _fail(where, f"{token['mark']!r} without a slot's name", f"write {{answer}}, or \\{token['mark']} for the sign")
    return token["text"]


def _tidy(parts: list[str | Slot]) -> Template:
    """Joins neighbouring literals and removes the spaces that an empty alternative leaves behind."""
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
            _fail(where, f"unknown slot {{{name}}}", f"this file may use {known}")
        if times > 1:
            _fail(where, f"slot {{{name}}} stands {times} times in '{template}'", "keep one")
    for name in sorted(slots.required - set(used)):
        _fail(where, f"missing slot {{{name}}} in '{template}'", "every template of this file must use it")


def _fail(where: str | Path, what: str, fix: str) -> NoReturn:
    raise InputError(f"{where}: {what}; {fix}")


@dataclass(frozen=True)
class _File:
    templates: tuple[Template, ...]
    extends: bool


def _read(path: Path) -> _File:
    """Reads and checks one template file."""
    kind = path.name.removesuffix(".txt")
    seen: dict[Template, int] = {}
    extends = False
    for number, line in enumerate(_lines(path), 1):
        if line == EXTEND:
            extends = True
        elif line and not line.startswith("#"):
            for template in parse(line, f"{path}:{number}", KINDS[kind]):
                if template in seen:
                    _fail(f"{path}:{number}", f"'{template}' again, as in line {seen[template]}", "change one of them")
                seen[template] = number
    if kind in LINES.values() and (len(seen) != 1 or extends):
        _fail(path, f"{len(seen)} templates", "this file holds the form of a line, so write exactly one")
    if not seen and not extends:
        _fail(path, "no templates", "write one per line or remove the file")
    return _File(tuple(seen), extends)


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding=ENCODING).split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        _fail(path, f"cannot be read ({error})", "it must be a text file in UTF-8")


def needs(task: Task) -> list[str]:
    """The template files without which a task cannot be wrapped in a language."""
    return [f"{task}.instruction", f"{task}.output", *([LINES[task]] if task in LINES else [])]


class Templates:
    """The built-in templates and, before them, those of a user's folder; each file is read once."""

    def __init__(self, folder: Path | None = None) -> None:
        self._roots = [BUILT_IN] if folder is None else [folder, BUILT_IN]
        self._files: dict[Path, _File] = {}
        self._found: dict[tuple[str, str, str], tuple[Template, ...]] = {}
        if folder is not None:
            self._check_folder(folder)

    def language(self, source: str, task: Task, tag: str | None) -> str:
        """The item's language, or the nearest one in which the task can be wrapped: pt-BR, then pt, then `FALLBACK`."""
        tag = tag or UNSTATED
        subtags = tag.split("-")
        chain = ["-".join(subtags[:n]) for n in range(len(subtags), 0, -1)]
        same_script = (near for near in chain if culture.script(near) == culture.script(tag))
        return next((near for near in same_script if not self._missing(source, task, near)), FALLBACK)

    def get(self, source: str, kind: str, language: str) -> tuple[Template, ...]:
        """The templates of the first level that has the file, and of the next ones while they say `@extend`."""
        key = (source, kind, language)
        if key not in self._found:
            self._found[key] = self._look_up(*key)
        return self._found[key]

    def line(self, source: str, kind: str, language: str) -> Template:
        """The form of one line of `{options}` or `{role}`."""
        return self.get(source, kind, language)[0]

    def _look_up(self, source: str, kind: str, language: str) -> tuple[Template, ...]:
        templates: dict[Template, None] = {}
        for path in self._levels(source, kind, language):
            file = self._file(path)
            templates |= dict.fromkeys(file.templates)
            if not file.extends:
                break
        return tuple(templates)

    def _levels(self, source: str, kind: str, language: str) -> Iterator[Path]:
        for root in self._roots:
            for level in (source, "base"):
                path = root / level / language / f"{kind}.txt"
                if path.is_file():
                    yield path

    def _file(self, path: Path) -> _File:
        if path not in self._files:
            self._files[path] = _read(path)
        return self._files[path]

    def _missing(self, source: str, task: Task, language: str) -> list[str]:
        return [kind for kind in needs(task) if not self.get(source, kind, language)]

    def _check_folder(self, folder: Path) -> None:
        """Reads all that the user wrote, so that a mistake shows before a long build and not in it."""
        if not folder.is_dir():
            _fail(folder, "no such folder of templates", "name a folder such as the one with base/en/qa.output.txt")
        for path in sorted(folder.rglob("*.txt")):
            self._check_place(path, path.relative_to(folder).parts)
            self._file(path)
        for path in sorted(self._files):
            level, language = path.parts[-3:-1]
            for task in Task:
                missing = self._missing(level, task, language)
                if path.name.removesuffix(".txt") in needs(task) and missing:
                    _fail(path, f"{task} in {language!r} also needs {missing[0]}.txt", "write it beside this file")

    def _check_place(self, path: Path, parts: tuple[str, ...]) -> None:
        if len(parts) != 3:
            _fail(path, "in the wrong place", "expected SOURCE/LANGUAGE/FILE.txt, for example base/en/qa.output.txt")
        if path.name.removesuffix(".txt") not in KINDS:
            _fail(path, "unknown template file", f"known are {', '.join(f'{kind}.txt' for kind in KINDS)}")
        if (tag := culture.language(parts[1])) != parts[1]:
            _fail(path, f"folder {parts[1]!r} is no language tag", f"call it {tag!r}")


class Wrapper:
    """Wraps the items of a build; the same seed and items give the same texts.

    Within a stratum (source, task, language) the templates are dealt like cards: all of them once, in an order
    drawn from the seed, then all of them again in a new order. So each is used equally often up to one, and no
    other stratum matters. All versions of an item share the instruction; every version is dealt another output
    template. Nothing here looks at which answer is the correct one.
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
        """An instruction made of the item and an output that gives `answer`, correct or wrong.

        `task=Task.FREEFORM` asks a QA item without its options. Give an `explanation` only where the versions of an
        item all have one: if only the correct answers were explained, explanations would tell them from the wrong ones.
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

    def _values(self, item: SourceItem, answer: str, task: Task, language: str) -> dict[str, str]:
        where = f"{item.source} {item.id}"
        if not answer.strip() or not item.question.strip():
            _fail(where, "the question or the answer is empty", "leave the item out")
        values = {"question": item.question, "answer": answer}
        if task is Task.QA:
            if answer not in item.options:
                _fail(where, f"{answer!r} is not among the options", "give an option, or wrap it as freeform")
            line = self._templates.line(item.source, "option", language)
            rows = [{"letter": letter(n), "option": option} for n, option in enumerate(item.options)]
            values |= {"letter": letter(item.options.index(answer)), "options": _fill_lines(line, rows)}
        if task is Task.IMPERSONATION:
            if not item.role:
                _fail(where, "no role to impersonate", "give at least the country")
            line = self._templates.line(item.source, "role", language)
            values["role"] = _fill_lines(line, [{"name": name, "value": value} for name, value in item.role])
        return values | ({"context": item.context} if item.context else {})

    def _deal(self, item: SourceItem, task: Task, side: Side, language: str, values: Mapping[str, str]) -> Template:
        kind = f"{task}.{'instruction' if side == 'instruction' else 'output'}"
        conditional = CONDITIONAL & KINDS[kind].allowed & set(values)
        key = (item.source, kind, language, *sorted(conditional), *([LONG] if _is_long(side, values) else []))
        place = self._dealt[key] % len(self._orders.get(key, [None]))
        if place == 0:
            self._orders[key] = self._order(key, conditional)
        self._dealt[key] += 1
        return self._orders[key][place]

    def _order(self, key: tuple[str, ...], conditional: frozenset[str]) -> list[Template]:
        """All templates that fit what the item has, in the order of the next round."""
        source, kind, language = key[:3]
        fitting = [t for t in self._templates.get(source, kind, language) if CONDITIONAL & set(t.slots) == conditional]
        if LONG in key:
            fitting = [template for template in fitting if template.answer_ends_line] or fitting
        if not fitting:
            use = " and ".join(f"uses {{{name}}}" for name in sorted(conditional))
            use = use or f"does without {' '.join(f'{{{name}}}' for name in sorted(CONDITIONAL))}"
            _fail(f"{source}/{language}/{kind}.txt", f"no template {use}, as an item needs", "add one")
        salt = "\0".join([str(self._seed), *key, str(self._dealt[key])])
        # A digest of the text, not random.shuffle: the same on every Python, and whatever the order of the lines.
        return sorted(fitting, key=lambda template: sha256(f"{salt}\0{template}".encode()).digest())


def _is_long(side: Side, values: Mapping[str, str]) -> bool:
    answer = values["answer"]
    return side == "text" and (len(answer) > LONGEST_INLINE or "\n" in answer)


def letter(number: int) -> str:
    """A, B, …, Z, AA, AB, … for 0, 1, …"""
    rest = chr(ord("A") + number % 26)
    return rest if number < 26 else letter(number // 26 - 1) + rest


def _fill_lines(line: Template, rows: list[dict[str, str]]) -> str:
    return "\n".join(line.fill(row)[0] for row in rows)
