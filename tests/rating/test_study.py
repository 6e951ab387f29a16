"""The analysis of ratings: golden numbers by hand, and data that allow little."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import mores
from mores.errors import InputError
from mores.rating.columns import ratings_by
from mores.rating.folder import RateRun
from mores.rating.groups import RatingColumns, find_groups, spread
from mores.rating.population import measure_points, widen
from mores.rating.ranking import crossed_interval
from mores.rating.ratings import InLanguage, IssueLevel, Rating
from mores.rating.records import RatingStudy
from mores.rating.regressions import fit_model
from mores.rating.study import analyse
from mores.report.rate.tables import column_tables, describe_power, ranking_note
from mores.stats.intervals import mean_interval
from tests.rating import made_up
from tests.rating.made_up import rating


def ranked(question: str, annotator: str = "ann", **places: int) -> list[Rating]:
    """One annotator's ranking of the answers to a question."""
    return [rating(question=question, annotator=annotator, model=model, rank=place) for model, place in places.items()]


def rated(question: str, **values: float) -> list[Rating]:
    return [rating(question=question, model=model, rating=value) for model, value in values.items()]


def test_distributions_count_and_average_each_group() -> None:
    study = analyse(
        [
            rating(question="1", rating=1, type="x", language="fj"),
            rating(question="2", rating=4, type="y", language="hi"),
            rating(question="3", rating=None, type="y", language="hi"),
            rating(question="1", rating=5, model="banana", type="x", language="fj"),
        ]
    )
    assert study.scale == (1, 2, 3, 4, 5)
    assert (study.n, study.unrated, study.questions) == (4, 1, 3)
    apple = study.spread("apple")
    assert (apple.counts, apple.mean.value, apple.mean.n, apple.mean.unscored) == ((1, 0, 0, 1, 0), 2.5, 2, 1)
    assert study.spread("banana", "x", "fj").counts == (0, 0, 0, 0, 1)
    assert study.spread(language="hi").counts == (0, 0, 0, 1, 0)
    assert not any(each.model == "banana" and each.type == "y" for each in study.distributions)


def test_levels_are_counted_for_each_language_model_and_type() -> None:
    rows = [
        rating(question="1", language="fj", factuality=IssueLevel.MINOR, language_correct=InLanguage.NO),
        rating(question="2", language="fj", factuality=IssueLevel.MAJOR),
        rating(question="3", language="hi", factuality=IssueLevel.MINOR),
    ]
    levels = analyse(rows).levels
    counts = {each.language: each.counts for each in levels["factuality"]}
    assert counts == {"fj": {"none": 0, "minor": 1, "major": 1}, "hi": {"none": 0, "minor": 1, "major": 0}}
    (first, second) = levels["language_correct"]
    assert (first.counts["no"], first.missing, second.missing) == (1, 1, 1)
    assert "omissions" not in levels


def test_rankings_give_places_and_win_rates() -> None:
    """By hand: apple is first twice and shares the first place once, of four comparisons."""
    rows = [
        *ranked("1", apple=1, banana=2, cherry=3),
        *ranked("2", apple=1, banana=3, cherry=2),
        *ranked("3", apple=1, banana=1, cherry=3),
        *ranked("4", apple=3, banana=2, cherry=1),
        *ranked("5", apple=1, banana=2),  # cherry has no answer to this one
        rating(question="6", model="apple", rank=1), rating(question="6", model="banana"),
    ]  # fmt: skip
    ranking = analyse(rows).ranking
    assert ranking
    assert (ranking.derived, ranking.comparisons, ranking.left_out) == (False, 5, 1)
    apple, banana, cherry = ranking.placings
    assert (apple.places, banana.places, cherry.places) == ((4, 0, 1), (1, 3, 1), (1, 1, 2))
    assert apple.wins.value == pytest.approx((1 + 1 + 0.5 + 0 + 1) / 5)
    assert (cherry.wins.value, cherry.wins.n) == (0.25, 4)
    pair = ranking.pairs[0]
    assert (pair.first, pair.second, pair.won, pair.tied, pair.lost) == ("apple", "banana", 3, 1, 1)
    assert pair.rate.value == pytest.approx(3.5 / 5)
    # In the sixth comparison anyone may have won or lost; cherry was not in it.
    for share in (apple.wins, pair.rate):
        assert (share.n, share.unscored) == (5, 1)
        assert share.bounds == pytest.approx((3.5 / 6, 4.5 / 6))
        assert share.whole
        assert share.low is not None
        assert share.whole[0] <= share.low
    assert cherry.wins.bounds is None


def test_without_rankings_places_follow_from_ratings_and_say_so() -> None:
    ranking = analyse([*rated("1", apple=5, banana=5), *rated("2", apple=2, banana=3)]).ranking
    assert ranking
    assert ranking.derived
    assert [placing.places for placing in ranking.placings] == [(1, 1), (2, 0)]
    assert [placing.wins.value for placing in ranking.placings] == [0.25, 0.75]


def test_people_rank_otherwise_than_they_rate() -> None:
    rows = [
        rating(question="1", model="apple", rating=5, rank=2),
        rating(question="1", model="banana", rating=1, rank=1),
    ]
    ranking = analyse(rows).ranking
    assert ranking
    assert [placing.places for placing in ranking.placings] == [(0, 1), (1, 0)]


def test_agreement_of_two_people() -> None:
    """By hand: with quadratic weights the disagreement is 4 where 26/4 is expected by chance."""
    given = {"1": (1, 1), "2": (2, 2), "3": (3, 1), "4": (3, 3)}
    rows = [
        rating(question=question, annotator=name, rating=value)
        for question, values in given.items()
        for name, value in zip(("ann", "bo"), values, strict=True)
    ]
    agreement = analyse([*rows, rating(question="5", annotator="cy")], scale=(1, 3)).agreement
    assert agreement
    assert agreement.shared == 4
    (pair,) = agreement.pairs
    assert (pair.first, pair.second, pair.n) == ("ann", "bo", 4)
    assert pair.kappa == pytest.approx(1 - 4 / (26 / 4))
    (alpha,) = agreement.coefficients
    assert (alpha.column, alpha.alpha.n) == ("rating", 4)
    assert alpha.alpha.value is not None
    assert (alpha.alpha.low or 0) < alpha.alpha.value < (alpha.alpha.high or 0)


def test_aspects_have_their_own_agreement() -> None:
    rows = [
        rating(question=str(number), annotator=name, factuality=IssueLevel.MAJOR if number % 2 else IssueLevel.NONE)
        for number in range(10)
        for name in ("ann", "bo")
    ]
    agreement = analyse(rows).agreement
    assert agreement
    alphas = {each.column: each.alpha.value for each in agreement.coefficients}
    assert alphas == {"rating": None, "factuality": 1.0}  # nobody varied in the ratings


# ---- data that allow little ------------------------------------------------------------------------------------


def failure_of(study: RatingStudy, predictor: str = "model") -> str:
    regression = study.regressions[predictor]
    assert not regression.effects
    assert not regression.differences
    assert regression.marginal is regression.log_likelihood is None
    return regression.failure


@pytest.mark.slow
def test_models_that_settle_the_ratings_have_no_estimate() -> None:
    rows = [r for n in range(10) for r in rated(str(n), apple=1 + n % 2, banana=4 + n % 2)]
    study = analyse(rows)
    assert "separation: no finite estimate of model[banana]" in failure_of(study)
    assert study.points
    assert study.points.failure == "the ratings have no spread beside these effects"  # it would be 3.00 [3.00, 3.00]
    for each in (study, analyse(rows, analysis="calmqa")):
        assert each.headline == "banana has the highest mean 4.50 of 5; whether models differ could not be tested"


def test_ratings_that_are_all_the_same_are_a_failure() -> None:
    study = analyse([r for n in range(4) for r in rated(str(n), apple=3, banana=3)])
    assert "at least two levels; every row is 3" in failure_of(study)
    assert study.headline == "apple and banana have the same mean 3.00 of 5"


def test_one_model_is_not_compared() -> None:
    study = analyse([rating(question=str(n), rating=1 + n % 5) for n in range(10)])
    assert "one level only" in failure_of(study)
    assert study.missing["comparison of models"] == "there is one model only, 'apple'"
    assert study.ranking is None
    assert study.headline == "apple: mean 3.00 of 5, 10 ratings"


def test_one_annotator_is_no_random_effect() -> None:
    rows = [rating(question=str(n), model="ab"[n % 2], rating=1 + n % 3) for n in range(30)]
    study = analyse(rows)
    assert study.regressions["model"].formula == "rating ~ model"
    assert study.points
    assert study.points.population.endswith("rated by one rater: 1 rater cannot say how other raters would rate")
    assert not study.regressions["model"].failure
    assert study.missing["agreement"] == "no answer was rated by two annotators"


@pytest.mark.parametrize(
    ("languages", "annotators", "term"),
    [
        (("fj", "hi"), ("ann", "bo"), "(1 | language/annotator)"),
        (("fj", "hi"), ("ann", "ann"), "(1 | language)"),
        ((None, None), ("ann", "bo"), "(1 | annotator)"),
        (("fj", None), ("ann", "bo"), "(1 | annotator)"),
    ],
)
def test_random_effects_are_those_that_vary(
    languages: tuple[str | None, ...], annotators: tuple[str, ...], term: str
) -> None:
    rows = [
        rating(question=str(n), model="ab"[n % 2], rating=1 + (n * 7) % 5, language=languages[n % 3 // 2],
               annotator=annotators[n % 3 // 2])
        for n in range(40)
    ]  # fmt: skip
    assert analyse(rows).regressions["model"].formula == f"rating ~ model + {term}"


@pytest.mark.slow
def test_questions_are_a_random_effect_wherever_they_repeat() -> None:
    """One rater for each question, eight models, no effect of type: without questions, 19% of p were below 5%."""
    dice, significant = random.Random(0), 0
    for _ in range(5):
        rows = []
        for n in range(40):
            hard = dice.gauss(0, 1)
            rows += [
                rating(question=str(n), model=model, annotator=f"r{n % 4}", type=("x", "y")[n % 2],
                       rating=min(5, max(1, round(3 + hard + dice.gauss(0, 0.7)))))
                for model in "abcdefgh"
            ]  # fmt: skip
        points = measure_points(rows, find_groups(rows))[0]
        assert "(1 | question)" in points.formula
        significant += points.differences["type"][0].p < 0.05
    assert significant <= 1
    assert "(1 | question)" not in fit_model(rows, find_groups(rows), "type").regression.formula, "as CaLMQA"


@pytest.mark.parametrize(
    ("type_of", "compared"),
    [(lambda number, _: "xy"[number % 2], {"model", "type"}), (lambda _, model: "xy"[model == "b"], {"model"})],
    ids=["each type in a language of its own", "each model with a type of its own"],
)
def test_columns_that_say_the_same_leave_the_differences_of_the_others(
    type_of: Callable[[int, str], str], compared: set[str]
) -> None:
    dice = random.Random(3)
    rows = [
        rating(question=str(n), model=model, annotator=person, rating=dice.randint(1, 5), language=("fj", "hi")[n % 2],
               type=type_of(n, model))
        for n in range(12) for model in "ab" for person in ("ann", "bo", "cy")
    ]  # fmt: skip
    points, fitted = measure_points(rows, find_groups(rows))
    assert (points.failure, points.over_raters, fitted is None) == ("", True, False)
    assert {factor for factor, differences in points.differences.items() if differences} == compared


def tastes(seed: int, raters: int = 8) -> list[Rating]:
    """Two models that are equally good, of which each rater likes one."""
    dice = random.Random(seed)
    people, hard = [dice.gauss(0, 0.5) for _ in range(raters)], [dice.gauss(0, 0.5) for _ in range(20)]
    liked = [{model: dice.gauss(0, 0.5) for model in "ab"} for _ in range(raters)]
    return [
        rating(question=str(q), model=model, annotator=f"r{r}",
               rating=min(5, max(1, round(3 + people[r] + hard[q] + liked[r][model] + dice.gauss(0, 0.7)))))
        for r in range(raters)
        for q in range(20)
        for model in "ab"
    ]  # fmt: skip


def test_log_odds_allow_for_raters_who_see_models_differently(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tastes(3)
    whole, as_calmqa = analyse(rows), analyse(rows, analysis="calmqa")
    new, old = whole.regressions["model"], as_calmqa.regressions["model"]
    assert new.formula == "rating ~ model + (1 | annotator) + (1 | question) + (1 | answer) + (1 | annotator:model)"
    assert "annotator:model" not in old.formula
    assert new.differences[0].se > 2 * old.differences[0].se
    assert "annotator:model" not in analyse(tastes(3, 2)).regressions["model"].formula, "two raters say too little"
    monkeypatch.setattr("mores.rating.regressions.MANY", 100)
    large = analyse(rows).regressions["model"]
    assert "annotator:model" not in large.formula
    assert large.notes[-1] == (
        "how differently raters see models is left out of it; read the differences in points, which have it"
    )


@pytest.mark.slow
def test_log_odds_of_equal_models_are_seldom_significant() -> None:
    """Without random slopes 22% were."""
    significant = 0
    for seed in range(60):
        rows = tastes(seed)
        groups = find_groups(rows)
        [difference] = fit_model(rows, groups, "model", measure_points(rows, groups)[0]).regression.differences
        significant += difference.p < 0.05
    assert significant <= 7


@pytest.mark.parametrize(("people", "over"), [(1, False), (2, False), (3, True)])
def test_two_raters_say_nothing_about_other_raters(people: int, over: bool) -> None:
    dice = random.Random(1)
    rows = [
        rating(question=str(n), model=model, annotator=f"r{r}", rating=dice.randint(1, 4) + (model == "b"))
        for n in range(15) for model in "ab" for r in range(people)
    ]  # fmt: skip
    study, before = analyse(rows), analyse(rows, analysis="calmqa")
    assert study.points
    assert study.points.over_raters == over
    assert ("cannot say how other raters would rate" in study.points.population) != over
    assert ("(1 | annotator)" in study.points.formula) == over
    assert ("annotator" in study.points.formula) == (people > 1), "two are a fixed effect"
    same = study.spread("a").mean == before.spread("a").mean
    assert same != over, "with three raters the interval of a mean is over raters too"


def test_one_question_says_nothing_about_others() -> None:
    """The two answers are the two models: the variance of answers was the value from which the search began."""
    dice = random.Random(1)
    rows = [
        rating(model=model, annotator=f"r{r}", rating=dice.choice([2, 3, 4]) + (model == "a"))
        for r in range(12) for model in "ab"
    ]  # fmt: skip
    study = analyse(rows)
    assert study.points
    assert study.points.formula == "rating ~ model + (1 | annotator)"
    assert "the variance of answer cannot be told from the fixed effects" in study.points.notes
    assert study.points.population == (
        "95% intervals of differences are about other raters like these 12 raters: 1 question cannot say how others "
        "would be rated"
    )
    assert study.ranking
    assert not study.ranking.over_raters, "an interval over one question is about other questions"


@pytest.mark.slow
def test_one_rater_in_each_language_says_nothing_about_others_in_wins_either() -> None:
    dice = random.Random(1)
    rows = [
        rating(question=str(n), model=model, language=language, annotator=f"{language} {r}", rating=dice.randint(1, 5))
        for n in range(10) for model in "ab" for language in ("fj", "hi", "sw") for r in range(2)
    ]  # fmt: skip
    for kept, over in ((rows, True), ([row for row in rows if row.annotator.endswith("0")], False)):
        study = analyse(kept)
        assert study.points
        assert study.ranking
        assert (study.points.over_raters, study.ranking.over_raters) == (over, over)


@pytest.mark.parametrize("questions", [1, 20])
def test_ratings_without_chance_are_no_test(questions: int) -> None:
    """One rater always gives a point more, or rated a single question."""
    rows = [row for n in range(questions) for row in rated(str(n), apple=2 + n % 4, banana=1 + n % 4)]
    assert analyse(rows).headline.endswith("of 5; whether models differ could not be tested")
    assert analyse(rows).headline.startswith("apple has the highest mean")


def test_a_difference_that_is_not_shown_is_not_called_highest() -> None:
    rows = [row for n in range(20) for row in rated(str(n), apple=1 + n % 5, banana=1 + (n * 3 + (n == 7)) % 5)]
    assert analyse(rows).headline.startswith("banana has the highest mean 3.05 of 5, but no difference from another")


def test_a_slider_has_too_many_places_for_thresholds() -> None:
    rows = [rating(question=str(n), model="ab"[n % 2], rating=n) for n in range(80)]
    study = analyse(rows)
    assert failure_of(study) == "80 different ratings are too many; round them to 30 or fewer"
    assert (study.scale[0], study.scale[-1], study.scale_is_known) == (0, 79, False)
    assert study.spread("a").mean.value == 39


def test_no_rating_at_all_is_said() -> None:
    study = analyse([rating(rating=None), rating(rating=None, model="banana")])
    assert study.headline == "no answer has a rating"
    assert failure_of(study)
    assert study.spread("apple").mean.unscored == 1


def test_the_scale_can_be_given() -> None:
    rows = [rating(rating=2), rating(rating=7, question="2")]
    assert analyse(rows).scale == (2, 3, 4, 5, 6, 7)
    assert analyse(rows, scale=(0, 10)).scale == tuple(range(11))
    with pytest.raises(InputError, match="a rating of 7 is not on the scale from 1 to 5"):
        analyse(rows, scale=(1, 5))


def test_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="there are no ratings to analyse"):
        analyse([])


# ---- the run ---------------------------------------------------------------------------------------------------


def test_a_run_is_read_back_and_the_same_ratings_are_the_same_run(tmp_path: Path) -> None:
    ratings = [*rated("1", apple=2, banana=3), *rated("2", apple=5, banana=1)]
    run = mores.rate(ratings, out=tmp_path / "run")
    assert isinstance(run, RateRun)
    assert list(run.ratings()) == ratings
    again = mores.open_run(run.path)
    assert isinstance(again, RateRun)
    assert again.result == run.result
    assert again.manifest.headline == run.result.headline
    path = made_up.write(tmp_path / "ratings.jsonl", ratings)
    assert mores.rate(path, out=tmp_path / "run").signature == run.signature
    with pytest.raises(mores.MoresError, match="holds another run"):
        mores.rate(ratings[:-1], out=tmp_path / "run")


@pytest.mark.slow
def test_a_made_up_study_is_recovered() -> None:
    study = analyse(made_up.study(questions=10))
    model = study.regressions["model"]
    assert [each.second["model"] for each in model.differences if each.first["model"] == "apple"] == [
        "banana",
        "cherry",
    ]
    assert all(each.estimate < 0 and each.p < 0.01 for each in model.differences)
    assert study.regressions["type"].effects[0].estimate > 0
    assert study.headline.startswith("cherry is rated highest")


def test_people_who_rate_alike_have_no_severity() -> None:
    """Nobody differs, so that an interval of no width would say more than is known."""
    rows = [
        rating(question=str(n), model="ab"[n % 2], rating=1 + (n * 7 + 2 * place) % 5, annotator=name)
        for n in range(20)
        for place, name in enumerate(("ann", "bo", "cy"))
    ]
    annotators = analyse(rows).annotators
    assert annotators
    assert annotators.notes == ("no difference in severity shows: the variance of annotators is estimated as zero",)
    assert [person.severity for person in annotators.people] == [None] * 3
    assert [person.mean for person in annotators.people] == [3.0] * 3


def test_a_headline_of_many_models_is_short() -> None:
    rows = [
        rating(question=str(n), model=model, rating=5 - (n * 7 + place) % 3 if place == 0 else 1 + (n * 3 + place) % 4)
        for n in range(12)
        for place, model in enumerate("abcdef")
    ]
    assert analyse(rows).headline == "a is rated highest: mean 4.00 of 5; it differs significantly from 5 of 5 others"


# ---- answers that people skip ----------------------------------------------------------------------------------


def skipping(seed: int, skipped: float) -> list[Rating]:
    """Two models that are rated alike, 3.07 on average; of the second, a share of the bad answers is skipped."""
    dice = random.Random(seed)
    rows = []
    for n in range(150):
        for model in "ab":
            value = dice.choices((1, 2, 3, 4, 5), (0.15, 0.2, 0.25, 0.23, 0.17))[0]
            skip = model == "b" and value < 3 and dice.random() < skipped
            rows.append(rating(question=str(n), model=model, rating=None if skip else value))
    return rows


def test_a_mean_covers_the_answers_that_people_skip() -> None:
    """Without what is missing, the interval of the second has the truth in none of these studies."""
    intervals = [analyse_means(skipping(seed, 0.7)) for seed in range(40)]
    assert sum(low <= 3.07 <= high for _, (low, high) in intervals) >= 38
    assert sum(low <= 3.07 <= high for (low, high), _ in intervals) <= 4


def analyse_means(rows: list[Rating]) -> tuple[tuple[float, float], tuple[float, float]]:
    columns = RatingColumns(rows)
    mean = spread(columns, columns.rows_of(model="b"), (1.0, 2.0, 3.0, 4.0, 5.0)).mean
    assert mean.low is not None
    assert mean.high is not None
    assert mean.whole is not None
    return (mean.low, mean.high), mean.whole


@pytest.mark.slow
def test_no_model_is_rated_highest_because_its_bad_answers_were_skipped() -> None:
    study = analyse(skipping(0, 0.7))
    [unrated] = [each.mean.unscored for each in study.by_mean if each.model == "b"]
    assert study.by_mean[0].model == "b"
    assert not study.is_decided
    assert study.headline.startswith("b has the highest mean 3.")
    assert f"whatever {unrated} answers without a rating would get)" in study.headline
    assert study.headline.endswith(", but chance or answers without a rating may explain that")
    assert list(study.lead) == ["a"]


@pytest.mark.slow
def test_a_model_is_rated_highest_whatever_was_skipped() -> None:
    rows = [row for n in range(40) for row in rated(str(n), apple=1 + n % 2, banana=4 + n // 2 % 2)]
    rows[1] = rows[1].model_copy(update={"rating": None})
    study = analyse(rows)
    assert study.is_decided
    assert study.headline.startswith("banana is rated highest: mean 4.5")
    assert "lead" not in analyse(rows[2:]).model_dump()


@pytest.mark.slow
def test_a_large_study_is_fitted_from_some_of_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same models as of a small one; people are described by the questions that were drawn, which is said."""
    dice = random.Random(0)
    rows = [
        rating(question=str(n), model=model, annotator=f"r{r}", rating=dice.choice([1, 2, 3, 3, 4, 5]))
        for n in range(40)
        for model in "ab"
        for r in range(3)
    ]
    whole = analyse(rows)
    monkeypatch.setattr("mores.rating.regressions.MANY", 200)
    monkeypatch.setattr("mores.rating.regressions.SOME", 180)
    large = analyse(rows)
    one, two = whole.regressions["model"], large.regressions["model"]
    assert two.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-4)
    assert two.differences[0].estimate == pytest.approx(one.differences[0].estimate, abs=1e-3)
    assert large.annotators
    assert large.annotators.notes[-1] == "of 30 questions drawn at random: 180 ratings"
    assert {person.name for person in large.annotators.people} == {"r0", "r1", "r2"}
    assert "at random would be found in" in describe_power(large.annotators.people)
    as_calmqa = analyse(rows, analysis="calmqa").annotators
    assert as_calmqa
    assert describe_power(as_calmqa.people) == ""
    monkeypatch.setattr("mores.rating.regressions.MOST_LEVELS", 2)
    for many in (1, 10**6):  # also in a study that is read at once
        monkeypatch.setattr("mores.rating.regressions.MANY", many)
        assert "too many for it" in analyse(rows).regressions["model"].failure


@pytest.mark.slow
def test_win_rates_hold_for_other_raters_and_questions() -> None:
    """Preferences of raters and of questions vary; over questions alone, 72% of the intervals hold."""
    rng, held, narrow = np.random.default_rng(0), 0, 0
    raters, questions = np.divmod(np.arange(4 * 40), 40)
    for _ in range(200):
        taste, topic = rng.normal(0, 0.6, 4), rng.normal(0, 0.7, 40)
        won = (0.5 + taste[raters] + topic[questions] + rng.normal(0, 1, len(raters)) > 0).astype(float)
        truth = norm.cdf(0.5 / np.sqrt(0.36 + 0.49 + 1))
        low, high = crossed_interval(won, raters, questions)
        held += low <= truth <= high
        low, high = mean_interval(won, groups=questions)
        narrow += low <= truth <= high
    assert held >= 0.93 * 200
    assert narrow < 0.8 * 200


@pytest.mark.slow
def test_win_rates_say_whom_they_are_about() -> None:
    dice = random.Random(0)
    rows = [
        rating(question=str(n), model=model, annotator=f"r{r}", rating=dice.randint(1, 5))
        for n in range(12)
        for model in "ab"
        for r in range(3)
    ]
    new, old = analyse(rows), analyse(rows, analysis="calmqa")
    assert new.ranking
    assert old.ranking
    assert (new.ranking.over_raters, old.ranking.over_raters) == (True, False)
    assert "over_raters" not in old.ranking.model_dump()
    one, two = new.ranking.pairs[0].rate, old.ranking.pairs[0].rate
    assert one.value == two.value
    assert (one.low, one.high) != (two.low, two.high)
    assert "other raters" in ranking_note(new.ranking, True)


@pytest.mark.slow
def test_a_column_has_the_same_intervals_as_a_group_of_every_study() -> None:
    ratings = [each.model_copy(update={"metadata": {"Kind": each.type}}) for each in made_up.study(people=4)]
    points, fitted = measure_points(ratings, find_groups(ratings))
    assert fitted is not None
    assert points.over_raters
    cells, scale = RatingColumns(ratings), (1.0, 2.0, 3.0, 4.0, 5.0)
    by = ratings_by(ratings, "Kind", scale, fitted)
    assert by == ratings_by(ratings, "type", scale, fitted)
    assert [*by] == ["agnostic", "specific"]
    for kind, found in by.items():
        for each, model in zip(found, (None, *made_up.MODELS), strict=True):
            group = {"type": kind} | ({"model": model} if model else {})
            usual = widen(spread(cells, cells.rows_of(**group), scale, **group), cells, fitted, scale)
            assert (each.model, each.counts, each.mean) == (model, usual.counts, usual.mean)


def test_ratings_without_a_value_in_a_column_are_a_group() -> None:
    kept = [{"Place": "inland"}, {"Place": "coast"}, {}]
    ratings = [rating(question=str(n), rating=n + 1, metadata=kept[n % 3]) for n in range(5)]
    study = analyse(ratings, by=["Place"])
    assert {place: each.mean.n for place, [each] in study.by["Place"].items()} == {"coast": 2, "inland": 2, "": 1}
    assert [row[0] for row in column_tables(study)["ratings-by-0"].rows] == ["coast", "inland", "not given"]


def test_models_are_compared_within_each_group_of_a_column() -> None:
    ratings = [
        each.model_copy(update={"metadata": {"Kind": each.type}, "spans": None}) for each in made_up.study(people=4)
    ]
    study = analyse(ratings, by=["Kind", "question_id"])
    assert [*study.points_by] == ["Kind"], "one question is no sample"
    assert [*study.points_by["Kind"]] == ["agnostic", "specific"]
    for kind, points in study.points_by["Kind"].items():
        group = [each for each in ratings if each.type == kind]
        alone, _ = measure_points(group, find_groups(group))
        assert points.differences["model"] == alone.differences["model"], "as in a study of this group alone"
    table = column_tables(study)["differences-by-0"]
    assert len(table.rows) == 2 * len(list(combinations(made_up.MODELS, 2)))
