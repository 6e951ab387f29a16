"""Runs of benchmarks: read the questions, search, ask, grade, add up, each into the run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from mores.benchmark import reference
from mores.benchmark.appraise import appraise, measure
from mores.benchmark.benchmark import Benchmark, Graded
from mores.benchmark.choice import SHUFFLED, shuffle
from mores.benchmark.columns import with_columns
from mores.benchmark.evidence import RetrievedEvidence, read_retrieval, retrieve
from mores.benchmark.folder import (
    EVIDENCE,
    FILES,
    RESPONSES,
    RESULT,
    VERDICTS,
    BenchRun,
    open_bench_run,
    write_items,
)
from mores.benchmark.labels import label
from mores.benchmark.msqa.protocol import with_protocol
from mores.benchmark.run import JUDGE_TOKENS, Asking, BenchJob, judge_request
from mores.benchmark.shots import with_examples
from mores.engine import Asker, Counts, Job, Progress
from mores.engine.estimate import Estimate, estimate
from mores.errors import InputError
from mores.factory.sources import download
from mores.formatting import count, first_problems, money
from mores.io import file_name, write_text
from mores.models.configured import configuration_of
from mores.registry import identity_of, name_of
from mores.run import Plan, start_run
from mores.search import Options as SearchOptions
from mores.search import open_search, search_cost
from mores.signature import sign
from mores.types import Item

USUAL_ANSWER = "word " * 100
"""An answer of the usual length, to count what a judge would read."""


@dataclass(frozen=True)
class Session:
    """A model, its judges, and how they are asked: what several runs share."""

    asker: Asker
    judges: tuple[Asker, ...] = ()
    asking: Asking = field(default_factory=Asking)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    """Labels that users gave the questions; results are broken down by them."""
    by: tuple[str, ...] = ()
    """Columns of the questions that results are broken down by besides the benchmark's own."""

    @property
    def progress(self) -> Progress:
        """Shows how far the work is."""
        return self.asker.progress

    def items(self, benchmark: Benchmark) -> tuple[Benchmark, list[Item]]:
        """Return the items to ask, and the benchmark that is broken down by the labels and columns that users chose."""
        asking = self.asking
        whole = not asking.ids and not asking.shots
        items = read_items(benchmark, asking.data, asking.limit if whole else None, self.progress)
        if asking.ids:
            ids = set(asking.ids.read_text("utf-8").split("\n")) - {""}
            items = [item for item in items if not ids.isdisjoint((item.id, benchmark.unit(item)))]
            if absent := sorted(ids - {name for item in items for name in (item.id, benchmark.unit(item))}):
                fix = "remove the line, or give the ids of this benchmark"
                raise InputError(f"{asking.ids}: {benchmark.name} has no question {absent[0]!r}; {fix}")
        if asking.shuffle is not None:
            items = [shuffle(item, asking.shuffle) for item in items]
            if unshuffled := sum(SHUFFLED not in item.metadata for item in items):
                self.progress.note(
                    f"{benchmark.name}: {unshuffled:,} questions keep their order: an option refers to the others"
                )
        if asking.shots:
            items = with_examples(benchmark, items, asking.shots)
        if asking.limit is not None and not whole:
            items = spread(benchmark, items, asking.limit)
        if self.labels:
            benchmark, items = label(benchmark, items, self.labels)
        return with_columns(benchmark, items, self.by), items

    def job(self, benchmark: Benchmark, items: Sequence[Item]) -> BenchJob:
        """Return what will be asked, and how."""
        if self.asking.judge_protocol:
            benchmark = with_protocol(benchmark, self.asking.judge_protocol)
        return BenchJob(benchmark, items, self.asker, self.judges if benchmark.judging else (), self.asking)

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
                number = len(job.items)
                if cost := search_cost(asking.search or "", number, asking.results):
                    self.progress.note(f"{benchmark.name}: {count(number)} searches, at most {money(cost)}")
                try:
                    async with self.progress.stage(f"{benchmark.name}: searching", number, None, counts):
                        path = run.path / EVIDENCE
                        await retrieve(job.benchmark, job.items, search, asking.results, path, counts)
                finally:
                    await search.close()
                job.retrieval = read_retrieval(path, search, asking.results)
            write_items(job.items, run.path)
            await job.ask(run.path / RESPONSES)
            if benchmark.long_answer:
                judge = self.judges[0] if self.judges else None
                appraised = await appraise(job, run.path, asking.long, judge, self.progress)
                result = measure(job, run.path, *appraised, judge)
            else:
                agreement = await job.grade(run.path / RESPONSES, run.path / VERDICTS)
                people = dict(benchmark.human(folder_of(benchmark, asking.data)))
                result = job.score(run.path / VERDICTS).model_copy(update={"agreement": agreement, "people": people})
            write_text(run.path / RESULT, result.model_dump_json(indent=1) + "\n")
            run.finish(files=FILES, failures=result.failures, headline=result.headline)
        return open_bench_run(run.path)

    def estimates(self, job: BenchJob) -> dict[str, Estimate]:
        """Return what the model and its judges would be asked, and the cost."""
        estimates = {job.model.name: estimate(self.asker, job.jobs(), job.max_tokens)}
        judging = job.benchmark.judging
        for judge in job.judges:
            assert judging is not None
            asked = [(item.id, judging.ask(item, USUAL_ANSWER)) for item in job.items]
            calls = (
                Job(name, judge_request(question), sample)
                for name, question in asked
                if not isinstance(question, Graded)
                for sample in range(job.asking.samples)
            )
            estimates[f"{judge.model.name} as the judge, at least"] = estimate(judge, calls, JUDGE_TOKENS)
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


def folder_of(benchmark: Benchmark, data: Path | None) -> Path:
    """Return the folder with the data of a benchmark, which is downloaded where there is none."""
    folder = data / benchmark.source if data and not benchmark.file else benchmark.data
    return folder or download(benchmark.name, benchmark.hub, benchmark.revision, benchmark.homepage)


def read_items(benchmark: Benchmark, data: Path | None, limit: int | None, progress: Progress) -> list[Item]:
    """Return the items of a benchmark, or some of them; bad rows are reported and left out."""
    folder = folder_of(benchmark, data)
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
