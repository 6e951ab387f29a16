"""A form for the settings of a campaign, made from its kind's settings: one field for each, in three steps.

Practice items and attention checks have pages of their own (`web/routes/known.py`).
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mores.errors import InputError
from mores.models import LLAMA
from mores.studio.form import FormField, StudioForm, clean
from mores.studio.kind import DETAILS, GROUPS, CampaignKind, CampaignSettings
from mores.studio.phrase import Phrase
from mores.studio.plain_yaml import read_yaml
from mores.studio.store.campaigns import SettingsError, parse_campaign, read_settings

LONGEST_FILE = 1_000_000
KNOWN = ("practice", "checks")
"""Settings that a form leaves as they are: items with known answers."""
NAMED: dict[str, Literal["regions", "languages"]] = {"regions": "regions", "languages": "languages"}
"""Settings that hold codes, for which people write names."""
TEXTS = ("instructions", "consent")
"""Long texts, which are asked last in their step."""
LONG = 1000
"""Texts that may be longer than this get several lines."""


def settings_form(kind: CampaignKind[Any]) -> StudioForm:
    """Return the fields of a kind's settings; `step` says which of `STEPS` asks, `block` the group it is folded in."""
    fields = (_field(name, info) for name, info in kind.settings.model_fields.items() if name not in KNOWN)
    return StudioForm(tuple(sorted(fields, key=lambda field: field.name in TEXTS)), blocks=GROUPS)


def _field(name: str, info: FieldInfo) -> FormField:
    label = info.title or name.replace("_", " ").capitalize()
    place: Any = info.json_schema_extra or {"step": 3, "group": DETAILS}
    shared: dict[str, Any] = {"help": (info.description or "").replace("`", ""), "required": info.is_required()}
    shared |= {"step": place["step"], "block": place["group"]}
    kind = _plain(info.annotation)
    if kind is bool:
        return FormField(name, label, "check", **shared)
    if get_origin(kind) is Literal:
        return FormField(name, label, "choice", options=[(str(one), str(one)) for one in get_args(kind)], **shared)
    if kind in (int, float):
        return FormField(name, label, "number", **shared)
    if kind is date:
        return FormField(name, label, longest=10, **shared)
    if kind is str:
        longest = next((rule.max_length for rule in info.metadata if hasattr(rule, "max_length")), 200)
        return FormField(name, label, "text" if longest >= LONG else "line", longest=longest, **shared)
    if name in NAMED:
        shared["help"] = _hint(shared["help"], "Several with commas.")
        return FormField(name, label, longest=20_000, names=NAMED[name], **shared)
    if _is_lines(kind):
        shared["help"] = _hint(shared["help"], "One on each line.")
        return FormField(name, label, "text", longest=20_000, **shared)
    shared["help"] = _hint(shared["help"], "Written in YAML.")
    return FormField(name, label, "text", longest=200_000, **shared)


def _hint(about: str, hint: str) -> str:
    """Return what a field is about, and how it is written."""
    return Phrase.join([Phrase(text) for text in (about, hint) if text], " ")


def _plain(annotation: Any) -> Any:
    """Return a type without `| None`."""
    if get_origin(annotation) in (Union, types.UnionType):
        others = [one for one in get_args(annotation) if one is not type(None)]
        return others[0] if len(others) == 1 else annotation
    return annotation


def _is_lines(kind: Any) -> bool:
    """Return whether a setting is written as lines: texts, numbers by name, or records that are made from a line."""
    inside = (get_args(kind) or (None,))[0]
    return get_origin(kind) is dict or (
        get_origin(kind) in (tuple, list)
        and (inside is str or (isinstance(inside, type) and "__str__" in vars(inside)))
    )


def show_settings(settings: BaseModel) -> dict[str, Any]:
    """Return the values of the form's fields."""
    values: dict[str, Any] = {}
    for name, info in type(settings).model_fields.items():
        value = getattr(settings, name)
        kind = _plain(info.annotation)
        if _is_lines(kind):
            lines = (f"{key}: {inner}" for key, inner in value.items()) if isinstance(value, dict) else map(str, value)
            values[name] = (", " if name in NAMED else "\n").join(lines)
        elif kind in (str, int, float, date) or get_origin(kind) is Literal:
            values[name] = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        elif kind is bool:
            values[name] = ["yes"] if value else []
        else:
            values[name] = _yaml(settings.model_dump(mode="json", exclude_defaults=False)[name]) if value else ""
    return values


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False))


def dump_campaign(kind: CampaignKind[Any], settings: BaseModel, hidden: set[str] | None = None) -> str:
    """Return a campaign as the YAML file from which it can be made again, unless settings are hidden."""
    return _yaml({"kind": kind.name} | settings.model_dump(mode="json", exclude=hidden))


def read_campaign_file(data: bytes) -> tuple[CampaignKind[Any], CampaignSettings]:
    """Return the kind and settings of a YAML file that somebody sent; InputError says what is wrong."""
    if len(data) > LONGEST_FILE:
        template = "The file has {size} bytes; a campaign has at most {most}."
        raise InputError(Phrase(template, size=len(data), most=LONGEST_FILE))
    try:
        kind, settings = parse_campaign(data.decode("utf-8-sig"), "campaign")
    except UnicodeDecodeError as error:
        raise InputError("The file is not UTF-8. Save it as UTF-8.") from error
    refuse_files(kind, settings)
    return kind, settings


def refuse_files(kind: CampaignKind[Any], settings: CampaignSettings, before: CampaignSettings | None = None) -> None:
    """Raise SettingsError where a setting newly names a file of the server: it would show the file."""
    kept = _name_files(kind, before) if before else {}
    named = [name for name, value in _name_files(kind, settings).items() if kept.get(name) != value]
    if named:
        reason = Phrase("Files of the server can only be named there: ask the person who runs it to make the campaign.")
        raise SettingsError("campaign", dict.fromkeys(named, reason))


def _name_files(kind: CampaignKind[Any], settings: CampaignSettings) -> dict[str, str]:
    """Return the settings that name files of the server: models on a server and those that are pulled do not."""
    models = {settings.model, *kind.models(settings)} - {"", "none", *LLAMA}
    local = sorted(name for name in models if not name.startswith("openai:"))
    return dict(kind.on_server(settings)) | ({"model": ", ".join(local)} if local else {})


def read_settings_form(
    kind: CampaignKind[Any], given: Mapping[str, Sequence[str]], before: CampaignSettings | None = None
) -> CampaignSettings:
    """Return the settings that were filled in, or their defaults; SettingsError says what is wrong, by field."""
    values: dict[str, Any] = {name: getattr(before, name) for name in KNOWN if before}
    problems: dict[str, str] = {}
    for name, info in kind.settings.model_fields.items():
        text = clean("\n".join(given.get(name, ())))
        known = _plain(info.annotation)
        if known is bool:
            values[name] = bool(text)
        elif text and get_origin(known) is dict:
            values[name] = {
                key.strip(): value.strip()
                for key, _, value in (line.partition(":") for line in text.split("\n"))
                if key.strip()
            }
        elif text and _is_lines(known):
            split = "," if get_args(known)[0] is str else None
            parts = (part for line in text.split("\n") for part in (line.split(split) if split else [line]))
            values[name] = [part.strip() for part in parts if part.strip()]
        elif text and (known in (str, int, float, date) or get_origin(known) is Literal):
            values[name] = text
        elif text:
            try:
                values[name] = read_yaml(text, name)
            except InputError as error:
                problems[name] = str(error)
    if problems:
        raise SettingsError("settings", problems)
    settings = read_settings(kind, values)
    refuse_files(kind, settings, before)
    return settings
