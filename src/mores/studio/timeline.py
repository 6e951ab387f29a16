"""An item's life as a person reads it: what happened, with the words of the forms, and what each version changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from mores.studio.form import FormField, StudioForm
from mores.studio.kind import CampaignKind
from mores.studio.phrase import Phrase, read_phrases
from mores.studio.records import CampaignItem, Content, Event, EventKind
from mores.studio.workflow import Flow, apply


class ItemVersion(NamedTuple):
    """An item as it was written or changed at one moment."""

    item: str
    number: int
    at: datetime
    stage: str
    person: str | None
    """None where a stage changed it, for example with a model's labels."""
    region: str
    language: str
    content: Content


class RecordedEvent(NamedTuple):
    """The part of an event that a version needs."""

    item: str
    kind: str
    at: datetime
    stage: str
    person: str | None
    payload: Content


def list_versions(events: Iterable[Event | RecordedEvent]) -> list[ItemVersion]:
    """Return all versions of the items that events are about, in the order in which they were made."""
    last: dict[str, ItemVersion] = {}
    versions: list[ItemVersion] = []
    for event in events:
        if event.kind not in (EventKind.CREATED, EventKind.EDITED):
            continue
        before = last.get(event.item)
        region = event.payload.get("region") or (before.region if before else "")
        language = event.payload.get("language") or (before.language if before else "")
        number = before.number + 1 if before else 1
        content = event.payload["content"]
        last[event.item] = ItemVersion(
            event.item, number, event.at, event.stage, event.person, region, language, content
        )
        versions.append(last[event.item])
    return versions


MOST_WORDS = 3000
"""Longer texts are shown whole, old and new: finding their differences takes too long."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


class TimelineChange(NamedTuple):
    """A piece of a text that changed."""

    how: Literal["same", "added", "removed"]
    text: str


class FieldValue(NamedTuple):
    """A field with its value in words, which may be a phrase: what people wrote is not translated, the rest is."""

    label: str
    value: str


class FieldChange(NamedTuple):
    """The change of a field from the version before."""

    label: str
    parts: Sequence[TimelineChange]


@dataclass(frozen=True)
class TimelineEntry:
    """Something that happened to an item."""

    at: datetime
    kind: str
    stage: str
    person: str | None = None
    """None where the rules or a model did it."""
    of: str | None = None
    """Whose item was given back."""
    version: int = 1
    facts: Sequence[FieldValue] = ()
    changes: Sequence[FieldChange] = ()
    note: str = ""
    to: str = ""
    """The stage that it went to."""
    outcome: str = ""
    task: str = ""
    model: str = ""
    failure: str = ""
    seconds: float = 0.0
    until: datetime | None = None


def tell_life(flow: Flow, kind: CampaignKind[Any], events: Iterable[Event]) -> list[TimelineEntry]:
    """Return the entries of an item's life, in order."""
    entries: list[TimelineEntry] = []
    item: CampaignItem | None = None
    for event in events:
        before, item = item, apply(item, event)
        entries.append(_entry(flow, kind, before, item, event))
    return entries


def _entry(  # noqa: C901 - one case for each kind of event
    flow: Flow, kind: CampaignKind[Any], before: CampaignItem | None, item: CampaignItem, event: Event
) -> TimelineEntry:
    payload = event.payload
    shown: dict[str, Any] = {"person": event.person, "version": item.version}
    match event.kind:
        case EventKind.CREATED:
            shown["facts"] = list_values(join_forms(flow, item), payload["content"], kind.words)
        case EventKind.EDITED:
            shown["changes"] = list_changes(
                join_forms(flow, item), before.content if before else {}, payload["content"]
            )
        case EventKind.ASKED_MODEL:
            shown |= {"task": kind.title_of(payload["task"]), "model": payload["model"]}
        case EventKind.MODEL_ANSWERED:
            ask = next(ask for ask in item.asks if ask.id == payload["ask"])
            shown |= {"task": kind.title_of(ask.task), "model": ask.model, "failure": ask.explained}
            shown["facts"] = list_values(join_forms(flow, item), ask.answer or {}, kind.words)
        case EventKind.SUBMITTED:
            shown["seconds"] = payload.get("seconds") or 0.0
        case EventKind.VOTED | EventKind.STEPPED:
            form = flow.stage(event.stage).form(item) if event.stage in flow.named else StudioForm()
            form = replace(form, blocks=tuple(payload.get("order", ())))
            shown |= {"facts": list_values(form, payload["answer"]), "seconds": payload.get("seconds") or 0.0}
        case EventKind.ADVANCED | EventKind.RETURNED | EventKind.REJECTED:
            shown |= {"to": payload.get("to", ""), "note": read_phrases(payload.get("note", ""))}
            shown["facts"] = list_values(join_forms(flow, item), read_phrases(payload.get("result") or {}), kind.words)
        case EventKind.ADJUDICATED:
            shown |= {"outcome": payload["outcome"], "note": read_phrases(payload["note"])}
        case EventKind.ASSIGNED:
            shown["until"] = datetime.fromisoformat(payload["until"])
        case EventKind.RELEASED:
            shown |= {"of": payload["of"], "note": read_phrases(payload.get("reason", ""))}
        case EventKind.WITHDRAWN:
            shown["note"] = read_phrases(payload.get("reason", ""))
    return TimelineEntry(event.at, event.kind.value, event.stage, **shown)


def join_forms(flow: Flow, item: CampaignItem) -> StudioForm:
    """Return the fields of every stage's form, by which contents and results are named."""
    return StudioForm(tuple(field for stage in flow.stages for field in stage.form(item).fields))


def list_values(form: StudioForm, content: Content, called: Mapping[str, str] | None = None) -> list[FieldValue]:
    """Return fields with their labels, and choices with the texts that people saw; blocks have the numbers of the form.

    What is about blocks stands in the order of the form. `called` are the labels of values that are not fields, such as
    a stage's results.
    """
    known = {field.name: field for field in form.fields}
    called = called or {}
    found = []
    for name in _order(form, content) if form.blocks else content:
        value = content[name]
        if value in ("", None, [], {}):
            continue
        field = known.get(name)
        if field is None:
            found.append(FieldValue(called.get(name, name.replace("_", " ")), describe_value(value, called)))
        elif field.kind == "marks":
            found.append(FieldValue(_title(form, field), Phrase.join((_mark(field, mark) for mark in value), " · ")))
        else:
            found.append(FieldValue(_title(form, field), _show(field, value)))
    return found


def _order(form: StudioForm, content: Content) -> list[str]:
    """Return the names of a content; those about blocks stand together, in the order of the form."""
    places = {block: number for number, block in enumerate(form.blocks)}
    blocks = {field.name: places[field.block] for field in form.fields if field.block in places}
    about = sorted((name for name in content if name in blocks), key=blocks.__getitem__)
    names, first = list(content), next((number for number, name in enumerate(content) if name in blocks), 0)
    return [*names[:first], *about, *(name for name in names[first:] if name not in blocks)]


def _title(form: StudioForm, field: FormField) -> str:
    """Return a field's label, with the number of what it is about."""
    if field.block not in form.blocks:
        return field.label
    return Phrase("{number}. {label}", number=form.blocks.index(field.block) + 1, label=field.label)


def _mark(field: FormField, mark: Content) -> str:
    """Return a mark in words: what is marked, and what was answered about it."""
    given = [(detail, mark[detail.name]) for detail in field.details if mark.get(detail.name) not in (None, "", [])]
    details = [describe_value(value, dict(detail.options)) for detail, value in given]
    place = f"“{mark['quote']}”" if mark.get("start") is not None else "–"
    return Phrase("{place} ({details})", place=place, details=Phrase.join(details, "; ")) if details else place


def _show(field: FormField, value: object) -> str:
    """Return the value of a field, with the texts of the options that were chosen."""
    if not field.options:
        return Phrase.join(map(describe_value, value if isinstance(value, list) else [value]), " · ")
    places = {option: number for number, (option, _) in enumerate(field.options)}
    parts: list[str] = []
    for given in value if isinstance(value, list) else [value]:
        place = places.get(given) if isinstance(given, str) else None
        label = "" if place is None else field.options[place][1]
        if place is not None and not field.native and place >= field.written:
            label = Phrase(label)
        if label and label.casefold() != str(given).casefold():
            parts.append(Phrase("{code} ({label})", code=given, label=label))
        else:
            parts.append(label or describe_value(given))
    return Phrase.join(parts, " · ")


def describe_value(value: object, names: Mapping[str, str] | None = None) -> str:
    """Return a value as text; `names` are the words for what is kept as a code."""
    called = names or {}
    if isinstance(value, str):
        return Phrase(called[value]) if value in called else value
    if isinstance(value, bool):
        return Phrase("yes" if value else "no")
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return Phrase.join((describe_value(inner, called) for inner in value), " · ")
    if isinstance(value, dict):
        named = ((Phrase(called.get(name, name)), describe_value(inner, called)) for name, inner in value.items())
        return Phrase.join((Phrase("{name}: {value}", name=name, value=inner) for name, inner in named), "; ")
    return "–" if value is None else str(value)


def list_changes(form: StudioForm, old: Content, new: Content) -> list[FieldChange]:
    """Return what a new version changed, field by field."""
    labels = {field.name: field.label for field in form.fields}
    found = []
    for name in dict.fromkeys((*old, *new)):
        values = ([] if (value := content.get(name)) in (None, "") else value for content in (old, new))
        lists = (value if isinstance(value, list | tuple) else (value,) for value in values)
        before, after = ("\n".join(map(describe_value, lines)) for lines in lists)
        if before != after:
            found.append(FieldChange(labels.get(name, name.replace("_", " ")), compare_texts(before, after)))
    return found


class Earlier(NamedTuple):
    """An earlier version of an item, with what would change if it came back."""

    number: int
    at: datetime
    changes: Sequence[FieldChange]


def list_earlier(form: StudioForm, events: Iterable[Event]) -> list[Earlier]:
    """Return the versions before the present one that differ from it, the newest first."""
    *before, present = list_versions(events)
    differing = ((version, list_changes(form, present.content, version.content)) for version in reversed(before))
    return [Earlier(version.number, version.at, changed) for version, changed in differing if changed]


def compare_texts(old: str, new: str) -> list[TimelineChange]:
    """Return two texts as one, with the words that were removed and added."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) + len(after) > MOST_WORDS:
        return [TimelineChange("removed", old), TimelineChange("added", new)]
    parts: list[TimelineChange] = []
    for how, start, end, other_start, other_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if how == "equal":
            parts.append(TimelineChange("same", "".join(before[start:end])))
            continue
        if end > start:
            parts.append(TimelineChange("removed", "".join(before[start:end])))
        if other_end > other_start:
            parts.append(TimelineChange("added", "".join(after[other_start:other_end])))
    return parts
