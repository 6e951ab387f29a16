"""One run of a benchmark: ask, grade, add up. Each stage writes a plain file (`folder.py`): a stopped run continues.

Memory does not grow with the number of samples: items are held, answers are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from pathlib import Path

from pydantic import Field

from mores.benchmark.benchmark import LABELS, RELEASE, Benchmark, Graded, Judging, Label, Verdict
from mores.benchmark.choice import SHUFFLED
from mores.benchmark.evidence import RetrievedEvidence, with_evidence
from mores.benchmark.panel import combine
from mores.benchmark.score import BenchResult, VerdictScores
from mores.engine import Answer, Asker, Job
from mores.factory.drafts import draw
from mores.io import JsonlWriter, file_name, read_records
from mores.models import Completion, Message, Model, Request
from mores.models.base import is_logprob
from mores.signature import sign
from mores.types import Failure, FailureKind, Item, Record, Response, Signature, Usage

Alternatives = tuple[tuple[str, float], ...]
JUDGE_TOKENS = 1024
"""Longest answer of a judge."""
ALTERNATIVES = 20
"""First words that are looked at; most servers give no more."""


class Said(Record):
    """One answer of the model."""

    sample: int
    response: Response
    probabilities: dict[str, float] = Field(default_factory=dict)
    """Of the candidates, where the answer is the likeliest of them rather than what was written."""


@dataclass
class BenchJob:
    """A benchmark, a model, and how it is asked."""

    benchmark: Benchmark
    items: Sequence[Item]
    asker: Asker
    """The model that is measured."""
    judges: tuple[Asker, ...] = ()
    """Who grades, where a model does; the majority counts where there are several."""
    samples: int = 1
    variant: str | None = None
    temperature: float | None = 0.0
    max_tokens: int | None = None
    """None for the benchmark's."""
    unjudged: Label | None = None
    """What an answer counts as that the judge fails to grade; None for nothing, and it is counted apart."""
    retrieval: RetrievedEvidence | None = None
    """The results of a search, if they are shown to the model."""
    by_logprob: bool = False
    """Take the candidate that is the likeliest first word, instead of what the model writes."""
    seed: int | None = 0

    @property
    def model(self) -> Model:
        """The model that is measured."""
        return self.asker.model

    async def ask(self, path: Path) -> None:
        """Ask the model every item and write its answers to a file."""
        stage = f"{self.benchmark.name}: asking"
        self.asker.announce(stage, self.jobs())
        await self.asker.write(path, self.jobs(), self._answered, stage=stage, total=self.answers)

    @property
    def answers(self) -> int:
        """How many answers there will be."""
        return len(self.items) * self.samples

    def jobs(self) -> Iterator[Job]:
        """Yield the calls to make: question by question, and each as often as asked, with its parts together."""
        for _, parts in groupby(self.items, self.benchmark.unit):
            items = list(parts)
            for sample in range(self.samples):
                for item in items:
                    yield Job(item.id, self._request(item), sample, item)

    async def grade(self, responses: Path, path: Path) -> float | None:
        """Write the grade of every answer to a file; return α of the judges, where several grade and it is defined."""
        if len(self.judges) < 2:
            await self._grade(responses, path, self.judges[0] if self.judges else None, "grading")
            return None
        judged: dict[str, Path] = {}
        for judge in self.judges:
            name = judge.model.name
            judged[name] = path.with_name(f"{path.stem}.{file_name(name)}.jsonl")
            await self._grade(responses, judged[name], judge, f"grading by {name}")
        return combine(judged, path)

    def score(self, verdicts: Path) -> BenchResult:
        """Add up the grades in a file."""
        scores = VerdictScores(self.benchmark, self.items, self.unjudged)
        for verdict in read_records(verdicts, Verdict):
            scores.add(verdict)
        judges = ", ".join(judge.model.name for judge in self._judges) or None
        settings = {"variant": self.variant, "options": self._options, "unjudged": self._unjudged}
        result = scores.result(self.model.name, judges, self.signature())
        return result.model_copy(update=settings | {"by_logprob": self.by_logprob})

    def signature(self) -> Signature:
        """Return what must be the same for two results to be comparable."""
        b, options = self.benchmark, self._options
        releases = sorted({str(item.metadata[RELEASE]) for item in self.items if RELEASE in item.metadata})
        judges = [f"{judge.model.identity}.{b.judging.prompt}" for judge in self._judges if b.judging]
        fields = {
            "task": f"{b.name}.{b.version}" + (f".{self.variant}" if self.variant else ""),
            "data": f"{data_hash(self.items)}.{len(self.items)}",
            **({"release": "+".join(releases)} if releases else {}),
            **({"options": options} if options else {}),
            "model": self.model.identity,
            "decoding": f"t{self.temperature},max{self._max_tokens},seed{self.seed},n{self.samples}"
            + (",logprob" if self.by_logprob else ""),
            **({"search": self.retrieval.signature} if self.retrieval else {}),
            "judge": (" + ".join(judges) or "rule") + (f".failed={self._unjudged}" if self._unjudged else ""),
        }
        return sign(fields)

    @property
    def _options(self) -> str | None:
        """How the options were put into another order, if they were."""
        seeds = sorted({str(item.metadata[SHUFFLED]) for item in self.items if SHUFFLED in item.metadata})
        return f"shuffled.{'+'.join(seeds)}" if seeds else None

    @property
    def _unjudged(self) -> Label | None:
        return self.unjudged if self._judges and self.benchmark.judging else None

    @property
    def _judges(self) -> tuple[Asker, ...]:
        return self.judges if self.benchmark.judging else ()

    @property
    def _max_tokens(self) -> int:
        return self.max_tokens or self.benchmark.max_tokens

    def _request(self, item: Item) -> Request | Failure:
        messages = self.benchmark.messages(item, self.variant)
        if self.retrieval:
            results = self.retrieval.found[item.id]
            if results.failure:
                return results.failure
            messages = with_evidence(messages, results.evidence)
        if self.by_logprob:
            return Request(messages, 1, 0.0, seed=self.seed, alternatives=ALTERNATIVES)
        return Request(messages, self._max_tokens, self.temperature, seed=self.seed, logprobs=False)

    def _answered(self, answer: Answer) -> Said:
        response, choose = self._response(answer), self.benchmark.candidates
        if not self.by_logprob or answer.completion is None or choose is None:
            return Said(sample=answer.job.sample, response=response)
        probabilities = likeliest(choose(answer.job.data), answer.completion.alternatives)
        if isinstance(probabilities, Failure):
            failed = response.model_copy(update={"text": None, "failure": probabilities})
            return Said(sample=answer.job.sample, response=failed)
        # Servers round, so ties are common; the first letter must not win them, for it is correct too often.
        best = max(probabilities, key=lambda candidate: (probabilities[candidate], draw(0, answer.job.id, candidate)))
        chosen = response.model_copy(update={"text": best})
        return Said(sample=answer.job.sample, response=chosen, probabilities=probabilities)

    def _response(self, answer: Answer) -> Response:
        completion = answer.completion
        if completion is None:
            return Response(item_id=answer.job.id, model=self.model.name, failure=answer.failure)
        usage = Usage(prompt_tokens=completion.prompt_tokens, completion_tokens=completion.completion_tokens)
        return Response(
            item_id=answer.job.id, model=self.model.name, text=completion.text, usage=usage, stop=completion.stop
        )

    async def _grade(self, responses: Path, path: Path, judge: Asker | None, what: str) -> None:
        by_id = {item.id: self.benchmark.asked(item, self.variant) for item in self.items}
        answered = ((by_id[row.response.item_id], row) for row in read_records(responses, Said))
        stage, total = f"{self.benchmark.name}: {what}", sum(1 for _ in read_records(responses, Said))
        judging, grade = self.benchmark.judging, self.benchmark.grade
        if judging is None:
            assert grade is not None
            async with self.asker.progress.stage(stage, total) as counts:
                with JsonlWriter(path) as writer:
                    for item, row in answered:
                        text, failure = row.response.text, row.response.failure
                        nothing = failure or Failure(kind=FailureKind.MODEL, reason="there is no answer")
                        writer.write(self._verdict(item, row, nothing if text is None else grade(item, text)))
                        counts.done += 1
            return
        assert judge is not None
        jobs = (Job(item.id, _question(judging, item, row), data=(item, row)) for item, row in answered)

        def follow(job: Job, completion: Completion) -> Request | None:
            item, row = job.data
            more = judging.ask_again(item, row.response.text or "", completion.text)
            return judge_request(more) if more else None

        def read(answer: Answer) -> Verdict:
            item, row = answer.job.data
            if isinstance(answer.failure, _Known):
                return self._verdict(item, row, answer.failure.grade)
            if answer.completion is None:
                failure = answer.failure or Failure(kind=FailureKind.MODEL, reason="the judge did not answer")
                return self._verdict(item, row, failure)
            reply, text = answer.completion.text, row.response.text or ""
            return self._verdict(item, row, judging.read(item, text, reply, answer.followed))

        await judge.write(path, jobs, read, stage=stage, total=total, follow=follow)

    def _verdict(self, item: Item, row: Said, grade: Graded | Failure) -> Verdict:
        fields = {"failure": grade} if isinstance(grade, Failure) else grade.model_dump()
        return Verdict(
            item_id=item.id, sample=row.sample, unit=self.benchmark.unit(item), answer=row.response.text,
            probabilities=row.probabilities, **fields,
        )  # fmt: skip


class _Known(Failure):
    """Not a failure: a grade that needs no call travels through the engine in its place."""

    grade: Graded


def _question(judging: Judging, item: Item, row: Said) -> Request | Failure:
    if row.response.text is None:
        return row.response.failure or Failure(kind=FailureKind.MODEL, reason="there is no answer")
    question = judging.ask(item, row.response.text)
    if isinstance(question, Graded):
        return _Known(kind=FailureKind.INPUT, reason="it needs no judge", grade=question)
    return judge_request(question)


def judge_request(messages: tuple[Message, ...]) -> Request:
    """Return the request to a judge."""
    return Request(messages, max_tokens=JUDGE_TOKENS, logprobs=False)


def likeliest(candidates: Sequence[str], alternatives: Alternatives | None) -> dict[str, float] | Failure:
    """Return the probabilities of the candidates as first words, made to sum to 1; forms such as " a" count as "A"."""
    if alternatives is None or not all(is_logprob(logprob) for _, logprob in alternatives):
        reason = "the server gives no alternatives to a token; choose by answers (by_logprob)"
        return Failure(kind=FailureKind.MODEL, reason=reason)
    shares = dict.fromkeys(candidates, 0.0)
    forms = {candidate.casefold(): candidate for candidate in candidates}
    for token, logprob in alternatives:
        if (candidate := forms.get(token.strip(" \t\n(*\"'▁").casefold())) is not None:
            shares[candidate] += math.exp(logprob)
    total = sum(shares.values())
    if not total:
        shown = ", ".join(repr(token) for token, _ in alternatives[:5])
        return Failure(
            kind=FailureKind.PARSE, reason=f"none of {', '.join(candidates)} is among the first words: {shown}"
        )
    return {candidate: value / total for candidate, value in shares.items()}


def data_hash(items: Iterable[Item]) -> str:
    """Return eight digits that change when an item does."""
    total = blake2b(digest_size=4)
    for item in items:
        total.update(item.model_dump_json(exclude={"metadata": {LABELS}}).encode("utf-8", "surrogatepass"))
    return total.hexdigest()
