"""How benchmarks are run: read the questions, search, ask, grade, add up, each into the run's folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from mores.benchmark import reference
from mores.benchmark.appraise import appraise, join_signatures, measure
from mores.benchmark.benchmark import Benchmark, Graded, Label
from mores.benchmark.choice import SHUFFLED, grade_letter, shuffle
from mores.benchmark.evidence import RetrievedEvidence, read_retrieval, retrieve
from mores.benchmark.folder import (
    EVIDENCE,
    FILES,
    LONGFORM,
    RESPONSES,
    RESULT,
    VERDICTS,
    BenchRun,
    open_bench_run,
    write_items,
)
from mores.benchmark.labels import label
from mores.benchmark.run import JUDGE_TOKENS, BenchJob, judge_request
from mores.benchmark.score import BenchResult
from mores.benchmark.settings import QuestionSettings
from mores.engine import Asker, Counts, Job, Progress
from mores.engine.estimate import Estimate, estimate
from mores.errors import ConfigError, InputError
from mores.factory.sources import download
from mores.formatting import count, first_problems, money
from mores.io import file_name, write_text
from mores.longanswer.appraise import Appraising, write_summaries
from mores.longanswer.summary import summarise
from mores.models.configured import configuration_of
from mores.registry import identity_of, name_of
from mores.run import Plan, start_run
from mores.search import Options as SearchOptions
from mores.search import Search, open_search, search_cost
from mores.signature import sign
from mores.types import Item

USUAL_ANSWER = "word " * 100
"""An answer of the usual length, to count what a judge would read."""


class Asking(QuestionSettings):
    """How the questions of a benchmark are asked and graded, ready for work."""

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
        check_variant(benchmark, self.variant)

    @property
    def long(self) -> Appraising:
        """How long answers are judged."""
        return Appraising(lid=self.lid, facts=self.facts)

    @property
    def unjudged(self) -> Label | None:
        """What an answer counts as that the judge could not grade; None counts it apart."""
        return Label.INCORRECT if self.judge_failures == "incorrect" else None

    def folder(self, benchmark: Benchmark) -> str:
        """Return the name of a benchmark's folder, which also says how it is asked."""
        parts = [
            benchmark.name, self.variant, None if self.shuffle is None else f"shuffled{self.shuffle}",
            "logprob" if self.by_logprob else None, "search" if self.search else None,
        ]  # fmt: skip
        return file_name(".".join(filter(None, parts)))


@dataclass(frozen=True)
class Session:
    """A model, its judges, and how they are asked: what several runs share."""

    asker: Asker
    judges: tuple[Asker, ...] = ()
    asking: Asking = field(default_factory=Asking)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    """Labels that users gave the questions; results are broken down by them."""

    @property
    def progress(self) -> Progress:
        """Shows how far the work is."""
        return self.asker.progress

    def items(self, benchmark: Benchmark) -> tuple[Benchmark, list[Item]]:
        """Return the items to ask, and the benchmark with the labels that users gave them."""
        asking = self.asking
        items = read_items(benchmark, asking.data, asking.limit, self.progress)
        if asking.shuffle is not None:
            items = [shuffle(item, asking.shuffle) for item in items]
            if unshuffled := sum(SHUFFLED not in item.metadata for item in items):
                self.progress.note(
                    f"{benchmark.name}: {unshuffled:,} questions keep their order: an option refers to the others"
                )
        return label(benchmark, items, self.labels) if self.labels else (benchmark, items)

    def job(self, benchmark: Benchmark, items: Sequence[Item]) -> BenchJob:
        """Return what will be asked, and how."""
        asking = self.asking
        return BenchJob(
            benchmark=benchmark, items=items, asker=self.asker, judges=self.judges if benchmark.judging else (),
            samples=asking.samples, variant=asking.variant, max_tokens=asking.max_tokens, seed=asking.seed,
            temperature=benchmark.temperature if asking.temperature == "default" else asking.temperature,
            by_logprob=asking.by_logprob, unjudged=asking.unjudged,
        )  # fmt: skip

    async def run(self, benchmark: Benchmark, out: Path) -> BenchRun:
        """Ask and grade a benchmark; its questions, answers and grades are in a folder below `out`."""
        asking = self.asking
        asking.check(benchmark, self.judges)
        job, counts = self.job(*self.items(benchmark)), Counts()
        search = None
        if asking.search:
            options = SearchOptions(
                limits=self.asker.limits, fresh=self.asker.fresh, counts=counts, progress=self.progress
            )
            search = open_search(asking.search, options)
            job.retrieval = RetrievedEvidence(f"{search.identity}.k{asking.results}", {})
        folder = out / asking.folder(benchmark) / file_name(job.model.name)
        with start_run(folder, self._plan(job), progress=self.progress) as run:
            if search:
                job.retrieval = await self._search(job, search, counts, run.path)
            write_items(job.items, run.path)
            await job.ask(run.path / RESPONSES)
            if benchmark.long_answer:
                result = await self._appraise(job, run.path)
            else:
                agreement = await job.grade(run.path / RESPONSES, run.path / VERDICTS)
                result = job.score(run.path / VERDICTS).model_copy(update={"agreement": agreement})
            write_text(run.path / RESULT, result.model_dump_json(indent=1) + "\n")
            run.finish(files=FILES, failures=result.failures, headline=result.headline)
        return open_bench_run(run.path)

    def estimates(self, job: BenchJob) -> dict[str, Estimate]:
        """Return what the model and its judges would be asked, and the cost."""
        longest = job.max_tokens or job.benchmark.max_tokens
        estimates = {job.model.name: estimate(self.asker, job.jobs(), longest)}
        for judge in job.judges:
            name = f"{judge.model.name} as the judge, at least"
            estimates[name] = estimate(judge, _judge_jobs(job), JUDGE_TOKENS)
        return estimates

    def _plan(self, job: BenchJob) -> Plan:
        """Return what the run is; who appraises long answers is part of it too."""
        asking, signature = self.asking, job.signature()
        if job.benchmark.long_answer:
            long, judge = asking.long, self.judges[0].model.identity if self.judges else "none"
            signature = sign(
                {**signature, "lid": identity_of(long.lid), "judge": judge, "facts": identity_of(long.facts or "none")}
            )
        settings: dict[str, Any] = {
            name: getattr(asking, name) for name in ("limit", "samples", "variant", "search", "shuffle", "by_logprob")
        } | {"benchmark": reference(job.benchmark)}
        if asking.search:
            settings["search"] = name_of(asking.search)
        name, model = job.benchmark.name, job.model.name
        known = configuration_of(job.model)
        return Plan(kind="bench", name=name, model=model, signature=signature, settings=settings, configuration=known)

    async def _search(self, job: BenchJob, search: Search, counts: Counts, folder: Path) -> RetrievedEvidence:
        name, results, number = job.benchmark.name, self.asking.results, len(job.items)
        if cost := search_cost(self.asking.search or "", number, results):
            self.progress.note(f"{name}: {count(number)} searches, at most {money(cost)}")
        try:
            async with self.progress.stage(f"{name}: searching", number, None, counts):
                await retrieve(job.benchmark, job.items, search, results, folder / EVIDENCE, counts)
        finally:
            await search.close()
        return read_retrieval(folder / EVIDENCE, search, results)

    async def _appraise(self, job: BenchJob, folder: Path) -> BenchResult:
        """Judge long answers; the folder `longform` in the run's has all that is known about each."""
        long, judge = self.asking.long, self.judges[0] if self.judges else None
        verdicts, inner = folder / VERDICTS, folder / LONGFORM
        evaluation, counting = await appraise(job, folder / RESPONSES, verdicts, inner, long, judge, self.progress)
        write_summaries(summarise(evaluation.appraised(), counting, evaluation.signature()), inner)
        measured = measure(job.benchmark, job.items, evaluation.appraised(), counting)
        signature = join_signatures(job.signature(), evaluation.signature())
        more = {"judge": judge.model.name if judge else None, "signature": signature}
        return job.score(verdicts).model_copy(update=measured | more)


def _judge_jobs(job: BenchJob) -> Iterator[Job]:
    """Yield what a judge would be asked about answers of the usual length."""
    judging = job.benchmark.judging
    assert judging is not None
    for item in job.items:
        question = judging.ask(item, USUAL_ANSWER)
        if not isinstance(question, Graded):
            for sample in range(job.samples):
                yield Job(item.id, judge_request(question), sample)


def check_variant(benchmark: Benchmark, variant: str | None) -> None:
    """Raise ConfigError where a benchmark does not have a variant."""
    if variant and variant not in benchmark.variants:
        variants = f"it has {', '.join(benchmark.variants)}" if benchmark.variants else "it has none"
        raise ConfigError(f"{benchmark.name}: no variant {variant!r}; {variants}", setting="variant")


def read_items(benchmark: Benchmark, data: Path | None, limit: int | None, progress: Progress) -> list[Item]:
    """Return the items of a benchmark, or some of them; bad rows are reported and left out."""
    folder = data / benchmark.source if data else benchmark.data
    folder = folder or download(benchmark.name, benchmark.hub, benchmark.revision, benchmark.homepage)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; put there {benchmark.files} (from {benchmark.homepage})")
    problems: list[InputError] = []
    by_id: dict[str, Item] = {}
    for item in benchmark.read(folder, problems.append):
        if item.id in by_id:
            problems.append(InputError(f"duplicate id {item.id!r}; remove one"))
        else:
            by_id[item.id] = item
    items = list(by_id.values())
    if problems:
        rows = count(len(problems), "bad row")
        progress.note(f"{benchmark.name}: left out {rows}:{first_problems(problems)}")
    if not items:
        raise InputError(f"{folder}: contains no items; expected {benchmark.files}")
    if about := benchmark.about(items):
        progress.note(f"{benchmark.name}: {about}")
    return items if limit is None else spread(benchmark, items, limit)


def spread(benchmark: Benchmark, items: list[Item], limit: int) -> list[Item]:
    """Return so many whole questions, at equal distances."""
    units = [list(parts) for _, parts in groupby(items, benchmark.unit)]
    step = max(1.0, len(units) / limit)
    return [item for number in range(min(limit, len(units))) for item in units[int(number * step)]]
