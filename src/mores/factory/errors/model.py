"""Soft errors by a model: it gets a correct pair and writes a wrong one (ExCAM, Section 3 and Table 7).

Each pair is tried once with minor and once with major errors; an error has the severity that the model says it made, or
the one that was asked for (`SoftErrorSettings.severity`). Pairs that the model calls not cultural are dropped. An
unusable answer is a failure; with `repair` (from edition 3 on) it is read as far as that needs no guess
(`mores.factory.errors.repair`), checked by rules (`why_unsound`), and asked for once more. The errors are located by
comparing the model's texts with the originals; the model is not asked for their places. The paper splits both into NLTK
words without punctuation and compares them with difflib (Appendix E). Here, scripts that write no spaces are compared
by grapheme cluster, and neighbouring differences count as one error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from mores.engine import Answer, Asker, Counts, Job
from mores.factory.errors.repair import find_fields
from mores.factory.errors.rules.edit import TextEdit
from mores.factory.errors.rules.soundness import is_grammatical
from mores.factory.gold import Gold, Original
from mores.language import detect
from mores.language.units import Unit, units
from mores.models.base import Completion, Message, Request, Stop, Written
from mores.models.written import read_written
from mores.prompts import fill, hash_prompts, read_prompt
from mores.types import Error, ErrorReport, Failure, FailureKind, Severity, Side

_SLOT = re.compile(r"\{(src|gt|MINOR/MAJOR|pairs|count)\}")
LONGEST_REASON = 100
"""Characters of a reason for which an answer is dropped."""
NOT_THE_TEXT = "a side is only called unchanged, or has a label before it"
NO_SEVERITY = "the model names no severity, or both; the one asked for counts"
_OUTPUT = re.compile(r"OUTPUT:\**\s*(?=\{|```)")


@dataclass(frozen=True)
class SoftErrorSettings:
    """The settings of requests; the defaults suit a reasoning model, as in the paper."""

    max_tokens: int = 16_384
    temperature: float | None = None
    """None leaves it to the server, which usually follows the model's card, as the paper does."""
    seed: int | None = 0
    repair: bool = False
    """Whether unusable answers are repaired, and asked for once more."""
    at_once: int = 1
    """Pairs in one request; those that it does not answer are asked for one by one."""
    severity: Literal["answered", "asked"] = "asked"
    """Whose severity an error has: the model's, as in the paper (Section 3), or the request's."""
    checked: bool = False
    """Whether rules check what a model wrote (`why_unsound`)."""
    most: int = 3
    """Errors of a text that is checked."""


class WrittenPair(BaseModel):
    """The JSON that Table 7 asks for, with exactly these keys; they may be empty if nothing is cultural."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    type: str = Field(alias="Error Type")
    cultural: Annotated[str, StringConstraints(pattern=r"^\W*(?i:yes|no)\b")] = Field(alias="Cultural Content")
    adherence: str = Field(alias="Rule Adherence")
    explanation: str = Field(alias="Explanation")
    severity: str = Field(alias="Severity")
    instruction: str = Field(alias="Modified Instruction")
    text: str = Field(alias="Modified Generated Text")

    @property
    def is_cultural(self) -> bool:
        return re.match(r"\W*no\b", self.cultural, re.IGNORECASE) is None

    @property
    def severities(self) -> set[Severity]:
        """The severities that the model names: none, one or both."""
        return {Severity(word) for word in re.findall(r"\b(?:minor|major)\b", self.severity.casefold())}


Made = Gold | Failure | None
"""A pair with errors, a failure, or None if the model says that nothing in the pair is cultural."""
Asked = tuple[Gold, Severity]
"""A correct pair, and the severity of the errors that a model is asked for."""


def requests(gold: Gold, settings: SoftErrorSettings | None = None) -> dict[Severity, Request]:
    """Return the requests for a pair: one for minor and one for major errors."""
    return {severity: _request(gold, severity, settings or SoftErrorSettings()) for severity in Severity}


def read(
    answer: Written | Failure,
    gold: Gold,
    severity: Severity,
    name: str = "",
    repaired: Counter[str] | None = None,
    *,
    settings: SoftErrorSettings | None = None,
) -> Made:
    """Return the pair with errors in an answer of the model `name`; repairs, if wanted, are counted by their reason."""
    settings = settings or SoftErrorSettings()
    answered = settings.severity == "answered"
    if isinstance(answer, Failure):
        return answer

    def errors_of(pair: WrittenPair) -> Made:
        named = pair.severities if answered else {severity}
        made = _made(pair, gold, severity, name, min(named) if len(named) == 1 else severity)
        if settings.checked and isinstance(made, Gold) and (reason := why_unsound(gold, made, settings.most)):
            return Failure(kind=FailureKind.SCHEMA, reason=reason)
        return made

    marks = list(_OUTPUT.finditer(answer.text))
    if marks:  # a code fence around the JSON is allowed, no more
        written = read_written(answer.text[marks[-1].end() :], WrittenPair, "what Table 7 asks for")
    else:
        reason = f"no 'OUTPUT:' with JSON after it; ends {answer.text[-60:]!r}"
        written = Failure(kind=FailureKind.PARSE, reason=reason)
    if isinstance(written, Failure) and answer.stop is Stop.LENGTH:
        return Failure(kind=FailureKind.TRUNCATED, reason="the answer was cut off; raise the limit of tokens")
    made = written if isinstance(written, Failure) else errors_of(written)
    if made is not None and repaired is not None:
        names = [str(field.alias) for field in WrittenPair.model_fields.values()]
        with suppress(ValidationError):
            pair = WrittenPair.model_validate(find_fields(answer.text, names, gold.sample))
            if pair != written and not isinstance(again := errors_of(pair), Failure):
                repaired[reason_of(made) if isinstance(made, Failure) else NOT_THE_TEXT] += 1
                made = again
            elif pair != written and isinstance(written, Failure):
                made = again  # it could be read, and is wrong for another reason
            if answered and isinstance(made, Gold) and len(pair.severities) != 1:
                repaired[NO_SEVERITY] += 1
    return made


def reason_of(failure: Failure) -> str:
    """Return why an answer cannot be used, without what differs from answer to answer."""
    return re.split(r"[;(]| ends |: line \d", failure.reason)[0].strip()[:LONGEST_REASON]


async def make(
    golds: Iterable[Gold], asker: Asker, settings: SoftErrorSettings | None = None, counts: Counts | None = None
) -> AsyncGenerator[tuple[Gold, Made], None]:
    """Yield each pair twice, with the result of its minor and its major request, in order, in constant memory."""
    asked = ((gold, severity) for gold in golds for severity in Severity)
    async with aclosing(make_each(asked, asker, settings or SoftErrorSettings(), counts)) as results:
        async for (gold, _), made in results:
            yield gold, made


async def make_each(
    asked: Iterable[Asked],
    asker: Asker,
    settings: SoftErrorSettings,
    counts: Counts | None = None,
    repaired: Counter[str] | None = None,
) -> AsyncGenerator[tuple[Asked, Made], None]:
    """Yield each pair with what the model makes of it, in order; an unusable answer may be asked for once more."""
    repaired = Counter() if repaired is None else repaired

    def made(answer: Answer, counted: Counter[str] | None = None) -> Made:
        counted = (Counter() if counted is None else counted) if settings.repair else None
        gold, severity = answer.job.data
        return read(answer.read(Stop.LENGTH), gold, severity, asker.model.name, counted, settings=settings)

    def follow(job: Job, completion: Completion) -> Request | None:
        reply, result = completion.complete(Stop.LENGTH), made(Answer(job, completion))
        if isinstance(reply, Failure) or not isinstance(result, Failure) or result.kind is FailureKind.TRUNCATED:
            return None
        assert isinstance(job.request, Request)
        again = fill(_text("again"), reason=reason_of(result))
        told = (Message("assistant", reply.text), Message("user", again))
        return job.request._replace(messages=(*job.request.messages, *told))

    asking = asker.ask(
        single_jobs(asked, settings), counts=counts, read=made, follow=follow if settings.repair else None
    )
    async with aclosing(asking) as answers:
        async for answer in answers:
            result = made(answer, repaired)
            if answer.followed and not isinstance(result, Failure):
                repaired["asked for once more"] += 1
            yield answer.job.data, result


async def make_several(
    asked: Iterable[Asked],
    asker: Asker,
    settings: SoftErrorSettings,
    counts: Counts | None = None,
    repaired: Counter[str] | None = None,
) -> AsyncGenerator[tuple[Asked, Made], None]:
    """Yield each pair with what the model makes of it in a request of several; a failure is to be asked for alone."""
    async with aclosing(asker.ask(several_jobs(asked, settings), counts=counts)) as answers:
        async for answer in answers:
            reply = answer.read(Stop.LENGTH)
            pieces = re.split(r"OUTPUT\W{0,3}(\d+)\W{0,3}?:", "" if isinstance(reply, Failure) else reply.text)
            outputs = dict(zip(pieces[1::2], pieces[2::2], strict=True))  # of those with one number the last counts
            for number, (gold, severity) in enumerate(answer.job.data, 1):
                if isinstance(reply, Failure) or (output := outputs.get(str(number))) is None:
                    missing = Failure(kind=FailureKind.PARSE, reason="no output for this pair among several")
                    yield (gold, severity), reply if isinstance(reply, Failure) else missing
                else:
                    piece = reply._replace(text=f"OUTPUT: {output.strip()}")
                    counted = repaired if settings.repair else None
                    yield (gold, severity), read(piece, gold, severity, asker.model.name, counted, settings=settings)


@cache
def prompt_hash() -> str:
    """Return eight digits that change when a word of the prompts does."""
    return hash_prompts(*map(_text, ("soft", *Severity)))


def settings_hash(settings: SoftErrorSettings) -> str:
    """Return what tells results with these settings from those with the defaults; empty for the defaults."""
    changed = {name: value for name, value in vars(settings).items() if value != getattr(SoftErrorSettings, name)}
    return hash_prompts(str(changed), *map(_text, ("again", "several"))) if changed else ""


def _request(gold: Gold, severity: Severity, settings: SoftErrorSettings) -> Request:
    values = {"src": gold.sample.instruction, "gt": gold.sample.text, "MINOR/MAJOR": _text(severity)}
    prompt = _SLOT.sub(lambda slot: values[slot[1]], _text("soft"))  # one pass: inserted text has no slots
    return _ask(prompt, settings.max_tokens, settings)


def _ask(prompt: str, tokens: int, settings: SoftErrorSettings) -> Request:
    return Request((Message("user", prompt),), tokens, settings.temperature, seed=settings.seed, logprobs=False)


def single_jobs(asked: Iterable[Asked], settings: SoftErrorSettings) -> Iterator[Job]:
    """Yield the calls to make, one for each pair."""
    for gold, severity in asked:
        unfit = None
        if gold.kind != "correct" or gold.report.errors:
            reason = f"{gold.sample.id} has errors already; only a correct pair can be given some"
            unfit = Failure(kind=FailureKind.INPUT, reason=reason)
        yield Job(_id(gold, severity), unfit or _request(gold, severity, settings), data=(gold, severity))


def several_jobs(asked: Iterable[Asked], settings: SoftErrorSettings) -> Iterator[Job]:
    """Yield the calls to make, each for as many pairs with errors of one severity as the settings say."""
    waiting: dict[Severity, list[Asked]] = {severity: [] for severity in Severity}
    for pair in asked:
        waiting[pair[1]].append(pair)
        if len(batch := waiting[pair[1]]) == settings.at_once:
            waiting[pair[1]] = []
            yield _several(batch, settings)
    yield from (_several(batch, settings) for batch in waiting.values() if batch)


def _several(batch: Sequence[Asked], settings: SoftErrorSettings) -> Job:
    shown = "\n".join(
        f"Instruction {number}: {gold.sample.instruction}\nGenerated Text {number}: {gold.sample.text}"
        for number, (gold, _) in enumerate(batch, 1)
    )
    values = {"count": str(len(batch)), "pairs": shown, "MINOR/MAJOR": _text(batch[0][1])}
    prompt = _SLOT.sub(lambda slot: values[slot[1]], _text("several"))
    return Job(_id(*batch[0]), _ask(prompt, settings.max_tokens, settings), data=batch)


def _made(written: WrittenPair, gold: Gold, asked: Severity, name: str, severity: Severity) -> Made:
    if not written.is_cultural:
        return None
    needed = (written.type, written.explanation, written.instruction, written.text)
    if not all(value.strip() for value in needed):
        return Failure(kind=FailureKind.SCHEMA, reason="the type, the explanation or one of the texts is empty")
    changes = {"id": _id(gold, asked), "instruction": written.instruction, "text": written.text}
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


LONG = 8
"""Words from which on a side is a text, of which a model may change some, but not most."""
_OF_THE_TASK = re.compile(
    r"\b(?:modif(?:y|ied|ication)|introduc(?:ed|ing) (?:an? )?(?:\w+ )?errors?|original text)\b", re.I
)
_OF_THE_REQUEST = re.compile(r"follow these rules|(?:modified|generated) (?:generated )?text\s*:|error type\s*:", re.I)


def why_unsound(gold: Gold, made: Gold, most: int) -> str | None:
    """Return why a pair with errors cannot be used, by rules; None if it can.

    Small models rewrite a text instead of changing some words, answer in English about a text in another language,
    break the grammar, or explain what they did instead of what is wrong.
    """
    if len(made.report.errors) > most:
        return f"more than {most} separate changes were made"
    if _OF_THE_TASK.search(made.report.explanation):
        return "the explanation speaks of the change, not of what is wrong"
    english = (gold.sample.language or "en").partition("-")[0] == "en"
    sides: tuple[Side, ...] = get_args(Side)
    for side in sides:
        original, modified = gold.sample.side(side), made.sample.side(side)
        if _OF_THE_REQUEST.search(modified) and not _OF_THE_REQUEST.search(original):
            return "words of the request are in the text"
        before, after = units(original), units(modified)
        changed = blocks(before, after)
        if len(before) >= LONG and 2 * sum(block.end - block.start for block in changed) > len(before):
            return "most words were changed, not some"
        spoken, now = (detection.detected for detection in detect([original, modified]))
        if spoken and now and spoken != now:
            return "the text is in another language than before"
        for block in changed if english else ():
            if block.start < block.end and block.new_start < block.new_end:
                old = before[block.start].start, before[block.end - 1].end
                new = modified[after[block.new_start].start : after[block.new_end - 1].end]
                if not is_grammatical(TextEdit(*old, new), original):
                    return "the grammar is wrong after the change, for example the article or the number"
    return None


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
