"""The measures of judges against people."""

from __future__ import annotations

from pydantic import Field

from mores.formatting import count, number, percent, span
from mores.metaevaluation.records import MetricComparison
from mores.types import MUCH_MISSING, Record, Result

STATISTICS = {
    "pearson": "Pearson r",
    "spearman": "Spearman ρ",
    "kendall": "Kendall τ",
    "preference": "same preference",
    "within_languages": "Pearson r within languages",
}
"""Correlations with people's mean rating, and how often a judge prefers the same of two answers to a question. People
may rate all answers of a language lower than those of another, so that a judge that only knows the language seems to
agree with them: `within_languages` is the correlation of what differs from a language's mean."""


class Worth(Record):
    """The number of ratings by people that a judge is worth (`mores.stats.worth`)."""

    multiple: Result
    """As how many answers each rated one counts, if the judge rates as many more as one likes: 1 / (1 - ρ²)."""
    effective: Result | None = None
    """As how many rated answers those of this file count, with the answers that only the judge rated."""
    judged_only: int = 0
    """How many these are, of the same models and languages."""
    people: Result | None = None
    """How many people's mean is as good; None where nobody rated the same answer as another."""


class PeopleSpans(Record):
    """F1 over the characters that were marked, over all texts."""

    judge: Result
    """The judge with each person."""
    people: Result | None
    """People with each other; None where only one person read each text."""
    kappa: Result
    """The judge's F1 beyond chance."""
    people_kappa: Result | None


class PeopleScore(Record):
    """One judge against people."""

    judge: str
    n: int
    """Answers with a rating by people and a score by the judge."""
    unscored: int
    failures: dict[str, int] = Field(default_factory=dict)
    """Answers that people rated and the judge did not, by reason; `missing` if it has none of them."""
    scores: dict[str, Result]
    """By the names of `STATISTICS`."""
    by: dict[str, dict[str, dict[str, Result]]]
    """Grouping, group: Pearson's, Kendall's, the preference, the means of `people` and `judge`, and the `multiple`."""
    with_person: Result | None = None
    """Correlation with one person, on the answers that several people rated."""
    between_people: Result | None = None
    """Correlation of one person with another, on the same answers."""
    difference: Result | None = None
    """The first less the second."""
    worth: Worth | None = None
    """None where the judge's scores, or people's, are all the same."""
    spans: PeopleSpans | None = None
    """None where people, or the judge, marked nothing."""

    @property
    def missing(self) -> float:
        """The share of the answers that people rated and the judge did not score."""
        return self.unscored / (self.n + self.unscored) if self.unscored else 0.0


class People(Record):
    """Judges against people."""

    data: str
    """Name of the file."""
    kind: str
    """`ratings` or `marks`."""
    revision: str
    answers: int
    """Answers that people rated."""
    unrated: int
    """Answers in the file without a rating."""
    ratings: int
    people: int
    shared: int
    """Answers that several people rated."""
    alpha: Result | None
    """Krippendorff's α of people's ratings, for intervals; None where nobody rated the same answer as another."""
    judges: tuple[PeopleScore, ...]
    comparisons: tuple[MetricComparison, ...] = ()
    """Every two judges, on the answers that both scored."""

    @property
    def best(self) -> PeopleScore | None:
        """The judge with the highest correlation."""
        measured = [judge for judge in self.judges if judge.scores["pearson"].value is not None]
        return max(measured, key=lambda judge: judge.scores["pearson"].value or 0.0, default=None)

    @property
    def headline(self) -> str:
        """The judge that agrees best with people, in one line."""
        best = self.best
        if best is None:
            return "no judge could be compared with people"
        pearson = best.scores["pearson"]
        correlation = f"Pearson r {number(pearson.value)} {span(pearson.low, pearson.high)}".rstrip()
        lack = f"; {percent(best.missing)} of all have no score" if best.missing > MUCH_MISSING else ""
        return f"{best.judge}: {correlation} with people's ratings of {count(best.n)} answers{lack}"

    @property
    def decided(self) -> bool:
        """True if so few scores are missing that judges can be told apart; a correlation has no bounds."""
        return all(judge.missing <= MUCH_MISSING for judge in self.judges)

    @property
    def silent(self) -> list[str]:
        """The judges that scored no answer."""
        return [judge.judge for judge in self.judges if not judge.n]
