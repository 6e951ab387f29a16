"""The people who rate: their severity, their drift, and whether they read what they rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC

from mores.formatting import count
from mores.rating.ratings import Rating
from mores.rating.records import Annotator, Annotators, CarelessSign
from mores.rating.regressions import Fitted
from mores.stats.mixed.estimation import ZERO_SD
from mores.stats.raters import (
    Conduct,
    Drift,
    RaterSeverity,
    Suspicion,
    annotator_drift,
    annotator_severity,
    find_careless,
)
from mores.types import Result

ALIKE = "no difference in severity shows: the variance of annotators is estimated as zero"


def choose_model(models: Mapping[str, Fitted]) -> Fitted | None:
    """Return the model that says most about what was rated; None where none could be fitted."""
    fitted = (models[name] for name in ("model*type", "model", "type") if name in models)
    return next((model for model in fitted if model.fit is not None), None)


def describe_annotators(model: Fitted, crossed: bool) -> Annotators:
    """Return everybody's severity, drift and signs of carelessness, as far as the ratings show them.

    How probably a careless person is found is no part of an analysis as CaLMQA's, which is not `crossed`.
    """
    whole, model = model, model.part or model
    assert model.fit is not None
    rows, columns, deviations = model.rows, model.columns, {v.group: v.sd for v in model.regression.variances}
    # The random term of annotators; empty where there is only one of them.
    term = next((term for term in ("language:annotator", "annotator") if term in deviations), "")
    varies = deviations.get(term, 0.0) > ZERO_SD
    beside = {"language": columns["language"]} if "language" not in term and None not in columns["language"] else {}
    severities = annotator_severity(model.fit, columns, term, beside) if varies else None
    # A time without a zone is taken as UTC; times count only where every rating has one.
    dates = [row.at if row.at is None or row.at.tzinfo else row.at.replace(tzinfo=UTC) for row in rows]
    times = [at.timestamp() for at in dates if at is not None] if None not in dates else None
    drifts = None if times is None else annotator_drift(model.fit, columns["annotator"], times)
    conduct = Conduct(
        order=times,
        seconds=[math.nan if row.seconds is None else row.seconds for row in rows],
        position=[math.nan if row.position is None else row.position for row in rows],
    )
    suspicions = find_careless(model.fit, columns["annotator"], conduct)
    suspicion_of = {suspicion.annotator: suspicion for suspicion in suspicions}
    people = list(dict.fromkeys((row.language, row.annotator) for row in rows))
    by_level = {severity.annotator: severity for severity in severities.people} if severities else {}
    drift_of = {drift.annotator: drift for drift in drifts.people} if drifts else {}
    notes: tuple[str, ...] = () if varies or not term else (ALIKE,)
    if whole is not model:
        notes += (f"of {count(len(set(columns['question'])), 'question')} drawn at random: {len(rows):,} ratings",)
    return Annotators(
        formula=model.regression.formula,
        notes=notes,
        people=tuple(
            describe_person(
                [row for row in rows if (row.language, row.annotator) == (language, name)],
                by_level.get((language, name) if term == "language:annotator" else name),
                drift_of.get(name),
                suspicion_of[name] if crossed else replace(suspicion_of[name], power=None),
            )
            for language, name in people
        ),
        severity_p=severities.p if severities else None,
        drift=describe_drift(drifts.everybody) if drifts else None,
        drift_p=drifts.everybody.p if drifts else None,
    )


def describe_person(
    rows: Sequence[Rating], severity: RaterSeverity | None, drift: Drift | None, suspicion: Suspicion
) -> Annotator:
    """Return one person in one language."""
    ratings = [row.rating for row in rows if row.rating is not None]
    level = None
    if severity and severity.points is not None:
        low, high = severity.points_low, severity.points_high
        level = Result(name="severity", value=severity.points, low=low, high=high, n=len(ratings))
    return Annotator(
        name=rows[0].annotator,
        language=rows[0].language,
        ratings=len(ratings),
        mean=sum(ratings) / len(ratings),
        severity=level,
        confounded=severity.confounded if severity else "",
        drift=describe_drift(drift) if drift else None,
        drift_points=drift.points if drift else None,
        drift_p=drift.adjusted_p if drift else None,
        signs=tuple(
            CarelessSign(kind=sign.kind, p=sign.p, value=sign.value, expected=sign.expected) for sign in suspicion.signs
        ),
        careless_p=suspicion.adjusted_p,
        careless=suspicion.flagged,
        careless_power=suspicion.power,
    )


def describe_drift(drift: Drift) -> Result | None:
    """Return a drift with its interval; None with too few ratings."""
    if drift.change is None:
        return None
    return Result(name="drift", value=drift.change, low=drift.low, high=drift.high, n=drift.ratings)
