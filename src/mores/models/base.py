"""The protocol of a model: it completes a request, with log-probabilities and, if asked, to a JSON schema.

A kind of model is one file that offers one class of this protocol, and one line in `mores.models.KINDS`. `BasicModel`
has defaults for all but `complete`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from itertools import chain
from math import isfinite
from typing import Any, Literal, NamedTuple, Protocol, Self, get_args

from mores.types import Failure, FailureKind, Usage

Style = Literal["paper", "fenced", "guided", "brief", "claims"]
"""The metric's prompts, see `mores.metric.prompt`."""
STYLES: tuple[Style, ...] = get_args(Style)
Precision = Literal["bfloat16", "float32"]
"""The numbers that a local model computes with."""
PRECISIONS: tuple[Precision, ...] = get_args(Precision)


_ROUNDING = 1e-6
_LOWEST = -1e6
"""Below any log-probability of a computer's numbers; servers write -9999 for minus infinity."""
_LONGEST_TOKEN = 32
"""Characters: an answer of more for each log-probability is not covered by them."""


def is_logprob(value: float) -> bool:
    """Return whether a number can be a log-probability: not above 0, except for rounding."""
    return _LOWEST < value <= _ROUNDING


def are_logprobs(values: Sequence[float]) -> bool:
    """Return whether there are numbers, and all can be log-probabilities."""
    return bool(values) and isfinite(sum(values)) and is_logprob(min(values)) and is_logprob(max(values))


class Message(NamedTuple):
    """One turn of a chat."""

    role: str
    content: str


class AnswerPart(NamedTuple):
    """A stretch of an answer: it begins with what must stand there, and the model writes the rest."""

    given: str
    grammar: str
    """What the model writes, in llguidance's Lark."""
    most: int | None = None
    """Tokens that it may take; None for as many as the answer may have."""
    options: tuple[tuple[str, str], ...] = ()
    """What the model chooses from, with the name under which each one's log-probability is among the answer's
    alternatives."""


LONGEST_QUOTATION = 100
"""Characters of a passage that an explanation quotes."""


class Explanations(NamedTuple):
    """The explanations of a tuned model: it decides what stands in the gaps, and need not write the rest."""

    uncited: str
    """Of an error that cites no evidence; {quote} stands for the words that are wrong."""
    cited: Mapping[str, str]
    """Of one that does, by its type, of which there are no others. {sentence} stands for the sentence of the cited
    passage that is nearest to what is wrong, and {words} for words of the passage that the model chooses."""


Parts = Callable[[], Generator[AnswerPart, str, str]]
"""The parts of an answer in turn: each is asked for with what the model has written for the one before, and what is
returned in the end is the end of the answer."""


class Request(NamedTuple):
    """One call, whole: what it asks, the model's identity and the sample index are the key of its answer."""

    messages: tuple[Message, ...]
    max_tokens: int = 1024
    temperature: float | None = 0.0
    """None leaves it to the server (some models take no other value)."""
    top_p: float = 1.0
    seed: int | None = 0
    logprobs: bool = True
    schema: Mapping[str, Any] | None = None
    """JSON schema that the answer must fit; the model is constrained to it as it writes."""
    alternatives: int = 0
    """How many of the likeliest first tokens are wanted, with their log-probabilities."""
    grammar: str | None = None
    """What the answer must fit in place of a schema, in llguidance's Lark; only for models that follow grammars."""
    shared: int = 0
    """How many characters of the last message other requests are likely to begin with as well, so that a model may keep
    what it has read up to there. It is a hint: what is asked is the same without it, and so is the key."""
    parts: Parts | None = None
    """How a model that can do so writes the answer: what must stand there is given, and the rest fits the grammar. They
    are not in the key: a change of what they allow must change the identity of such a model."""
    top_k: int | None = None
    """Number of the likeliest tokens to sample from; None for all."""

    @property
    def dice(self) -> int | None:
        """Seed of the random numbers that a model draws: of its own for each question, because answers to different
        questions would depend on each other if they were drawn with the same numbers."""
        if self.seed is None or self.temperature == 0:
            return self.seed
        asked = "\0".join((str(self.seed), *chain.from_iterable(self.messages)))
        return int.from_bytes(sha256(asked.encode("utf-8", "surrogatepass")).digest()[:4]) >> 1

    @property
    def constrained(self) -> bool:
        """True if the model is constrained as it writes."""
        return self.schema is not None or self.grammar is not None


def greedy(text: str, max_tokens: int, schema: Mapping[str, Any] | None = None) -> Request:
    """Return one question to a model, answered greedily and without log-probabilities."""
    return Request((Message("user", text),), max_tokens=max_tokens, logprobs=False, schema=schema)


class Stop(StrEnum):
    """The reason why an answer ended; what servers say is sorted into these by `stop_of`."""

    COMPLETE = "stop"
    LENGTH = "length"
    FILTERED = "content_filter"
    REFUSAL = "refusal"
    TOOLS = "tool_calls"
    OTHER = "other"
    """An error, or something that we do not know: nobody can say whether the answer is complete."""


_STOPS: dict[Stop, str] = {
    Stop.COMPLETE: "stop eos eos_token end end_turn stop_sequence complete completed finish finished done",
    Stop.LENGTH: "length max_tokens max_output_tokens max_length model_length token_limit",
    Stop.FILTERED: "content_filter safety recitation blocklist prohibited_content guardrail_intervened",
    Stop.REFUSAL: "refusal refused",
    Stop.TOOLS: "tool_calls tool_call tool_use function_call",
}
_STOP_OF = {word: stop for stop, words in _STOPS.items() for word in words.split()}


def stop_of(reason: str) -> Stop:
    """Return what a server's finish reason means."""
    return _STOP_OF.get(reason.casefold()) or Stop.OTHER


Alternatives = tuple[tuple[str, float], ...]
"""The likeliest first tokens of an answer, with their log-probabilities."""


class Written(NamedTuple):
    """An answer that is known to be complete, so that it can be graded: see `Completion.complete`."""

    text: str
    """The answer, without thoughts."""
    thoughts: str
    """All of them: those that the server sent apart, then those in tags."""
    whole: str
    """The answer, with thoughts in tags before it where the server sends them so."""
    apart: str
    """The thoughts that the server sent apart from the answer."""
    stop: Stop
    logprobs: tuple[float, ...] | None
    """Of the tokens of the answer; None where there are none, or where they do not cover it."""
    alternatives: Alternatives | None
    prompt_tokens: int
    completion_tokens: int

    @property
    def usage(self) -> Usage:
        """The tokens of the call."""
        return Usage(prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens)

    @property
    def aloud(self) -> str:
        """Thoughts and answer in one text, for people to read."""
        return f"<think>\n{self.apart}\n</think>\n\n{self.whole}" if self.apart else self.whole


class Completion(NamedTuple):
    """The return value of a model. Graders do not read it, but what `complete` makes of it."""

    text: str
    logprobs: tuple[float, ...] | None = None
    """Log-probability of each token of the answer; None where the server gives none."""
    stop: str = "stop"
    """The server's finish reason, for example `stop`, `length` or `content_filter`."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    alternatives: Alternatives | None = None
    """The likeliest first tokens and their log-probabilities, where they were asked for and the server gives them."""
    thoughts: str = ""
    """The model's reasoning, where the server sends it apart from the answer."""

    @property
    def usage(self) -> Usage:
        """The tokens of the call."""
        return Usage(prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens)

    def complete(self, *graded: Stop, empty: bool = False) -> Written | Failure:
        """Return what can be graded; or why nothing can.

        A protocol names the incomplete answers that it grades nevertheless, such as a letter that is cut off after it;
        with `empty` also nothing, where that is all that the model had to say.
        """
        stop = stop_of(self.stop)
        text, thoughts = self.text.strip(), self.thoughts
        if "<" in text:
            from mores.reading import split_thoughts  # many patterns, for those who mark their thoughts

            text, tagged = split_thoughts(text)
            thoughts = "\n".join(filter(None, (thoughts, tagged)))
        if text and stop is Stop.COMPLETE:  # most are; members of an enumeration are slow to get before Python 3.12
            return self._written(text, thoughts, stop)
        if stop is Stop.FILTERED and stop not in graded:
            kind, reason = FailureKind.FILTERED, "the provider's content filter withheld the answer"
        elif stop is Stop.REFUSAL and stop not in graded:
            kind, reason = FailureKind.REFUSED, f"the model declined to answer: {text[:60]!r}"
        elif stop is Stop.LENGTH and (stop not in graded or not text):
            tokens = f" after {self.completion_tokens} tokens" if self.completion_tokens else ""
            kind, reason = FailureKind.TRUNCATED, f"the answer was cut off{tokens}; it ends with {text[-60:]!r}"
        elif stop is Stop.OTHER:
            kind, reason = FailureKind.MODEL, f"the server ended the answer with {self.stop[:60]!r}"
        elif not text and not (empty and stop is Stop.COMPLETE):
            tools = "the model called a tool instead of answering" if stop is Stop.TOOLS else "the answer is empty"
            kind, reason = FailureKind.EMPTY, "the answer has only thoughts" if thoughts else tools
        else:
            return self._written(text, thoughts, stop)
        return Failure(kind=kind, reason=reason)

    def _written(self, text: str, thoughts: str, stop: Stop) -> Written:
        covered = self.logprobs and len(self.text) <= _LONGEST_TOKEN * len(self.logprobs)
        logprobs = self.logprobs if covered else None
        used = self.prompt_tokens, self.completion_tokens
        return Written(text, thoughts, self.text, self.thoughts, stop, logprobs, self.alternatives, *used)


class Model(Protocol):
    """A kind of model. It is entered before the first call and left after the last.

    `complete` makes one attempt and raises `Transient`, `Rejected` or `ModelError`: the engine does the rest. What a
    kind may have besides is asked with `follows_grammars`, `weakness`, `wants_evidence`, `weakness_uncovered` and
    `taught_explanations`.
    """

    @property
    def name(self) -> str:
        """The name that the user writes, for example `openai:gpt-4.1-mini`."""

    @property
    def identity(self) -> str:
        """Everything besides the request that decides the answer: file hash, server, adapter, engine version."""

    @property
    def concurrency(self) -> int:
        """The number of concurrent calls that suits it best."""

    @property
    def timeout(self) -> float:
        """Seconds that one call may take, unless the user says otherwise."""

    @property
    def constrained(self) -> bool:
        """True if it needs the schema constraint to write a report at all."""

    @property
    def style(self) -> Style | None:
        """The metric's prompt that it was tuned with; None for a model that `mores train` did not make."""

    @property
    def warning(self) -> str | None:
        """The warning that a person must read before trusting its verdicts."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...

    async def complete(self, request: Request) -> Completion: ...


class BasicModel:
    """A base for models of your own: write `complete`, and set what differs from these values.

    Without an `identity` the signature has the qualified name of the class, which does not change when its answers do.
    """

    name: str
    """The name of the class, unless it is set."""
    identity: str
    concurrency: int = 8
    timeout: float = 60.0
    constrained: bool = False
    style: Style | None = None
    warning: str | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.name = vars(cls).get("name", cls.__qualname__)
        cls.identity = vars(cls).get("identity", f"{cls.__module__}.{cls.__qualname__}")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close nothing."""

    async def complete(self, request: Request) -> Completion:
        """Answer one request."""
        raise NotImplementedError


def follows_grammars(model: Model) -> bool:
    """Return whether a request to it may have a grammar: its kind says `grammars = True`."""
    return bool(getattr(model, "grammars", False))


def weakness(model: Model) -> str:
    """Return why its verdicts without evidence are weak (`weak_without_evidence` of its kind); empty for most."""
    return getattr(model, "weak_without_evidence", None) or ""


def wants_evidence(model: Model) -> bool:
    """Return whether texts are looked up for it unless it is told otherwise (`wants_evidence`): it is weak without."""
    return bool(getattr(model, "wants_evidence", weakness(model)))


def weakness_uncovered(model: Model) -> str:
    """Return why its verdicts are weak by evidence that does not cover a text (`weak_uncovered`); empty for most."""
    return getattr(model, "weak_uncovered", None) or ""


def taught_explanations(model: Model) -> Explanations | None:
    """Return the forms of explanation that it was taught (`explanations` of its kind); None for a free choice."""
    return getattr(model, "explanations", None)


class Calibration(NamedTuple):
    """Slope and offset that make a probability of a judge's log-odds of an error, measured on sources left out."""

    slope: float
    offset: float


def calibration_of(model: Model, *, with_evidence: bool) -> Calibration | None:
    """Return the calibration of a judge; `calibration` of its kind has both, with evidence first. None for most."""
    with_, without = getattr(model, "calibration", None) or (None, None)
    return with_ if with_evidence else without
