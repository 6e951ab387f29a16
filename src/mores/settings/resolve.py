"""From what a person gave to a record of settings: what is given, then the settings files, then the defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

from mores.errors import ConfigError, suggest
from mores.settings.declare import Declared, Settings, declared, default_of, settings_of
from mores.settings.files import ModelConfiguration, ModelFacts, SettingsFile, settings_files
from mores.settings.forms import Form, form_of
from mores.settings.values import GIVEN

P = ParamSpec("P")
S = TypeVar("S", bound=Settings)
R = TypeVar("R")
SAMPLING = ("temperature", "max_tokens", "seed", "price")
"""What a named configuration sets in the record of settings itself, where it has such a field."""


class Value(NamedTuple):
    """The value of a setting, and where it comes from."""

    name: str
    value: Any
    origin: str
    """`given`, a file with its table, or `default`."""


def takes(record: Callable[P, S]) -> Callable[[Callable[[S], R]], Callable[P, R]]:
    """Let a function that takes a record of settings take its fields as arguments, and read settings files."""
    kind = cast("type[Settings]", record)

    def decorate(function: Callable[[S], R]) -> Callable[P, R]:
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def call(*args: Any, **given: Any) -> Any:
                return await function(cast("Any", resolve(kind, *args, **given)))
        else:

            @wraps(function)
            def call(*args: Any, **given: Any) -> Any:
                return function(cast("Any", resolve(kind, *args, **given)))

        returns = inspect.signature(function).return_annotation
        described = inspect.signature(kind)
        shown = [
            each.replace(annotation=GIVEN.get(each.annotation, each.annotation))
            for each in described.parameters.values()
        ]
        described = described.replace(parameters=shown, return_annotation=returns)
        vars(call).update(__signature__=described, settings=kind, takes_record=function)
        vars(call).pop("__wrapped__")
        lines = (f"{entry.name}: {declared(entry).help}" for entry in settings_of(kind))
        call.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\n" + "\n".join(lines)
        return cast("Callable[P, R]", call)

    return decorate


def apply(function: Callable[..., R], settings: Settings) -> R:
    """Call a function that `takes` fields with the record itself."""
    called: Callable[[Settings], R] = vars(function)["takes_record"]
    return called(settings)


def resolve(record: type[S], /, *args: Any, **given: Any) -> S:
    """Return the record of what is given, with the settings files and the defaults for the rest."""
    names = [entry.name for entry in fields(record)]  # type: ignore[arg-type]  # subclasses are dataclasses
    if unknown := next((name for name in given if name not in names), None):
        raise TypeError(f"unexpected option {unknown!r}; {suggest(unknown, names)}there are {', '.join(names)}")
    positional = [entry.name for entry in fields(record) if not entry.kw_only]  # type: ignore[arg-type]
    if len(args) > len(positional) and form_of(record, positional[-1]).several:  # one after the other, as in a list
        args = (*args[: len(positional) - 1], args[len(positional) - 1 :])
    bound = inspect.signature(record).bind_partial(*args, **given).arguments
    values = {entry.name: entry.value for entry in resolve_values(record, bound) if entry.origin != "default"}
    return record(**values)


def resolve_values(record: type[Settings], given: Mapping[str, Any]) -> list[Value]:
    """Return every setting of a record with its value and origin."""
    config = given.get("config")
    files = settings_files(config)
    layers: list[tuple[str, Mapping[str, Any]]] = [
        (f"{file.path} [{table}]", read_table(file, table, record)) for file in files for table in tables_of(record)
    ]
    model = next((each["model"] for _, each in [("", given), *layers] if "model" in each), None)
    if isinstance(model, str) and (found := find_configuration(model, config)):
        file, configured = found
        chosen = {name: getattr(configured, name) for name in SAMPLING if getattr(configured, name) is not None}
        layers.insert(0, (f"{file.path} [models.{model}]", chosen))
    layers.insert(0, ("given", given))
    values = []
    for entry in settings_of(record):
        origin, table = next(((origin, table) for origin, table in layers if entry.name in table), ("default", None))
        values.append(Value(entry.name, default_of(entry) if table is None else table[entry.name], origin))
    return values


def tables_of(record: type[Settings]) -> list[str]:
    """Return the tables of a settings file that a record reads, its own before those of the records it builds on."""
    return [table for kind in record.__mro__ if (table := vars(kind).get("table"))]


def read_table(file: SettingsFile, table: str, record: type[Settings]) -> dict[str, Any]:
    """Return the values of a file's table for a record; ConfigError where one is of another type."""
    known = {entry.name: declared(entry) for entry in settings_of(record)}
    return {
        name: read_value(value, known[name], form_of(record, name), f"{file.path}: [{table}] {name}")
        for name, value in file.table(table).items()
        if name in known
    }


def read_value(value: Any, about: Declared, form: Form, place: str) -> Any:
    """Return a value of a settings file; ConfigError where it is of another type than the setting."""
    if about.parse and isinstance(value, str):
        try:
            return about.parse(value)
        except ConfigError as error:
            raise ConfigError(f"{place}: {error}", setting="config") from error
    if isinstance(value, str) and form.none and value == "none" and not form.text:
        return None
    fits = (
        (isinstance(value, bool) and form.flag)
        or (isinstance(value, int | float) and not isinstance(value, bool) and form.number is not None)
        or (isinstance(value, str) and (form.text or value in form.words or form.several))
        or (isinstance(value, list) and (form.several or about.parse is not None))
        or (isinstance(value, dict) and form.table)
    )
    if not fits:
        raise ConfigError(f"{place}: {value!r}; expected {form.expected}", setting="config")
    return tuple(value) if isinstance(value, list) else value


def find_configuration(name: str, config: Any) -> tuple[SettingsFile, ModelConfiguration] | None:
    """Return the named configuration of a model and its file; None where no settings file has one of this name."""
    for file in settings_files(config):
        if (table := file.table("models").get(name)) is None:
            continue
        place = f"{file.path}: [models.{name}]"
        values = read_values(ModelConfiguration, table, place)
        if "model" not in values:
            raise ConfigError(f'{place}: no model; write model = "openai:NAME"', setting="config")
        facts = ModelFacts(**read_values(ModelFacts, values.get("facts", {}), f"{place} facts"))
        return file, ModelConfiguration(**values | {"facts": facts.shown()})
    return None


def read_values(record: type[Settings], table: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the values of a table that may have no other settings than a record's; ConfigError where one is wrong."""
    known = {entry.name: declared(entry) for entry in settings_of(record)}
    if unknown := next((key for key in table if key not in known), None):
        hint = f"{suggest(unknown, known)}there are {', '.join(known)}"
        raise ConfigError(f"{place}: unknown setting {unknown}; {hint}", setting="config")
    return {key: read_value(value, known[key], form_of(record, key), f"{place} {key}") for key, value in table.items()}
