"""Texts and reports that come in: rows of texts, judgements of a metric, and what other tools marked.

A row is a `Sample` (`id`, `instruction`, `text`, `source`), a `Judgement` (`sample_id`, `judge`, `report`, …), or an
item of pearmut (`src`, `tgt`). Quotes are located in their texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from mores.errors import InputError
from mores.metric.spans import find
from mores.studio.campaigns.marking.forms import MarkingSettings
from mores.studio.data.incoming import Incoming, read_json
from mores.studio.form import storable
from mores.studio.marks import Mark, as_shown, to_marks
from mores.studio.records import Content
from mores.types import ErrorReport

COLUMNS = ("id", "instruction", "text", "source", "judge", "report")
IGNORED = {"score", "failure", "notes", "signature", "evidence", "sample_id", "marks"}
"""Fields of judgements that a marking campaign does not need, besides those that `admit` reads."""
LONGEST = 100_000


def admit(_settings: MarkingSettings, content: Content) -> Content:
    """Return a text with the errors of its report, located; InputError says what is missing."""
    unknown = [name for name in content if name not in {*COLUMNS, *IGNORED}]
    if unknown:
        raise InputError(f"unknown field {unknown[0]!r}; expected {', '.join(COLUMNS)}")
    text = _words(content, "text")
    if not text.strip():
        raise InputError("no 'text'; give the text that is to be marked")
    if len(text) > LONGEST:
        raise InputError(f"the text has {len(text):,} characters; split it, at most {LONGEST:,} can be marked")
    admitted: Content = {"instruction": _words(content, "instruction"), "text": text}
    admitted |= {"id": _words(content, "id") or _words(content, "sample_id"), "source": _words(content, "source")}
    kept = content.get("marks")  # our own table has them
    marks = kept if isinstance(kept, list) else _report_marks(content.get("report"))
    if not all(isinstance(mark, dict) and mark.get("part") in ("instruction", "text") for mark in marks):
        raise InputError("a mark has no 'part'; it is 'text' or 'instruction'")
    admitted["marks"] = [_located(mark, as_shown(admitted[mark["part"]])) for mark in marks]
    return admitted | {"judge": _words(content, "judge")}


def _words(content: Content, name: str) -> str:
    value = content.get(name)
    if value is not None and not isinstance(value, str | int):
        raise InputError(f"{name!r} is not a text")
    return storable("" if value is None else str(value))


def _report_marks(report: Any) -> list[Mark]:
    """Return the errors of a report as marks, which may lack places but have their quotes."""
    if report in (None, ""):
        return []
    given = read_json(report, "report") if isinstance(report, str) else report  # a cell of a CSV file
    try:
        errors = ErrorReport.model_validate(given).errors
        return [mark | {"quote": error.quote} for mark, error in zip(to_marks(errors), errors, strict=True)]
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, ("report", *problem["loc"])))
        raise InputError(f"{place}: {problem['msg']}; write reports as `mores score` does") from error


def _located(mark: Mark, side: str) -> Mark:
    """Return a mark at its place; one whose words are not in the text is "missing", and its explanation has them."""
    start, end, quote = mark.get("start"), mark.get("end"), as_shown(str(mark.get("quote", "")))
    if isinstance(start, int) and isinstance(end, int) and 0 <= start < end and side[start:end] == quote:
        return mark | {"quote": quote}
    if place := find(quote, side):
        return mark | {"start": place[0], "end": place[1], "quote": side[place[0] : place[1]]}
    explanation = ": ".join(filter(None, (f"“{quote}”" if quote else "", str(mark.get("explanation") or ""))))
    return mark | {"start": None, "end": None, "quote": "", "explanation": explanation}


def join(rows: Sequence[Incoming]) -> list[Incoming]:
    """Return the rows as texts: one for each model of pearmut's, one for all judgements of the same text."""
    joined: dict[object, Incoming] = {}
    for number, row in enumerate(each for mixed in rows for each in _by_model(mixed)):
        answers = tuple(given._replace(answer=_answer(given.answer)) for given in row.answers)
        name, text = row.content.get("sample_id"), row.content.get("text")
        key = (name, text) if isinstance(name, str) and isinstance(text, str) else number
        first = joined.get(key)
        joined[key] = _together(first, row) if first else row._replace(answers=answers)
    return list(joined.values())


def _together(first: Incoming, second: Incoming) -> Incoming:
    """Return two judgements of the same text as one row, with the errors of both reports."""
    reports = [row.content.get("report") or {} for row in (first, second)]
    if not all(isinstance(report, dict) and isinstance(report.get("errors", []), list | tuple) for report in reports):
        raise InputError(f"{second.place}: the report is not an object with errors; write it as `mores score` does")
    judges = [str(row.content.get("judge") or "") for row in (first, second)]
    errors = [error for report in reports for error in report.get("errors", ())]
    return first._replace(
        content=first.content | {"report": {"errors": errors}, "judge": ", ".join(filter(None, judges))},
        metadata=first.shared(second),
    )


def _by_model(row: Incoming) -> Iterator[Incoming]:
    """Yield an item of pearmut as one text for each model; any other row unchanged."""
    texts = row.content.get("tgt")
    if not isinstance(texts, dict):
        yield row
        return
    for model, text in texts.items():
        name = str(row.content.get("item_id", ""))
        content = {"id": f"{name}/{model}" if len(texts) > 1 else name, "text": text, "source": model}
        content["instruction"] = row.content.get("src") or row.content.get("instruction", "")
        answers = row.answers
        if len(texts) > 1:
            parts = ((given, given.answer.get(model)) for given in answers)
            answers = tuple(given._replace(answer=part) for given, part in parts if isinstance(part, dict))
        yield row._replace(content=content, answers=answers)


def _answer(answer: Content) -> Content:
    """Return the marks of an answer from any tool, and whether it says that nothing is wrong."""
    marks = answer.get("marks")
    if marks is None:
        lists = (value for value in answer.values() if isinstance(value, list))
        marks = next((value for value in lists if any(isinstance(each, dict) for each in value)), [])
    if not isinstance(marks, list):
        return answer
    read = [_mark(mark) for mark in marks if isinstance(mark, dict)]
    return {"marks": read, "none": not read}


def _mark(mark: Mapping[str, Any]) -> Mark:
    """Return a span of another tool as a mark: its label is a severity or a type."""
    label = str(mark.get("label") or "")
    known = {name: value for name, value in mark.items() if name not in ("label", "category", "side")}
    severity = label.casefold() if label.casefold() in ("minor", "major") else ""
    kind = mark.get("type") or mark.get("category") or ("" if severity else label)
    return {
        **known,
        **({"quote": as_shown(str(mark["quote"]))} if mark.get("quote") else {}),
        "part": mark.get("part") or mark.get("side") or "text",
        "severity": str(mark.get("severity") or severity).casefold(),
        "type": kind or "unspecified",
    }
