"""What evidence changes: the same model on the same questions without and with the results of a search.

MSQA, Section 4.2.3. A gain with its interval and tests, by language, topic, region and popularity; and of each question
that is wrong with evidence, which of three things went wrong:

| fault | when |
| --- | --- |
| used wrongly | it was correct without evidence, or the wrong answer stands in the results |
| found but not used | a result has the reference answer, and the model said something else |
| evidence not found | no result has it |

The first that holds counts, from the top. Whether a result has an answer is decided by rule (`evidence.py`), and
where the rule cannot tell, the question is undecided unless a judge is asked (`EvidenceJudge`). What is paraphrased is
missed, so without a judge "found but not used" and the wrong answers taken from the results are counted too low.

Popularity is taken from an item's metadata or labels where it is there, as a number or a word. Two stand-ins are always
given, and are no more than they say: `results` is how many results there were, and `coverage` the share of the
different words of the query that stand in at least one result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import numpy as np

from mores.bench.benchmark import Label
from mores.bench.folder import EVIDENCE
from mores.diagnose.change import (
    GAIN,
    By,
    Change,
    Uncertain,
    change_of,
    changes_by,
    language_words,
    sureness,
    uncertain_of,
    uncertain_words,
)
from mores.diagnose.evidence import NAMES, EvidenceVerdict, Runs, Seen
from mores.diagnose.paired import Pair, map_groups, short
from mores.errors import InputError
from mores.show import full_points, full_share
from mores.stats.results import share_result
from mores.types import Record, Result, Signature

CASES = 100
"""Most questions that are listed of each fault."""
BANDS = 4


class Fault(StrEnum):
    """Why a question is wrong with evidence."""

    NOT_FOUND = "evidence not found"
    NOT_USED = "found but not used"
    USED_WRONGLY = "used wrongly"
    UNDECIDED = "undecided"
    """By rule it cannot be said whether a result has the answer."""


# ---- the result ------------------------------------------------------------------------------------------------


class RetrievalCase(Record):
    """One question that is wrong with evidence."""

    unit: str
    fault: Fault
    question: str
    reference: tuple[str, ...]
    without: str
    """What was said without evidence."""
    answer: str
    """What was said with evidence."""
    label: Label | None
    was_right: bool
    contained: bool | None
    taken: bool | None
    results: int
    where: tuple[int, ...]
    """Results that have the reference answer, by rule."""
    excerpt: str
    groups: dict[str, str]
    why: str
    """The judge's words, or the rule's."""


class RetrievalResult(Record):
    """What evidence changes for one model."""

    model: str
    benchmark: str
    search: str
    signature: Signature
    figures: dict[str, Result]
    """Right without and with evidence, the gain; how often results have the answer, by rule, and what is right then."""
    change: Change
    by: By
    """Grouping, group; `results` and `coverage` are stand-ins for popularity."""
    found_by: dict[str, dict[str, Result]]
    """Share of questions whose results have the answer, by the same groups."""
    faults: dict[str, Result]
    """Share of each fault among the questions that are wrong with evidence."""
    faults_by: dict[str, dict[str, dict[str, int]]]
    """Grouping, group, fault: how many."""
    overlap: dict[str, int]
    """Questions used wrongly, by whether the results had the answer."""
    uncertain: Uncertain
    judge: str | None
    judged: dict[str, int]
    """Verdicts of the judge: given, and not given by kind of failure."""
    agreement: Result | None
    """Share of the questions on which judge and rule agree whether the answer is there, where both say."""
    popularity: str
    """Where popularity is from."""
    cases: tuple[RetrievalCase, ...]
    cases_in_all: int
    left_out: dict[str, int]
    """Questions that could not be compared, by reason."""
    notes: tuple[str, ...] = ()


def diagnose_retrieval(
    runs: Runs, seen: Mapping[str, Seen], judged: Mapping[str, EvidenceVerdict] | None = None, judge: str | None = None
) -> RetrievalResult:
    """All that two runs say; `judged` is what a judge says, and `judge` its identity."""
    rows = [(pair, _of(pair, seen, runs)) for pair in runs.pairs]
    groups = _groups(rows)
    wrong = [
        _case(pair, own, group, (judged or {}).get(own.unit))
        for (pair, own), group in zip(rows, groups, strict=True)
        if not pair.second.right
    ]
    left = sum(runs.left_out.values())
    change = change_of(runs.pairs, NAMES, left)
    return RetrievalResult(
        model=runs.with_.result.model, benchmark=runs.with_.result.benchmark, search=runs.with_.fields["search"],
        signature=runs.signature(judge or "rule"), figures=change.figures | _found(rows), change=change,
        by=changes_by(runs.pairs, groups, NAMES), found_by=map_groups(lambda some: _found(some)["found"], rows, groups),
        faults={name: share_result(name, count, len(wrong)) for name, count in _faults(wrong).items()},
        faults_by=map_groups(_faults, wrong, [case.groups for case in wrong]), overlap=_overlap(wrong), judge=judge,
        uncertain=uncertain_of(runs.pairs, NAMES),
        judged=_verdicts(judged or {}), agreement=_agreement(rows, judged or {}), popularity=_popularity(rows),
        cases=tuple(_listed(wrong)), cases_in_all=len(wrong), left_out=dict(runs.left_out), notes=runs.notes,
    )  # fmt: skip


Row = tuple[Pair, Seen]


def _of(pair: Pair, seen: Mapping[str, Seen], runs: Runs) -> Seen:
    if pair.second.unit not in seen:
        path = runs.with_.folder.path / EVIDENCE
        raise InputError(
            f"{path}: nothing about {pair.second.unit}, which was asked; run the benchmark with the search again"
        )
    return seen[pair.second.unit]


def _case(pair: Pair, seen: Seen, groups: Mapping[str, str], verdict: EvidenceVerdict | None) -> RetrievalCase:
    contained = seen.contained if verdict is None or verdict.contained is None else verdict.contained
    taken = seen.taken if verdict is None or verdict.taken is None else verdict.taken
    fault = fault_of(seen.results, pair.first.right, contained, taken)
    return RetrievalCase(
        unit=seen.unit, fault=fault, question=short(pair.second.question), reference=pair.second.reference,
        without=short(pair.first.answer or ""), answer=short(pair.second.answer or ""), label=pair.second.label,
        was_right=pair.first.right, contained=contained, taken=taken, results=seen.results, where=seen.where,
        excerpt=seen.excerpt, groups=dict(groups), why=_why(fault, seen, pair, verdict),
    )  # fmt: skip


def fault_of(results: int, was_right: bool, contained: bool | None, taken: bool | None) -> Fault:
    """What went wrong with a question that is wrong with evidence; without results there is nothing to use."""
    if not results:
        return Fault.NOT_FOUND
    if was_right or taken:
        return Fault.USED_WRONGLY
    if contained is None:
        return Fault.UNDECIDED
    return Fault.NOT_USED if contained else Fault.NOT_FOUND


def _why(fault: Fault, seen: Seen, pair: Pair, verdict: EvidenceVerdict | None) -> str:
    if verdict is not None and verdict.reason:
        return short(verdict.reason)
    numbers = ", ".join(map(str, seen.where))
    if not seen.results:
        return "the search found nothing"
    if fault is Fault.USED_WRONGLY:
        return "it was right without evidence" if pair.first.right else "the wrong answer stands in the results"
    if fault is Fault.UNDECIDED:
        return "the reference answer is too long, or no words of its own, to be looked for by rule"
    return f"the reference answer stands in result {numbers}" if seen.where else "no result has the reference answer"


def _found(rows: Sequence[Row]) -> dict[str, Result]:
    told = [(pair, own) for pair, own in rows if own.contained is not None]
    has, has_not = ([pair for pair, own in told if own.contained is value] for value in (True, False))
    return {
        "found": share_result("found", len(has), len(told), len(rows) - len(told)),
        "right where found": share_result("right where found", sum(one.second.right for one in has), len(has)),
        "right where not found": share_result(
            "right where not found", sum(one.second.right for one in has_not), len(has_not)
        ),
    }


def _faults(wrong: Sequence[RetrievalCase]) -> dict[str, int]:
    counts = Counter(case.fault for case in wrong)
    return {fault.value: counts[fault] for fault in Fault}


def _overlap(wrong: Sequence[RetrievalCase]) -> dict[str, int]:
    names = {True: "the answer was there", False: "the answer was not there", None: "undecided"}
    counts = Counter(case.contained for case in wrong if case.fault is Fault.USED_WRONGLY)
    return {name: counts[value] for value, name in names.items()}


def _verdicts(judged: Mapping[str, EvidenceVerdict]) -> dict[str, int]:
    return dict(Counter(one.failure.kind.value if one.failure else "given" for one in judged.values()))


def _agreement(rows: Sequence[Row], judged: Mapping[str, EvidenceVerdict]) -> Result | None:
    both = [
        own.contained == verdict.contained
        for _, own in rows
        if own.contained is not None and (verdict := judged.get(own.unit)) and verdict.contained is not None
    ]
    return share_result("agreement", sum(both), len(both)) if both else None


def _listed(wrong: Iterable[RetrievalCase]) -> Iterator[RetrievalCase]:
    """The first of each fault."""
    times: Counter[Fault] = Counter()
    for case in wrong:
        times[case.fault] += 1
        if times[case.fault] <= CASES:
            yield case


# ---- popularity ------------------------------------------------------------------------------------------------


def _groups(rows: Sequence[Row]) -> list[dict[str, str]]:
    """The groups of each question, with bands of popularity and of its stand-ins."""
    known = {own.unit: pair.groups["popularity"] for pair, own in rows if "popularity" in pair.groups}
    banded = {
        "popularity": _numeric(known) or known,
        "results": {own.unit: _count(own.results) for _, own in rows},
        "coverage": bands({own.unit: own.coverage for _, own in rows if own.coverage is not None}),
    }
    return [
        {name: group for name, group in pair.groups.items() if name != "popularity"}
        | {name: band[own.unit] for name, band in banded.items() if own.unit in band}
        for pair, own in rows
    ]


def _numeric(known: Mapping[str, str]) -> dict[str, str]:
    try:
        numbers = {unit: float(value) for unit, value in known.items()}
    except ValueError:
        return {}
    return bands(numbers) if all(map(np.isfinite, numbers.values())) else {}


def _count(results: int) -> str:
    return str(results) if results < 10 else "10 and more"


def bands(values: Mapping[str, float]) -> dict[str, str]:
    """Four bands of about equally many, from the lowest; equal values are in the same, so there may be fewer."""
    if not values:
        return {}
    numbers = np.array(list(values.values()), dtype=np.float64)
    edges = np.unique(np.quantile(numbers, np.arange(1, BANDS) / BANDS, method="inverted_cdf"))
    places = np.searchsorted(edges, numbers, side="left")
    used = {place: number for number, place in enumerate(np.unique(places).tolist(), 1)}
    spans = {place: numbers[places == place] for place in used}
    names = {place: f"{used[place]}: {_digits(own.min())} to {_digits(own.max())}" for place, own in spans.items()}
    return {unit: names[place] for unit, place in zip(values, places.tolist(), strict=True)}


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _popularity(rows: Sequence[Row]) -> str:
    known = sum("popularity" in pair.groups for pair, _ in rows)
    if known:
        return f"said of {known} of {len(rows)} questions"
    return "not known; `results` and `coverage` say how much the search finds, which is not the same"


# ---- words -----------------------------------------------------------------------------------------------------


def paragraph(result: RetrievalResult) -> str:
    """What it means, for people who do not program."""
    change, matrix = result.change, result.change.matrix
    n = change.gain.n
    if not n:
        return f"No question of {result.benchmark} has a grade both without and with evidence: nothing can be compared."
    parts = [
        f"Of {n} questions, {result.model} has {full_share(result.figures[NAMES[0]])} right without evidence and"
        f" {full_share(result.figures[NAMES[1]])} with it: a change of {full_points(result.figures[GAIN])}.",
        sureness(change.p, n),
        f"Evidence put {matrix.second} right that were wrong and spoiled {matrix.first} that were right.",
        _fault_words(result),
        language_words(result.by),
        uncertain_words(result.uncertain),
        _left_words(result),
    ]
    return " ".join(filter(None, parts))


def _fault_words(result: RetrievalResult) -> str:
    wrong = result.cases_in_all
    if not wrong:
        return "No question is wrong with evidence."
    counts = {name: round((share.value or 0.0) * share.n) for name, share in result.faults.items()}
    by = "a judge and, where it said nothing, a rule" if result.judge else "a rule that misses paraphrases"
    undecided = counts[Fault.UNDECIDED]
    return (
        f"Of the {wrong} that are wrong with evidence, {counts[Fault.NOT_FOUND]} are a problem of the search (no result"
        f" has the answer), in {counts[Fault.NOT_USED]} the answer was there and was not used, and in"
        f" {counts[Fault.USED_WRONGLY]} the evidence misled the model"
        + (f"; of {undecided} it cannot be said" if undecided else "")
        + f". This was decided by {by}."
    )


def _left_words(result: RetrievalResult) -> str:
    left = sum(result.left_out.values())
    return f"{left} more questions could not be compared, because an answer or a grade is missing." if left else ""
