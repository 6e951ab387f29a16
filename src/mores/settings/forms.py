"""The values that the type of a setting allows: flags, numbers, words, paths, texts, several of them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin


@dataclass(frozen=True)
class Form:
    """The values that a type allows."""

    flag: bool = False
    number: type[int] | type[float] | None = None
    words: tuple[str, ...] = ()
    """The words of a `Literal`."""
    text: bool = False
    """Any text, such as a name or a path."""
    several: bool = False
    none: bool = False
    """None is one of the values."""
    table: bool = False
    """A mapping."""

    @property
    def noun(self) -> str:
        """The value in words."""
        if self.number:
            return "whole number" if self.number is int else "number"
        return "true or false" if self.flag and not self.text else "table" if self.table else "text"

    @property
    def expected(self) -> str:
        """The values in words, for a message."""
        noun = [f"a {self.noun}"] if self.number or self.text else ["true", "false"] if self.flag else []
        *first, last = [*noun, *self.words] or ["a list" if self.several else f"a {self.noun}"]
        return f"{', '.join(first)} or {last}" if first else last


class _Object:
    """Stands for a class of ours that a value may be an instance of; from the command line it comes as text."""


class _Names(dict[str, Any]):
    """The names in annotations. A class that is only imported for type checkers is an object of its own."""

    def __missing__(self, name: str) -> Any:
        return _Object


def form_of(record: type, name: str) -> Form:
    """Return the form of a record's field, from its annotation, without importing what only type checkers need."""
    if (record, name) not in _FORMS:
        _FORMS[record, name] = _read_form(record, name)
    return _FORMS[record, name]


_FORMS: dict[tuple[type, str], Form] = {}


def _read_form(record: type, name: str) -> Form:
    owner = next(kind for kind in record.__mro__ if name in inspect.get_annotations(kind))
    known = {
        **{builtin.__name__: builtin for builtin in (str, int, float, bool, dict, tuple, list, object)},
        **vars(sys.modules[owner.__module__]),
        "Path": Path,
        "Sequence": Sequence,
        "Iterable": Iterable,
        "Mapping": Mapping,
        "Literal": Literal,
        "Any": str,
    }
    parts = list(_parts(eval(inspect.get_annotations(owner)[name], {"__builtins__": {}}, _Names(known))))
    numbers = [part for part in parts if part in (int, float)]
    several = any(
        get_origin(part) in (Sequence, list) or (get_origin(part) is tuple and ... in get_args(part)) for part in parts
    )
    words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
    return Form(
        flag=bool in parts,
        number=float if float in numbers else int if numbers else None,
        words=words,
        text=any(part in (str, Path, _Object) or get_origin(part) is Iterable for part in parts) and not several,
        several=several,
        none=NoneType in parts,
        table=any(Mapping in (part, get_origin(part)) for part in parts),
    )


def _parts(annotation: Any) -> Iterable[Any]:
    """Yield the members of a union, however deep."""
    if get_origin(annotation) in (UnionType, Union):
        for part in get_args(annotation):
            yield from _parts(part)
    else:
        yield annotation
