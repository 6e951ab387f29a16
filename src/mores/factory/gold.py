"""The output of the data factory: a sample with its gold error report, and where both come from."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from mores.factory.items import Task
from mores.types import ErrorReport, Record, Sample, Severity

Kind = Literal["correct", "hard", "soft"]


class Mistake(NamedTuple):
    """One error in a text: which words of it are wrong, how badly, and why."""

    start: int
    """Half-open, in code points of the text."""
    end: int
    rule: str
    """Who made it, for example `numbers`."""
    severity: Severity
    type: str
    explanation: str
    """Names the wrong words as they stand in the text."""


class ChangedText(NamedTuple):
    """A correct text into which errors were put."""

    answer: str
    """The changed text."""
    correct: str
    """The text before."""
    mistakes: tuple[Mistake, ...]
    """In order, apart from each other."""

    @property
    def rule(self) -> str:
        """The rules that made it, for example `numbers` or `numbers+swap`."""
        return "+".join(sorted({mistake.rule for mistake in self.mistakes}))


class Original(Record):
    """A pair before an error was put into it."""

    instruction: str
    text: str


class Gold(Record):
    """One instruction-text pair of a built dataset."""

    sample: Sample
    report: ErrorReport
    """Without errors for a correct pair."""
    task: Task
    kind: Kind
    """Correct, a wrong answer that the source gave (hard), or an error that was made (soft)."""
    maker: str
    """`source`, `rule:NAME` (`rule:NAME+NAME` where several rules made errors) or `model:NAME`."""
    answer: str | None = None
    """What should have been said, where a wrong answer of the source was said instead."""
    original: Original | None = Field(None, exclude_if=lambda original: original is None)
    """Of a soft error: the pair that it was made from, for people to compare."""
    item: str
    """`source/id` of the item that it was made from."""
    parts: tuple[str, ...] = Field((), exclude_if=lambda parts: not parts)
    """Of a text composed of several facts: `source/id` of the item of each, in their order in the text."""
    group: str = ""
    """Everything with the same group is in the same split: one item, and items with the same question."""
    split: Literal["", "train", "dev", "test"] = ""
