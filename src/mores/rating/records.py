"""The findings of a study of ratings, after CaLMQA, Appendix D. `RatingStudy` is all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field, model_validator

from mores.formatting import SIGNIFICANT, count, duration, number, p_equals, span
from mores.rating.comments import CommentCoding
from mores.stats.missing import decide
from mores.types import MUCH_MISSING, Record, Result

ASPECTS = {"language_correct": "language", "factuality": "factuality", "omissions": "omissions"}
"""The columns with a level for each answer besides its rating, and what tables call them."""
MOST_NAMED = 4
"""Models that a headline compares one by one."""


class Groups(Record):
    """The models, languages and other groups that the ratings are of, each in the order of all tables."""

    models: tuple[str, ...]
    types: tuple[str, ...] = ()
    """Empty where the file does not say."""
    languages: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()


class Distribution(Record):
    """The ratings of a group's answers (CaLMQA, Figures 4 and 25)."""

    model: str | None = None
    """None, as in the two fields after it, stands for all."""
    type: str | None = None
    language: str | None = None
    counts: tuple[int, ...]
    """How often each rating of the scale was given, from the lowest."""
    mean: Result
    """With its 95% interval over questions; `unscored` are answers without a rating."""


class LevelCount(Record):
    """The number of answers of a model in a language and type with each level of an aspect (Tables 24 to 26)."""

    model: str
    type: str | None = None
    language: str | None = None
    counts: dict[str, int]
    missing: int = 0
    """Answers whose row says nothing about it."""


class Effect(Record):
    """A threshold or a fixed effect of a cumulative link mixed model, with Wald's test that it is zero."""

    name: str
    estimate: float
    se: float
    z: float
    p: float


class GroupVariance(Record):
    """The variance of a random intercept."""

    group: str
    variance: float
    sd: float
    levels: int


class GroupDifference(Record):
    """The estimate of one group less that of another, on the latent scale (Tables 18 and 21) or in points."""

    first: dict[str, str]
    second: dict[str, str]
    estimate: float
    se: float
    low: float
    """The ends of the 95% interval, adjusted as p is: it is without zero where p is below 5%."""
    high: float
    z: float
    p: float
    """Adjusted for the number of comparisons."""
    df: float | None = Field(None, exclude_if=lambda df: df is None)
    """Degrees of freedom, by which z is Student's t; None where it is taken as normal."""
    size: float | None = Field(None, exclude_if=lambda size: size is None)
    """The difference in standard deviations of one rating by one rater of one answer (Cohen's d of the whole
    variance)."""

    @model_validator(mode="before")
    @classmethod
    def _without_power(cls, fields: Any) -> Any:
        """Read what 0.2.0 wrote, with a power worked out from the estimate."""
        gone = ("power", "more", "detectable")
        return (
            {name: value for name, value in fields.items() if name not in gone} if isinstance(fields, dict) else fields
        )

    @property
    def first_name(self) -> str:
        """The first group in words."""
        return " ".join(self.first.values())

    @property
    def second_name(self) -> str:
        """The second group in words."""
        return " ".join(self.second.values())


class ProportionalOdds(Record):
    """The test that effects are the same at every threshold, and the effects at each."""

    p: float
    """Of the hypothesis that they are; questions are kept together."""
    by_threshold: dict[str, tuple[float, ...]]
    """The log odds of each effect, from the lowest threshold, each from a model of its own without random effects."""


class Points(Record):
    """A linear mixed model of the ratings, in points of the scale; its intervals hold for other raters and questions
    like those of the study, as far as `population` says so."""

    formula: str
    n: int
    failure: str = ""
    notes: tuple[str, ...] = ()
    population: str = ""
    """What the intervals are about, in words."""
    over_raters: bool = False
    """Whether they hold for other raters."""
    variances: tuple[GroupVariance, ...] = ()
    """Of each random effect, and of what is left."""
    differences: dict[str, tuple[GroupDifference, ...]] = Field(default_factory=dict)
    """By factor: `model`, `type`, `model*type`; adjusted after Tukey, each factor by itself."""


class Regression(Record):
    """A mixed model of the ratings, or why there is none (Tables 17, 19 and 20)."""

    formula: str
    """As R writes it."""
    n: int = 0
    """Ratings that it rests on."""
    failure: str = ""
    """Why it could not be fitted; then there is no estimate."""
    notes: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    thresholds: tuple[Effect, ...] = ()
    variances: tuple[GroupVariance, ...] = ()
    log_likelihood: float | None = None
    aic: float | None = None
    marginal: float | None = None
    """R² of the fixed effects (Nakagawa's, on the latent scale)."""
    conditional: float | None = None
    """R² of the fixed effects and the random intercepts."""
    adjustment: str = ""
    """How the p-values of the differences are adjusted."""
    differences: tuple[GroupDifference, ...] = ()
    odds: ProportionalOdds | None = Field(None, exclude_if=lambda odds: odds is None)
    """Whether the effects are alike at every threshold, as the model says."""


class Placing(Record):
    """The share of questions in which a model is first, second, … among the answers (Table 23, Figures 23 and 24)."""

    model: str
    type: str | None = None
    places: tuple[int, ...]
    """How often it has each place, from the first; models that tie share the better place."""
    wins: Result
    """Share of the comparisons that it wins; a first place that several share is divided among them."""


class Pairwise(Record):
    """Two models on the questions that both have an answer to."""

    first: str
    second: str
    won: int
    """Comparisons in which the first is better."""
    tied: int
    lost: int
    rate: Result
    """Share of the comparisons that the first wins, a tie counting as half."""


class Ranking(Record):
    """The answers that people prefer."""

    derived: bool
    """Whether the places follow from the ratings, because the file has no rankings."""
    comparisons: int
    """A comparison is what one annotator says about the answers to one question."""
    left_out: int = 0
    """Comparisons without a complete ranking."""
    placings: tuple[Placing, ...]
    """All types together first."""
    pairs: tuple[Pairwise, ...]
    over_raters: bool = Field(False, exclude_if=lambda over: not over)
    """Whether the intervals are about other raters too, not about other questions alone."""


class ColumnAgreement(Record):
    """The agreement of people about one column."""

    column: str
    alpha: Result
    """Krippendorff's α for ordered values; None where it is undefined. n counts the answers that two people rated."""


class PairKappa(Record):
    """Two annotators on the answers that both rated."""

    first: str
    second: str
    n: int
    kappa: float | None
    """Cohen's κ of their ratings with quadratic weights."""


class ErrorSpanAgreement(Record):
    """The agreement of people on which words are errors; blanks and punctuation at the ends of a mark do not count."""

    texts: int
    """Answers that two or more people read for errors."""
    marked: int
    """Those of them in which anybody marked something."""
    f1: Result
    """Of the marked characters, over all pairs of people."""
    chance: float | None
    """F1 of as many characters placed at random."""
    kappa: Result
    """What F1 exceeds chance by, as a share of what it could."""
    alpha: Result
    """Krippendorff's, over all characters, marked or not."""
    severity: Result | None = Field(None, exclude_if=lambda severity: severity is None)
    """The same of what a character weighs: 0 unmarked, 1 in a minor and 5 in a major error."""
    over_raters: bool = Field(False, exclude_if=lambda over: not over)
    """Whether the intervals are about other raters too, not about other answers alone."""
    unitizing: float | None
    """Krippendorff's α of whole marks."""
    gamma: Result | None = Field(None, exclude_if=lambda gamma: gamma is None)
    """γ of Mathet and others: of marks with their severities (or types) by the best alignment of all."""
    labels: dict[str, Result]
    """Krippendorff's α of the severities and of the types of marks in the same place; n counts these."""


class RatingAgreement(Record):
    """The agreement of people who rated the same answers."""

    shared: int
    """Answers that two or more people rated."""
    coefficients: tuple[ColumnAgreement, ...]
    pairs: tuple[PairKappa, ...]
    spans: ErrorSpanAgreement | None = None


class CarelessSign(Record):
    """One look at whether a person reads what they rate."""

    kind: str
    """`random`, `straight`, `fast` or `position`."""
    p: float
    """How often somebody who reads looks at least as bad."""
    value: float
    expected: float
    """What others show."""

    @property
    def words(self) -> str:
        """The observation, in words."""
        match self.kind:
            case "random":
                seen, usual = number(self.value), number(self.expected)
                return f"ratings follow what others say too little (correlation {seen}, {usual} expected)"
            case "straight":
                return f"the same rating {count(round(self.value), 'time')} in a row ({round(self.expected)} expected)"
            case "fast":
                return f"{duration(self.value)} for a rating ({duration(self.expected)} by the others)"
            case _:
                better = "later" if self.value > 0 else "earlier"
                change = number(abs(self.value), 1)
                return f"answers rated higher the {better} they are shown (log odds {change} for each place)"


class Annotator(Record):
    """The ratings of one person, as a rater."""

    name: str
    language: str | None = None
    ratings: int
    mean: float | None
    severity: Result | None = None
    """Points by which they rate the same answers lower than the others of their language do; negative is lenient."""
    confounded: str = ""
    """What they cannot be told from, so that there is no severity: a language that nobody else rated."""
    drift: Result | None = None
    """Change of the log odds of a higher rating from their first rating to their last; positive is growing lenient."""
    drift_points: float | None = None
    """The same in points of the scale."""
    drift_p: float | None = None
    """Adjusted for the number of people (Benjamini and Hochberg)."""
    signs: tuple[CarelessSign, ...] = ()
    """What was looked at to find careless people, the worst first."""
    careless_p: float | None = None
    """Adjusted for the number of people."""
    careless: bool = False
    careless_power: float | None = Field(None, exclude_if=lambda power: power is None)
    """How probably somebody who answers the same at random would be called careless by these signs."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons why the person is called careless: the worst sign, and those that would be enough alone."""
        clear = [sign for n, sign in enumerate(self.signs) if n == 0 or sign.p * len(self.signs) < SIGNIFICANT]
        return tuple(sign.words for sign in clear) if self.careless else ()


class Annotators(Record):
    """The ratings of all people, after what they rated (`formula`)."""

    formula: str
    notes: tuple[str, ...] = ()
    """Why there is no severity, where there is none, and which ratings it rests on, where not on all."""
    people: tuple[Annotator, ...]
    severity_p: float | None = None
    """Of the hypothesis that nobody is more severe than others."""
    drift: Result | None = None
    """Of everybody together."""
    drift_p: float | None = None


class RatingStudy(Record):
    """The whole analysis of a file of ratings."""

    source: str
    """The file."""
    n: int
    """Rows, with those that have no rating."""
    unrated: int
    questions: int
    groups: Groups
    scale: tuple[float, ...]
    """The ratings that can be given, from the lowest."""
    scale_is_known: bool
    """False where the scale is what occurs in the file."""
    distributions: tuple[Distribution, ...]
    """All ratings first, then by model, type, language, model and type, and all three."""
    lead: dict[str, Result] = Field(default_factory=dict, exclude_if=lambda gaps: not gaps)
    """The highest mean of a model less that of each other one on shared questions, where answers have no rating."""
    by: dict[str, dict[str, tuple[Distribution, ...]]] = Field(default_factory=dict, exclude_if=lambda by: not by)
    """Column, group: how its answers were rated, of all models where there are several and of each."""
    points_by: dict[str, dict[str, Points]] = Field(default_factory=dict, exclude_if=lambda by: not by)
    """Column, group: the differences of models in its ratings, from a linear model of these alone."""
    levels: dict[str, tuple[LevelCount, ...]] = Field(default_factory=dict)
    """By aspect: language_correct, factuality, omissions."""
    regressions: dict[str, Regression] = Field(default_factory=dict)
    """By predictor: `model`, `type`, `model*type`, and each aspect."""
    points: Points | None = Field(None, exclude_if=lambda points: points is None)
    """Differences in points of the scale; None in an analysis as CaLMQA's."""
    ranking: Ranking | None = None
    agreement: RatingAgreement | None = None
    annotators: Annotators | None = None
    comments: CommentCoding | None = None
    """What the comments are about."""
    reasons: CommentCoding | None = None
    """Why answers are ranked first, by the same schema (Table 23)."""
    missing: dict[str, str] = Field(default_factory=dict)
    """Analyses that could not be made, and why."""
    unread: tuple[str, ...] = ()
    """Columns of the file that were not read."""
    replaced: tuple[str, ...] = ()
    """Values that were read as others."""

    def spread(self, model: str | None = None, type: str | None = None, language: str | None = None) -> Distribution:  # noqa: A002 - the column's name
        """Return the ratings of a group."""
        wanted = (model, type, language)
        return next(each for each in self.distributions if (each.model, each.type, each.language) == wanted)

    @property
    def by_mean(self) -> list[Distribution]:
        """The models, the highest mean first; those without a rating last."""
        return sort_by_mean(self.spread(model) for model in self.groups.models)

    @property
    def is_decided(self) -> bool:
        """True if no answer without a rating could change which model is rated highest."""
        return all(decide(gap) > 0 for gap in self.lead.values())

    @property
    def headline(self) -> str:
        """The result in one line."""
        best = self.by_mean[0]
        if best.mean.value is None:
            return "no answer has a rating"
        figure = f"mean {number(best.mean.value)} of {self.scale[-1]:g}"
        if best.mean.whole and best.mean.missing > MUCH_MISSING:
            unrated = count(best.mean.unscored, "answer")
            figure += f" ({span(*best.mean.whole)} whatever {unrated} without a rating would get)"
        if len(self.groups.models) == 1:
            return f"{best.model}: {figure}, {count(best.mean.n, 'rating')}"
        alike = [str(each.model) for each in self.by_mean if each.mean.value == best.mean.value]
        if len(alike) > 1 and self.is_decided:
            every = "all models" if len(alike) == len(self.groups.models) > 2 else " and ".join(sorted(alike))
            return f"{every} have the same {figure}"
        if not self.is_decided:
            return f"{best.model} has the highest {figure}, but chance or answers without a rating may explain that"
        differences = self._main_differences()
        tests = _against(differences, str(best.model))
        others = [d.p for d in differences if best.model in (d.first.get("model"), d.second.get("model"))]
        if not differences:
            return f"{best.model} has the highest {figure}{tests}"
        if self.points and others and min(others) >= SIGNIFICANT:
            return f"{best.model} has the highest {figure}, but no difference from another model is shown{tests}"
        return f"{best.model} is rated highest: {figure}{tests}"

    def _main_differences(self) -> Sequence[GroupDifference]:
        """Return the differences between models that the headline is about: in points, or else of log odds."""
        if self.points and "model" in self.points.differences:
            return self.points.differences["model"]
        regression = self.regressions.get("model")
        return regression.differences if regression else ()


def sort_by_mean(means: Iterable[Distribution]) -> list[Distribution]:
    """Return the highest mean first, and groups without a rating last."""
    return sorted(means, key=lambda each: -(each.mean.value if each.mean.value is not None else -1e9))


def _against(differences: Sequence[GroupDifference], best: str) -> str:
    """Return how sure it is that the best model is better than each other one."""
    if not differences:
        return "; whether models differ could not be tested"
    others: Mapping[str, float] = {
        (each.second if each.first["model"] == best else each.first)["model"]: each.p
        for each in differences
        if best in (each.first["model"], each.second["model"])
    }
    if len(others) > MOST_NAMED:
        clear = sum(p < SIGNIFICANT for p in others.values())
        return f"; it differs significantly from {clear} of {len(others)} others"
    return "; " + ", ".join(f"against {name} {p_equals(p)}" for name, p in others.items())
