"""Significant differences between metrics: paired tests on the samples that both scored.

Scaled accuracy is tested by permutation: the verdicts of the two metrics are swapped item by item at random, 1,000
times (ExCAM, Section 4). Statistics over pairs of samples are tested through the influence of each item (see
`stats.influence`): swapping scores would compare one metric's scale with the other's, and would need a pass over all
pairs each time.

Two sets of judgements are two judges of the same samples if there is a dataset: which finds its errors better. Without
one, they are of the same judge on two versions of the same texts, for example by two models: which has better scores.
Two runs of a benchmark are compared question by question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from numpy import nan

from mores.errors import ConfigError, InputError
from mores.factory.gold import Gold
from mores.metaevaluation.dataset import Dataset, find_groupings
from mores.metaevaluation.evaluate import Moved, Scored, group_of, influences, join, label_groups
from mores.metaevaluation.records import ChangedVerdict, GradedQuestion, JudgementComparison, MetricComparison
from mores.metric.groups import FEWEST, PLACE_NAMES, value_of
from mores.metric.summary import doubt
from mores.stats import influence
from mores.stats.paired import PairedDifference, paired_difference
from mores.stats.resampling import adjust_p_values
from mores.stats.results import difference_result
from mores.types import DEFAULT_INSTRUCTION, Judgement, Sample, Severity, Signature

Floats = npt.NDArray[np.float64]
UNPAIRED = (
    "texts are paired by their ids; rows without an id have the file's name and their line, so give them a column id"
)
"""Why no text may be in both of two runs."""
PERMUTATIONS = 1000


def compare_all(metrics: Mapping[str, Scored], moved: Mapping[str, Moved]) -> list[MetricComparison]:
    """Return every pair of metrics, with p-values adjusted within each statistic."""
    comparisons: list[MetricComparison] = []
    for names in combinations(metrics, 2):
        parts = shared(metrics[names[0]], metrics[names[1]])
        influenced = [
            moved[name] if part is metrics[name] else influences(part) for name, part in zip(names, parts, strict=True)
        ]
        tests = _compare(names, parts, (influenced[0], influenced[1]))
        comparisons += (with_lost(test, metrics[names[0]], metrics[names[1]]) for test in tests)
    return adjust_within_statistics(comparisons)


def compare_groups(
    metrics: Mapping[str, Scored], golds: Sequence[Gold], by: Sequence[str] = ()
) -> list[MetricComparison]:
    """Compare the most accurate metric of every group with each other metric, adjusted within the group."""
    comparisons: list[MetricComparison] = []
    members: dict[tuple[str, str], set[str]] = defaultdict(set)
    for gold, groups in zip(golds, label_groups(golds, by), strict=True):
        for label in groups:
            members[label].add(gold.sample.id)
    for (grouping, group), ids in members.items():
        if len(ids) < FEWEST:
            continue
        scored_parts = {name: scored.among(ids) for name, scored in metrics.items()}
        parts = {name: part for name, part in scored_parts.items() if len(part.golds) >= FEWEST}
        best = max(parts, key=lambda name: float((parts[name].reported == parts[name].wrong).mean()), default="")
        others = [(name, *shared(parts[best], part)) for name, part in parts.items() if name != best]
        tests = [
            with_lost(test, parts[best], parts[name])
            for name, *pair in others
            if (test := compare_accuracy(best, name, *pair))
        ]
        comparisons += (
            test.model_copy(update={"grouping": grouping, "group": group}) for test in adjust_comparisons(tests)
        )
    return comparisons


def adjust_within_statistics(comparisons: Iterable[MetricComparison]) -> list[MetricComparison]:
    """Return the comparisons by statistic, with p-values adjusted for the number of each."""
    by_statistic: dict[str, list[MetricComparison]] = defaultdict(list)
    for comparison in comparisons:
        by_statistic[comparison.statistic].append(comparison)
    return [comparison for same in by_statistic.values() for comparison in adjust_comparisons(same)]


def adjust_groups(tests: Mapping[str, MetricComparison | None]) -> dict[str, MetricComparison]:
    """Return the comparisons of the groups that could be tested, with p-values adjusted for their number."""
    tested = {group: test for group, test in tests.items() if test}
    return dict(zip(tested, adjust_comparisons(list(tested.values())), strict=True))


def adjust_comparisons(comparisons: Sequence[MetricComparison]) -> list[MetricComparison]:
    """Return the comparisons with p-values adjusted for their number."""
    if not comparisons:
        return []
    p_values = adjust_p_values([comparison.p for comparison in comparisons])
    return [c.model_copy(update={"adjusted": float(p)}) for c, p in zip(comparisons, p_values, strict=True)]


def compare_accuracy(first_name: str, second_name: str, first: Scored, second: Scored) -> MetricComparison | None:
    """Return the difference in scaled accuracy of two metrics on the same samples."""
    hits = [(scored.reported == scored.wrong) * 2.0 for scored in (first, second)]
    test = paired_difference(*hits, groups=first.groups, most=2.0, permutations=PERMUTATIONS)
    return test and compared((first_name, second_name), "scaled_accuracy", test, len(first.golds))


def with_lost(comparison: MetricComparison, first: Scored, second: Scored) -> MetricComparison:
    """Return a comparison with what either metric could not score; of scaled accuracy, with the interval for that."""
    golds = {gold.sample.id: gold for gold in (*first.golds, *first.lost)}
    asked = [gold.sample.id for gold in (*second.golds, *second.lost) if gold.sample.id in golds]
    missing = len(asked) - comparison.n
    if not missing or comparison.statistic != "scaled_accuracy":
        return comparison.model_copy(update={"missing": missing}) if missing else comparison
    hits = []
    for scored in (first, second):
        by_id = dict(
            zip((gold.sample.id for gold in scored.golds), (scored.reported == scored.wrong) * 2.0, strict=True)
        )
        hits.append([by_id.get(name, np.nan) for name in asked])
    gap = difference_result("difference", *hits, groups=[group_of(golds[name]) for name in asked], most=2.0)
    return comparison.model_copy(update={"missing": missing, "whole": gap.whole})


def shared(first: Scored, second: Scored) -> tuple[Scored, Scored]:
    """Return both metrics on the samples that both scored, in the same order."""
    at = {gold.sample.id: row for row, gold in enumerate(second.golds)}
    rows = [(row, at[gold.sample.id]) for row, gold in enumerate(first.golds) if gold.sample.id in at]
    if len(rows) == len(first.golds) == len(second.golds) and all(row == other_row for row, other_row in rows):
        return first, second
    return first.take([row for row, _ in rows]), second.take([row for _, row in rows])


def _compare(
    names: tuple[str, str], parts: tuple[Scored, Scored], moved: tuple[Moved, Moved]
) -> Iterator[MetricComparison]:
    if accuracy := compare_accuracy(*names, *parts):
        yield accuracy
    for statistic, first in moved[0].items():
        second = moved[1][statistic]
        if first and second:
            yield compared(names, statistic, influence.compare(first, second, parts[0].groups), len(parts[0].golds))


def compared(
    names: tuple[str, str], statistic: str, test: influence.ZTest | PairedDifference, n: int
) -> MetricComparison:
    """Return the record of a test, its p-value not yet adjusted."""
    return MetricComparison(
        first=names[0], second=names[1], statistic=statistic, difference=test.difference, low=test.low, high=test.high,
        p=test.p_value, adjusted=test.p_value, n=n,
    )  # fmt: skip


Judgements = Mapping[str, Judgement]
Compares = Callable[[str, bool], bool]
"""Whether a field of signatures is compared, from its name and whether both sides have it."""


def compare_judges(
    names: tuple[str, str],
    first_judgements: Judgements,
    second_judgements: Judgements,
    golds: Sequence[Gold],
    *,
    by: Sequence[str] = (),
    force: bool = False,
) -> JudgementComparison:
    """Return which of two judges of the same samples finds their errors better, also by columns of the samples."""
    if not force:
        # Two judges may differ in everything but the data and the version of Mores; people's judgements have neither.
        rule, pair = "judges are comparable only on the same data", (first_judgements, second_judgements)
        _check_signatures(names, pair, rule, lambda key, in_both: in_both and key in ("data", "mores"))
    whole = join(golds, first_judgements), join(golds, second_judgements)
    first, second = shared(*whole)
    if not first.golds:
        raise InputError(f"{names[0]} and {names[1]} have scored no sample of the dataset in common")
    tests = _compare(names, (first, second), (influences(first), influences(second)))
    overall = [with_lost(test, *whole) for test in tests]
    changed = []
    for gold, one, other in zip(first.golds, first.judgements, second.judgements, strict=True):
        right = [((each.score or 0) < 0) == bool(gold.report.errors) for each in (one, other)]
        said = [
            f"{'right' if is_right else 'wrong'}: {_said(each)}"
            for is_right, each in zip(right, (one, other), strict=True)
        ]
        if right[0] != right[1]:
            changed.append(
                ChangedVerdict(
                    id=gold.sample.id,
                    asked=gold.sample.text,
                    first=said[0],
                    second=said[1],
                    difference=right[0] - right[1],
                )
            )
    return JudgementComparison(
        first=names[0],
        second=names[1],
        n=len(first.golds),
        left_out=len(golds) - len(first.golds),
        overall=tuple(overall),
        by=_by_group(names, golds, find_groupings(golds, by), whole, (first, second)),
        changed=tuple(changed),
    )


def compare_texts(
    names: tuple[str, str],
    first_judgements: Judgements,
    second_judgements: Judgements,
    *,
    by: Sequence[str] = (),
    force: bool = False,
    setting: str = "force",
) -> JudgementComparison:
    """Return whose texts the judge scores higher, text by text, also by columns of the first's texts."""
    if not force:
        # Scores of two judges have different meanings: everything but the data must be the same.
        rule, judgements = "scores are comparable only from the same judge", (first_judgements, second_judgements)
        _check_signatures(names, judgements, rule, lambda key, _: key != "data", setting)
    pairs = [
        (first_judgements[name].score, second_judgements[name].score)
        for name in first_judgements
        if name in second_judgements
    ]
    scored = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not scored:
        raise InputError(f"{names[0]} and {names[1]} have no scored text in common; {UNPAIRED}")
    first, second = np.array(scored).T
    measures = {"score": (first, second), "error_free": ((first >= 0) * 1.0, (second >= 0) * 1.0)}
    # A score has no lowest value: two texts may differ as far as any of these, and at least by a major error.
    most = {"score": max(-Severity.MAJOR.weight, float(np.ptp([first, second]))), "error_free": 1.0}
    total = len(first_judgements.keys() | second_judgements.keys())
    missing, nothing = total - len(scored), np.full(total - len(scored), np.nan)
    overall = []
    for name, values in measures.items():
        test = paired_difference(*values, most=most[name], permutations=PERMUTATIONS)
        assert test is not None
        found = compared(names, name, test, len(first))
        if missing:
            # A score has no lowest value, so only a share has an interval that covers the texts without one.
            gap = difference_result(name, *(np.append(column, nothing) for column in measures["error_free"]))
            found = found.model_copy(update={"missing": missing, "whole": gap.whole if name == "error_free" else None})
        overall.append(found)
    shared = [name for name in first_judgements if name in second_judgements]
    both = [
        np.array([nan if (score := of[name].score) is None else score for name in shared])
        for of in (first_judgements, second_judgements)
    ]
    samples = [first_judgements[name].sample or Sample(id=name, text="") for name in shared]
    labels = {
        column: [value_of(sample, column) or "" for sample in samples] for column in dict.fromkeys((*by, *PLACE_NAMES))
    }
    changed = []
    for name, one in first_judgements.items():
        other = second_judgements.get(name)
        if other is not None and one.score is not None and other.score is not None:
            # Severities alone: a text without error has a probability as its score, which is never quite the same.
            difference = min(one.score, 0.0) - min(other.score, 0.0)
            asked = (one.instruction if one.instruction != DEFAULT_INSTRUCTION else None) or one.text or ""
            if difference or (one.score < 0) != (other.score < 0):
                changed.append(
                    ChangedVerdict(id=name, asked=asked, first=_said(one), second=_said(other), difference=difference)
                )
    changed.sort(key=lambda change: -abs(change.difference))
    return JudgementComparison(
        first=names[0],
        second=names[1],
        n=len(scored),
        left_out=missing,
        overall=tuple(overall),
        by=_by_columns(names, "score", (both[0], both[1]), labels, by, most["score"]),
        changed=tuple(changed),
    )


def _by_columns(
    names: tuple[str, str],
    statistic: str,
    values: tuple[Floats, Floats],
    labels: Mapping[str, Sequence[str]],
    asked: Sequence[str],
    most: float = 1.0,
) -> dict[str, dict[str, MetricComparison]]:
    """Return the paired difference in every group that is large enough, adjusted within each column; nan is missing.

    Columns that nobody `asked` for are there if they have several such groups. The last group, called "", has no value.
    """
    by: dict[str, dict[str, MetricComparison]] = {}
    for column, groups in labels.items():
        members: dict[str, list[int]] = defaultdict(list)
        for row, group in enumerate(groups):
            members[group].append(row)
        tests: dict[str, MetricComparison | None] = {}
        for group, rows in sorted(members.items(), key=lambda pair: (not pair[0], pair[0])):  # "" has no value
            pair = [side[rows] for side in values]
            known = ~np.isnan(pair[0] - pair[1])
            n = int(known.sum())
            test = paired_difference(*(side[known] for side in pair), most=most, permutations=PERMUTATIONS)
            if n < FEWEST or test is None:
                continue
            found = compared(names, statistic, test, n)
            if missing := len(rows) - n:
                # A score has no lowest value, so only a share has an interval that covers what is missing.
                whole = difference_result(statistic, *pair).whole if statistic != "score" else None
                found = found.model_copy(update={"missing": missing, "whole": whole})
            tests[group] = found
        if column in asked or len(tests) > 1:
            by[column] = adjust_groups(tests)
    return by


def _said(judgement: Judgement) -> str:
    """Return the errors of a text in words."""
    if judgement.report and judgement.report.errors:
        return ", ".join(f"{error.severity} “{error.quote}”" for error in judgement.report.errors)
    no_error = "not known" if doubt(judgement) else "no error"
    return no_error if (judgement.score or 0) >= 0 else f"score {judgement.score:g}"


@runtime_checkable
class GradedRun(Protocol):
    """A run of a benchmark, whose questions have grades."""

    @property
    def signature(self) -> Signature:
        """The parts that must be the same for two results to be comparable."""

    def graded(self) -> dict[str, GradedQuestion]:
        """Return each question, by its id."""

    def columns(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return the group of each question that has one, by its id, for each of these columns."""


def compare_questions(
    names: tuple[str, str], first: GradedRun, second: GradedRun, *, by: Sequence[str] = (), force: bool = False
) -> JudgementComparison:
    """Return which of two models answers the questions of a benchmark better, question by question.

    Also by columns of the questions.
    """
    different = [
        f"{key}: {first.signature.get(key)} and {second.signature.get(key)}"
        for key in ("task", "data")
        if first.signature.get(key) != second.signature.get(key)
    ]
    if different and not force:
        lines = "\n  ".join(different)
        rule = "models are comparable only on the same questions, unless you force it"
        raise ConfigError(f"{names[0]} and {names[1]} differ:\n  {lines}\n{rule}", setting="force")
    one, other = first.graded(), second.graded()
    shared = [name for name in one if name in other]
    credit = [
        np.array([nan if (value := graded[name].credit) is None else value for name in shared])
        for graded in (one, other)
    ]
    known = ~np.isnan(credit[0]) & ~np.isnan(credit[1])
    test = paired_difference(credit[0][known], credit[1][known], permutations=PERMUTATIONS)
    if test is None:
        raise InputError(f"{names[0]} and {names[1]} have no graded question in common")
    n = int(known.sum())
    missing = len(one.keys() | other.keys()) - n
    overall = compared(names, "credit", test, n)
    if n < len(shared):
        whole = difference_result("credit", *credit).whole
        overall = overall.model_copy(update={"missing": len(shared) - n, "whole": whole})
    changed = [
        ChangedVerdict(
            id=name,
            asked=one[name].asked,
            first=f"{one[name].label}: {one[name].answer}",
            second=f"{other[name].label}: {other[name].answer}",
            difference=float(gap),
        )
        for name, gap in zip(shared, credit[0] - credit[1], strict=True)
        if gap and not np.isnan(gap)
    ]
    changed.sort(key=lambda change: -abs(change.difference))
    asked = first.columns(by)
    labels = {
        column: [groups.get(name, "") for name in shared]
        for column, groups in (asked | first.columns([*PLACE_NAMES, "topic"])).items()
    }
    return JudgementComparison(
        first=names[0],
        second=names[1],
        n=n,
        left_out=missing,
        overall=(overall,),
        by=_by_columns(names, "credit", (credit[0], credit[1]), labels, [*asked]),
        changed=tuple(changed),
    )


def _by_group(
    names: tuple[str, str],
    golds: Sequence[Gold],
    asked: Sequence[str],
    whole: tuple[Scored, Scored],
    both: tuple[Scored, Scored],
) -> dict[str, dict[str, MetricComparison]]:
    """Return the difference in scaled accuracy in every group that is large enough, adjusted within each grouping."""
    members: dict[str, dict[str, set[str]]] = {}
    for gold, labels in zip(golds, label_groups(golds, asked), strict=True):
        for grouping, group in labels:
            members.setdefault(grouping, {}).setdefault(group, set()).add(gold.sample.id)
    by: dict[str, dict[str, MetricComparison]] = {}
    for grouping, groups in members.items():
        tests = {}
        for group, ids in sorted(groups.items(), key=lambda pair: (not pair[0], pair[0])):
            first, second = (scored.among(ids) for scored in both)
            if len(first.golds) >= FEWEST and (test := compare_accuracy(*names, first, second)):
                tests[group] = with_lost(test, *(scored.among(ids) for scored in whole))
        if tests or grouping in asked:
            by[grouping] = adjust_groups(tests)
    return {grouping: by[grouping] for grouping in dict.fromkeys((*asked, *by)) if grouping in by}


def check_data(name: str, judgements: Judgements, data: Dataset, *, can_force: bool = False) -> None:
    """Refuse judgements whose signature names other data than this dataset."""
    revisions = _fields(judgements).get("data", {data.revision})
    if revisions != {data.revision}:
        wrong = f"{name} is of data {' / '.join(sorted(revisions))}, {data.folder} ({data.split}) is {data.revision}"
        fix = "give the dataset that was judged" + (", or force the comparison" if can_force else "")
        raise ConfigError(f"{wrong}; {fix}", setting="force" if can_force else "")


def _check_signatures(
    names: tuple[str, str], pair: Sequence[Judgements], rule: str, compares: Compares, setting: str = "force"
) -> None:
    """Raise ConfigError where two sets of judgements differ in a field of their signatures that is compared."""
    first, second = map(_fields, pair)
    different = [
        f"{key}: {' / '.join(sorted(a)) or 'none'} and {' / '.join(sorted(b)) or 'none'}"
        for key in sorted(first.keys() | second.keys())
        if (a := first.get(key, set())) != (b := second.get(key, set())) and compares(key, bool(a and b))
    ]
    if different:
        lines = "\n  ".join(different)
        rule += ", unless you force it" if setting == "force" else ""
        raise ConfigError(f"{names[0]} and {names[1]} differ:\n  {lines}\n{rule}", setting=setting)


def _fields(judgements: Judgements) -> dict[str, set[str]]:
    """Return the values of every field of the signatures of scored judgements."""
    values: dict[str, set[str]] = {}
    for signature in {judgement.signature for judgement in judgements.values() if judgement.score is not None}:
        for key, value in signature.items():
            values.setdefault(key, set()).add(value)
    return values
