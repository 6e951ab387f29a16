"""A benchmark without code: a table of questions, and a TOML or YAML file that says how they are asked and graded.

    mores bench questions.csv --model openai:NAME     # the table alone
    mores bench init questions.csv                    # writes questions.toml: prompt, grading, groups, judge
    mores bench questions.toml --model openai:NAME

It is multiple choice where the table has choices. Other answers are short: a judge grades them as MSQA's, or
`grading = "exact"` compares them with the accepted ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Literal

from pydantic import Field, ValidationError

from mores.benchmark.benchmark import ACCURACY, Benchmark, Graded, Label
from mores.benchmark.choice import grade_letter, guess_letter, letters
from mores.benchmark.msqa import FIGURES
from mores.benchmark.msqa.judge import JUDGE
from mores.benchmark.questions.table import GROUPS, QuestionTable, make_items, plain_answer
from mores.errors import ConfigError, InputError, suggest
from mores.formatting import count
from mores.io import write_text
from mores.io.source import read_text
from mores.io.values import load_toml, load_yaml
from mores.prompts import SLOT, hash_prompts, read_prompt
from mores.reading import without_thoughts
from mores.types import Item, Record

DEFINITIONS = (".toml", ".yaml", ".yml")
"""Suffixes of files that say how questions are asked."""


class Definition(Record):
    """The definition of a table of questions: how they are asked and graded."""

    questions: str
    """The table, beside this file unless it is a whole path."""
    name: str = ""
    """The name in tables; that of the file if empty."""
    title: str = ""
    licence: str = ""
    columns: dict[str, str] = Field(default_factory=dict)
    """The table's names of our columns, where they are not recognised."""
    system: str | None = None
    prompt: str = ""
    """The whole prompt, with slots such as {question} and {choices}, or any other column."""
    grading: Literal["", "choice", "judge", "exact"] = ""
    groups: tuple[str, ...] | None = None
    """Columns that results are broken down by."""
    judge: str | tuple[str, ...] = ()
    """Models that grade, unless the user names others."""
    max_tokens: int = Field(512, ge=1)


def load_questions(file: Path) -> Benchmark:
    """Return the benchmark of a table, or of the file that says how a table is asked."""
    text, definition, path, beside = "", Definition(questions=file.name), file, ""
    if file.suffix.lower() in DEFINITIONS:
        text = read_text(file)
        definition = read_definition(file, text)
        path = file.parent / definition.questions
    elif unused := next((other for other in map(file.with_suffix, DEFINITIONS) if other.is_file()), None):
        beside = f"; {unused} is not used: run it instead of the table"
    try:
        table = QuestionTable(path, definition.columns)
    except ConfigError as error:
        raise ConfigError(f"{_place(file, text, 'columns')}: {error}") from error
    except InputError as error:
        if error.setting != "columns":
            raise
        names = 'columns = {question = "…", answer = "…"}'
        other = file.with_suffix(".toml").name
        fix = f"name yours in {file.name}: {names}" if text else f'or write {other}: questions = "{file.name}", {names}'
        raise InputError(f"{error}; {fix}") from error
    grading = definition.grading or ("choice" if table.has_choices else "judge")
    prompt = definition.prompt or read_prompt(__file__, "choice" if grading == "choice" else "short")
    for key, problem in _problems(definition, table, grading, prompt):
        raise ConfigError(f"{_place(file, text, key)}: {problem}")
    items, bad, about = make_items(table, prompt, grading)
    if not items:
        raise bad[0]
    columns, groups = table.columns(), definition.groups
    if groups is None:
        groups = tuple(name for name in GROUPS if any(getattr(item, name) for item in items))
    name = definition.name or re.sub(r"[^\w.-]+", "-", file.stem).strip("-.") or "questions"
    return Benchmark(
        name=name,
        title=definition.title or f"{name}: {count(len(items), 'question')} of your own",
        version=f"1.{hash_prompts(definition.system or '', grading)}",
        licence=definition.licence or "not stated",
        homepage="",
        files="a table with question, answer and, for multiple choice, choices",
        read=lambda _, on_bad: _read(items, bad, on_bad),
        source=name,
        grade={"choice": grade_letter, "exact": grade_exact}.get(grading),
        judging=JUDGE if grading == "judge" else None,
        figures=FIGURES if grading == "judge" else ACCURACY,
        groupings=tuple(dict.fromkeys(columns[group] for group in groups)),
        candidates=letters if grading == "choice" else None,
        references=guess_letter if grading == "choice" else lambda _: {},
        system=definition.system,
        max_tokens=definition.max_tokens,
        about=lambda _: about + beside,
        judges=(definition.judge,) if isinstance(definition.judge, str) else definition.judge,
        file=file.resolve(),
    )


def _problems(definition: Definition, table: QuestionTable, grading: str, prompt: str) -> Iterator[tuple[str, str]]:
    """Yield what a definition says and its table does not allow, with the setting that says it."""
    if grading == "choice" and not table.has_choices:
        yield "grading", f"{definition.questions} has no choices; give it a column 'choices', or choose judge or exact"
    columns, used = table.columns(), SLOT.findall(prompt)
    slots = ("question", *(["choices"] if table.has_choices else []), *columns)
    for slot in used:
        if slot not in slots:
            near = suggest(slot, slots, before="{", after="}")
            yield "prompt", f"{{{slot}}} is not a column; {near}the columns are {', '.join(slots)}"
    for slot in ("question", *(["choices"] if grading == "choice" else [])):
        if slot not in used:
            yield "prompt", f"the prompt does not show {{{slot}}}; add it"
    for group in definition.groups or ():
        if group not in columns:
            known = ", ".join(columns) or "none"
            yield "groups", f"no column {group!r} to group by; {suggest(group, columns)}the columns are {known}"


def read_definition(file: Path, text: str) -> Definition:
    """Return what a TOML or YAML file says; ConfigError names the line and the fix."""
    kind = "TOML" if file.suffix.lower() == ".toml" else "YAML"
    try:
        values = load_toml(text.encode()) if kind == "TOML" else load_yaml(text.encode(), "build")
    except ValueError as error:
        line = re.search(r"line (\d+)", str(error))
        raise ConfigError(
            f"{file}:{line[1] if line else text.count(chr(10)) + 1}: not {kind}: {error}; correct it"
        ) from error
    known = list(Definition.model_fields)
    if not isinstance(values, dict):
        raise ConfigError(f"{file}:1: no settings; write `questions`, and what you want of {', '.join(known[1:])}")
    for key in values:
        if key not in known:
            fix = f"{suggest(str(key), known)}choose from {', '.join(known)}"
            raise ConfigError(f"{_place(file, text, str(key))}: unknown setting {key!r}; {fix}")
    try:
        return Definition.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "missing":
            raise ConfigError(f"{file}:1: no 'questions'; name the table: questions = \"questions.csv\"") from error
        name = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{_place(file, text, str(first['loc'][0]))}: {name}: {first['msg']}; correct it") from error


def write_definition(table: Path) -> list[Path]:
    """Write the file that says how a table is asked, with a comment on each setting; and a table, if there is none."""
    file, written = table.with_suffix(".toml"), []
    if file.exists():
        raise ConfigError(f"{file}: exists already; edit it, or remove it first")
    if table.suffix.lower() in DEFINITIONS:
        raise ConfigError(f"{table}: give the table of questions, such as {table.with_suffix('.csv')}")
    if not table.exists():
        if table.suffix.lower() != ".csv":
            raise InputError(f"{table}: no such file; give your table, or a new name that ends in .csv for an example")
        write_text(table, read_prompt(__file__, "example") + "\n")
        written.append(table)
    loaded = load_questions(table)
    prompt = read_prompt(__file__, "choice" if loaded.candidates else "short")
    filled = Template(read_prompt(__file__, "definition")).substitute(
        table=table.name.replace("\\", "\\\\").replace('"', '\\"'),
        file=file.name,
        name=loaded.name,
        grading="choice" if loaded.candidates else "judge",
        prompt=prompt,
        groups=", ".join(f'"{group}"' for group in loaded.groupings),
        columns=", ".join(QuestionTable(table, {}).columns()) or "none",
    )
    write_text(file, filled + "\n")
    return [*written, file]


def grade_exact(item: Item, text: str) -> Graded:
    """Accept an answer that is an accepted one, whatever its case, outer punctuation and form of letters."""
    answer = plain_answer(without_thoughts(text))
    if not answer:
        return Graded(label=Label.NOT_ATTEMPTED)
    matched = next((target for target in item.target if plain_answer(target) == answer), None)
    return Graded(label=Label.INCORRECT if matched is None else Label.CORRECT, read=matched)


def _read(items: Sequence[Item], bad: Sequence[InputError], on_bad: Callable[[InputError], None]) -> Iterator[Item]:
    for error in bad:
        on_bad(error)
    yield from items


def _place(file: Path, text: str, key: str) -> str:
    """Return file and line of a setting."""
    setting = re.compile(rf"""\s*[\['"]*{re.escape(key)}\b""")
    return f"{file}:{next((number for number, line in enumerate(text.splitlines(), 1) if setting.match(line)), 1)}"
