"""How sure a model is: what it says itself, what its token probabilities say, and how often it answers the same.

The first two ask the model and write plain files; the answers in them are graded by `Run.grade` like any others.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from mores.bench.benchmark import Benchmark, Verdict
from mores.bench.prompts import fill, hash_of
from mores.bench.run import Run, Said
from mores.culture import language_name
from mores.engine import Answer, Job, unread
from mores.io import JsonlWriter, read_records
from mores.metric.score import certainty
from mores.models import Request
from mores.models.written import object_schema, read_object, without_thoughts
from mores.types import Failure, FailureKind, Record, Response, Usage

Key = tuple[str, int]
"""An item and which of the answers to it."""
Confidences = Mapping[Key, float | Failure]
"""From 0 to 1, or why there is none."""

ENGLISH = "en"
ROOM = 128
"""Tokens more than the benchmark allows: the answer's label, and the line of the confidence."""
SCHEMA = object_schema(
    answer={"type": "string", "maxLength": 100}, confidence={"type": "integer", "minimum": 0, "maximum": 100}
)
"""What a model is held to that could not write the two lines otherwise."""
_PROMPTS = files("mores.diagnose").joinpath("prompts")
_COLON = "[:：]"
_DECOR = r"[\s*_`#>\"'\-]*"
_BIDI = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
"""Marks of direction, which models put around numbers in right-to-left texts."""
_PERCENT = "[%％٪﹪]"
_NUMBER = re.compile(rf"[\s*_`<\[(]*+(?:{_PERCENT}\s*+)?(\d{{1,3}})\s*+{_PERCENT}?[\s*_`>\])。.।]*+")


# ---- what the model says ---------------------------------------------------------------------------------------


class Stated(Record):
    """What a model said when it was asked for an answer and its confidence."""

    item_id: str
    sample: int
    said: str | None = None
    """All of it; what is graded is the answer in it."""
    wanted: str | None = None
    """The language of the question."""
    language: str
    """That of the prompt: English, where there is none in the other."""
    confidence: int | None = None
    """From 0 to 100."""
    failure: Failure | None = None
    """Why there is no confidence."""


class Form(NamedTuple):
    """How confidence is asked for in a language, and the labels of the two lines of a reply."""

    language: str
    template: str
    answer: str
    confidence: str
    fallback: bool
    """Whether English stands in for another language."""


@cache
def form_of(language: str | None) -> Form:
    """The prompt of a language, or that of English where there is none of it."""
    tag = language or ENGLISH
    while not (path := _PROMPTS.joinpath(f"confidence.{tag}.txt")).is_file():
        tag = tag.rpartition("-")[0] or ENGLISH
    template = path.read_text("utf-8").removesuffix("\n")
    answer, confidence = (re.split(_COLON, line)[0].strip() for line in template.split("\n")[-2:])
    return Form(tag, template, answer, confidence, fallback=primary(tag) != primary(language or ENGLISH))


def primary(tag: str) -> str:
    """A language without its script and region."""
    return tag.partition("-")[0]


@cache
def prompts_hash() -> str:
    """Eight digits that change when a word of the prompts does."""
    paths = sorted((one for one in _PROMPTS.iterdir() if one.name.startswith("confidence.")), key=lambda one: one.name)
    return hash_of(*(one.read_text("utf-8") for one in paths), str(ROOM))


async def ask_confidence(job: Run, said: Path, stated: Path) -> None:
    """Ask for an answer and the confidence in it (MSQA, Appendix A); the answers, and all that was said, go to files.

    `said` is what `job.grade` reads. Both files appear when all is asked; what was paid for is in the store.
    """
    asking = replace(job, by_logprob=False)
    schema = SCHEMA if job.model.constrained else None
    stage = f"{job.benchmark.name}: asking with confidence"
    job.asker.announce(stage, asking.jobs())
    with JsonlWriter(said) as spoken:

        def read(answer: Answer) -> Stated:
            text, record = _stated(answer)
            spoken.write(Said(sample=answer.job.sample, response=_response(job, answer, text)))
            return record

        jobs = (_confident(one, asking.variant, schema) for one in asking.jobs())
        await job.asker.write(stated, jobs, read, stage=stage, total=job.answers)


def read_stated(path: Path) -> dict[Key, float | Failure]:
    """The confidences in a file of `ask_confidence`."""
    return {(one.item_id, one.sample): _share(one) for one in read_records(path, Stated)}


def fallback_notes(path: Path) -> tuple[str, ...]:
    """Which languages were asked in English for want of a prompt, in a file of `ask_confidence`."""
    found = Counter(one.wanted for one in read_records(path, Stated) if one.wanted and form_of(one.wanted).fallback)
    if not found:
        return ()
    names = ", ".join(sorted(map(language_name, found)))
    return (f"confidence was asked for in English in {found.total()} answers, for there is no prompt in {names}",)


def read_reply(text: str, form: Form) -> tuple[str, int | Failure]:
    """The answer and the confidence in a reply; the confidence is the last line, there once, one whole number to 100.

    An answer without its label is what stands before the confidence. Labels may be those of the language or English.
    """
    lines = [line for line in _BIDI.sub("", without_thoughts(text)).split("\n") if line.strip()]
    sure, named = _label(form, "confidence"), _label(form, "answer")
    marked = [place for place, line in enumerate(lines) if sure.match(line)]
    before = lines[: marked[0]] if marked else lines
    starts = [place for place, line in enumerate(before) if named.match(line)]
    own = before[starts[0] :] if len(starts) == 1 else before
    answer = "\n".join(named.sub("", line, count=1) for line in own).strip()
    return answer, _confidence(lines, marked, sure)


def read_written(text: str) -> tuple[str, int | Failure]:
    """The same in the JSON object that a model writes which is held to a schema."""
    made = read_object(without_thoughts(text), "answer", "confidence")
    if made is None or not isinstance(made["answer"], str):
        return without_thoughts(text), unread(text, "an answer and a confidence in JSON")
    sure = made["confidence"]
    if isinstance(sure, bool) or not isinstance(sure, int) or not 0 <= sure <= 100:
        return made["answer"], unread(str(sure), "a whole number from 0 to 100")
    return made["answer"], sure


def _confidence(lines: list[str], marked: list[int], label: re.Pattern[str]) -> int | Failure:
    if len(marked) != 1:
        return _unread(f"{len(marked)} lines with a confidence", lines)
    if marked[0] != len(lines) - 1:
        return _unread("there is more behind the confidence", lines)
    found = _NUMBER.fullmatch(label.sub("", lines[-1], count=1))
    # int reads the decimal digits of every script; other numerals are not digits to the pattern.
    if found is None or int(found[1]) > 100:
        return _unread("no single whole number", lines)
    return int(found[1])


def _unread(what: str, lines: list[str]) -> Failure:
    shown = lines[-1].strip()[:80] if lines else ""
    reason = f"{what}: it ends with {shown!r}; expected one last line such as 'Confidence: 85'"
    return Failure(kind=FailureKind.PARSE, reason=reason)


@cache
def _label(form: Form, which: str) -> re.Pattern[str]:
    forms = {getattr(form, which), getattr(form_of(ENGLISH), which)}
    words = "|".join(map(re.escape, sorted(forms)))
    return re.compile(rf"\A{_DECOR}(?:{words}){_DECOR}{_COLON}[*_`]*", re.IGNORECASE)


def _confident(job: Job, variant: str | None, schema: Mapping[str, Any] | None) -> Job:
    """The same call, with the question inside the prompt for confidence."""
    wanted = ENGLISH if variant == "english" else job.data.language
    if isinstance(job.request, Failure):
        return job._replace(data=wanted)
    *before, last = job.request.messages
    asked = last._replace(content=fill(form_of(wanted).template, question=last.content))
    request = job.request._replace(messages=(*before, asked), max_tokens=job.request.max_tokens + ROOM, schema=schema)
    return job._replace(request=request, data=wanted)


def _stated(answer: Answer) -> tuple[str | None, Stated]:
    """The answer alone, and the record of the whole."""
    wanted, made = answer.job.data, answer.completion
    form = form_of(wanted)
    record = Stated(item_id=answer.job.id, sample=answer.job.sample, wanted=wanted, language=form.language)
    if made is None:
        failure = answer.failure or Failure(kind=FailureKind.MODEL, reason="the model did not answer")
        return None, record.model_copy(update={"failure": failure})
    held = isinstance(answer.job.request, Request) and answer.job.request.schema is not None
    text, found = read_written(made.text) if held else read_reply(made.text, form)
    if made.stop == "length":  # half a number is a number, too
        found = Failure(kind=FailureKind.TRUNCATED, reason="the reply was cut off before its end")
    told = {"failure": found} if isinstance(found, Failure) else {"confidence": found}
    return text, record.model_copy(update={"said": made.text, **told})


def _share(one: Stated) -> float | Failure:
    if one.confidence is not None:
        return one.confidence / 100
    return one.failure or Failure(kind=FailureKind.PARSE, reason="there is no confidence")


def _response(job: Run, answer: Answer, text: str | None) -> Response:
    made = answer.completion
    if made is None:
        return Response(item_id=answer.job.id, model=job.model.name, failure=answer.failure)
    usage = Usage(prompt_tokens=made.prompt_tokens, completion_tokens=made.completion_tokens)
    return Response(
        item_id=answer.job.id, model=job.model.name, text=text, logprobs=made.logprobs, usage=usage, stop=made.stop
    )


# ---- what its probabilities say --------------------------------------------------------------------------------


async def ask_likelihood(job: Run, said: Path) -> None:
    """Ask the plain questions with log-probabilities: of the options where there are some, else of every token."""
    if job.benchmark.candidates is not None:
        await replace(job, by_logprob=True).ask(said)
        return
    stage = f"{job.benchmark.name}: asking with log-probabilities"
    job.asker.announce(stage, job.jobs())

    def read(answer: Answer) -> Said:
        text = answer.completion.text if answer.completion else None
        return Said(sample=answer.job.sample, response=_response(job, answer, text))

    await job.asker.write(said, map(_weighed, job.jobs()), read, stage=stage, total=job.answers)


def read_likelihood(path: Path) -> dict[Key, float | Failure]:
    """The confidences in a file of `ask_likelihood`, or of a run by log-probability."""
    return {(one.response.item_id, one.sample): _likelihood(one) for one in read_records(path, Said)}


def _weighed(job: Job) -> Job:
    return job._replace(request=job.request._replace(logprobs=True)) if isinstance(job.request, Request) else job


def _likelihood(one: Said) -> float | Failure:
    """The probability of the chosen option, or exp(mean log-probability) of the tokens, those of thoughts included."""
    response = one.response
    if response.text is None:
        return response.failure or Failure(kind=FailureKind.MODEL, reason="the model did not answer")
    if one.probabilities:
        return min(1.0, one.probabilities[response.text])
    confidence = certainty(response.logprobs)
    if confidence is None:
        return Failure(kind=FailureKind.PARSE, reason="the server gives no log-probabilities")
    return confidence


# ---- what its samples say --------------------------------------------------------------------------------------


def cluster_of(benchmark: Benchmark, verdict: Verdict) -> str | None:
    """What tells an answer apart: its choice where it chooses, else its words; None without an answer.

    What was read in a free answer does not count: it may be the judge's word, which knows the correct answer.
    """
    if benchmark.candidates is not None:
        return verdict.read
    return None if verdict.answer is None else normalise(without_thoughts(verdict.answer))


def normalise(text: str) -> str:
    """The words of a text, without case, punctuation and forms of the same sign; marks of vowels and tones stay."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.translate(_PLAIN).split())


class _Plain(dict[int, int]):
    """Every sign by its code: letters, marks and numbers as they are, a blank for all else; filled as they occur."""

    def __missing__(self, code: int) -> int:
        self[code] = code if unicodedata.category(chr(code))[0] in "LMN" else ord(" ")
        return self[code]


_PLAIN = _Plain()


def agreement(benchmark: Benchmark, verdicts: Iterable[Verdict]) -> dict[Key, float | Failure]:
    """The share of the answers to an item, itself included, that say the same as each of them."""
    found: dict[str, dict[int, int | None]] = defaultdict(dict)
    for verdict in verdicts:
        cluster = cluster_of(benchmark, verdict)
        # A number in place of the words: a hundred answers to a thousand questions need not be held.
        found[verdict.item_id][verdict.sample] = None if cluster is None else hash(cluster)
    return {(item, sample): share for item, own in found.items() for sample, share in _shares(own)}


def _shares(samples: Mapping[int, int | None]) -> Iterator[tuple[int, float | Failure]]:
    counts = Counter(cluster for cluster in samples.values() if cluster is not None)
    for sample, cluster in samples.items():
        if cluster is None:
            yield sample, Failure(kind=FailureKind.PARSE, reason="no answer was read")
        elif counts.total() < 2:
            yield sample, Failure(kind=FailureKind.INPUT, reason="there is no other answer to compare with")
        else:
            yield sample, counts[cluster] / counts.total()
