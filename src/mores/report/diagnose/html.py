"""The sections of the page of diagnoses, and the main numbers on top of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeVar

from mores.diagnose.calibration import SOURCES, Calibration
from mores.diagnose.change import GAIN
from mores.diagnose.errors import ErrorsResult, ErrorTable, TypeCheck
from mores.diagnose.locality import Locality
from mores.diagnose.retrieval import RetrievalResult
from mores.diagnose.stability import BEST, MEAN, SOMETIMES, WORST, Stability
from mores.diagnose.translation import TranslationResult
from mores.errors import InputError
from mores.report.base.blocks import Section
from mores.report.base.links import RunLinks
from mores.report.base.names import without_overrides
from mores.report.base.page import Page, render, runs_section, signatures_section
from mores.report.diagnose.answers import SOURCES as KINDS
from mores.report.diagnose.answers import calibration_part, errors_part, stability_part
from mores.report.diagnose.items import subjects
from mores.report.diagnose.pairs import locality_part, retrieval_part, translation_part
from mores.show import NOTHING, between, number, percent, points, span, to
from mores.stats.calibration import ACCURACY, CONFIDENCE, ECE, SURELY
from mores.types import Record, Result, Signature

CARDS, LIST = 600, 50
"""Items on one page, and in one list, about."""
LISTS: dict[type[Record], int] = {
    Calibration: 2,
    Stability: 1,
    RetrievalResult: 4,
    TranslationResult: 2,
    ErrorsResult: 6,
}
"""Lists of items of each analysis."""
KNOWN = (Calibration, Stability, RetrievalResult, TranslationResult, ErrorsResult, ErrorTable, TypeCheck, Locality)

One = TypeVar("One", bound=Record)


class Vital(NamedTuple):
    """The main number of an analysis, and what it says."""

    value: str
    unit: str
    interval: str
    sentence: str
    about: str = ""
    """What it is of, where there are several."""


@dataclass(frozen=True)
class Analysis(Section):
    """A section with its main numbers."""

    vitals: Sequence[Vital] = ()

    @property
    def macro(self) -> str:
        return "section"


def page(results: Sequence[Record], links: Sequence[RunLinks] = ()) -> str:
    """The whole page of these results of `mores.diagnose`, in any order; InputError for any other record.

    `links` are those of the runs that it is about.
    """
    analyses = sections(results)
    every = [*analyses, runs_section(links), signatures_section(_signatures(results))]
    heading, empty = "The model’s cultural health", "There is no analysis to show."
    whole = Page("report bench diagnose", "diagnosis", heading, every, _facts(results), empty=empty, name=heading)
    return render(whole, "diagnose/page.html.j2", analyses=[one for one in analyses if one.body])


def _of(results: Sequence[Record], kind: type[One]) -> list[One]:
    return [one for one in results if isinstance(one, kind)]


def _facts(results: Sequence[Record]) -> dict[str, str]:
    models = dict.fromkeys(name for one in results for name in _names(one, "model"))
    benchmarks = dict.fromkeys(name for one in results for name in _names(one, "benchmark"))
    facts = {"Model": _listed(models), "Benchmark": _listed(benchmarks)}
    judges = dict.fromkeys(one.judge for one in _of(results, ErrorsResult))
    return {name: value for name, value in (facts | {"Judge of errors": _listed(judges)}).items() if value}


def _names(one: Record, what: str) -> Iterable[str]:
    several: tuple[str, ...] = getattr(one, f"{what}s", ()) if isinstance(one, Locality) else ()
    return several or ([getattr(one, what)] if hasattr(one, what) else [])


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    return ", ".join(known) if len(known) < 5 else f"{len(known)} different ones"


def _signatures(results: Sequence[Record]) -> list[tuple[str, Signature]]:
    """What each result is of, and its signature."""
    found = [
        (f"{type(one).__name__.removesuffix('Result')}: {one.model}, {one.benchmark}", one.signature)
        for one in results
        if isinstance(one, (Calibration, Stability, RetrievalResult, TranslationResult, ErrorsResult))
    ]
    found += [(f"Judge: {one.judge}", one.signature) for one in _of(results, TypeCheck)]
    found += [
        (f"Locality: {name}", signature)
        for one in _of(results, Locality)
        for name, own in one.signatures.items()
        for signature in own
    ]
    return list(dict.fromkeys(found))


# ---- sections --------------------------------------------------------------------------------------------------


def sections(results: Sequence[Record]) -> list[Analysis]:
    """One section for each analysis; InputError for a record that is none."""
    for one in results:
        if not isinstance(one, KNOWN):
            names = ", ".join(kind.__name__ for kind in KNOWN)
            raise InputError(f"a page of diagnoses cannot show a {type(one).__name__}; give records of {names}")
    lists = sum(LISTS.get(type(one), 0) for one in results)
    limit = max(5, min(LIST, CARDS // max(1, lists)))
    sure, stable, found = _of(results, Calibration), _of(results, Stability), _of(results, RetrievalResult)
    translated, wrong, local = _of(results, TranslationResult), _of(results, ErrorsResult), _of(results, Locality)
    tables, checks = _of(results, ErrorTable), _of(results, TypeCheck)
    return [
        Analysis("calibration", "Calibration", subjects(sure, lambda own: calibration_part(own, limit)),
                 "Does it know when it knows?", vitals=[_sure(one) for one in sure]),
        Analysis("stability", "Stability",
                 subjects(stable, lambda own: chain.from_iterable(stability_part(one, limit) for one in own)),
                 "Does it say the same the next time?", vitals=[_stable(one) for one in stable]),
        Analysis("retrieval", "Retrieval",
                 subjects(found, lambda own: chain.from_iterable(retrieval_part(one, limit) for one in own)),
                 "Is the fact missing, or not found and not used?", vitals=[_found(one) for one in found]),
        Analysis("translation", "Native and English",
                 subjects(translated, lambda own: chain.from_iterable(translation_part(one, limit) for one in own)),
                 "What is lost in translation?", vitals=[_translated(one) for one in translated]),
        Analysis("errors", "Kinds of errors", errors_part(wrong, tables, checks, limit), "What does it get wrong?",
                 vitals=[_wrong(one) for one in wrong]),
        Analysis("locality", "Locality", [block for one in local for block in locality_part(one)],
                 "Where is it better and worse?", vitals=[vital for one in local for vital in _local(one)]),
    ]  # fmt: skip


# ---- in short --------------------------------------------------------------------------------------------------


def _about(one: Calibration | Stability | RetrievalResult | TranslationResult | ErrorsResult) -> str:
    return f"{without_overrides(one.model)} on {without_overrides(one.benchmark)}"


def _sure(one: Calibration) -> Vital:
    error, right, surely = (one.figures[name] for name in (ECE, ACCURACY, SURELY))
    about = f"{KINDS.get(one.source, one.source)}, {_about(one)}"
    if error.value is None:
        return Vital(NOTHING, "", "", "No answer has both a grade and a confidence.", about)
    told = (
        f"is how far its confidence, {SOURCES[one.source]}, lies from how often it is "
        f"right: {percent(one.figures[CONFIDENCE].value)} sure on average, {percent(right.value)} right."
    )
    sure = f" Where it is 90% sure or more, {percent(surely.value)} is right." if surely.value is not None else ""
    return Vital(number(error.value, 1), "points", span(error.low, error.high, 1), told + sure, about)


def _stable(one: Stability) -> Vital:
    found = one.figures[SOMETIMES]
    if found.value is None or one.depth < 2:
        return Vital(NOTHING, "", "", "There are no two graded answers to compare.", _about(one))
    mean, best, worst = (percent(one.figures[name].value) for name in (MEAN, BEST, WORST))
    told = (
        f"of the questions are answered rightly only sometimes. One answer is right in {mean}; at least one of "
        f"{one.depth} in {best}, all {one.depth} in {worst}."
    )
    return Vital(percent(found.value), "", between(found), told, _about(one))


def _gain(found: Result, told: str, about: str) -> Vital:
    interval = to(found.low, found.high) if found.value is not None else ""
    return Vital(points(found.value), "points", interval, told, about)


def _found(one: RetrievalResult) -> Vital:
    if one.change.gain.value is None:
        return Vital(NOTHING, "", "", "No question has a grade both without and with evidence.", _about(one))
    most = max(one.faults.values(), key=lambda share: share.value or 0.0)
    rest = f" Of what is still wrong, the largest part is “{most.name}”: {percent(most.value)}." if most.value else ""
    matrix = one.change.matrix
    told = f"is the change with evidence: {matrix.second:,} questions put right, {matrix.first:,} spoiled.{rest}"
    return _gain(one.figures[GAIN], told, _about(one))


def _translated(one: TranslationResult) -> Vital:
    if one.change.gain.value is None:
        return Vital(NOTHING, "", "", "No question has a grade both ways.", _about(one))
    matrix = one.change.matrix
    told = f"is the change when it is asked {one.names[1]} rather than {one.names[0]}: {matrix.second:,} won, "
    return _gain(one.figures[GAIN], f"{told}{matrix.first:,} lost.", _about(one))


def _wrong(one: ErrorsResult) -> Vital:
    most = max(one.figures.values(), key=lambda share: share.value or 0.0, default=None)
    if most is None or most.value is None:
        return Vital(NOTHING, "", "", "No wrong answer has a type.", _about(one))
    told = f"of {most.n:,} wrong answers with a type are the most frequent one: {most.name}."
    return Vital(percent(most.value), "", between(most), told, _about(one))


def _local(one: Locality) -> list[Vital]:
    found = []
    for profile in one.profiles:
        if profile.groups:
            about = without_overrides(f"{profile.model} on {profile.benchmark}")
            counts = {
                verdict: sum(local.verdict == verdict for local in profile.groups) for verdict in ("above", "below")
            }
            told = f"groups by {one.grouping} surely differ from its {percent(profile.overall.value)} on the whole: "
            told += f"{counts['above']:,} above, {counts['below']:,} below."
            found.append(Vital(f"{sum(counts.values()):,}", f"of {len(profile.groups):,}", "", told, about))
    for shift in one.shifts:
        about = without_overrides(f"{shift.first} and {shift.second}")
        told = f"is Kendall’s τ of the ranks of {shift.tau.n:,} models on both: 1 is the same order."
        found.append(Vital(number(shift.tau.value), "τ", span(shift.tau.low, shift.tau.high), told, about))
    return found
