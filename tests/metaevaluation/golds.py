"""Made-up gold samples and judgements."""

from __future__ import annotations

import random
from typing import Any

from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Sample, Severity, Side

DISHES = {"DE": "bread", "JP": "rice", "KE": "ugali", "PE": "potatoes", "IN": "lentils"}
NAMES = {"DE": "Germany", "JP": "Japan", "KE": "Kenya", "PE": "Peru", "IN": "India"}


def error(text: str, quote: str, severity: Severity = Severity.MAJOR, side: Side = "text", why: str = "") -> Error:
    """An error at the first place where its quote is."""
    start = text.index(quote)
    return Error(
        side=side, start=start, end=start + len(quote), quote=quote, severity=severity, type="t", explanation=why
    )


def gold(name: str, *errors: Error, text: str = "They eat bread.", **given: Any) -> Gold:
    """A sample with these errors; other fields of the sample and of the record by name."""
    fields = {"source": "made-up", "language": "en", "region": "DE"} | given
    own = {key: fields.pop(key) for key in list(fields) if key in Gold.model_fields}
    sample = Sample(id=name, text=text, **fields)
    kind = "hard" if errors else "correct"
    whole = {"task": Task.FREEFORM, "kind": kind, "maker": "source", "item": f"made-up/{name}"} | own
    return Gold(sample=sample, report=ErrorReport(errors=errors), **whole)


def labelled(name: str, wrong: bool, text: str = "They eat bread.", **given: Any) -> Gold:
    """A sample whose whole text is one major error, or that is right."""
    return gold(name, *([error(text, text)] if wrong else []), text=text, **given)


def dishes(count: int, seed: int = 0, **given: Any) -> list[Gold]:
    """What is eaten where: half of the samples name the dish of another country."""
    draw = random.Random(seed)
    golds = []
    for i in range(count):
        region, wrong = draw.choice(list(DISHES)), i % 2 == 0
        dish = DISHES[draw.choice([other for other in DISHES if other != region]) if wrong else region]
        text = f"People in {NAMES[region]} eat {dish} on day {draw.randrange(100)}."
        fields: dict[str, Any] = {"instruction": f"What is eaten in {NAMES[region]}?", "region": region} | given
        golds.append(labelled(f"{seed}-{i}", wrong, text, **fields))
    return golds


def says(name: str, score: float | None, kind: FailureKind = FailureKind.PARSE, **given: Any) -> Judgement:
    """A judgement with this score, or a failure of this kind."""
    failure = Failure(kind=kind, reason="unreadable") if score is None else None
    return Judgement(**({"sample_id": name, "judge": "j", "score": score, "failure": failure} | given))


def scores(golds: list[Gold], values: list[float | None]) -> dict[str, Judgement]:
    """These scores of these samples."""
    return {one.sample.id: says(one.sample.id, value) for one, value in zip(golds, values, strict=True)}
