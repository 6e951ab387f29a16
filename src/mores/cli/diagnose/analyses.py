"""Each kind of diagnosis: what is run first, what a judge is asked, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from mores.bench.benchmark import Benchmark, Label
from mores.bench.board import league_of
from mores.bench.folder import RunFolder
from mores.cli.bench import Session, say_cost
from mores.cli.diagnose.calibrating import calibration
from mores.cli.diagnose.desk import Desk, Findings, Target
from mores.cli.progress import stage
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
    type_request,
)
from mores.diagnose.evidence import JUDGED, EvidenceJudge, open_runs, read_verdicts
from mores.diagnose.locality import LANGUAGE, locality, read_ran
from mores.diagnose.paired import Opened, open_run
from mores.diagnose.retrieval import RetrievalResult, diagnose_retrieval
from mores.diagnose.stability import Stability, stability
from mores.diagnose.subject import of_folder, of_run
from mores.diagnose.translation import TranslationResult, diagnose_translation, open_versions
from mores.engine import Job
from mores.engine.cost import price_of
from mores.errors import ConfigError, InputError

ENGLISH = "english"
CALIBRATION, STABILITY, RETRIEVAL, TRANSLATION = "calibration", "stability", "retrieval", "translation"
ERRORS, LOCALITY = "errors", "locality"
KINDS = (CALIBRATION, STABILITY, RETRIEVAL, TRANSLATION, ERRORS, LOCALITY)


def calibrations(desk: Desk, wanted: Sequence[str]) -> Findings:
    """Of every run and benchmark."""
    whole = Findings(CALIBRATION)
    for target in desk.targets:
        whole.add(calibration(desk, target, wanted))
    return whole


# ---- stability -------------------------------------------------------------------------------------------------


def stabilities(desk: Desk) -> Findings:
    """Of every run and benchmark."""
    return Findings(STABILITY, [_stability(desk, target) for target in desk.targets])


def _stability(desk: Desk, target: Target) -> Stability:
    if isinstance(target, Opened):
        name, samples = str(target.folder.path), target.result.samples
        fix = f"run `mores bench {target.result.benchmark} --samples 10`"
    else:
        name, samples, fix = target.name, desk.session.samples, "give --samples 10"
    if samples < 2:
        raise ConfigError(f"{name}: one answer to each question cannot show whether answers change; {fix}")
    if isinstance(target, Opened):
        return stability(of_folder(target.folder), target.folder.verdicts())
    made = desk.make_samples(target)
    return stability(of_run(made.job), RunFolder(made.folder).verdicts())


# ---- two runs --------------------------------------------------------------------------------------------------


def retrievals(desk: Desk, force: bool) -> Findings:
    """Of two runs, or of benchmarks with a search."""
    found = Findings(RETRIEVAL)
    if desk.runs:
        two = _two(desk.runs, "one with --search and one without it; or the name of a benchmark, and --search")
        found.results.append(_retrieval(desk, *two, force))
    found.results += [_with_search(desk, one, desk.session, force) for one in desk.benchmarks]
    return found


def _two(runs: Sequence[Opened], which: str) -> tuple[Path, Path]:
    if len(runs) != 2:
        given = "1 run is" if len(runs) == 1 else f"{len(runs)} runs are"
        raise ConfigError(f"{given} given, and two are compared; give two that `mores bench` wrote, {which}")
    return runs[0].folder.path, runs[1].folder.path


def _with_search(desk: Desk, one: Benchmark, session: Session, force: bool = False) -> RetrievalResult:
    if not session.search:
        raise ConfigError(f"{one.name}: evidence comes from a search; name it with --search, such as corpus:PATH")
    plain = desk.make(one, replace(session, search=None))
    return _retrieval(desk, plain.folder, desk.make(one, session).folder, force)


def _retrieval(desk: Desk, one: Path, other: Path, force: bool) -> RetrievalResult:
    """By rule, and by a judge where there is one."""
    runs = open_runs(one, other, force=force)
    if not desk.given["judges"]:
        return diagnose_retrieval(runs, runs.seen())
    judge = EvidenceJudge(runs, desk.judge, desk.how)
    path = desk.folder(RETRIEVAL, league_of(runs.with_.result), runs.with_.result.model) / JUDGED
    what, rate = f"{runs.with_.result.benchmark}: judging evidence", price_of(desk.judge.name, desk.given["price"])
    say_cost(what, judge.jobs(), rate)
    stage(what, sum(1 for _ in judge.jobs()), rate, lambda counts: judge.ask(path, counts))
    return diagnose_retrieval(runs, runs.seen(), read_verdicts(path), judge.identity)


def translations(desk: Desk, variant: str | None, force: bool) -> Findings:
    """Of two runs, or of benchmarks that can be asked in another way."""
    found = Findings(TRANSLATION)
    if desk.runs:
        two = _two(desk.runs, "one with --variant and one without it; or the name of a benchmark")
        found.results.append(diagnose_translation(open_versions(*two, force=force)))
    found.results += [_versions(desk, one, desk.session, variant, force) for one in desk.benchmarks]
    return found


def _versions(
    desk: Desk, one: Benchmark, session: Session, variant: str | None, force: bool = False
) -> TranslationResult:
    other = variant or ENGLISH
    if other not in one.variants:
        known = f"name another way to ask with --variant: {', '.join(one.variants)}" if one.variants else "it has none"
        raise ConfigError(f"{one.name}: its questions have no variant {other!r}; {known}")
    native, asked = desk.make(one, session), desk.make(one, replace(session, variant=other))
    return diagnose_translation(open_versions(native.folder, asked.folder, known=native.job.benchmark, force=force))


# ---- errors ----------------------------------------------------------------------------------------------------


def errors(desk: Desk, targets: Sequence[Target], labelled: Path | None = None) -> Findings:
    """Of every run and benchmark; several models also beside each other, and a judge beside people."""
    if not desk.given["judges"]:
        raise ConfigError("a judge says of what type an error is; name it with --judge, for example openai:NAME")
    known = read_labelled(labelled) if labelled else []
    if labelled and len(targets) > 1:
        raise ConfigError(f"--check {labelled}: its answers are to the questions of one run; give that run alone")
    runs = [one if isinstance(one, Opened) else _made(desk, one, desk.session) for one in targets]
    by_model = [_errors(desk, run) for run in runs]
    beside = [compare_models(by_model)] if len(by_model) > 1 else []
    checked = [_check(desk, runs[0], known)] if labelled else []
    return Findings(ERRORS, [*by_model, *beside, *checked])


def _made(desk: Desk, one: Benchmark, session: Session) -> Opened:
    made = desk.make(one, session)
    return open_run(made.folder, made.job.benchmark)


def _errors(desk: Desk, run: Opened) -> ErrorsResult:
    answers, wrong = 0, 0
    for verdict in run.folder.verdicts():
        answers, wrong = answers + 1, wrong + (verdict.label is Label.INCORRECT)
    if not wrong:
        raise InputError(f"{run.folder.path}: none of its {answers:,} answers is wrong; there is no error to sort")
    judge = ErrorJudge(run, desk.judge, desk.how)
    path = desk.folder(ERRORS, league_of(run.result), run.result.model) / TYPED
    what, rate = f"{run.result.benchmark}: sorting errors", price_of(desk.judge.name, desk.given["price"])
    say_cost(what, _type_jobs(run), rate)
    stage(what, wrong, rate, lambda counts: judge.ask(path, counts))
    return diagnose_errors(run, read_typed(path), judge.judge.name, judge.signature())


def _type_jobs(run: Opened) -> Iterator[Job]:
    by_id = {item.id: item for item in run.folder.items()}
    for one in run.folder.verdicts():
        if one.label is Label.INCORRECT:
            yield Job(one.item_id, type_request(run, by_id[one.item_id], one.answer or ""))


def _check(desk: Desk, run: Opened, labelled: Sequence[LabelledError]) -> TypeCheck:
    judge = ErrorJudge(run, desk.judge, desk.how)
    path = desk.folder(ERRORS, league_of(run.result), run.result.model) / "check.jsonl"
    rate = price_of(desk.judge.name, desk.given["price"])
    what = f"{run.result.benchmark}: checking the judge"
    stage(what, len(labelled), rate, lambda counts: judge.ask_labelled(labelled, path, counts))
    return check_types(labelled, list(read_typed(path)), judge.judge.name, judge.signature())


def localities(folders: Iterable[Path], grouping: str, force: bool) -> Findings:
    """Of all runs in these folders together."""
    return Findings(LOCALITY, [locality(read_ran(folders, grouping), grouping, force=force)])


# ---- all of them -----------------------------------------------------------------------------------------------


def everything(desk: Desk, variant: str | None) -> list[Findings]:
    """Every kind that the options allow; of the others, what is missing."""
    found = {kind: Findings(kind) for kind in KINDS}
    plain: list[Path] = []
    for one in desk.benchmarks:
        run = _made(desk, one, desk.plain)
        plain.append(run.folder.path)
        for kind, part in _parts(desk, one, run, variant):
            _add(found[kind], f"{kind} of {one.name}", part)
    _add(found[LOCALITY], LOCALITY, partial(_profiles, plain))
    return list(found.values())


def _profiles(folders: Sequence[Path]) -> Findings:
    found = locality(read_ran(folders, LANGUAGE), LANGUAGE)
    if not found.shifts and not any(one.groups for one in found.profiles):
        raise InputError("the questions are in one language; `mores diagnose locality --by region` may say more")
    return Findings(LOCALITY, [found])


def _parts(
    desk: Desk, one: Benchmark, run: Opened, variant: str | None
) -> Iterator[tuple[str, Callable[[], Findings]]]:
    alone = replace(desk.session, samples=1)
    yield CALIBRATION, lambda: calibration(desk, one)
    yield STABILITY, lambda: Findings(STABILITY, [_stability(desk, one)])
    yield RETRIEVAL, lambda: Findings(RETRIEVAL, [_with_search(desk, one, alone)])
    yield TRANSLATION, lambda: Findings(TRANSLATION, [_versions(desk, one, desk.plain, variant)])
    yield ERRORS, lambda: errors(desk, [run])


def _add(whole: Findings, what: str, part: Callable[[], Findings]) -> None:
    """What a part finds; where an option or the data do not allow it, why."""
    try:
        whole.add(part())
    except (ConfigError, InputError) as error:
        whole.left_out[what] = str(error)
