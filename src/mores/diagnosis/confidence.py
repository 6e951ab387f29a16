"""A model's confidence: as it states it, from the probabilities of its tokens, and from how often its answers agree.

The first two ask the model and write plain files; the answers in them are graded by `Run.grade` like any others.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mores.benchmark.benchmark import Benchmark, Verdict
from mores.benchmark.run import BenchJob, Said
from mores.culture import base_language, language_name
from mores.engine import Answer, Job, unread
from mores.io import JsonlWriter, read_records
from mores.metric.score import certainty
from mores.models import Request
from mores.models.base import Stop
from mores.models.written import object_schema, read_object
from mores.prompts import fill, hash_prompts, read_prompt
from mores.reading import without_thoughts
from mores.types import Failure, FailureKind, Record

Key = tuple[str, int]
"""The item, and the number of the answer to it."""
Confidences = Mapping[Key, float | Failure]
"""From 0 to 1, or why there is none."""

ENGLISH = "en"
ROOM = 128
"""Tokens beyond what the benchmark allows, for the answer's label and the line with the confidence."""
SCHEMA = object_schema(
    answer={"type": "string", "maxLength": 100}, confidence={"type": "integer", "minimum": 0, "maximum": 100}
)
"""The schema for a small model, which cannot write the two lines reliably without it."""
_PROMPTS = Path(__file__).with_name("prompts")
_COLON = "[:：]"
_DECOR = r"[\s*_`#>\"'\-]*"
_BIDI = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
"""Direction marks, which models put around numbers in right-to-left texts."""
_PERCENT = "[%％٪﹪]"
_NUMBER = re.compile(rf"[\s*_`<\[(]*+(?:{_PERCENT}\s*+)?(\d{{1,3}})\s*+{_PERCENT}?[\s*_`>\])。.।]*+")


# ---- stated confidence -----------------------------------------------------------------------------------------


class Stated(Record):
    """The reply of a model that was asked for an answer and its confidence."""

    item_id: str
    sample: int
    text: str | None = None
    """The whole reply; only the answer in it is graded."""
    question_language: str | None = None
    """The language of the question."""
    language: str
    """The language of the prompt: English if there is no prompt in the question's."""
    confidence: int | None = None
    """From 0 to 100."""
    failure: Failure | None = None
    """Why there is no confidence."""


class ConfidencePrompt(NamedTuple):
    """The prompt for confidence in a language, and the labels of the two lines of a reply."""

    language: str
    template: str
    answer: str
    confidence: str
    fallback: bool
    """Whether English replaces another language."""


@cache
def form_of(language: str | None) -> ConfidencePrompt:
    """Return the prompt in a language, or the English one if there is none."""
    tag = language or ENGLISH
    while not (_PROMPTS / f"confidence.{tag}.txt").is_file():
        tag = tag.rpartition("-")[0] or ENGLISH
    template = read_prompt(__file__, f"prompts/confidence.{tag}")
    answer, confidence = (re.split(_COLON, line)[0].strip() for line in template.split("\n")[-2:])
    return ConfidencePrompt(
        tag, template, answer, confidence, fallback=base_language(tag) != base_language(language or ENGLISH)
    )


@cache
def prompts_hash() -> str:
    """Return eight digits that change whenever a prompt changes."""
    paths = sorted(_PROMPTS.glob("confidence.*"))
    return hash_prompts(*(path.read_text("utf-8") for path in paths), str(ROOM))


async def ask_confidence(job: BenchJob, answers: Path, confidences: Path) -> None:
    """Ask for an answer and its confidence (MSQA, Appendix A), and write the answers and the whole replies to files.

    `job.grade` reads `answers`. Both files appear when all questions were asked; every paid answer is in the store.
    """
    job = replace(job, asking=replace(job.asking, by_logprob=False))
    schema = SCHEMA if job.model.constrained else None
    stage = f"{job.benchmark.name}: asking with confidence"
    job.asker.announce(stage, job.jobs())
    jobs = (_with_confidence(call, job.asking.variant, schema) for call in job.jobs())
    with JsonlWriter(answers) as said, JsonlWriter(confidences) as stated:
        async with job.asker.progress.stage(stage, job.answers, job.asker.price) as counts:
            asking = job.asker.ask(jobs, counts=counts, read=lambda answer: _stated(answer)[1])
            async with aclosing(asking) as replies:
                async for answer in replies:
                    text, record = _stated(answer)
                    response = job.response(answer, logprobs=True).model_copy(update={"text": text})
                    said.write(Said(sample=answer.job.sample, response=response))
                    stated.write(record)


def read_stated(path: Path) -> dict[Key, float | Failure]:
    """Return the confidences in a file of `ask_confidence`."""
    confidences: dict[Key, float | Failure] = {}
    for stated in read_records(path, Stated):
        failure = stated.failure or Failure(kind=FailureKind.PARSE, reason="there is no confidence")
        confidences[stated.item_id, stated.sample] = failure if stated.confidence is None else stated.confidence / 100
    return confidences


def fallback_notes(path: Path) -> tuple[str, ...]:
    """Return the languages in a file of `ask_confidence` that were asked in English because they have no prompt."""
    languages = Counter(
        stated.question_language
        for stated in read_records(path, Stated)
        if stated.question_language and form_of(stated.question_language).fallback
    )
    if not languages:
        return ()
    names = ", ".join(sorted(map(language_name, languages)))
    return (
        f"confidence was asked for in English in {languages.total()} answers, because there is no prompt in {names}",
    )


def read_reply(text: str, form: ConfidencePrompt) -> tuple[str, int | Failure]:
    """Return the answer and the confidence in a reply, whose last line alone is the confidence, a whole number to 100.

    Without a label, the answer is everything before the confidence. Labels may be in the prompt's language or English.
    """
    lines = [line for line in _BIDI.sub("", without_thoughts(text)).split("\n") if line.strip()]
    confidence_label, answer_label = _label(form, "confidence"), _label(form, "answer")
    marked = [index for index, line in enumerate(lines) if confidence_label.match(line)]
    before = lines[: marked[0]] if marked else lines
    starts = [index for index, line in enumerate(before) if answer_label.match(line)]
    answer_lines = before[starts[0] :] if len(starts) == 1 else before
    answer = "\n".join(answer_label.sub("", line, count=1) for line in answer_lines).strip()
    return answer, _confidence(lines, marked, confidence_label)


def read_written(text: str) -> tuple[str, int | Failure]:
    """Return the answer and the confidence in a JSON object, written under a schema."""
    reply = read_object(without_thoughts(text), "answer", "confidence")
    if reply is None or not isinstance(reply["answer"], str):
        return without_thoughts(text), unread(text, "an answer and a confidence in JSON")
    confidence = reply["confidence"]
    if isinstance(confidence, bool) or not isinstance(confidence, int) or not 0 <= confidence <= 100:
        return reply["answer"], unread(str(confidence), "a whole number from 0 to 100")
    return reply["answer"], confidence


def _confidence(lines: list[str], marked: list[int], label: re.Pattern[str]) -> int | Failure:
    if len(marked) != 1:
        return _unread(f"{len(marked)} lines with a confidence", lines)
    if marked[0] != len(lines) - 1:
        return _unread("there is more text after the confidence", lines)
    match = _NUMBER.fullmatch(label.sub("", lines[-1], count=1))
    # int reads the decimal digits of every script; other numerals are not digits to the pattern.
    if match is None or int(match[1]) > 100:
        return _unread("no single whole number", lines)
    return int(match[1])


def _unread(problem: str, lines: list[str]) -> Failure:
    ending = lines[-1].strip()[:80] if lines else ""
    reason = f"{problem}: it ends with {ending!r}; expected one last line such as 'Confidence: 85'"
    return Failure(kind=FailureKind.PARSE, reason=reason)


@cache
def _label(form: ConfidencePrompt, field: str) -> re.Pattern[str]:
    forms = {getattr(form, field), getattr(form_of(ENGLISH), field)}
    words = "|".join(map(re.escape, sorted(forms)))
    return re.compile(rf"\A{_DECOR}(?:{words}){_DECOR}{_COLON}[*_`]*", re.IGNORECASE)


def _with_confidence(job: Job, variant: str | None, schema: Mapping[str, Any] | None) -> Job:
    """Return the call with the question inside the prompt for confidence."""
    language = ENGLISH if variant == "english" else job.data.language
    if isinstance(job.request, Failure):
        return job._replace(data=language)
    *before, last = job.request.messages
    message = last._replace(content=fill(form_of(language).template, question=last.content))
    request = job.request._replace(messages=(*before, message), max_tokens=job.request.max_tokens + ROOM, schema=schema)
    return job._replace(request=request, data=language)


def _stated(answer: Answer) -> tuple[str | None, Stated]:
    """Return the answer, and the record of the whole reply."""
    language, reply = answer.job.data, answer.read(Stop.LENGTH, Stop.REFUSAL)
    form = form_of(language)
    record = Stated(item_id=answer.job.id, sample=answer.job.sample, question_language=language, language=form.language)
    if isinstance(reply, Failure):
        return None, record.model_copy(update={"failure": reply})
    constrained = isinstance(answer.job.request, Request) and answer.job.request.schema is not None
    text, confidence = read_written(reply.text) if constrained else read_reply(reply.text, form)
    if reply.stop is Stop.LENGTH:  # half a number also looks like a number
        confidence = Failure(kind=FailureKind.TRUNCATED, reason="the reply was cut off before its end")
    outcome = {"failure": confidence} if isinstance(confidence, Failure) else {"confidence": confidence}
    return text, record.model_copy(update={"text": reply.aloud, **outcome})


# ---- probabilities ---------------------------------------------------------------------------------------------


async def ask_likelihood(job: BenchJob, path: Path) -> None:
    """Ask the questions with log-probabilities: of the options in multiple choice, otherwise of every token."""
    if job.benchmark.candidates is not None:
        await job.ask(path)
        return
    stage = f"{job.benchmark.name}: asking with log-probabilities"
    job.asker.announce(stage, job.jobs())

    def read(answer: Answer) -> Said:
        return Said(sample=answer.job.sample, response=job.response(answer, logprobs=True))

    jobs = (
        call._replace(request=call.request._replace(logprobs=True)) if isinstance(call.request, Request) else call
        for call in job.jobs()
    )
    await job.asker.write(path, jobs, read, stage=stage, total=job.answers)


def read_likelihood(path: Path) -> dict[Key, float | Failure]:
    """Return the confidences in a file of `ask_likelihood`, or of a run by log-probability.

    It is the probability of the chosen option, or exp(mean log-probability) of all tokens, also of thoughts.
    """
    confidences: dict[Key, float | Failure] = {}
    for answer in read_records(path, Said):
        response = answer.response
        confidence: float | Failure | None = certainty(response.logprobs)
        if response.text is None:
            confidence = response.failure or Failure(kind=FailureKind.MODEL, reason="the model did not answer")
        elif answer.probabilities:
            confidence = min(1.0, answer.probabilities[response.text])
        elif confidence is None:
            confidence = Failure(kind=FailureKind.PARSE, reason="the server returns no log-probabilities")
        assert confidence is not None
        confidences[response.item_id, answer.sample] = confidence
    return confidences


# ---- agreement -------------------------------------------------------------------------------------------------


def cluster_of(benchmark: Benchmark, verdict: Verdict) -> str | None:
    """Return what identifies an answer: the option in multiple choice, otherwise its words; None without an answer.

    `Verdict.read` of a free answer is not used: it may come from the judge, who knows the correct answer.
    """
    if benchmark.candidates is not None:
        return verdict.read
    return None if verdict.answer is None else normalise(without_thoughts(verdict.answer))


def normalise(text: str) -> str:
    """Return the words of a text without case, punctuation and variants of a character; vowel and tone marks stay."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.translate(_PLAIN).split())


class _Plain(dict[int, int]):
    """Maps letters, marks and numbers to themselves and all other characters to a blank; filled on demand."""

    def __missing__(self, code: int) -> int:
        self[code] = code if unicodedata.category(chr(code))[0] in "LMN" else ord(" ")
        return self[code]


_PLAIN = _Plain()


def measure_agreement(benchmark: Benchmark, verdicts: Iterable[Verdict]) -> dict[Key, float | Failure]:
    """Return, for each answer, the share of all answers to its item, itself included, that say the same."""
    clusters: dict[str, dict[int, int | None]] = defaultdict(dict)
    for verdict in verdicts:
        cluster = cluster_of(benchmark, verdict)
        # A hash instead of the words saves memory with many answers.
        clusters[verdict.item_id][verdict.sample] = None if cluster is None else hash(cluster)
    shares: dict[Key, float | Failure] = {}
    for item, samples in clusters.items():
        counts = Counter(cluster for cluster in samples.values() if cluster is not None)
        for sample, key in samples.items():
            if key is None:
                shares[item, sample] = Failure(kind=FailureKind.PARSE, reason="no answer was read")
            elif counts.total() < 2:
                reason = "there is no other answer to compare with"
                shares[item, sample] = Failure(kind=FailureKind.INPUT, reason=reason)
            else:
                shares[item, sample] = counts[key] / counts.total()
    return shares
