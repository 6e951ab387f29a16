"""Several judges for one text, against the bias of a single one: their reports are merged by agreement.

    mores score texts.jsonl --model openai:A --ensemble openai:B --ensemble openai:C
    mores meta --metric excam:ensemble:openai:A,openai:B,openai:C …

A text has errors where more than half of the judges that gave a report find one; of two judges, both. Errors of several
judges are the same one where their quotes share a third of the shorter one. Kept are those that more than half found;
where judges agree that something is wrong but not where, the one that most found. (A majority in the same place alone
lost more true errors than it kept false ones out: `benchmarks/ensemble.py`.) A merged error begins and ends at the
medians of its finders' spans, has their median severity, names who found it, and has the type and the explanation of
the first of them in the order in which judges are named: name the strongest first. p(R) is the mean of the judges'.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from statistics import fmean, median_high, median_low

from mores.engine import Answer, Counts, Job, Lasting
from mores.errors import ConfigError
from mores.formatting import count
from mores.metric.metric import Metric
from mores.metric.score import score
from mores.metric.settings import PREFIX
from mores.models.base import BasicModel, Completion, Request, Style, wants_evidence
from mores.signature import sign
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Sample, Severity, Signature

OVERLAP = 1 / 3
"""Two quotes are of one error where they share this part of the shorter one."""
VERSION = 1


class EnsembleModel(BasicModel):
    """The judges of an ensemble under one name; the metric asks them one by one."""

    def __init__(self, members: Sequence[Metric]) -> None:
        """Take the judges in the order of their strength."""
        models = [member.model for member in members]
        self.name = PREFIX + ",".join(model.name for model in models)
        self.identity = "+".join(model.identity for model in models)
        self.concurrency = min(model.concurrency for model in models)
        self.timeout = max(model.timeout for model in models)
        self.warning = " ".join(filter(None, dict.fromkeys(model.warning for model in models))) or None
        self.wants_evidence = any(map(wants_evidence, models))

    async def complete(self, _request: Request) -> Completion:
        """Refuse: its judges have prompts of their own."""
        raise ConfigError(f"{self.name} judges texts and answers no other request; name one model")


class MergedAnswer(Answer):
    """The judgements of all judges of one text."""

    judgements: tuple[Judgement, ...] = ()


@dataclass
class EnsembleMetric(Metric):
    """ExCAM with several models for each text."""

    members: tuple[Metric, ...] = ()

    @property
    def judges(self) -> tuple[Metric, ...]:
        """The judges, in the order of their strength."""
        self._share()
        return self.members

    @property
    def style(self) -> Style:
        """The prompt of the judges; the paper's where one of them has it, which shows no evidence."""
        return "paper" if any(member.style == "paper" for member in self.members) else self.members[0].style

    @property
    def shows_places(self) -> bool:
        """True if the prompt of any judge says the region and the language."""
        return any(member.shows_places for member in self.members)

    def job(self, sample: Sample, name: str) -> Job:
        """Return a job for one text, with the question to the first judge."""
        self._share()
        return self.members[0].job(sample, name)

    async def answers(
        self,
        jobs: Iterable[Job] | AsyncIterable[Job],
        counts: Counts | None = None,
        *,
        in_order: bool = True,
        lasting: Lasting | None = None,
    ) -> AsyncGenerator[Answer, None]:
        """Yield what all judges say about each text, for `read`; judges work at the same time, each at its speed."""
        self._share()
        counts = counts or Counts()
        shared, number_of_judges = _SharedJobs(jobs, len(self.members)), len(self.members)
        known: dict[int, dict[int, Judgement]] = {}
        finished = 0
        async with aclosing(self._arrivals(shared, counts, lasting)) as arrivals:
            async for number, place, judgement in arrivals:
                known.setdefault(number, {})[place] = judgement
                number = finished if in_order else number
                while len(known.get(number, ())) == number_of_judges:
                    of_text = known.pop(number)
                    merged = MergedAnswer(shared.jobs.pop(number))
                    merged.judgements = tuple(of_text[place] for place in range(number_of_judges))
                    finished += 1
                    counts.done = finished
                    yield merged
                    number = finished if in_order else -1

    async def _arrivals(
        self, shared: _SharedJobs, counts: Counts, lasting: Lasting | None
    ) -> AsyncGenerator[tuple[int, int, Judgement], None]:
        """Yield every judgement with the number of its text and the place of its judge, as they come."""
        unopened = len(self.members)
        arrived: asyncio.Queue[tuple[int, int, Judgement] | Exception | None] = asyncio.Queue()

        def opened() -> None:
            nonlocal unopened
            unopened -= 1
            if unopened == 0 and lasting:
                lasting.on_open()

        async def ask(place: int, member: Metric) -> None:
            # A request that worked before is another one for each judge, so none is asked again.
            until = Lasting(opened) if lasting else None
            try:
                answers = member.answers(shared.of(place, member), counts, in_order=False, lasting=until)
                async with aclosing(answers):
                    async for answer in answers:
                        await arrived.put((int(answer.job.id), place, member.read(answer)))
                await arrived.put(None)
            except Exception as error:
                await arrived.put(error)

        tasks = [asyncio.create_task(ask(place, member)) for place, member in enumerate(self.members)]
        try:
            ended = 0
            while ended < len(tasks):
                news = await arrived.get()
                if isinstance(news, Exception):
                    raise news
                if news is None:
                    ended += 1
                else:
                    yield news
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def read(self, answer: Answer) -> Judgement:
        """Return the merged judgement of a text."""
        assert isinstance(answer, MergedAnswer)
        sample: Sample = answer.job.data
        names = [member.model.name for member in self.members]
        judgements = dict(zip(_distinct(names), answer.judgements, strict=True))
        placed, certain = bool(sample.region or sample.language), all(j.report for j in answer.judgements)
        known = certain and all(j.report and j.report.certainty is not None for j in answer.judgements)
        return merge(sample, judgements, self.model.name, self.signature(known, bool(sample.evidence), placed))

    def signature(self, with_logprobs: bool = True, with_evidence: bool = False, placed: bool = False) -> Signature:
        """Return what must be the same for two scores to be comparable: of all judges, in their order."""
        self._share()
        signatures = [member.signature(with_logprobs, with_evidence, placed) for member in self.members]
        fields = dict.fromkeys(name for signature in signatures for name in signature)
        joined = {name: "+".join(dict.fromkeys(s.get(name, "none") for s in signatures)) for name in fields}
        joined |= {"model": "+".join(s["model"] for s in signatures), "ensemble": f"{VERSION}.{len(signatures)}"}
        return sign(joined)

    def failed(self, sample: Sample, failure: Failure | None) -> Judgement:
        """Return the judgement of a text that could not be judged."""
        signature = self.signature(with_evidence=bool(sample.evidence))
        return Judgement.of(
            sample, judge=self.model.name, evidence=sample.evidence, failure=failure, signature=signature
        )

    def _share(self) -> None:
        """Tell every judge what is known of the search."""
        for member in self.members:
            member.evidence, member.by_words, member.nearness = self.evidence, self.by_words, self.nearness
            member.unsearched = self.unsearched


class _SharedJobs:
    """Jobs that several judges take, each at its speed; none is read before a judge asks for it."""

    def __init__(self, jobs: Iterable[Job] | AsyncIterable[Job], readers: int) -> None:
        self.jobs: dict[int, Job] = {}
        """The jobs that are not finished, by number."""
        self._source = aiter(jobs) if isinstance(jobs, AsyncIterable) else _asynchronous(jobs)
        self._waiting: list[deque[tuple[int, Job]]] = [deque() for _ in range(readers)]
        self._lock, self._read = asyncio.Lock(), 0

    async def of(self, place: int, member: Metric) -> AsyncIterator[Job]:
        """Yield every text as a question to one of the judges."""
        waiting = self._waiting[place]
        while True:
            if not waiting:
                async with self._lock:
                    if not waiting:  # another judge may have read one in the meantime
                        try:
                            job = await anext(self._source)
                        except StopAsyncIteration:
                            return
                        self.jobs[self._read] = job
                        for queue in self._waiting:
                            queue.append((self._read, job))
                        self._read += 1
            number, job = waiting.popleft()
            yield member.job(job.data, str(number))


async def _asynchronous(jobs: Iterable[Job]) -> AsyncIterator[Job]:
    for job in jobs:
        yield job


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names of judges; a second of the same name has a number."""
    return [name if (n := names[:place].count(name)) == 0 else f"{name} ({n + 1})" for place, name in enumerate(names)]


# ---- merging ---------------------------------------------------------------------------------------------------


def merge(sample: Sample, judgements: dict[str, Judgement], judge: str, signature: Signature) -> Judgement:
    """Return one judgement of those of several judges, by name in the order of their strength."""
    reports = {name: judgement.report for name, judgement in judgements.items() if judgement.report}
    members = {name: judgement.score for name, judgement in judgements.items()}
    about = {"judge": judge, "evidence": sample.evidence, "members": members, "signature": signature}
    failed = {name: j.failure for name, j in judgements.items() if j.failure}
    if not reports:
        reasons = "; ".join(f"{name}: {failure.reason}" for name, failure in failed.items())
        first = next(iter(failed.values()), Failure(kind=FailureKind.MODEL, reason="no judge gave a report"))
        return Judgement.of(sample, failure=first.model_copy(update={"reason": reasons}), **about)
    groups = group_errors(reports)
    chosen = choose_groups(groups, reports)
    kept = [merge_errors(sample, group) for group in chosen]
    certainties = [report.certainty for report in reports.values()]
    known = [certainty for certainty in certainties if certainty is not None]
    report = ErrorReport(
        errors=tuple(sorted(kept, key=lambda error: (error.side, error.start is None, error.start or 0))),
        explanation=next((each.explanation for each in reports.values() if bool(each.errors) == bool(kept)), ""),
        certainty=fmean(known) if len(known) == len(certainties) else None,
    )
    notes = [note for judgement in judgements.values() for note in judgement.notes]
    notes += [f"{name} gave no report: {failure.reason}" for name, failure in failed.items()]
    if alone := len(groups) - len(kept):
        found = "; ".join(
            f"{error.quote!r} by {', '.join(group)}"
            for group in groups
            if group not in chosen
            for error in list(group.values())[:1]
        )
        notes.append(f"left out, as no majority found it: {count(alone, 'error')} ({found[:300]})")
    return Judgement.of(sample, score=score(report), report=report, notes=tuple(dict.fromkeys(notes)), **about)


def group_errors(reports: dict[str, ErrorReport]) -> list[dict[str, Error]]:
    """Return the errors of all judges, those of one place together, each with who found it."""
    groups: list[dict[str, Error]] = []
    for name, report in reports.items():
        for error in report.errors:
            near = [
                group
                for group in groups
                if name not in group and any(is_same(error, other) for other in group.values())
            ]
            best = max(near, key=lambda group: max(shared(error, other) for other in group.values()), default=None)
            if best is None:
                groups.append({name: error})
            else:
                best[name] = error
    return groups


def choose_groups(groups: list[dict[str, Error]], reports: dict[str, ErrorReport]) -> list[dict[str, Error]]:
    """Return the errors to keep: none unless most judges find one, then those of most, or else the most frequent."""
    if 2 * sum(bool(report.errors) for report in reports.values()) <= len(reports):
        return []
    most = max(map(len, groups))
    return [group for group in groups if 2 * len(group) > len(reports)] or [
        next(group for group in groups if len(group) == most)
    ]


def is_same(error: Error, other: Error) -> bool:
    """Return whether two judges mean the same words."""
    if error.side != other.side:
        return False
    if not (error.located and other.located):
        return error.quote.casefold().strip() == other.quote.casefold().strip()
    return shared(error, other) >= OVERLAP


def shared(error: Error, other: Error) -> float:
    """Return how much of the shorter span is in both; 1 for words that were not located."""
    if error.start is None or error.end is None or other.start is None or other.end is None:
        return 1.0
    overlap = min(error.end, other.end) - max(error.start, other.start)
    return max(0, overlap) / min(error.end - error.start, other.end - other.start)


def merge_errors(sample: Sample, group: dict[str, Error]) -> Error:
    """Return one error of those that several judges found in one place."""
    first = next(iter(group.values()))
    located = [error for error in group.values() if error.start is not None and error.end is not None]
    weights = median_high([error.severity.weight for error in group.values()])  # of a tie, the milder
    severity = next(each for each in Severity if each.weight == weights)
    place: dict[str, object] = {}
    if located:
        start = median_low([error.start or 0 for error in located])
        end = median_high([error.end or 0 for error in located])
        if start < end:
            place = {"start": start, "end": end, "quote": sample.side(first.side)[start:end]}
    return first.model_copy(update={"severity": severity, "found_by": tuple(group), **place})


def make_ensemble(members: Sequence[Metric]) -> Metric:
    """Return the metric of several judges; the judge itself where there is one."""
    if len(members) == 1:
        return members[0]
    first = members[0]
    asker = replace(first.asker, model=EnsembleModel(members), given_price=None)
    return EnsembleMetric(asker, first.settings, members=tuple(members))
