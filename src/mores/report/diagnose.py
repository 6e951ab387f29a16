"""Why a model fails, in the browser: one HTML file, "the model's cultural health", with every analysis that was made.

`mores diagnose` writes it. The file asks the network for nothing and has no script; the texts in it are hostile, and
all of them are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from mores.diagnose.calibration import SOURCES, Calibration
from mores.diagnose.change import GAIN
from mores.diagnose.errors import ErrorsResult, ErrorTable, TypeCheck
from mores.diagnose.locality import Locality
from mores.diagnose.retrieval import RetrievalResult
from mores.diagnose.stability import BEST, MEAN, SOMETIMES, WORST, Stability
from mores.diagnose.translation import TranslationResult
from mores.errors import InputError
from mores.report.bench_answers import SURROGATES
from mores.report.diagnose_answers import SOURCES as KINDS
from mores.report.diagnose_answers import calibration_part, errors_part, stability_part
from mores.report.diagnose_items import OVERRIDES, subjects
from mores.report.diagnose_pairs import locality_part, retrieval_part, translation_part
from mores.report.links import RunLinks
from mores.report.page import TEMPLATES, hash_of, stylesheet
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


class Section(NamedTuple):
    """One analysis."""

    id: str
    title: str
    question: str
    vitals: list[Vital]
    body: Markup


def diagnose_page(results: Sequence[Record], links: Sequence[RunLinks] = ()) -> str:
    """The whole page of these results of `mores.diagnose`, in any order; InputError for any other record.

    `links` are those of the runs that it is about.
    """
    for one in results:
        if not isinstance(one, KNOWN):
            names = ", ".join(kind.__name__ for kind in KNOWN)
            raise InputError(f"a page of diagnoses cannot show a {type(one).__name__}; give records of {names}")
    style = stylesheet("score.css", "charts.css", "meta.css", "bench.css", "diagnose.css")
    html = _template().render(
        facts=_facts(results),
        sections=[section for section in _sections(results) if section.body],
        signatures=_signatures(results),
        runs=links,
        style=style,
        style_hash=hash_of(style),
    )
    return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", html)


@cache
def _template() -> Template:
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("diagnose.html.j2")


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


def _sections(results: Sequence[Record]) -> list[Section]:
    lists = sum(LISTS.get(type(one), 0) for one in results)
    limit = max(5, min(LIST, CARDS // max(1, lists)))
    sure, stable, found = _of(results, Calibration), _of(results, Stability), _of(results, RetrievalResult)
    translated, wrong, local = _of(results, TranslationResult), _of(results, ErrorsResult), _of(results, Locality)
    tables, checks = _of(results, ErrorTable), _of(results, TypeCheck)
    return [
        Section("calibration", "Calibration", "Does it know when it knows?", [_sure(one) for one in sure],
                subjects(sure, lambda own: calibration_part(own, limit))),
        Section("stability", "Stability", "Does it say the same the next time?", [_stable(one) for one in stable],
                subjects(stable, lambda own: _join(stability_part(one, limit) for one in own))),
        Section("retrieval", "Retrieval", "Is the fact missing, or not found and not used?",
                [_found(one) for one in found],
                subjects(found, lambda own: _join(retrieval_part(one, limit) for one in own))),
        Section("translation", "Native and English", "What is lost in translation?",
                [_translated(one) for one in translated],
                subjects(translated, lambda own: _join(translation_part(one, limit) for one in own))),
        Section("errors", "Kinds of errors", "What does it get wrong?", [_wrong(one) for one in wrong],
                errors_part(wrong, tables, checks, limit)),
        Section("locality", "Locality", "Where is it better and worse?", [v for one in local for v in _local(one)],
                _join(locality_part(one) for one in local)),
    ]  # fmt: skip


def _join(parts: Iterable[Markup]) -> Markup:
    return Markup().join(parts)


# ---- in short --------------------------------------------------------------------------------------------------


def _about(one: Calibration | Stability | RetrievalResult | TranslationResult | ErrorsResult) -> str:
    return f"{OVERRIDES.sub('', one.model)} on {OVERRIDES.sub('', one.benchmark)}"


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
            about = OVERRIDES.sub("", f"{profile.model} on {profile.benchmark}")
            counts = {
                verdict: sum(local.verdict == verdict for local in profile.groups) for verdict in ("above", "below")
            }
            told = f"groups by {one.grouping} surely differ from its {percent(profile.overall.value)} on the whole: "
            told += f"{counts['above']:,} above, {counts['below']:,} below."
            found.append(Vital(f"{sum(counts.values()):,}", f"of {len(profile.groups):,}", "", told, about))
    for shift in one.shifts:
        about = OVERRIDES.sub("", f"{shift.first} and {shift.second}")
        told = f"is Kendall’s τ of the ranks of {shift.tau.n:,} models on both: 1 is the same order."
        found.append(Vital(number(shift.tau.value), "τ", span(shift.tau.low, shift.tau.high), told, about))
    return found
