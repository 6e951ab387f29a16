"""Each kind of diagnosis: the runs that it needs, the questions to a judge, and the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from mores.benchmark.benchmark import Benchmark, Label
from mores.benchmark.board import read_runs
from mores.diagnosis.calibrating import measure_calibration
from mores.diagnosis.contamination import find_contamination
from mores.diagnosis.errors import (
    TYPED,
    ErrorJudge,
    Typed,
    check_types,
    compare_models,
    diagnose_errors,
    read_labelled,
)
from mores.diagnosis.evidence import JUDGED, EvidenceJudge, open_runs, read_verdicts
from mores.diagnosis.folder import CONTAMINATION, ITEMS, KINDS, Findings
from mores.diagnosis.locality import LANGUAGE, Ran, measure_locality, read_ran
from mores.diagnosis.paired import Opened, open_run, subject_of_folder
from mores.diagnosis.retrieval import diagnose_retrieval
from mores.diagnosis.scale import measure_scales
from mores.diagnosis.session import Diagnosis, Target
from mores.diagnosis.stability import measure_stability
from mores.diagnosis.translation import diagnose_translation, open_versions
from mores.errors import ConfigError, InputError
from mores.formatting import count
from mores.io import file_name, read_records, write_text
from mores.io.private import make_folder
from mores.types import Record

ENGLISH = "english"
CALIBRATION, STABILITY, RETRIEVAL, TRANSLATION, ERRORS, LOCALITY = KINDS
ALL = "all"


async def diagnose_kind(diagnosis: Diagnosis) -> Findings:
    """Return the findings of one kind, on all targets."""
    settings, targets, kind = diagnosis.settings, diagnosis.targets, diagnosis.settings.kind
    findings = Findings(kind)
    if kind == LOCALITY:
        ran = read_ran([run.folder.path for run in diagnosis.runs], settings.by)
        return Findings(LOCALITY, [measure_locality(ran, settings.by, force=settings.force)])
    if kind == ITEMS:
        return scale_questions(diagnosis)
    if kind == ERRORS:
        return await classify_errors(diagnosis, targets)
    if kind in _TWO and diagnosis.runs:
        which, compare = _TWO[kind]
        if (number := len(diagnosis.runs)) != 2:
            given = "1 run is" if number == 1 else f"{number} runs are"
            raise ConfigError(f"{given} given, but two are compared; give two runs of `mores bench`, {which}")
        findings.results.append(await compare(diagnosis, *(run.folder.path for run in diagnosis.runs)))
        targets = diagnosis.benchmarks
    for target in targets:
        findings.add(await (_PARTS | _ALONE)[kind](diagnosis, target))
    return findings


async def diagnose_all(diagnosis: Diagnosis) -> list[Findings]:
    """Return every kind that the options allow, and for the others, the reason."""
    findings = {kind: Findings(kind) for kind in KINDS}
    asking = {RETRIEVAL: diagnosis.with_asking(samples=1), TRANSLATION: diagnosis.plain}
    plain: list[Path] = []
    for benchmark in diagnosis.benchmarks:
        run = await diagnosis.make(benchmark, diagnosis.plain)
        plain.append(run.path)
        for kind, part in _PARTS.items():
            target = open_run(run.path, benchmark) if kind == ERRORS else benchmark
            try:
                findings[kind].add(await part(replace(diagnosis, session=asking.get(kind, diagnosis.session)), target))
            except (ConfigError, InputError) as error:
                findings[kind].left_out[f"{kind} of {benchmark.name}"] = str(error)
    try:
        result = measure_locality(read_ran(plain, LANGUAGE), LANGUAGE)
        if not result.shifts and not any(profile.groups for profile in result.profiles):
            raise InputError("all questions are in one language; locality by region may show differences")
        findings[LOCALITY].results.append(result)
    except (ConfigError, InputError) as error:
        findings[LOCALITY].left_out[LOCALITY] = str(error)
    return list(findings.values())


async def find_stability(diagnosis: Diagnosis, target: Target) -> Findings:
    """Return the stability of a run or a benchmark."""
    if isinstance(target, Opened):
        name, samples, fix, setting = str(target.folder.path), target.result.samples, "give a run with several", ""
    else:
        name, samples, fix, setting = target.name, diagnosis.asking.samples, "ask for several, such as 10", "samples"
    if samples < 2:
        reason = f"one answer per question cannot show whether answers change; {fix}"
        raise ConfigError(f"{name}: {reason}", setting=setting)
    run = target.folder if isinstance(target, Opened) else await diagnosis.make_samples(target)
    return Findings(STABILITY, [measure_stability(subject_of_folder(run), run.verdicts())])


async def find_retrieval(diagnosis: Diagnosis, benchmark: Target) -> Findings:
    """Return the gain from evidence, of a benchmark with a search."""
    assert isinstance(benchmark, Benchmark)
    if not diagnosis.asking.search:
        fix = "name one, such as corpus:PATH"
        raise ConfigError(f"{benchmark.name}: evidence comes from a search; {fix}", setting="search")
    plain = await diagnosis.make(benchmark, diagnosis.with_asking(search=None))
    searched = await diagnosis.make(benchmark, diagnosis.session)
    return Findings(RETRIEVAL, [await compare_searches(diagnosis, plain.path, searched.path)])


async def compare_searches(diagnosis: Diagnosis, first: Path, second: Path) -> Record:
    """Compare two runs, by rule and, if there is one, by a judge."""
    runs = open_runs(first, second, force=diagnosis.settings.force)
    if not diagnosis.session.judges:
        return diagnose_retrieval(runs, runs.seen())
    judge = EvidenceJudge(runs, diagnosis.judge)
    path = diagnosis.folder(RETRIEVAL, runs.second.result.name, runs.second.result.model) / JUDGED
    await judge.ask(path)
    return diagnose_retrieval(runs, runs.seen(), read_verdicts(path), judge.identity)


async def find_translation(diagnosis: Diagnosis, benchmark: Target) -> Findings:
    """Return the difference between a benchmark and its variant."""
    assert isinstance(benchmark, Benchmark)
    variant = diagnosis.settings.variant or ENGLISH
    if variant not in benchmark.variants:
        variants = ", ".join(benchmark.variants)
        fix, setting = (f"name another: {variants}", "variant") if variants else ("it has none", "")
        raise ConfigError(f"{benchmark.name}: its questions have no variant {variant!r}; {fix}", setting=setting)
    native = await diagnosis.make(benchmark, diagnosis.session)
    varied = await diagnosis.make(benchmark, diagnosis.with_asking(variant=variant))
    runs = open_versions(native.path, varied.path, benchmark=benchmark, force=diagnosis.settings.force)
    return Findings(TRANSLATION, [diagnose_translation(runs)])


async def compare_versions(diagnosis: Diagnosis, first: Path, second: Path) -> Record:
    """Compare two runs."""
    return diagnose_translation(open_versions(first, second, force=diagnosis.settings.force))


async def classify_errors(diagnosis: Diagnosis, targets: Sequence[Target]) -> Findings:
    """Return the types of errors of every target; compare several models, and judge and people."""
    if not diagnosis.session.judges:
        raise ConfigError("a judge decides the type of an error; name one, for example openai:NAME", setting="judge")
    labelled, model = diagnosis.settings.labelled, diagnosis.judge.model.name
    answers = read_labelled(labelled) if labelled else []
    if labelled and len(targets) > 1:
        reason = "its answers are to the questions of one run; give that run alone"
        raise ConfigError(f"{labelled}: {reason}", setting="check")
    runs = [
        target
        if isinstance(target, Opened)
        else open_run((await diagnosis.make(target, diagnosis.session)).path, target)
        for target in targets
    ]
    by_model = []
    for run in runs:
        labels = Counter(verdict.label for verdict in run.folder.verdicts())
        if not labels[Label.INCORRECT]:
            none = f"none of its {count(labels.total())} answers is wrong"
            raise InputError(f"{run.folder.path}: {none}; there are no errors to classify")
        judge = ErrorJudge(run, diagnosis.judge)
        folder = diagnosis.folder(ERRORS, run.result.name, run.result.model)
        await judge.ask(folder / TYPED)
        by_model.append(diagnose_errors(run, read_records(folder / TYPED, Typed), model, judge.signature()))
    findings = Findings(ERRORS, [*by_model, *([compare_models(by_model)] if len(by_model) > 1 else [])])
    if labelled:
        await judge.ask_labelled(answers, folder / "check.jsonl")
        typed = list(read_records(folder / "check.jsonl", Typed))
        findings.results.append(check_types(answers, typed, model, judge.signature()))
    return findings


def scale_questions(diagnosis: Diagnosis) -> Findings:
    """Return the scale of every benchmark, and write the short form of each to a file."""
    settings = diagnosis.settings
    ran = [Ran(entry, {}) for entry in read_runs(run.folder.path for run in diagnosis.runs)]
    own = settings.item_model == "2pl"
    scales = measure_scales(ran, discrimination=own, short=settings.short, force=settings.force)
    make_folder(diagnosis.out / ITEMS)
    for scale in scales:
        if scale.chosen:
            path = diagnosis.out / ITEMS / f"{file_name(scale.benchmark)}.txt"
            write_text(path, "".join(f"{id_}\n" for id_ in scale.chosen))
    return Findings(ITEMS, list(scales))


async def check_contamination(diagnosis: Diagnosis, benchmark: Target) -> Findings:
    """Return what a model shows of having seen a benchmark."""
    assert isinstance(benchmark, Benchmark)
    job, judges = diagnosis.plain.job(*diagnosis.plain.items(benchmark)), diagnosis.session.judges
    folder = diagnosis.folder(CONTAMINATION, benchmark.name, job.model.name)
    return Findings(CONTAMINATION, [await find_contamination(job, judges[0] if judges else None, folder)])


_PARTS: dict[str, Callable[[Diagnosis, Target], Awaitable[Findings]]] = {
    CALIBRATION: measure_calibration,
    STABILITY: find_stability,
    RETRIEVAL: find_retrieval,
    TRANSLATION: find_translation,
    ERRORS: lambda diagnosis, target: classify_errors(diagnosis, [target]),
}
"""The findings of each kind on one target."""
_ALONE = {CONTAMINATION: check_contamination}
"""Those of kinds that a diagnosis of all does not have."""
_TWO: dict[str, tuple[str, Callable[[Diagnosis, Path, Path], Awaitable[Record]]]] = {
    RETRIEVAL: ("one with a search and one without it; or a benchmark and a search", compare_searches),
    TRANSLATION: ("one with a variant and one without it; or the name of a benchmark", compare_versions),
}
"""The kinds that compare two runs: which ones, and how."""
