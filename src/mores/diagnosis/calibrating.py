"""The sources of confidence of a run or a benchmark, and the questions that they need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, Verdict
from mores.benchmark.folder import RESPONSES, VERDICTS, BenchRun
from mores.benchmark.run import Run
from mores.diagnosis.calibration import AGREEMENT, LIKELIHOOD, VERBALISED, CalibrationResult, calibrate
from mores.diagnosis.confidence import (
    agreement,
    ask_confidence,
    ask_likelihood,
    fallback_notes,
    prompts_hash,
    read_likelihood,
    read_stated,
)
from mores.diagnosis.folder import Findings
from mores.diagnosis.paired import Opened
from mores.diagnosis.session import Diagnosis, Target
from mores.diagnosis.subject import Subject, of_folder, of_run
from mores.errors import ConfigError, ModelError
from mores.io import read_records
from mores.signature import sign
from mores.stats.calibration import ACCURACY

STATED, LIKELY, AGREED = "stated", "likelihood", "agreement"
FROM = (STATED, LIKELY, AGREED)
Method = Callable[[], Awaitable[CalibrationResult]] | str
"""Measures a confidence; a string says why it is not available."""
FREE = f"there are no options to compare; name the source {LIKELY} to use the probability of the answer's words"


async def calibration(diagnosis: Diagnosis, target: Target) -> Findings:
    """Return every confidence that was requested; without a request, all that are available."""
    requested = diagnosis.sources
    methods = (
        _methods_of_run(diagnosis, target, requested)
        if isinstance(target, Opened)
        else _methods(diagnosis, target, requested)
    )
    name = str(target.folder.path) if isinstance(target, Opened) else target.name
    lacking = {source: method for source, method in methods.items() if isinstance(method, str)}
    if fatal := [source for source in lacking if (source in requested if requested else len(lacking) == len(methods))]:
        reasons = "; ".join(f"{source}: {lacking[source]}" for source in fatal)
        asks = not diagnosis.may_ask and fatal != [AGREED]
        raise ConfigError(f"{name}: no confidence: {reasons}", setting="model" if asks else "")
    findings = Findings("calibration")
    for source in requested or methods:
        outcome = await _measure(source, methods[source], source in requested)
        if isinstance(outcome, str):
            findings.left_out[f"calibration of {name}, {source}"] = outcome
        else:
            findings.results.append(outcome)
    return findings


async def _measure(source: str, method: Method, requested: bool) -> CalibrationResult | str:
    """Return a result, or why there is none. Whether a server returns probabilities shows only when it is asked."""
    if isinstance(method, str):
        return method
    if requested or source != LIKELY:
        return await method()
    try:
        outcome = await method()
    except ModelError as error:
        return str(error)
    return outcome if outcome.figures[ACCURACY].n else "the server returns no log-probabilities of the options"


# ---- methods ---------------------------------------------------------------------------------------------------


def _methods(diagnosis: Diagnosis, benchmark: Benchmark, requested: Sequence[str]) -> dict[str, Method]:
    """Return the methods for a benchmark, whose questions are all asked."""
    too_few = "one answer per question has nothing to agree with; ask for several samples"
    return {
        STATED: partial(_ask_benchmark, diagnosis, benchmark, stated),
        LIKELY: partial(_ask_benchmark, diagnosis, benchmark, likelihood)
        if benchmark.candidates or LIKELY in requested
        else FREE,
        AGREED: partial(_from_samples, diagnosis, benchmark) if diagnosis.asking.samples > 1 else too_few,
    }


def _methods_of_run(diagnosis: Diagnosis, run: Opened, requested: Sequence[str]) -> dict[str, Method]:
    """The methods for a run, which already has the agreement; its model is asked again only if the user names it."""
    path, model = run.folder.path, run.result.model
    again: Method = f"the model must be asked again; name it, {model}"
    likely: Method = again
    if "search" in run.fields:
        again = likely = f"{path} was asked with evidence; give a run without a search"
    elif diagnosis.may_ask:
        again = partial(_ask_again, diagnosis, run, stated)
        likely = (
            partial(_ask_again, diagnosis, run, likelihood) if run.benchmark.candidates or LIKELY in requested else FREE
        )
    if run.result.by_logprob:
        likely = partial(_from_probabilities, run)
    too_few = f"{path} has one answer per question; give a run with several samples"
    return {STATED: again, LIKELY: likely, AGREED: partial(_from_run, run) if run.result.samples > 1 else too_few}


Ask = Callable[[Run, Path], Awaitable[CalibrationResult]]


async def _ask_benchmark(diagnosis: Diagnosis, benchmark: Benchmark, ask: Ask) -> CalibrationResult:
    session = diagnosis.plain
    session.asking.check(benchmark, session.judges)
    job = session.job(*session.items(benchmark))
    return await ask(job, diagnosis.folder("calibration", session.asking.folder(benchmark), job.model.name))


async def _ask_again(diagnosis: Diagnosis, run: Opened, ask: Ask) -> CalibrationResult:
    """Ask the questions of a run again."""
    session = diagnosis.with_asking(samples=1, search=None, variant=run.variant)
    session.asking.check(run.benchmark, session.judges)
    job = session.job(run.benchmark, run.folder.items())
    if job.model.name != run.result.model:
        fix = "give the same model, or the name of the benchmark"
        raise ConfigError(f"{run.folder.path}: it is a run of {run.result.model}, not of {job.model.name}; {fix}")
    return await ask(job, diagnosis.folder("calibration", session.asking.folder(run.benchmark), job.model.name))


async def stated(job: Run, folder: Path) -> CalibrationResult:
    """Return the confidence that the model states."""
    answers, confidences, verdicts = folder / "answers.jsonl", folder / "stated.jsonl", folder / VERDICTS
    await ask_confidence(job, answers, confidences)
    await job.grade(answers, verdicts)
    about = of_run(job, confidence=f"{VERBALISED}.{prompts_hash()}")
    return calibrate(
        about, VERBALISED, read_records(verdicts, Verdict), read_stated(confidences), fallback_notes(confidences)
    )


async def likelihood(job: Run, folder: Path) -> CalibrationResult:
    """Return the confidence from the probabilities of its answers."""
    answers, verdicts = folder / "likelihood.answers.jsonl", folder / "likelihood.verdicts.jsonl"
    job = replace(job, by_logprob=job.benchmark.candidates is not None)
    await ask_likelihood(job, answers)
    await job.grade(answers, verdicts)
    about = of_run(job, confidence=LIKELIHOOD)
    return calibrate(about, LIKELIHOOD, read_records(verdicts, Verdict), read_likelihood(answers))


async def _from_probabilities(run: Opened) -> CalibrationResult:
    """Return the confidence from the probabilities by which a run chose its answers."""
    confidences = read_likelihood(run.folder.file(RESPONSES))
    return calibrate(_subject_of(run.folder, LIKELIHOOD), LIKELIHOOD, run.folder.verdicts(), confidences)


async def _from_samples(diagnosis: Diagnosis, benchmark: Benchmark) -> CalibrationResult:
    run = await diagnosis.make_samples(benchmark)
    return _from_agreement(_subject_of(run, AGREEMENT), run)


async def _from_run(run: Opened) -> CalibrationResult:
    return _from_agreement(_subject_of(run.folder, AGREEMENT), run.folder)


def _from_agreement(about: Subject, folder: BenchRun) -> CalibrationResult:
    """Return the confidence from how many answers to a question are the same."""
    return calibrate(about, AGREEMENT, folder.verdicts(), agreement(about.benchmark, folder.verdicts()))


def _subject_of(folder: BenchRun, confidence: str) -> Subject:
    subject = of_folder(folder)
    return replace(subject, signature=sign(subject.signature | {"confidence": confidence}))
