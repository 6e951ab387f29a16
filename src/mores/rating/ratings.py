"""Ratings by people, and how a file of them is read.

    read_ratings("ratings.csv", columns={"rating": "overall"}, languages={"fi": "fj"})

A file has one row for each answer that a person rated. Our columns are the fields of `Rating`; `columns` names those
of another file. Only a question (or its id), a model, an annotator and a rating are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field, JsonValue

from mores.errors import InputError
from mores.io.columns import Kind, TableColumn, TableReport, Wanted
from mores.io.exports import TableShape
from mores.io.source import TableRow
from mores.io.table import read_table
from mores.rating.cells import RatingCells, Row
from mores.rating.codes import parse_codes
from mores.rating.scales import is_number, read_words
from mores.types import Record, Severity


class IssueLevel(StrEnum):
    """The severity of an answer's factual mistakes or omissions, from good to bad."""

    NONE = "none"
    MINOR = "minor"
    MAJOR = "major"


class InLanguage(StrEnum):
    """The language of an answer beside that of its question, from good to bad."""

    YES = "yes"
    PARTIALLY = "partially"
    NO = "no"


class RatingMark(Record):
    """A span of an answer that a person marked as an error."""

    start: int
    """Its first code point in the answer."""
    end: int
    """One past its last code point."""
    quote: str = ""
    """The marked words: `answer[start:end]`; empty where the file has neither the words nor the answer."""
    severity: Severity | None = None
    type: str = ""
    """What kind of error, in the words of the study."""
    explanation: str = ""
    correction: str = ""
    """What would be correct in its place."""


class Rating(Record):
    """The opinion of one person about one answer."""

    question: str
    """The question, or its id where the file has no text."""
    question_id: str
    """What names the question: the column `question_id`, or else the question's text."""
    model: str
    """Which model wrote the answer."""
    annotator: str
    """Who rated it."""
    rating: float | None
    """On the study's scale, higher is better; None where the person gave none."""
    answer: str | None = None
    """The answer's text."""
    language: str | None = None
    """BCP 47."""
    type: str | None = None
    """The type of the question, such as `specific` and `agnostic`."""
    factuality: IssueLevel | None = None
    omissions: IssueLevel | None = None
    language_correct: InLanguage | None = None
    comment: str | None = None
    """What the person wrote about the answer."""
    codes: dict[str, tuple[str, ...]] | None = None
    """What coders say the comment is about, by coder; None where nobody coded it (see `rate.codes`)."""
    rank: int | None = None
    """The answer's place among those to the same question, 1 for the best; equal places are ties."""
    reason: str | None = None
    """Why the person ranked it there."""
    spans: tuple[RatingMark, ...] | None = None
    """The errors that the person marked; None where the file does not say, () where there is none."""
    at: datetime | None = None
    """When it was rated."""
    seconds: float | None = None
    """How long it took."""
    position: int | None = None
    """Where the answer stood on the screen, from 1."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict, exclude_if=lambda kept: not kept)
    """The other columns of its row."""

    @property
    def answer_key(self) -> tuple[str, str, str, str]:
        """The key that two ratings of the same answer share."""
        return self.question_id, self.language or "", self.model, self.answer or ""

    @property
    def question_key(self) -> tuple[str, str]:
        """The key that ratings of answers to the same question share."""
        return self.question_id, self.language or ""


COLUMNS = tuple(name for name in Rating.model_fields if name != "metadata")
PEOPLE = ("PROLIFIC_PID", "Prolific ID", "Participant id")
"""What tables of people from Prolific call an annotator."""
NEEDED = ("model", "annotator", "rating", "question")
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("rating", "rank", "seconds", "position"), "number"),
    **dict.fromkeys(("language", "type", "at"), "metadata"),
    **dict.fromkeys(("factuality", "omissions", "language_correct", "codes", "spans"), "choice"),
}
WANTED = tuple(
    TableColumn(
        name,
        guesses=PEOPLE if name == "annotator" else (),
        needed=name in NEEDED,
        instead=("question_id",) if name == "question" else (),
        kind=KINDS.get(name, "text"),
        near=0.5 if name in NEEDED else 0.85,
    )
    for name in COLUMNS
)
OWN = ("question_id", "question", "answer", "model", "annotator", "language", "type", "rating", "factuality")
"""How the header of a table of ratings begins that the studio writes: no value in it is missing but empty ones."""

VALUES: Mapping[str, Mapping[str, str]] = {
    "rating": {"excellent": "5", "good": "4", "average": "3", "poor": "2", "unusable": "1"},
    "type": {
        "cult": "specific",
        "culturally specific": "specific",
        "non-cult": "agnostic",
        "culturally agnostic": "agnostic",
    },
    "language_correct": {"true": "yes", "partly": "partially", "false": "no"},
}
"""What other files write for our values, as CaLMQA's study does (Section 4 and its release)."""


class RatingFile(NamedTuple):
    """The ratings of a file, and what became of its columns and values."""

    ratings: list[Rating]
    unread: tuple[str, ...]
    """Columns that were not read."""
    replaced: Mapping[tuple[str, str, str], int]
    """How often a column's value was read as another: ("type", "cult", "specific") in 150 rows."""
    lines: tuple[int, ...] = ()
    """The place of each rating in the file."""
    report: TableReport | None = None
    """What was read as what."""


def read_ratings(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    languages: Mapping[str, str] | None = None,
    aliases: Mapping[str, Mapping[str, str]] | None = None,
) -> list[Rating]:
    """Return the ratings of a table.

    `columns` has the file's name of our columns, an empty one for a column that is not to be read; `languages` what
    the file calls a language, such as {"fi": "fj"}, and `aliases` the same for any column: {"type": {"cult": "local"}}.
    """
    return open_ratings(path, columns=columns, languages=languages, aliases=aliases).ratings


def open_ratings(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    languages: Mapping[str, str] | None = None,
    aliases: Mapping[str, Mapping[str, str]] | None = None,
    scale: tuple[float, float] | None = None,
    wide: str | None = None,
    split: Mapping[str, str] | None = None,
) -> RatingFile:
    """Return the ratings of a file as `read_ratings` gives them, with what was not read or read as another value.

    `scale` has the bounds of ratings in words; `wide` and `split` are the patterns of a `TableShape`.
    """
    replacements = {name: dict(given) for name, given in (aliases or {}).items()}
    if languages:
        replacements["language"] = {**replacements.get("language", {}), **languages}
    Wanted(WANTED, dict.fromkeys(replacements, ""))  # only our columns can have them
    expected = "'question', 'model', 'annotator' and 'rating'"
    wanted = Wanted(WANTED, dict(columns or {}), expected=expected, own=OWN)
    shape = TableShape(COLUMNS, wide or "", split or {})
    empty = "it has no ratings; write a header and one row for each rating"
    source, rows, report, others = read_table(path, wanted, empty, shape, keep=True)
    values = {name: {**VALUES.get(name, {}), **replacements.get(name, {})} for name in COLUMNS}
    words = [(row, row.values["rating"].strip()) for row in rows if isinstance(row.values.get("rating"), str)]
    try:
        values["rating"] |= read_words(
            dict.fromkeys(text for _, text in words), scale, {key.casefold() for key in values["rating"]}
        )
    except InputError as error:
        raise next(row for row, text in words if not is_number(text)).error(
            str(error), setting=error.setting
        ) from error
    cells = RatingCells(values)
    ratings = [read_row(row, cells, kept) for row, kept in zip(rows, others, strict=True)]
    first: dict[tuple[str, ...], int] = {}
    for row, rating in zip(rows, ratings, strict=True):
        key = (rating.annotator, *rating.answer_key)
        if key in first:
            problem = f"annotator {rating.annotator!r} already rated this answer of {rating.model!r}"
            raise source.error(f"{problem} in {source.unit} {first[key]}; keep one of the two", row.line)
        first[key] = row.line
    lines = tuple(row.line for row in rows)
    return RatingFile(ratings, report.unread, Counter(cells.replaced), lines, report)


READERS: dict[str, Callable[[RatingCells, str, Row], object]] = {
    "language": RatingCells.language,
    "type": RatingCells.label,
    "factuality": partial(RatingCells.member, members=IssueLevel),
    "omissions": partial(RatingCells.member, members=IssueLevel),
    "language_correct": partial(RatingCells.member, members=InLanguage),
    "comment": RatingCells.text,
    "rank": RatingCells.count,
    "reason": RatingCells.text,
    "at": RatingCells.time,
    "seconds": partial(RatingCells.number, least=0),
    "position": RatingCells.count,
}
"""How the cells of optional columns are read."""


def read_row(row: TableRow, cells: RatingCells, others: Mapping[str, Any]) -> Rating:
    """Return the rating in a row; InputError with its place when a value is not known."""
    values = row.values
    try:
        answer = cells.text("answer", values)
        question = cells.text("question", values)
        name = cells.label("question_id", values) or question
        if name is None:
            raise InputError("no question; fill in 'question' or 'question_id'")
        given = {column: read(cells, column, values) for column, read in READERS.items() if column in values}
        given |= {
            "answer": answer,
            "codes": parse_codes(values.get("codes")),
            "spans": read_marks(cells, values, answer),
        }
        # Only what is there: a record remembers the names of all fields that it was given.
        return Rating(
            question=question or name,
            question_id=name,
            model=cells.needed_label("model", values),
            annotator=cells.needed_label("annotator", values),
            rating=cells.number("rating", values),
            **{column: value for column, value in given.items() if value is not None},
            **({"metadata": dict(others)} if others else {}),
        )
    except InputError as error:
        raise row.error(str(error), setting=error.setting) from error


def read_marks(cells: RatingCells, values: Mapping[str, object], answer: str | None) -> tuple[RatingMark, ...] | None:
    """Return the marked spans of a row, checked against the answer where the file has it."""
    entries = cells.records("spans", values, RatingMark)
    if entries is None:
        return None
    marks = []
    for number, mark in enumerate(entries, 1):
        if not 0 <= mark.start < mark.end:
            raise InputError(f"span {number}: {mark.start}:{mark.end} is empty or negative; end is one past the last")
        if answer is None:
            marks.append(mark)
            continue
        words = answer[mark.start : mark.end]
        if mark.end > len(answer):
            raise InputError(f"span {number}: {mark.start}:{mark.end} ends after the answer, which has {len(answer)}")
        if mark.quote and mark.quote != words:
            problem = f"span {number}: {mark.start}:{mark.end} of the answer is {words!r}, not {mark.quote!r}"
            raise InputError(f"{problem}; count Unicode code points from 0")
        marks.append(mark.model_copy(update={"quote": words}))
    return tuple(marks)
