"""The public functions `mores.longform` and `mores.collect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mores.engine import Asker, Progress, make_asker
from mores.engine.estimate import Estimate, estimate
from mores.errors import ConfigError, InputError
from mores.formatting import count, first_problems
from mores.io import JsonlWriter, read_records, spool, write_text
from mores.longanswer.answers import read_answers
from mores.longanswer.appraise import SUMMARIES, Appraising, announce, counting_of, write_summaries
from mores.longanswer.collection import CandidateStatus, Collector
from mores.longanswer.collection.asking import CollectStage
from mores.longanswer.collection.candidates import Candidate, read_candidates
from mores.longanswer.collection.numbers import add_up
from mores.longanswer.evaluate import ANSWERS, FILES, NAMES, LongformEvaluation
from mores.longanswer.folder import COLLECTION, CollectRun, LongformRun
from mores.longanswer.records import LongAnswer
from mores.longanswer.settings import CollectSettings, LongformSettings
from mores.longanswer.summary import Counting, find_fields, headline, summarise
from mores.models.configured import configuration_of
from mores.run import Plan, start_run
from mores.settings import takes
from mores.signature import sign
from mores.types import Signature

SHOWN = 20
"""Bad rows of questions that are quoted."""


@takes(LongformSettings)
async def longform(settings: LongformSettings) -> LongformRun:
    """Judge long answers on language, repetition, facts and relevance; without a judge only their surface.

    The run is in the folder `out`, by default `longform`, and continues where it stopped.
    """
    with open_longform(settings) as job:
        return await job.run(settings.out)


@dataclass(frozen=True)
class LongformJob:
    """Answers that are ready to be judged, and how they will be."""

    name: str
    """Where the answers are from."""
    count: int
    evaluation: LongformEvaluation
    """Of a copy of the answers, which is in a temporary folder until the run starts."""
    appraising: Appraising
    missing_as_issue: bool
    asker: Asker
    """The judge, if there is one; else nothing is asked."""
    by: tuple[str, ...] = ()
    """Columns of the answers by which figures are shown too."""

    @property
    def progress(self) -> Progress:
        """Shows how far the work is."""
        return self.asker.progress

    @property
    def signature(self) -> Signature:
        """The parts that must be the same for two results to be comparable."""
        fields: dict[str, Any] = dict(self.evaluation.signature())
        if self.appraising.claims is not None:
            fields["k"] = self.appraising.claims
        if self.missing_as_issue:
            fields["missing"] = "issue"
        return sign(fields)

    def announce(self) -> None:
        """Say what will be called and searched for, at most, and the cost where it is known."""
        if self.evaluation.judge:
            announce(self.evaluation, self.appraising, self.progress)
        else:
            self.progress.note(f"{self.count:,} answers, their surface alone: no calls, no cost")

    async def run(self, out: Path | str | None = None) -> LongformRun:
        """Return all stages, then the figures, in a folder that other runs do not share."""
        appraising, judge = self.appraising, self.evaluation.judge
        settings = appraising.settings()
        plan = Plan(
            kind="longform", name=self.name, model=judge.model.name if judge else "", signature=self.signature,
            configuration=configuration_of(judge.model) if judge else {},
            settings=settings | {"missing_as_issue": self.missing_as_issue} | ({"by": [*self.by]} if self.by else {}),
        )  # fmt: skip
        with start_run(Path(out or "longform"), plan, numbered=out is None, progress=self.progress) as run:
            evaluation = replace(self.evaluation, answers=run.path / ANSWERS, folder=run.path)
            with JsonlWriter(evaluation.answers) as writer:
                for answer in read_records(self.evaluation.answers, LongAnswer):
                    writer.write(answer)
            if judge:
                announce(evaluation, appraising, self.progress)
            await evaluation.run("longform", self.count, self.progress)
            counting = Counting(missing_as_issue=self.missing_as_issue, every=appraising.every)
            counting = counting_of(evaluation, counting, appraising.claims)
            summaries = summarise(evaluation.appraised(), counting, plan.signature, self.by)
            write_summaries(summaries, run.path)
            failures = Counter(
                str(failure.kind) for _, appraisal in evaluation.appraised() for failure in appraisal.failures.values()
            )
            files = {
                file: NAMES.get(record, record.__name__) for record, file in FILES.items() if (run.path / file).exists()
            }
            files |= {ANSWERS: "LongAnswer", SUMMARIES: "Summary"}
            run.finish(files=files, failures=failures, headline=headline(summaries))
        return LongformRun(run.path, run.manifest)


@contextmanager
def open_longform(settings: LongformSettings) -> Iterator[LongformJob]:
    """Check the settings and read the answers; nothing is asked or written yet."""
    answers, judge, limit = settings.answers, settings.judge, settings.limit
    appraising = settings.part(Appraising)
    appraising.check(judge)
    asker = make_asker(judge or "embedded", settings)
    name = str(answers) if isinstance(answers, str | Path) else "answers"
    with TemporaryDirectory(prefix="mores-") as folder:
        copy = Path(folder) / ANSWERS
        problems: list[InputError] = []
        number = 0
        with JsonlWriter(copy) as writer:
            for answer in islice(read_answers(answers, problems.append), limit):
                writer.write(answer)
                number += 1
        if problems:
            asker.progress.note(f"left out {count(len(problems), 'bad row')}:{first_problems(problems)}")
        if not number:
            expected = "expected rows with 'question', 'answer' and 'language'"
            if isinstance(answers, str | Path) and Path(answers).is_dir():
                expected = "expected dataset-*.json of the authors' repository"
                expected += ", which has the answers of models; the Hub does not"
            raise InputError(f"{name}: there is no answer in it; {expected}")
        by = find_fields(read_records(copy, LongAnswer), settings.by)
        evaluation = appraising.evaluation(copy, Path(folder), asker if judge else None)
        yield LongformJob(name, number, evaluation, appraising, settings.missing_as_issue, asker, by)


@takes(CollectSettings)
async def collect(settings: CollectSettings) -> CollectRun:
    """Filter, translate and label candidate questions, with a model as the judge.

    The run is in the folder `out`, by default `collection`, and continues where it stopped.
    """
    return await open_collect(settings).run(settings.out)


@dataclass(frozen=True)
class CollectJob:
    """Questions that are ready to be filtered, and how they will be."""

    name: str
    """Where the questions are from."""
    candidates: list[Candidate]
    collector: Collector

    def estimate(self) -> Estimate:
        """Return what would be sent, and the cost, if no question is dropped."""
        collector = self.collector
        return estimate(collector.asker, collector.all_jobs(self.candidates), collector.max_tokens)

    async def run(self, out: Path | str | None = None) -> CollectRun:
        """Return all stages, then the numbers, in a folder that other runs do not share."""
        collector, model = self.collector, self.collector.model
        begun = collector.begin(self.candidates)
        settings: dict[str, Any] = {
            "without": sorted(collector.without), "max_tokens": collector.max_tokens,
            "temperature": collector.temperature, "seed": collector.seed,
        }  # fmt: skip
        signature = collector.signature(self.candidates)
        plan = Plan(
            kind="collect",
            name=self.name,
            model=model.name,
            signature=signature,
            settings=settings,
            configuration=configuration_of(model),
        )
        with start_run(Path(out or "collection"), plan, numbered=out is None, progress=collector.asker.progress) as run:
            questions = await collector.collect(begun)
            stages = [stage for stage in CollectStage if stage not in collector.without]
            collection = add_up(questions, stages, model.name, signature).model_copy(update={"warning": model.warning})
            for status in CandidateStatus:
                with JsonlWriter(run.path / f"{status}.jsonl") as writer:
                    for question in questions:
                        if question.status is status:
                            writer.write(question)
            write_text(run.path / COLLECTION, collection.model_dump_json(indent=1) + "\n")
            files = {f"{status}.jsonl": "Collected" for status in CandidateStatus} | {COLLECTION: "Collection"}
            run.finish(files=files, failures=collection.failures, headline=collection.headline)
        return CollectRun(run.path, run.manifest)


def open_collect(settings: CollectSettings) -> CollectJob:
    """Check the settings and read all questions; nothing is asked or written yet."""
    questions, skip_bad, without = settings.questions, settings.skip_bad, set(settings.without)
    if unknown := without - set(CollectStage):
        raise ConfigError(f"no stage {min(unknown)!r}; there are {', '.join(CollectStage)}", setting="without")
    asker = make_asker(settings.model, settings)
    problems: list[InputError] = []
    if isinstance(questions, str | Path):
        name = str(questions)
        with spool(name) as path:
            candidates = list(read_candidates(path, problems.append, name))
    else:
        name = "questions"
        candidates = list(read_candidates(questions, problems.append, name))
    if problems and not skip_bad:
        fix = "so nothing was sent; correct them, or let bad rows be skipped"
        raise InputError(f"{name} has bad rows, {fix}:{first_problems(problems, SHOWN)}", setting="skip_bad")
    if problems:
        asker.progress.note(f"left out {count(len(problems), 'bad row')}:{first_problems(problems, SHOWN)}")
    if not candidates:
        raise InputError(f"{name}: there is no question in it; expected rows with 'question' and 'language'")
    stages = frozenset(map(CollectStage, without))
    collector = Collector(asker, stages, settings.max_tokens, settings.temperature, settings.seed)
    return CollectJob(name, candidates, collector)
