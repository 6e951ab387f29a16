"""The stages of a campaign, as far as the rules need to know them, and what a stage decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from mores.errors import MoresError
from mores.studio.form import StudioForm, read_form
from mores.studio.records import CampaignItem, Content, Role


class Refused(MoresError):  # noqa: N818 - reads as what it is: `except Refused`
    """The rules do not allow an action; the message says why, to the person."""


class Unknown(Refused):
    """There is no such thing, or not for this person, which looks the same."""


@dataclass(frozen=True)
class StageDecision:
    """The conclusion of a stage about an item."""

    outcome: Literal["next", "back", "rejected"]
    note: str = ""
    """Why, for the author and the history."""
    result: Content = field(default_factory=dict)
    """What the stage found out; kept in `CampaignItem.results`."""
    to: str = ""
    """The stage to go to, where it is not the usual one."""
    content: Content | None = None
    """The item as a reviewer revised it."""
    region: str = ""
    """The item's region, where the stage corrects it."""


@dataclass(frozen=True)
class ModelQuestion:
    """Something to ask a model about an item."""

    task: str
    model: str = ""
    """Empty for the campaign's own model; without one it is not asked."""
    sample: int = 0
    data: Content = field(default_factory=dict)


@dataclass(frozen=True)
class CampaignStage:
    """One step of an item's way: who works on it, how many of them, what they fill in, and what follows."""

    name: str
    title: str
    role: Role | None
    """None where only models work; the organiser decides in place of a vote where it is theirs."""
    form: Callable[[CampaignItem], StudioForm]
    """What a person fills in; it may depend on the item."""
    decide: Callable[[CampaignItem], StageDecision | None]
    """What follows from the votes and answers so far; None while more are needed."""
    own: bool = False
    """The author works on their own item here; others only where an item has no author."""
    people: Callable[[CampaignItem], int] = lambda _item: 1
    """How many people's answers are needed, given those so far."""
    regional: bool = False
    """Only people from the item's region."""
    speaking: bool = False
    """Only people who know the item's language."""
    others: bool = False
    """Only people who have not answered about the item at an earlier stage."""
    hold: timedelta = timedelta(hours=24)
    """How long a person keeps an item before it is given to another."""
    send: str = "Send"
    """What the button says with which an author sends the item on."""
    tasks: frozenset[str] = frozenset()
    """What a person may ask a model here."""
    opening: str = ""
    """The one of them that is asked in the author's name as soon as they bring the item here."""
    questions: Callable[[CampaignItem], Sequence[ModelQuestion]] = lambda _item: ()
    """What models should have been asked by now: when an item arrives, and again after each answer.

    The same task, model and sample is asked once about a version; what is in the list already is not asked again.
    """
    sample: int = 0
    """Only a sample of the accepted items comes here, when the organiser draws it: how many are offered to be drawn.

    Who judged an item before does not get it here.
    """
    back: str = ""
    """Where an item goes when it is returned; the first stage where this is empty."""
    adjudge: Callable[[CampaignItem, Content], Content] | None = None
    """The stage's result where an organiser fills in its form in place of the votes; None where they need not."""

    def decision_form(self, item: CampaignItem) -> StudioForm | None:
        """Return what an organiser fills in when they let an item go on; None where there is nothing to fill in."""
        return self.form(item) if self.role is Role.ORGANISER or self.adjudge else None

    def read_decision(self, item: CampaignItem, outcome: str, values: Mapping[str, Sequence[str]]) -> Content:
        """Return the stage's result as the organiser filled it in; FormError says what is missing."""
        if outcome not in ("next", "back", "rejected"):
            raise Refused("Choose what shall happen to the item.")
        form = self.decision_form(item) if outcome == "next" else None
        answer = read_form(form, values) if form else {}
        return self.adjudge(item, answer) if form and self.adjudge else answer


@dataclass(frozen=True)
class Flow:
    """A campaign, as far as the rules need to know it."""

    campaign: str
    stages: tuple[CampaignStage, ...]
    model: str = ""
    """The model that answers what people ask; empty without one."""
    budget: int = 30
    """The most questions to a model that an author may ask about one item."""
    open: bool = True
    skills: Mapping[str, float] = field(default_factory=dict)
    """How often each person's answers are correct, where that is known."""
    named: Mapping[str, CampaignStage] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", {stage.name: stage for stage in self.stages})

    def stage(self, name: str) -> CampaignStage:
        """Return the stage of that name."""
        return self.named[name]

    def place(self, name: str) -> int:
        """Return which stage in order it is, from 0."""
        return self.stages.index(self.named[name])

    def after(self, name: str) -> CampaignStage | None:
        """Return the stage that follows; None after the last. Stages of a sample follow none."""
        return next((stage for stage in self.stages[self.place(name) + 1 :] if not stage.sample), None)

    @property
    def sampling(self) -> CampaignStage | None:
        """The stage at which a sample of the accepted items is judged once more; None where there is none."""
        return next((stage for stage in self.stages if stage.sample), None)
