"""Soft errors by a model: it gets a correct pair and writes a wrong one (ExCAM, Section 3 and Table 7).

Each pair is tried once with minor and once with major errors. What the model calls not cultural is dropped, and an
answer that cannot be used is a failure; neither is asked for again. The errors are located by comparing the model's
texts with the originals; the model is not asked where they are.
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
from mores.types import Error, ErrorReport, Failure, FailureKind, Sample, Severity, Side

_SLOT = re.compile(r"\{(src|gt|MINOR/MAJOR)\}")
_OUTPUT = re.compile(r"OUTPUT:\**\s*(?=\{|```)")


@dataclass(frozen=True)
class Settings:
    """How the model is asked; the defaults suit a model that thinks, as the paper's does."""

    max_tokens: int = 16_384
    temperature: float | None = None
    """None leaves it to the server, which mostly follows the model's card, as the paper does."""
    seed: int | None = 0


class Written(BaseModel):
    """The JSON that Table 7 asks for: all keys, and no others; they may be empty where there is nothing cultural."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    type: str = Field(alias="Error Type")
    cultural: Annotated[str, StringConstraints(pattern=r"^\W*(?i:yes|no)\b")] = Field(alias="Cultural Content")
    adherence: str = Field(alias="Rule Adherence")
    explanation: str = Field(alias="Explanation")
    severity: str = Field(alias="Severity")
    """As the model sees it; the one that was asked for counts."""
    instruction: str = Field(alias="Modified Instruction")
    text: str = Field(alias="Modified Generated Text")

    @property
    def is_cultural(self) -> bool:
        return re.match(r"\W*no\b", self.cultural, re.IGNORECASE) is None


Made = Gold | Failure | None
"""A pair with errors; why there is none; None where the model says that the pair has nothing cultural."""


def requests(gold: Gold, settings: Settings | None = None) -> dict[Severity, Request]:
    """Return what the model is asked about a pair: one request for minor and one for major errors."""
    return {severity: _request(gold, severity, settings or Settings()) for severity in Severity}


def read(completion: Completion, gold: Gold, severity: Severity, name: str = "") -> Made:
    """Return the pair with errors in an answer; `name` is that of the model."""
    if completion.stop == "content_filter":
        return Failure(kind=FailureKind.FILTERED, reason="the provider's content filter withheld the answer")
    written = _parse(completion.text)
    if isinstance(written, Failure):
        if completion.stop == "length":
            return Failure(kind=FailureKind.TRUNCATED, reason="the answer was cut off; raise the limit of tokens")
        return written
    return _gold(written, gold, severity, name) if written.is_cultural else None


async def make(
    golds: Iterable[Gold], asker: Asker, settings: Settings | None = None, counts: Counts | None = None
) -> AsyncGenerator[tuple[Gold, Made], None]:
    """Each pair twice, with what came of its minor and then of its major request, in order, in constant memory."""
    async with aclosing(asker.ask(_jobs(golds, settings or Settings()), counts=counts)) as answers:
        async for answer in answers:
            gold, severity = answer.job.data
            if answer.completion is None:
                yield gold, answer.failure
            else:
                yield gold, read(answer.completion, gold, severity, asker.model.name)


@cache
def prompt_hash() -> str:
    """Eight digits that change when a word of the prompts does."""
    prompts = "\0".join(map(_text, ("soft", *Severity)))
    return blake2b(prompts.encode(), digest_size=4).hexdigest()


def _request(gold: Gold, severity: Severity, settings: Settings) -> Request:
    values = {"src": gold.sample.instruction, "gt": gold.sample.text, "MINOR/MAJOR": _text(severity)}
    prompt = _SLOT.sub(lambda slot: values[slot[1]], _text("soft"))  # one pass: what is put in is not looked at again
    return Request(
        (Message("user", prompt),), settings.max_tokens, settings.temperature, seed=settings.seed, logprobs=False
    )


def _jobs(golds: Iterable[Gold], settings: Settings) -> Iterator[Job]:
    for gold in golds:
        unfit = None
        if gold.kind != "correct" or gold.report.errors:
            reason = f"{gold.sample.id} has errors already; only a correct pair can be given some"
            unfit = Failure(kind=FailureKind.INPUT, reason=reason)
        for severity, request in requests(gold, settings).items():
            yield Job(_id(gold, severity), unfit or request, data=(gold, severity))


def _parse(text: str) -> Written | Failure:
    """Return the JSON after the last `OUTPUT:`; a code fence around it is allowed, no more."""
    marks = list(_OUTPUT.finditer(text))
    if not marks:
        return Failure(kind=FailureKind.PARSE, reason=f"no 'OUTPUT:' with JSON after it; ends {text[-60:]!r}")
    return read_written(text[marks[-1].end() :], Written, "what Table 7 asks for")


def _gold(written: Written, gold: Gold, severity: Severity, name: str) -> Gold | Failure:
    needed = (written.type, written.explanation, written.instruction, written.text)
    if not all(value.strip() for value in needed):
        return Failure(kind=FailureKind.SCHEMA, reason="the type, the explanation or one of the texts is empty")
    changes = {"id": _id(gold, severity), "instruction": written.instruction, "text": written.text}
    sample = gold.sample.model_copy(update=changes)
    errors = tuple(_errors(written, gold.sample, sample, severity))
    if not errors:
        return Failure(kind=FailureKind.SCHEMA, reason="no word of the instruction or the text was changed")
    report = ErrorReport(errors=errors, explanation=written.explanation)
    original = Original(instruction=gold.sample.instruction, text=gold.sample.text)
    changed = {"sample": sample, "report": report, "kind": "soft", "maker": f"model:{name}", "original": original}
    return gold.model_copy(update=changed)


def _errors(written: Written, original: Sample, sample: Sample, severity: Severity) -> Iterator[Error]:
    sides: tuple[Side, ...] = get_args(Side)
    for side in sides:
        for start, end in differences(original.side(side), sample.side(side)):
            yield Error(
                side=side,
                start=start,
                end=end,
                quote=sample.side(side)[start:end],
                severity=severity,
                type=written.type.strip(),
                explanation=written.explanation,
            )


def _id(gold: Gold, severity: Severity) -> str:
    return f"{gold.sample.id}:{severity}"


def _text(name: str) -> str:
    return read_prompt(__file__, f"prompts/{name}")
