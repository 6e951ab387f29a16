"""Severity: how much lower or higher each person rates than others do on comparable answers.

    result = fit(Model("rating", ("model*type",), ("language/annotator",)), data)
    severities = annotator_severity(result, data, "language:annotator")
    [(person.annotator, person.severity, person.low, person.high, person.points) for person in severities.people]

A person's severity is how much lower their random intercept in the model is than the mean of the people whom they can
be compared with: what remains after the effects of what they rated. Where everybody works within one level of
another factor, such as the language, people are compared within it, and the language's own level cancels. It is
pulled towards 0 the more, the fewer ratings there are. The only annotator of a language cannot be told from the
language: `confounded` says so, and there is no severity.

Intervals are of 95%, with what is not known about the other effects (see `joint`), and Student's with as many degrees
of freedom as people differ in, because how much they differ is estimated too: in simulations with 15 people the normal
ones hold 93% of the severities, and these 95%.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import chi2, t

from mores.stats.intervals import TAIL
from mores.stats.mixed import Fit, MixedModel, fit
from mores.stats.mixed.design import CodedFactor, Columns, Floats
from mores.stats.mixed.estimation import ZERO_SD
from mores.stats.raters.joint import Joint, covariance, join


@dataclass(frozen=True, slots=True)
class RaterSeverity:
    """Of one person; positive is severe, negative lenient."""

    annotator: object
    """The level of the term: a name, or a tuple such as (language, name)."""
    ratings: int
    severity: float | None
    """In latent (logit) units; None where it is confounded, or severities are estimated not to vary."""
    low: float | None
    high: float | None
    points: float | None
    """How many points lower than the average person's the ratings of the same answers are; None also for names."""
    points_low: float | None
    points_high: float | None
    confounded: str = ""
    """What the person cannot be told from, such as "language de", of which there is no other annotator."""


@dataclass(frozen=True, slots=True)
class Severities:
    """Of all people."""

    people: tuple[RaterSeverity, ...]
    sd: float
    """The standard deviation of severities in the model."""
    p: float | None
    """Of the hypothesis that nobody is more severe than others: a likelihood ratio test, halved because a variance
    cannot be negative; None where everybody is confounded."""


def annotator_severity(
    result: Fit, data: Columns, term: str, beside: Mapping[str, Sequence[object]] | None = None
) -> Severities:
    """Return the severities of the people who are the levels of a random term.

    `data` are the columns that the model was fitted to, and `beside` more columns that people may be confounded with,
    such as the language where the model leaves it out.
    """
    result.require_converged()
    groups = {group.name: group for group in result.design.groups}
    if term not in groups:
        raise ValueError(f"the model has no random term {term!r}; its terms are {', '.join(groups) or 'none'}")
    people = groups[term]
    circles = find_circles(result, people, beside or {})
    joint = join(result)
    place = joint.intercepts(term)
    sd = next(variance.sd for variance in result.variances if variance.group == term)
    compare = np.array([(np.array(circles) == circle) / circles.count(circle) for circle in circles])
    contrasts = sd * (compare - np.eye(len(circles)))
    severities = contrasts @ joint.point[place]
    variances = np.einsum("ij,jk,ik->i", contrasts, covariance(joint, joint.point)[place, place], contrasts)
    errors = np.sqrt(np.maximum(variances, 0.0))
    reach = errors * t.isf(TAIL, max(1, len(circles) - len(set(circles))))
    ends = np.stack([severities, severities - reach, severities + reach], axis=1)
    points = in_points(result, joint, place, ends)
    counts = np.bincount(people.codes, minlength=len(people.levels))
    alone = [circles.count(circle) == 1 for circle in circles]
    if sd < ZERO_SD:
        ends = np.full_like(ends, np.nan)
    return Severities(
        people=tuple(
            describe(level, int(counts[n]), ends[n], None if points is None else points[n], circles[n] * alone[n])
            for n, level in enumerate(people.levels)
        ),
        sd=sd,
        p=None if all(alone) else test_term(result, data, term),
    )


def describe(level: object, count: int, ends: Floats, points: Floats | None, confounded: str) -> RaterSeverity:
    if confounded or np.isnan(ends).any():
        return RaterSeverity(level, count, None, None, None, None, None, None, confounded)
    shown = (None, None, None) if points is None else tuple(points.tolist())
    return RaterSeverity(level, count, *ends.tolist(), *shown)


def find_circles(result: Fit, people: CodedFactor, beside: Mapping[str, Sequence[object]]) -> list[str]:
    """Return whom each person is compared with: those with the same text, which names what all of them work within.

    That is a level of every other factor of which each person meets one level only: "language de".
    """
    others = [group for group in result.design.groups if group.name != people.name]
    others += [variable for variable in result.design.variables.values() if isinstance(variable, CodedFactor)]
    for name, values in beside.items():
        levels = list(dict.fromkeys(values))
        codes = np.array([levels.index(value) for value in values], dtype=np.intp)
        others.append(CodedFactor(name, tuple(levels), codes))
    circles = [""] * len(people.levels)
    named = set()
    for factor in others:
        if len(factor.codes) != len(people.codes):
            raise ValueError(f"column {factor.name!r} has {len(factor.codes)} rows, the model {len(people.codes)}")
        pairs = np.unique(np.stack([people.codes, factor.codes]), axis=1)
        if factor.name in named or pairs.shape[1] > len(people.levels) or len(factor.levels) == 1:
            continue
        named.add(factor.name)
        for person, level in pairs.T.tolist():
            text = f"{factor.name} {factor.levels[level]}"
            circles[person] = f"{circles[person]}, {text}" if circles[person] else text
    return circles


def in_points(result: Fit, joint: Joint, place: slice, ends: Floats) -> Floats | None:
    """Return severities in points of the scale: the mean over all rows of what a rating loses; None for names."""
    levels = result.design.response.levels
    if not all(isinstance(level, int | float | np.number) for level in levels):
        return None
    neutral = joint.point.copy()
    neutral[place] = 0.0
    m = joint.predictor(neutral)
    values, thresholds = np.array(levels, dtype=np.float64), joint.point[: joint.cuts]
    base = expected_ratings(values, thresholds, m).mean()
    lost = [base - expected_ratings(values, thresholds, m - severity).mean() for severity in ends.ravel()]
    return np.array(lost).reshape(ends.shape)


def expected_ratings(values: Floats, thresholds: Floats, m: Floats) -> Floats:
    """Return the mean rating at each m: the lowest, and each step of the scale as often as it is passed."""
    return np.asarray(values[0] + np.diff(values) @ expit(m - thresholds[:, None]))


def test_term(result: Fit, data: Columns, term: str) -> float | None:
    """Return the p-value of no variance; None where the smaller model was not fitted."""
    others = tuple(group.name for group in result.design.groups if group.name != term)
    smaller = fit(MixedModel(result.model.response, result.model.fixed, others, result.model.levels), data)
    if not smaller.converged:
        return None
    ratio = max(0.0, 2 * (result.log_likelihood - smaller.log_likelihood))
    return float(chi2.sf(ratio, 1) / 2) if ratio > 0 else 1.0
