"""A judge against people: correlations overall and by group, beside the agreement between people, and its worth.

The target is the mean of people's ratings of an answer. Answers to one question depend on each other: intervals and
tests add up, or draw, whole questions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from mores.metaevaluation.compare import adjust_groups, adjust_within_statistics, compared
from mores.metaevaluation.people.answers import PeopleAnswer, PeopleData, by_group
from mores.metaevaluation.people.judges import JudgeScores
from mores.metaevaluation.people.records import People, PeopleScore, PeopleSpans, Worth
from mores.metaevaluation.records import JudgementComparison, MetricComparison
from mores.metric.groups import FEWEST
from mores.stats import influence
from mores.stats.classification import Floats
from mores.stats.correlation import spearman
from mores.stats.intervals import drawn_interval
from mores.stats.paired import paired_difference
from mores.stats.resampling import draw_counts, group_codes, resample_sums
from mores.stats.results import difference_result, mean_result
from mores.stats.worth import effective_items, interval_alpha, side_by_side
from mores.types import Result

Scores = Mapping[str, float]
"""A judge's, by the answer's id."""


@dataclass
class Joined:
    """The answers with a rating by people and a score by the judge."""

    answers: list[PeopleAnswer]
    judge: Floats
    rated: Sequence[PeopleAnswer]
    """All that people rated, also those without a score."""
    scores: Scores

    @cached_property
    def people(self) -> Floats:
        """The mean of people's ratings."""
        return np.array([answer.mean for answer in self.answers], dtype=np.float64)

    @cached_property
    def groups(self) -> npt.NDArray[np.object_]:
        """Answers to the same question depend on each other."""
        return np.array([answer.question_key for answer in self.answers], dtype=object)

    @property
    def missing(self) -> int:
        """The number of answers without a score."""
        return len(self.rated) - len(self.answers)


def join_judge(answers: Sequence[PeopleAnswer], scores: Scores) -> Joined:
    """Return the answers that the judge scored."""
    scored = [answer for answer in answers if answer.id in scores]
    return Joined(scored, np.array([scores[answer.id] for answer in scored], dtype=np.float64), answers, scores)


def measure_judges(data: PeopleData, judges: Sequence[JudgeScores]) -> People:
    """Measure every judge and compare every two."""
    rated = data.rated
    shared = [answer for answer in rated if len(answer.scores) > 1]
    questions = np.array([answer.question_key for answer in shared], dtype=object)
    alpha = interval_alpha([answer.scores for answer in shared], questions)
    return People(
        data=data.path.name,
        kind=data.kind,
        revision=data.revision,
        answers=len(rated),
        unrated=len(data.answers) - len(rated),
        ratings=sum(len(answer.scores) for answer in rated),
        people=len({person for answer in rated for person in answer.opinions}),
        shared=len(shared),
        alpha=_result("alpha", *alpha, len(shared)) if alpha else None,
        judges=tuple(score_against_people(rated, judged) for judged in judges),
        comparisons=tuple(compare_all(rated, judges)),
    )


def score_against_people(answers: Sequence[PeopleAnswer], judged: JudgeScores) -> PeopleScore:
    """Return every figure of one judge."""
    joined = join_judge(answers, judged.scores)
    shared = [answer for answer in joined.answers if len(answer.scores) > 1]
    part = join_judge(shared, judged.scores)
    beside = side_by_side([answer.scores for answer in part.answers], part.judge, part.groups) if shared else None
    with_person = between = difference = people = None
    if beside:
        n = beside.ratings
        with_person = _result("with_person", beside.judge, beside.judge_interval, n)
        between = _result("between_people", beside.people, beside.people_interval, n)
        difference = _result("difference", beside.judge - beside.people, beside.difference, n)
        people = _result("people", beside.worth, beside.worth_interval, n)
    scores = {result.name: result for result in _correlations(joined)}
    scores["spearman"] = _spearman(joined)
    if within := _within_languages(joined):
        scores["within_languages"] = within
    return PeopleScore(
        judge=judged.name,
        n=len(joined.answers),
        unscored=judged.failures.total(),
        failures=dict(judged.failures),
        scores=scores,
        by=_by_group(joined),
        with_person=with_person,
        between_people=between,
        difference=difference,
        worth=_worth(scores["pearson"], judged.judged_only, people),
        spans=_spans(answers, judged),
    )


def _correlations(joined: Joined) -> Iterator[Result]:
    """Yield Pearson's r, Kendall's τ-b and the share of preferences, each with its interval."""
    n = len(joined.answers)
    for name, statistic in _influences(joined).items():
        interval = statistic.interval(joined.groups) if statistic else None
        yield _result(name, statistic.value if statistic else None, interval, n, joined.missing)
    hits, questions = _preferences(joined.rated, joined.scores)
    yield mean_result("preference", hits, groups=questions)


def _influences(joined: Joined) -> dict[str, influence.Influenced | None]:
    return {
        "pearson": influence.pearson(joined.people, joined.judge),
        "kendall": influence.kendall_b(joined.people, joined.judge),
    }


def _within_languages(joined: Joined) -> Result | None:
    """Return Pearson's r after the mean of each language is removed from both; None with one language only."""
    languages = [answer.groups.get("language", "") for answer in joined.answers]
    if len(set(languages)) < 2:
        return None
    codes = group_codes(np.array(languages, dtype=object), len(languages))
    sizes = np.bincount(codes)
    centred = [values - (np.bincount(codes, weights=values) / sizes)[codes] for values in (joined.people, joined.judge)]
    statistic = influence.pearson(*centred)
    interval = statistic.interval(joined.groups) if statistic else None
    return _result("within_languages", statistic.value if statistic else None, interval, len(codes), joined.missing)


def _spearman(joined: Joined) -> Result:
    value = spearman(joined.people, joined.judge) if len(joined.answers) > 1 else None
    if value is None:
        return Result(name="spearman", value=None, n=len(joined.answers), unscored=joined.missing)
    codes = group_codes(joined.groups, len(joined.groups))
    units = int(codes.max()) + 1
    drawn: list[float] = []
    for block in draw_counts(units, width=len(codes)):
        for counts in block:
            rows = np.repeat(np.arange(len(codes)), counts[codes].astype(np.intp))
            value_drawn = spearman(joined.people[rows], joined.judge[rows])
            drawn.append(math.nan if value_drawn is None else value_drawn)
    interval = drawn_interval(value, drawn, units, least=-1.0)
    return _result("spearman", value, interval, len(codes), joined.missing)


def _preferences(answers: Iterable[PeopleAnswer], scores: Scores) -> tuple[Floats, npt.NDArray[np.object_]]:
    """Return, for every two answers to a question of which people prefer one, if the judge does too (a tie is half).

    It is nan where the judge did not score both.
    """
    by_question: dict[str, list[PeopleAnswer]] = defaultdict(list)
    for answer in answers:
        by_question[answer.question_key].append(answer)
    hits, questions = [], []
    for question, members in by_question.items():
        for a, b in combinations(members, 2):
            if a.mean != b.mean:
                judge = scores.get(a.id, math.nan) - scores.get(b.id, math.nan)
                hits.append((1 + float(np.sign((a.mean - b.mean) * judge))) / 2)
                questions.append(question)
    return np.array(hits), np.array(questions, dtype=object)


def _by_group(joined: Joined) -> dict[str, dict[str, dict[str, Result]]]:
    by: dict[str, dict[str, dict[str, Result]]] = {}
    for grouping, groups in by_group(joined.rated).items():
        for group, rows in groups.items():
            part = join_judge([joined.rated[row] for row in rows], joined.scores)
            if not part.answers:
                continue
            means = {"people": part.people, "judge": part.judge}
            results = [*_correlations(part), *(_mean(name, values, part.missing) for name, values in means.items())]
            if worth := _worth(results[0], 0, None):
                results.append(worth.multiple)
            by.setdefault(grouping, {})[group] = {result.name: result for result in results}
    return by


def _mean(name: str, values: Floats, missing: int) -> Result:
    return Result(name=name, value=float(values.mean()), n=values.size, unscored=missing)


def _worth(pearson: Result, judged_only: int, people: Result | None) -> Worth | None:
    """Return the worth by the correlation and its interval; a correlation that may be 0 may be worth nothing."""
    if pearson.value is None or pearson.low is None or pearson.high is None:
        return None
    ends = sorted(map(abs, (pearson.low, pearson.high)))
    bounds = (0.0 if pearson.low <= 0 <= pearson.high else ends[0], ends[1])

    def result(name: str, rated: int, more: float) -> Result:
        value, low, high = (effective_items(r, rated, more) for r in (pearson.value or 0.0, *bounds))
        return Result(name=name, value=value, low=low, high=high, n=pearson.n)

    effective = result("effective", pearson.n, judged_only) if judged_only else None
    return Worth(multiple=result("multiple", 1, math.inf), effective=effective, judged_only=judged_only, people=people)


# -- marks -------------------------------------------------------------------------------------------------


def _spans(answers: Sequence[PeopleAnswer], judged: JudgeScores) -> PeopleSpans | None:
    """Return F1 of the judge's marks with each person's, and of people's with each other's, on the same texts."""
    if not judged.marks:
        return None
    from mores.stats.marks import SpanMark, covered, f1_of, kappa_of, mask, overlap  # it needs SciPy, half a second

    with_judge, between, questions = [], [], []
    for answer in answers:
        people = [opinion.marks for opinion in answer.opinions.values() if opinion.marks is not None]
        if not people or not answer.text or answer.id not in judged.marks:
            continue
        text = answer.text
        marked = [[SpanMark(span.start, span.end) for span in spans] for spans in (judged.marks[answer.id], *people)]
        judge, *others = (mask(len(text), covered(text, marks)) for marks in marked)
        with_judge.append(np.sum([overlap(judge, other) for other in others], axis=0))
        between.append(np.sum([[0.0] * 4, *(overlap(*pair) for pair in combinations(others, 2))], axis=0))
        questions.append(answer.question_key)
    if not with_judge or not np.sum(with_judge):
        return None
    groups = np.array(questions, dtype=object)
    pairs = np.array(between) if np.sum(between) else None
    return PeopleSpans(
        judge=_span_figure("judge", f1_of, np.array(with_judge), groups),
        people=None if pairs is None else _span_figure("people", f1_of, pairs, groups),
        kappa=_span_figure("kappa", kappa_of, np.array(with_judge), groups),
        people_kappa=None if pairs is None else _span_figure("people_kappa", kappa_of, pairs, groups),
    )


def _span_figure(name: str, statistic: Callable[[Floats], Floats], rows: Floats, groups: npt.ArrayLike) -> Result:
    value = float(statistic(rows.sum(axis=0)))
    drawn = statistic(resample_sums(rows, groups=groups))
    units = np.unique(np.asarray(groups)).size
    return _result(name, value, drawn_interval(value, drawn, units, least=-1.0 if "kappa" in name else 0.0), len(rows))


# -- two judges --------------------------------------------------------------------------------------------


def compare_all(answers: Sequence[PeopleAnswer], judges: Sequence[JudgeScores]) -> list[MetricComparison]:
    """Return every two judges on the answers that both scored, p-values adjusted within each statistic."""
    return adjust_within_statistics(
        comparison for first, second in combinations(judges, 2) for comparison in _compare(answers, first, second)
    )


def compare_two(answers: Sequence[PeopleAnswer], first: JudgeScores, second: JudgeScores) -> JudgementComparison:
    """Return which of two judges agrees better with people, overall and in every group of ten answers or more."""
    shared = first.scores.keys() & second.scores.keys()
    by: dict[str, dict[str, MetricComparison]] = {}
    for grouping, groups in by_group(answers).items():
        parts = {group: [answers[row] for row in rows] for group, rows in groups.items()}
        large = {g: part for g, part in parts.items() if sum(answer.id in shared for answer in part) >= FEWEST}
        by[grouping] = adjust_groups({g: next(_compare(part, first, second), None) for g, part in large.items()})
    n = sum(answer.id in shared for answer in answers)
    overall = tuple(_compare(answers, first, second))
    return JudgementComparison(
        first=first.name, second=second.name, n=n, left_out=len(answers) - n, overall=overall, by=by
    )


def _compare(answers: Sequence[PeopleAnswer], *judges: JudgeScores) -> Iterator[MetricComparison]:
    """Yield the differences of two judges on the answers that both scored; the others are missing."""
    names = (judges[0].name, judges[1].name)
    shared = [answer for answer in answers if all(answer.id in judged.scores for judged in judges)]
    first, second = (join_judge(shared, judged.scores) for judged in judges)
    others, missing = _influences(second), {"missing": len(answers) - len(shared)}
    for statistic, influenced in _influences(first).items():
        other = others[statistic]
        if influenced and other:
            test = influence.compare(influenced, other, first.groups)
            yield compared(names, statistic, test, len(shared)).model_copy(update=missing)
    (hits, questions), (other_hits, _) = (_preferences(answers, judged.scores) for judged in judges)
    both = ~np.isnan(hits - other_hits)
    if found := paired_difference(hits[both], other_hits[both], groups=questions[both]) if both.any() else None:
        whole = difference_result("difference", hits, other_hits, groups=questions).whole
        comparison = compared(names, "preference", found, int(both.sum()))
        yield comparison.model_copy(update={"missing": int((~both).sum()), "whole": whole})


def _result(name: str, value: float | None, interval: tuple[float, float] | None, n: int, missing: int = 0) -> Result:
    low, high = interval or (None, None)
    return Result(name=name, value=value, low=low, high=high, n=n, unscored=missing)
