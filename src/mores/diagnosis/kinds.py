"""Each kind of diagnosis: the runs that it needs, the questions to a judge, and the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, Label
from mores.benchmark.session import Session
from mores.diagnosis.calibrating import measure_calibration
from mores.diagnosis.errors import (
    TYPED,
    ErrorJudge,
    ErrorsResult,
    LabelledError,
    TypeCheck,
    Typed,
    check_types,
    compare_models,
    diagnose_errors,
    read_labelled,
)
from mores.diagnosis.evidence import JUDGED, EvidenceJudge, open_runs, read_verdicts
from mores.diagnosis.folder import KINDS, Findings
from mores.diagnosis.locality import LANGUAGE, measure_locality, read_ran
from mores.diagnosis.paired import Opened, open_run, subject_of_folder
from mores.diagnosis.retrieval import RetrievalResult, diagnose_retrieval
from mores.diagnosis.session import Diagnosis, Target
from mores.diagnosis.stability import Stability, measure_stability
from mores.diagnosis.translation import TranslationResult, diagnose_translation, open_versions
from mores.errors import ConfigError, InputError
from mores.formatting import count
from mores.io import read_records

ENGLISH = "english"
CALIBRATION, STABILITY, RETRIEVAL, TRANSLATION, ERRORS, LOCALITY = KINDS
ALL = "all"


async def diagnose_calibration(diagnosis: Diagnosis) -> Findings:
    """Return the calibration of every run and benchmark."""
    findings = Findings(CALIBRATION)
    for target in diagnosis.targets:
        findings.add(await measure_calibration(diagnosis, target))
    return findings


# ---- stability -------------------------------------------------------------------------------------------------


async def diagnose_stability(diagnosis: Diagnosis) -> Findings:
    """Return the stability of every run and benchmark."""
    return Findings(STABILITY, [await _stability(diagnosis, target) for target in diagnosis.targets])


async def _stability(diagnosis: Diagnosis, target: Target) -> Stability:
    if isinstance(target, Opened):
        name, samples, fix, setting = str(target.folder.path), target.result.samples, "give a run with several", ""
    else:
        name, samples, fix, setting = target.name, diagnosis.asking.samples, "ask for several, such as 10", "samples"
    if samples < 2:
        reason = f"one answer per question cannot show whether answers change; {fix}"
        raise ConfigError(f"{name}: {reason}", setting=setting)
    run = target.folder if isinstance(target, Opened) else await diagnosis.make_samples(target)
    return measure_stability(subject_of_folder(run), run.verdicts())


# ---- two runs --------------------------------------------------------------------------------------------------


async def diagnose_searches(diagnosis: Diagnosis) -> Findings:
    """Return the gain from evidence, of two runs or of benchmarks with a search."""
    findings = Findings(RETRIEVAL)
    if diagnosis.runs:
        two = _two(diagnosis.runs, "one with a search and one without it; or a benchmark and a search")
        findings.results.append(await _retrieval(diagnosis, *two))
    for benchmark in diagnosis.benchmarks:
        findings.results.append(await _with_search(diagnosis, benchmark, diagnosis.session))
    return findings


def _two(runs: Sequence[Opened], which: str) -> tuple[Path, Path]:
    if len(runs) != 2:
        number = "1 run is" if len(runs) == 1 else f"{len(runs)} runs are"
        raise ConfigError(f"{number} given, but two are compared; give two runs of `mores bench`, {which}")
    return runs[0].folder.path, runs[1].folder.path


async def _with_search(diagnosis: Diagnosis, benchmark: Benchmark, session: Session) -> RetrievalResult:
    if not session.asking.search:
        fix = "name one, such as corpus:PATH"
        raise ConfigError(f"{benchmark.name}: evidence comes from a search; {fix}", setting="search")
    without = replace(session, asking=replace(session.asking, search=None))
    plain, searched = await diagnosis.make(benchmark, without), await diagnosis.make(benchmark, session)
    return await _retrieval(diagnosis, plain.path, searched.path)


async def _retrieval(diagnosis: Diagnosis, first: Path, second: Path) -> RetrievalResult:
    """Compare two runs, by rule and, if there is one, by a judge."""
    runs = open_runs(first, second, force=diagnosis.force)
    if not diagnosis.session.judges:
        return diagnose_retrieval(runs, runs.seen())
    judge = EvidenceJudge(runs, diagnosis.judge)
    path = diagnosis.folder(RETRIEVAL, runs.with_.result.name, runs.with_.result.model) / JUDGED
    await judge.ask(path)
    return diagnose_retrieval(runs, runs.seen(), read_verdicts(path), judge.identity)


async def diagnose_versions(diagnosis: Diagnosis) -> Findings:
    """Return the difference between two runs, or between two variants of benchmarks."""
    findings = Findings(TRANSLATION)
    if diagnosis.runs:
        two = _two(diagnosis.runs, "one with a variant and one without it; or the name of a benchmark")
        findings.results.append(diagnose_translation(open_versions(*two, force=diagnosis.force)))
    for benchmark in diagnosis.benchmarks:
        findings.results.append(await _versions(diagnosis, benchmark, diagnosis.session))
    return findings


async def _versions(diagnosis: Diagnosis, benchmark: Benchmark, session: Session) -> TranslationResult:
    variant = diagnosis.variant or ENGLISH
    if variant not in benchmark.variants:
        variants = ", ".join(benchmark.variants)
        fix, setting = (f"name another: {variants}", "variant") if variants else ("it has none", "")
        raise ConfigError(f"{benchmark.name}: its questions have no variant {variant!r}; {fix}", setting=setting)
    native = await diagnosis.make(benchmark, session)
    varied = await diagnosis.make(benchmark, replace(session, asking=replace(session.asking, variant=variant)))
    return diagnose_translation(open_versions(native.path, varied.path, benchmark=benchmark, force=diagnosis.force))


# ---- errors ----------------------------------------------------------------------------------------------------


async def classify_errors(diagnosis: Diagnosis, only: Sequence[Target] = ()) -> Findings:
    """Return the types of errors of every target, or `only` of some; compare several models, and judge and people."""
    targets = only or diagnosis.targets
    if not diagnosis.session.judges:
        raise ConfigError("a judge decides the type of an error; name one, for example openai:NAME", setting="judge")
    labelled = diagnosis.labelled
    answers = read_labelled(labelled) if labelled else []
    if labelled and len(targets) > 1:
        reason = "its answers are to the questions of one run; give that run alone"
        raise ConfigError(f"{labelled}: {reason}", setting="check")
    runs = [
        target if isinstance(target, Opened) else await _make(diagnosis, target, diagnosis.session)
        for target in targets
    ]
    by_model = [await _errors(diagnosis, run) for run in runs]
    beside = [compare_models(by_model)] if len(by_model) > 1 else []
    checked = [await _check(diagnosis, runs[0], answers)] if labelled else []
    return Findings(ERRORS, [*by_model, *beside, *checked])


async def _make(diagnosis: Diagnosis, benchmark: Benchmark, session: Session) -> Opened:
    run = await diagnosis.make(benchmark, session)
    return open_run(run.path, benchmark)


async def _errors(diagnosis: Diagnosis, run: Opened) -> ErrorsResult:
    labels = Counter(verdict.label for verdict in run.folder.verdicts())
    if not labels[Label.INCORRECT]:
        raise InputError(
            f"{run.folder.path}: none of its {count(labels.total())} answers is wrong; there are no errors to classify"
        )
    judge = ErrorJudge(run, diagnosis.judge)
    path = diagnosis.folder(ERRORS, run.result.name, run.result.model) / TYPED
    await judge.ask(path)
    return diagnose_errors(run, read_records(path, Typed), diagnosis.judge.model.name, judge.signature())


async def _check(diagnosis: Diagnosis, run: Opened, labelled: Sequence[LabelledError]) -> TypeCheck:
    judge = ErrorJudge(run, diagnosis.judge)
    path = diagnosis.folder(ERRORS, run.result.name, run.result.model) / "check.jsonl"
    await judge.ask_labelled(labelled, path)
    return check_types(labelled, list(read_records(path, Typed)), diagnosis.judge.model.name, judge.signature())


async def diagnose_locality(diagnosis: Diagnosis) -> Findings:
    """Return the strengths and weaknesses of all runs together."""
    ran = read_ran([run.folder.path for run in diagnosis.runs], diagnosis.by)
    return Findings(LOCALITY, [measure_locality(ran, diagnosis.by, force=diagnosis.force)])


WORK: dict[str, Callable[[Diagnosis], Awaitable[Findings]]] = {
    CALIBRATION: diagnose_calibration,
    STABILITY: diagnose_stability,
    RETRIEVAL: diagnose_searches,
    TRANSLATION: diagnose_versions,
    ERRORS: classify_errors,
    LOCALITY: diagnose_locality,
}
"""The function that makes the findings of each kind."""


# ---- all of them -----------------------------------------------------------------------------------------------


async def diagnose_all(diagnosis: Diagnosis) -> list[Findings]:
    """Return every kind that the options allow, and for the others, the reason."""
    findings = {kind: Findings(kind) for kind in KINDS}
    plain: list[Path] = []
    for benchmark in diagnosis.benchmarks:
        run = await _make(diagnosis, benchmark, diagnosis.plain)
        plain.append(run.folder.path)
        for kind, part in _parts(diagnosis, benchmark, run):
            await _add(findings[kind], f"{kind} of {benchmark.name}", part)

    async def profiles() -> Findings:
        result = measure_locality(read_ran(plain, LANGUAGE), LANGUAGE)
        if not result.shifts and not any(profile.groups for profile in result.profiles):
            raise InputError("all questions are in one language; locality by region may show differences")
        return Findings(LOCALITY, [result])

    await _add(findings[LOCALITY], LOCALITY, profiles)
    return list(findings.values())


Part = Callable[[], Awaitable[Findings]]


def _parts(diagnosis: Diagnosis, benchmark: Benchmark, run: Opened) -> Iterator[tuple[str, Part]]:
    async def stable() -> Findings:
        return Findings(STABILITY, [await _stability(diagnosis, benchmark)])

    async def searched() -> Findings:
        return Findings(RETRIEVAL, [await _with_search(diagnosis, benchmark, diagnosis.with_asking(samples=1))])

    async def translated() -> Findings:
        return Findings(TRANSLATION, [await _versions(diagnosis, benchmark, diagnosis.plain)])

    yield CALIBRATION, lambda: measure_calibration(diagnosis, benchmark)
    yield STABILITY, stable
    yield RETRIEVAL, searched
    yield TRANSLATION, translated
    yield ERRORS, lambda: classify_errors(diagnosis, [run])


async def _add(findings: Findings, name: str, part: Part) -> None:
    """Add the findings of a part, or the reason why the options or the data do not allow it."""
    try:
        findings.add(await part())
    except (ConfigError, InputError) as error:
        findings.left_out[name] = str(error)
