"""The counts of many judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import nan
from typing import Literal

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


class ScoreTally:
    """Counts judgements one by one, in constant memory."""

    def __init__(self) -> None:
        self._states: Counter[State] = Counter()
        self._failed: Counter[FailureKind] = Counter()
        self._errors: Counter[Severity] = Counter()
        self._unlocated = 0
        self._total = 0.0
        self._without_certainty = 0
        self._weak: Counter[str] = Counter()
        self._signatures: set[Signature] = set()
        self._verdicts: Counter[tuple[float, ...]] = Counter()
        """By what each judge of an ensemble says, how many texts there are."""

    def add(self, judgement: Judgement) -> None:
        """Count one judgement."""
        self._states[state(judgement)] += 1
        if judgement.failure is not None:
            self._failed[judgement.failure.kind] += 1
        else:
            self._signatures.add(judgement.signature)
        self._weak.update(weak_because(judgement))
        if judgement.members:
            self._verdicts[tuple(nan if s is None else float(s < 0) for s in judgement.members.values())] += 1
        self._total += judgement.score or 0.0
        self._without_certainty += lacks_certainty(judgement)
        for error in errors(judgement):
            self._errors[error.severity] += 1
            self._unlocated += not error.located

    def summary(self) -> ScoreSummary:
        """Return the counts so far."""
        judged = self._states["errors"] + self._states["clean"]
        return ScoreSummary(
            n=self._states.total(),
            judged=judged,
            unknown=self._states["unknown"],
            failed={kind: self._failed[kind] for kind in FailureKind if self._failed[kind]},
            with_errors=self._states["errors"],
            errors={severity: self._errors[severity] for severity in (Severity.MAJOR, Severity.MINOR)},
            unlocated=self._unlocated,
            mean_score=self._total / judged if judged else None,
            without_certainty=self._without_certainty,
            weak=dict(self._weak),
            agreement=self._agreement(),
            signatures=tuple(sorted(self._signatures, key=str)),
        )

    def _agreement(self) -> Result | None:
        texts = list(self._verdicts.elements())
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
        return "the evidence decides none of its claims" if judgement.evidence else "no evidence about its claims"
    if weak_because(judgement):
        return "little evidence about it" if judgement.evidence else "no evidence about it"
    return ""
