"""Samples that come into a campaign: rows of the data factory, and what metrics say about them.

    mores studio import CAMPAIGN samples.jsonl gemma/judgements.jsonl phi/judgements.jsonl

A row is a line of `mores build` (a correct pair is left out), a judgement about one (its explanation is compared with
the gold one), or has these fields itself:

    {"instruction": "…", "original": "…", "text": "…", "severity": "major", "type": "…", "explanation": "…",
     "language": "en", "region": "JP", "source": "mango", "explanations": {"gemma": "…", "phi": ""}}

`explanations` is what each metric says about the text: empty where it finds no error, null where it failed. `errors`
has the places of the error (`side`, `start`, `end`); without it they are the words that differ (Appendix E).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from mores.errors import InputError, suggest
from mores.factory.drafts import draw
from mores.factory.errors.model import differences
from mores.factory.gold import Gold
from mores.studio.data.incoming import Incoming, read_json
from mores.studio.form import draw_lot
from mores.studio.marks import as_shown, locate
from mores.studio.records import Content
from mores.types import Judgement, Record, Severity

REQUIRED = ("text", "original", "explanation", "type", "severity")
OPTIONAL = ("sample", "instruction", "original_instruction", "errors", "explanations", "source")
KEPT = ("marks", "silent", "failed")
"""What a campaign keeps besides: the errors as marks, and metrics that find no error or failed."""
ALSO = (*KEPT, *Gold.model_fields, *Judgement.model_fields)
"""Fields of lines of `mores build`, of judgements, and of what was exported."""
PAIR = ("metric", "explanation")
"""What is kept of each explanation of a metric."""
SIDES = {"instruction": "original_instruction", "text": "original"}
"""What can hold an error, and what it was made from."""


# -- rows of several files as samples --------------------------------------------------------------------------


def join(rows: Sequence[Incoming]) -> list[Incoming]:
    """Return the samples with an error, each with what the judgements among the rows say about it."""
    by_sample: dict[str, dict[str, str | None]] = defaultdict(dict)
    samples = []
    for row in rows:
        if {"sample_id", "judge"} <= row.content.keys():
            judgement = _parse(Judgement, row)
            metrics = by_sample[judgement.sample_id]
            if judgement.judge in metrics:
                raise InputError(f"{row.place}: a second judgement of {judgement.judge} about {judgement.sample_id}")
            metrics[judgement.judge] = _explanation(judgement)
        else:
            samples.append(row)
    joined = []
    for row in filter(None, (_place(row) if isinstance(row.content.get("sample"), dict) else row for row in samples)):
        given = row.content.get("explanations") or {}
        metrics = by_sample.get(str(row.content.get("sample") or ""), {})
        explained = {"explanations": {**metrics, **given}} if metrics and isinstance(given, dict) else {}
        joined.append(row._replace(content=row.content | explained))
    return joined


def _place(row: Incoming) -> Incoming | None:
    """Return a line of `mores build` with its language and region; None for a correct pair."""
    gold = _parse(Gold, row)
    if not gold.report.errors:
        return None
    try:
        content = flatten(gold)
    except InputError as error:
        raise InputError(f"{row.place}: {error}") from error
    content["explanations"] = row.content.get("explanations") or {}
    return row._replace(content=content, language=gold.sample.language or "", region=gold.sample.region or "")


R = TypeVar("R", bound=Record)


def _parse(kind: type[R], row: Incoming) -> R:
    """Return a row as a record; what an importer adds to it is not the record's."""
    fields = {name: value for name, value in row.content.items() if name in kind.model_fields}
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{row.place}: not a {kind.__name__} record: {where}: {first['msg']}") from error


def _explanation(judgement: Judgement) -> str | None:
    """Return what a metric says about a text; empty where it finds no error, None where it failed."""
    report = judgement.report
    if report is None or not report.errors:
        return None if report is None else ""
    apart = dict.fromkeys(error.explanation for error in report.errors if error.explanation)
    return report.explanation or "\n".join(apart) or "; ".join(error.type for error in report.errors)


def flatten(gold: Gold) -> Content:
    """Return the fields of a pair with errors, as a campaign takes them."""
    first, sample = gold.report.errors[0], gold.sample
    severe = any(error.severity is Severity.MAJOR for error in gold.report.errors)
    instruction, text = _original(gold)
    return {
        "sample": sample.id,
        "source": sample.source or "",
        "instruction": sample.instruction,
        "original_instruction": instruction,
        "text": sample.text,
        "original": text,
        "errors": [error.model_dump(include={"side", "start", "end"}) for error in gold.report.errors if error.located],
        "severity": (Severity.MAJOR if severe else Severity.MINOR).value,
        "type": first.type,
        "explanation": gold.report.explanation or first.explanation,
    }


def _original(gold: Gold) -> tuple[str, str]:
    """Return instruction and text without the error; where a wrong answer was given, the correct one replaces it."""
    if gold.original is not None:
        return gold.original.instruction, gold.original.text
    errors = [error for error in gold.report.errors if error.side == "text" and error.located]
    if gold.answer is None or len(errors) != 1:
        fix = "build the dataset again, or add `original` to the row"
        raise InputError(f"{gold.sample.id}: the text without the error is not known; {fix}")
    text = gold.sample.text
    return gold.sample.instruction, f"{text[: errors[0].start]}{gold.answer}{text[errors[0].end :]}"


def choose(
    golds: Iterable[Gold], per_source: int, *, kinds: Iterable[str] = ("soft",), seed: int = 0
) -> Iterator[Gold]:
    """Yield pairs with errors to validate, so many of each source; the paper takes 25 with soft errors."""
    wanted = set(kinds)
    by_source: dict[str, list[Gold]] = defaultdict(list)
    for gold in golds:
        if gold.kind in wanted and gold.report.errors:
            by_source[gold.sample.source or ""].append(gold)
    for _, group in sorted(by_source.items()):
        yield from sorted(group, key=lambda gold: draw(seed, gold.sample.id))[:per_source]


# -- one sample ------------------------------------------------------------------------------------------------


def admit(row: Mapping[str, Any]) -> Content:
    """Return the content of an item, from a row; admitting it once more changes nothing."""
    known = (*REQUIRED, *OPTIONAL, *KEPT)
    if unknown := [name for name in row if name not in known]:
        raise InputError(f"unknown field {unknown[0]!r}; {suggest(unknown[0], known)}expected {', '.join(known)}")
    content = {name: _text(row, name) for name in REQUIRED}
    if content["severity"] not in {severity.value for severity in Severity}:
        raise InputError(f"unknown severity {content['severity']!r}; expected minor or major")
    instruction = _text(row, "instruction", needed=False)
    content |= {
        "sample": _text(row, "sample", needed=False),
        "source": _text(row, "source", needed=False),
        "instruction": instruction,
        "original_instruction": _text(row, "original_instruction", needed=False) or instruction,
    }
    marks = _marks(row, content)
    if not marks:
        raise InputError("the text does not differ from the original: no error to validate")
    return content | {"marks": marks} | _metrics(row, content["text"])


def _text(row: Mapping[str, Any], name: str, *, needed: bool = True) -> str:
    value = row.get(name) or ""
    if not isinstance(value, str) or (needed and not value.strip()):
        raise InputError(f"no text in {name!r}" if needed else f"{name!r} is not a text")
    return value


def _marks(row: Mapping[str, Any], content: Content) -> list[Content]:
    """Return the places of the error as marks; without any, the words that differ from the original."""
    parts = {side: as_shown(content[side]) for side in SIDES}
    given = row.get("marks", row.get("errors"))
    if not isinstance(given, list):
        pairs = {side: (as_shown(content[before]), parts[side]) for side, before in SIDES.items()}
        spans = [(side, span) for side, texts in pairs.items() for span in differences(*texts)]
        given = [{"part": side, "start": start, "end": end} for side, (start, end) in spans]
    marks = []
    for error in given:
        if not isinstance(error, dict):
            raise InputError(f'an error is not {{"side": "text", "start": 0, "end": 4}} but {error!r}')
        part, start, end = error.get("part") or error.get("side"), error.get("start"), error.get("end")
        if part not in parts or not isinstance(start, int) or not isinstance(end, int):
            raise InputError(f"an error has no side, start and end: {json.dumps(error, ensure_ascii=False)}")
        place = {"part": part, "start": start, "end": end, "quote": parts[part][start:end]}
        if "quote" in error and as_shown(_text(error, "quote")) != place["quote"]:
            raise InputError(f"{start}:{end} of the {part} is {place['quote']!r}, not {error['quote']!r}")
        marks.append(locate(place, parts, missing=False))
    return marks


def _metrics(row: Mapping[str, Any], text: str) -> Content:
    """Return what metrics say, in an order that does not follow their names: judges cannot learn who stands first."""
    given = row.get("explanations") or {}
    if isinstance(given, str):
        given = read_json(given, "explanations")
    if isinstance(given, list) and all(isinstance(each, dict) and each.keys() == {*PAIR} for each in given):
        pairs = [{name: str(each[name]) for name in PAIR} for each in given]
        return {"explanations": pairs} | {name: list(row.get(name) or ()) for name in ("silent", "failed")}
    if not isinstance(given, dict) or not all(isinstance(explanation, str | None) for explanation in given.values()):
        raise InputError('`explanations` is not {"metric": "text"}; write null where a metric failed')
    texts = {metric: explanation.strip() for metric, explanation in given.items() if explanation is not None}
    explaining = sorted((metric for metric in texts if texts[metric]), key=lambda metric: draw_lot(text, metric))
    return {
        "explanations": [dict(zip(PAIR, (metric, texts[metric]), strict=True)) for metric in explaining],
        "silent": sorted(metric for metric in texts if not texts[metric]),
        "failed": sorted(given.keys() - texts.keys()),
    }
