"""Practice and qualification: items with known answers, which are shown after; a share of them must be correct."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mores.studio.form import matches
from mores.studio.kind import CampaignSettings, Practice
from mores.studio.records import CampaignItem, Content, Person
from mores.studio.store.items import Campaign
from mores.studio.workflow import CampaignStage, Flow, Unknown, is_judged


@dataclass(frozen=True)
class QualificationTest:
    """The progress of one person with a campaign's practice items."""

    items: tuple[Practice, ...]
    needed: float
    """The share that must be correct; 0 where it is only practice."""
    done: Mapping[int, Content] = field(default_factory=dict)
    """The answers so far, by the number of the item."""

    @classmethod
    def read(cls, settings: CampaignSettings, kept: Mapping[str, Any]) -> QualificationTest:
        """Return a person's test, as the store keeps it."""
        done = {int(number): answer for number, answer in kept.items() if int(number) < len(settings.practice)}
        return cls(settings.practice, settings.pass_share, done)

    @property
    def asked(self) -> int:
        """The number of items."""
        return len(self.items)

    @property
    def following(self) -> int | None:
        """The number of the next item; None after the last."""
        return next((number for number in range(self.asked) if number not in self.done), None)

    @property
    def finished(self) -> bool:
        """True if every item is answered."""
        return self.following is None

    def is_correct(self, number: int) -> bool:
        """Return whether one answer is correct."""
        return matches(self.done[number], self.items[number].answer)

    @property
    def correct(self) -> int:
        """The number of correct answers."""
        return sum(map(self.is_correct, self.done))

    @property
    def passed(self) -> bool:
        """True if the test is finished and good enough."""
        return self.finished and bool(self.correct >= self.needed * self.asked)

    @property
    def qualifies(self) -> bool:
        """True if the person may work; practice alone asks for nothing."""
        return self.passed or not self.needed

    def answer(self, number: int, answer: Content) -> QualificationTest:
        """Return the test with one more answer; the first answer to an item counts."""
        return replace(self, done={number: answer, **self.done})

    def kept(self) -> dict[str, Content]:
        """Return the answers, as the store keeps them."""
        return {str(number): answer for number, answer in self.done.items()}


def practised_stage(flow: Flow, person: Person) -> CampaignStage:
    """Return the stage whose form is practised: the first at which people judge, their own where they have one."""
    stages = [stage for stage in flow.stages if is_judged(stage)]
    mine = [stage for stage in stages if stage.role in person.roles]
    if not stages:
        raise Unknown("There is nothing to judge at this stage.")
    return (mine or stages)[0]


def make_practice_item(campaign: Campaign, stage: CampaignStage, test: QualificationTest, number: int) -> CampaignItem:
    """Return a practice item as the stage's form wants it."""
    practice = test.items[number]
    place = {"id": f"practice-{number}", "region": practice.region, "language": practice.language}
    return campaign.blank(stage.name, practice.content, **place)
