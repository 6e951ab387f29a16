"""Answers, and what people said about each: ratings from a table, or marked errors from judgements or MQM TSV."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mores.errors import InputError
from mores.io import read_records
from mores.io.source import TableSource
from mores.metric.mqm_tsv import Segment, read_mqm_tsv
from mores.rating.ratings import Rating, read_ratings
from mores.stats.spans import Span
from mores.types import Judgement, Sample

Aliases = Mapping[str, Mapping[str, str]]
"""For a column, what a file writes for a value."""


@dataclass
class Opinion:
    """The opinion of one person about an answer."""

    score: float | None
    """Higher is better; None where they gave none."""
    marks: list[Span] | None = None
    """The errors that they marked in the text; None where they marked none and were not asked to."""


@dataclass
class PeopleAnswer:
    """An answer with what people said about it."""

    id: str
    question: str
    text: str | None
    language: str | None
    groups: dict[str, str]
    """Its model, type and language, as far as they are known."""
    question_key: str
    """What answers to the same question share."""
    opinions: dict[str, Opinion] = field(default_factory=dict)

    @property
    def scores(self) -> list[float]:
        return [opinion.score for opinion in self.opinions.values() if opinion.score is not None]

    @property
    def mean(self) -> float:
        """The mean rating; it has one."""
        return sum(self.scores) / len(self.scores)

    @property
    def sample(self) -> Sample:
        """The sample that a metric reads."""
        return Sample(id=self.id, instruction=self.question, text=self.text or "", language=self.language)


@dataclass
class PeopleData:
    """The opinions of people about answers."""

    path: Path
    kind: str
    """`ratings` or `marks`."""
    answers: list[PeopleAnswer]

    @property
    def revision(self) -> str:
        """A hash of the file."""
        with TableSource(self.path, None).open() as file:
            return hashlib.sha256(file.read()).hexdigest()[:12]

    @property
    def rated(self) -> list[PeopleAnswer]:
        """The answers with a rating."""
        return [answer for answer in self.answers if answer.scores]


def read_people(
    kind: str, path: Path, *, columns: Mapping[str, str] | None = None, aliases: Aliases | None = None
) -> PeopleData:
    """Return the answers of a file of ratings, or of marks by people: `Judgement` records or MQM TSV."""
    if kind == "ratings":
        answers = from_ratings(path, read_ratings(path, columns=columns, aliases=aliases))
    else:
        is_mqm = path.suffix.lower() == ".tsv"
        answers = from_judgements(path, read_mqm_tsv(path) if is_mqm else read_records(path, Judgement), is_mqm)
    data = PeopleData(path, kind, answers)
    if not data.rated:
        raise InputError(f"{path}: nobody rated anything; give a file with ratings")
    return data


def from_ratings(path: Path, ratings: Iterable[Rating]) -> list[PeopleAnswer]:
    """Return each answer with its ratings; people may have rated the same one."""
    answers: dict[tuple[str, ...], PeopleAnswer] = {}
    for rating in ratings:
        groups = {"model": rating.model, "type": rating.type, "language": rating.language}
        answer = answers.setdefault(
            rating.answer_key,
            PeopleAnswer(
                id="|".join(part for part in (rating.question_id, rating.language, rating.model) if part),
                question=rating.question,
                text=rating.answer,
                language=rating.language,
                groups={name: value for name, value in groups.items() if value},
                question_key="|".join(rating.question_key),
            ),
        )
        marks = None if rating.spans is None else [Span(mark.start, mark.end) for mark in rating.spans]
        answer.opinions[rating.annotator] = Opinion(rating.rating, marks)
    twice = [name for name, n in Counter(answer.id for answer in answers.values()).items() if n > 1]
    if twice:
        problem = f"{len(twice)} models have two answers to a question, such as {twice[0][:80]!r}"
        raise InputError(f"{path}: {problem}; give them different names of models or questions")
    return list(answers.values())


def from_judgements(path: Path, judgements: Iterable[Judgement], is_mqm: bool) -> list[PeopleAnswer]:
    """Return each text with what its judges, who are people, marked in it; the system of MQM is its model."""
    answers: dict[str, PeopleAnswer] = {}
    for judgement in judgements:
        if judgement.text is None:
            raise InputError(f"{path}: the judgement of {judgement.sample_id!r} does not hold its text; write it again")
        segment = Segment.parse(judgement.sample_id)
        groups = {"model": segment.system if is_mqm else None, "language": judgement.language}
        key = f"{segment.doc}/{segment.doc_segment}" if is_mqm else judgement.instruction or judgement.sample_id
        answer = answers.setdefault(
            judgement.sample_id,
            PeopleAnswer(
                id=judgement.sample_id,
                question=judgement.instruction or "",
                text=judgement.text,
                language=judgement.language,
                groups={name: value for name, value in groups.items() if value},
                question_key=key,
            ),
        )
        if answer.text != judgement.text:
            raise InputError(f"{path}: {judgement.sample_id!r} has two texts; give every text its own id")
        if judgement.judge in answer.opinions:
            raise InputError(f"{path}: {judgement.judge} judged {judgement.sample_id!r} twice; keep one judgement")
        marks = text_marks(judgement)
        answer.opinions[judgement.judge] = Opinion(judgement.score, marks)
    return list(answers.values())


def text_marks(judgement: Judgement) -> list[Span] | None:
    """Return the errors that were located in the text; None without a report."""
    if judgement.report is None:
        return None
    errors = [error for error in judgement.report.errors if error.side == "text"]
    return [Span(e.start, e.end) for e in errors if e.start is not None and e.end is not None]


def normalise_text(text: str) -> str:
    """Return a question as files spell it: without differences of case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def normalise_model(name: str) -> str:
    """Return a model's name without case and punctuation: `GPT 4 Turbo` is `gpt4turbo`."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).casefold())


def by_group(answers: Sequence[PeopleAnswer]) -> dict[str, dict[str, list[int]]]:
    """Return which answers are of each model, type and language, where there are several."""
    groups: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, answer in enumerate(answers):
        for grouping, group in answer.groups.items():
            groups[grouping][group].append(row)
    order = [name for name in ("model", "type", "language") if name in groups]
    return {grouping: dict(sorted(groups[grouping].items())) for grouping in order}
