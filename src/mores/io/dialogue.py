"""Conversations as texts: the turns of a chat, or of a text with a speaker before each turn, are spans of one text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from mores.errors import InputError
from mores.io.logs import NOT_JSON, content_of
from mores.types import TurnSpan

_SPEAKERS = ("role", "from", "speaker", "name", "author")
_WORDS = ("content", "value", "text", "utterance", "message")
_LABEL = re.compile(r"^[ \t]*([^\s:：][^:：\n]{0,39}?)[ \t]*(?::(?=\s|$)|：)[ \t]*", re.MULTILINE)
"""A speaker before a turn; a colon without a space after it is that of a time or an address."""


class Dialogue(NamedTuple):
    """A conversation as the judge reads it."""

    instruction: str
    """The system's turns, which no person or model said in it."""
    text: str
    turns: tuple[TurnSpan, ...]


def as_turns(value: Any) -> list[tuple[str, str]] | None:
    """Return the speaker and the words of each turn in a list of objects or texts, or in JSON; None for another value.

    An object has a `role`, `from`, `speaker`, `name` or `author`, and `content`, `value`, `text`, `utterance` or
    `message`.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(*NOT_JSON):
            value = json.loads(value)
    value = value.tolist() if hasattr(value, "tolist") else value  # pandas reads lists of Parquet as arrays
    if not isinstance(value, list | tuple) or not value:
        return None
    turns = []
    for turn in value:
        fields: Mapping[str, Any] = turn if isinstance(turn, Mapping) else {"speaker": "", "text": turn}
        speaker = next((fields[name] for name in _SPEAKERS if fields.get(name) is not None), None)
        words = next((fields[name] for name in _WORDS if name in fields), ...)
        if not isinstance(speaker, str) or not isinstance(words, str | list | tuple | None):
            return None
        turns.append((speaker.strip(), content_of(words)))
    return turns


def write_dialogue(turns: Sequence[tuple[str, str]]) -> Dialogue:
    """Return the turns one after another, each after its speaker; turns without words keep their number."""
    system = [words for speaker, words in turns if speaker.casefold() == "system" and words.strip()]
    text, spans = "", []
    for number, (speaker, words) in enumerate(turns, 1):
        if speaker.casefold() == "system" or not words.strip():
            continue
        text += ("\n\n" if text else "") + (f"{speaker[:1].upper()}{speaker[1:]}: " if speaker else "")
        spans.append(TurnSpan(number=number, speaker=speaker, start=len(text), end=len(text) + len(words)))
        text += words
    if not spans:
        raise InputError("the conversation has no turn with words; leave it out")
    return Dialogue("\n\n".join(system), text, tuple(spans))


def read_dialogue(text: str) -> Dialogue:
    """Return the turns of a text in which each begins on its own line, after its speaker and a colon."""
    labels = list(_LABEL.finditer(text))
    spans = []
    ends = [*(label.start() for label in labels[1:]), len(text)]
    for number, (label, end) in enumerate(zip(labels, ends, strict=False), 1):  # a text without labels has an end too
        end = label.end() + len(text[label.end() : end].rstrip())
        if label.end() < end:
            spans.append(TurnSpan(number=number, speaker=label[1], start=label.end(), end=end))
    if not spans:
        raise InputError("no turns in the text; begin each on its own line with its speaker: 'Aiko: …'")
    return Dialogue("", text, tuple(spans))
