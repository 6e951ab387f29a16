"""A form for the settings of a campaign, made from its kind's settings: one field for each, and YAML for the rest."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mores.errors import InputError
from mores.studio.form import FormField, StudioForm, clean
from mores.studio.kind import CampaignKind, CampaignSettings
from mores.studio.phrase import Phrase
from mores.studio.plain_yaml import read_yaml
from mores.studio.store.campaigns import SettingsError, read_settings

LONG = 1000
"""Texts that may be longer than this get several lines."""


def settings_form(kind: CampaignKind[Any]) -> StudioForm:
    """Return the fields of a kind's settings, in their order: those of all kinds first."""
    return StudioForm(tuple(_field(name, info) for name, info in kind.settings.model_fields.items()))


def _field(name: str, info: FieldInfo) -> FormField:
    label = name.replace("_", " ").capitalize()
    shared: dict[str, Any] = {"help": (info.description or "").replace("`", ""), "required": info.is_required()}
    kind = _plain(info.annotation)
    if kind is bool:
        return FormField(name, label, "check", help=shared["help"], required=False)
    if get_origin(kind) is Literal:
        return FormField(name, label, "choice", options=[(str(one), str(one)) for one in get_args(kind)], **shared)
    if kind in (int, float):
        return FormField(name, label, "number", **shared)
    if kind is date:
        return FormField(name, label, longest=10, **shared)
    if kind is str:
        longest = next((rule.max_length for rule in info.metadata if hasattr(rule, "max_length")), 200)
        return FormField(name, label, "text" if longest >= LONG else "line", longest=longest, **shared)
    if _is_texts(kind):
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


def _is_texts(kind: Any) -> bool:
    return get_origin(kind) in (tuple, list) and get_args(kind)[0] is str


def show_settings(settings: BaseModel) -> dict[str, Any]:
    """Return the values of the form's fields."""
    values: dict[str, Any] = {}
    for name, info in type(settings).model_fields.items():
        value = getattr(settings, name)
        kind = _plain(info.annotation)
        if _is_texts(kind):
            values[name] = "\n".join(value)
        elif kind in (str, int, float, date) or get_origin(kind) is Literal:
            values[name] = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        elif kind is bool:
            values[name] = ["yes"] if value else []
        else:
            values[name] = _yaml(settings.model_dump(mode="json", exclude_defaults=False)[name]) if value else ""
    return values


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False))


def dump_campaign(kind: CampaignKind[Any], settings: BaseModel) -> str:
    """Return a campaign as the YAML file from which it can be made again."""
    return _yaml({"kind": kind.name} | settings.model_dump(mode="json"))


def read_settings_form(kind: CampaignKind[Any], given: Mapping[str, Sequence[str]]) -> CampaignSettings:
    """Settings from what was filled in; SettingsError says what is wrong, by field. What is empty has its default."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, info in kind.settings.model_fields.items():
        text = clean("\n".join(given.get(name, ())))
        known = _plain(info.annotation)
        if known is bool:
            values[name] = bool(text)
        elif text and _is_texts(known):
            values[name] = [line.strip() for part in text.split("\n") for line in part.split(",") if line.strip()]
        elif text and (known in (str, int, float, date) or get_origin(known) is Literal):
            values[name] = text
        elif text:
            try:
                values[name] = read_yaml(text, name)
            except InputError as error:
                problems[name] = str(error)
    if problems:
        raise SettingsError("settings", problems)
    return read_settings(kind, values)
