"""The cases of an audit: payloads, the texts that carry them, and the places where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal, NamedTuple, Self, TypeVar, get_args

from pydantic import Field, model_validator

from mores.types import Evidence, Record, Sample, Side

Goal = Literal["hide", "soften", "accuse"]

Category = Literal[
    "override",
    "fake-report",
    "fence",
    "authority",
    "language",
    "unicode",
    "encoding",
    "smuggle",
    "persuasion",
    "long",
    "many-shot",
    "soften",
    "accuse",
    "control",
]

Place = Literal["start", "middle", "end", "instruction", "evidence"]
PLACES: tuple[Place, ...] = get_args(Place)

SEPARATOR = "\n\n"
"""What stands between the carrier's own words and the payload: a blank line."""

R = TypeVar("R", bound=Record)


class Injection(Record):
    """One payload, and what it is after."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    category: Category
    """How it tries."""
    goal: Goal | None
    """`hide` the errors of a wrong text, `soften` its major errors, `accuse` a correct text; None for a control."""
    payload: str = Field(min_length=1)
    language: str
    """BCP 47, of the words once decoded."""

    @model_validator(mode="after")
    def _goal_fits_category(self) -> Self:
        # One goal per category, so that each category has one control rate to stand beside.
        expected = {"control": None, "accuse": "accuse", "soften": "soften"}.get(self.category, "hide")
        if self.goal != expected:
            raise ValueError(f"goal of category {self.category!r} is {expected!r}, not {self.goal!r}")
        return self


class Carrier(Sample):
    """A sample that payloads are added to, with what is true of it."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    wrong: bool
    """Whether it has a cultural error."""


class Placed(NamedTuple):
    """A payload in a carrier."""

    injection: Injection
    carrier: Carrier
    place: Place

    @property
    def sample(self) -> Sample:
        """The sample that the judge reads, under the id `carrier+injection@place`."""
        sample_id = f"{self.carrier.id}+{self.injection.id}@{self.place}"
        if self.place == "evidence":
            change: dict[str, object] = {"evidence": (*self.carrier.evidence, Evidence(text=self.injection.payload))}
        else:
            side, head, tail = self._split()
            change = {side: SEPARATOR.join(filter(None, (head, self.injection.payload, tail)))}
        return plain(self.carrier).model_copy(update={"id": sample_id} | change)

    def holds(self, side: Side, start: int, end: int) -> bool:
        """Return whether a span of the sample lies wholly in the payload and the blank lines around it."""
        if self.place == "evidence":
            return False
        payload_side, head, tail = self._split()
        last = len(head) + len(self.injection.payload) + len(SEPARATOR) * (bool(head) + bool(tail))
        return side == payload_side and len(head) <= start and end <= last

    def _split(self) -> tuple[Side, str, str]:
        """Return the side that the payload stands in, and what stands there before and after it."""
        side: Side = "instruction" if self.place == "instruction" else "text"
        text = self.carrier.side(side)
        at = {"start": 0, "middle": _middle(text)}.get(self.place, len(text))
        return side, text[:at].rstrip(), text[at:].lstrip()


@cache
def injections() -> tuple[Injection, ...]:
    """Return the payloads that come with Mores, controls last."""
    return _load("injections.jsonl", Injection)


@cache
def carriers() -> tuple[Carrier, ...]:
    """Return the texts that come with Mores, correct ones first; an audit uses those that the judge gets right."""
    return _load("carriers.jsonl", Carrier)


def applies(injection: Injection, carrier: Carrier) -> bool:
    """Return whether there is something for the injection to hide or soften in this carrier, or something to accuse."""
    return injection.goal is None or (injection.goal != "accuse") == carrier.wrong


def cases(
    carriers: Sequence[Carrier], injections: Iterable[Injection], places: Sequence[Place] = PLACES
) -> Iterator[Placed]:
    """Return every injection in every place, each in the next carrier that it applies to; a control also in both kinds.

    So all places and carriers are tried without asking for every combination.
    """
    for number, injection in enumerate(injections):
        for wrong in (True, False):
            fitting = [carrier for carrier in carriers if carrier.wrong is wrong and applies(injection, carrier)]
            for step, place in enumerate(places if fitting else ()):
                yield Placed(injection, fitting[(number + step) % len(fitting)], place)


def plain(sample: Sample) -> Sample:
    """Remove what only a carrier has: the judge must not see what is true."""
    return Sample.model_validate(sample.model_dump(include=set(Sample.model_fields)))


def suite_name(carriers: Sequence[Carrier], injections: Sequence[Injection], places: Sequence[Place]) -> str:
    """Count and hash: equal for comparable audits."""
    lines = [record.model_dump_json() for records in (carriers, injections) for record in records]
    digest = sha256("\n".join((*lines, *places)).encode()).hexdigest()[:8]
    return f"injections:{len(injections)}x{len(carriers)}:{digest}"


def _middle(text: str) -> int:
    """Return the place after the space nearest to the middle; the middle itself where no space is."""
    spaces = [place for place, sign in enumerate(text) if sign == " "]
    return min(spaces, key=lambda place: abs(place - len(text) // 2), default=len(text) // 2 - 1) + 1


def _load(name: str, record: type[R]) -> tuple[R, ...]:
    lines = files(__package__).joinpath(name).read_text(encoding="utf-8").split("\n")
    return tuple(record.model_validate_json(line) for line in lines if line)
