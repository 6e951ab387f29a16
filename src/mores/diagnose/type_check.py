"""How far a judge that gives errors their types agrees with types that people gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mores.diagnose.errors import LabelledError, Typed, type_names
from mores.errors import InputError
from mores.show import full_share, number
from mores.stats.agreement import cohen_kappa, cohen_kappa_interval
from mores.stats.results import share_result
from mores.types import Record, Result


class TypeCheck(Record):
    """How far a judge agrees with types that people gave."""

    judge: str
    signature: str
    accuracy: Result
    kappa: Result
    """Cohen's; no value where it is not defined."""
    confusion: dict[str, dict[str, int]]
    """The type that people gave, the type that the judge gave: how many."""
    recall: dict[str, Result]
    """Share that the judge gets right, by the type that people gave."""
    failures: dict[str, int]


def check_types(labelled: Sequence[LabelledError], typed: Sequence[Typed], judge: str, signature: str) -> TypeCheck:
    """Compare what a judge said (`ask_labelled`) with what people said, answer by answer."""
    if [(one.item_id, one.answer) for one in labelled] != [(one.item_id, one.answer) for one in typed]:
        raise InputError("the judge's types are not of the labelled answers, in their order; ask the judge again")
    pairs = [(one.type, two.type) for one, two in zip(labelled, typed, strict=True) if two.type is not None]
    failures = Counter(two.failure.kind.value if two.failure else "unknown" for two in typed if two.type is None)
    cells, unscored, names = Counter(pairs), failures.total(), type_names()
    people, judged = [one for one, _ in pairs], [two for _, two in pairs]
    low, high = cohen_kappa_interval(people, judged, names) or (None, None)
    return TypeCheck(
        judge=judge, signature=signature,
        accuracy=share_result("accuracy", sum(one == two for one, two in pairs), len(pairs), unscored),
        kappa=Result(
            name="kappa", value=cohen_kappa(people, judged), low=low, high=high, n=len(pairs), unscored=unscored
        ),
        confusion={one: {two: cells[one, two] for two in names} for one in names},
        recall={one: share_result(one, cells[one, one], sum(cells[one, two] for two in names)) for one in names},
        failures=dict(failures),
    )  # fmt: skip


def paragraph(check: TypeCheck) -> str:
    """What it means, for people who do not program."""
    if check.accuracy.value is None:
        return "The judge gave none of the answers that people sorted a type: how far it agrees cannot be said."
    kappa = "undefined" if check.kappa.value is None else number(check.kappa.value)
    return (
        f"Of {check.accuracy.n} answers that people sorted, the judge gives {full_share(check.accuracy)} the same type"
        f" (Cohen's kappa {kappa}; 0 is chance, 1 is full agreement)."
    )
