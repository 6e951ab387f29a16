"""One metric against the gold reports: every statistic, overall and by group, with intervals.

A metric reports an error in a sample if its score is below 0. Samples of one source item depend on each other, so
intervals resample, or add up, whole groups of them. Samples without a score are counted and excluded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add

import numpy as np
import numpy.typing as npt

from mores.culture import roll_up
from mores.factory.gold import Gold
from mores.language.units import units
from mores.metaevaluation.records import GROUPINGS, Curve, MetricEvaluation, ScoreBins
from mores.metric.groups import value_of
from mores.stats import classification, correlation, influence, spans, ties
from mores.stats.calibration import confidence_results
from mores.stats.classification import Bools, Floats, ratios
from mores.stats.explanations import match_answer
from mores.stats.intervals import Moments, drawn_moments, limits_of
from mores.stats.missing import with_missing
from mores.stats.ratio import Ratio
from mores.stats.resampling import group_codes, resample_sums
from mores.stats.results import mean_result
from mores.stats.selective import make_cells
from mores.types import Error, Judgement, Result, Side, Signature

POINTS = 200
"""At most this many points of a curve are drawn."""
BINS = 24


@dataclass
class Scored:
    """The samples that a metric scored, with its judgements in the same order."""

    golds: Sequence[Gold]
    judgements: Sequence[Judgement]
    lost: Sequence[Gold] = ()
    """Samples that it could not score."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """The unscored samples by kind of failure, or `not known`."""

    @property
    def unscored(self) -> int:
        """The number of samples that it could not score."""
        return len(self.lost)

    @cached_property
    def gold(self) -> Floats:
        """Sum of the severities, 0 without errors."""
        weights = [sum(error.severity.weight for error in gold.report.errors) for gold in self.golds]
        return np.array(weights, dtype=np.float64)

    @cached_property
    def scores(self) -> Floats:
        return np.array([judgement.score for judgement in self.judgements], dtype=np.float64)

    @cached_property
    def groups(self) -> npt.NDArray[np.object_]:
        """Samples that depend on each other: those of an item, and of items with the same question."""
        return np.array([group_of(gold) for gold in self.golds], dtype=object)

    @cached_property
    def epsilon(self) -> float | None:
        """Scores that differ by at most this are tied, chosen to fit the gold scores best; None without pairs."""
        calibrated = ties.calibrate_ties(self.gold, self.scores)
        return calibrated.epsilon if calibrated else None

    @property
    def wrong(self) -> Bools:
        """True if the sample has an error."""
        return self.gold < 0

    @property
    def reported(self) -> Bools:
        """True if the metric reports an error."""
        return self.scores < 0

    def among(self, ids: Collection[str]) -> Scored:
        """Return the samples with these ids."""
        rows = [row for row, gold in enumerate(self.golds) if gold.sample.id in ids]
        return self.take(rows, [gold for gold in self.lost if gold.sample.id in ids])

    def take(self, rows: Sequence[int], lost: Sequence[Gold] = ()) -> Scored:
        """Return some of the samples."""
        return Scored([self.golds[r] for r in rows], [self.judgements[r] for r in rows], lost)


def group_of(gold: Gold) -> str:
    """Return what samples that depend on each other have in common."""
    return gold.group or gold.sample.id


def join(golds: Sequence[Gold], judgements: Mapping[str, Judgement]) -> Scored:
    """Return the samples with a score, and the number of the others by reason."""
    pairs: list[tuple[Gold, Judgement]] = []
    lost: list[Gold] = []
    failures: Counter[str] = Counter()
    for gold in golds:
        judgement = judgements.get(gold.sample.id)
        if judgement is None or judgement.score is None:
            known = judgement.failure.kind.value if judgement and judgement.failure else "not known"
            failures[known if judgement else "missing"] += 1
            lost.append(gold)
        else:
            pairs.append((gold, judgement))
    return Scored([gold for gold, _ in pairs], [j for _, j in pairs], lost, dict(failures))


def evaluate(
    metric: str,
    golds: Sequence[Gold],
    scored: Scored,
    moved: Moved | None = None,
    *,
    baseline: bool = False,
    by: Sequence[str] = (),
) -> MetricEvaluation:
    """Return all figures of one metric, also by columns of the samples; `moved` are its `influences`, if known."""
    n, unscored = len(scored.golds), scored.unscored
    results = list(_counted(scored))
    for name, statistic in (moved or influences(scored)).items():
        low, high = statistic.interval(scored.groups) if statistic else (None, None)
        value = statistic.value if statistic else None
        results.append(Result(name=name, value=value, low=low, high=high, n=n, unscored=unscored))
    tau = correlation.kendall_tau_c(scored.gold, scored.scores)
    results.append(Result(name="kendall_c", value=tau, n=n, unscored=unscored))
    results += measure_reports(scored.golds, scored.judgements)
    # The fields of all signatures; `several` for one whose values differ.
    signatures = dict.fromkeys(judgement.signature for judgement in scored.judgements)
    names = dict.fromkeys(name for signature in signatures for name in signature)
    values = {name: {signature.get(name, "none") for signature in signatures} for name in names}
    common = {name: of.pop() if len(of) == 1 else "several" for name, of in values.items()}
    roc = classification.roc_curve(scored.wrong, -scored.scores)
    pr = classification.pr_curve(scored.wrong, -scored.scores)
    return MetricEvaluation(
        metric=metric,
        signature=Signature(common),
        n=n,
        unscored=unscored,
        failures=dict(scored.failures),
        scores={result.name: result for result in results},
        by=_by_group(golds, scored, by),
        roc=_thinned(roc.false_positive_rate, roc.true_positive_rate) if roc else None,
        # Precision is undefined if nothing is predicted; the usual 1 would draw a slope that was not measured.
        pr=_thinned(pr.recall, np.append(pr.precision[1], pr.precision[1:])) if pr else None,
        distribution=_distribution(scored),
        tie_epsilon=scored.epsilon,
        calibration=_calibration(scored),
        baseline=baseline,
    )


def _calibration(scored: Scored) -> dict[str, Result]:
    """Return how well confidence predicts whether a verdict is correct; nothing for a metric that gives none."""
    stated = [judgement.report.confidence if judgement.report else None for judgement in scored.judgements]
    rows = [row for row, confidence in enumerate(stated) if confidence is not None]
    if not rows:
        return {}
    confidence = np.array([stated[row] for row in rows], dtype=np.float64)
    correct = (scored.wrong == scored.reported)[rows]
    cells = make_cells(confidence, correct, group_codes(scored.groups[rows], len(rows)))
    return confidence_results(cells, scored.unscored + len(stated) - len(rows))


def scaled_accuracy(scored: Scored) -> Result:
    """Return scaled accuracy alone, with its interval."""
    return next(_counted(scored))


_Rates = Callable[[Floats], Floats]
"""From columns of true positives, false positives, false negatives and true negatives to a statistic; nan for none."""


def _mcc(c: Floats) -> Floats:
    tp, fp, fn, tn = c
    below = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    without_samples = np.where(c.sum(axis=0) > 0, 0.0, np.nan)
    coefficient: Floats = np.divide(tp * tn - fp * fn, below, out=without_samples, where=below > 0)
    return coefficient


SHARES: dict[str, Ratio] = {
    "scaled_accuracy": Ratio((1, 0, 0, 1), (1, 1, 1, 1)),
    "f1": Ratio((1, 0, 0, 0), (1, 0.5, 0.5, 0)),
    "correct_passed": Ratio((0, 0, 0, 1), (0, 1, 0, 1)),
    "errors_found": Ratio((1, 0, 0, 0), (1, 0, 1, 0)),
}
"""Shares of the four counts; scaled accuracy is twice its share minus 1."""
COUNTED: dict[str, _Rates] = {
    "scaled_accuracy": lambda c: 2 * SHARES["scaled_accuracy"].value(c) - 1,
    "balanced_accuracy": lambda c: (ratios(c[0], c[0] + c[2]) + ratios(c[3], c[1] + c[3])) / 2,
    "f1": SHARES["f1"].value,
    "mcc": _mcc,
    "correct_passed": SHARES["correct_passed"].value,
    "errors_found": SHARES["errors_found"].value,
}
"""Statistics of the four counts."""


def _counted(scored: Scored) -> Iterator[Result]:
    wrong, reported = scored.wrong, scored.reported
    cells = np.stack([wrong & reported, ~wrong & reported, wrong & ~reported, ~wrong & ~reported], axis=1).astype(
        np.float64
    )
    units = _by_item(cells, scored.groups)
    worst, best = units, units
    if scored.lost:
        # What was not judged may be judged wrongly (a miss, a false alarm) or correctly.
        groups = np.array([*scored.groups, *map(group_of, scored.lost)], dtype=object)
        rows = [int(bool(gold.report.errors)) for gold in scored.lost]
        worst, best = (_by_item(np.vstack([cells, np.eye(4)[kinds][rows]]), groups) for kinds in ([1, 2], [3, 0]))
    for name, rate in COUNTED.items():
        result = Result(name=name, value=None, n=len(scored.golds), unscored=scored.unscored)
        value = float(rate(cells.sum(axis=0)[:, None])[0])
        if not np.isnan(value):
            low, high = counted_interval(name, value, units)
            result = result.model_copy(update={"value": value, "low": low, "high": high})
        if scored.lost:
            ends = (counted_moments(name, counts) for counts in (worst, best))
            result = with_missing(result, *ends, least=_least(name))
        yield result


def _by_item(cells: Floats, groups: npt.NDArray[np.object_]) -> Floats:
    codes = group_codes(groups, len(cells))
    return np.stack([np.bincount(codes, weights=column).astype(np.float64) for column in cells.T], axis=1)


def _least(name: str) -> float:
    return -1.0 if name in ("mcc", "scaled_accuracy") else 0.0


def counted_interval(name: str, value: float, units: Floats) -> tuple[float, float]:
    """Return the interval of a statistic of groups × counts; any value where samples of one kind are not there."""
    least, moments = _least(name), counted_moments(name, units, value)
    low, high = limits_of(*moments) if moments else (0.0, 1.0)
    return least + (1 - least) * low, least + (1 - least) * high


def counted_moments(name: str, units: Floats, value: float | None = None) -> Moments | None:
    """Return the moments of a statistic of groups × counts; of one that is not a share, by resampled groups.

    These are based on samples with and without errors; None if there are none of one kind.
    """
    if name in SHARES:
        return SHARES[name].moments(units)
    with_error, without = ((units[:, columns].sum(axis=1) > 0).sum() for columns in ([0, 2], [1, 3]))
    if not with_error or not without:
        return None
    value = float(COUNTED[name](units.sum(axis=0)[:, None])[0]) if value is None else value
    rests_on = 2 / (1 / with_error + 1 / without)
    return drawn_moments(value, COUNTED[name](resample_sums(units).T), rests_on, least=_least(name))


Moved = dict[str, influence.Influenced | None]
"""The statistics over pairs of one metric."""


def influences(scored: Scored) -> Moved:
    """Return the statistics over pairs, in the form in which two metrics can be compared."""
    epsilon = scored.epsilon
    return {
        "kendall": influence.kendall_b(scored.gold, scored.scores),
        "tie_accuracy": None if epsilon is None else influence.tie_accuracy(scored.gold, scored.scores, epsilon),
        "auc": influence.area(scored.wrong, -scored.scores),
    }


# -- groups ------------------------------------------------------------------------------------------------


def label_groups(golds: Sequence[Gold], by: Sequence[str] = ()) -> list[list[tuple[str, str]]]:
    """Return the groupings and groups of each sample, with those by columns of the samples."""
    kinds: dict[str | None, set[str]] = defaultdict(set)
    for gold in golds:
        kinds[gold.sample.source].add(gold.kind)
    columns = [column for column in by if column not in GROUPINGS]
    return [
        _groups(gold, kinds[gold.sample.source] - {"correct"})
        + [(column, value_of(gold.sample, column) or "") for column in columns]
        for gold in golds
    ]


def _groups(gold: Gold, kinds: set[str]) -> list[tuple[str, str]]:
    sample = gold.sample
    country, part = roll_up(sample.region) if sample.region else (None, None)
    plain = {"source": sample.source, "language": sample.language, "region": country, "task": gold.task.value}
    groups = [(name, value or "unknown") for name, value in plain.items()] + ([("subregion", part)] if part else [])
    return groups + [("kind", kind) for kind in sorted(kinds if gold.kind == "correct" else {gold.kind})]


def count(labelled: Iterable[Iterable[tuple[str, str]]]) -> dict[str, dict[str, int]]:
    """Count labelled samples by grouping and group, the largest first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for groups_of_sample in labelled:
        for grouping, group in groups_of_sample:
            counts[grouping][group] += 1
    return {grouping: dict(groups.most_common()) for grouping, groups in counts.items()}


def _by_group(
    golds: Sequence[Gold], scored: Scored, by_columns: Sequence[str]
) -> dict[str, dict[str, dict[str, Result]]]:
    labels_by_id = dict(zip((gold.sample.id for gold in golds), label_groups(golds, by_columns), strict=True))
    rows: dict[tuple[str, str], list[int]] = defaultdict(list)
    lost: dict[tuple[str, str], list[Gold]] = defaultdict(list)
    for row, gold in enumerate(scored.golds):
        for label in labels_by_id[gold.sample.id]:
            rows[label].append(row)
    for gold in scored.lost:
        for label in labels_by_id[gold.sample.id]:
            lost[label].append(gold)
    by: dict[str, dict[str, dict[str, Result]]] = {}
    for grouping, groups in count(labels_by_id.values()).items():
        for group in groups:
            part = scored.take(rows[grouping, group], lost[grouping, group])
            tau = correlation.kendall_tau_b(part.gold, part.scores)
            kendall = Result(name="kendall", value=tau, n=len(part.golds), unscored=part.unscored)
            by.setdefault(grouping, {})[group] = {"scaled_accuracy": scaled_accuracy(part), "kendall": kendall}
    return by


# -- drawings ----------------------------------------------------------------------------------------------


def _thinned(x: Floats, y: Floats) -> Curve:
    at = np.unique(np.linspace(0, x.size - 1, POINTS).round().astype(int))
    return Curve(x=tuple(x[at].tolist()), y=tuple(y[at].tolist()))


def _distribution(scored: Scored) -> ScoreBins | None:
    """Return a histogram of the scores; those beyond the middle 98% are in the outermost bars."""
    if not scored.scores.size:
        return None
    low, high = np.percentile(scored.scores, [1, 99])
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    kinds = np.array([gold.kind for gold in scored.golds])
    inside = np.clip(scored.scores, edges[0], edges[-1])
    counts = {str(kind): tuple(np.histogram(inside[kinds == kind], edges)[0].tolist()) for kind in np.unique(kinds)}
    return ScoreBins(edges=tuple(edges.tolist()), counts=counts)


SIDES: tuple[Side, ...] = ("instruction", "text")


def measure_reports(golds: Sequence[Gold], judgements: Sequence[Judgement]) -> Iterator[Result]:
    """Yield statistics of the reports; none if the metric writes no reports."""
    pairs = [(gold, judgement) for gold, judgement in zip(golds, judgements, strict=True) if judgement.report]
    if pairs:
        if all(error.located for gold, _ in pairs for error in gold.report.errors):
            yield from _spans(pairs)
        yield from _explanations(pairs)


Pairs = Sequence[tuple[Gold, Judgement]]


def _spans(pairs: Pairs) -> Iterator[Result]:
    """Yield span F1 over all samples: of characters and words without severities, and of characters with them."""
    measures: dict[str, Callable[[list[spans.Span], list[spans.Span], str], spans.SpanCounts]] = {
        "span_f1": lambda marked, gold, _: spans.characters(marked, gold, credit=1.0),
        "span_f1_tokens": lambda marked, gold, text: spans.tokens(
            marked, gold, [(unit.start, unit.end) for unit in units(text)], credit=1.0
        ),
        "span_f1_severity": lambda marked, gold, _: spans.characters(marked, gold),
    }
    for name, measure in measures.items():
        counts = [
            measure(_marked(judgement.report.errors, side), _marked(gold.report.errors, side), gold.sample.side(side))
            for gold, judgement in pairs
            if judgement.report
            for side in SIDES
        ]
        yield Result(name=name, value=reduce(add, counts, spans.SpanCounts()).f1, n=len(pairs))


def _marked(errors: Sequence[Error], side: Side) -> list[spans.Span]:
    """Return the located errors of a side."""
    return [
        spans.Span(error.start, error.end, error.severity.weight)
        for error in errors
        if error.side == side and error.start is not None and error.end is not None
    ]


def _explanations(pairs: Pairs) -> Iterator[Result]:
    """Yield the share of the hard errors found whose explanation names the correct answer (ExCAM, Section 5)."""
    matches, groups = [], []
    for gold, judgement in pairs:
        if gold.answer and (report := judgement.report) and report.errors:
            text = "\n".join([report.explanation, *(error.explanation for error in report.errors)])
            matches.append(match_answer(text, gold.answer))
            groups.append(gold.group or gold.sample.id)
    if matches:
        yield mean_result("explanation_verbatim", [match.verbatim for match in matches], groups=groups)
        yield mean_result("explanation", [match.normalised for match in matches], groups=groups)
