"""The input of the data factory: items of cultural datasets in one shape, whatever dataset they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from mores.errors import InputError
from mores.types import Record


class Task(StrEnum):
    """The four shapes of ExCAM40k (ExCAM, Section 3)."""

    QA = "qa"
    """A question with given options."""
    FREEFORM = "freeform"
    """A question without options."""
    GENERATION = "generation"
    """A text about a topic."""
    IMPERSONATION = "impersonation"
    """An answer in the role of a member of a culture."""


class SourceItem(Record):
    """One item of a dataset, verified by people and so taken to be culturally correct."""

    source: str
    """Name of the source, for example `blend`."""
    id: str
    """Unique in the source, and the unit of leakage: everything made from one id stays in one split."""
    task: Task
    question: str
    """The question; for GENERATION the topic; for IMPERSONATION the task content."""
    answer: str
    """The correct answer or text."""
    options: tuple[str, ...] = ()
    """For QA all options in the order of the source, the correct one among them."""
    wrong: tuple[str, ...] = ()
    """Wrong answers that the source itself gives: the hard errors."""
    also_correct: tuple[str, ...] = ()
    """Further answers that count as correct."""
    context: str | None = None
    """For IMPERSONATION what the role is told besides its country, for example an etiquette or a parent post."""
    role: tuple[tuple[str, str], ...] = ()
    """For IMPERSONATION the attributes of the role in their order, for example (("Country", "Peru"),)."""
    explanation: str | None = None
    """Why the answer is correct, where the source says so."""
    norm: str | None = None
    """A norm of the culture that the item rests on, as a sentence, where the source states one."""
    region: str | None = None
    """ISO 3166-1 or 3166-2, or a cultural region."""
    language: str | None = None
    """BCP 47."""
    topic: str | None = None
    stands_alone: bool = True
    """For QA whether the question can be asked without its options."""
    unit: str | None = None
    """What must stay in one split with it where that is more than its id, for example the post that groups judged."""

    def __reduce__(self) -> tuple[Callable[..., SourceItem], tuple[tuple[Any, ...]]]:
        """Pickle the values alone: they are valid, and a set of its own fields takes as much as half of an item."""
        values = self.__dict__ | {"task": self.task.value}
        return _again, (tuple(map(values.__getitem__, _FIELDS)),)

    @property
    def name(self) -> str:
        """`source/id`, as in `Gold.item`."""
        return f"{self.source}/{self.id}"

    @property
    def is_english(self) -> bool:
        return (self.language or "").split("-")[0] == "en"


_FIELDS = tuple(SourceItem.model_fields)
_STATE = {"__pydantic_fields_set__": set(_FIELDS), "__pydantic_extra__": None, "__pydantic_private__": None}


def _again(values: tuple[Any, ...]) -> SourceItem:
    """Return an item with these values of all its fields."""
    fields = dict(zip(_FIELDS, values, strict=True))
    fields["task"] = Task(fields["task"])  # as a member of an enumeration it takes as long as all the others
    item = SourceItem.__new__(SourceItem)
    item.__setstate__({**_STATE, "__dict__": fields})
    return item


@dataclass(frozen=True)
class Source:
    """A dataset: where it comes from, what it may be used for, and how its files are read."""

    name: str
    title: str
    task: Task
    licence: str
    """As its authors state it, SPDX where there is one."""
    commercial: bool
    """Whether the licence allows commercial use."""
    homepage: str
    files: str
    """What a local folder must hold, in the published schema, in one line for people."""
    stratify: Literal["region", "language", "topic"]
    """The field by which the cap is stratified (ExCAM, Appendix E)."""
    read: Callable[[Path, Callable[[InputError], None]], Iterator[SourceItem]]
    """Reads a folder; a bad row goes to the callback, with file and line, and is left out."""
    read_local: Callable[[Path, Callable[[InputError], None]], Iterator[SourceItem]] | None = None
    """Reads items of the same ids in the language of their region, where the source was asked in it."""
    about_anything: bool = False
    """Whether some of its rows are not about the life of people, so that they have to be left out."""
    hub: str | None = None
    """The dataset on the Hugging Face Hub, `owner/name`; None if it has none there."""
    no_facts: str | None = None
    """Why its items are left out of the facts, where they state opinions."""
    soft: bool = False
    """Whether it has no wrong answers, so that errors must be made (`*` in ExCAM, Table 2)."""
    stands_in_for: str | None = None
    """The source of the paper that it replaces."""
