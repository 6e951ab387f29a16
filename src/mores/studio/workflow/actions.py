"""The actions of people and models on an item."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from mores.studio.records import Content


class Action:
    """Something that a person or a model does to an item."""


@dataclass(frozen=True)
class Create(Action):
    """A person begins an item."""

    item: str
    content: Content
    region: str = ""
    language: str = ""
    stage: str = ""
    """The first one, unless the organiser imports further along."""
    check: Content | None = None
    """The known answer of an attention check."""
    since: datetime | None = None
    """When the author opened the empty form, by the server's clock."""


@dataclass(frozen=True)
class Revise(Action):
    """The author changes the item: a new version."""

    content: Content
    region: str = ""
    language: str = ""


@dataclass(frozen=True)
class Submit(Action):
    """The author sends the item on, with its last changes."""

    content: Content
    seconds: float = 0.0
    region: str = ""
    language: str = ""


@dataclass(frozen=True)
class Take(Action):
    """A person gets the item to work on."""


@dataclass(frozen=True)
class Release(Action):
    """The person gives the item back; with a reason they cannot judge it and do not get it again.

    Without a person who acts, everybody who kept it too long gives it back, or the one that `of` names.
    """

    reason: str = ""
    of: str = ""


@dataclass(frozen=True)
class Cast(Action):
    """A person answers the stage's form."""

    answer: Content
    seconds: float = 0.0
    comment: str = ""
    """What the person wants to tell the organiser."""
    order: tuple[str, ...] = ()
    """The blocks of the form as the person saw them."""
    offline: float = 0.0
    """Seconds that the answer waited on the person's device."""


@dataclass(frozen=True)
class Step(Action):
    """A person answers one step of the stage's form; the last one is `Cast`."""

    step: int
    answer: Content
    seconds: float = 0.0
    order: tuple[str, ...] = ()
    """The blocks of the form as the person saw them."""


@dataclass(frozen=True)
class AskModel(Action):
    """A person asks the campaign's model."""

    ask: str
    task: str
    data: Content = field(default_factory=dict)


@dataclass(frozen=True)
class Answered(Action):
    """A model answers, or fails to."""

    ask: str
    answer: Content | None
    failure: str = ""
    usage: Content = field(default_factory=dict)
    """Tokens, and dollars where the price is known."""


@dataclass(frozen=True)
class AskAgain(Action):
    """The organiser has models asked again what they could not answer."""


@dataclass(frozen=True)
class Adjudicate(Action):
    """The organiser decides in place of the votes."""

    outcome: Literal["next", "back", "rejected"]
    note: str = ""
    result: Content = field(default_factory=dict)
    to: str = ""
    """The stage to go to, where it is not the usual one."""


@dataclass(frozen=True)
class Reconsider(Action):
    """The organiser has changed the settings: what waits is decided again by the answers that it has."""


@dataclass(frozen=True)
class Recheck(Action):
    """The organiser has drawn an accepted item: someone else judges it once more."""


@dataclass(frozen=True)
class Withdraw(Action):
    """The author or the organiser takes the item out."""

    reason: str = ""
