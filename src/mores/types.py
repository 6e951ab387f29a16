"""The records that everything in Mores reads and writes; read this page first.

texts  -> Sample -> metric -> Judgement (with an ErrorReport, or a Failure)
items  -> Item   -> model  -> Response  -> judge -> Judgement -> Result

Spans are half-open and count Unicode code points, so `side[start:end] == quote` holds for every located error.
A failure is a value: what could not be answered, parsed or judged stays in the output with its reason, is
counted beside every mean, and is never turned into a grade.
"""

from __future__ import annotations

import operator
from enum import StrEnum
from functools import partial
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from mores.views import NotebookView

DEFAULT_INSTRUCTION = "Generate a culturally correct text."
"""The instruction of a text that comes without one (ExCAM, Section 1)."""

Side = Literal["instruction", "text"]


_is_empty = operator.not_
_is_none = partial(operator.is_, None)


class Record(BaseModel):
    """Base of all records: immutable, and no field that we do not know."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class Signature(dict[str, str]):
    """The fields that must be the same for two numbers to be comparable (after sacreBLEU): task, data, model, …

    Files hold the fields. As text it is `task:msqa.2|data:1f0a…|…`, which is for people and is never read back.
    """

    _hash: int | None = None

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.items())

    def __hash__(self) -> int:  # type: ignore[override]  # it is never changed
        if self._hash is None:
            self._hash = hash(frozenset(self.items()))
        return self._hash

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        fields = core_schema.dict_schema(core_schema.str_schema(), core_schema.str_schema())

        def read(value: Any, validate: ValidatorFunctionWrapHandler) -> Signature:
            return value if isinstance(value, cls) else cls(validate(value))  # many records share one

        return core_schema.no_info_wrap_validator_function(read, fields)


class FailureKind(StrEnum):
    """The place where it went wrong; `Failure.reason` says how."""

    INPUT = "input"
    """The sample or item cannot be sent, for example because it is too long."""
    MODEL = "model"
    """The model refused the request or did not answer it, after all retries."""
    FILTERED = "filtered"
    """The provider's content filter withheld the answer."""
    TRUNCATED = "truncated"
    """The answer was cut off before its end."""
    REFUSED = "refused"
    """The model declined to answer, as its server reports."""
    EMPTY = "empty"
    """The model wrote nothing, or only its thoughts, or called a tool."""
    PARSE = "parse"
    """The answer is not JSON."""
    SCHEMA = "schema"
    """The answer is JSON, but not the report that was asked for."""


class Blame(StrEnum):
    """The blame for a failure."""

    TEXT = "text"
    """This text's: the others are not affected, and it fails again when it is asked again."""
    MOMENT = "moment"
    """The moment's: it may work later."""
    SETUP = "set-up"
    """The set-up's: a key, an address, a model or an account must be put right first."""


class Failure(Record):
    """The reason why there is no answer, no report or no score."""

    kind: FailureKind
    reason: str
    blame: Blame = Blame.TEXT


class Usage(Record):
    """Tokens of one call as the server counted them; zero where it did not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Item(Record):
    """One benchmark question."""

    id: str
    prompt: str
    choices: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    """Every answer that counts as correct."""
    language: str | None = None
    """BCP 47, for example `pt-BR`."""
    region: str | None = None
    """A code of `mores.culture`: ISO 3166-1 (`BR`), 3166-2 (`ES-CT`), or a cultural region (`XX-KURDISTAN`)."""
    topic: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


class Response(Record):
    """A model's answer to an item, or why there is none."""

    item_id: str
    model: str
    text: str | None = None
    logprobs: tuple[float, ...] | None = None
    """Natural log-probability of each generated token; None where the server gives none."""
    usage: Usage = Field(default_factory=Usage)
    stop: str | None = None
    """The server's finish reason: `stop`, `length`, `content_filter`."""
    thoughts: str = Field("", exclude_if=_is_empty)
    """The model's reasoning, where the server sends it apart from the text; it is not graded."""
    failure: Failure | None = None


class Evidence(Record):
    """One passage that a search found."""

    text: str
    """The passage or snippet."""
    title: str = ""
    source: str = ""
    """Where it was found: an address, or file and line."""
    date: str = ""
    licence: str = Field("", exclude_if=_is_empty, repr=False)
    """What it may be used for, where its corpus says so (SPDX)."""


class TurnSpan(Record):
    """A turn of a conversation, as a span of its text; or the part of a turn that an error is in."""

    number: int
    """Its place in the conversation, from 1."""
    speaker: str = ""
    start: int
    """First code point in the text; of an error, in the words of its turn."""
    end: int
    """One past the last."""


class Sample(Record):
    """One instruction and the text that was written for it: what a metric reads."""

    id: str
    instruction: str = DEFAULT_INSTRUCTION
    text: str
    language: str | None = None
    """BCP 47."""
    region: str | None = None
    """ISO 3166-1 or 3166-2, or a cultural region."""
    source: str | None = None
    """Where the sample comes from: a dataset, a model, a file."""
    evidence: tuple[Evidence, ...] = Field((), exclude_if=_is_empty)
    """What was looked up about it, for the metric to judge by."""
    turns: tuple[TurnSpan, ...] = Field((), exclude_if=_is_empty)
    """The turns of a text that is a whole conversation."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict, exclude_if=_is_empty)
    """What else the row says that it comes from, by column."""

    def __hash__(self) -> int:
        """Hash what is judged; a dictionary of metadata cannot be."""
        return hash((self.id, self.instruction, self.text))

    def side(self, side: Side) -> str:
        """Return the instruction or the text."""
        return self.instruction if side == "instruction" else self.text

    def in_turn(self, error: Error) -> Error:
        """Return the error with its place in the turn that it is in, or begins in; None between turns."""
        if error.side == "instruction" or error.start is None or error.end is None:
            return error
        spans = [(turn, max(error.start, turn.start), min(error.end, turn.end)) for turn in self.turns]
        place = next(
            (
                turn.model_copy(update={"start": start - turn.start, "end": end - turn.start})
                for turn, start, end in spans
                if start < end
            ),
            None,
        )
        return error.model_copy(update={"turn": place})


class Severity(StrEnum):
    """The severity of an error; an unknown one is a parse failure."""

    MINOR = "minor"
    MAJOR = "major"

    @property
    def weight(self) -> int:
        """The number that one error of this severity adds to the score (ExCAM, Section 3)."""
        return -1 if self is Severity.MINOR else -5


class Error(Record):
    """One cultural error."""

    side: Side
    start: int | None = None
    """First code point of the span; None when the quote was not found there (an unlocated error)."""
    end: int | None = None
    """One past the last code point of the span."""
    quote: str
    """The wrong words: exactly `side[start:end]` when located, otherwise as the judge wrote them."""
    severity: Severity
    type: str
    """Free words such as `stereotyping` or `misrepresentation`."""
    explanation: str = ""
    correction: str = Field("", exclude_if=_is_empty)
    """What would be correct in place of the quote, where the judge says so."""
    evidence: tuple[int, ...] = Field((), exclude_if=_is_empty)
    """The evidence for it: numbers of the sample's evidence, from 1."""

    found_by: tuple[str, ...] = Field((), exclude_if=_is_empty)
    """The judges of an ensemble that found it."""
    turn: TurnSpan | None = Field(None, exclude_if=_is_none)
    """Where it is in a conversation: its turn, and its span in the words of that turn."""

    @property
    def located(self) -> bool:
        """True if the quote was found in its side."""
        return self.start is not None

    @model_validator(mode="after")
    def _span_is_whole(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise ValueError("start and end go together")
        if self.start is not None and self.end is not None:
            if not 0 <= self.start < self.end:
                raise ValueError(f"span {self.start}:{self.end} is empty or negative")
            if self.end - self.start != len(self.quote):
                raise ValueError(f"span {self.start}:{self.end} does not have the length of its quote")
        return self


Decision = Literal["wrong", "supported", "unknown", "disputed"]
"""What a claim turns out to be; `disputed` means that passages of the evidence contradict each other about it."""


NOT_KNOWN = 0.6
"""A confidence below which it is not known that a text has no errors."""


class JudgedClaim(Record):
    """One claim of a text, and what the judge decides about it."""

    start: int
    """First code point of the claim in the text."""
    end: int
    """One past the last."""
    decision: Decision
    probability: float | None = Field(None, exclude_if=_is_none)
    """The judge's probability of its decision; None where it gives none."""


class ErrorReport(Record):
    """The cultural errors of one sample."""

    errors: tuple[Error, ...] = ()
    explanation: str = ""
    certainty: float | None = None
    """p(R) of Eq. 1: exp(mean token log-probability) of the whole report; None without log-probabilities."""
    claims: tuple[JudgedClaim, ...] = Field((), exclude_if=_is_empty)
    """What was decided about each claim, by a judge that reads claim by claim."""
    confidence: float | None = Field(None, exclude_if=_is_none)
    """The calibrated probability that the verdict (an error or none) is correct; None where none is known."""

    @property
    def undecided(self) -> bool:
        """True if claims give no score: none is decided, one is wrong without an error, or "no error" is a guess."""
        if not self.claims:
            return False
        guessed = not self.errors and self.confidence is not None and self.confidence < NOT_KNOWN
        decided = any(claim.decision in ("wrong", "supported") for claim in self.claims)
        return guessed or not decided or self.unexplained

    @property
    def unexplained(self) -> bool:
        """True if a claim is called wrong, and no error is listed whose severity would be counted."""
        return not self.errors and any(claim.decision == "wrong" for claim in self.claims)


class Judgement(Record, NotebookView):
    """The judgement of one sample by a person or a model: a report and its score, or why there is none.

    It repeats the sample, so that each line of a file of judgements can be read alone; `repeat(None)` removes the
    sample, to save memory.
    """

    sample_id: str
    language: str | None = Field(None, exclude_if=_is_none)
    region: str | None = Field(None, exclude_if=_is_none)
    instruction: str | None = Field(None, exclude_if=_is_none)
    text: str | None = Field(None, exclude_if=_is_none)
    """The sample's, as are the three before; None where the judgement does not repeat it."""
    turns: tuple[TurnSpan, ...] = Field((), exclude_if=_is_empty)
    """The turns of the sample, where it is a conversation."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict, exclude_if=_is_empty)
    """The sample's."""
    judge: str
    score: float | None = None
    """Eq. 1 of ExCAM: the sum of the severities, or p(R) when there is no error. Higher is better.

    None for a failure, and where a judge that reads claim by claim could decide none of them.
    """
    report: ErrorReport | None = None
    evidence: tuple[Evidence, ...] = Field((), exclude_if=_is_empty)
    """What the judge was shown with the sample: an error's number 1 is the first of it."""
    members: dict[str, float | None] = Field(default_factory=dict, exclude_if=_is_empty)
    """The score of each judge of an ensemble; None where it has none."""
    failure: Failure | None = None
    notes: tuple[str, ...] = ()
    """What a reader must know about this number, for example that p(R) is unknown."""
    signature: Signature = Signature()

    @classmethod
    def of(cls, sample: Sample, **fields: Any) -> Self:
        """Return a judgement that repeats its sample; errors of a conversation are located by turn."""
        if sample.turns and (report := fields.get("report")):
            errors = tuple(map(sample.in_turn, report.errors))
            fields["report"] = report.model_copy(update={"errors": errors})
        repeated = {"metadata": sample.metadata, "turns": sample.turns} if sample.metadata or sample.turns else {}
        return cls(
            sample_id=sample.id,
            language=sample.language,
            region=sample.region,
            instruction=sample.instruction,
            text=sample.text,
            **repeated,
            **fields,
        )

    def repeat(self, sample: Sample | None) -> Self:
        """Return the judgement with its sample; with None, without it."""
        names = ("language", "region", "instruction", "text")
        update = {name: getattr(sample, name, None) for name in names}
        return self.model_copy(
            update=update | {"metadata": sample.metadata if sample else {}, "turns": sample.turns if sample else ()}
        )

    @property
    def sample(self) -> Sample | None:
        """The sample that was judged, where the judgement repeats it."""
        if self.text is None:
            return None
        fields = {name: getattr(self, name) for name in ("language", "region", "evidence", "turns", "metadata")}
        return Sample(id=self.sample_id, instruction=self.instruction or "", text=self.text, **fields)

    @model_validator(mode="after")
    def _scored_or_failed(self) -> Self:
        undecided = self.report is not None and self.report.undecided and self.score is None
        if (self.failure is None) != (self.score is not None or undecided):
            raise ValueError("a judgement has either a score or a failure")
        return self


FEW = 20
"""A result of fewer samples says little: charts mark it, and comparisons warn."""
MUCH_MISSING = 0.02
"""Where a larger share is unscored, a headline has the interval that covers them too."""


class Result(Record):
    """One number with its interval, its count, and the same number by group."""

    name: str
    value: float | None
    """Over the scored."""
    low: float | None = None
    high: float | None = None
    """The 95% interval if the unscored are like the scored."""
    n: int = 0
    """How many judgements the value rests on."""
    unscored: int = 0
    """How many more there are that could not be scored."""
    bounds: tuple[float, float] | None = None
    """The lowest and the highest value that they could make of it, whatever they are; None where there are none."""
    whole: tuple[float, float] | None = Field(None, exclude_if=_is_none)
    """The 95% interval of the value over all, scored or not, whatever the unscored are (`mores.stats.missing`)."""
    by: dict[str, Result] = Field(default_factory=dict)
    signature: Signature = Signature()

    @property
    def missing(self) -> float:
        """The share that is unscored."""
        return self.unscored / (self.n + self.unscored) if self.unscored else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval that a verdict may rest on; None where unscored ones could make anything of the value."""
        if self.unscored or self.bounds or self.low is None or self.high is None:
            return self.whole
        return self.low, self.high
