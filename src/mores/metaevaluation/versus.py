"""Two sets of judgements compared: which judge is better, or which texts are better.

With a dataset, two judges of the same samples: which finds its errors better. Without one, the same judge on two
versions of the same texts, for example by two models: which has the better scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mores.errors import ConfigError, InputError
from mores.factory.gold import Gold
from mores.metaevaluation.compare import (
    FEWEST,
    PERMUTATIONS,
    adjust_groups,
    compare_accuracy,
    compare_scored,
    compared,
    shared,
)
from mores.metaevaluation.dataset import Dataset
from mores.metaevaluation.evaluate import Scored, join, label_groups
from mores.metaevaluation.records import JudgementComparison, MetricComparison
from mores.stats.paired import paired_difference
from mores.types import Judgement, Severity

Judgements = Mapping[str, Judgement]


def compare_judges(
    names: tuple[str, str],
    first_judgements: Judgements,
    second_judgements: Judgements,
    golds: Sequence[Gold],
    *,
    force: bool = False,
) -> JudgementComparison:
    """Return which of two judges of the same samples finds their errors better."""
    # Two judges may differ in everything but the data and the version of Mores; people's judgements have neither.
    different = _differences(first_judgements, second_judgements, only={"data", "mores"}, in_both=True)
    _refuse(names, different, "judges are comparable only on the same data", force)
    first, second = shared(join(golds, first_judgements), join(golds, second_judgements))
    if not first.golds:
        raise InputError(f"{names[0]} and {names[1]} have scored no sample of the dataset in common")
    overall = compare_scored(names, (first, second))
    return JudgementComparison(
        first=names[0],
        second=names[1],
        n=len(first.golds),
        left_out=len(golds) - len(first.golds),
        overall=tuple(overall),
        by=_by_group(names, golds, first, second),
    )


def compare_texts(
    names: tuple[str, str], first_judgements: Judgements, second_judgements: Judgements, *, force: bool = False
) -> JudgementComparison:
    """Return whose texts the judge scores higher, text by text."""
    # Scores of two judges have different meanings: everything but the data must be the same.
    different = _differences(first_judgements, second_judgements, without=frozenset({"data"}))
    _refuse(names, different, "scores are comparable only from the same judge", force)
    pairs = [
        (first_judgements[name].score, second_judgements[name].score)
        for name in first_judgements
        if name in second_judgements
    ]
    scored = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not scored:
        raise InputError(f"{names[0]} and {names[1]} have no scored text in common; texts are paired by their ids")
    first, second = np.array(scored).T
    measures = {"score": (first, second), "error_free": ((first >= 0) * 1.0, (second >= 0) * 1.0)}
    # A score has no lowest value: two texts may differ as far as any of these, and at least by a major error.
    most = {"score": max(-Severity.MAJOR.weight, float(np.ptp([first, second]))), "error_free": 1.0}
    overall = []
    for name, values in measures.items():
        test = paired_difference(*values, most=most[name], permutations=PERMUTATIONS)
        assert test is not None
        overall.append(compared(names, name, test, len(first)))
    total = len(first_judgements.keys() | second_judgements.keys())
    return JudgementComparison(
        first=names[0], second=names[1], n=len(scored), left_out=total - len(scored), overall=tuple(overall), by={}
    )


def _by_group(
    names: tuple[str, str], golds: Sequence[Gold], first: Scored, second: Scored
) -> dict[str, dict[str, MetricComparison]]:
    """Return the difference in scaled accuracy in every group that is large enough, adjusted within each grouping."""
    labels_by_id = dict(zip((gold.sample.id for gold in golds), label_groups(golds), strict=True))
    rows: dict[str, dict[str, list[int]]] = {}
    for row, gold in enumerate(first.golds):
        for grouping, group in labels_by_id[gold.sample.id]:
            rows.setdefault(grouping, {}).setdefault(group, []).append(row)
    by: dict[str, dict[str, MetricComparison]] = {}
    for grouping, groups in rows.items():
        large = {group: at for group, at in sorted(groups.items()) if len(at) >= FEWEST}
        by[grouping] = adjust_groups(
            {group: compare_accuracy(*names, first.take(at), second.take(at)) for group, at in large.items()}
        )
    return by


def check_data(name: str, judgements: Judgements, data: Dataset, *, can_force: bool = False) -> None:
    """Refuse judgements whose signature names other data than this dataset."""
    revisions = _fields(judgements).get("data", {data.revision})
    if revisions != {data.revision}:
        wrong = f"{name} is of data {' / '.join(sorted(revisions))}, {data.folder} ({data.split}) is {data.revision}"
        fix = "give the dataset that was judged" + (", or force the comparison" if can_force else "")
        raise ConfigError(f"{wrong}; {fix}", setting="force" if can_force else "")


def _differences(
    first: Judgements,
    second: Judgements,
    *,
    only: set[str] | None = None,
    without: frozenset[str] = frozenset(),
    in_both: bool = False,
) -> list[str]:
    fields = [_fields(first), _fields(second)]
    keys = sorted((fields[0].keys() | fields[1].keys()) - without)
    return [
        f"{key}: {' / '.join(sorted(a)) or 'none'} and {' / '.join(sorted(b)) or 'none'}"
        for key in keys
        if (only is None or key in only)
        and (a := fields[0].get(key, set())) != (b := fields[1].get(key, set()))
        and (not in_both or (a and b))
    ]


def _fields(judgements: Judgements) -> dict[str, set[str]]:
    """Return the values of every field of the signatures of scored judgements."""
    values: dict[str, set[str]] = {}
    for signature in {judgement.signature for judgement in judgements.values() if judgement.score is not None}:
        for key, value in signature.items():
            values.setdefault(key, set()).add(value)
    return values


def _refuse(names: tuple[str, str], different: list[str], rule: str, force: bool) -> None:
    if different and not force:
        lines = "\n  ".join(different)
        raise ConfigError(f"{names[0]} and {names[1]} differ:\n  {lines}\n{rule}, unless you force it", setting="force")
