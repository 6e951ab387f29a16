"""Names and columns as a person writes them: `dev,test`, `OURS=THEIRS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mores.errors import ConfigError


def read_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names in a text such as `dev,test`, or in a list."""
    texts = [given] if isinstance(given, str) else given
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def read_columns(given: str | Iterable[str] | Mapping[str, str]) -> dict[str, str]:
    """Return our columns with their names in the file, from texts such as `rating=overall,model=system`."""
    if isinstance(given, Mapping):
        return dict(given)
    columns = {}
    for text in (part for texts in ([given] if isinstance(given, str) else given) for part in texts.split(",")):
        name, sign, theirs = text.partition("=")
        if not sign:
            raise ConfigError(f"{text!r}: expected OURS=THEIRS, for example rating=overall", setting="columns")
        columns[name.strip()] = theirs.strip()
    return columns
