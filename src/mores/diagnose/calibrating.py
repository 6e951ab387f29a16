"""The sources of confidence for a run or a benchmark, and what is asked to get it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.bench.benchmark import Benchmark, Verdict
from mores.bench.folder import RESPONSES, VERDICTS, BenchRun
from mores.bench.run import Run
from mores.diagnose.calibration import AGREEMENT, LIKELIHOOD, VERBALISED, Calibration, calibrate
from mores.diagnose.confidence import (
    agreement,
    ask_confidence,
    ask_likelihood,
    fallback_notes,
    prompts_hash,
    read_likelihood,
    read_stated,
)
from mores.diagnose.folder import Findings
from mores.diagnose.paired import Opened
from mores.diagnose.session import Diagnosis, Target
from mores.diagnose.subject import Subject, of_folder, of_run
from mores.errors import ConfigError, ModelError
from mores.io import read_records
from mores.signature import sign
from mores.stats.calibration import ACCURACY

STATED, LIKELY, AGREED = "stated", "likelihood", "agreement"
FROM = (STATED, LIKELY, AGREED)
Way = Callable[[], Awaitable[Calibration]] | str
"""How to get a confidence, or why there is none."""
FREE = f"there are no options to compare; name the source {LIKELY} to use the probability of the answer's words"


async def calibration(diagnosis: Diagnosis, target: Target) -> Findings:
    """Every confidence that is wanted; without a wish, every one that is available."""
    wanted = diagnosis.sources
    ways = _ways_of_run(diagnosis, target, wanted) if isinstance(target, Opened) else _ways(diagnosis, target, wanted)
    name = str(target.folder.path) if isinstance(target, Opened) else target.name
    lacking = {source: way for source, way in ways.items() if isinstance(way, str)}
    if fatal := [source for source in lacking if (source in wanted if wanted else len(lacking) == len(ways))]:
        reasons = "; ".join(f"{source}: {lacking[source]}" for source in fatal)
        asks = not diagnosis.may_ask and fatal != [AGREED]
        raise ConfigError(f"{name}: no confidence: {reasons}", setting="model" if asks else "")
    found = Findings("calibration")
    for source in wanted or ways:
        made = await _had(source, ways[source], source in wanted)
        if isinstance(made, str):
            found.left_out[f"calibration of {name}, {source}"] = made
        else:
            found.results.append(made)
    return found


async def _had(source: str, way: Way, wanted: bool) -> Calibration | str:
    """A result, or why there is none. Whether a server gives probabilities is known only when it was asked."""
    if isinstance(way, str):
        return way
    if wanted or source != LIKELY:
        return await way()
    try:
        made = await way()
    except ModelError as error:
        return str(error)
    return made if made.figures[ACCURACY].n else "the server gives no log-probabilities of the options"


# ---- ways ------------------------------------------------------------------------------------------------------


def _ways(diagnosis: Diagnosis, one: Benchmark, wanted: Sequence[str]) -> dict[str, Way]:
    """Of a benchmark: everything is asked for."""
    few = "one answer to each question has nothing to agree with; ask for several samples"
    return {
        STATED: partial(_asked, diagnosis, one, stated),
        LIKELY: partial(_asked, diagnosis, one, likelihood) if one.candidates or LIKELY in wanted else FREE,
        AGREED: partial(_sampled, diagnosis, one) if diagnosis.asking.samples > 1 else few,
    }


def _ways_of_run(diagnosis: Diagnosis, run: Opened, wanted: Sequence[str]) -> dict[str, Way]:
    """Of a run: agreement stands in it; the model is asked anew only where it is named."""
    where, model = run.folder.path, run.result.model
    anew: Way = f"the model must be asked again; name it, {model}"
    likely: Way = anew
    if "search" in run.fields:
        anew = likely = f"{where} was asked with evidence; give a run without a search"
    elif diagnosis.may_ask:
        anew = partial(_again, diagnosis, run, stated)
        likely = partial(_again, diagnosis, run, likelihood) if run.benchmark.candidates or LIKELY in wanted else FREE
    if run.result.by_logprob:
        likely = partial(_weighed, run)
    few = f"{where} has one answer to each question; give a run with several samples"
    return {STATED: anew, LIKELY: likely, AGREED: partial(_agreed, run) if run.result.samples > 1 else few}


Ask = Callable[[Run, Path], Awaitable[Calibration]]


async def _asked(diagnosis: Diagnosis, one: Benchmark, ask: Ask) -> Calibration:
    session = diagnosis.plain
    session.asking.check(one, session.judges)
    job = session.job(*session.items(one))
    return await ask(job, diagnosis.folder("calibration", session.asking.folder(one), job.model.name))


async def _again(diagnosis: Diagnosis, run: Opened, ask: Ask) -> Calibration:
    """The same questions as in a run."""
    session = diagnosis.with_asking(samples=1, search=None, variant=run.variant)
    session.asking.check(run.benchmark, session.judges)
    job = session.job(run.benchmark, run.folder.items())
    if job.model.name != run.result.model:
        fix = "give the same model, or the name of the benchmark"
        raise ConfigError(f"{run.folder.path}: it is a run of {run.result.model}, not of {job.model.name}; {fix}")
    return await ask(job, diagnosis.folder("calibration", session.asking.folder(run.benchmark), job.model.name))


async def stated(job: Run, folder: Path) -> Calibration:
    """What the model says of its own answers."""
    said, sure, verdicts = folder / "answers.jsonl", folder / "stated.jsonl", folder / VERDICTS
    await ask_confidence(job, said, sure)
    await job.grade(said, verdicts)
    about = of_run(job, confidence=f"{VERBALISED}.{prompts_hash()}")
    return calibrate(about, VERBALISED, read_records(verdicts, Verdict), read_stated(sure), fallback_notes(sure))


async def likelihood(job: Run, folder: Path) -> Calibration:
    """What its probabilities say."""
    said, verdicts = folder / "likelihood.answers.jsonl", folder / "likelihood.verdicts.jsonl"
    job = replace(job, by_logprob=job.benchmark.candidates is not None)
    await ask_likelihood(job, said)
    await job.grade(said, verdicts)
    about = of_run(job, confidence=LIKELIHOOD)
    return calibrate(about, LIKELIHOOD, read_records(verdicts, Verdict), read_likelihood(said))


async def _weighed(run: Opened) -> Calibration:
    """What the probabilities say that a run was made by."""
    confidences = read_likelihood(run.folder.file(RESPONSES))
    return calibrate(_about(run.folder, LIKELIHOOD), LIKELIHOOD, run.folder.verdicts(), confidences)


async def _sampled(diagnosis: Diagnosis, one: Benchmark) -> Calibration:
    made = await diagnosis.make_samples(one)
    return _agree(_about(made, AGREEMENT), made)


async def _agreed(run: Opened) -> Calibration:
    return _agree(_about(run.folder, AGREEMENT), run.folder)


def _agree(about: Subject, folder: BenchRun) -> Calibration:
    """What several answers to a question say by being the same."""
    return calibrate(about, AGREEMENT, folder.verdicts(), agreement(about.benchmark, folder.verdicts()))


def _about(folder: BenchRun, confidence: str) -> Subject:
    subject = of_folder(folder)
    return replace(subject, signature=sign(subject.signature | {"confidence": confidence}))
