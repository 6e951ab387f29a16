"""One run of a benchmark: ask, grade, add up. Each stage writes a plain file (`folder.py`): a stopped run continues.

Memory does not grow with the number of samples: items are held, answers are not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from pathlib import Path

import numpy as np
from pydantic import Field

from mores.benchmark.benchmark import LABELS, RELEASE, Benchmark, Graded, Judging, Label, Verdict
from mores.benchmark.choice import SHUFFLED, grade_letter
from mores.benchmark.evidence import RetrievedEvidence, with_evidence
from mores.benchmark.msqa.protocol import with_protocol
from mores.benchmark.score import INCOMPLETE, BenchResult, VerdictScores
from mores.benchmark.settings import QuestionSettings
from mores.engine import Answer, Asker, Job
from mores.errors import ConfigError
from mores.factory.drafts import draw
from mores.io import JsonlWriter, file_name, read_records
from mores.longanswer.appraise import Appraising
from mores.models import Completion, Message, Model, Request
from mores.models.base import Stop, is_logprob
from mores.reading import without_thoughts
from mores.signature import sign
from mores.types import Failure, FailureKind, Item, Record, Response, Signature

Alternatives = tuple[tuple[str, float], ...]
_NO_ANSWER = Failure(kind=FailureKind.MODEL, reason="there is no answer")
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


class Asking(QuestionSettings):
    """The settings of asking and grading questions, ready for work."""

    def check(self, benchmark: Benchmark, judges: Sequence[object]) -> None:
        """Raise ConfigError where a benchmark cannot be asked or graded with these settings."""
        name = benchmark.name
        if benchmark.judging and not judges:
            raise ConfigError(f"{name} is graded by a model: name a judge, for example openai:NAME", setting="judge")
        if benchmark.long_answer and len(judges) > 1:
            raise ConfigError(f"{name} takes one judge", setting="judge")
        if benchmark.long_answer:
            self.long.check(judges[0] if judges else None)
        if self.by_logprob and benchmark.candidates is None:
            reason = "is not multiple choice, so its options cannot be chosen by log-probability"
            raise ConfigError(f"{name} {reason}", setting="by_logprob")
        if self.shuffle is not None and benchmark.grade is not grade_letter:
            raise ConfigError(f"{name} has no lettered options to shuffle", setting="shuffle_options")
        if self.judge_protocol:
            with_protocol(benchmark, self.judge_protocol)
        check_variant(benchmark, self.variant)
        check_shots(benchmark, self.shots)
        if self.shots and self.search:
            raise ConfigError("examples would be searched for too; ask without a search", setting="shots")

    def temperature_of(self, benchmark: Benchmark) -> float | None:
        """Return the temperature for a benchmark."""
        return benchmark.temperature if self.temperature == "default" else self.temperature

    @property
    def long(self) -> Appraising:
        """The settings of judging long answers."""
        return Appraising(lid=self.lid, facts=self.facts)

    @property
    def unjudged(self) -> Label | None:
        """The grade of an answer that the judge could not grade; None counts it apart."""
        return Label.INCORRECT if self.judge_failures == "incorrect" else None

    def folder(self, benchmark: Benchmark) -> str:
        """Return the name of a benchmark's folder, which also says how it is asked."""
        parts = [
            benchmark.name, self.variant, None if self.shuffle is None else f"shuffled{self.shuffle}",
            f"{self.shots}shot" if self.shots else None, "logprob" if self.by_logprob else None,
            "search" if self.search else None,
        ]  # fmt: skip
        return file_name(".".join(filter(None, parts)))


def check_variant(benchmark: Benchmark, variant: str | None) -> None:
    """Raise ConfigError where a benchmark does not have a variant."""
    if variant and variant not in benchmark.variants:
        variants = f"it has {', '.join(benchmark.variants)}" if benchmark.variants else "it has none"
        raise ConfigError(f"{benchmark.name}: no variant {variant!r}; {variants}", setting="variant")


def check_shots(benchmark: Benchmark, shots: int) -> None:
    """Raise ConfigError where examples cannot stand before a question."""
    if shots and benchmark.grade is None:
        reason = "is graded by a model, which would read the examples too; ask without examples"
        raise ConfigError(f"{benchmark.name} {reason}", setting="shots")


@dataclass
class BenchJob:
    """A benchmark, a model, and how it is asked."""

    benchmark: Benchmark
    items: Sequence[Item]
    asker: Asker
    """The model that is measured."""
    judges: tuple[Asker, ...] = ()
    """Who grades, where a model does; the majority counts where there are several."""
    asking: Asking = field(default_factory=Asking)
    retrieval: RetrievedEvidence | None = None
    """The results of a search, if they are shown to the model."""

    @property
    def model(self) -> Model:
        """The model that is measured."""
        return self.asker.model

    async def ask(self, path: Path) -> None:
        """Ask the model every item and write its answers to a file."""
        stage = f"{self.benchmark.name}: asking"
        self.asker.announce(stage, self.jobs())
        await self.asker.write(
            path, self.jobs(), self._answered, stage=stage, total=self.answers, failed=self._failed_by_rule
        )

    def _failed_by_rule(self, answer: Answer) -> Failure | None:
        """Return why nothing can be made of an answer; what a judge makes of it is asked of the judge."""
        said, item, grade = self._answered(answer), answer.job.data, self.benchmark.grade
        if grade is None:
            return said.response.failure
        graded = _graded(grade, self.benchmark.asked(item, self.asking.variant), said.response)
        return graded if isinstance(graded, Failure) else None

    @property
    def answers(self) -> int:
        """The number of answers that there will be."""
        return len(self.items) * self.asking.samples

    def jobs(self) -> Iterator[Job]:
        """Yield the calls to make: question by question, and each as often as asked, with its parts together."""
        for _, parts in groupby(self.items, self.benchmark.unit):
            items = list(parts)
            for sample in range(self.asking.samples):
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
        scores = VerdictScores(self.benchmark, self.items, self.asking.unjudged)
        for verdict in read_records(verdicts, Verdict):
            scores.add(verdict)
        judges = ", ".join(judge.model.name for judge in self._judges) or None
        settings = {"variant": self.asking.variant, "by_logprob": self.asking.by_logprob, "shots": self.asking.shots}
        result = scores.result(self.model.name, judges, self.signature())
        return result.model_copy(update=settings | {"options": self._options, "unjudged": self._unjudged})

    def signature(self) -> Signature:
        """Return what must be the same for two results to be comparable."""
        b, asking, options = self.benchmark, self.asking, self._options
        releases = sorted({str(item.metadata[RELEASE]) for item in self.items if RELEASE in item.metadata})
        judges = [f"{judge.model.identity}.{b.judging.prompt}" for judge in self._judges if b.judging]
        fields = {
            "task": f"{b.name}.{b.version}" + (f".{asking.variant}" if asking.variant else ""),
            **({"shots": str(asking.shots)} if asking.shots else {}),
            "data": f"{data_hash(self.items)}.{len(self.items)}",
            **({"release": "+".join(releases)} if releases else {}),
            **({"options": options} if options else {}),
            "model": self.model.identity,
            "decoding": f"t{asking.temperature_of(b)},max{self.max_tokens},seed{asking.seed},n{asking.samples}"
            + (",logprob" if asking.by_logprob else ""),
            **({"search": self.retrieval.signature} if self.retrieval else {}),
            "judge": (" + ".join(judges) or "rule") + (f".failed={self._unjudged}" if self._unjudged else ""),
        }
        return sign(fields)

    @property
    def _options(self) -> str | None:
        """The seed and rule by which the options were put into another order, if they were."""
        seeds = sorted({str(item.metadata[SHUFFLED]) for item in self.items if SHUFFLED in item.metadata})
        return f"shuffled.{'+'.join(seeds)}" if seeds else None

    @property
    def _unjudged(self) -> Label | None:
        return self.asking.unjudged if self._judges else None

    @property
    def _judges(self) -> tuple[Asker, ...]:
        return self.judges if self.benchmark.judging else ()

    @property
    def max_tokens(self) -> int:
        """The longest answer of the model."""
        return self.asking.max_tokens or self.benchmark.max_tokens

    def _request(self, item: Item) -> Request | Failure:
        asking = self.asking
        messages = self.benchmark.messages(item, asking.variant)
        if self.retrieval:
            results = self.retrieval.found[item.id]
            if results.failure:
                return results.failure
            messages = with_evidence(messages, results.evidence)
        if asking.by_logprob:
            return Request(messages, 1, 0.0, seed=asking.seed, alternatives=ALTERNATIVES)
        temperature = asking.temperature_of(self.benchmark)
        return Request(messages, self.max_tokens, temperature, seed=asking.seed, logprobs=False)

    def _answered(self, answer: Answer) -> Said:
        response, choose, alternatives = self.response(answer), self.benchmark.candidates, answer.alternatives
        if not self.asking.by_logprob or isinstance(alternatives, Failure) or choose is None:
            return Said(sample=answer.job.sample, response=response)
        probabilities = likeliest(choose(answer.job.data), alternatives)
        if isinstance(probabilities, Failure):
            failed = response.model_copy(update={"text": None, "failure": probabilities})
            return Said(sample=answer.job.sample, response=failed)
        # Servers round, so ties are common; the first letter must not win them, for it is correct too often.
        best = max(probabilities, key=lambda candidate: (probabilities[candidate], draw(0, answer.job.id, candidate)))
        chosen = response.model_copy(update={"text": best, "failure": None})
        return Said(sample=answer.job.sample, response=chosen, probabilities=probabilities)

    def response(self, answer: Answer, *, logprobs: bool = False) -> Response:
        """Return what the model answered, and if asked for, the log-probabilities of its tokens."""
        reply = answer.read(*self.benchmark.graded, empty=True)  # protocols count nothing as not attempted
        if isinstance(reply, Failure):
            return Response(item_id=answer.job.id, model=self.model.name, failure=reply)
        return Response(
            item_id=answer.job.id,
            model=self.model.name,
            text=reply.whole,
            logprobs=reply.logprobs if logprobs else None,
            usage=reply.usage,
            stop=reply.stop,
            thoughts=reply.apart,
        )

    async def _grade(self, responses: Path, path: Path, judge: Asker | None, what: str) -> None:
        by_id = {item.id: self.benchmark.asked(item, self.asking.variant) for item in self.items}
        answered = ((by_id[row.response.item_id], row) for row in read_records(responses, Said))
        stage, total = f"{self.benchmark.name}: {what}", sum(1 for _ in read_records(responses, Said))
        judging, grade = self.benchmark.judging, self.benchmark.grade
        if judging is None:
            assert grade is not None
            async with self.asker.progress.stage(stage, total) as counts:
                with JsonlWriter(path) as writer:
                    for item, row in answered:
                        writer.write(self._verdict(item, row, _graded(grade, item, row.response)))
                        counts.done += 1
            return
        assert judge is not None
        jobs = (Job(item.id, _question(judging, item, row), data=(item, row)) for item, row in answered)

        def follow(job: Job, completion: Completion) -> Request | None:
            item, row = job.data
            reply = completion.complete()
            if isinstance(reply, Failure):
                return None
            more = judging.ask_again(item, row.response.text or "", reply.whole)
            return judge_request(more) if more else None

        def read(answer: Answer) -> Verdict:
            item, row = answer.job.data
            if isinstance(answer.failure, _Known):
                return self._verdict(item, row, answer.failure.grade)
            reply = answer.read()
            if isinstance(reply, Failure):
                return self._verdict(item, row, reply)
            graded = judging.read(item, row.response.text or "", reply.whole, answer.followed)
            return self._verdict(item, row, graded)

        await judge.write(path, jobs, read, stage=stage, total=total, follow=follow)

    def _verdict(self, item: Item, row: Said, grade: Graded | Failure) -> Verdict:
        fields = {"failure": grade} if isinstance(grade, Failure) else grade.model_dump()
        return Verdict(
            item_id=item.id, sample=row.sample, unit=self.benchmark.unit(item), answer=row.response.text,
            probabilities=row.probabilities, thoughts=row.response.thoughts,
            stop=None if self.asking.by_logprob or row.response.stop in (None, Stop.COMPLETE) else row.response.stop,
            **fields,
        )  # fmt: skip


def _graded(grade: Callable[[Item, str], Graded | Failure], item: Item, response: Response) -> Graded | Failure:
    """Grade by rule; what cannot be read because it was declined, was cut off or is nothing has a class of its own."""
    if response.text is None:
        return response.failure or _NO_ANSWER
    graded = grade(item, response.text)
    if not isinstance(graded, Failure):
        return graded
    kind = INCOMPLETE.get(response.stop or "") or (None if without_thoughts(response.text) else FailureKind.EMPTY)
    return graded.model_copy(update={"kind": kind}) if kind else graded


class _Known(Failure):
    """Not a failure: a grade that needs no call travels through the engine in its place."""

    grade: Graded


def _question(judging: Judging, item: Item, row: Said) -> Request | Failure:
    if row.response.text is None:
        return row.response.failure or _NO_ANSWER
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


def combine(judged: dict[str, Path], path: Path) -> float | None:
    """Write the majority's verdict on every answer to a file; return Krippendorff's α, None where it is undefined."""
    from mores.stats.agreement import krippendorff_alpha  # scipy, which one judge does not need

    votes = bytearray()
    with JsonlWriter(path) as writer:
        for verdicts in zip(*(read_records(file, Verdict) for file in judged.values()), strict=True):
            votes += bytes(list(Label).index(verdict.label) if verdict.label else 255 for verdict in verdicts)
            writer.write(_majority(list(judged), verdicts))
    ratings = np.frombuffer(bytes(votes), dtype=np.uint8).reshape(-1, len(judged)).T.astype(np.float64)
    ratings[ratings == 255] = np.nan
    return krippendorff_alpha(ratings.tolist(), "nominal") if ratings.size else None


def _majority(judges: Sequence[str], verdicts: Sequence[Verdict]) -> Verdict:
    """Return the label that more than half of the judges who gave one agree on; their words stand in the reason."""
    labels = Counter(verdict.label for verdict in verdicts if verdict.label)
    words = [v.label.value if v.label else f"unscored ({v.failure.reason if v.failure else ''})" for v in verdicts]
    judgements = "; ".join(f"{judge}: {said}" for judge, said in zip(judges, words, strict=True))
    first = verdicts[0]
    if labels:
        label, count = labels.most_common(1)[0]
        if 2 * count > labels.total():
            return first.model_copy(update={"label": label, "reason": judgements, "failure": None, "read": None})
    reason = f"there is no majority: {judgements}" if labels else f"no judge gave a grade: {judgements}"
    failure = Failure(kind=FailureKind.MODEL, reason=reason)
    return first.model_copy(update={"label": None, "reason": "", "failure": failure, "read": None})
