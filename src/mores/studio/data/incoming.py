"""Rows of a file that come into a campaign, before the campaign's rules have looked at them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from mores.errors import InputError
from mores.studio.form import storable_values
from mores.studio.progress import STOPPING, report
from mores.studio.records import Content

METADATA = "metadata"
"""The field of an item's content that keeps the columns of its row that the campaign does not read."""


def check_stopping(place: str) -> None:
    """Raise where the job is cancelled, or InputError where the server is told to stop."""
    report()
    if STOPPING.is_set():
        report()  # a job may have been told only now: it goes on at the next start
        raise InputError(f"{place}: the server is stopping; import the file again when it is back")


class ImportedAnswer(NamedTuple):
    """Somebody's answer about an item, given elsewhere."""

    person: str
    """A name that tells them from the others; never an address."""
    answer: Content
    seconds: float = 0.0
    at: datetime | None = None


class Incoming(NamedTuple):
    """An item that comes from a file."""

    place: str
    """Where it stands, for messages: `items.csv:17`."""
    content: Content
    region: str = ""
    language: str = ""
    answers: tuple[ImportedAnswer, ...] = ()
    id: str = ""
    """Its name in the file, where it has one."""
    metadata: Mapping[str, Any] = {}
    """What its row has in columns that the campaign does not read; nobody who judges sees it."""

    def apart(self) -> Incoming:
        """Return it with the metadata that its content has, as in our exports, beside the content."""
        if not isinstance(kept := self.content.get(METADATA), dict):
            return self
        content = {name: value for name, value in self.content.items() if name != METADATA}
        return self._replace(content=content, metadata=kept | dict(self.metadata))

    def shared(self, other: Incoming) -> dict[str, Any]:
        """Return what another row's other columns say too: what holds for both."""
        return {name: value for name, value in self.metadata.items() if other.metadata.get(name) == value}


def read_json(text: str, place: str) -> Any:
    """Return the value of a JSON text; InputError says where it cannot be read.

    Texts lose what no database can hold.
    """

    def refuse(name: str) -> float:
        raise ValueError(f"{name} is not a number")

    def read_number(written: str) -> float:
        value = float(written)
        return value if math.isfinite(value) else refuse(written[:40])

    try:
        return storable_values(json.loads(text, parse_constant=refuse, parse_float=read_number))
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    except json.JSONDecodeError as error:
        where = f"{place}:{error.lineno}" if error.lineno > 1 else place
        raise InputError(f"{where}: not valid JSON ({error.msg} at column {error.colno})") from error
    except ValueError as error:
        raise InputError(f"{place}: not valid JSON ({error})") from error
    except RecursionError as error:
        raise InputError(f"{place}: it is nested too deep") from error


def read_time(value: object) -> datetime | None:
    """Return a time, from ISO text or seconds since 1970; None where it is neither."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return read if read.tzinfo else read.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
