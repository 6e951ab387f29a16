"""What a model is: something that completes a request, with log-probabilities and, if asked, to a JSON schema.

A kind of model is one file that offers one class of this protocol, and one line in `mores.models.KINDS`. `BasicModel`
has defaults for all but `complete`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from typing import Any, Literal, NamedTuple, Protocol, Self, get_args

Style = Literal["paper", "fenced", "guided", "brief"]
"""The metric's prompts, see `mores.metric.prompt`."""
STYLES: tuple[Style, ...] = get_args(Style)
Precision = Literal["bfloat16", "float32"]
"""The numbers that a local model computes with."""
PRECISIONS: tuple[Precision, ...] = get_args(Precision)


_ROUNDING = 1e-6


def is_logprob(value: float) -> bool:
    """Return whether a number can be a log-probability: not above 0, except for rounding."""
    return -math.inf < value <= _ROUNDING


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


LONGEST_QUOTATION = 100
"""Characters of a passage that an explanation quotes."""


class Explanations(NamedTuple):
    """How a tuned model explains errors: it decides what stands in the gaps, and need not write the rest."""

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

    @property
    def constrained(self) -> bool:
        """Whether the model is constrained as it writes."""
        return self.schema is not None or self.grammar is not None


def greedy(text: str, max_tokens: int, schema: Mapping[str, Any] | None = None) -> Request:
    """Return one question to a model, answered greedily and without log-probabilities."""
    return Request((Message("user", text),), max_tokens=max_tokens, logprobs=False, schema=schema)


class Completion(NamedTuple):
    """The answer of a model."""

    text: str
    logprobs: tuple[float, ...] | None = None
    """Log-probability of each token of the answer; None where the server gives none."""
    stop: str = "stop"
    """`stop`, `length` or `content_filter`."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    alternatives: tuple[tuple[str, float], ...] | None = None
    """The likeliest first tokens and their log-probabilities, where they were asked for and the server gives them."""


class Model(Protocol):
    """A kind of model. It is entered before the first call and left after the last.

    `complete` makes one attempt and raises `Transient`, `Rejected` or `ModelError`: the engine does the rest. What a
    kind may have besides is asked with `follows_grammars`, `weakness`, `weakness_uncovered` and `taught_explanations`.
    """

    @property
    def name(self) -> str:
        """As the user writes it, for example `openai:gpt-4.1-mini`."""

    @property
    def identity(self) -> str:
        """Everything besides the request that decides the answer: file hash, server, adapter, engine version."""

    @property
    def concurrency(self) -> int:
        """How many calls at once suit it best."""

    @property
    def timeout(self) -> float:
        """Seconds that one call may take, unless the user says otherwise."""

    @property
    def constrained(self) -> bool:
        """Whether it needs the schema constraint to write a report at all."""

    @property
    def style(self) -> Style | None:
        """The metric's prompt that it was tuned with; None for a model that `mores train` did not make."""

    @property
    def warning(self) -> str | None:
        """What a person must know before trusting its verdicts."""

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


def weakness_uncovered(model: Model) -> str:
    """Return why its verdicts are weak by evidence that does not cover a text (`weak_uncovered`); empty for most."""
    return getattr(model, "weak_uncovered", None) or ""


def taught_explanations(model: Model) -> Explanations | None:
    """Return the forms of explanation that it was taught (`explanations` of its kind); None for a free choice."""
    return getattr(model, "explanations", None)
