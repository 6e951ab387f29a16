"""Models that are asked for a number instead of a report: the counting, severity and binary prompts (ExCAM, Table 11).

| kind | the model answers | score |
| --- | --- | --- |
| `count` | `COUNT: 2` | minus the count |
| `severity` | `Severity: none`, `minor`, `major` or `critical` | 0, -1, -5 or -10 |
| `binary` | `Problem: no problem` or `very problematic` | 0 or -1 |

With `+p` an answer without error scores exp(mean log-probability) of the whole answer instead of 0, as ExCAM does. The
paper gives no number for `critical`, which its metric does not have; ours is twice that of a major error. An answer
without such a line is a failure, never a grade.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass

from mores.engine import Answer, Counts, Job
from mores.metric import Metric
from mores.metric.prompt import fill
from mores.metric.score import certainty
from mores.models import Message, Request
from mores.models.base import Stop, Written
from mores.prompts import hash_prompts, read_prompt
from mores.signature import sign
from mores.types import Failure, FailureKind, Judgement, Sample, Signature

SEVERITIES = {"none": 0.0, "minor": -1.0, "major": -5.0, "critical": -10.0}
PROBLEMS = {"no problem": 0.0, "very problematic": -1.0}
NO_LOGPROBS = "the server returns no log-probabilities: an answer without error scores 0 instead of p"


@dataclass(frozen=True)
class PromptedKind:
    """One prompt of Table 11: the form of its last line, and the score that the line gives."""

    line: re.Pattern[str]
    score: Callable[[str], float]
    shown: str


_MARKS = r"(?:[^\w\n]|_)*+"
"""Quotes, asterisks, brackets and spaces that models put around a name or a value."""


def _line(name: str, values: str) -> re.Pattern[str]:
    """Match `NAME: value`, or the value alone on the next line, but not several values, as in an echo of the format."""
    alone = rf"\n\s*+(?={_MARKS}(?:{values}){_MARKS}(?:\n|\Z))"
    several = rf"(?:\.|[ '’\"*_]*(?:[/|,~–—-]|or\b|to\b)[ '’\"*_]*)(?:{values})"
    pattern = (
        rf"(?<![a-z]){name}(?:[^\w\n:：]|_)*+[:：]{_MARKS}(?:{alone}{_MARKS})?(?<![-−])({values})(?![\da-z]|{several})"
    )
    return re.compile(pattern, re.IGNORECASE)


KINDS = {
    "count": PromptedKind(_line("count", r"\d{1,6}"), lambda value: 0.0 - float(value), "COUNT: 2"),
    "severity": PromptedKind(
        _line("severity", "|".join(SEVERITIES)), lambda word: SEVERITIES[word.lower()], "Severity: minor"
    ),
    "binary": PromptedKind(
        _line("problem", "|".join(word.replace(" ", r"\s+") for word in PROBLEMS)),
        lambda value: PROBLEMS[" ".join(value.lower().split())],
        "Problem: no problem",
    ),
}


@dataclass
class Prompted:
    """A model behind one of the prompts; `metric` has the model, its settings and limits."""

    kind: str
    metric: Metric
    plus_p: bool = False

    @property
    def name(self) -> str:
        return f"{self.kind}{'+p' if self.plus_p else ''}:{self.metric.model.name}"

    @property
    def prompt(self) -> str:
        return read_prompt(__file__, f"prompts/{self.kind}")

    async def stream(
        self, samples: Iterable[Sample], counts: Counts | None = None
    ) -> AsyncGenerator[tuple[Sample, Judgement], None]:
        """Yield each sample with its judgement, in order, as they arrive."""
        async with aclosing(self.metric.asker.ask(self.jobs(samples), counts=counts, read=self.read)) as answers:
            async for answer in answers:
                yield answer.job.data, self.read(answer)

    def jobs(self, samples: Iterable[Sample]) -> Iterator[Job]:
        """Return the questions to the model."""
        return (Job(sample.id, self.request(sample), data=sample) for sample in samples)

    def request(self, sample: Sample) -> Request | Failure:
        """Return the question about a sample, the same with and without `+p`, so that the store answers the second."""
        settings = self.metric.settings
        message = Message("user", fill(self.prompt, sample.instruction, sample.text))
        return self.metric.unsendable(sample) or Request(
            (message,), settings.max_tokens, settings.temperature, seed=settings.seed
        )

    def read(self, answer: Answer) -> Judgement:
        """Return the judgement in an answer."""
        sample: Sample = answer.job.data
        reply = answer.read(Stop.LENGTH)
        score = reply if isinstance(reply, Failure) else self._score(reply)
        signature = self.signature(isinstance(reply, Failure) or certainty(reply.logprobs) is not None)
        if isinstance(score, Failure):
            return Judgement.of(sample, judge=self.name, failure=score, signature=signature)
        notes = (NO_LOGPROBS,) if self.plus_p and score == 0 else ()
        return Judgement.of(sample, judge=self.name, score=score, notes=notes, signature=signature)

    def signature(self, with_logprobs: bool = True) -> Signature:
        """Return what must be the same for two scores to be comparable."""
        settings = self.metric.settings
        return sign(
            {
                "metric": f"{self.kind}{'+p' if self.plus_p else ''}.1",
                "model": self.metric.model.identity,
                "prompt": hash_prompts(self.prompt),
                "decoding": f"t{settings.temperature},max{settings.max_tokens},seed{settings.seed}",
                "p": "mean-logprob" if self.plus_p and with_logprobs else "none",
            }
        )

    def _score(self, reply: Written) -> float | Failure:
        kind, text, cut = KINDS[self.kind], reply.text, reply.stop is Stop.LENGTH
        last = next(reversed(list(kind.line.finditer(text))), None)
        if last is None or (cut and last.end() == len(text)):  # an answer cut off at the value may have cut the value
            problem = "was cut off before" if cut else "has no line"
            reason = f"the answer {problem} `{kind.shown}`; it ends with {text[-60:]!r}"
            return Failure(kind=FailureKind.TRUNCATED if cut else FailureKind.PARSE, reason=reason)
        score = kind.score(last[1])
        return (certainty(reply.logprobs) or 0.0) if score == 0 and self.plus_p else score
