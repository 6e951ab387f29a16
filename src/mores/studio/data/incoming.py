"""What comes into a campaign from a file, before the campaign's rules have looked at it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from mores.studio.records import Content


class Answer(NamedTuple):
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
    answers: tuple[Answer, ...] = ()


def read_time(value: object) -> datetime | None:
    """A time, from ISO text or seconds since 1970; None where it is neither."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return read if read.tzinfo else read.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
