"""The counts of many judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import nan
from typing import Literal, NamedTuple

from pydantic import Field

from mores.formatting import count, number, percent
from mores.types import Error, FailureKind, Judgement, Record, Result, Severity, Signature

WEAK = "weak verdict: "
"""What the note of a verdict begins with that says little; the reason follows."""
State = Literal["errors", "clean", "unknown", "failed"]
"""What became of a text; `unknown` if the judge could decide about none of its claims."""


class ScoreSummary(Record):
    """The counts of one run; everything that has no score is counted beside the mean."""

    n: int
    judged: int
    failed: dict[FailureKind, int]
    """How many could not be judged, by kind."""
    unknown: int = Field(0, exclude_if=lambda unknown: not unknown)
    """How many the judge could decide nothing about."""
    with_errors: int
    errors: dict[Severity, int]
    unlocated: int
    """Errors whose quote was not found in the sample."""
    mean_score: float | None
    """Over the judged texts; None when there is none."""
    without_certainty: int
    """Texts without errors for which p(R) is unknown."""
    weak: dict[str, int] = Field(default_factory=dict)
    """How many verdicts say little, by reason."""
    agreement: Result | None = Field(None, exclude_if=lambda agreement: agreement is None)
    """Krippendorff's α of the judges of an ensemble about which texts have errors."""
    signatures: tuple[Signature, ...]
    """Of the judged texts: more than one means that not all scores compare."""

    @property
    def headline(self) -> str:
        """The mean score, in one line."""
        mean = "no score" if self.mean_score is None else f"mean score {number(self.mean_score, 3)}"
        unknown = f", {count(self.unknown)} not known" if self.unknown else ""
        return f"{count(self.n, 'text')}, {count(self.judged)} judged{unknown}; {mean}"


class Kind(NamedTuple):
    """All that is counted of a judgement but its score: a run has few kinds, however many texts."""

    state: State
    failure: FailureKind | None
    signature: Signature | None
    """None for a failure."""
    errors: tuple[int, ...]
    """By severity, as in `Severity`."""
    unlocated: int
    without_certainty: bool
    weak: tuple[str, ...]
    verdicts: tuple[float, ...]
    """What each judge of an ensemble says."""

    @classmethod
    def of(cls, judgement: Judgement) -> Kind:
        """Return the kind of a judgement."""
        state_, listed, failure = state(judgement), errors(judgement), judgement.failure
        severities = [error.severity for error in listed]
        return cls(
            state_,
            failure.kind if failure else None,
            None if failure else judgement.signature,
            tuple(map(severities.count, _SEVERITIES)) if severities else _NO_ERRORS,
            sum(error.start is None for error in listed) if listed else 0,
            state_ == "clean" and (judgement.report is None or judgement.report.certainty is None),
            tuple(weak_because(judgement)) if judgement.notes else (),
            tuple(nan if s is None else float(s < 0) for s in judgement.members.values()) if judgement.members else (),
        )


_SEVERITIES = tuple(Severity)
_NO_ERRORS = (0,) * len(_SEVERITIES)


class ScoreTally:
    """Counts judgements one by one, in constant memory."""

    def __init__(self) -> None:
        self._kinds: dict[Kind, list[int]] = {}
        """The number of judgements of each kind."""
        self._total = 0.0

    def add(self, judgement: Judgement, kind: Kind | None = None) -> None:
        """Count one judgement; its kind is worked out once where several tallies count it."""
        kind = kind or Kind.of(judgement)
        self._kinds.setdefault(kind, [0])[0] += 1  # hashing a kind is most of the work
        self._total += judgement.score or 0.0

    def summary(self) -> ScoreSummary:
        """Return the counts so far."""
        states, failed, weak = Counter[State](), Counter[FailureKind](), Counter[str]()
        severities = dict.fromkeys((Severity.MAJOR, Severity.MINOR), 0)
        for kind, (times,) in self._kinds.items():
            states[kind.state] += times
            if kind.failure:
                failed[kind.failure] += times
            for reason in kind.weak:
                weak[reason] += times
            for severity, found in zip(Severity, kind.errors, strict=True):
                severities[severity] += times * found
        judged = states["errors"] + states["clean"]
        return ScoreSummary(
            n=states.total(),
            judged=judged,
            unknown=states["unknown"],
            failed={kind: failed[kind] for kind in FailureKind if failed[kind]},
            with_errors=states["errors"],
            errors=severities,
            unlocated=sum(times * kind.unlocated for kind, (times,) in self._kinds.items()),
            mean_score=self._total / judged if judged else None,
            without_certainty=sum(times for kind, (times,) in self._kinds.items() if kind.without_certainty),
            weak=dict(weak),
            agreement=self._agreement(),
            signatures=tuple(sorted({kind.signature for kind in self._kinds if kind.signature is not None}, key=str)),
        )

    def _agreement(self) -> Result | None:
        texts = [kind.verdicts for kind, (times,) in self._kinds.items() for _ in range(times) if kind.verdicts]
        if not texts:
            return None
        from mores.stats.agreement import krippendorff_alpha, krippendorff_alpha_interval  # numpy, which help needs not

        ratings = list(zip(*texts, strict=True))
        low, high = krippendorff_alpha_interval(ratings) or (None, None)
        return Result(name="agreement", value=krippendorff_alpha(ratings), low=low, high=high, n=len(texts))


def summarise(judgements: Iterable[Judgement]) -> ScoreSummary:
    """Return the counts of all judgements."""
    tally = ScoreTally()
    for judgement in judgements:
        tally.add(judgement)
    return tally.summary()


def errors(judgement: Judgement) -> tuple[Error, ...]:
    """Return the errors of a judgement; none where there is no report."""
    return judgement.report.errors if judgement.report else ()


def state(judgement: Judgement) -> State:
    """Return whether the text was judged, and whether anything is wrong with it."""
    if judgement.score is None:
        return "failed" if judgement.failure else "unknown"
    return "errors" if errors(judgement) or judgement.score < 0 else "clean"


def lacks_certainty(judgement: Judgement) -> bool:
    """Return whether the text has no errors and the judge gave no p(R)."""
    certainty = judgement.report.certainty if judgement.report else None
    return state(judgement) == "clean" and certainty is None


def weak_because(judgement: Judgement) -> list[str]:
    """Return why a verdict says little, as its notes have it; nothing for most."""
    return [note.removeprefix(WEAK) for note in judgement.notes if note.startswith(WEAK)]


def doubt(judgement: Judgement) -> str:
    """Return in a few words why a verdict does not say whether the text is correct; empty where it does."""
    report = judgement.report
    if report and report.undecided:
        if report.unexplained:
            return "a sentence is called wrong, but no error is listed"
        if any(claim.decision in ("wrong", "supported") for claim in report.claims):
            return f"only {percent(report.confidence, 0)} confidence that it has no errors"
        if any(claim.decision == "disputed" for claim in report.claims):
            return "passages of the evidence contradict each other about it"
        return "the evidence decides none of its claims" if judgement.evidence else "no evidence about its claims"
    if weak_because(judgement):
        return "little evidence about it" if judgement.evidence else "no evidence about it"
    return ""
