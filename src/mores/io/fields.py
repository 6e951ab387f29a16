"""Samples from the rows of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from mores.errors import InputError
from mores.io.columns import (
    LANGUAGE,
    MESSAGES,
    REGION,
    TURNS,
    ColumnMatch,
    ColumnReader,
    TableColumn,
    TableReport,
    Wanted,
)
from mores.io.dialogue import Dialogue, as_turns, read_dialogue, write_dialogue
from mores.io.logs import as_chat, conversation, read_chat
from mores.types import DEFAULT_INSTRUCTION, Evidence, Sample, TurnSpan

EVIDENCE = TableColumn("evidence")
"""A list of passages, each a text or an object with one; no cell of a spreadsheet is one."""
COLUMNS = (
    TableColumn(
        "text",
        ("output", "response", "completion", "answer", "hyp", "generated_text"),
        ("model answer", "model output", "model response", "generated answer", "generated output", "answer text",
         "llm answer", "llm output", "llm response"),
        needed=True,
        instead=(MESSAGES.name, TURNS.name),
        near=0.6,
        competes=True,
    ),
    TableColumn(
        "instruction",
        ("prompt", "input", "question", "src"),
        ("question asked", "question text", "user prompt", "user question", "prompt text"),
        near=0.9,
        competes=True,
    ),
    LANGUAGE,
    REGION,
    TableColumn("id"),
    TableColumn("source", kind="metadata"),
    MESSAGES,
)  # fmt: skip


def sample_columns(chosen: Mapping[str, str] | None, *more: TableColumn, dialogue: bool = False) -> Wanted:
    """Return the columns of a table of texts, with the table's names of some."""
    turns = replace(TURNS, unless=()) if dialogue else TURNS
    return Wanted((*COLUMNS, turns, *more), chosen or {}, expected="'instruction' and 'text'")


def name_columns(names: Iterable[str], others: Container[str] = ()) -> Iterator[TableColumn]:
    """Yield columns of these names: one that a table of texts has under any name is recognised by all of them.

    `others` are names that stand for nothing but themselves.
    """
    open_columns = {column.name: column for column in COLUMNS}
    given = dict.fromkeys(names)
    for name in sorted(given, key=lambda name: name not in open_columns):  # ours before those that stand for them
        known = next((column for column in open_columns.values() if name in (column.name, *column.aliases)), None)
        if known is None:
            yield TableColumn(name)
            continue
        del open_columns[known.name]
        aliases = tuple(each for each in (known.name, *known.aliases) if each not in given and each not in others)
        kind = known.kind if name in (LANGUAGE.name, REGION.name) else "text"
        yield TableColumn(name, aliases, known.guesses, kind=kind, competes=known.competes)


_EARLIER = "earlier answers, which are not judged: only the last is, unless dialogue is set"
_MEDIA = "pictures, sounds or files, which the judge does not see"
_CODES = 1024
"""Names of languages and regions that are looked up once."""


class SampleReader(ColumnReader):
    """Reads rows as samples; with `dialogue`, their texts are whole conversations."""

    def __init__(self, wanted: Wanted, *, dialogue: bool = False) -> None:
        super().__init__(wanted)
        self._dialogue = dialogue
        self._codes: dict[tuple[str, str], str] = {}
        self._told = Counter[str]()
        """What is left out of how many chats."""

    def read(self, values: Mapping[str, Any], default_id: str, *, is_table: bool = False) -> Sample:
        """Return the sample in a mapping of fields; in a table, a column may be called evidence and hold none."""
        names = tuple(values)
        match = self._seen.get(names)
        if match is None:
            if problem := self.wanted.problem(names, is_row=True):
                raise InputError(problem, setting="columns")
            match = self.match(names)
        fields: dict[str, Any] = {"id": self._string(match, values, "id") or default_id}
        spans = values.get(TURNS.name)
        if self._dialogue or match.names[TURNS.name]:
            instruction, text, fields["turns"] = self._conversation(match, values)
        else:
            instruction, text = self._pair(match, values)
            ours = isinstance(spans, list) and all(isinstance(turn, dict) and turn.keys() >= _SPAN for turn in spans)
            if spans and ours:
                fields["turns"] = tuple(_spans(spans, text))
        for column in ("language", "region", "source"):
            if column in match.names and (value := self._string(match, values, column)) is not None:
                fields[column] = value if column == "source" else self._code(column, value)
        if EVIDENCE.name in match.single:
            passages = self.value(match, values, EVIDENCE.name)
            if passages is not None and (isinstance(passages, list) or not is_table):
                fields["evidence"] = tuple(_passages(passages))
        if (match.others or MESSAGES.name in match.single) and (extras := self._metadata(match, values)):
            fields["metadata"] = extras
        return Sample(text=text, instruction=instruction, **fields)

    def report(self, *about: Any, **more: Any) -> TableReport:
        """Return what was read so far, and what of chats was not."""
        told = tuple(f"{n:,} {'chat has' if n == 1 else 'chats have'} {what}" for what, n in self._told.items() if n)
        report = super().report(*about, **more)
        return report.model_copy(update={"notes": (*report.notes, *told)})

    def _pair(self, match: ColumnMatch, values: Mapping[str, Any]) -> tuple[str, str]:
        """Return the instruction and the text of a row: from their columns, or from a chat."""
        text, instruction = self._string(match, values, "text"), self._string(match, values, "instruction")
        if MESSAGES.name in match.single and (chat := as_chat(values[match.single[MESSAGES.name]])):
            asked, answer = read_chat(chat, answered=text is not None)
            answers = sum(each["role"] == "assistant" and bool(each["content"].strip()) for each in chat)
            self._told[_EARLIER] += text is None and answers > 1
            text, instruction = text or answer, instruction or asked
            self._told[_MEDIA] += any("media" in each for each in chat)
        elif text is None and (name := match.single.get(MESSAGES.name)) and values[name]:
            raise InputError(f"{name!r} is not a list of messages, each with 'role' and 'content'")
        if text is None:
            raise InputError("the text is empty; fill in 'text' or remove the row")
        instruction = instruction or DEFAULT_INSTRUCTION
        if "instruction" not in match.single and "input" in match.names["instruction"]:
            about = values.get("input")  # what an instruction is about, where a row has both, as in Alpaca's format
            is_filled = isinstance(about, str) and about.strip() and values.get("instruction")
            instruction = f"{instruction}\n{about}" if is_filled else instruction
        return instruction, text

    def _conversation(self, match: ColumnMatch, values: Mapping[str, Any]) -> Dialogue:
        """Return the conversation of a row: its turns, its chat (with the text as the last answer), or its text."""
        text = self.value(match, values, "text")
        chats = {
            column: turns
            for column in (TURNS.name, MESSAGES.name, "text")
            if match.names[column] and (turns := as_turns(self.value(match, values, column)))
        }
        if chats:
            column, chat = next(iter(chats.items()))
            is_apart = column == MESSAGES.name and isinstance(text, str) and text.strip() and chat[-1][1] != text
            dialogue = write_dialogue([*chat, *([("assistant", str(text))] if is_apart else [])])
        elif isinstance(text, str):
            dialogue = read_dialogue(text)
        else:
            form = '{"speaker": "Aiko", "text": "…"}'
            raise InputError(f"the conversation is empty or not a list of turns such as {form}")
        asked = self._string(match, values, "instruction") or dialogue.instruction or DEFAULT_INSTRUCTION
        return dialogue._replace(instruction=asked)

    def _metadata(self, match: ColumnMatch, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what other columns say; an object of that name is that of a sample which Mores or others wrote."""
        within, extras = values.get("metadata"), self.extras(match, values)
        if isinstance(words := values.get(MESSAGES.name), str) and not as_chat(words):
            extras[MESSAGES.name] = words
        if isinstance(within, dict) and "metadata" in match.others:
            extras |= self.extras(ColumnMatch({}, tuple(map(str, within))), within)
        return extras

    def _string(self, match: ColumnMatch, values: Mapping[str, Any], column: str) -> str | None:
        """Return a field's string; None when it is missing, null or blank."""
        name = match.single.get(column)
        value = None if name is None else values.get(name)
        if value is None and (name is not None or not match.names[column]):
            return None
        if not isinstance(value, str) or (self.is_untyped and column in self._may_miss):
            value = self.value(match, values, column)
        if isinstance(value, str):
            return value if value and not value.isspace() else None
        if column in ("text", "instruction") and (chat := as_chat(value)):
            value = read_chat(chat)[1] if column == "text" else conversation(chat)
            return value if value and not value.isspace() else None
        if value is None:
            return None
        if column == "id" and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise InputError(f"{self.name(match, values, column)!r} is {_kind(value)}, not a string; put it in quotes")

    def _code(self, column: str, value: str) -> str:
        """Return the code of the language or region that a row names."""
        if code := self._codes.get((column, value)):
            return code
        from mores import culture  # 0.1 s of tables, and many files name neither

        code = culture.language(value) if column == "language" else culture.region(value)
        if len(self._codes) < _CODES:
            self._codes[column, value] = code
        return code


_ANY = SampleReader(sample_columns(None, EVIDENCE))


def sample_from(values: Mapping[str, Any], default_id: str) -> Sample:
    """Return the sample in a mapping of fields by our names or others that are usual."""
    return _ANY.read(values, default_id)


_SPAN = {"number", "start", "end"}
"""The fields of a turn that Mores wrote."""


def _spans(turns: list[dict[str, Any]], text: str) -> Iterator[TurnSpan]:
    """Yield the turns of a text that Mores wrote, as spans of it."""
    for number, turn in enumerate(turns, 1):
        try:
            span = TurnSpan.model_validate(turn)
        except ValidationError as error:
            raise InputError(f"turn {number}: {error.errors(include_url=False)[0]['msg']}") from error
        if not 0 <= span.start < span.end <= len(text):
            raise InputError(f"turn {number}: {span.start}:{span.end} is not in the text")
        yield span


def _passages(value: object) -> Iterator[Evidence]:
    """Yield the evidence in a row; passages are texts, or objects with the fields of Evidence."""
    if not isinstance(value, list | tuple):
        raise InputError(f"'evidence' is {_kind(value)}, not an array; write [{{\"text\": …}}]")
    for number, entry in enumerate(value, 1):
        fields: object = {"text": entry} if isinstance(entry, str) else entry
        if isinstance(fields, dict):  # null stands for a field that a passage does not have, as in tables
            fields = {name: part for name, part in fields.items() if part is not None}
        try:
            passage = entry if isinstance(entry, Evidence) else Evidence.model_validate(fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "the whole"
            fix = "expected 'text', and if you have them 'title', 'source' and 'date', all strings"
            raise InputError(f"evidence {number}: {where}: {first['msg']}; {fix}") from error
        if not passage.text.strip():
            raise InputError(f"evidence {number}: the text is empty; fill it in or leave the passage out")
        yield passage


def _kind(value: object) -> str:
    kinds = {bool: "a boolean", **dict.fromkeys((int, float), "a number")}
    kinds |= {str: "a string", list: "an array", dict: "an object"}
    return kinds.get(type(value), f"of type {type(value).__name__}")
