"""Declarations of settings: a setting is a field of a frozen record, with its help, its bounds and where it applies."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

from mores.errors import ConfigError
from mores.settings.forms import Form, form_of

S = TypeVar("S", bound="Settings")
OF_FILES = (".csv", ".html", ".json", ".jsonl", ".md", ".parquet", ".pdf", ".tsv", ".txt", ".xlsx")
"""Endings that only names of files have."""
Place = Literal["file", "folder", "path", "new file", "new folder", "new folder or -", "KIND:path", "path:COLUMN"]
"""What a path names, and whether it must exist; a kind may come before it, or a column after it."""


@dataclass(frozen=True)
class Declared:
    """Everything about a setting besides its name, type and default."""

    help: str
    """One sentence."""
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    """A number that the value must exceed."""
    place: Place | None = None
    choices: Callable[[], Iterable[str]] | None = None
    """The values to choose from, where the type does not tell."""
    metavar: str = ""
    option: str = ""
    """The option's name on the command line, where it differs; several with commas, such as `-k,--claims`."""
    envvar: str = ""
    """An environment variable that the command reads where the option is not given."""
    off: str = ""
    """A flag that sets the value to None, such as `--no-store`."""
    default_text: str = ""
    """The default in words, where None stands for something else."""
    parse: Callable[[Any], Any] | None = None
    """Reads the value from what a command line or a settings file holds."""
    optional_value: Any = None
    """The value of the option without a word after it."""
    result: bool = False
    """Changes the result: what was asked or computed differs, and so does the signature."""
    command: bool = True
    """An option of the command, too; the others are for Python alone."""
    only: tuple[str, ...] = ()
    """The subcommands that have the option; all if empty."""
    code: bool = False
    """May name code that is executed."""


def setting(
    *,
    help: str,  # noqa: A002 - what click calls it
    default: Any = MISSING,
    default_factory: Any = MISSING,
    kw_only: bool = True,
    **declaration: Any,
) -> Any:
    """Declare a setting; the other keywords are the fields of `Declared`."""
    metadata = {"setting": Declared(help, **declaration)}
    if default_factory is not MISSING:
        return field(default_factory=default_factory, kw_only=kw_only, metadata=metadata)
    return field(default=default, kw_only=kw_only, metadata=metadata)


def declared(field: Field[Any]) -> Declared:
    """Return the declaration of a field."""
    found: Declared = field.metadata["setting"]
    return found


class _Factory:
    """Stands for a default that is made for each record."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class _SignatureOf:
    """The signature of a record, as the settings that it takes; it is made when somebody asks."""

    def __get__(self, record: object, kind: type[Settings]) -> inspect.Signature:
        every = sorted(fields(kind), key=lambda entry: bool(entry.kw_only))  # type: ignore[arg-type]
        return inspect.Signature([_parameter(entry) for entry in every], return_annotation=None)


def _parameter(entry: Field[Any]) -> inspect.Parameter:
    default = entry.default if entry.default_factory is MISSING else _FACTORY
    return inspect.Parameter(
        entry.name,
        inspect.Parameter.KEYWORD_ONLY if entry.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=entry.type,
    )


# Subclasses are frozen; mypy would give inherited fields the types that may be given, if it knew (`values.py`).
@dataclass_transform(kw_only_default=True, field_specifiers=(setting,))
class Settings:
    """A record of settings. Subclasses are frozen dataclasses that check their values.

    What `dataclass` would write for each of them, and Python compile at every start, is here once for all.
    """

    table: ClassVar[str] = ""
    """The record's table in settings files."""

    def __init_subclass__(cls, table: str = "") -> None:
        """Make it a dataclass; `table` is its name in settings files."""
        dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=True)(cls)
        if table:
            cls.table = table

    __signature__: ClassVar[Any] = _SignatureOf()

    def __init__(self, *args: Any, **given: Any) -> None:
        entries: tuple[Field[Any], ...] = fields(self)  # type: ignore[arg-type]  # subclasses are dataclasses
        placed = dict(zip((entry.name for entry in entries if not entry.kw_only), args, strict=False))
        values = {entry.name: default_of(entry) for entry in entries} | placed | given
        missing = any(value is MISSING for value in values.values())  # a frame answers `==` with a frame
        if missing or len(values) > len(entries) or len(placed) < len(args) or placed.keys() & given:
            inspect.signature(type(self)).bind(*args, **given)  # which says what is wrong
        vars(self).update(values)
        self.__post_init__()

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def part(self, record: type[S]) -> S:
        """Return the settings of a record that this one builds on."""
        return record(**{entry.name: getattr(self, entry.name) for entry in fields(record)})  # type: ignore[arg-type]

    def changed(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults."""
        values = ((entry, getattr(self, entry.name)) for entry in fields(self))  # type: ignore[arg-type]
        return {entry.name: value for entry, value in values if value != default_of(entry)}

    def __repr__(self) -> str:
        values = (f"{entry.name}={getattr(self, entry.name)!r}" for entry in fields(self) if entry.repr)  # type: ignore[arg-type]
        return f"{type(self).__qualname__}({', '.join(values)})"

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, entry.name) for entry in fields(self) if entry.compare)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __post_init__(self) -> None:
        for entry in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            if "setting" in entry.metadata:
                value = getattr(self, entry.name)
                try:
                    checked = check_value(entry.name, value, declared(entry), form_of(type(self), entry.name))
                except ConfigError as error:
                    error.setting = error.setting or entry.name
                    raise
                if checked is not value:
                    object.__setattr__(self, entry.name, checked)


def settings_of(record: type[Settings]) -> list[Field[Any]]:
    """Return the settings of a record, its own before those of the records that it builds on."""
    entries = {entry.name: entry for entry in fields(record) if "setting" in entry.metadata}  # type: ignore[arg-type]
    names = [name for kind in record.__mro__ for name in inspect.get_annotations(kind) if name in entries]
    return [entries[name] for name in dict.fromkeys(names)]


def default_of(entry: Field[Any]) -> Any:
    """Return the default of a field; MISSING where a value must be given."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def describe_default(default: Any) -> str:
    """Return a default as a person would give it."""
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return f"{default:g}" if isinstance(default, float) else str(default)


def check_place(name: str, value: Path | str, place: Place) -> Path | str:
    """Return a path as such; ConfigError where a folder would be made whose name is that of a file."""
    if str(value) == "-" or ":" in place:
        return value
    path = Path(value)
    if place.startswith("new folder") and path.suffix in OF_FILES and not path.exists():
        fix = f"give a name without {path.suffix}; the files in it have names of their own"
        raise ConfigError(f"{path}: a folder will be made here, and its name is that of a file; {fix}", setting=name)
    return path if isinstance(value, str) else value


def check_value(name: str, value: Any, about: Declared, form: Form) -> Any:
    """Return the value in its usual form; ConfigError where it is out of bounds or not one of the choices."""
    if about.parse and value is not None and isinstance(value, str | list | tuple | dict):
        return about.parse(value)
    if form.several and not isinstance(value, dict):
        several = (
            () if value is None else (value,) if isinstance(value, str) or not isinstance(value, Iterable) else value
        )
        return tuple(Path(each) if about.place and isinstance(each, str) else each for each in several)
    if about.place and isinstance(value, str | Path):
        return check_place(name, value, about.place)
    if isinstance(value, int | float) and not isinstance(value, bool) and form.number:
        if not math.isfinite(value) or (form.number is int and value != int(value)):
            raise ConfigError(f"{name} is {value}; expected a {form.noun}", setting=name)
        low, above, high = about.at_least, about.above, about.at_most
        if low is not None and value < low:
            raise ConfigError(f"{name} is {value}; expected at least {low:g}", setting=name)
        if above is not None and value <= above:
            raise ConfigError(f"{name} is {value}; expected more than {above:g}", setting=name)
        if high is not None and value > high:
            raise ConfigError(f"{name} is {value}; expected at most {high:g}", setting=name)
    elif isinstance(value, str) and form.words and not form.text and value not in form.words:
        raise ConfigError(f"{name} is {value!r}; expected {form.expected}", setting=name)
    return value
