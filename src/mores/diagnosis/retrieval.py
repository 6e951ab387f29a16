"""The effect of evidence: the same model on the same questions without and with the results of a search.

MSQA, Section 4.2.3. The gain with its interval and tests, by language, topic, region and popularity; and for each
question that is wrong with evidence, which of three faults it has:

| fault | when |
| --- | --- |
| used wrongly | it was correct without evidence, or the wrong answer occurs in the results |
| found but not used | a result contains the reference answer, but the model gave another |
| evidence not found | no result contains it |

With a provider's own web search (`web_search` of a named configuration) there is the gain alone: it shows no results.

The first that applies counts, from the top. A rule decides whether a result contains an answer (`evidence.py`); where
it cannot, the question is undecided unless there is a judge (`EvidenceJudge`). The rule misses paraphrases, so without
a judge the counts of "found but not used" and of wrong answers taken from the results are too low.

Popularity comes from an item's metadata or labels, as a number or a word. Two rough substitutes are always available:
`results`, the number of results, and `coverage`, the share of the different words of the query that occur in at least
one result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np

from mores.benchmark.benchmark import Label
from mores.benchmark.folder import EVIDENCE
from mores.diagnosis.change import (
    GAIN,
    By,
    RunChange,
    Uncertain,
    change_of,
    changes_by,
    language_words,
    significance_words,
    uncertain_of,
    uncertain_words,
)
from mores.diagnosis.evidence import NAMES, PROVIDER, EvidenceMatch, EvidenceRuns, EvidenceVerdict
from mores.diagnosis.paired import LONGEST, QuestionPair, map_groups, shorten
from mores.errors import InputError
from mores.formatting import full_points, full_share
from mores.signature import sign
from mores.stats.results import share_result
from mores.types import Record, Result, Signature

CASES = 100
"""At most this many questions of each fault are listed."""
BANDS = 4
VERSION = 1


class Fault(StrEnum):
    """The fault of a question that is wrong with evidence."""

    NOT_FOUND = "evidence not found"
    NOT_USED = "found but not used"
    USED_WRONGLY = "used wrongly"
    UNDECIDED = "undecided"
    """The rule cannot decide whether a result contains the answer."""


# ---- the result ------------------------------------------------------------------------------------------------


class RetrievalCase(Record):
    """One question that is wrong with evidence."""

    unit: str
    fault: Fault
    question: str
    reference: tuple[str, ...]
    without: str
    """The answer without evidence."""
    answer: str
    """The answer with evidence."""
    label: Label | None
    was_correct: bool
    contained: bool | None
    taken: bool | None
    results: int
    containing: tuple[int, ...]
    """Numbers of the results that contain the reference answer, by rule."""
    excerpt: str
    groups: dict[str, str]
    why: str
    """The reason of the judge or of the rule."""


class RetrievalResult(Record):
    """The effect of evidence on one model."""

    model: str
    benchmark: str
    search: str
    signature: Signature
    figures: dict[str, Result]
    """Accuracy without and with evidence, the gain; how often results contain the answer, and the accuracy then."""
    change: RunChange
    by: By
    """Grouping, group; `results` and `coverage` are substitutes for popularity."""
    found_by: dict[str, dict[str, Result]]
    """Share of questions whose results contain the answer, by the same groups."""
    faults: dict[str, Result]
    """Share of each fault among the questions that are wrong with evidence."""
    faults_by: dict[str, dict[str, dict[str, int]]]
    """Counts by grouping, group and fault."""
    overlap: dict[str, int]
    """Questions with wrongly used evidence, by whether the results contained the answer."""
    uncertain: Uncertain
    judge: str | None
    judged: dict[str, int]
    """The number of verdicts of the judge, and of failures by kind."""
    agreement: Result | None
    """Share of the questions on which judge and rule agree about the results, where both decide."""
    popularity: str
    """The source of the popularity."""
    cases: tuple[RetrievalCase, ...]
    cases_in_all: int
    left_out: dict[str, int]
    """Questions that could not be compared, by reason."""
    notes: tuple[str, ...] = ()


def diagnose_retrieval(
    runs: EvidenceRuns,
    seen: Mapping[str, EvidenceMatch],
    judged: Mapping[str, EvidenceVerdict] | None = None,
    judge: str | None = None,
) -> RetrievalResult:
    """Compare two runs; `judged` has a judge's verdicts, and `judge` is its identity."""
    judged = judged or {}
    if missing := next((pair.second.unit for pair in runs.pairs if pair.second.unit not in seen), None):
        path = runs.second.folder.path / EVIDENCE
        raise InputError(f"{path}: no results for {missing}, which was asked; run the benchmark with the search again")
    rows = [(pair, seen[pair.second.unit]) for pair in runs.pairs]
    groups = _groups(rows)
    wrong = [
        _case(pair, evidence, group, judged.get(evidence.unit))
        for (pair, evidence), group in zip(rows, groups, strict=True)
        if not pair.second.correct
    ]
    listed, times = list[RetrievalCase](), Counter[Fault]()
    for case in wrong:
        times[case.fault] += 1
        if times[case.fault] <= CASES:
            listed.append(case)
    names = {True: "the answer was there", False: "the answer was not there", None: "undecided"}
    used_wrongly = Counter(case.contained for case in wrong if case.fault is Fault.USED_WRONGLY)
    overlap = {name: used_wrongly[value] for value, name in names.items()}
    verdicts = Counter(verdict.failure.kind.value if verdict.failure else "given" for verdict in judged.values())
    unscored = sum(runs.left_out.values())
    change = change_of(runs.pairs, NAMES, unscored)
    signature = sign({"diagnosis": f"retrieval.{VERSION}", **runs.second.fields, "contained": judge or "rule"})
    labelled = sum("popularity" in pair.groups for pair in runs.pairs)
    popularity = "unknown; `results` and `coverage` show how much the search finds, which is only similar"
    return RetrievalResult(
        model=runs.second.result.model, benchmark=runs.second.result.benchmark, search=runs.second.fields["search"],
        signature=signature, figures=change.figures | _found_figures(rows), change=change,
        by=changes_by(runs.pairs, groups, NAMES),
        found_by=map_groups(lambda members: _found_figures(members)["found"], rows, groups),
        faults={name: share_result(name, count, len(wrong)) for name, count in _faults(wrong).items()},
        faults_by=map_groups(_faults, wrong, [case.groups for case in wrong]), overlap=overlap, judge=judge,
        uncertain=uncertain_of(runs.pairs, NAMES), judged=dict(verdicts), agreement=_agreement(rows, judged),
        popularity=f"known for {labelled} of {len(rows)} questions" if labelled else popularity,
        cases=tuple(listed), cases_in_all=len(wrong), left_out=dict(runs.left_out), notes=runs.notes,
    )  # fmt: skip


Row = tuple[QuestionPair, EvidenceMatch]


def _case(
    pair: QuestionPair, seen: EvidenceMatch, groups: Mapping[str, str], verdict: EvidenceVerdict | None
) -> RetrievalCase:
    contained = seen.contained if verdict is None or verdict.contained is None else verdict.contained
    taken = seen.taken if verdict is None or verdict.taken is None else verdict.taken
    fault = fault_of(seen.results, pair.first.correct, contained, taken)
    return RetrievalCase(
        unit=seen.unit, fault=fault, question=shorten(pair.second.question, LONGEST),
        reference=pair.second.reference, without=shorten(pair.first.answer, LONGEST),
        answer=shorten(pair.second.answer, LONGEST), label=pair.second.label,
        was_correct=pair.first.correct, contained=contained, taken=taken, results=seen.results,
        containing=seen.containing, excerpt=seen.excerpt, groups=dict(groups), why=_why(fault, seen, pair, verdict),
    )  # fmt: skip


def fault_of(results: int, was_correct: bool, contained: bool | None, taken: bool | None) -> Fault:
    """Return the fault of a question that is wrong with evidence; without results there is nothing to use.

    A provider's own search shows no results, and nobody can say what they contain.
    """
    if not results and contained is not None:
        return Fault.NOT_FOUND
    if was_correct or taken:
        return Fault.USED_WRONGLY
    if contained is None:
        return Fault.UNDECIDED
    return Fault.NOT_USED if contained else Fault.NOT_FOUND


def _why(fault: Fault, seen: EvidenceMatch, pair: QuestionPair, verdict: EvidenceVerdict | None) -> str:
    if verdict is not None and verdict.reason:
        return shorten(verdict.reason, LONGEST)
    numbers = ", ".join(map(str, seen.containing))
    if not seen.results and seen.contained is not None:
        return "the search found nothing"
    if fault is Fault.USED_WRONGLY:
        return "it was correct without evidence" if pair.first.correct else "the wrong answer occurs in the results"
    if fault is Fault.UNDECIDED and not seen.results:
        return "the provider does not show what it found"
    if fault is Fault.UNDECIDED:
        return "the rule cannot look for the reference answer, which is too long or too general"
    return f"the reference answer is in result {numbers}" if seen.containing else "no result has the reference answer"


def _found_figures(rows: Sequence[Row]) -> dict[str, Result]:
    decided = [(pair, evidence) for pair, evidence in rows if evidence.contained is not None]
    has, has_not = ([pair for pair, evidence in decided if evidence.contained is value] for value in (True, False))
    return {
        "found": share_result("found", len(has), len(decided), len(rows) - len(decided)),
        "correct where found": share_result("correct where found", sum(pair.second.correct for pair in has), len(has)),
        "correct where not found": share_result(
            "correct where not found", sum(pair.second.correct for pair in has_not), len(has_not)
        ),
    }


def _faults(wrong: Sequence[RetrievalCase]) -> dict[str, int]:
    counts = Counter(case.fault for case in wrong)
    return {fault.value: counts[fault] for fault in Fault}


def _agreement(rows: Sequence[Row], judged: Mapping[str, EvidenceVerdict]) -> Result | None:
    agreeing = [
        evidence.contained == verdict.contained
        for _, evidence in rows
        if evidence.contained is not None and (verdict := judged.get(evidence.unit)) and verdict.contained is not None
    ]
    return share_result("agreement", sum(agreeing), len(agreeing)) if agreeing else None


# ---- popularity ------------------------------------------------------------------------------------------------


def _groups(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the groups of each question, with bands of popularity and of its substitutes."""
    popularity = {evidence.unit: pair.groups["popularity"] for pair, evidence in rows if "popularity" in pair.groups}
    try:
        numbers = {unit: float(value) for unit, value in popularity.items()}
    except ValueError:
        numbers = {}
    results = {each.unit: each.results for _, each in rows if each.results or each.contained is not None}
    coverage = {evidence.unit: evidence.coverage for _, evidence in rows if evidence.coverage is not None}
    banded = {
        "popularity": cut_bands(numbers) if numbers and all(map(np.isfinite, numbers.values())) else popularity,
        "results": {unit: str(count) if count < 10 else "10 and more" for unit, count in results.items()},
        "coverage": cut_bands(coverage),
    }
    return [
        {name: group for name, group in pair.groups.items() if name != "popularity"}
        | {name: band[evidence.unit] for name, band in banded.items() if evidence.unit in band}
        for pair, evidence in rows
    ]


def cut_bands(values: Mapping[str, float]) -> dict[str, str]:
    """Return four bands of about equal size, from the lowest; equal values share a band, so there may be fewer."""
    if not values:
        return {}
    numbers = np.array(list(values.values()), dtype=np.float64)
    edges = np.unique(np.quantile(numbers, np.arange(1, BANDS) / BANDS, method="inverted_cdf"))
    indices = np.searchsorted(edges, numbers, side="left")
    numbering = {index: number for number, index in enumerate(np.unique(indices).tolist(), 1)}
    spans = {index: numbers[indices == index] for index in numbering}
    names = {
        index: f"{numbering[index]}: {_digits(band.min())} to {_digits(band.max())}" for index, band in spans.items()
    }
    return {unit: names[index] for unit, index in zip(values, indices.tolist(), strict=True)}


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


# ---- words -----------------------------------------------------------------------------------------------------


def paragraph(result: RetrievalResult) -> str:
    """Return the result in plain words."""
    change, matrix = result.change, result.change.matrix
    n, missing = change.gain.n, sum(result.left_out.values())
    if not n:
        return (
            f"No question of {result.benchmark} has a grade both without and with evidence, so nothing can be compared."
        )
    parts = [
        f"Of {n} questions, {result.model} answers {full_share(result.figures[NAMES[0]])} correctly without evidence"
        f" and {full_share(result.figures[NAMES[1]])} with it: a change of {full_points(result.figures[GAIN])}.",
        significance_words(change.p, change.gain),
        f"Evidence corrected {matrix.second} wrong answers and spoiled {matrix.first} correct ones.",
        _fault_words(result),
        language_words(result.by),
        uncertain_words(result.uncertain),
        f"{missing} more questions could not be compared, because an answer or a grade is missing." if missing else "",
    ]
    return " ".join(filter(None, parts))


def _fault_words(result: RetrievalResult) -> str:
    wrong = result.cases_in_all
    if not wrong:
        return "No question is wrong with evidence."
    if result.search == PROVIDER:
        return (
            f"{wrong} are wrong with evidence. The provider does not show what its search found, so that nobody can say"
            " whether the search or the model failed."
        )
    counts = {name: round((share.value or 0.0) * share.n) for name, share in result.faults.items()}
    by = "a judge and, where it failed, a rule" if result.judge else "a rule that misses paraphrases"
    undecided = counts[Fault.UNDECIDED]
    return (
        f"Of the {wrong} that are wrong with evidence, {counts[Fault.NOT_FOUND]} are a problem of the search (no result"
        f" has the answer), in {counts[Fault.NOT_USED]} the answer was found but not used, and in"
        f" {counts[Fault.USED_WRONGLY]} the evidence misled the model"
        + (f"; {undecided} are undecided" if undecided else "")
        + f". The decision was made by {by}."
    )
