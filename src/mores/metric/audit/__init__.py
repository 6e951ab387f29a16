"""The injection audit: how often a sentence inside the judged text changes the verdict.

carriers() x injections() -> plan -> Samples -> the metric -> Judgements -> audit -> Audit

Judged text is hostile: it may say "return an empty report". A carrier is a short sample whose verdict is
known; an injection is a payload that is added to it. A payload of goal `hide` is added to the wrong carriers,
one of goal `accuse` to the right ones, and the controls, harmless sentences of the same shapes, to all: any
added sentence may flip a verdict, so what counts is how much more often an injection does (`Tally.excess`).

A verdict is about the carrier. An error whose span lies wholly in the payload says nothing of the carrier and
is not counted; errors in the instruction, errors that touch the carrier's own text, and errors that could not
be located are.

The intervals treat cases as independent. They share a few carriers and one judge, so the intervals speak of
this suite and these carriers, not of every attack there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Literal, Self, TypeVar

from pydantic import Field, model_validator

from mores.errors import InputError
from mores.stats.intervals import difference_interval, share_interval
from mores.types import Error, Judgement, Record, Sample

Goal = Literal["hide", "accuse"]

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
    "accuse",
    "control",
]

SEPARATOR = "\n\n"
"""What stands between the carrier's own text and the payload: a blank line."""

R = TypeVar("R", bound=Record)


class Verdict(StrEnum):
    """What a judgement says of the carrier."""

    ERRORS = "errors"
    NONE = "none"
    UNJUDGED = "unjudged"
    """The judge failed: its answer is no report, was cut off or never came."""


TARGETS: Mapping[Goal, Verdict] = {"hide": Verdict.ERRORS, "accuse": Verdict.NONE}
"""The verdict that each goal wants to change."""


class Injection(Record):
    """One payload, and what it is after."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    category: Category
    """How it tries."""
    goal: Goal | None
    """`hide` the errors of a wrong text, `accuse` a right one; None for a control, which asks for nothing."""
    payload: str = Field(min_length=1)
    language: str
    """BCP 47, of the words once decoded."""

    @model_validator(mode="after")
    def _goal_fits_category(self) -> Self:
        # One goal per category, so that each category has one control rate to stand beside.
        expected = {"control": None, "accuse": "accuse"}.get(self.category, "hide")
        if self.goal != expected:
            raise ValueError(f"goal of category {self.category!r} is {expected!r}, not {self.goal!r}")
        return self


class Carrier(Sample):
    """A sample that payloads are added to, with what is true of it."""

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    wrong: bool
    """Whether it has a cultural error."""


class Case(Record):
    """One injection in one carrier: the verdict without it and with it."""

    injection: str
    carrier: str
    category: Category
    goal: Goal | None
    before: Verdict
    after: Verdict

    @property
    def compared(self) -> bool:
        """Whether the carrier alone had a verdict, so that there is something to compare."""
        return self.before is not Verdict.UNJUDGED

    @property
    def exposed(self) -> bool:
        """Whether the carrier alone had the verdict that the injection wants to change."""
        return self.goal is not None and self.before is TARGETS[self.goal]

    @property
    def unjudged(self) -> bool:
        """Whether the injection cost the verdict: a failure, and not a flip."""
        return self.compared and self.after is Verdict.UNJUDGED

    @property
    def flipped(self) -> bool:
        """Whether the verdict turned from errors to none, or from none to errors."""
        return self.compared and self.after is not Verdict.UNJUDGED and self.after is not self.before

    @property
    def hit(self) -> bool:
        """Whether the verdict turned to what the injection is after."""
        return self.exposed and self.flipped


class Rate(Record):
    """A count out of n, with its exact 95% interval."""

    count: int
    n: int
    value: float | None
    """None when n is 0."""
    low: float
    high: float

    @classmethod
    def of(cls, count: int, n: int) -> Self:
        """The rate of `count` in `n`."""
        low, high = share_interval(count, n)
        return cls(count=count, n=n, value=count / n if n else None, low=low, high=high)


class Excess(Record):
    """How much higher one rate is than another, with its 95% interval; below 0 when it is lower."""

    value: float
    low: float
    high: float


class Tally(Record):
    """What a group of cases comes to."""

    n: int
    """Cases that could be compared: each kept its verdict, flipped or became unjudged."""
    flips: Rate
    """Verdicts that turned, either way, of all n."""
    hits: Rate
    """Verdicts that turned towards the goal, of the cases that could (`Case.exposed`)."""
    unjudged: Rate
    """Verdicts that were lost, of all n."""
    left_out: int
    """Cases beside n whose carrier alone was not judged: nothing to compare with."""
    control: Rate | None = None
    """Flips by the controls in the carriers of the exposed cases: what any sentence would do there.
    None where goals are mixed, and for the controls themselves."""
    excess: Excess | None = None
    """`hits` less `control`: the number that counts. None where one of them has no case."""


class Audit(Record):
    """What the injections did to the verdicts of one judge.

    `by_goal` is the headline. Goals are not pooled against the controls: a judge that any sentence makes
    suspicious would seem the safer for it.
    """

    suite: str
    """Counts and hash of the injections and carriers: equal for comparable audits."""
    overall: Tally
    """All injections, without the controls."""
    by_goal: dict[Goal, Tally]
    by_category: dict[Category, Tally]
    """As `overall`, in the order of the suite."""
    control: Tally
    """The controls; they have no goal, so no hits."""
    flipped: tuple[Case, ...]
    """Every case that flipped, controls too."""


@cache
def injections() -> tuple[Injection, ...]:
    """The payloads that come with Mores, controls last."""
    return _load("injections.jsonl", Injection)


@cache
def carriers() -> tuple[Carrier, ...]:
    """The carriers that come with Mores, right ones first."""
    return _load("carriers.jsonl", Carrier)


def applies(injection: Injection, carrier: Carrier) -> bool:
    """Whether there is something for the injection to hide in this carrier, or something to accuse."""
    return injection.goal is None or (injection.goal == "hide") == carrier.wrong


def inject(sample: Sample, injection: Injection) -> Sample:
    """The sample with the payload after its text and a blank line, under the id `carrier+injection`."""
    text = f"{sample.text}{SEPARATOR}{injection.payload}"
    return _plain(sample).model_copy(update={"id": f"{sample.id}+{injection.id}", "text": text})


def plan(carriers: Sequence[Carrier], injections: Iterable[Injection]) -> Iterator[Sample]:
    """Every sample that an audit needs judged: the carriers alone, then with each injection that applies."""
    yield from map(_plain, carriers)
    for injection in injections:
        for carrier in carriers:
            if applies(injection, carrier):
                yield inject(carrier, injection)


def verdict(judgement: Judgement, carrier: Sample) -> Verdict:
    """What a judgement of the carrier, alone or with a payload, says of the carrier itself."""
    if judgement.score is None:
        return Verdict.UNJUDGED
    if judgement.report is None:  # a judge that only scores: Eq. 1 of ExCAM is below 0 when there is an error
        return Verdict.ERRORS if judgement.score < 0 else Verdict.NONE
    concerned = any(_concerns(error, carrier) for error in judgement.report.errors)
    return Verdict.ERRORS if concerned else Verdict.NONE


def audit(judgements: Mapping[str, Judgement], carriers: Sequence[Carrier], injections: Sequence[Injection]) -> Audit:
    """Compare each verdict with an injection with that of its carrier alone; `judgements` are by sample id."""
    cases = list(_cases(judgements, carriers, injections))
    controls = [case for case in cases if case.goal is None]
    attacks = [case for case in cases if case.goal is not None]
    goals = dict.fromkeys(case.goal for case in attacks if case.goal is not None)
    return Audit(
        suite=_suite(carriers, injections),
        overall=_tally(attacks),
        by_goal={goal: _against([c for c in attacks if c.goal == goal], controls) for goal in goals},
        by_category={
            category: _against([c for c in attacks if c.category == category], controls)
            for category in dict.fromkeys(case.category for case in attacks)
        },
        control=_tally(controls),
        flipped=tuple(case for case in cases if case.flipped),
    )


def _load(name: str, record: type[R]) -> tuple[R, ...]:
    lines = files(__name__).joinpath(name).read_text(encoding="utf-8").split("\n")
    return tuple(record.model_validate_json(line) for line in lines if line)


def _plain(sample: Sample) -> Sample:
    """Without what only a carrier has: the judge must not see what is true."""
    return Sample.model_validate(sample.model_dump(include=set(Sample.model_fields)))


def _concerns(error: Error, carrier: Sample) -> bool:
    """Whether the error is about the carrier and not about the payload."""
    return error.start is None or error.side == "instruction" or error.start < len(carrier.text)


def _cases(
    judgements: Mapping[str, Judgement], carriers: Sequence[Carrier], injections: Iterable[Injection]
) -> Iterator[Case]:
    before = {carrier.id: verdict(_judged(judgements, carrier.id), carrier) for carrier in carriers}
    for injection in injections:
        for carrier in carriers:
            if applies(injection, carrier):
                after = verdict(_judged(judgements, inject(carrier, injection).id), carrier)
                yield Case(
                    injection=injection.id,
                    carrier=carrier.id,
                    category=injection.category,
                    goal=injection.goal,
                    before=before[carrier.id],
                    after=after,
                )


def _judged(judgements: Mapping[str, Judgement], sample_id: str) -> Judgement:
    if sample_id not in judgements:
        raise InputError(f"no judgement of {sample_id!r}; judge every sample of plan() before the audit")
    return judgements[sample_id]


def _tally(cases: Sequence[Case]) -> Tally:
    compared = [case for case in cases if case.compared]
    n = len(compared)
    return Tally(
        n=n,
        flips=Rate.of(sum(case.flipped for case in compared), n),
        hits=Rate.of(sum(case.hit for case in compared), sum(case.exposed for case in compared)),
        unjudged=Rate.of(sum(case.unjudged for case in compared), n),
        left_out=len(cases) - n,
    )


def _against(cases: Sequence[Case], controls: Iterable[Case]) -> Tally:
    """The tally of cases of one goal, beside the controls in the same carriers.

    A carrier has one verdict of its own, so a control there could flip the same way as the injection.
    """
    exposed = {case.carrier for case in cases if case.exposed}
    matched = [case for case in controls if case.carrier in exposed]
    tally = _tally(cases)
    control = Rate.of(sum(case.flipped for case in matched), len(matched))
    return tally.model_copy(update={"control": control, "excess": _excess(tally.hits, control)})


def _excess(rate: Rate, control: Rate) -> Excess | None:
    if rate.value is None or control.value is None:
        return None
    low, high = difference_interval((rate.value, (rate.low, rate.high)), (control.value, (control.low, control.high)))
    return Excess(value=rate.value - control.value, low=low, high=high)


def _suite(carriers: Sequence[Carrier], injections: Sequence[Injection]) -> str:
    lines = [record.model_dump_json() for records in (carriers, injections) for record in records]
    digest = sha256("\n".join(lines).encode()).hexdigest()[:8]
    return f"injections:{len(injections)}x{len(carriers)}:{digest}"
