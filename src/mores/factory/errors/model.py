"""Soft errors by a model: it gets a correct pair and writes a wrong one (ExCAM, Section 3 and Table 7).

Each pair is tried once with minor and once with major errors. Pairs that the model calls not cultural are dropped, and
an unusable answer is a failure; neither is asked for again. The errors are located by comparing the model's texts with
the originals; the model is not asked for their places. The paper splits both into NLTK words without punctuation and
compares them with difflib (Appendix E). Here, scripts that write no spaces are compared by grapheme cluster, and
neighbouring differences count as one error.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Annotated, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from mores.engine import Answer, Asker, Counts, Job
from mores.factory.gold import Gold, Original
from mores.language.units import Unit, units
from mores.models.base import Message, Request, Stop, Written
from mores.models.written import read_written
from mores.prompts import hash_prompts, read_prompt
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


def read(answer: Written | Failure, gold: Gold, severity: Severity, name: str = "") -> Made:
    """Return the pair with errors in an answer of the model `name`."""
    if isinstance(answer, Failure):
        return answer
    marks = list(_OUTPUT.finditer(answer.text))
    if marks:  # a code fence around the JSON is allowed, no more
        written = read_written(answer.text[marks[-1].end() :], WrittenPair, "what Table 7 asks for")
    else:
        reason = f"no 'OUTPUT:' with JSON after it; ends {answer.text[-60:]!r}"
        written = Failure(kind=FailureKind.PARSE, reason=reason)
    if isinstance(written, Failure):
        if answer.stop is Stop.LENGTH:
            return Failure(kind=FailureKind.TRUNCATED, reason="the answer was cut off; raise the limit of tokens")
        return written
    return _gold(written, gold, severity, name) if written.is_cultural else None


async def make(
    golds: Iterable[Gold], asker: Asker, settings: SoftErrorSettings | None = None, counts: Counts | None = None
) -> AsyncGenerator[tuple[Gold, Made], None]:
    """Yield each pair twice, with the result of its minor and its major request, in order, in constant memory."""

    def made(answer: Answer) -> Made:
        gold, severity = answer.job.data
        return read(answer.read(Stop.LENGTH), gold, severity, asker.model.name)

    jobs = _jobs(golds, settings or SoftErrorSettings())
    async with aclosing(asker.ask(jobs, counts=counts, read=made)) as answers:
        async for answer in answers:
            yield answer.job.data[0], made(answer)


@cache
def prompt_hash() -> str:
    """Return eight digits that change when a word of the prompts does."""
    return hash_prompts(*map(_text, ("soft", *Severity)))


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


COINCIDENCE = 2
"""Up to this many equal clusters between two differences are coincidence in scripts such as Thai."""


class ChangedBlock(NamedTuple):
    """Units `start:end` of the original that became units `new_start:new_end`; either may be empty."""

    start: int
    end: int
    new_start: int
    new_end: int


def differences(original: str, modified: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of `modified` that differ from `original`, in code points; differing punctuation is ignored.

    Where words were only removed, the word after them is marked, or the last one at the end of the text.
    """
    before, after = units(original), units(modified)
    changed = blocks(before, after)
    if changed and not after:  # all words are gone
        rest = modified.strip()
        return ((modified.index(rest), modified.index(rest) + len(rest)),) if rest else ()
    marked: list[tuple[int, int]] = []
    for block in changed:
        start, end = block.new_start, block.new_end
        if start == end:  # words were only removed
            start = min(start, len(after) - 1)
            end = start + 1
        if marked and (start <= marked[-1][1] or _inside_word(after[marked[-1][1] - 1 : start + 1])):
            marked[-1] = marked[-1][0], max(end, marked[-1][1])
        else:
            marked.append((start, end))
    return tuple((after[start].start, after[end - 1].end) for start, end in marked)


def blocks(before: Sequence[Unit], after: Sequence[Unit]) -> list[ChangedBlock]:
    """Return the replaced, removed and inserted units, by index."""
    old, new = [unit.key for unit in before], [unit.key for unit in after]
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])  # difflib is quadratic, and most of a text is not changed
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        ChangedBlock(start + head, end + head, new_start + head, new_end + head)
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def _common(old: list[str], new: list[str]) -> int:
    """Return the number of equal units at the start of both."""
    return next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _inside_word(run: Sequence[Unit]) -> bool:
    """Return whether the few units between two changed ones, given with both, are likely to be inside the same word."""
    touching = all(first.end == second.start for first, second in pairwise(run))
    if len(run) > COINCIDENCE + 2 or not touching or not all(unit.unspaced for unit in run):
        return False
    # Not in Chinese or kana, where one sign may be a word.
    return all(unit.key[0] < "\u3000" or "\ua980" <= unit.key[0] <= "\uaa7f" for unit in run)
