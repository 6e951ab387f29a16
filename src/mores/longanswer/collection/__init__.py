"""Collecting cultural questions the way CaLMQA was collected (Section 2 and Appendices A and B of the paper).

`mores collect questions.jsonl` drops what is not specific to a culture or of poor quality, translates the rest into
English, gives it a topic, and says what was dropped and why. Stages follow each other: exact duplicates go first and
cost nothing, then each filter sees what the one before has passed. Translation and topic are for what is kept; where
one fails, the question is kept and carries the failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Any

from pydantic import Field

from mores.engine import Answer, Asker, Counts, Job, read_reply
from mores.errors import ConfigError
from mores.formatting import count
from mores.longanswer.collection.asking import (
    FILTERS,
    CollectStage,
    FilterVerdict,
    ask,
    in_tags,
    prompt_hash,
    read_topic,
    read_translation,
    read_verdict,
    schema,
)
from mores.longanswer.collection.candidates import Candidate
from mores.longanswer.collection.duplicates import NearDuplicate, near_duplicates, same_as_earlier
from mores.models import Message, Model, Request
from mores.models.base import Stop
from mores.signature import sign
from mores.types import Failure, Signature

VERSION = "1"
DOING = {
    CollectStage.SPECIFICITY: "cultural specificity",
    CollectStage.QUALITY: "quality",
    CollectStage.TRANSLATION: "translating",
    CollectStage.TOPIC: "topics",
}
"""What progress calls the stages."""


class CandidateStatus(StrEnum):
    """The outcome for a question."""

    KEPT = "kept"
    DROPPED = "dropped"
    UNSCORED = "unscored"
    """A filter could not decide: neither kept nor dropped."""


class Collected(Candidate):
    """A candidate and what the stages decided about it."""

    translated: bool = False
    """Whether the translation is the model's."""
    category: str | None = None
    """One of Table 12; None where it was not asked or not read."""
    status: CandidateStatus = CandidateStatus.KEPT
    stage: CollectStage | None = None
    """Which dropped it or could not decide."""
    reason: str = ""
    """Why; for a dropped question in the model's words."""
    near: NearDuplicate | None = None
    """An earlier kept question that is nearly the same."""
    replies: dict[CollectStage, str] = Field(default_factory=dict)
    """The model's whole reply at a stage, unless all of it is the translation or the category."""
    failures: dict[CollectStage, Failure] = Field(default_factory=dict)


@dataclass
class Collector:
    """A model, and how it is asked."""

    asker: Asker
    without: frozenset[CollectStage] = frozenset()
    """Stages that are left out."""
    max_tokens: int = 1024
    temperature: float | None = 0.0
    seed: int | None = 0

    @property
    def model(self) -> Model:
        """The model that is asked."""
        return self.asker.model

    @property
    def stages(self) -> tuple[CollectStage, ...]:
        """Those that ask the model, in their order."""
        return tuple(
            stage for stage in CollectStage if stage is not CollectStage.DUPLICATE and stage not in self.without
        )

    def begin(self, candidates: Iterable[Candidate]) -> list[Collected]:
        """Return all candidates, the exact duplicates among them dropped."""
        every = [Collected(**dict(candidate)) for candidate in candidates]
        lacking = sum(not candidate.english and not candidate.translation for candidate in every)
        if lacking and CollectStage.TRANSLATION in self.without and CollectStage.TOPIC not in self.without:
            reason = f"{count(lacking)} questions that are not English have none"
            fix = "give 'translation', or leave out the topic as well"
            message = f"the topic is read from the translation, and {reason}; {fix}"
            raise ConfigError(message, setting="without")
        same = {} if CollectStage.DUPLICATE in self.without else same_as_earlier(every)
        reasons = {id_: f"the same as {earlier}" for id_, earlier in same.items()}
        return [
            _drop(question, CollectStage.DUPLICATE, reasons[question.id]) if question.id in reasons else question
            for question in every
        ]

    async def collect(self, begun: list[Collected]) -> list[Collected]:
        """Return every question with its outcome, in order: all stages, one after the other, then near duplicates."""
        for stage in self.stages:
            total = sum(self.concerns(stage, question) for question in begun)
            if total:
                async with self.asker.progress.stage(DOING[stage], total, self.asker.price) as counts:
                    begun = await self.step(stage, begun, counts)
        return mark_near(begun)

    async def step(
        self, stage: CollectStage, questions: Sequence[Collected], counts: Counts | None = None
    ) -> list[Collected]:
        """Return all questions in their order, with the decision of the stage on those that it is about."""
        waiting = [question for question in questions if self.concerns(stage, question)]
        done: dict[str, Collected] = {}

        def read(answer: Answer) -> Collected:
            return read_answer(stage, answer, self.model.constrained)

        def failed(answer: Answer) -> Failure | None:
            return read(answer).failures.get(stage)

        async with aclosing(self.asker.ask(self.jobs(stage, waiting), counts=counts, read=failed)) as answers:
            async for answer in answers:
                done[answer.job.id] = read(answer)
        return [done.get(question.id, question) for question in questions]

    def concerns(self, stage: CollectStage, question: Collected) -> bool:
        """Return whether the model is asked about a question at this stage."""
        if question.status is not CandidateStatus.KEPT:
            return False
        return stage is not CollectStage.TRANSLATION or not (question.english or question.translation)

    def jobs(self, stage: CollectStage, questions: Iterable[Collected]) -> Iterator[Job]:
        """Yield the calls of a stage."""
        for question in questions:
            prompt, form = ask(stage, question), schema(stage) if self.model.constrained else None
            if isinstance(prompt, Failure):
                yield Job(question.id, prompt, data=question)
                continue
            settings = (self.max_tokens, self.temperature)
            request = Request((Message("user", prompt),), *settings, seed=self.seed, logprobs=False, schema=form)
            yield Job(question.id, request, data=question)

    def all_jobs(self, candidates: Iterable[Candidate]) -> Iterator[Job]:
        """Yield the calls of all stages if every question passed, with translations as long as their questions."""
        begun = [question for question in self.begin(candidates) if question.status is CandidateStatus.KEPT]
        for stage in self.stages:
            if stage is CollectStage.TOPIC:
                begun = [
                    question.model_copy(update={"translation": question.translation or question.question})
                    for question in begun
                ]
            yield from self.jobs(stage, (question for question in begun if self.concerns(stage, question)))

    def signature(self, candidates: Sequence[Candidate]) -> Signature:
        """Return what must be the same for two collections to be comparable."""
        return sign(
            {
                "task": f"collect.{VERSION}",
                "data": f"{data_hash(candidates)}.{len(candidates)}",
                "model": self.model.identity,
                "prompt": prompt_hash(),
                "decoding": f"t{self.temperature},max{self.max_tokens},seed{self.seed}"
                + (",schema" if self.model.constrained else ""),
                "stages": "+".join(stage for stage in CollectStage if stage not in self.without),
            }
        )


def mark_near(questions: Sequence[Collected]) -> list[Collected]:
    """Return all questions, the kept ones that are nearly the same as an earlier kept one with a mark."""
    near = {
        pair.id: pair
        for pair in near_duplicates(question for question in questions if question.status is CandidateStatus.KEPT)
    }
    return [
        question.model_copy(update={"near": near[question.id]}) if question.id in near else question
        for question in questions
    ]


def read_answer(stage: CollectStage, answer: Answer, constrained: bool = False) -> Collected:
    """Return the question of an answer, with what the answer decides; a constrained model answers in JSON."""
    question: Collected = answer.job.data
    answered = question
    written = answer.read(*Stop)
    if not isinstance(written, Failure):
        replies = {**question.replies, stage: written.aloud}
        answered = question.model_copy(update={"replies": replies})
    reply = read_reply(answer)
    if constrained and not isinstance(reply, Failure):
        reply = in_tags(stage, reply)
    outcome: FilterVerdict | str | Failure = reply
    if not isinstance(reply, Failure) and stage in FILTERS:
        outcome = read_verdict(reply)
    elif not isinstance(reply, Failure):
        is_topic = stage is CollectStage.TOPIC
        outcome = read_topic(reply) if is_topic else read_translation(reply, question.question)
    match outcome:
        case Failure():  # unscored after a filter, still kept without a translation or topic
            update: dict[str, Any] = {"failures": {**question.failures, stage: outcome}}
            if stage in FILTERS:
                update |= {"status": CandidateStatus.UNSCORED, "stage": stage, "reason": outcome.reason}
            return answered.model_copy(update=update)
        case FilterVerdict():
            return answered if outcome.passed else _drop(answered, stage, outcome.reason or "the model gives no reason")
    update = {"category": outcome} if stage is CollectStage.TOPIC else {"translation": outcome, "translated": True}
    return question.model_copy(update=update)


def _drop(question: Collected, stage: CollectStage, reason: str) -> Collected:
    return question.model_copy(update={"status": CandidateStatus.DROPPED, "stage": stage, "reason": reason})


def data_hash(candidates: Iterable[Candidate]) -> str:
    """Return eight digits that change when a question does, or anything else that the model is shown."""
    total = blake2b(digest_size=4)
    for candidate in candidates:
        total.update(candidate.model_dump_json(exclude={"extra", "source"}).encode())
    return total.hexdigest()
