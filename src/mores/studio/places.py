"""Regions and languages that people write; what is not known is said in the reader's language."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mores.culture import language, region
from mores.culture.regions import UnknownName
from mores.errors import InputError
from mores.studio.phrase import Phrase


def read_regions(values: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of regions, each once; InputError names the first that is not known."""
    return _read(region, values)


def read_languages(values: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of languages, each once; InputError names the first that is not known."""
    return _read(language, values)


def _read(read: Callable[[str], str], values: Iterable[str]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(read(value) for value in values if value.strip()))
    except UnknownName as error:
        if not error.near:
            template = "“{name}” is not known. Write it in English, or the code."
            raise InputError(Phrase(template, name=error.value)) from error
        template = "“{name}” is not known. Did you mean {suggestion}?"
        raise InputError(Phrase(template, name=error.value, suggestion=", ".join(error.near))) from error
