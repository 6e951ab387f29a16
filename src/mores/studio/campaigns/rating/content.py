"""The content of an item of a rating campaign: a question and the answers of several models, under letters.

    {"question": …, "reference": …, "type": …, "answers": [{"letter": "a", "model": …, "text": …}, …],
     "failed": {"a model without an answer": "why"}}

The letters stand in the names of form fields, so people could read them in the page: which model has which letter is
another for each question, and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import Any

from mores.errors import InputError, suggest
from mores.studio.data.incoming import Incoming
from mores.studio.form import clean, draw_lot, storable
from mores.studio.records import Content

MOST = 9
"""Answers to one question: places of a ranking have one digit."""
LETTERS = ascii_lowercase[:MOST]
LONGEST_ANSWER, LONGEST_TEXT, LONGEST_NAME = 50_000, 10_000, 500
COLUMN = "answer_"
"""In a table, the answer of a model stands in a column such as `answer_Some Model`."""
FIELDS = ("question", "reference", "type", "answers", "failed")
COLUMNS = ("question", "reference", "type", f"{COLUMN}NAME", "model", "answer")
LONG = {"question", "reference", "type", "kind", "model", "answer", "failure"}
IGNORED = {"topic", "question_english", "answer_english"}
"""What rows of `mores longform` have besides."""


def admit(_settings: object, content: Content) -> Content:
    """Return an imported question with its answers; InputError says what is missing."""
    columns = {name: value for name, value in content.items() if name.startswith(COLUMN)}
    others = {name: value for name, value in content.items() if name not in columns}
    if unknown := [name for name in others if name not in FIELDS]:
        hint = suggest(unknown[0], FIELDS)
        raise InputError(f"unknown field {unknown[0]!r}; {hint}expected {', '.join(FIELDS)} or columns {COLUMN}NAME")
    if columns and "answers" in others:
        raise InputError(f"both 'answers' and columns {COLUMN}NAME; keep one of them")
    if columns:
        given = {name.removeprefix(COLUMN): text for name, text in columns.items()}
        empty = {name: "no answer" for name, text in given.items() if not str(text or "").strip()}
        others |= {"answers": given} | ({"failed": empty} if empty else {})
    answers = read_answers(others)
    if any(not answer["model"] for answer in answers):
        raise InputError('an answer has no model; write answers as {"MODEL": "TEXT"}')
    failed = others.get("failed") or {}
    if not isinstance(failed, dict) or not all(isinstance(reason, str) for reason in failed.values()):
        raise InputError('\'failed\' is not an object; write {"MODEL": "REASON"} for models without an answer')
    admitted = {"question": needed(others, "question"), "answers": answers}
    texts = {name: _text(name, others[name], LONGEST_TEXT) for name in ("reference", "type") if others.get(name)}
    return admitted | texts | ({"failed": dict(failed)} if failed else {})


def needed(content: Mapping[str, Any], name: str) -> str:
    """Return a text that must be there."""
    text = _text(name, content.get(name), LONGEST_TEXT)
    if not text:
        raise InputError(f"no {name!r}; every question needs {name!r} and its answers")
    return text


def _text(name: str, value: Any, longest: int) -> str:
    """Return a short text, without the space around it."""
    return _as_written(name, value, longest).strip()


def _as_written(name: str, value: Any, longest: int) -> str:
    """Return a text with its own line ends and the space around it."""
    if value is None:
        return ""
    if not isinstance(value, str | int | float):
        raise InputError(f"{name!r} is {type(value).__name__}, not a text")
    text = storable(str(value))
    if len(text) > longest:
        raise InputError(f"{name!r} has {len(text):,} characters; at most {longest:,} can be shown")
    return text


def read_answers(content: Mapping[str, Any]) -> list[Content]:
    """Return the answers of a question under their letters, in the order of the letters."""
    entries = [entry for entry in _entries(content.get("answers")) if entry["text"].strip()]
    if not entries:
        raise InputError('no answers; write them as {"MODEL": "TEXT"}, or in columns answer_NAME')
    if len(entries) > MOST:
        raise InputError(f"{len(entries)} answers; people can compare at most {MOST}")
    names = [entry["model"] for entry in entries if entry["model"]]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two answers of {twice!r}; keep one")
    if not any(entry["letter"] for entry in entries):
        question = clean(str(content.get("question") or ""))
        order = sorted(entries, key=lambda entry: draw_lot(question, clean(entry["text"]), entry["model"]))
        entries = [entry | {"letter": letter} for letter, entry in zip(LETTERS, order, strict=False)]
    letters = [entry["letter"] for entry in entries]
    if sorted(letters) != list(LETTERS[: len(letters)]):
        raise InputError(
            f"the letters of the answers are {', '.join(letters)}; use {', '.join(LETTERS[: len(letters)])}"
        )
    return sorted(entries, key=lambda entry: str(entry["letter"]))


def _entries(answers: Any) -> Iterator[Content]:
    if isinstance(answers, dict):
        answers = [{"model": name, "text": text} for name, text in answers.items()]
    if answers and not (isinstance(answers, list) and all(isinstance(entry, dict) for entry in answers)):
        raise InputError('\'answers\' is not an object; write {"MODEL": "TEXT"}')
    for entry in answers or ():
        if unknown := [name for name in entry if name not in ("letter", "model", "text")]:
            raise InputError(f"an answer has {unknown[0]!r}; expected 'model' and 'text'")
        model = _text("model", entry.get("model"), LONGEST_NAME)
        text = _as_written("text", entry.get("text"), LONGEST_ANSWER)
        yield {"letter": str(entry.get("letter") or ""), "model": model, "text": text}


def join(rows: Sequence[Incoming]) -> list[Incoming]:
    """Join rows with the answer of one model each, as `mores longform` writes them, by question and language."""
    joined: dict[tuple[str, str], Incoming] = {}
    places: dict[tuple[str, str, str], str] = {}
    whole = [row for row in rows if "model" not in row.content]
    for row in rows:
        if "model" not in row.content:
            continue
        try:
            content = read_row(row.content)
            key = clean(content["question"]), row.language.casefold()
            [model] = {**content["answers"], **content["failed"]}
            if first := places.get((*key, model)):
                raise InputError(f"a second answer of {model!r} to this question, after {first}; keep one")
            places[*key, model] = row.place
            known = joined.get(key)
            joined[key] = (
                row._replace(content=content)
                if known is None
                else merge(known, content)._replace(metadata=known.shared(row))
            )
        except InputError as error:
            raise InputError(f"{row.place}: {error}") from error
    return [*whole, *joined.values()]


def read_row(content: Content) -> Content:
    """Return one row as a question with one answer, or with the reason why the model has none."""
    if unknown := [name for name in content if name not in LONG | IGNORED]:
        hint = suggest(unknown[0], LONG)
        raise InputError(f"unknown field {unknown[0]!r}; {hint}expected {', '.join(sorted(LONG))}")
    model = _text("model", content.get("model"), LONGEST_NAME)
    if not model:
        raise InputError("no 'model'; say which model wrote the answer")
    text = _as_written("answer", content.get("answer"), LONGEST_ANSWER)
    failure = content.get("failure")
    reason = str(failure.get("reason") or "") if isinstance(failure, dict) else ""
    return {
        "question": needed(content, "question"),
        "answers": {model: text} if text.strip() else {},
        "failed": {} if text.strip() else {model: reason or "no answer"},
        "reference": content.get("reference"),
        "type": content.get("type") or content.get("kind"),
    }


def merge(known: Incoming, content: Content) -> Incoming:
    """Return a question with one more answer."""
    before = known.content
    for name in ("reference", "type"):
        if before[name] and content[name] and before[name] != content[name]:
            raise InputError(
                f"{name!r} is {content[name]!r}, and {before[name]!r} in {known.place}; make them the same"
            )
    together = {name: {**before[name], **content[name]} for name in ("answers", "failed")}
    texts = {name: before[name] or content[name] for name in ("reference", "type")}
    return known._replace(content=before | together | texts)
