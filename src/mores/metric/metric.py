"""The ExCAM metric: samples in, judgements out."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from mores.engine import Answer, Asker, Counts, Job, Lasting
from mores.engine.loop import run as run_loop
from mores.errors import InputError
from mores.formatting import count
from mores.io.frames import frame_rows, is_frame
from mores.metric.prompt import places_of, prompt, prompt_hash
from mores.metric.quotes import VERSION as QUOTES
from mores.metric.quotes import report_grammar
from mores.metric.schema import LONGEST, LONGEST_TUNED, VERSION, WrittenReport, parse, report_schema, schema_hash
from mores.metric.score import certainty, confidence, score
from mores.metric.settings import ReportSettings, SampleLike
from mores.metric.spans import align
from mores.metric.summary import WEAK
from mores.models import Completion, Model, Request, Style, follows_grammars, weakness
from mores.models.base import Stop, Written, calibration_of, taught_explanations, weakness_uncovered
from mores.signature import sign
from mores.types import ErrorReport, Failure, FailureKind, Judgement, Sample, Signature

_SURROGATE = re.compile("[\ud800-\udfff]")
NO_LOGPROBS = "the server gives no log-probabilities: an error-free report scores 0 instead of p(R)"
FREE_QUOTES = "the sample is too long to constrain quotes to its words: what the judge quotes may not be in it"
NOT_THERE = "it cites evidence that it was not given; those numbers are left out"
COVERED = 0.36
"""What evidence that covers a sample has in common with it, by `mores.search.ground.covered`. It was chosen on the test
pairs of the embedded metric. Of its development pairs, 0.5% have less if their own fact is among the evidence, 5% if
that is in other words, and 56% if it is not there, only the facts nearest to it."""
MOST_ERRORS = 3
"""Errors of a report under the constraint; of a sentence, where a model decides about each."""
SINGLE = "samples is a single sample; put it in a list: [sample]"
REPAIRED = "the first answer was not a report; this one was written under the schema constraint"


Settings = ReportSettings
"""The name that 0.2.0 gave the settings of reports."""


@dataclass
class Metric:
    """ExCAM with one model.

    >>> open_metric("openai:gpt-4.1-mini").judge(["In Japan people eat sushi with forks."])
    """

    asker: Asker
    """The model that judges."""
    settings: ReportSettings = field(default_factory=ReportSettings)
    evidence: str = ""
    """The search that finds evidence for the samples, for the signature."""
    by_words: bool = False
    """That search finds passages by their words alone; those that have few words of a sample cover little."""
    nearness: Callable[[str, list[str]], float] | None = None
    """How that search compares meanings, where it does; passages that are far from a sample cover little."""
    unsearched: dict[str, Failure] = field(default_factory=dict)
    """By id: samples for which no evidence could be looked up, and why; they are not judged."""
    _signatures: dict[tuple[str | bool, ...], tuple[ReportSettings, Signature]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def model(self) -> Model:
        """The model that judges."""
        return self.asker.model

    @property
    def judges(self) -> tuple[Metric, ...]:
        """The metrics with one model each that it consists of."""
        return (self,)

    def judge(self, samples: Iterable[SampleLike]) -> list[Judgement]:
        """Return the judgement of every sample, in order."""

        async def collect() -> list[Judgement]:
            return [judgement async for _, judgement in self.stream(samples)]

        return run_loop(collect())

    async def stream(
        self, samples: Iterable[SampleLike], counts: Counts | None = None
    ) -> AsyncGenerator[tuple[Sample, Judgement], None]:
        """Yield each sample with its judgement, in order, as they come, in constant memory."""
        async with aclosing(self.answers(self.jobs(samples), counts)) as answers:
            async for answer in answers:
                yield answer.job.data, self.read(answer)

    def answers(
        self,
        jobs: Iterable[Job] | AsyncIterable[Job],
        counts: Counts | None = None,
        *,
        in_order: bool = True,
        lasting: Lasting | None = None,
    ) -> AsyncGenerator[Answer, None]:
        """Return what the model answers to calls of `jobs`, for `read`; a service makes them as texts come."""
        follow = self._repair if self.settings.repair else None
        return self.asker.ask(jobs, follow=follow, counts=counts, in_order=in_order, lasting=lasting, read=self.read)

    def jobs(self, samples: Iterable[SampleLike]) -> Iterator[Job]:
        """Yield the calls to make."""
        if isinstance(samples, str | Mapping):
            raise InputError(SINGLE)
        for number, value in enumerate(frame_rows(samples) if is_frame(samples) else samples, 1):
            sample = as_sample(value, number)
            yield self.job(sample, sample.id)

    def job(self, sample: Sample, name: str) -> Job:
        """Return the call to make for one sample."""
        return Job(name, self.unsendable(sample) or self.request(sample), data=sample)

    def request(self, sample: Sample) -> Request:
        """Return what the model is asked about one sample."""
        s = self.settings
        asked, same = prompt(sample, self.style, placed=self.shows_places, explain=self.explains)
        request = Request(asked, s.max_tokens, s.temperature, seed=s.seed, shared=same)
        return self._constrained(request, sample) if self._constrain else request

    def read(self, answer: Answer) -> Judgement:
        """Return the judgement in an answer."""
        sample: Sample = answer.job.data
        reply = answer.read(*self._read_though_cut)
        if isinstance(reply, Failure):
            return self.failed(sample, reply)
        if isinstance(written := self._parse(reply, sample), Failure):
            return self.failed(sample, written)
        sure = certainty(reply.logprobs)
        if isinstance(written, WrittenReport):
            report = self._report(written, sample, sure)
        else:
            report = written.model_copy(update={"certainty": sure})
        return Judgement.of(
            sample,
            judge=self.model.name,
            score=score(report),
            report=report,
            evidence=sample.evidence,
            notes=tuple(self._notes(answer, written, report)),
            signature=self.signature(report.certainty is not None, bool(sample.evidence), bool(places_of(sample))),
        )

    @property
    def _read_though_cut(self) -> tuple[Stop, ...]:
        """The incomplete answers that are read: of JSON one can tell whether it is whole, of lines one cannot."""
        return () if self.style == "claims" else (Stop.LENGTH,)

    def _parse(self, reply: Written, sample: Sample) -> WrittenReport | ErrorReport | Failure:
        """Return the report in an answer as the model wrote it, or why there is none."""
        if self.style != "claims":
            return parse(reply)
        from mores.metric.claims import error_probability, probabilities, read_claims

        report = read_claims(reply.text, sample, reply.alternatives)
        by_number = probabilities(reply.alternatives or ())
        calibration = calibration_of(self.model, with_evidence=bool(sample.evidence))
        if isinstance(report, Failure) or calibration is None or not by_number:
            return report
        error = error_probability(by_number)
        return report.model_copy(update={"confidence": confidence(error, calibration, found=bool(report.errors))})

    def _report(self, written: WrittenReport, sample: Sample, sure: float | None) -> ErrorReport:
        errors, summary = align(written.errors, sample, share=self._quoting), written.explanation
        if (explanations := taught_explanations(self.model)) or self._summarises:
            from mores.metric.explained import checked, summarise

            if explanations:
                errors = tuple(checked(error, sample, explanations) for error in errors)
            summary = summary or (summarise(errors) if self._summarises else "")
        return ErrorReport(errors=errors, explanation=summary, certainty=sure)

    def signature(self, with_logprobs: bool = True, with_evidence: bool = False, placed: bool = False) -> Signature:
        """Return what must be the same for two scores to be comparable; `placed` if region or language are known."""
        s = self.settings
        key = (self.model.identity, self.evidence, with_logprobs, with_evidence, placed)
        known = self._signatures.get(key)
        if known is None or known[0] is not s:
            known = self._signatures[key] = s, self._sign(with_logprobs, with_evidence, placed)
        return known[1]

    def _sign(self, with_logprobs: bool, with_evidence: bool, placed: bool) -> Signature:
        s = self.settings
        placed = placed and self.shows_places
        with_evidence = with_evidence or bool(self.evidence)  # also where the search found nothing
        evidence = {"evidence": self.evidence or "given"} if with_evidence else {}
        quotes = f".quotes{QUOTES}" if self._quoting else ""
        schema = schema_hash(self._schema() if self._constrain else None)
        if self.style == "claims":
            from mores.metric.claims import VERSION as CLAIMS

            schema = f"claims{CLAIMS}"
        return sign(
            {
                "metric": f"excam.{VERSION}",
                "model": self.model.identity,
                "prompt": f"{self.style}.{prompt_hash(self.style, with_evidence, placed, self.explains)}",
                "schema": schema + quotes,
                "decoding": f"t{s.temperature},max{s.max_tokens},seed{s.seed}",
                "repair": "yes" if s.repair else "no",
                **({"summary": "composed"} if self._summarises else {}),
                "p": "mean-logprob" if with_logprobs else "none",
                **evidence,
            }
        )

    @property
    def _constrain(self) -> bool:
        if self.settings.constrain is not None:
            return self.settings.constrain
        return self.model.constrained or (self.model.style is not None and follows_grammars(self.model))

    def _constrained(self, request: Request, sample: Sample) -> Request:
        """Return the request under the constraint of our schema; its quotes are words of the sample, where possible."""
        if self.style == "claims":
            from mores.metric.claims import DECISIONS, claims_grammar, claims_parts

            most = self.settings.max_errors or MOST_ERRORS
            rules = claims_grammar(sample, most) if follows_grammars(self.model) else None
            if not rules:
                return request
            parts = claims_parts(rules, sample, most)
            return request._replace(grammar=rules, parts=parts, alternatives=len(DECISIONS))
        schema = self._schema(len(sample.evidence))
        grammar = report_grammar(schema, sample) if follows_grammars(self.model) else None
        if not grammar:
            return request._replace(schema=schema)
        if not self.model.style:  # it has not learnt to write what would be given
            return request._replace(grammar=grammar)
        from mores.metric.parts import report_parts

        most, taught = schema["properties"]["errors"]["maxItems"], taught_explanations(self.model)
        return request._replace(grammar=grammar, parts=report_parts(grammar, sample, most, taught))

    @property
    def _quoting(self) -> bool:
        """True if quotes are constrained to words of the sample."""
        return follows_grammars(self.model) and self._constrain

    @property
    def shows_places(self) -> bool:
        """True if the prompt says the region and the language besides those of the style `claims`."""
        return self.model.style is None and self.style in ("fenced", "guided")

    @property
    def explains(self) -> bool:
        """True if the prompt asks for a summary in free text; a tuned judge reads the prompt that it was tuned with."""
        return self.settings.explain and self.model.style is None and self.style != "claims"

    @property
    def _summarises(self) -> bool:
        """True if a tuned judge's report gets a summary made of its errors; one by claims always has a summary."""
        return self.settings.explain and self.model.style is not None and self.style != "claims"

    @property
    def style(self) -> Style:
        """The prompt that is used."""
        return self.settings.style or self.model.style or "guided"

    def _schema(self, evidence: int = 0) -> dict[str, Any]:
        most = self.settings.max_errors or (MOST_ERRORS if self.model.constrained or self.model.style else None)
        longest = LONGEST_TUNED if self.model.style else LONGEST
        return report_schema(most, longest=longest, evidence=evidence, summary=self.explains)

    def unsendable(self, sample: Sample) -> Failure | None:
        """Return why a sample cannot be sent, if so."""
        if failure := self.unsearched.get(sample.id):
            return no_evidence(failure)
        passages = (part for evidence in sample.evidence for part in (evidence.title, evidence.date, evidence.text))
        whole, most = "".join((sample.instruction, sample.text, *passages)), self.settings.max_characters
        if len(whole) > most:
            long = f"{count(len(whole))} characters are more than the limit of {count(most)}"
            reason = f"{long}; shorten it or raise max_characters"
        elif not whole.isascii() and _SURROGATE.search(whole):
            reason = "it contains half a character (a lone surrogate), which cannot be sent; repair the text"
        else:
            return None
        return Failure(kind=FailureKind.INPUT, reason=reason)

    def _repair(self, job: Job, completion: Completion) -> Request | None:
        if self._constrain:
            return None
        reply = completion.complete(*self._read_though_cut)
        if isinstance(reply, Written) and not isinstance(self._parse(reply, job.data), Failure):
            return None
        return self._constrained(self.request(job.data), job.data)

    def _notes(self, answer: Answer, written: WrittenReport | ErrorReport, report: ErrorReport) -> Iterator[str]:
        if answer.followed:
            yield REPAIRED
        if isinstance(answer.job.request, Request) and answer.job.request.schema and self._quoting:
            yield FREE_QUOTES
        cited = zip(report.errors, written.errors if isinstance(written, WrittenReport) else (), strict=False)
        if any(len(error.evidence) < len(as_written.evidence) for error, as_written in cited):
            yield NOT_THERE
        if report.certainty is None and not report.errors:
            yield NO_LOGPROBS
        sample: Sample = answer.job.data
        if not sample.evidence:
            reason = weakness(self.model)
        elif (reason := weakness_uncovered(self.model)) and (self.by_words or self.nearness):
            from mores.search.ground import covered, is_near

            if covered(sample) >= COVERED or (self.nearness and is_near(sample, self.nearness)):
                reason = ""
        else:
            reason = ""
        if reason:
            yield WEAK + reason

    def failed(self, sample: Sample, failure: Failure | None) -> Judgement:
        """Return the judgement of a sample that could not be judged."""
        return Judgement.of(
            sample,
            judge=self.model.name,
            evidence=sample.evidence,
            failure=failure,
            signature=self.signature(with_evidence=bool(sample.evidence), placed=bool(places_of(sample))),
        )


def no_evidence(failure: Failure) -> Failure:
    """Return why a sample is not judged for which a search failed."""
    reason = f"no evidence could be looked up: {failure.reason}"
    return failure.model_copy(update={"reason": reason})


def as_sample(value: SampleLike, number: int) -> Sample:
    """Return a sample from what people naturally pass."""
    if isinstance(value, Sample):
        return value
    if isinstance(value, str) and value and not value.isspace():
        return Sample(id=str(number), text=value)
    if isinstance(value, str):
        value = {"text": value}
    elif isinstance(value, tuple) and len(value) == 2:
        value = {"instruction": value[0], "text": value[1]}
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise InputError(f"sample {number} is a {kind}; expected a Sample, a text, a pair or a mapping")
    from mores.io.fields import sample_from  # which texts alone do not need

    try:
        return sample_from(value, default_id=str(number))
    except InputError as exc:
        raise InputError(f"sample {number}: {exc}") from exc
