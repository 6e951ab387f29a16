"""The studio's records; read this page first.

Campaign ── Stage ── Item ── Event
Person ── Hold (an item that waits for this person's answer) ── Vote

An event says who did what to an item, and when. Events are only ever added. A `CampaignItem` is what its
events add up to (`workflow.apply`), and every table that a page reads is made from items and can be made again.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from mores.studio.phrase import Phrase, Said
from mores.types import Record

Content = dict[str, Any]
"""What people wrote, by the fields of a form."""


class Role(StrEnum):
    """The role of a person in one campaign."""

    ORGANISER = "organiser"
    AUTHOR = "author"
    VERIFIER = "verifier"
    INSPECTOR = "inspector"
    ANNOTATOR = "annotator"


class EventKind(StrEnum):
    """The type of an event of an item."""

    CREATED = "created"
    EDITED = "edited"
    """A new version; votes belong to a version."""
    ASKED_MODEL = "asked_model"
    MODEL_ANSWERED = "model_answered"
    SUBMITTED = "submitted"
    STEPPED = "stepped"
    """A person answered one step of a form; it cannot be changed after."""
    VOTED = "voted"
    RETURNED = "returned"
    ADVANCED = "advanced"
    REJECTED = "rejected"
    ADJUDICATED = "adjudicated"
    ASSIGNED = "assigned"
    RELEASED = "released"
    EXPORTED = "exported"
    WITHDRAWN = "withdrawn"


class ItemStatus(StrEnum):
    """The state of an item."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class PersonStanding(Record):
    """A person's qualifications when they acted; later changes of their profile leave them as they were."""

    roles: tuple[Role, ...] = ()
    regions: tuple[str, ...] = ()
    """Where both nationality and home before 18 were."""
    languages: tuple[str, ...] = ()
    link: str = ""
    """The invitation by which they joined; empty where there was none."""
    source: Literal["profile", "upgrade", "import"] = "profile"
    """`upgrade`: as the profile was when the studio began to keep this. `import`: from a file; nothing is known."""


class Event(Record):
    """An event: who did what to an item, and when."""

    key: str
    """Made by the sender: the same key a second time changes nothing."""
    at: datetime
    campaign: str
    item: str
    stage: str
    kind: EventKind
    person: str | None = None
    """None where the rules or a model did it."""
    payload: Content = Field(default_factory=dict)
    standing: PersonStanding | None = None
    """Who the person was, where they wrote, judged or decided."""


class ItemVote(Record):
    """One person's answer about one version of an item."""

    person: str
    stage: str
    version: int
    answer: Content
    at: datetime
    seconds: float = 0.0
    comment: str = ""
    """What the person wants to tell the organiser."""
    order: tuple[str, ...] = ()
    """The blocks of the form as the person saw them, from the first; empty where that is not known."""
    skill: float | None = None
    """How often this person's answers were correct until then, where it was known."""
    taken: datetime | None = None
    """When the person got the item, by the server's clock."""
    offline: float = 0.0
    """Seconds that the answer waited on the person's device, as the device counted them."""
    standing: PersonStanding | None = None
    """Who the person was then."""

    @property
    def span(self) -> float | None:
        """Seconds from getting the item to answering, by the server's clock, without those offline."""
        if self.taken is None:
            return None
        return max((self.at - self.taken).total_seconds() - self.offline, 0.0)


class Begun(Record):
    """The steps of a form that one person has answered about one version of an item."""

    person: str
    stage: str
    version: int
    step: int
    """The last step that is answered."""
    answer: Content
    seconds: float = 0.0


class Hold(Record):
    """An item that waits for one person's answer until a time."""

    person: str
    stage: str
    until: datetime
    taken: datetime | None = None
    """When it was given to them."""


class StagePassage(Record):
    """An item's leaving a stage."""

    stage: str
    to: str = ""
    """The stage that it went to; empty where it was decided."""
    outcome: Literal["next", "back", "rejected"]
    organiser: bool = False
    """An organiser decided in place of the rules."""
    version: int
    votes: int = 0
    """Answers that the stage had about this version."""


class Ask(Record):
    """One question to a model about an item."""

    id: str
    task: str
    """Its name in the campaign's kind."""
    stage: str = ""
    """Where it was asked."""
    model: str
    sample: int = 0
    """Which of several answers to the same question."""
    version: int = 1
    data: Content = Field(default_factory=dict)
    """What the person gave with it."""
    attempt: int = 0
    """How often it was asked before, without an answer that could be used."""
    person: str | None = None
    answer: Content | None = None
    failure: str = ""
    usage: Content = Field(default_factory=dict)
    """Tokens as the server counted them, and dollars where the price is known."""

    @property
    def waiting(self) -> bool:
        """True if the model has not answered yet."""
        return self.answer is None and not self.failure

    @property
    def excuse(self) -> str:
        """The failure as authors may see it: without what could name the model or its server."""
        return f"{self.failure.partition(':')[0]}." if self.failure else ""

    @property
    def explained(self) -> str:
        """The failure as organisers see it: what went wrong, and what the model or its server said."""
        reason = self.failure.partition(":")[2].strip()
        return (
            Phrase("{excuse} ({reason})", excuse=Phrase(self.excuse), reason=Phrase(reason)) if reason else self.excuse
        )


class CampaignItem(Record):
    """The present state of something that people and models make or judge."""

    id: str
    campaign: str
    author: str | None
    """None for an item that was imported."""
    content: Content
    stage: str
    status: ItemStatus = ItemStatus.OPEN
    version: int = 1
    region: str = ""
    language: str = ""
    note: Said = ""
    """Why it was returned or rejected."""
    votes: tuple[ItemVote, ...] = ()
    """All, also those about earlier versions."""
    begun: tuple[Begun, ...] = ()
    """Answers in steps, as far as they have come; they stay when the last step has made them a vote."""
    holds: tuple[Hold, ...] = ()
    declined: tuple[tuple[str, str], ...] = ()
    """Person and stage: who could not judge it there."""
    asks: tuple[Ask, ...] = ()
    check: Content | None = None
    """The known answer of an attention check, which everybody gets and nothing decides."""
    results: dict[str, Content] = Field(default_factory=dict)
    """What each stage decided, by its name."""
    returns: int = 0
    """How often it was sent back."""
    adjudicated: tuple[tuple[str, int], ...] = ()
    """Stages and versions at which an organiser decided in place of the votes."""
    path: tuple[StagePassage, ...] = ()
    """Every stage that it left, in order, and by whose decision."""
    deciding: bool = False
    """The last event was an organiser's decision; what follows from it is theirs."""
    edited: int = 1
    """The version that a person wrote last; a stage may have made later ones."""
    standing: PersonStanding | None = None
    """Who the author was when they began it."""
    created: datetime
    updated: datetime

    def votes_at(self, stage: str) -> list[ItemVote]:
        """Return the votes of a stage about the present version."""
        return [vote for vote in self.votes if vote.stage == stage and vote.version == self.version]

    def begun_by(self, person: str) -> Begun | None:
        """Return the steps that a person has answered at the present stage, about the present version."""
        place = (person, self.stage, self.version)
        return next((begun for begun in self.begun if (begun.person, begun.stage, begun.version) == place), None)

    def asks_of(self, task: str) -> list[Ask]:
        """Return the questions of one task about the present version; of one that was asked again, only the last."""
        return [ask for ask in self.asks_now if ask.task == task]

    @property
    def asks_now(self) -> list[Ask]:
        """The questions about the present version; of one that was asked again, only the last."""
        last: dict[tuple[str, str, int] | str, Ask] = {}
        for ask in self.asks:
            if ask.version == self.version:
                last[(ask.task, ask.model, ask.sample) if ask.person is None else ask.id] = ask
        return list(last.values())

    @property
    def failed(self) -> list[Ask]:
        """The questions of the present stage about the present version that no model could answer."""
        return [ask for ask in self.asks_now if ask.person is None and ask.failure and ask.stage == self.stage]


class Person(Record):
    """Someone in one campaign, as far as the rules need to know them."""

    id: str
    roles: frozenset[Role]
    regions: frozenset[str] = frozenset()
    """Where both nationality and home before 18 lie: CulturalBench's criterion."""
    languages: frozenset[str] = frozenset()
    qualified: bool = True
    """False until the campaign's qualification test is passed."""
    left: int | None = None
    """How many more items they may begin, while the organiser has not let them go on after the pilot."""
    link: str = ""
    """The invitation by which they joined."""
    imported: bool = False
    """They stand for somebody in a file, of whom nothing is known."""

    @property
    def standing(self) -> PersonStanding:
        """The facts about them now, to be kept with what they do."""
        roles = tuple(role for role in Role if role in self.roles)
        if self.imported:
            return PersonStanding(roles=roles, source="import")
        known = {"regions": tuple(sorted(self.regions)), "languages": tuple(sorted(self.languages))}
        return PersonStanding(roles=roles, link=self.link, **known)
