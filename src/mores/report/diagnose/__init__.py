"""The reasons why a model fails (`mores diagnose`), under the title "The model's cultural health"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from mores.diagnosis.calibration import SOURCES, CalibrationResult
from mores.diagnosis.change import GAIN
from mores.diagnosis.contamination import Contamination
from mores.diagnosis.errors import ErrorsResult, ErrorTable, TypeCheck
from mores.diagnosis.folder import DiagnoseRun
from mores.diagnosis.locality import Locality
from mores.diagnosis.retrieval import RetrievalResult
from mores.diagnosis.scale import ItemScale
from mores.diagnosis.stability import BEST, MEAN, SOMETIMES, WORST, Stability
from mores.diagnosis.translation import TranslationResult
from mores.errors import InputError
from mores.formatting import NOTHING, between, number, percent, points, span, to
from mores.report.base.blocks import RunLinks, Section, Vital, Vitals
from mores.report.base.document import ResultDocument
from mores.report.base.links import link_runs
from mores.report.base.names import without_overrides
from mores.report.bench.tables import fact_lines, fact_table
from mores.report.diagnose.answers import SOURCES as KINDS
from mores.report.diagnose.answers import calibration_part, stability_part
from mores.report.diagnose.errors import errors_part
from mores.report.diagnose.items import subjects
from mores.report.diagnose.pairs import contamination_part, locality_part, retrieval_part, scale_part, translation_part
from mores.report.diagnose.tables import TABLES, grids, tables
from mores.stats.calibration import ACCURACY, AT_90, CONFIDENCE, ECE
from mores.types import Record, Result, Signature

__all__ = ["describe", "describe_diagnoses", "grids"]

CARDS, LIST = 600, 50
"""About how many items there are on a page, and in a list."""
LISTS: dict[type[Record], int] = {
    CalibrationResult: 2,
    Stability: 1,
    RetrievalResult: 4,
    TranslationResult: 2,
    ErrorsResult: 6,
}
"""Lists of items of each analysis."""

Kind = TypeVar("Kind", bound=Record)


def describe(run: DiagnoseRun) -> ResultDocument:
    """Return the document of a run, with links to the runs of benchmarks that it analyses."""
    runs = run.bench_runs()
    titled = ((f"{bench_run.result.model}, {bench_run.result.name}", bench_run.path) for bench_run in runs)
    models = {bench_run.result.model: bench_run.facts for bench_run in runs}
    return describe_diagnoses(run.results, link_runs(run.path / "diagnose.html", titled), models)


def describe_diagnoses(
    results: Sequence[Record], links: Sequence[RunLinks] = (), models: Mapping[str, Mapping[str, str]] | None = None
) -> ResultDocument:
    """Return results of `mores.diagnose`, in any order, with links to their runs; InputError for other records.

    `models` has the facts of each model's configuration.
    """
    analyses = [(section, vitals) for section, vitals in _analyses(results) if section.body]
    heading, compared = "The model’s cultural health", fact_table(models or {})
    return ResultDocument(
        "diagnosis",
        heading,
        [*([compared] if compared else []), *tables(results)],
        [section for section, _ in analyses],
        opening=[*([Vitals(analyses)] if analyses else []), *([compared] if compared else [])],
        facts=_facts(results) | fact_lines((models or {}).values()),
        links=links,
        signatures=_signatures(results),
        look="report bench diagnose",
        empty="There is no analysis to show.",
        name=heading,
    )


def _select(results: Sequence[Record], kind: type[Kind]) -> list[Kind]:
    return [result for result in results if isinstance(result, kind)]


def _facts(results: Sequence[Record]) -> dict[str, str]:
    models = dict.fromkeys(name for result in results for name in _names(result, "model"))
    benchmarks = dict.fromkeys(name for result in results for name in _names(result, "benchmark"))
    facts = {"Model": _listed(models), "Benchmark": _listed(benchmarks)}
    judges = dict.fromkeys(result.judge for result in _select(results, ErrorsResult))
    return {name: value for name, value in (facts | {"Judge of errors": _listed(judges)}).items() if value}


def _names(result: Record, field: str) -> Iterable[str]:
    several: tuple[str, ...] = getattr(result, f"{field}s", ()) if isinstance(result, (Locality, ItemScale)) else ()
    return several or ([getattr(result, field)] if hasattr(result, field) else [])


def _listed(names: Iterable[str]) -> str:
    distinct = list(names)
    return ", ".join(distinct) if len(distinct) < 5 else f"{len(distinct)} different ones"


def _signatures(results: Sequence[Record]) -> list[tuple[str, Signature]]:
    """Return a title for each result, and its signature."""
    rows = [
        (f"{type(result).__name__.removesuffix('Result')}: {result.model}, {result.benchmark}", result.signature)
        for result in results
        if isinstance(
            result, (CalibrationResult, Stability, RetrievalResult, TranslationResult, ErrorsResult, Contamination)
        )
    ]
    rows += [(f"Judge: {check.judge}", check.signature) for check in _select(results, TypeCheck)]
    rows += [
        (f"Locality: {name}", signature)
        for result in _select(results, Locality)
        for name, signatures in result.signatures.items()
        for signature in signatures
    ]
    for scale in _select(results, ItemScale):
        names = (f"Items: {model}, {scale.benchmark}" for model in scale.models)
        rows += list(zip(names, scale.signatures, strict=True))
    return list(dict.fromkeys(rows))


# ---- sections --------------------------------------------------------------------------------------------------


def _analyses(results: Sequence[Record]) -> list[tuple[Section, list[Vital]]]:
    """Return one section for each analysis, with its main numbers; InputError for any other record."""
    for result in results:
        if type(result) not in TABLES:
            names = ", ".join(kind.__name__ for kind in TABLES)
            raise InputError(f"a page of diagnoses cannot show a {type(result).__name__}; give records of {names}")
    lists = sum(LISTS.get(type(result), 0) for result in results)
    limit = max(5, min(LIST, CARDS // max(1, lists)))
    calibrations, stabilities = _select(results, CalibrationResult), _select(results, Stability)
    retrievals, translations = _select(results, RetrievalResult), _select(results, TranslationResult)
    errors, localities = _select(results, ErrorsResult), _select(results, Locality)
    compared, checks = _select(results, ErrorTable), _select(results, TypeCheck)
    confidence = subjects(calibrations, lambda part: calibration_part(part, limit))
    repeated = subjects(stabilities, lambda part: chain.from_iterable(stability_part(r, limit) for r in part))
    searched = subjects(retrievals, lambda part: chain.from_iterable(retrieval_part(r, limit) for r in part))
    translated = subjects(translations, lambda part: chain.from_iterable(translation_part(r, limit) for r in part))
    wrong = errors_part(errors, compared, checks, limit)
    local = list(chain.from_iterable(map(locality_part, localities)))
    contaminations = _select(results, Contamination)
    seen = subjects(contaminations, lambda part: chain.from_iterable(map(contamination_part, part)))
    scaled = list(chain.from_iterable(map(scale_part, _select(results, ItemScale))))
    return [
        (Section("calibration", "Calibration", confidence, "Does it know when it knows?"),
         list(map(_calibration_vital, calibrations))),
        (Section("stability", "Stability", repeated, "Does it give the same answer again?"),
         list(map(_stability_vital, stabilities))),
        (Section("retrieval", "Retrieval", searched, "Does evidence help, and is it used?"),
         list(map(_retrieval_vital, retrievals))),
        (Section("translation", "Native and English", translated, "What is lost in translation?"),
         list(map(_translation_vital, translations))),
        (Section("errors", "Kinds of errors", wrong, "What does it get wrong?"), list(map(_errors_vital, errors))),
        (Section("locality", "Locality", local, "Where is it better or worse?"),
         list(chain.from_iterable(map(_locality_vitals, localities)))),
        (Section("contamination", "Contamination", seen, "Has it seen the questions?"),
         list(map(_contamination_vital, contaminations))),
        (Section("items", "Questions and models", scaled, "What does each question say about models?"),
         list(map(_scale_vital, _select(results, ItemScale)))),
    ]  # fmt: skip


# ---- in short --------------------------------------------------------------------------------------------------


def _about(
    result: CalibrationResult | Stability | RetrievalResult | TranslationResult | ErrorsResult | Contamination,
) -> str:
    return f"{without_overrides(result.model)} on {without_overrides(result.benchmark)}"


def _calibration_vital(result: CalibrationResult) -> Vital:
    error, accuracy, confident = (result.figures[name] for name in (ECE, ACCURACY, AT_90))
    about = f"{KINDS.get(result.source, result.source)}, {_about(result)}"
    if error.value is None:
        return Vital(NOTHING, sentence="No answer has both a grade and a confidence.", about=about)
    sentence = (
        f"is the error of its confidence, measured by {SOURCES[result.source]}: it is "
        f"{percent(result.figures[CONFIDENCE].value)} confident on average, and {percent(accuracy.value)} is correct."
    )
    addition = (
        f" Where it is at least 90% confident, {percent(confident.value)} is correct."
        if confident.value is not None
        else ""
    )
    return Vital(number(error.value, 1), "points", span(error.low, error.high, 1), sentence + addition, about)


def _stability_vital(result: Stability) -> Vital:
    sometimes = result.figures[SOMETIMES]
    if sometimes.value is None or result.depth < 2:
        return Vital(NOTHING, "", "", "No question has two graded answers to compare.", _about(result))
    mean, best, worst = (percent(result.figures[name].value) for name in (MEAN, BEST, WORST))
    sentence = (
        f"of the questions are only sometimes answered correctly. A single answer is correct in {mean}; at least one "
        f"of {result.depth} in {best}, all {result.depth} in {worst}."
    )
    return Vital(percent(sometimes.value), "", between(sometimes), sentence, _about(result))


def _gain(gain: Result, sentence: str, about: str) -> Vital:
    interval = to(gain.low, gain.high) if gain.value is not None else ""
    return Vital(points(gain.value), "points", interval, sentence, about)


def _retrieval_vital(result: RetrievalResult) -> Vital:
    if result.change.gain.value is None:
        return Vital(NOTHING, "", "", "No question has a grade both without and with evidence.", _about(result))
    most = max(result.faults.values(), key=lambda share: share.value or 0.0)
    addition = (
        f" The most frequent reason for wrong answers is “{most.name}”: {percent(most.value)}." if most.value else ""
    )
    matrix = result.change.matrix
    sentence = (
        f"is the change with evidence: {matrix.second:,} questions corrected, {matrix.first:,} spoiled.{addition}"
    )
    return _gain(result.figures[GAIN], sentence, _about(result))


def _translation_vital(result: TranslationResult) -> Vital:
    if result.change.gain.value is None:
        return Vital(NOTHING, "", "", "No question has a grade in both versions.", _about(result))
    matrix = result.change.matrix
    sentence = (
        f"is the change if it is asked {result.names[1]} instead of {result.names[0]}: {matrix.second:,} gained, "
    )
    return _gain(result.figures[GAIN], f"{sentence}{matrix.first:,} lost.", _about(result))


def _errors_vital(result: ErrorsResult) -> Vital:
    most = max(result.figures.values(), key=lambda share: share.value or 0.0, default=None)
    if most is None or most.value is None:
        return Vital(NOTHING, "", "", "No wrong answer has a type.", _about(result))
    sentence = f"of {most.n:,} wrong answers with a type have the most frequent one: {most.name}."
    return Vital(percent(most.value), "", between(most), sentence, _about(result))


def _contamination_vital(result: Contamination) -> Vital:
    tested = [test for test in result.tests if test.p is not None]
    sentence = f"tests say that it has seen the questions: {', '.join(result.flagged) or 'none'}."
    return Vital(f"{len(result.flagged)}", f"of {len(tested)}", "", sentence, _about(result))


def _scale_vital(result: ItemScale) -> Vital:
    sentence = "is the standard deviation of the questions’ difficulties, in logits."
    if form := result.form:
        sentence = f"of {len(result.questions):,} questions rank models like all: Kendall’s τ {number(form.tau.value)}."
        return Vital(
            f"{form.size:,}", "", span(form.tau.low, form.tau.high), sentence, without_overrides(result.benchmark)
        )
    return Vital(number(result.spread), "", "", sentence, without_overrides(result.benchmark))


def _locality_vitals(result: Locality) -> list[Vital]:
    vitals = []
    for profile in result.profiles:
        if profile.groups:
            about = without_overrides(f"{profile.model} on {profile.benchmark}")
            counts = {
                verdict: sum(local.verdict == verdict for local in profile.groups) for verdict in ("above", "below")
            }
            sentence = (
                f"groups by {result.grouping} differ significantly from its overall {percent(profile.overall.value)}: "
            )
            sentence += f"{counts['above']:,} above, {counts['below']:,} below."
            vitals.append(Vital(f"{sum(counts.values()):,}", f"of {len(profile.groups):,}", "", sentence, about))
    for shift in result.shifts:
        about = without_overrides(f"{shift.first} and {shift.second}")
        sentence = f"is Kendall’s τ of the ranks of {shift.tau.n:,} models on both: 1 is the same order."
        vitals.append(Vital(number(shift.tau.value), "τ", span(shift.tau.low, shift.tau.high), sentence, about))
    return vitals
