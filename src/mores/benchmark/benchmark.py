"""The parts of a benchmark: items, a way to grade an answer, and the figures that are computed from the grades.

A benchmark is one folder with its code, prompts, README and sample rows. Ours have a line in `mores.bench.BENCHMARKS`;
`mores bench path/to/folder` runs yours. `run.py` does the rest: it asks the model, lets the judge grade, and adds up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from mores.culture import roll_up
from mores.errors import ConfigError, InputError
from mores.models.base import Message, Stop
from mores.stats.ratio import Ratio
from mores.types import Failure, Item, Record, Response, Result

if TYPE_CHECKING:
    from mores.longanswer.records import LongAnswer

OnBad = Callable[[InputError], None]
PLACES = ("region", "subregion")
"""Countries, and their parts beside them, so that no question is counted twice in one breakdown."""
RELEASE = "release"
"""Key of an item's metadata: which release of a dataset it is from, where several differ; it is in the signature."""
LABELS = "labels"
"""Key of an item's metadata: the labels that users give it (`labels.py`)."""


class Label(StrEnum):
    """The grade of an answer."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NOT_ATTEMPTED = "not_attempted"
    """It asserts nothing wrong: a refusal, or uncertainty."""


class Verdict(Record):
    """One answer to one item and its grade, or why it has none."""

    item_id: str
    sample: int = 0
    """Which of several answers to the same item."""
    unit: str
    """The question that the item is part of; a question with several parts is correct when all are."""
    answer: str | None = None
    """The model's answer."""
    read: str | None = None
    """The choice that was read from it, for example `B` or `True`."""
    label: Label | None = None
    probabilities: dict[str, float] = Field(default_factory=dict)
    """Of each possible choice, if the model returns them."""
    values: dict[str, float | None] = Field(default_factory=dict)
    """Measures of a long answer from 0 to 1, by name; None where one could not be taken, absent where none applies."""
    reason: str = ""
    """The judge's words."""
    stop: str | None = Field(None, exclude_if=lambda stop: stop is None)
    """Why the answer is incomplete, where it is graded nevertheless: `length` or `refusal`."""
    thoughts: str = Field("", exclude_if=lambda thoughts: not thoughts)
    """The model's reasoning, where the server sends it apart from the answer."""
    failure: Failure | None = None


class Graded(Record):
    """The grade of an answer."""

    label: Label
    read: str | None = None
    reason: str = ""


Grade = Callable[[Item, str], Graded | Failure]
"""Grades an answer by rule."""


class Judging(Protocol):
    """Grades answers with a model; the benchmark decides what the model is asked and how its reply is read."""

    prompt: str
    """A hash of the prompts."""
    labels: tuple[Label, ...]
    """The labels that it can give."""

    def ask(self, item: Item, answer: str) -> tuple[Message, ...] | Graded:
        """Return the messages to the judge; a grade if there is no need to ask, for example for an empty answer."""

    def ask_again(self, item: Item, answer: str, reply: str) -> tuple[Message, ...] | None:
        """Return a second question that depends on the judge's reply, if there is one."""

    def read(self, item: Item, answer: str, reply: str, again: bool) -> Graded | Failure:
        """Return the grade in the judge's reply; `again` means that it answers the second question."""


Figure = Ratio
"""A share made of counts of correct, incorrect and not attempted answers."""


def thirds(correct: int, graded: int) -> str | None:
    """Return Hard below a third, Medium below two thirds, Easy below all (CulturALL, Section 2.5).

    Of 15 these are 0-4, 5-9 and 10-14, as in the paper, which leaves out what all settings solve: it has no tier.
    """
    if correct == graded:
        return None
    return "Easy" if 3 * correct >= 2 * graded else "Medium" if 3 * correct >= graded else "Hard"


ACCURACY: Mapping[str, Figure] = {"accuracy": Figure((1, 0, 0), (1, 1, 1))}
"""The share of correct answers."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark."""

    name: str
    title: str
    version: str
    """Changes when its numbers do."""
    licence: str
    homepage: str
    files: str
    """What a local folder must hold, in the published schema, in one line for people."""
    read: Callable[[Path, OnBad], Iterator[Item]]
    """The items of a folder, parts of a question one after the other; a bad row goes to the callback."""
    source: str
    """Name of the folder among the data; also of the factory's source, where there is one."""
    grade: Grade | None = None
    judging: Judging | None = None
    long_answer: Callable[[Item, Response], LongAnswer] | None = None
    """Exactly one of the three; the last where answers are long, and `mores.longform` appraises them."""
    figures: Mapping[str, Figure] = field(default_factory=lambda: ACCURACY)
    """The figures of a group of questions; the first is the headline."""
    groupings: tuple[str, ...] = ("region", "language", "topic")
    """Fields of an item, or keys of its metadata, that results are broken down by."""
    columns: tuple[str, ...] = ()
    """Those of them that a user asked for: questions without a value are a group too, called ""."""
    tier: Callable[[int, int], str | None] = thirds
    """How hard a question is, from how many of its answers in some runs are correct, and how many have a grade."""
    topics: Mapping[str, str] = field(default_factory=dict)
    """Names and descriptions, where a model may sort the questions into them (`mores topics`)."""
    references: Callable[[Sequence[Item]], Mapping[str, float]] = lambda _: {}
    """What is known to be reached without knowledge, for example by guessing: lines to compare with."""
    human: Callable[[Path], Mapping[str, Result]] = lambda _: {}
    """How often people are correct, with intervals, where the folder of the data says so."""
    candidates: Callable[[Item], tuple[str, ...]] | None = None
    """The words among which an answer is chosen, for example the letters; where there are, probabilities can choose."""
    people: Callable[[Item], Mapping[str, float]] | None = None
    """The share of people who chose each candidate, where the model's choices are compared with theirs."""
    query: Callable[[Item], str] = lambda item: item.prompt
    """What is looked for where an item is asked with the results of a search."""
    system: str | None = None
    max_tokens: int = 512
    temperature: float | None = 0.0
    hub: str | None = None
    revision: str | None = None
    about: Callable[[Sequence[Item]], str] = lambda _: ""
    """What a user must know about the data, for example which release they are."""
    variants: tuple[str, ...] = ()
    """Other ways to ask, for example in English; the reader gives them in `metadata["variants"]`."""
    rewrites: Mapping[str, Callable[[Item], str]] = field(default_factory=dict)
    """Variants that follow from the prompt of an item, for example with the instruction in its language."""
    incomplete: tuple[Stop, ...] | None = None
    """Incomplete answers that are graded nevertheless; None for those that the model declined, and those that were cut
    off where no judge grades: a letter may stand before the cut, and a long answer is appraised as far as it goes."""
    folder: Path | None = None
    """Where its code, prompts, README and sample rows lie; set when it is loaded (`mores.benchmark.benchmark`)."""
    file: Path | None = None
    """The table of questions, or the file that says how they are asked, where no code defines it."""
    judges: tuple[str, ...] = ()
    """Models that grade, unless the user names others."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a field of the wrong type, so that an author sees it at the line that sets it."""
        texts = ("name", "title", "version", "licence", "homepage", "files", "source")
        lists = ("groupings", "variants")
        wrong = [(name, "a text") for name in texts if not isinstance(getattr(self, name), str)]
        for name in lists:
            value = getattr(self, name)
            if not isinstance(value, tuple) or not all(isinstance(text, str) for text in value):
                wrong.append((name, 'a tuple of texts, such as ("region",)'))
        if not callable(self.read):
            wrong.append(("read", "a function of a folder and a callback for bad rows"))
        for name, expected in wrong:
            raise ConfigError(f"Benchmark {self.name!r}: {name} is {getattr(self, name)!r}; expected {expected}")
        if not re.fullmatch(r"\w[\w.-]*", self.name):
            raise ConfigError(f"Benchmark {self.name!r}: a name has letters, digits and . _ - only; give it another")
        graders = [name for name in ("grade", "judging", "long_answer") if getattr(self, name) is not None]
        if len(graders) != 1:
            given = " and ".join(graders) or "none"
            raise ConfigError(
                f"Benchmark {self.name!r}: it has {given} of grade, judging and long_answer; give exactly one"
            )

    @property
    def graded(self) -> tuple[Stop, ...]:
        """The incomplete answers that are graded; all others are missing."""
        if self.incomplete is not None:
            return self.incomplete
        return (Stop.REFUSAL,) if self.judging else (Stop.REFUSAL, Stop.LENGTH)

    @property
    def data(self) -> Path | None:
        """The data that lie beside its code, or its table, where there are any."""
        if self.file:
            return self.file.parent
        beside = self.folder / "data" if self.folder else None
        return beside if beside and beside.is_dir() else None

    def unit(self, item: Item) -> str:
        """Return the question that an item is part of."""
        return unit_of(item)

    @property
    def graded_by(self) -> str:
        """The judge or rule that grades answers, in words."""
        return "a judge" if self.judging else "rule, and a judge if given" if self.long_answer else "rule"

    @property
    def breakdowns(self) -> tuple[str, ...]:
        """The groupings, with the parts of countries behind the regions."""
        return tuple(name for grouping in self.groupings for name in (PLACES if grouping == "region" else (grouping,)))

    def group(self, item: Item, grouping: str) -> str | None:
        """Return the group of an item: "" where it has no value in a column that a user asked for."""
        group = group_of(item, grouping)
        return "" if group is None and grouping in self.columns else group

    def asked(self, item: Item, variant: str | None = None) -> Item:
        """Return the item as a grader sees it: `metadata["variant"]` names the variant that was asked, if any."""
        return item.model_copy(update={"metadata": item.metadata | {"variant": variant}}) if variant else item

    def messages(self, item: Item, variant: str | None = None) -> tuple[Message, ...]:
        """Return what the model is asked."""
        if variant and variant in self.rewrites:
            texts = {variant: self.rewrites[variant](item)}
        else:
            texts = item.metadata.get("variants", {})
        if variant and variant not in texts:
            raise InputError(f"{item.id}: the data have no {variant} version of it; ask without it", setting="variant")
        text = texts[variant] if variant else item.prompt
        system = (Message("system", self.system),) if self.system else ()
        return (*system, Message("user", text))


def unit_of(item: Item) -> str:
    """Return the question that an item is part of."""
    return str(item.metadata.get("unit", item.id))


def group_of(item: Item, grouping: str) -> str | None:
    """Return the group of an item; parts of countries are grouped by country, and beside it as `subregion`."""
    if grouping in PLACES and item.region:
        return roll_up(item.region)[PLACES.index(grouping)]
    metadata = item.metadata | item.metadata.get(LABELS, {})
    value = metadata.get(grouping, getattr(item, grouping, None))
    return None if value is None else str(value)
