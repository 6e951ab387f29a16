"""The template files of a source, a task and a language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mores import culture
from mores.factory.items import Task
from mores.factory.wrap.template import KINDS, LINES, Template, fail, parse

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
        if folder is not None:
            self._check_folder(folder)

    def language(self, source: str, task: Task, tag: str | None) -> str:
        """Return the item's language, or the nearest one that has templates: pt-BR, then pt, then `FALLBACK`."""
        tag = tag or UNSTATED
        subtags = tag.split("-")
        chain = ["-".join(subtags[:n]) for n in range(len(subtags), 0, -1)]
        same_script = (near for near in chain if culture.script(near) == culture.script(tag))
        return next((near for near in same_script if not self._missing(source, task, near)), FALLBACK)

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

    def line(self, source: str, kind: str, language: str) -> Template:
        """Return the template of one line of `{options}` or `{role}`."""
        return self.get(source, kind, language)[0]

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
            self._check_place(path, path.relative_to(folder).parts)
            self._file(path)
        for path in sorted(self._files):
            level, language = path.parts[-3:-1]
            for task in Task:
                missing = self._missing(level, task, language)
                if path.name.removesuffix(".txt") in needed_files(task) and missing:
                    fail(path, f"{task} in {language!r} also needs {missing[0]}.txt", "write it beside this file")

    def _check_place(self, path: Path, parts: tuple[str, ...]) -> None:
        if len(parts) != 3:
            fail(path, "in the wrong place", "expected SOURCE/LANGUAGE/FILE.txt, for example base/en/qa.output.txt")
        if path.name.removesuffix(".txt") not in KINDS:
            fail(path, "unknown template file", f"known are {', '.join(f'{kind}.txt' for kind in KINDS)}")
        if (tag := culture.language(parts[1])) != parts[1]:
            fail(path, f"folder {parts[1]!r} is not a language tag", f"call it {tag!r}")
