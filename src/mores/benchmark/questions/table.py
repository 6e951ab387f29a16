"""A table of questions: its columns, choices and answers, and the items of its rows."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from mores.benchmark.choice import distinct, lettered
from mores.benchmark.columns import NOT_COLUMNS
from mores.culture import language, language_name, region, region_name
from mores.errors import InputError
from mores.factory.sources.rows import digest
from mores.factory.sources.rows import fold as fold_answer
from mores.io.columns import LANGUAGE, REGION, ColumnReader, TableColumn, Wanted, fold
from mores.io.rows import Reading, read_rows
from mores.io.source import TableRow, find_source
from mores.prompts import SLOT, fill
from mores.types import Item

LETTERS = ascii_uppercase[:12]
"""Of choices that have columns of their own; with S, the column `choices` would be one of them."""
COLUMNS = (
    TableColumn("question", guesses=("prompt", "input", "question asked", "question text"), needed=True, near=0.8),
    TableColumn(
        "answer",
        guesses=(
            "answers",
            "correct answer",
            "correct answers",
            "correct option",
            "correct choice",
            "answer key",
            "target",
            "gold",
            "label",
            "solution",
        ),
        needed=True,
        near=0.8,
    ),
    TableColumn("choices", guesses=("options", "answer choices", "answer options")),
    *(
        TableColumn(
            f"choice {letter}",
            guesses=(letter, *(f"{word} {name}" for word in ("choice", "option") for name in (letter, number))),
        )
        for number, letter in enumerate(LETTERS, 1)
    ),
    LANGUAGE,
    REGION,
    TableColumn("topic", guesses=("category", "subject"), kind="metadata"),
    TableColumn("id"),
)
GROUPS = ("region", "language", "topic")


class Question(NamedTuple):
    """One row of a table."""

    row: TableRow
    fields: dict[str, str]
    """Our columns that are filled: question, id, topic, and the names of language and region."""
    choices: tuple[str, ...]
    answers: tuple[str, ...]
    others: Mapping[str, Any]
    """Other columns."""


class QuestionTable:
    """The questions of a table, with the rows that cannot be read."""

    def __init__(self, path: Path, columns: Mapping[str, str]) -> None:
        wanted = Wanted(COLUMNS, columns, expected="'question', 'answer', and for multiple choice 'choices'")
        source, reader, self.bad = find_source(path), ColumnReader(wanted), list[InputError]()
        reading, self.questions = Reading(reader.choose, wanted.known), list[Question]()
        for row in read_rows(source, reading):
            try:
                if isinstance(row, InputError):
                    raise row
                try:
                    self.questions.append(_question(reader, row))
                except InputError as error:
                    raise row.error(str(error), setting=error.setting) from error
            except InputError as error:
                if reader.is_ambiguous:
                    raise
                reader.bad(error)
                self.bad.append(error)
                continue
            reader.rows += 1
        reader.check_chosen(source)
        if not self.questions:
            raise self.bad[0] if self.bad else source.error("contains no questions; write one in each row")
        self.report = reader.report(source, reading.encoding, reading.delimiter, notes=sorted(reading.notes))
        if zero := next((name for name in self.report.unread if fold(name) in ("choice0", "option0")), None):
            raise source.error(
                f"column {zero!r}: choices are counted from 1; rename the columns to choice1, choice2, …"
            )
        numbers = {answer for question in self.questions if question.choices for answer in question.answers}
        self._first = 0 if "0" in numbers else 1
        readings: dict[str, Callable[[Sequence[str], str], int | None]] = {
            "texts": _by_text,
            "letters": _by_letter,
            "numbers": partial(_by_number, first=self._first),
        }
        # Of choices such as 2|3|4, a 2 may be a text or a number: what fits most rows of the table comes first.
        fits = {
            name: sum(_places(question, [read]) is not None for question in self.questions)
            for name, read in readings.items()
        }
        self.readings = {name: readings[name] for name in sorted(readings, key=lambda name: -fits[name])}

    @property
    def has_choices(self) -> bool:
        """True if a question has choices."""
        return any(question.choices for question in self.questions)

    def describe(self, asked: Sequence[Question], left_out: int) -> str:
        """Return what is read as what, with counts of the questions that are asked and of the rows that are not."""
        report = self.report.model_copy(update={"rows": len(asked), "left_out": left_out})
        names = Counter(
            next((name for name, read in self.readings.items() if _places(question, [read]) is not None), "")
            for question in asked
        )
        read = [f"{name} ({names[name]:,})" for name in self.readings if names[name]]
        counted = f", counted from {self._first}" if names["numbers"] else ""
        return f"{report}" + (f"; answers are {', '.join(read)}{counted}" if read else "")

    def columns(self) -> dict[str, str]:
        """Return the keys under which items hold columns, by our names and the table's."""
        read = {name: ours for ours, names in self.report.columns.items() if ours in GROUPS for name in (ours, *names)}
        return {name: _key(name) for question in self.questions for name in question.others} | read


def _question(reader: ColumnReader, row: TableRow) -> Question:
    """Return the question in a row; InputError without a place where it is not one."""
    names = tuple(map(str, row.values))
    if problem := reader.wanted.problem(names, is_row=True):
        raise InputError(problem, setting="columns")
    match = reader.match(names)
    cells = {column: reader.value(match, row.values, column) for column in match.names}
    fields = {column: text for column in ("question", "id", *GROUPS) if (text := _text(cells[column], column))}
    for column in ("question", "answer"):
        if not str("" if cells[column] is None else cells[column]).strip():
            raise InputError(f"the {column} is empty; fill it in or remove the row")
    single = [_text(cells[f"choice {letter}"], f"choice {letter}") for letter in LETTERS]
    used = max((place for place, text in enumerate(single, 1) if text), default=0)
    if "" in single[:used]:
        letter = ascii_uppercase[single.index("")]
        raise InputError(f"choice {letter} is empty, and a later one is not; fill it in")
    choices = _texts(cells["choices"], "choice")
    if choices and used:
        raise InputError("choices in one column and in several; remove one of the two")
    choices = distinct(choices or single[:used])
    if len(choices) == 1:
        raise InputError(f"one choice alone, {choices[0][:40]!r}; separate choices with |")
    if "language" in fields:
        fields["language"] = language(fields["language"])
    if "region" in fields:
        fields["region"] = region(fields["region"])
    return Question(row, fields, choices, _texts(cells["answer"], "answer"), reader.extras(match, row.values))


def _text(value: Any, column: str) -> str:
    """Return what is in a cell as text; empty where nothing is."""
    if isinstance(value, list | tuple | dict):
        raise InputError(f"'{column}' is {'an object' if isinstance(value, dict) else 'an array'}; expected a text")
    whole = isinstance(value, float) and value.is_integer()
    return "" if value is None else str(int(value) if whole else value).strip()


def _texts(value: Any, noun: str) -> tuple[str, ...]:
    """Return the texts of a list, or those in a cell with | between them."""
    parts = value if isinstance(value, list | tuple) else _text(value, noun).split("|")
    texts = tuple(_text(part, noun) for part in parts)
    if "" in texts and len(texts) > 1:
        raise InputError(f"{noun} {texts.index('') + 1} is empty; fill it in, or remove a |")
    return () if texts == ("",) else texts


def _by_text(choices: Sequence[str], answer: str) -> int | None:
    if answer in choices:
        return choices.index(answer)
    same = [place for place, choice in enumerate(choices) if plain_answer(choice) == plain_answer(answer)]
    return same[0] if len(same) == 1 else None


def _by_letter(choices: Sequence[str], answer: str) -> int | None:
    match = re.fullmatch(r"\(?([A-Za-z])[).:]?", answer)
    place = ascii_uppercase.index(match[1].upper()) if match else len(choices)
    return place if place < len(choices) else None


def _by_number(choices: Sequence[str], answer: str, first: int) -> int | None:
    place = int(answer) - first if re.fullmatch(r"[0-9]{1,3}", answer) else -1
    return place if 0 <= place < len(choices) else None


def _places(question: Question, readings: Sequence[Callable[[Sequence[str], str], int | None]]) -> list[int] | None:
    """Return which choices are correct, each by the first reading that fits; None where none fits."""
    places = []
    for answer in question.answers:
        found = (read(question.choices, answer) for read in readings)
        place = next((place for place in found if place is not None), None)
        if place is None:
            return None
        places.append(place)
    return places if question.choices else None


def make_items(table: QuestionTable, prompt: str, grading: str) -> tuple[list[Item], list[InputError], str]:
    """Return the items of a table, what is wrong with the rows that are none, and how the table is read."""
    items, asked = list[Item](), dict[str, Question]()
    bad = list(table.bad)
    for question in table.questions:
        fields, choices, answers = question.fields, question.choices, question.answers
        identity = fields.get("id") or digest(fields["question"], *choices)
        ask = {name: str(value) for name, value in question.others.items()} | fields
        ask |= {"choices": lettered(choices)} if choices else {}
        for name, called in (("language", language_name), ("region", region_name)):
            if name in fields:
                ask |= dict.fromkeys((name, *table.report.columns[name]), called(fields[name]))
        ask |= {theirs: fields["topic"] for theirs in table.report.columns.get("topic", ()) if "topic" in fields}
        empty = next((slot for slot in SLOT.findall(prompt) if slot not in ask), None)
        places, problem = _places(question, [*table.readings.values()]), ""
        if earlier := asked.get(identity):
            what = "id" if "id" in fields else "question"
            problem = f"the same {what} as {earlier.row.source.unit} {earlier.row.line}; remove one of them"
        elif grading == "choice" and not choices:
            problem = "no choices, and other rows have some; fill them in, or keep questions without in another table"
        elif choices and places is None:
            ways = f"give its text, its letter (A to {ascii_uppercase[len(choices) - 1]}) or its number"
            problem = f"answer {' | '.join(answers)[:60]!r} is none of the {len(choices)} choices; {ways}"
        elif grading == "choice" and places and len(set(places)) > 1:
            named = f"answer {' | '.join(answers)[:60]!r} is {len(set(places))} of the choices"
            problem = f"{named}, and the model is asked for one letter; keep the correct one, or change the choices"
        elif empty:
            problem = f"nothing for {{{empty}}} of the prompt; fill in the column"
        if problem:
            bad.append(question.row.error(problem))
            continue
        asked[identity] = question
        items.append(
            Item(
                id=identity,
                prompt=fill(prompt, **ask),
                choices=choices if grading == "choice" else (),
                target=answers if places is None else tuple(choices[place] for place in places),
                **{name: fields.get(name) for name in GROUPS},
                metadata={_key(name): value for name, value in question.others.items()},
            )
        )
    return items, bad, table.describe([*asked.values()], len(bad))


def _key(column: str) -> str:
    """Return the key of a column in the metadata of items."""
    return f"{column} (column)" if column in NOT_COLUMNS else column


def plain_answer(text: str) -> str:
    return fold_answer(unicodedata.normalize("NFKC", text))
