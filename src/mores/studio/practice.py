"""Practice and qualification: items with known answers, which are shown after; a share of them must be correct."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mores.studio.form import matches
from mores.studio.kind import CampaignSettings, Practice
from mores.studio.records import Content


@dataclass(frozen=True)
class QualificationTest:
    """How far one person is with a campaign's practice items."""

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
        """How many items there are."""
        return len(self.items)

    @property
    def following(self) -> int | None:
        """The number of the next item; None after the last."""
        return next((number for number in range(self.asked) if number not in self.done), None)

    @property
    def finished(self) -> bool:
        """Whether every item is answered."""
        return self.following is None

    def is_correct(self, number: int) -> bool:
        """Return whether one answer is correct."""
        return matches(self.done[number], self.items[number].answer)

    @property
    def correct(self) -> int:
        """How many answers are correct."""
        return sum(map(self.is_correct, self.done))

    @property
    def passed(self) -> bool:
        """Whether the test is finished and good enough."""
        return self.finished and bool(self.correct >= self.needed * self.asked)

    def answer(self, number: int, answer: Content) -> QualificationTest:
        """Return the test with one more answer; the first answer to an item counts."""
        return (
            self if number in self.done else QualificationTest(self.items, self.needed, {**self.done, number: answer})
        )

    def kept(self) -> dict[str, Content]:
        """Return the answers, as the store keeps them."""
        return {str(number): answer for number, answer in self.done.items()}
