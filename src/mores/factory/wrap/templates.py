"""The template files of a source, a task and a language: literal text and slots; a line may stand for several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from typing import NoReturn

from mores import culture
from mores.errors import InputError
from mores.factory.items import Task

MOST_PER_LINE = 1000
CONDITIONAL = frozenset({"context", "explanation"})
"""A template that uses one of these serves the items that have it, and only those."""


class Slots:
    """The slots of one kind of template file."""

    def __init__(self, required: str, optional: str = "") -> None:
        self.required, self.allowed = frozenset(required.split()), frozenset(f"{required} {optional}".split())


KINDS = {
    "qa.instruction": Slots("question options", "context"),
    "qa.output": Slots("answer", "letter explanation"),
    "freeform.instruction": Slots("question", "context"),
    "freeform.output": Slots("answer", "explanation"),
    "generation.instruction": Slots("question", "context"),
    "generation.output": Slots("answer", "explanation"),
    "impersonation.instruction": Slots("question role", "context"),
    "impersonation.output": Slots("answer", "explanation"),
    "option": Slots("letter option"),
    "role": Slots("name value"),
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
        """True if the answer ends its line, so that it may be long."""
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


BUILT_IN = Path(__file__).parents[1] / "templates"
EXTEND = "@extend"
FALLBACK = "und"
"""Language of templates without words, so that no phrase surrounds a question in another language."""
UNSTATED = "en"
"""Assumed language of an item that states none."""
ENCODING = "utf-8-sig"  # editors on Windows may write a byte order mark


@dataclass(frozen=True)
class _File:
    templates: tuple[Template, ...]
    extends: bool


def _read(path: Path) -> _File:
    """Read and check one template file."""
    kind = path.name.removesuffix(".txt")
    seen: dict[Template, int] = {}
    extends = False
    try:
        lines = path.read_text(encoding=ENCODING).split("\n")
    except (OSError, UnicodeDecodeError) as error:
        fail(path, f"cannot be read ({error})", "it must be a text file in UTF-8")
    for number, line in enumerate(map(str.strip, lines), 1):
        if line == EXTEND:
            extends = True
        elif line and not line.startswith("#"):
            for template in parse(line, f"{path}:{number}", KINDS[kind]):
                if template in seen:
                    fail(f"{path}:{number}", f"duplicate of line {seen[template]}: '{template}'", "change one of them")
                seen[template] = number
    if kind in LINES.values() and (len(seen) != 1 or extends):
        fail(path, f"{len(seen)} templates", "this file is for one line, so write exactly one")
    if not seen and not extends:
        fail(path, "no templates", "write one per line or remove the file")
    return _File(tuple(seen), extends)


_read_built_in = cache(_read)
"""Files of the package do not change."""


def needed_files(task: Task) -> list[str]:
    """Return the template files without which a task cannot be wrapped in a language."""
    return [f"{task}.instruction", f"{task}.output", *([LINES[task]] if task in LINES else [])]


class Templates:
    """The built-in templates and, before them, those of a user's folder; each file is read once."""

    def __init__(self, folder: Path | None = None) -> None:
        self._roots = [BUILT_IN] if folder is None else [folder, BUILT_IN]
        self._files: dict[Path, _File] = {}
        self._looked_up: dict[tuple[str, str, str], tuple[Template, ...]] = {}
        self._languages: dict[tuple[str, Task, str], str] = {}
        if folder is not None:
            self._check_folder(folder)

    def language(self, source: str, task: Task, tag: str | None) -> str:
        """Return the item's language, or the nearest one that has templates: pt-BR, then pt, then `FALLBACK`."""
        key = source, task, tag or UNSTATED
        if key not in self._languages:
            subtags = key[2].split("-")
            chain = ["-".join(subtags[:n]) for n in range(len(subtags), 0, -1)]
            same_script = (near for near in chain if culture.script(near) == culture.script(key[2]))
            nearest = (near for near in same_script if not self._missing(source, task, near))
            self._languages[key] = next(nearest, FALLBACK)
        return self._languages[key]

    def get(self, source: str, kind: str, language: str) -> tuple[Template, ...]:
        """Return the templates of the first level that has the file, and of the next ones after `@extend`."""
        key = (source, kind, language)
        if key not in self._looked_up:
            templates: dict[Template, None] = {}
            paths = (root / level / language / f"{kind}.txt" for root in self._roots for level in (source, "base"))
            for file in (self._file(path) for path in paths if path.is_file()):
                templates |= dict.fromkeys(file.templates)
                if not file.extends:
                    break
            self._looked_up[key] = tuple(templates)
        return self._looked_up[key]

    def _file(self, path: Path) -> _File:
        if path not in self._files:
            self._files[path] = (_read_built_in if path.is_relative_to(BUILT_IN) else _read)(path)
        return self._files[path]

    def _missing(self, source: str, task: Task, language: str) -> list[str]:
        return [kind for kind in needed_files(task) if not self.get(source, kind, language)]

    def _check_folder(self, folder: Path) -> None:
        """Read all files of the user, so that mistakes show before a long build."""
        if not folder.is_dir():
            fail(folder, "no such folder of templates", "name a folder such as the one with base/en/qa.output.txt")
        for path in sorted(folder.rglob("*.txt")):
            parts = path.relative_to(folder).parts
            if len(parts) != 3:
                fix = "expected SOURCE/LANGUAGE/FILE.txt, for example base/en/qa.output.txt"
                fail(path, "in the wrong place", fix)
            if path.name.removesuffix(".txt") not in KINDS:
                fail(path, "unknown template file", f"known are {', '.join(f'{kind}.txt' for kind in KINDS)}")
            if (tag := culture.language(parts[1])) != parts[1]:
                fail(path, f"folder {parts[1]!r} is not a language tag", f"call it {tag!r}")
            self._file(path)
        for path in sorted(self._files):
            level, language = path.parts[-3:-1]
            for task in Task:
                missing = self._missing(level, task, language)
                if path.name.removesuffix(".txt") in needed_files(task) and missing:
                    fail(path, f"{task} in {language!r} also needs {missing[0]}.txt", "write it beside this file")
