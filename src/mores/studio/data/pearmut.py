"""pearmut's JSON (V. Zouhar and T. Kocmi, 2026): a campaign of items, and the log of annotations, and back.

A campaign is `{"info": {…}, "campaign_id": …, "data": […]}`. Its data are documents, lists of items with `tgt` (texts
by the name of their model) and, optionally, `src`, `ref` and `item_id`; with the assignment `task-based` there is one
list of documents for each person. Other fields are only kept. A line of the log has `item`, `annotation` (for each item
by model: `score`, `error_spans`, `textfield`), `actions` with times, `user_id` and `item_i`. Spans have `start_i` and
`end_i`, both inclusive: ours are half-open. Where people mark words of a text, `tgt` has that text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from mores.errors import InputError
from mores.studio.data.incoming import ImportedAnswer, Incoming, read_json, read_time
from mores.studio.data.label_studio import judged_stage
from mores.studio.data.snapshot import Snapshot
from mores.studio.files import ExportFile, Spool
from mores.studio.form import StudioForm
from mores.studio.provenance import last_votes
from mores.studio.records import CampaignItem, Content
from mores.studio.timeline import list_values

MODEL = "item"
"""The name under which an item's text stands in `tgt`, where it is not a model's."""
OURS = "mores"
"""The field that keeps what pearmut has no place for."""
SCORES = ("score", "rating")


def pearmut_files(snapshot: Snapshot) -> Iterator[ExportFile]:
    """Yield `campaign.json` for `pearmut add`, and `annotations.jsonl` as pearmut writes them."""
    stage, campaign, log = judged_stage(snapshot), Spool(), Spool()
    info: dict[str, Any] = {"assignment": "single-stream", "protocol": "ESA", "users": max(1, len(snapshot.numbers))}
    campaign.write(to_json({"info": info, "campaign_id": snapshot.campaign.id, "data": []}).removesuffix(b"]}"))
    for number, item in enumerate(snapshot.read()):
        forms = {each.name: each.form(item) for each in snapshot.campaign.flow.stages}
        shown = to_item(snapshot, item, forms, _marked(forms[stage.name]) if stage else None)
        document = to_json([shown])
        campaign.write((b",\n" if number else b"\n") + document)
        votes = last_votes(item, stage.name) if stage else []
        rest = b',"item":%b,"item_i":%d,"user_id":%%b}\n' % (document.replace(b"%", b"%%"), number)  # in every line
        given = {repr(vote.answer): vote.answer for vote in votes}  # most people give the same answer
        begun = {key: to_json({"annotation": [{MODEL: to_annotation(answer, shown)}]}) for key, answer in given.items()}
        lines = []
        for vote in votes:
            end, by = vote.at.timestamp(), to_json(snapshot.number(vote.person))
            actions = [{"time": end - vote.seconds, "action": "load"}, {"time": end, "action": "submit"}]
            lines += [begun[repr(vote.answer)][:-1], b',"actions":', to_json(actions), rest % by]
        log.write(b"".join(lines))
    campaign.write(b"\n]}\n")
    yield ExportFile("campaign.json", campaign)
    yield ExportFile("annotations.jsonl", log)


def _marked(form: StudioForm) -> tuple[str, str] | None:
    """Return the name and the words of the text that people mark; the last of several. None where they mark nothing."""
    parts = [part for field in form.fields if field.kind == "marks" for part in field.parts.items()]
    return parts[-1] if parts else None


def to_item(
    snapshot: Snapshot, item: CampaignItem, forms: Mapping[str, StudioForm], marked: tuple[str, str] | None = None
) -> dict[str, Any]:
    """Return an item as pearmut shows it: its headline as the source, and the text that is marked, or its fields."""
    form = StudioForm(tuple(field for each in forms.values() for field in each.fields))
    facts = () if marked else list_values(form, item.content)
    text = marked[1] if marked else "\n".join(f"{fact.label}: {fact.value}" for fact in facts)
    kept = {"content": item.content, "region": item.region, "language": item.language}
    kept |= {"part": marked[0]} if marked else {}
    return {"item_id": item.id, "src": snapshot.campaign.kind.headline(item), "tgt": {MODEL: text}, OURS: kept}


def to_annotation(answer: Content, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer about an item as the log has it."""
    part = item.get(OURS, {}).get("part")
    marks = [mark for value in answer.values() if isinstance(value, list) for mark in value]
    spans = [mark for mark in marks if isinstance(mark, dict) and isinstance(mark.get("start"), int)]
    comment = answer.get("comment")
    return {
        "score": next((_number(answer[name]) for name in SCORES if name in answer), None),
        "error_spans": [to_span(span) for span in spans if span.get("part", part) == part],
        "textfield": comment if isinstance(comment, str) else None,
        OURS: answer,
    }


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def to_span(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return a half-open span with both ends inclusive."""
    severity, category = span.get("severity") or None, span.get("category") or span.get("type") or None
    return {"start_i": span["start"], "end_i": span["end"] - 1, "severity": severity, "category": category}


def from_span(span: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a span of pearmut as a half-open one with its quote."""
    start, end = span.get("start_i"), span.get("end_i")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start <= end:
        raise InputError(f"an error span from {start!r} to {end!r}; both are places in the text, from 0")
    found = {"start": start, "end": end + 1, "quote": text[start : end + 1]}
    return found | {"severity": span.get("severity") or "", "category": span.get("category") or ""}


def read_pearmut(text: str, name: str, _form: StudioForm | None = None) -> list[Incoming]:
    """Return the items of a campaign or of a log, with the log's annotations; InputError names what cannot be read."""
    try:
        campaign = read_json(text, name)
    except InputError:
        campaign = None
    if isinstance(campaign, dict) and "data" in campaign:
        return [_item(item, place) for place, item in _documents(campaign["data"], name)]
    return _read_log(text, name)


def _documents(data: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the items of nested lists, with their places."""
    if not isinstance(data, list):
        raise InputError(f'{name}: "data" is not a list of documents')
    stack: list[tuple[str, Any]] = [(f"{name}: data[{number}]", part) for number, part in enumerate(data)][::-1]
    while stack:
        place, part = stack.pop()
        if isinstance(part, list):
            stack += [(f"{place}[{number}]", inner) for number, inner in enumerate(part)][::-1]
        else:
            yield place, part


def _item(item: Any, place: str) -> Incoming:
    if not isinstance(item, dict) or not isinstance(item.get("tgt"), dict):
        raise InputError(f'{place}: no "tgt"; an item has its texts by model: {{"tgt": {{"model": "…"}}}}')
    kept = item.get(OURS)
    if isinstance(kept, dict) and isinstance(kept.get("content"), dict):
        return Incoming(place, kept["content"], str(kept.get("region", "")), str(kept.get("language", "")))
    content = {name: item[name] for name in ("item_id", "src", "ref") if isinstance(item.get(name), str)}
    return Incoming(place, content | {"tgt": item["tgt"]})


def _read_log(text: str, name: str) -> list[Incoming]:
    """Return the items of a log, each once, with everybody's last annotation of it."""
    found: dict[str, Incoming] = {}
    answers: dict[str, dict[str, ImportedAnswer]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{name}:{number}"
        if not line.strip():
            continue
        try:
            entry = read_json(line, place)
            pairs = list(zip(entry["item"], entry["annotation"], strict=True))
            person, actions = f"pearmut {entry['user_id']}", list(entry.get("actions") or ())
        except (ValueError, KeyError, TypeError, InputError) as error:
            fix = 'a line of a log has "item", "annotation" and "user_id"'
            raise InputError(f"{place}: no line of pearmut's log ({error}); {fix}") from error
        if str(entry.get("item_i", "")).startswith(("welcome_", "random_", "goodbye_")):
            continue
        numbers = [_number(action.get("time")) for action in actions if isinstance(action, dict)]
        times = [time for time in numbers if time is not None]
        for part, (item, given) in enumerate(pairs):
            key = str(item.get("item_id") or f"{entry.get('item_i')}.{part}") if isinstance(item, dict) else ""
            found.setdefault(key, _item(item, place))
            if given is not None:
                seconds = (max(times) - min(times)) / len(pairs) if times else 0.0
                answer = _answer(given, item["tgt"], place)
                answers.setdefault(key, {})[person] = ImportedAnswer(
                    person, answer, seconds, read_time(max(times)) if times else None
                )
    return [one._replace(answers=tuple(answers.get(key, {}).values())) for key, one in found.items()]


def _answer(given: Any, texts: Mapping[str, Any], place: str) -> Content:
    """Return what somebody said about an item: as we exported it, or by model."""
    if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
        raise InputError(f'{place}: an annotation is not {{"model": {{"score": …, "error_spans": […]}}}}')
    if isinstance((given.get(MODEL) or {}).get(OURS), dict):
        return dict(given[MODEL][OURS])
    found: Content = {}
    for model, said in given.items():
        text = texts.get(model)
        try:
            spans = [from_span(span, text if isinstance(text, str) else "") for span in said.get("error_spans") or ()]
        except (InputError, AttributeError, TypeError) as error:
            raise InputError(f"{place}: {error}") from error
        found[model] = {"score": said.get("score"), "error_spans": spans, "comment": said.get("textfield") or ""}
    return found if len(found) != 1 else dict(next(iter(found.values())))
