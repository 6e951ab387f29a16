"""CaLMQA (Arora et al. 2025): long questions and answers in 23 languages; the answers of people to cultural questions.

Questions that are the same in every culture are left out, and so are those that only models have answered. The answers
are forum posts, without links, greetings, list numbers, and without what writers say about themselves: a changed list
number is not a cultural error, and neither is a changed age of somebody's daughter. The words that mark such paragraphs
are in `posts.toml`, by language; in other languages, paragraphs stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mores.culture import language
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all, read_tables
from mores.factory.sources.options import matches
from mores.factory.sources.rows import OnBad, SourceRow, collect, digest

SHORTEST = 100
"""Minimum bytes of UTF-8 of an answer; a shorter one is a quip."""
LONGEST_GREETING = 80
"""Maximum characters of a paragraph that only greets; a longer one says something else too."""
MOST_PERSONAL = 0.5
"""Maximum share of a post that may be left out; beyond it, the rest is incoherent."""

_CONTACT = re.compile(
    r"https?://|www\.|\b[\w-]+(\.[\w-]+)*\.(com|net|org|info|co\.kr|go\.kr|or\.kr|co\.jp|ru|de|es|hu|il|cn|in)\b"
    r"|\d{2,4}-\d{3,4}-\d{4}"
)
"""A link or a telephone number."""
_MARKER = re.compile(r"^(?:[-–—•*·▪◦○●]+|\(?\d{1,2}[.)、，ـ:-]+\)?(?!\d)|[IVX]{1,4}\.|[a-z]\))\s*")
_INLINE = re.compile(r"(?<=[。！？；])\s*\d{1,2}[，、.)）]")
"""A list number within a paragraph of Chinese."""
_BLANK = re.compile(r"[\u200b-\u200f\ufeff\u00a0\u3000]")


def clean_answer(text: str, language: str) -> str | None:
    """Return the impersonal paragraphs of an answer, without list markers; None if too little is left."""
    paragraphs = _paragraphs(text, language)
    kept = [part for part in paragraphs if not matches("posts", "first_person", language, part)]
    answer = "\n".join(_INLINE.sub("", _MARKER.sub("", part)) for part in kept)
    is_enough = len(answer) >= (1 - MOST_PERSONAL) * len("\n".join(paragraphs))
    return answer if is_enough and len(answer.encode()) >= SHORTEST else None


def clean_question(text: str, language: str) -> str:
    """Return a question without links and greetings; what writers say about themselves may be part of it."""
    return "\n".join(_paragraphs(text, language)) or text.strip()


def _paragraphs(text: str, language: str) -> list[str]:
    """Return the lines of a text without links and greetings."""
    stripped = (" ".join(_BLANK.sub(" ", line).split()) for line in text.splitlines())
    lines = [line for line in stripped if any(map(str.isalnum, line)) and not _CONTACT.search(line)]
    greets = partial(matches, "posts", "greetings", language, at_start=True)
    return [line for line in lines if len(line) > LONGEST_GREETING or not greets(line)]


LANGUAGES = [
    "Afar", "Arabic", "Balochi", "Chinese", "English", "Faroese", "Fijian", "German", "Hebrew", "Hiligaynon", "Hindi",
    "Hungarian", "Japanese", "Kirundi", "Korean", "Papiamento", "Pashto", "Russian", "Samoan", "Spanish", "Tongan",
    "Tswana", "Wolof",
]  # fmt: skip
"""The Hub writes a language as its place in this list."""
SPECIFIC = {"1", "culturally specific"}
PERSON = "person"
ENGLISH = "English"


class CalmqaAnswer(NamedTuple):
    """The answer of a person or a model."""

    model: str
    """`PERSON` for a person."""
    text: str | None
    english: str | None


class CalmqaQuestion(NamedTuple):
    """One question with all its answers."""

    id: str
    language: str
    """BCP 47."""
    question: str
    english: str | None
    """The question in English, where it is in another language."""
    specific: bool
    """Whether it is culturally specific."""
    category: str | None
    answers: tuple[CalmqaAnswer, ...]


def read_entries(folder: Path, on_bad: OnBad) -> Iterator[CalmqaQuestion]:
    """Yield all questions, culturally specific and agnostic."""
    yield from collect(read_all(find(folder, "dataset-*-*.json*", "*.parquet"), depth=2), _entry, on_bad)


def _entry(row: SourceRow) -> CalmqaQuestion:
    if "question_type" not in row.values:
        return _researched(row)
    name, question, answer = row.text("language"), row.text("question"), row.maybe("answer")
    if name.isdecimal():
        if int(name) >= len(LANGUAGES):
            raise InputError(f"language {name} is not between 0 and {len(LANGUAGES) - 1}; correct or remove the row")
        name = LANGUAGES[int(name)]
    answers = (CalmqaAnswer(PERSON, answer, row.maybe("answer_english")),) if answer else ()
    specific = row.text("question_type") in SPECIFIC
    english = row.maybe("question_english")
    return CalmqaQuestion(digest(name, question), language(name), question, english, specific, None, answers)


def _researched(row: SourceRow) -> CalmqaQuestion:
    """Return an entry of the authors' repository, with the answers of people and models in one list."""
    question_row, answers = row.having(row.mapping("question")), row.list("answers")
    specific = row.file.name.startswith("dataset-specific")
    # A question that is the same everywhere was written in English and translated; its answers say into what.
    name = question_row.text("language")
    if not specific:
        spoken = (answer.get("language") for answer in answers if isinstance(answer, dict))
        name = next((each for each in spoken if each and isinstance(each, str)), name)
    question = _text(question_row.values, name)
    if question is None:
        raise InputError(f"no question in {name}; expected it in 'translations'")
    return CalmqaQuestion(
        id=question_row.text("name") if specific else f"{question_row.text('name')}:{name.lower()}",
        language=language(name),
        question=question,
        english=None if name == ENGLISH else _text(question_row.values, ENGLISH),
        specific=specific,
        category=question_row.maybe("category"),
        answers=tuple(
            CalmqaAnswer(model, _text(answer, name), None if name == ENGLISH else _text(answer, ENGLISH))
            for answer in answers
            if (model := _model(answer))
        ),
    )


def _model(answer: Any) -> str | None:
    match answer:
        case {"prompting_state": {"model_name": str(model)}}:
            return PERSON if model == "Human" else model
    return None


def _text(of: Any, name: str) -> str | None:
    texts = of.get("translations") if isinstance(of, dict) else None
    match texts.get(name) if isinstance(texts, dict) else None:
        case {"text": text} if text:
            return str(text).strip() or None
    return None


def _item(row: SourceRow) -> SourceItem | None:
    entry = _entry(row)
    post = next((candidate.text for candidate in entry.answers if candidate.model == PERSON and candidate.text), None)
    if not entry.specific or post is None or post == entry.question:
        return None
    answer = clean_answer(post, entry.language)
    if answer is None:
        return None
    return SourceItem(
        source="calmqa",
        id=entry.id,
        task=Task.FREEFORM,
        question=clean_question(entry.question, entry.language),
        answer=answer,
        language=entry.language,
        topic=entry.category,
    )


SOURCE = Source(
    name="calmqa",
    title="CaLMQA: culturally specific long questions",
    task=Task.FREEFORM,
    licence="MIT",
    commercial=True,
    homepage="https://huggingface.co/datasets/shanearora/CaLMQA",
    files="data/train-*.parquet as on the Hub, or dataset-specific-<language>.json(.gz) of the authors' repository",
    stratify="language",
    read=read_tables(_item, "dataset-specific-*.json*", "*.parquet", depth=2),
    hub="shanearora/CaLMQA",
    soft=True,
)
