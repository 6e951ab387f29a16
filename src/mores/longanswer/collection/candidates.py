"""The questions that a collection begins with, and how a row or a record becomes one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from mores import culture
from mores.errors import InputError, suggest
from mores.factory.sources.files import read
from mores.factory.sources.rows import OnBad, SourceRow, collect
from mores.longanswer.collection.pages import SUFFIXES, is_pages, read_pages
from mores.types import Record

FIELDS: dict[str, tuple[str, ...]] = {
    "id": (),
    "question": (),
    "language": ("lang",),
    "translation": ("question_english",),
    "answer": (),
    "source": ("website", "url"),
}
"""Our name of each field, and what others call it."""
_KNOWN = {name: field for field, names in FIELDS.items() for name in (field, *names)}
_OURS = {"language_name", "status", "extra"}
"""Fields that only a row of an earlier collection has; of its other fields, `extra` is handed on."""
_NO_LANGUAGE = {"und", "mul"}


class Candidate(Record):
    """One question as it was found or written, before it is judged."""

    id: str
    question: str
    language: str
    """BCP 47."""
    language_name: str
    """In English, for prompts and tables."""
    translation: str | None = None
    """The question in English, where there is one."""
    answer: str | None = None
    source: str | None = None
    """The website or person that it comes from."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """The other fields of its row, handed on untouched."""

    @property
    def english(self) -> bool:
        return culture.base_language(self.language) == "en"


Questions = Path | str | Iterable[Candidate | Mapping[str, Any]]
"""A file, or records."""


def read_candidates(source: Questions, on_bad: OnBad, label: str | None = None) -> Iterator[Candidate]:
    """Return the questions of a table, of saved pages of a forum, or of records; errors call them by `label`.

    A bad row goes to `on_bad`, with file, line and fix, and is left out; so does a row whose id was there before.
    """
    is_file = isinstance(source, str | Path)
    label = label or (str(source) if is_file else "questions")
    seen: dict[str, str] = {}

    def make(row: SourceRow) -> Candidate:
        line = row.place.rpartition(":")[2]
        name = row.file.stem if row.file.suffix.lower() in SUFFIXES else Path(label).stem
        candidate = candidate_from(row.values, default_id=f"{name}:{line}")
        if candidate.id in seen:
            raise InputError(
                f"id {candidate.id!r} is already that of line {seen[candidate.id]}; give every question a different id"
            )
        seen[candidate.id] = line
        return candidate

    if isinstance(source, str | Path):
        rows = read_pages(Path(source)) if is_pages(Path(source)) else read(Path(source))
        return collect(_named(rows, str(source), label), make, on_bad)
    # A record of ours looks like a row of an earlier collection.
    every = (dict.fromkeys(_OURS) | dict(record) if isinstance(record, Candidate) else record for record in source)
    rows = (SourceRow(f"{label}:{number}", Path(), (), values) for number, values in enumerate(every, 1))
    return collect(rows, make, on_bad)


def _named(rows: Iterator[SourceRow | InputError], path: str, label: str) -> Iterator[SourceRow | InputError]:
    """Yield rows and errors that call the file by its label: nobody knows the name of a copy of standard input."""
    for row in rows:
        if isinstance(row, InputError):
            yield InputError(str(row).replace(path, label, 1))
        else:
            yield replace(row, place=row.place.replace(path, label, 1))


def candidate_from(values: Mapping[str, Any], default_id: str) -> Candidate:
    """Return the question in a mapping of fields, by our names or their aliases; InputError for a bad one."""
    texts = {field: _text(values, field) for field in FIELDS}
    if lacking := next((field for field in ("question", "language") if texts[field] is None), None):
        hint = suggest(lacking, (str(name) for name in values if name not in _KNOWN), 0.75)
        raise InputError(f"no {lacking!r}; {hint}every row needs 'question' and 'language'")
    question, language = str(texts["question"]), str(texts["language"])
    tag = culture.language(language)
    if tag in _NO_LANGUAGE:
        raise InputError(f"unknown language {language!r}; name the one that the question is in")
    extra = values.get("extra")
    others = extra if isinstance(extra, dict) and values.keys() >= _OURS else values
    rest = {  # what JSON can hold; Parquet also has dates and bytes
        name: value if value is None or isinstance(value, str | int | float | list | dict) else str(value)
        for name, value in others.items()
        if name not in _KNOWN
    }
    return Candidate(
        id=texts["id"] or default_id,
        question=question,
        language=tag,
        language_name=culture.language_name(tag),
        translation=texts["translation"],
        answer=texts["answer"],
        source=texts["source"],
        extra=rest,
    )


def _text(values: Mapping[str, Any], field: str) -> str | None:
    """Return a field's text without blanks around it; None where it is missing or blank."""
    name = next((name for name in (field, *FIELDS[field]) if values.get(name) not in (None, "")), field)
    value = values.get(name)
    if field == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{name!r} is {type(value).__name__}, not a text; put it in quotes")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name!r} has half a character (a lone surrogate); correct or remove the row") from error
    return value.strip() or None
