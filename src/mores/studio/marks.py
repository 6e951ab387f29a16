"""Marks: spans that people select in a text, each with the answers to a small form about it.

On the wire a field of marks is one JSON list; offsets are half-open and in Unicode code points (browsers count in
UTF-16 and convert). A mark without a place (`start` is None) says that something is missing.

    {"part": "text", "start": 4, "end": 9, "quote": "Saree", "severity": "major", "type": "…"}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mores.errors import InputError
from mores.studio.phrase import Phrase
from mores.studio.records import CampaignItem, Content
from mores.types import DEFAULT_INSTRUCTION, Error, Sample

PLACE = ("part", "start", "end", "quote")
"""What every mark has besides the answers about it."""
MOST = 200
LONGEST = 200_000
"""Characters of one field of marks on the wire."""

Mark = dict[str, Any]


def parse_marks(text: str) -> list[Mark]:
    """Return the marks of a field as they were sent; nothing is known about their values yet."""
    if len(text) > LONGEST:
        raise InputError(Phrase("Write at most {count} characters.", count=LONGEST))
    try:
        marks = json.loads(text) if text else []
    except (ValueError, RecursionError) as error:
        raise InputError("The marks could not be read. Please load the page again.") from error
    if not isinstance(marks, list) or not all(isinstance(mark, dict) for mark in marks):
        raise InputError("The marks could not be read. Please load the page again.")
    if len(marks) > MOST:
        raise InputError(Phrase("Mark at most {count} places.", count=MOST))
    return marks


def as_shown(text: str) -> str:
    """Return a text as browsers count it, every line end as `\\n`; it stays as long as it was, and places in it too."""
    return text.replace("\r\n", " \n").replace("\r", "\n")


def locate(mark: Mapping[str, Any], parts: Mapping[str, str], *, missing: bool) -> Mark:
    """Return the place of a mark, checked against the text it is in: `parts[part][start:end] == quote` holds after."""
    part, start, end = mark.get("part"), mark.get("start"), mark.get("end")
    text = parts.get(part) if isinstance(part, str) else None
    if text is None:
        raise InputError("A mark is not in this text. Please load the page again.")
    if start is None and end is None:
        if not missing:
            raise InputError("Select the words that a mark is about.")
        return {"part": part, "start": None, "end": None, "quote": ""}
    whole = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
    if not whole or not 0 <= start < end <= len(text) or text[start:end] != mark.get("quote"):  # type: ignore[operator]
        raise InputError("A mark does not fit the text. Please remove it and mark the words again.")
    return {"part": part, "start": start, "end": end, "quote": text[start:end]}


def overlap(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two marks share a character, or both say that something is missing in the same part."""
    if first["part"] != second["part"]:
        return False
    if first["start"] is None or second["start"] is None:
        return first["start"] is None and second["start"] is None
    return bool(first["start"] < second["end"] and second["start"] < first["end"])


def same_marks(given: Sequence[Mapping[str, Any]], known: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether marks match the known ones: as many, and each known one overlaps another with the same answers."""
    left = list(given)
    for mark in known:
        answers = {name: value for name, value in mark.items() if name not in PLACE}
        fitting = (
            other for other in left if overlap(mark, other) and all(other.get(n) == v for n, v in answers.items())
        )
        match = next(fitting, None)
        if match is None:
            return False
        left.remove(match)
    return not left


def to_marks(errors: Iterable[Error]) -> list[Mark]:
    """Return the errors of a report as marks; one that was not located in its text becomes "missing"."""
    return [
        {
            "part": error.side,
            "start": error.start,
            "end": error.end,
            "quote": error.quote if error.located else "",
            "severity": error.severity.value,
            "type": error.type,
            "explanation": error.explanation,
            "correction": error.correction,
        }
        for error in errors
    ]


def to_errors(marks: Iterable[Mapping[str, Any]]) -> tuple[Error, ...]:
    """Return marks as the errors of a report: people are a metric."""
    fields = ("start", "end", "quote", "severity", "type", "explanation", "correction")
    return tuple(Error(side=mark["part"], **{name: mark[name] for name in fields if name in mark}) for mark in marks)


def sample_of(item: CampaignItem, name: str, instruction: object, text: str, source: object) -> Sample:
    """Return a text of an item that people judged, as metrics get it."""
    return Sample(
        id=name,
        instruction=str(instruction or DEFAULT_INSTRUCTION),
        text=text,
        language=item.language or None,
        region=item.region or None,
        source=str(source) if source else None,
        metadata=kept if isinstance(kept := item.content.get("metadata"), dict) else {},
    )


def as_json(value: Sequence[Content] | Sequence[str] | str) -> str:
    """Return a field of marks for the wire: what is kept, or what a draft or a form that was sent back has."""
    if isinstance(value, str):
        return value
    if value and isinstance(value[0], str):
        return value[0]
    return json.dumps(list(value), ensure_ascii=False)
