"""Figures of many answers: golden numbers, which answers are in which figure, and the paper's way of counting."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import ConfigError
from mores.longanswer.records import Appraisal, Claim, LanguageCheck, LongAnswer, QuestionKind, Repetition
from mores.longanswer.summary import (
    FIGURES,
    HIGH_AND_MID,
    LEFT_OUT,
    LOW,
    Counting,
    LongformSummary,
    resource_level,
    summarise,
)
from mores.stats.intervals import share_interval
from mores.types import Failure, FailureKind, Signature

FAILED = Failure(kind=FailureKind.MODEL, reason="the API returned an error")
AGAIN = Repetition(times=4, text="a", spans=((0, 1),))
Pair = tuple[LongAnswer, Appraisal]
NUMBERS = count()
"""Each answer is to another question, unless a test says otherwise."""


def pair(
    language: str = "fj",
    detected: str | None = "",
    supported: tuple[bool | None, ...] | None = None,
    relevant: bool | None = None,
    kind: QuestionKind | None = QuestionKind.SPECIFIC,
    model: str = "m",
    **more: object,
) -> Pair:
    """An answer in the correct language, unless another one is found, with its claims."""
    detected = language if detected == "" else detected
    check = LanguageCheck(detected=detected, correct=None if detected is None else detected == language)
    claims = [Claim(text=str(n), sentence=0, supported=each) for n, each in enumerate(supported or ())]
    answer = LongAnswer(id="x", question=f"{next(NUMBERS)}?", answer="!", language=language, kind=kind, model=model)
    fields = {"language": check, "claims": None if supported is None else claims, "relevant": relevant, **more}
    return answer, Appraisal.model_validate({"id": "x", "model": model, **fields})


def missing() -> Pair:
    answer, _ = pair()
    return answer, Appraisal(id="x", model="m", failures={"answer": FAILED})


def summary_of(pairs: list[Pair], counting: Counting | None = None) -> LongformSummary:
    [summary] = summarise(pairs, counting)
    return summary


FOUR = [
    pair(supported=(True, True), relevant=True),  # S 1
    pair(supported=(True, False), relevant=False),  # S 0
    pair(detected="en", tells=("apology", "english")),  # wrong language
    pair(repetition=AGAIN),
]


def test_the_figures_of_four_answers() -> None:
    figures = summary_of(FOUR, Counting(k=4)).figures
    assert {name: result.value for name, result in figures.items()} == {
        "S": 0.25,
        "without issues": 0.5,
        "wrong language": 0.25,
        "repetition": 0.25,
        "precision": 0.75,
        "recall": 0.375,
        "F1": pytest.approx((2 / 3 + 1 / 3) / 2),
        "claims": 2.0,
        "relevance": 0.5,
        "english": 0.25,
        "tell: apology": 0.25,
        "tell: translation": 0.0,
        "tell: names_language": 0.0,
        "tell: emoji": 0.0,
        "tell: english": 0.25,
        "word: apology": 0.0,
        "word: translation": 0.0,
        "word: language": 0.0,
    }
    assert list(figures) == list(FIGURES)
    assert (figures["S"].n, figures["precision"].n, figures["precision"].unscored) == (4, 2, 0)
    assert (figures["wrong language"].low, figures["wrong language"].high) == pytest.approx(share_interval(1, 4))
    precision = figures["precision"]
    assert precision.low is not None
    assert precision.high is not None
    assert 0.0 < precision.low < 0.5  # two answers say little
    assert 0.75 < precision.high <= 1.0


def test_words_are_counted_anywhere_as_in_appendix_c() -> None:
    answer, appraisal = pair()
    text = "The feast lasts three days. " * 40 + "Many misunderstand a translation from Fijian."
    [summary] = summarise([(answer.model_copy(update={"answer": text}), appraisal), pair(language="en")])
    rates = {name: (result.value, result.n) for name, result in summary.figures.items() if name.startswith("word")}
    assert rates == {"word: apology": (0.5, 2), "word: translation": (0.5, 2), "word: language": (1.0, 1)}


def test_lengths_of_table_16_are_of_all_answers_and_of_those_without_issues() -> None:
    answer, appraisal = pair()
    long = (answer.model_copy(update={"answer": "one two three four five"}), appraisal)
    pairs = [long, pair(), pair(repetition=AGAIN), missing()]
    lengths = summary_of(pairs).lengths
    assert (lengths["all"].answers, lengths["all"].median) == (3, 1.0)
    assert lengths["all"].mean == pytest.approx(7 / 3)
    sound = lengths["without issues"]
    assert (sound.answers, sound.mean, sound.median) == (2, 3.0, 3.0)
    assert sound.std == pytest.approx(8**0.5)
    counted = summary_of(pairs, Counting(missing_as_issue=True)).lengths
    assert (counted["all"].answers, counted["all"].mean) == (4, 1.75), "the paper counts a missing answer as empty"


@pytest.mark.slow
def test_specific_is_compared_with_agnostic() -> None:
    agnostic = [pair(kind=QuestionKind.AGNOSTIC) for _ in range(8)]
    specific = [pair(repetition=AGAIN) for _ in range(4)] + [pair() for _ in range(4)]
    gap = summary_of(agnostic + specific).specific["without issues"]
    assert (gap.value, gap.n) == (-0.5, 16)
    # Newcombe's interval of 4/8 - 8/8 by hand, from the intervals of both shares
    (low1, high1), (low2, high2) = share_interval(4, 8), share_interval(8, 8)
    assert gap.low == pytest.approx(-0.5 - ((0.5 - low1) ** 2 + (high2 - 1) ** 2) ** 0.5)
    assert gap.high == pytest.approx(-0.5 + ((high1 - 0.5) ** 2 + (1 - low2) ** 2) ** 0.5)
    assert summary_of(agnostic).specific == {}


def test_without_k_there_is_no_recall_and_a_bad_one_is_refused() -> None:
    assert "F1" not in summary_of(FOUR).figures
    with pytest.raises(ConfigError, match="at least 1"):
        summarise(FOUR, Counting(k=0))


def test_what_was_not_judged_has_no_figure() -> None:
    surface = summary_of(FOUR, Counting(k=4, facts=False, relevance=False)).figures
    assert not {"S", "precision", "recall", "F1", "claims", "relevance"} & set(surface)
    assert {"precision", "S"}.isdisjoint(summary_of(FOUR, Counting(facts=False)).figures)


def test_what_failed_is_unscored() -> None:
    pairs = [
        pair(supported=(True, None), relevant=True),
        pair(supported=(None,), relevant=True),
        pair(failures={"translation": FAILED}),
        pair(supported=(), relevant=True, failures={"claims": FAILED}),
        missing(),
    ]
    summary = summary_of(pairs)
    figures = summary.figures
    precision = figures["precision"]
    assert (precision.value, precision.n, precision.unscored) == (None, 0, 3)  # one of four is too little
    assert precision.bounds == (0.125, 1.0)
    assert (figures["relevance"].n, figures["relevance"].unscored) == (3, 1)
    assert (figures["S"].value, figures["S"].n, figures["S"].unscored) == (None, 0, 4)
    assert figures["S"].bounds == (0.1, 1.0)
    assert (figures["claims"].value, figures["claims"].unscored) == (1.0, 1)
    assert (figures["without issues"].n, figures["without issues"].unscored) == (4, 1)
    assert (summary.answers, summary.missing, summary.claims, summary.undecided) == (5, 1, 3, 2)
    assert summary.failures == {"answer": 1, "translation": 1, "claims": 1}


def test_s_is_the_share_without_issues_times_the_mean_of_the_decided() -> None:
    """Four have an issue, six have not; of these the search failed for two."""
    good, failed = {"supported": (True, False), "relevant": True}, {"supported": (None, None), "relevant": True}
    pairs = [pair(detected="en")] * 4 + [pair(**good)] * 4 + [pair(**failed)] * 2  # type: ignore[arg-type]
    score = summary_of(pairs).figures["S"]
    assert score.value == pytest.approx(0.6 * 0.5)
    assert (score.n, score.unscored) == (8, 2)
    assert score.bounds == pytest.approx((0.2, 0.4))
    every = summary_of(pairs[:4] + [pair(**failed)] * 6).figures["S"]  # type: ignore[arg-type]
    assert (every.value, every.n, every.unscored) == (None, 0, 6)
    assert every.bounds == pytest.approx((0.0, 0.6))


def test_no_precision_from_answers_without_claims_alone() -> None:
    silent, failed = pair(supported=(), relevant=True), pair(supported=(None,), relevant=True)
    figures = summary_of([silent, silent, failed, failed], Counting(k=3)).figures
    assert [figures[name].value for name in ("precision", "recall", "F1", "S")] == [None] * 4
    assert [summary_of([silent, silent]).figures[name].value for name in ("precision", "S")] == [0.0, 0.0]
    half = summary_of([silent, failed, pair(supported=(True,), relevant=True)]).figures
    assert [half[name].value for name in ("precision", "S")] == pytest.approx([2 / 3, 2 / 3])


def test_an_answer_counts_by_the_share_of_its_claims_that_was_decided() -> None:
    pairs = [pair(supported=(True, None), relevant=True), pair(supported=(False, False), relevant=True)]
    assert summary_of(pairs).figures["precision"].value == pytest.approx(0.5 / 1.5)


def test_answers_to_one_question_are_not_independent() -> None:
    alone = [pair(detected="en" if n % 8 < 4 else "") for n in range(40)]
    asked_again = [
        (answer.model_copy(update={"question": f"{n // 4}?"}), result) for n, (answer, result) in enumerate(alone)
    ]
    apart, together = summary_of(alone).figures["wrong language"], summary_of(asked_again).figures["wrong language"]
    assert apart.value == together.value == 0.5
    assert apart.low is not None
    assert together.low is not None
    assert together.low < apart.low - 0.1


def test_an_unsure_language_is_unscored() -> None:
    figures = summary_of([pair(detected=None, supported=(True,), relevant=True)]).figures
    assert (figures["wrong language"].value, figures["wrong language"].unscored) == (None, 1)
    assert (figures["english"].value, figures["english"].unscored) == (None, 1)
    assert (figures["repetition"].value, figures["precision"].value, figures["S"].value) == (0.0, 1.0, None)


def test_the_paper_counts_a_missing_answer_as_one_with_an_issue() -> None:
    """As for Gemini-1.5-Pro in Table 2: the wrong, the repeating, the missing and the rest are 100% together."""
    pairs = [*FOUR, missing()]
    ours, theirs = summary_of(pairs).figures, summary_of(pairs, Counting(missing_as_issue=True)).figures
    assert (ours["without issues"].value, theirs["without issues"].value) == (0.5, 0.4)
    assert (ours["S"].value, theirs["S"].value) == (0.25, 0.2)
    assert theirs["wrong language"].value == 0.2
    assert theirs["precision"] == ours["precision"]


def test_facts_of_answers_with_issues_count_only_where_asked_for() -> None:
    pairs = [*FOUR, pair(detected="en", supported=(False,), relevant=False)]
    assert summary_of(pairs).figures["precision"].value == 0.75
    assert summary_of(pairs, Counting(every=True)).figures["precision"].value == 0.5


def test_questions_in_english_cannot_be_answered_in_english_by_mistake() -> None:
    assert "english" not in summary_of([pair("en")]).figures
    assert summary_of([pair("en"), pair("fj", detected="en")]).figures["english"].n == 1


def test_the_four_languages_that_the_paper_leaves_out() -> None:
    good, bad = {"supported": (True,), "relevant": True}, {"detected": "en"}
    pairs = [pair("fj", **good), pair("rn", **bad), pair("de", kind=QuestionKind.AGNOSTIC, **good)]  # type: ignore[arg-type]
    summary = summary_of(pairs)
    assert summary.figures["S"].value == pytest.approx(2 / 3)
    assert {group: figures["S"].n for group, figures in summary.by["paper"].items()} == {
        "all": 2,
        "agnostic": 1,
        "specific": 1,
    }
    assert summary.by["kind"]["specific"]["S"].value == 0.5
    assert set(summary.by["language"]) == {"fj", "rn", "de"}
    assert summary.by["language, kind"]["rn, specific"]["wrong language"].value == 1.0
    assert summary.by["resources"]["low"]["S"].n == 2
    assert summary.by["resources, kind"]["high and mid, agnostic"]["S"].value == 1.0


def test_answers_without_a_kind_are_in_no_group_of_kinds() -> None:
    summary = summary_of([pair(kind=None)])
    assert summary.by["kind"] == {}
    assert set(summary.by["paper"]) == {"all"}


def test_each_model_has_its_summary() -> None:
    signature = Signature(task="x")
    summaries = summarise([pair(model="b"), pair(model="a", detected="en"), pair(model="b")], signature=signature)
    assert [(summary.model, summary.answers, summary.signature) for summary in summaries] == [
        ("b", 2, signature),
        ("a", 1, signature),
    ]
    assert [summary.figures["wrong language"].value for summary in summaries] == [0.0, 1.0]
    assert summarise([]) == []


def test_resources_are_those_of_table_4() -> None:
    assert (len(HIGH_AND_MID), len(LOW)) == (11, 12)
    assert not HIGH_AND_MID & LOW
    assert LEFT_OUT < LOW
    assert (resource_level("zh-Hant"), resource_level("rn"), resource_level("sw")) == ("high and mid", "low", None)


values = st.tuples(
    st.sampled_from(["fj", "en", "rn", "sw"]),
    st.sampled_from(["", "en", None]),
    st.none() | st.lists(st.sampled_from([True, False, None]), max_size=4).map(tuple),
    st.sampled_from([True, False, None]),
)


@pytest.mark.slow
@given(st.lists(values, min_size=1, max_size=8), st.booleans())
def test_every_figure_is_a_number_in_its_interval_and_counts_every_answer_once(
    rows: list[tuple[str, str | None, tuple[bool | None, ...] | None, bool | None]], every: bool
) -> None:
    summary = summary_of([pair(*row) for row in rows], Counting(k=3, every=every))
    for name, result in summary.figures.items():
        assert result.n + result.unscored <= len(rows)
        if result.value is not None:
            assert result.low is not None
            assert result.high is not None
            assert result.low - 1e-9 <= result.value <= result.high + 1e-9
            assert result.value <= 1 or name == "claims"
            if result.bounds is not None:
                assert result.bounds[0] - 1e-9 <= result.value <= result.bounds[1] + 1e-9
    parts = [figures["S"] for figures in summary.by["language"].values()]
    assert sum(part.unscored for part in parts) == summary.figures["S"].unscored
