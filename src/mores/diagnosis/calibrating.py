"""The sources of confidence of a run or a benchmark, and the questions that they need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.benchmark.benchmark import Verdict
from mores.benchmark.folder import RESPONSES, VERDICTS, BenchRun
from mores.benchmark.run import BenchJob
from mores.diagnosis.calibration import AGREEMENT, LIKELIHOOD, VERBALISED, CalibrationResult, calibrate
from mores.diagnosis.confidence import (
    ask_confidence,
    ask_likelihood,
    fallback_notes,
    measure_agreement,
    prompts_hash,
    read_likelihood,
    read_stated,
)
from mores.diagnosis.folder import Findings
from mores.diagnosis.paired import Opened, Subject, subject_of_folder, subject_of_run
from mores.diagnosis.session import Diagnosis, Target
from mores.errors import ConfigError, ModelError
from mores.io import read_records
from mores.signature import sign
from mores.stats.calibration import ACCURACY

STATED, LIKELY, AGREED = "stated", "likelihood", "agreement"
FROM = (STATED, LIKELY, AGREED)
Method = Callable[[], Awaitable[CalibrationResult]] | str
"""Measures a confidence; a string says why it is not available."""
FREE = f"there are no options to compare; name the source {LIKELY} to use the probability of the answer's words"


async def measure_calibration(diagnosis: Diagnosis, target: Target) -> Findings:
    """Return every confidence that was requested; without a request, all that are available."""
    requested = diagnosis.settings.sources
    name = str(target.folder.path) if isinstance(target, Opened) else target.name
    methods = _methods(diagnosis, target, requested)
    lacking = {source: method for source, method in methods.items() if isinstance(method, str)}
    if fatal := [source for source in lacking if (source in requested if requested else len(lacking) == len(methods))]:
        reasons = "; ".join(f"{source}: {lacking[source]}" for source in fatal)
        asks = not diagnosis.may_ask and fatal != [AGREED]
        raise ConfigError(f"{name}: no confidence: {reasons}", setting="model" if asks else "")
    findings = Findings("calibration")
    for source in requested or methods:
        method = methods[source]
        reason = method if isinstance(method, str) else ""
        if not isinstance(method, str):
            try:
                result = await method()
                if source == LIKELY and source not in requested and not result.figures[ACCURACY].n:
                    reason = "the server returns no log-probabilities of the options"
            except ModelError as error:  # whether a server returns probabilities shows only when it is asked
                if source in requested or source != LIKELY:
                    raise
                reason = str(error)
        if reason:
            findings.left_out[f"calibration of {name}, {source}"] = reason
        else:
            findings.results.append(result)
    return findings


# ---- methods ---------------------------------------------------------------------------------------------------


def _methods(diagnosis: Diagnosis, target: Target, requested: Sequence[str]) -> dict[str, Method]:
    """Return the methods: a benchmark is asked, and a run's model asked again only if the user names it."""
    run = target if isinstance(target, Opened) else None
    benchmark = target.benchmark if isinstance(target, Opened) else target
    stated: Method = partial(_ask, diagnosis, target, calibrate_stated)
    likely: Method = FREE
    if benchmark.candidates or LIKELY in requested:
        likely = partial(_ask, diagnosis, target, calibrate_likelihood)
    too_few = "one answer per question has nothing to agree with; ask for several samples"
    samples = diagnosis.asking.samples
    if run:
        path, samples = run.folder.path, run.result.samples
        too_few = f"{path} has one answer per question; give a run with several samples"
        if "search" in run.fields:
            stated = likely = f"{path} was asked with evidence; give a run without a search"
        elif not diagnosis.may_ask:
            stated = likely = f"the model must be asked again; name it, {run.result.model}"
        if run.result.by_logprob:
            likely = partial(_by_probabilities, run)
    agreed: Method = partial(_by_agreement, diagnosis, target) if samples > 1 else too_few
    return {STATED: stated, LIKELY: likely, AGREED: agreed}


Ask = Callable[[BenchJob, Path], Awaitable[CalibrationResult]]


async def _ask(diagnosis: Diagnosis, target: Target, ask: Ask) -> CalibrationResult:
    """Ask the questions of a benchmark, or those of a run again."""
    run = target if isinstance(target, Opened) else None
    session = diagnosis.with_asking(samples=1, search=None, variant=run.variant) if run else diagnosis.plain
    benchmark = target.benchmark if isinstance(target, Opened) else target
    session.asking.check(benchmark, session.judges)
    job = session.job(*((benchmark, run.folder.items()) if run else session.items(benchmark)))
    if run and job.model.name != run.result.model:
        fix = "give the same model, or the name of the benchmark"
        raise ConfigError(f"{run.folder.path}: it is a run of {run.result.model}, not of {job.model.name}; {fix}")
    return await ask(job, diagnosis.folder("calibration", session.asking.folder(benchmark), job.model.name))


async def calibrate_stated(job: BenchJob, folder: Path) -> CalibrationResult:
    """Return the confidence that the model states."""
    answers, confidences, verdicts = folder / "answers.jsonl", folder / "stated.jsonl", folder / VERDICTS
    await ask_confidence(job, answers, confidences)
    await job.grade(answers, verdicts)
    subject = subject_of_run(job, confidence=f"{VERBALISED}.{prompts_hash()}")
    notes = fallback_notes(confidences)
    return calibrate(subject, VERBALISED, read_records(verdicts, Verdict), read_stated(confidences), notes)


async def calibrate_likelihood(job: BenchJob, folder: Path) -> CalibrationResult:
    """Return the confidence from the probabilities of its answers."""
    answers, verdicts = folder / "likelihood.answers.jsonl", folder / "likelihood.verdicts.jsonl"
    job = replace(job, asking=replace(job.asking, by_logprob=job.benchmark.candidates is not None))
    await ask_likelihood(job, answers)
    await job.grade(answers, verdicts)
    subject = subject_of_run(job, confidence=LIKELIHOOD)
    return calibrate(subject, LIKELIHOOD, read_records(verdicts, Verdict), read_likelihood(answers))


async def _by_probabilities(run: Opened) -> CalibrationResult:
    """Return the confidence from the probabilities by which a run chose its answers."""
    confidences = read_likelihood(run.folder.file(RESPONSES))
    return calibrate(_subject_of(run.folder, LIKELIHOOD), LIKELIHOOD, run.folder.verdicts(), confidences)


async def _by_agreement(diagnosis: Diagnosis, target: Target) -> CalibrationResult:
    """Return the confidence from how many answers to a question are the same."""
    folder = target.folder if isinstance(target, Opened) else await diagnosis.make_samples(target)
    subject = _subject_of(folder, AGREEMENT)
    return calibrate(subject, AGREEMENT, folder.verdicts(), measure_agreement(subject.benchmark, folder.verdicts()))


def _subject_of(folder: BenchRun, confidence: str) -> Subject:
    subject = subject_of_folder(folder)
    return replace(subject, signature=sign(subject.signature | {"confidence": confidence}))
