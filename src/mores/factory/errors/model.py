"""Soft errors by a model: it gets a correct pair and writes a wrong one (ExCAM, Section 3 and Table 7).

Each pair is tried once with minor and once with major errors. Pairs that the model calls not cultural are dropped, and
an unusable answer is a failure; neither is asked for again. The errors are located by comparing the model's texts with
the originals; the model is not asked for their places.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Annotated, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from mores.engine import Asker, Counts, Job
from mores.factory.errors.diff import differences
from mores.factory.gold import Gold, Original
from mores.models.base import Completion, Message, Request
from mores.models.written import read_written
from mores.prompts import read_prompt
from mores.types import Error, ErrorReport, Failure, FailureKind, Severity, Side

_SLOT = re.compile(r"\{(src|gt|MINOR/MAJOR)\}")
_OUTPUT = re.compile(r"OUTPUT:\**\s*(?=\{|```)")


@dataclass(frozen=True)
class SoftErrorSettings:
    """The settings of requests; the defaults suit a reasoning model, as in the paper."""

    max_tokens: int = 16_384
    temperature: float | None = None
    """None leaves it to the server, which usually follows the model's card, as the paper does."""
    seed: int | None = 0


class WrittenPair(BaseModel):
    """The JSON that Table 7 asks for, with exactly these keys; they may be empty if nothing is cultural."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    type: str = Field(alias="Error Type")
    cultural: Annotated[str, StringConstraints(pattern=r"^\W*(?i:yes|no)\b")] = Field(alias="Cultural Content")
    adherence: str = Field(alias="Rule Adherence")
    explanation: str = Field(alias="Explanation")
    severity: str = Field(alias="Severity")
    """By the model; the severity that was asked for counts."""
    instruction: str = Field(alias="Modified Instruction")
    text: str = Field(alias="Modified Generated Text")

    @property
    def is_cultural(self) -> bool:
        return re.match(r"\W*no\b", self.cultural, re.IGNORECASE) is None


Made = Gold | Failure | None
"""A pair with errors, a failure, or None if the model says that nothing in the pair is cultural."""


def requests(gold: Gold, settings: SoftErrorSettings | None = None) -> dict[Severity, Request]:
    """Return the requests for a pair: one for minor and one for major errors."""
    return {severity: _request(gold, severity, settings or SoftErrorSettings()) for severity in Severity}


def read(completion: Completion, gold: Gold, severity: Severity, name: str = "") -> Made:
    """Return the pair with errors in an answer of the model `name`."""
    if completion.stop == "content_filter":
        return Failure(kind=FailureKind.FILTERED, reason="the provider's content filter withheld the answer")
    marks = list(_OUTPUT.finditer(completion.text))
    if marks:  # a code fence around the JSON is allowed, no more
        written = read_written(completion.text[marks[-1].end() :], WrittenPair, "what Table 7 asks for")
    else:
        reason = f"no 'OUTPUT:' with JSON after it; ends {completion.text[-60:]!r}"
        written = Failure(kind=FailureKind.PARSE, reason=reason)
    if isinstance(written, Failure):
        if completion.stop == "length":
            return Failure(kind=FailureKind.TRUNCATED, reason="the answer was cut off; raise the limit of tokens")
        return written
    return _gold(written, gold, severity, name) if written.is_cultural else None


async def make(
    golds: Iterable[Gold], asker: Asker, settings: SoftErrorSettings | None = None, counts: Counts | None = None
) -> AsyncGenerator[tuple[Gold, Made], None]:
    """Yield each pair twice, with the result of its minor and its major request, in order, in constant memory."""
    async with aclosing(asker.ask(_jobs(golds, settings or SoftErrorSettings()), counts=counts)) as answers:
        async for answer in answers:
            gold, severity = answer.job.data
            if answer.completion is None:
                yield gold, answer.failure
            else:
                yield gold, read(answer.completion, gold, severity, asker.model.name)


@cache
def prompt_hash() -> str:
    """Return eight digits that change when a word of the prompts does."""
    prompts = "\0".join(map(_text, ("soft", *Severity)))
    return blake2b(prompts.encode(), digest_size=4).hexdigest()


def _request(gold: Gold, severity: Severity, settings: SoftErrorSettings) -> Request:
    values = {"src": gold.sample.instruction, "gt": gold.sample.text, "MINOR/MAJOR": _text(severity)}
    prompt = _SLOT.sub(lambda slot: values[slot[1]], _text("soft"))  # one pass: inserted text has no slots
    return Request(
        (Message("user", prompt),), settings.max_tokens, settings.temperature, seed=settings.seed, logprobs=False
    )


def _jobs(golds: Iterable[Gold], settings: SoftErrorSettings) -> Iterator[Job]:
    for gold in golds:
        unfit = None
        if gold.kind != "correct" or gold.report.errors:
            reason = f"{gold.sample.id} has errors already; only a correct pair can be given some"
            unfit = Failure(kind=FailureKind.INPUT, reason=reason)
        for severity, request in requests(gold, settings).items():
            yield Job(_id(gold, severity), unfit or request, data=(gold, severity))


def _gold(written: WrittenPair, gold: Gold, severity: Severity, name: str) -> Gold | Failure:
    needed = (written.type, written.explanation, written.instruction, written.text)
    if not all(value.strip() for value in needed):
        return Failure(kind=FailureKind.SCHEMA, reason="the type, the explanation or one of the texts is empty")
    changes = {"id": _id(gold, severity), "instruction": written.instruction, "text": written.text}
    sample = gold.sample.model_copy(update=changes)
    sides: tuple[Side, ...] = get_args(Side)
    same = {"severity": severity, "type": written.type.strip(), "explanation": written.explanation}
    errors = tuple(
        Error(side=side, start=start, end=end, quote=sample.side(side)[start:end], **same)
        for side in sides
        for start, end in differences(gold.sample.side(side), sample.side(side))
    )
    if not errors:
        return Failure(kind=FailureKind.SCHEMA, reason="no word of the instruction or the text was changed")
    report = ErrorReport(errors=errors, explanation=written.explanation)
    original = Original(instruction=gold.sample.instruction, text=gold.sample.text)
    changed = {"sample": sample, "report": report, "kind": "soft", "maker": f"model:{name}", "original": original}
    return gold.model_copy(update=changed)


def _id(gold: Gold, severity: Severity) -> str:
    return f"{gold.sample.id}:{severity}"


def _text(name: str) -> str:
    return read_prompt(__file__, f"prompts/{name}")
