"""Label Studio's JSON: items as tasks, answers as annotations, and back.

A task is `{"data": {…}, "annotations": [{"completed_by": 1, "lead_time": 12.5, "result": […]}]}`. A result has
`from_name` (our field), `to_name`, `type` and `value`: `choices`, `textarea` with `text`, `number`, `rating`, or
`labels` with `start`, `end` and `text` (labelstud.io, Label Studio Task Format). Offsets count code points, as Label
Studio stores them since 1.5; where older ones counted UTF-16, the `text` beside them tells.

A field of marks has labels in each of its texts, `FIELD_TEXT`, with the first choice about a mark, such as a severity,
as the label. Other answers about a mark are results of the same region (`perRegion`), `FIELD_TEXT_ANSWER`. What is
missing in a text has no region and is JSON in `FIELD_TEXT_missing`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from pydantic_core import to_json

from mores.errors import InputError
from mores.io.exports import locate
from mores.studio.data.incoming import METADATA, ImportedAnswer, Incoming, read_json, read_time
from mores.studio.data.snapshot import Snapshot
from mores.studio.data.tables import write_times
from mores.studio.files import ExportFile, Spool
from mores.studio.form import FormField, StudioForm
from mores.studio.provenance import last_votes
from mores.studio.records import CampaignItem, Content
from mores.studio.timeline import describe_value
from mores.studio.workflow import CampaignStage, is_judged

CHOSEN = ("choice", "choices", "scale", "check", "select")
MISSING = "missing"
OURS = {"mores_item", "mores_stage", "region", "language"}


def label_studio_files(snapshot: Snapshot) -> Iterator[ExportFile]:
    """Yield `tasks.json` for the import of Label Studio, and `config.xml` for its labelling interface."""
    stage, tasks = judged_stage(snapshot), Spool()
    names: dict[str, None] = {}
    for number, item in enumerate(snapshot.read(), 1):
        names |= dict.fromkeys(item.content)
        tasks.write((b",\n" if number > 1 else b"[\n") + to_json(to_task(snapshot, number, item, stage)))
    tasks.write(b"\n]\n" if snapshot.items else b"[]\n")
    yield ExportFile("tasks.json", tasks)
    if stage and snapshot.items:
        first = snapshot.items[0]
        yield ExportFile("config.xml", to_config(stage.form(first), list(names), main_text(first.content)).encode())


def judged_stage(snapshot: Snapshot) -> CampaignStage | None:
    """Return the stage whose answers are exported: the one with the most; None where nothing is judged."""
    stages = [stage for stage in snapshot.campaign.flow.stages if is_judged(stage)]
    return max(stages, key=lambda stage: snapshot.votes[stage.name], default=None)


def to_task(snapshot: Snapshot, number: int, item: CampaignItem, stage: CampaignStage | None) -> dict[str, Any]:
    """Return an item as a task."""
    data = dict(item.content) | {"mores_item": item.id, "region": item.region, "language": item.language}
    annotations = []
    if stage:
        data["mores_stage"] = stage.name
        form, about = stage.form(item), main_text(item.content)
        given = last_votes(item, stage.name)
        different = {repr(vote.answer): vote.answer for vote in given}  # most people give the same answer
        results = {key: to_results(form, answer, about) for key, answer in different.items()}
        annotations = [
            {
                "completed_by": int(snapshot.number(vote.person).removeprefix("p") or 0),
                "created_at": at,
                "lead_time": vote.seconds,
                "was_cancelled": False,
                "ground_truth": False,
                "result": results[repr(vote.answer)],
            }
            for vote, at in zip(given, write_times([vote.at for vote in given]), strict=True)
        ]
    return {"id": number, "data": data, "annotations": annotations, "predictions": []}


def main_text(content: Content) -> str:
    """Return the name of the text that annotations are about: the longest."""
    texts = {name: value for name, value in content.items() if isinstance(value, str)}
    return max(texts, key=lambda name: len(texts[name]), default="text")


def to_results(form: StudioForm, answer: Content, about: str) -> list[dict[str, Any]]:
    """Return an answer as the results of an annotation."""
    fields = {field.name: field for field in form.fields}
    results: list[dict[str, Any]] = []
    for name, value in answer.items():
        shared = {"id": name, "from_name": name, "to_name": about}
        kind = fields[name].kind if name in fields else None
        if kind == "marks":
            results += [result for number, mark in enumerate(value) for result in _of_mark(fields[name], number, mark)]
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            results += [_span(name, number, span, about) for number, span in enumerate(value)]
        elif kind in CHOSEN or isinstance(value, bool):
            chosen = (["yes"] if value else []) if isinstance(value, bool) else _listed(value)
            if chosen:
                results.append(shared | {"type": "choices", "value": {"choices": chosen}})
        elif isinstance(value, int | float):
            results.append(shared | {"type": "number", "value": {"number": value}})
        elif _listed(value):
            results.append(
                shared | {"type": "textarea", "value": {"text": [describe_value(one) for one in _listed(value)]}}
            )
    return results


def _of_mark(field: FormField, number: int, mark: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a mark as a region with its label, and a result of the region for each other answer about it."""
    part = mark["part"]
    prefix, shared = f"{field.name}_{part}", {"id": f"{field.name}-{number}", "to_name": part}
    if mark["start"] is None:
        value: dict[str, Any] = {"text": [json.dumps(mark, ensure_ascii=False)]}
        yield shared | {"from_name": f"{prefix}_{MISSING}", "type": "textarea", "value": value}
        return
    place = {"start": mark["start"], "end": mark["end"], "text": mark["quote"]}
    label = labelled(field)
    words_of = str(mark.get(label.name) or "") if label else field.name
    yield shared | {"from_name": prefix, "type": "labels", "value": place | {"labels": [words_of]}}
    for detail in field.details:
        given = _listed(mark.get(detail.name))
        if detail == label or not given or given == [False]:
            continue
        chosen = detail.kind in CHOSEN
        value = (
            {"choices": ["yes"] if given == [True] else given}
            if chosen
            else {"text": [describe_value(one) for one in given]}
        )
        kind = "choices" if chosen else "textarea"
        yield shared | {"from_name": f"{prefix}_{detail.name}", "type": kind, "value": place | value}


def labelled(field: FormField) -> FormField | None:
    """Return the answer about a mark that is its label: the first choice; None where there is none."""
    return next((detail for detail in field.details if detail.kind == "choice"), None)


def _listed(value: Any) -> list[Any]:
    return [one for one in (value if isinstance(value, list) else [value]) if one not in ("", None)]


def _span(name: str, number: int, span: Mapping[str, Any], about: str) -> dict[str, Any]:
    label = str(span.get("label") or span.get("severity") or span.get("type") or name)
    value = {"start": span.get("start"), "end": span.get("end"), "text": span.get("quote", ""), "labels": [label]}
    shared = {"id": f"{name}-{number}", "from_name": name, "to_name": str(span.get("side") or about)}
    return shared | {"type": "labels", "value": value, "meta": {"mores": dict(span)}}


def to_config(form: StudioForm, names: Sequence[str], about: str) -> str:
    """Return a labelling interface for Label Studio with the texts of the items and the questions of the form."""
    texts = (f"  <Text name={quoteattr(name)} value={quoteattr(f'${name}')}/>" for name in names if name != METADATA)
    lines = ["<View>", *texts]
    for field in form.fields:
        shared = f"name={quoteattr(field.name)} toName={quoteattr(about)}"
        lines.append(f"  <Header value={quoteattr(field.label)}/>")
        if field.kind == "marks":
            lines += [line for part in field.parts for line in _mark_config(field, part)]
        elif field.kind in CHOSEN:
            lines += _choices(field, shared)
        else:
            lines.append(f"  <{'Number' if field.kind == 'number' else 'TextArea'} {shared}/>")
    return "\n".join([*lines, "</View>", ""])


def _mark_config(field: FormField, part: str) -> Iterator[str]:
    """Yield the tags with which words of a text are marked and answers about each are given."""
    label, to = labelled(field), f"toName={quoteattr(part)}"
    yield f"  <Labels name={quoteattr(f'{field.name}_{part}')} {to}>"
    for value, _ in label.options if label else [(field.name, "")]:
        yield f"    <Label value={quoteattr(value)}/>"
    yield "  </Labels>"
    for detail in field.details:
        shared = f'name={quoteattr(f"{field.name}_{part}_{detail.name}")} {to} perRegion="true"'
        if detail == label:
            continue
        if detail.kind in CHOSEN:
            yield from _choices(detail, shared)
        else:
            yield f"  <TextArea {shared} placeholder={quoteattr(detail.label)}/>"
    if field.missing:
        yield f"  <TextArea name={quoteattr(f'{field.name}_{part}_{MISSING}')} {to}/>"


def _choices(field: FormField, shared: str) -> Iterator[str]:
    yield f'  <Choices {shared} choice="{"multiple" if field.kind == "choices" else "single"}">'
    for value in [value for value, _ in field.options] or ["yes"]:
        yield f"    <Choice value={quoteattr(value)}/>"
    yield "  </Choices>"


def read_label_studio(text: str, name: str, form: StudioForm | None = None) -> list[Incoming]:
    """Return the tasks of a file, with their annotations; InputError names the task that cannot be read."""
    tasks = read_json(text, name)
    if not isinstance(tasks, list):
        raise InputError(f"{name}: not a list of tasks; export JSON (not JSON-MIN) from Label Studio")
    return [_incoming(task, f"{name}: task {number}", form) for number, task in enumerate(tasks, 1)]


def _incoming(task: Any, place: str, form: StudioForm | None) -> Incoming:
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        raise InputError(f'{place}: no "data"; a task is {{"data": {{…}}, "annotations": […]}}')
    content = {name: value for name, value in data.items() if name not in OURS}
    given = task.get("annotations") or []
    if not isinstance(given, list):
        raise InputError(f'{place}: "annotations" is not a list')
    answers = []
    for number, annotation in enumerate(given, 1):
        where = f"{place}, annotation {number}"
        if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
            raise InputError(f'{where}: no "result"')
        if annotation.get("was_cancelled"):
            continue
        try:
            answer = from_results(annotation["result"], data, form)
        except (InputError, KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            reason = str(error) if isinstance(error, InputError) else f"a result cannot be read ({error!r})"
            raise InputError(f"{where}: {reason}") from error
        by, took = annotation.get("completed_by"), annotation.get("lead_time")
        person = by.get("id", "?") if isinstance(by, dict) else "?" if by is None else by
        timed = isinstance(took, int | float) and not isinstance(took, bool) and 0 <= took < 1e9
        seconds = float(took) if timed else 0.0  # type: ignore[arg-type]
        at = read_time(annotation.get("created_at"))
        answers.append(ImportedAnswer(f"Label Studio {person}", answer, seconds, at))
    return Incoming(place, content, _text(data, "region"), _text(data, "language"), tuple(answers))


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def from_results(results: Sequence[Mapping[str, Any]], data: Mapping[str, Any], form: StudioForm | None) -> Content:
    """Return the results of an annotation as an answer."""
    fields = {field.name: field for field in form.fields} if form else {}
    marking = [field for field in fields.values() if field.kind == "marks"]
    answer: Content = {}
    for marked in marking:
        mine = [
            result
            for result in results
            if f"{result['from_name']}_".startswith(f"{marked.name}_{result.get('to_name', '')}_")
        ]
        if mine:
            answer[marked.name] = _marks(marked, mine, data)
            results = [result for result in results if result not in mine]
    for result in results:
        name, kind, value = result["from_name"], result["type"], result["value"]
        field = fields.get(name)
        match kind:
            case "choices":
                answer[name] = _single(field, value["choices"])
            case "textarea":
                texts = [value["text"]] if isinstance(value["text"], str) else value["text"]
                answer[name] = _single(field, texts)
            case "number" | "rating":
                number = value[kind]
                answer[name] = str(number) if field and field.kind in CHOSEN else number
            case "labels":
                answer.setdefault(name, []).append(_read_span(result, data))
            case _:
                raise InputError(
                    f"results of type {kind!r} are not known; choices, textarea, number, rating and labels are"
                )
    return answer


def _marks(field: FormField, results: Sequence[Mapping[str, Any]], data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return regions as marks, each with the answers about it."""
    label, details = labelled(field), {detail.name: detail for detail in field.details}
    regions: dict[str, dict[str, Any]] = {}
    missing: list[dict[str, Any]] = []
    for result in results:
        part, value = result["to_name"], result["value"]
        name = result["from_name"].removeprefix(f"{field.name}_{part}").removeprefix("_")
        mark = regions.setdefault(str(result["id"]), {"part": part})
        if name == MISSING:
            given = value["text"] if isinstance(value["text"], list) else [value["text"]]
            missing += [{"part": part, "start": None, "end": None, "quote": ""} | _known(text) for text in given]
        elif not name:
            span = _read_span(result, data)
            mark |= {key: span[key] for key in ("start", "end", "quote")} | {label.name if label else "": span["label"]}
        else:
            given = value["choices"] if result["type"] == "choices" else value["text"]
            mark[name] = _single(details.get(name), given if isinstance(given, list) else [given])
    return [mark for mark in regions.values() if "start" in mark] + missing


def _known(text: str) -> dict[str, Any]:
    """Return what is said about something missing: JSON as we write it, or words that explain it."""
    try:
        given = read_json(text, "")
    except InputError:
        given = None
    return given if isinstance(given, dict) else {"explanation": text}


def _single(field: FormField | None, values: list[Any]) -> Any:
    """Return one value where the form wants one, else all."""
    if field is None:
        return values
    if field.kind == "check":
        return bool(values)
    return values if field.kind in ("choices", "lines") else (values[0] if values else "")


def _read_span(result: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    value = result["value"]
    kept = (result.get("meta") or {}).get("mores")
    if isinstance(kept, dict):
        return kept
    text, quote = data.get(result.get("to_name", "")), value.get("text", "")
    start, end = int(value["start"]), int(value["end"])
    if isinstance(text, str):
        start, end = locate(text, start, end, quote)
        quote = text[start:end]
    labels = value.get("labels") or []
    return {"start": start, "end": end, "quote": quote, "label": labels[0] if labels else ""}
