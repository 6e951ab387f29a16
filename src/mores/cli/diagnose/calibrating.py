"""Where confidence is had from, for a run or a benchmark, and what is asked to have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.bench.benchmark import Benchmark, Verdict
from mores.bench.folder import RESPONSES, VERDICTS, RunFolder
from mores.bench.run import Run
from mores.cli.bench import Session, check, grade_answers, say_cost
from mores.cli.diagnose.desk import Desk, Findings, Target
from mores.cli.progress import stage
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
from mores.diagnose.paired import Opened
from mores.diagnose.subject import Subject, of_folder, of_run
from mores.engine.cost import price_of
from mores.errors import ConfigError, ModelError
from mores.io import read_records
from mores.signature import read_signature, sign
from mores.stats.calibration import ACCURACY

STATED, LIKELY, AGREED = "stated", "likelihood", "agreement"
FROM = (STATED, LIKELY, AGREED)
Way = Callable[[], Calibration] | str
"""How a confidence is had, or why it is not."""
FREE = f"there are no options to compare; that of the words of an answer is asked for by --from {LIKELY}"


def calibration(desk: Desk, target: Target, wanted: Sequence[str] = ()) -> Findings:
    """Every kind of confidence that is wanted; without a wish, every one that can be had."""
    ways = _ways_of_run(desk, target, wanted) if isinstance(target, Opened) else _ways(desk, target, wanted)
    name = str(target.folder.path) if isinstance(target, Opened) else target.name
    lacking = {source: way for source, way in ways.items() if isinstance(way, str)}
    if fatal := [source for source in lacking if source in wanted or len(lacking) == len(ways)]:
        raise ConfigError(f"{name}: no confidence: " + "; ".join(f"{one}: {lacking[one]}" for one in fatal))
    found = Findings("calibration")
    for source in wanted or ways:
        made = _had(source, ways[source], source in wanted)
        if isinstance(made, str):
            found.left_out[f"calibration of {name}, {source}"] = made
        else:
            found.results.append(made)
    return found


def _had(source: str, way: Way, wanted: bool) -> Calibration | str:
    """A result, or why there is none. Whether a server gives probabilities is known only when it was asked."""
    if isinstance(way, str):
        return way
    if wanted or source != LIKELY:
        return way()
    try:
        made = way()
    except ModelError as error:
        return str(error)
    return made if made.figures[ACCURACY].n else "the server gives no log-probabilities of the options"


# ---- ways ------------------------------------------------------------------------------------------------------


def _ways(desk: Desk, one: Benchmark, wanted: Sequence[str]) -> dict[str, Way]:
    """Of a benchmark: everything is asked for."""
    few = "one answer to each question has nothing to agree with; add --samples 10"
    return {
        STATED: partial(_asked, desk, one, stated),
        LIKELY: partial(_asked, desk, one, likelihood) if one.candidates or LIKELY in wanted else FREE,
        AGREED: partial(_sampled, desk, one) if desk.session.samples > 1 else few,
    }


def _ways_of_run(desk: Desk, run: Opened, wanted: Sequence[str]) -> dict[str, Way]:
    """Of a run: agreement stands in it; the model is asked anew only where it is named."""
    where, model = run.folder.path, run.result.model
    anew: Way = f"the model is asked anew; name it with --model {model}"
    likely: Way = anew
    if "search" in run.fields:
        anew = likely = f"{where} was asked with evidence; give a run without --search"
    elif desk.model:
        anew = partial(_again, desk, run, stated)
        likely = partial(_again, desk, run, likelihood) if run.benchmark.candidates or LIKELY in wanted else FREE
    if "logprob" in run.fields.get("decoding", "").split(","):
        likely = partial(_weighed, run)
    few = f"{where} has one answer to each question; run `mores bench {run.result.benchmark} --samples 10`"
    return {STATED: anew, LIKELY: likely, AGREED: partial(_agreed, run) if run.result.samples > 1 else few}


Asking = Callable[[Session, Run, Path], Calibration]


def _asked(desk: Desk, one: Benchmark, ask: Asking) -> Calibration:
    session = desk.plain
    check([one], desk.given["judges"], session.variant)
    job = session.job(*session.items(one))
    return ask(session, job, desk.folder("calibration", session.name(one), job.model.name))


def _again(desk: Desk, run: Opened, ask: Asking) -> Calibration:
    """The same questions as in a run."""
    session = replace(desk.plain, variant=run.variant)
    check([run.benchmark], desk.given["judges"], session.variant)
    job = session.job(run.benchmark, run.folder.items())
    if job.model.name != run.result.model:
        named, fix = f"--model is {job.model.name}", "give the same model, or the name of the benchmark"
        raise ConfigError(f"{run.folder.path}: it is a run of {run.result.model}, and {named}; {fix}")
    return ask(session, job, desk.folder("calibration", session.name(run.benchmark), job.model.name))


def stated(session: Session, job: Run, folder: Path) -> Calibration:
    """What the model says of its own answers."""
    said, sure, verdicts = folder / "answers.jsonl", folder / "stated.jsonl", folder / VERDICTS
    what, rate = f"{job.benchmark.name}: asking with confidence", price_of(job.model.name, session.price)
    say_cost(what, job.jobs(), rate)
    stage(what, len(job.items), rate, lambda counts: ask_confidence(job, said, sure, counts))
    grade_answers(job, said, verdicts, session.price)
    about = of_run(job, confidence=f"{VERBALISED}.{prompts_hash()}")
    return calibrate(about, VERBALISED, read_records(verdicts, Verdict), read_stated(sure), fallback_notes(sure))


def likelihood(session: Session, job: Run, folder: Path) -> Calibration:
    """What its probabilities say."""
    said, verdicts = folder / "likelihood.answers.jsonl", folder / "likelihood.verdicts.jsonl"
    what, rate = f"{job.benchmark.name}: asking with log-probabilities", price_of(job.model.name, session.price)
    job = replace(job, by_logprob=job.benchmark.candidates is not None)
    say_cost(what, job.jobs(), rate)
    stage(what, len(job.items), rate, lambda counts: ask_likelihood(job, said, counts))
    grade_answers(job, said, verdicts, session.price)
    about = of_run(job, confidence=LIKELIHOOD)
    return calibrate(about, LIKELIHOOD, read_records(verdicts, Verdict), read_likelihood(said))


def _weighed(run: Opened) -> Calibration:
    """What the probabilities say that a run was made by."""
    confidences = read_likelihood(run.folder.file(RESPONSES))
    return calibrate(_about(run.folder, LIKELIHOOD), LIKELIHOOD, run.folder.verdicts(), confidences)


def _sampled(desk: Desk, one: Benchmark) -> Calibration:
    made = desk.make_samples(one)
    return _agree(of_run(made.job, confidence=AGREEMENT), RunFolder(made.folder))


def _agreed(run: Opened) -> Calibration:
    return _agree(_about(run.folder, AGREEMENT), run.folder)


def _agree(about: Subject, folder: RunFolder) -> Calibration:
    """What several answers to a question say by being the same."""
    return calibrate(about, AGREEMENT, folder.verdicts(), agreement(about.benchmark, folder.verdicts()))


def _about(folder: RunFolder, confidence: str) -> Subject:
    subject = of_folder(folder)
    fields = {name: value for name, value in read_signature(subject.signature).items() if name != "mores"}
    return replace(subject, signature=sign(fields | {"confidence": confidence}))
