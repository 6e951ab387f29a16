"""Each kind of diagnosis: what is run first, what a judge is asked, and what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.bench.benchmark import Benchmark, Label
from mores.bench.session import Session
from mores.diagnose.calibrating import calibration
from mores.diagnose.errors import (
    TYPED,
    ErrorJudge,
    ErrorsResult,
    LabelledError,
    TypeCheck,
    check_types,
    compare_models,
    diagnose_errors,
    read_labelled,
    read_typed,
)
from mores.diagnose.evidence import JUDGED, EvidenceJudge, open_runs, read_verdicts
from mores.diagnose.locality import LANGUAGE, locality, read_ran
from mores.diagnose.paired import Opened, open_run
from mores.diagnose.retrieval import RetrievalResult, diagnose_retrieval
from mores.diagnose.session import Diagnosis, Findings, Target
from mores.diagnose.stability import Stability, stability
from mores.diagnose.subject import of_folder
from mores.diagnose.translation import TranslationResult, diagnose_translation, open_versions
from mores.errors import ConfigError, InputError

ENGLISH = "english"
CALIBRATION, STABILITY, RETRIEVAL, TRANSLATION = "calibration", "stability", "retrieval", "translation"
ERRORS, LOCALITY = "errors", "locality"
KINDS = (CALIBRATION, STABILITY, RETRIEVAL, TRANSLATION, ERRORS, LOCALITY)


async def calibrations(diagnosis: Diagnosis, wanted: Sequence[str]) -> Findings:
    """Of every run and benchmark."""
    whole = Findings(CALIBRATION)
    for target in diagnosis.targets:
        whole.add(await calibration(diagnosis, target, wanted))
    return whole


# ---- stability -------------------------------------------------------------------------------------------------


async def stabilities(diagnosis: Diagnosis) -> Findings:
    """Of every run and benchmark."""
    return Findings(STABILITY, [await _stability(diagnosis, target) for target in diagnosis.targets])


async def _stability(diagnosis: Diagnosis, target: Target) -> Stability:
    if isinstance(target, Opened):
        name, samples = str(target.folder.path), target.result.samples
        fix = f"run `mores bench {target.result.benchmark} --samples 10`"
    else:
        name, samples, fix = target.name, diagnosis.asking.samples, "give --samples 10"
    if samples < 2:
        raise ConfigError(f"{name}: one answer to each question cannot show whether answers change; {fix}")
    run = target.folder if isinstance(target, Opened) else await diagnosis.make_samples(target)
    return stability(of_folder(run), run.verdicts())


# ---- two runs --------------------------------------------------------------------------------------------------


async def retrievals(diagnosis: Diagnosis, force: bool) -> Findings:
    """Of two runs, or of benchmarks with a search."""
    found = Findings(RETRIEVAL)
    if diagnosis.runs:
        two = _two(diagnosis.runs, "one with --search and one without it; or the name of a benchmark, and --search")
        found.results.append(await _retrieval(diagnosis, *two, force))
    for benchmark in diagnosis.benchmarks:
        found.results.append(await _with_search(diagnosis, benchmark, diagnosis.session, force))
    return found


def _two(runs: Sequence[Opened], which: str) -> tuple[Path, Path]:
    if len(runs) != 2:
        given = "1 run is" if len(runs) == 1 else f"{len(runs)} runs are"
        raise ConfigError(f"{given} given, and two are compared; give two that `mores bench` wrote, {which}")
    return runs[0].folder.path, runs[1].folder.path


async def _with_search(
    diagnosis: Diagnosis, benchmark: Benchmark, session: Session, force: bool = False
) -> RetrievalResult:
    if not session.asking.search:
        raise ConfigError(f"{benchmark.name}: evidence comes from a search; name it with --search, such as corpus:PATH")
    without = replace(session, asking=replace(session.asking, search=None))
    plain, shown = await diagnosis.make(benchmark, without), await diagnosis.make(benchmark, session)
    return await _retrieval(diagnosis, plain.path, shown.path, force)


async def _retrieval(diagnosis: Diagnosis, one: Path, other: Path, force: bool) -> RetrievalResult:
    """By rule, and by a judge where there is one."""
    runs = open_runs(one, other, force=force)
    if not diagnosis.session.judges:
        return diagnose_retrieval(runs, runs.seen())
    judge = EvidenceJudge(runs, diagnosis.judge)
    path = diagnosis.folder(RETRIEVAL, runs.with_.result.name, runs.with_.result.model) / JUDGED
    await judge.ask(path)
    return diagnose_retrieval(runs, runs.seen(), read_verdicts(path), judge.identity)


async def translations(diagnosis: Diagnosis, variant: str | None, force: bool) -> Findings:
    """Of two runs, or of benchmarks that can be asked in another way."""
    found = Findings(TRANSLATION)
    if diagnosis.runs:
        two = _two(diagnosis.runs, "one with --variant and one without it; or the name of a benchmark")
        found.results.append(diagnose_translation(open_versions(*two, force=force)))
    for benchmark in diagnosis.benchmarks:
        found.results.append(await _versions(diagnosis, benchmark, diagnosis.session, variant, force))
    return found


async def _versions(
    diagnosis: Diagnosis, benchmark: Benchmark, session: Session, variant: str | None, force: bool = False
) -> TranslationResult:
    other = variant or ENGLISH
    if other not in benchmark.variants:
        variants = ", ".join(benchmark.variants)
        known = f"name another way to ask with --variant: {variants}" if variants else "it has none"
        raise ConfigError(f"{benchmark.name}: its questions have no variant {other!r}; {known}")
    native = await diagnosis.make(benchmark, session)
    asked = await diagnosis.make(benchmark, replace(session, asking=replace(session.asking, variant=other)))
    return diagnose_translation(open_versions(native.path, asked.path, known=benchmark, force=force))


# ---- errors ----------------------------------------------------------------------------------------------------


async def errors(diagnosis: Diagnosis, targets: Sequence[Target], labelled: Path | None = None) -> Findings:
    """Of every run and benchmark; several models also beside each other, and a judge beside people."""
    if not diagnosis.session.judges:
        raise ConfigError("a judge says of what type an error is; name it with --judge, for example openai:NAME")
    known = read_labelled(labelled) if labelled else []
    if labelled and len(targets) > 1:
        raise ConfigError(f"--check {labelled}: its answers are to the questions of one run; give that run alone")
    runs = [
        target if isinstance(target, Opened) else await _made(diagnosis, target, diagnosis.session)
        for target in targets
    ]
    by_model = [await _errors(diagnosis, run) for run in runs]
    beside = [compare_models(by_model)] if len(by_model) > 1 else []
    checked = [await _check(diagnosis, runs[0], known)] if labelled else []
    return Findings(ERRORS, [*by_model, *beside, *checked])


async def _made(diagnosis: Diagnosis, benchmark: Benchmark, session: Session) -> Opened:
    run = await diagnosis.make(benchmark, session)
    return open_run(run.path, benchmark)


async def _errors(diagnosis: Diagnosis, run: Opened) -> ErrorsResult:
    labels = Counter(verdict.label for verdict in run.folder.verdicts())
    if not labels[Label.INCORRECT]:
        raise InputError(
            f"{run.folder.path}: none of its {labels.total():,} answers is wrong; there is no error to sort"
        )
    judge = ErrorJudge(run, diagnosis.judge)
    path = diagnosis.folder(ERRORS, run.result.name, run.result.model) / TYPED
    await judge.ask(path)
    return diagnose_errors(run, read_typed(path), diagnosis.judge.model.name, judge.signature())


async def _check(diagnosis: Diagnosis, run: Opened, labelled: Sequence[LabelledError]) -> TypeCheck:
    judge = ErrorJudge(run, diagnosis.judge)
    path = diagnosis.folder(ERRORS, run.result.name, run.result.model) / "check.jsonl"
    await judge.ask_labelled(labelled, path)
    return check_types(labelled, list(read_typed(path)), diagnosis.judge.model.name, judge.signature())


def localities(folders: Iterable[Path], grouping: str, force: bool) -> Findings:
    """Of all runs in these folders together."""
    return Findings(LOCALITY, [locality(read_ran(folders, grouping), grouping, force=force)])


# ---- all of them -----------------------------------------------------------------------------------------------


async def everything(diagnosis: Diagnosis, variant: str | None) -> list[Findings]:
    """Every kind that the options allow; of the others, what is missing."""
    found = {kind: Findings(kind) for kind in KINDS}
    plain: list[Path] = []
    for benchmark in diagnosis.benchmarks:
        run = await _made(diagnosis, benchmark, diagnosis.plain)
        plain.append(run.folder.path)
        for kind, part in _parts(diagnosis, benchmark, run, variant):
            await _add(found[kind], f"{kind} of {benchmark.name}", part)
    await _add(found[LOCALITY], LOCALITY, partial(_profiles, plain))
    return list(found.values())


async def _profiles(folders: Sequence[Path]) -> Findings:
    found = locality(read_ran(folders, LANGUAGE), LANGUAGE)
    if not found.shifts and not any(one.groups for one in found.profiles):
        raise InputError("the questions are in one language; `mores diagnose locality --by region` may say more")
    return Findings(LOCALITY, [found])


Part = Callable[[], Awaitable[Findings]]


def _parts(diagnosis: Diagnosis, benchmark: Benchmark, run: Opened, variant: str | None) -> Iterator[tuple[str, Part]]:
    async def stable() -> Findings:
        return Findings(STABILITY, [await _stability(diagnosis, benchmark)])

    async def searched() -> Findings:
        return Findings(RETRIEVAL, [await _with_search(diagnosis, benchmark, diagnosis.with_asking(samples=1))])

    async def translated() -> Findings:
        return Findings(TRANSLATION, [await _versions(diagnosis, benchmark, diagnosis.plain, variant)])

    yield CALIBRATION, lambda: calibration(diagnosis, benchmark)
    yield STABILITY, stable
    yield RETRIEVAL, searched
    yield TRANSLATION, translated
    yield ERRORS, lambda: errors(diagnosis, [run])


async def _add(whole: Findings, what: str, part: Part) -> None:
    """What a part finds; where an option or the data do not allow it, why."""
    try:
        whole.add(await part())
    except (ConfigError, InputError) as error:
        whole.left_out[what] = str(error)
