"""How far a judge that gives errors their types agrees with types that people gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mores.diagnose.change import count_share
from mores.diagnose.draws import RESAMPLES
from mores.diagnose.errors import LabelledError, Typed, type_names
from mores.errors import InputError
from mores.show import full_share, number
from mores.stats.agreement import cohen_kappa
from mores.stats.classification import ratios
from mores.stats.intervals import drawn_interval
from mores.types import Record, Result, Signature


class TypeCheck(Record):
    """How far a judge agrees with types that people gave."""

    judge: str
    signature: Signature
    accuracy: Result
    kappa: Result
    """Cohen's; no value where it is not defined."""
    confusion: dict[str, dict[str, int]]
    """The type that people gave, the type that the judge gave: how many."""
    recall: dict[str, Result]
    """Share that the judge gets right, by the type that people gave."""
    failures: dict[str, int]


def check_types(
    labelled: Sequence[LabelledError], typed: Sequence[Typed], judge: str, signature: Signature
) -> TypeCheck:
    """Compare what a judge said (`ask_labelled`) with what people said, answer by answer."""
    if [(one.item_id, one.answer) for one in labelled] != [(one.item_id, one.answer) for one in typed]:
        raise InputError("the judge's types are not of the labelled answers, in their order; ask the judge again")
    pairs = [(one.type, two.type) for one, two in zip(labelled, typed, strict=True) if two.type is not None]
    failures = Counter(two.failure.kind.value if two.failure else "unknown" for two in typed if two.type is None)
    cells, unscored = Counter(pairs), sum(failures.values())
    names = type_names()
    return TypeCheck(
        judge=judge, signature=signature,
        accuracy=count_share("accuracy", sum(one == two for one, two in pairs), len(pairs), unscored),
        kappa=measure_kappa(pairs, unscored),
        confusion={one: {two: cells[one, two] for two in names} for one in names},
        recall={one: count_share(one, cells[one, one], sum(cells[one, two] for two in names)) for one in names},
        failures=dict(failures),
    )  # fmt: skip


def measure_kappa(pairs: Sequence[tuple[str, str]], unscored: int) -> Result:
    """Its variance is that of pairs drawn with replacement; it rests on those that are not alike by chance alone."""
    value = cohen_kappa([one for one, _ in pairs], [two for _, two in pairs]) if pairs else None
    if value is None:
        return Result(name="kappa", value=None, n=len(pairs), unscored=unscored)
    n, cells, names = len(pairs), Counter(pairs), type_names()
    shares = np.array([cells[one, two] / n for one in names for two in names])
    drawn = np.random.default_rng(0).multinomial(n, shares, RESAMPLES).reshape(-1, len(names), len(names)) / n
    chance = (drawn.sum(axis=1) * drawn.sum(axis=2)).sum(axis=1)
    kappas = ratios(np.trace(drawn, axis1=1, axis2=2) - chance, 1 - chance)
    low, high = drawn_interval(value, kappas, n * float(1 - chance.mean()), least=-1.0)
    return Result(name="kappa", value=value, low=low, high=high, n=n, unscored=unscored)


def paragraph(check: TypeCheck) -> str:
    """What it means, for people who do not program."""
    if check.accuracy.value is None:
        return "The judge gave none of the answers that people sorted a type: how far it agrees cannot be said."
    kappa = "undefined" if check.kappa.value is None else number(check.kappa.value)
    return (
        f"Of {check.accuracy.n} answers that people sorted, the judge gives {full_share(check.accuracy)} the same type"
        f" (Cohen's kappa {kappa}; 0 is chance, 1 is full agreement)."
    )
