"""Long answers from files or records, or from the release of CaLMQA with the answers of its models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from mores.culture import language, region
from mores.errors import InputError
from mores.factory.sources.calmqa import PERSON, CalmqaAnswer, CalmqaQuestion, read_entries
from mores.factory.sources.files import read
from mores.factory.sources.rows import OnBad, SourceRow, collect
from mores.longanswer.records import LongAnswer, QuestionKind
from mores.types import Failure, FailureKind

PEOPLE = (PERSON, "Human (dot points)")
REFUSED = frozenset({"OTHER", "RECITATION", "SAFETY"})
"""Why Gemini's server gave no answer, which the release has in place of one; they are the paper's API errors."""
ANSWER = ("answer", "response", "text", "output")
QUESTION = ("question", "prompt", "instruction")
LANGUAGE, REGION, TOPIC = ("language", "lang"), ("region", "country"), ("topic", "category")
KIND = ("kind", "question_type")
READ = frozenset((*LongAnswer.model_fields, *ANSWER, *QUESTION, *LANGUAGE, *REGION, *TOPIC, *KIND))
"""The columns that are read; the others are kept as they are."""
Answers = Path | str | Iterable[LongAnswer | Mapping[str, Any]]
"""A file, a folder of CaLMQA's release, or records."""


def read_answers(source: Answers, on_bad: OnBad) -> Iterator[LongAnswer]:
    """Return answers with `question`, `answer` and `language`, or those of the models in a folder of CaLMQA's release.

    Further fields: `id`, `model`, `region`, `kind` (specific or agnostic), `topic`, `question_english`,
    `answer_english`; other columns are kept as metadata. A bad row goes to `on_bad` with its place.
    """
    if not isinstance(source, str | Path):
        rows = (SourceRow(f"answers:{number}", Path(), (), dict(record)) for number, record in enumerate(source, 1))
        return collect(rows, _once(), on_bad)
    path = Path(source)
    if path.is_dir():
        entries = read_entries(path, on_bad)
        return (_released(entry, answer) for entry in entries for answer in entry.answers if answer.model not in PEOPLE)
    return collect(read(path), _once(), on_bad)


def _released(entry: CalmqaQuestion, answer: CalmqaAnswer) -> LongAnswer:
    failure = None
    if not answer.text:
        failure = Failure(kind=FailureKind.MODEL, reason="the release has no answer")
    elif (word := answer.text.strip()) in REFUSED:
        reason = f"the release has no answer but the server's reason, {word}"
        failure = Failure(kind=FailureKind.FILTERED, reason=reason)
    return LongAnswer(
        id=entry.id,
        question=entry.question,
        answer=None if failure else answer.text,
        language=entry.language,
        model=answer.model,
        kind=QuestionKind.SPECIFIC if entry.specific else QuestionKind.AGNOSTIC,
        topic=entry.category,
        question_english=entry.english,
        answer_english=answer.english,
        failure=failure,
    )


def _answer(row: SourceRow) -> LongAnswer:
    place, kind = row.maybe(*REGION), row.maybe(*KIND)
    text, failure = row.maybe(*ANSWER), row.values.get("failure")
    if not isinstance(failure, Failure):
        failure = Failure(kind=FailureKind.INPUT, reason="the row has no answer")
    if not any(name in row.values for name in ANSWER):
        raise InputError("no 'answer'; add it, empty where the model gave none")
    if kind is not None and kind not in set(QuestionKind):
        raise InputError(f"the kind is {kind!r}; expected {' or '.join(QuestionKind)}")
    return LongAnswer(
        id=row.maybe("id") or row.place.rpartition("/")[2],
        question=_needed(row, *QUESTION),
        answer=text,
        language=language(_needed(row, *LANGUAGE)),
        model=row.maybe("model") or "",
        region=region(place) if place else None,
        kind=QuestionKind(kind) if kind else None,
        topic=row.maybe(*TOPIC),
        question_english=row.maybe("question_english"),
        answer_english=row.maybe("answer_english"),
        failure=None if text else failure,
        metadata=_others(row),
    )


def _others(row: SourceRow) -> dict[str, Any]:
    """Return the texts, numbers and truth values of the columns that are not read."""
    given = row.values.get("metadata")
    others = {**(given if isinstance(given, dict) else {}), **row.values}
    plain = {name: value for name, value in others.items() if isinstance(value, str | int | float) and value != ""}
    return {name: value for name, value in plain.items() if name and name not in READ}


def _needed(row: SourceRow, *names: str) -> str:
    text = row.maybe(*names)
    if text is None:
        raise InputError(f"no {names[0]!r}; every row needs 'question', 'answer' and 'language'")
    return text


def _once() -> Callable[[SourceRow], LongAnswer]:
    """Return a reader of rows that refuses a second answer of the same model under one id, or the same without ids."""
    seen: dict[tuple[str, ...], str] = {}

    def checked(row: SourceRow) -> LongAnswer:
        answer = _answer(row)
        if (first := seen.setdefault((answer.id, answer.model), row.place)) != row.place:
            raise InputError(f"a second answer to {answer.id!r}, after {first}; give it another id, or name the models")
        if row.maybe("id") is None:
            texts = (answer.question, answer.language, answer.model, answer.answer or "")
            digest = sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
            if (first := seen.setdefault((digest,), row.place)) != row.place:
                raise InputError(f"the same answer to the same question as {first}; remove it, or give both an id")
        return answer

    return checked
