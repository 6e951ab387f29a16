"""What the data factory makes: a sample with its gold error report, and where both come from."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from mores.factory.items import Task
from mores.types import ErrorReport, Record, Sample, Severity

Kind = Literal["correct", "hard", "soft"]

MOST_ERRORS = 3
"""Errors of a text."""


class Change(NamedTuple):
    """An error put into an item's answer: the changed answer, and which words of it are now wrong."""

    answer: str
    spans: tuple[tuple[int, int], ...]
    """Half-open, in code points of the changed answer, in order, apart from each other."""
    rule: str
    """Who made it, for example `numbers`."""
    severity: Severity
    type: str
    explanation: str


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
    """`source`, `rule:NAME` or `model:NAME`."""
    answer: str | None = None
    """What should have been said, where a wrong answer of the source was said instead."""
    original: Original | None = Field(None, exclude_if=lambda original: original is None)
    """Of a soft error: the pair that it was made from, for people to compare."""
    item: str
    """`source/id` of the item that it was made from."""
    group: str = ""
    """Everything with the same group is in the same split: one item, and items with the same question."""
    split: Literal["", "train", "dev", "test"] = ""
