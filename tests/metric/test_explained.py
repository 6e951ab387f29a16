"""Explanations of a tuned model: nonsense is no correction, and the sentence shown is the one that disagrees."""

from __future__ import annotations

import pytest

from mores.metric.explained import checked, corrects, disagreeing_sentence
from mores.models.embedded import EXPLANATIONS
from mores.types import Error, Evidence, Sample, Severity

SONGKRAN = "Songkran marks the traditional Thai New Year. It falls on 13 to 15 April. People splash water."
TEXT = "Songkran, the traditional Thai New Year, is celebrated in October."
COMPARED = "contradicts the evidence"


def explained(type_: str, explanation: str, *, quote: str = "October", passages: tuple[str, ...] = (SONGKRAN,)) -> str:
    """The explanation after the check, of an error that cites the last passage."""
    sample = Sample(id="s", text=TEXT, evidence=tuple(Evidence(text=passage) for passage in passages))
    start = TEXT.index(quote)
    error = Error(
        side="text", start=start, end=start + len(quote), quote=quote, severity=Severity.MAJOR, type=type_,
        explanation=explanation, evidence=(len(passages),) if passages else (),
    )  # fmt: skip
    result = checked(error, sample, EXPLANATIONS)
    assert result.model_copy(update={"explanation": error.explanation}) == error
    return result.explanation


def test_the_sentence_that_is_shown_has_the_other_date() -> None:
    written = EXPLANATIONS.cited[COMPARED].format(
        quote="October", sentence="Songkran marks the traditional Thai New Year."
    )
    assert explained(COMPARED, written) == ("“October” does not agree with the evidence: “It falls on 13 to 15 April.”")
    assert explained(COMPARED, written, passages=("Tea is hot.", SONGKRAN)).endswith("“It falls on 13 to 15 April.”")


def test_a_correction_that_is_a_function_word_is_not_shown() -> None:
    passage = "Am 1. Mai wird getanzt."
    written = "“October” is wrong; “Am” is correct."
    assert explained("incorrect information", written, passages=(passage,)) == (
        "“October” does not agree with the evidence: “Am 1. Mai wird getanzt.”"
    )


@pytest.mark.parametrize(
    ("type_", "explanation"),
    [
        ("incorrect information", "“October” is wrong; “April” is correct."),
        ("incorrect answer", "The answer should be “13 to 15 April”, not “October”."),
        ("incorrect information", "“October” does not seem to fit here; no evidence says what would."),
        ("another type", "“October” is wrong; “Am” is correct."),
    ],
)
def test_other_explanations_stay(type_: str, explanation: str) -> None:
    assert explained(type_, explanation) == explanation


def test_without_a_passage_nothing_changes() -> None:
    written = "“October” is wrong; “Am” is correct."
    assert explained("incorrect information", written, passages=()) == written


@pytest.mark.parametrize(
    ("quote", "correction", "expected"),
    [
        ("a fork", "chopsticks", True),
        ("eighteen", "15; fifteen", True),
        ("18", "fifteen", True),
        ("January", "11 September", True),
        ("25. lipnja", "30. svibnja", True),
        ("九月三日", "三月三日", True),
        ("寿司", "おせち", True),
        ("September", "Am", False),
        ("a fork", "with the", False),
        ("September", "Addis Ababa", False),
        ("1920", "the king", False),
        ("the king", "1920", False),
        ("a fork", "“”", False),
    ],
)
def test_a_correction_says_something_and_is_of_the_same_kind(quote: str, correction: str, expected: bool) -> None:
    assert corrects(correction, quote) is expected


def test_of_several_sentences_the_nearest_is_shown() -> None:
    passage = "Lent lasts 40 days. Carnival in Rio lasts 5 days. The food is good."
    assert disagreeing_sentence(passage, "10", "Carnival in Rio lasts 10 days.") == "Carnival in Rio lasts 5 days."
    assert disagreeing_sentence("Tea is hot. Rice is white.", "red", "Rice is red.") == "Rice is white."
    assert disagreeing_sentence("Tea is hot.", "10", "It costs 10 euros.") == "Tea is hot."
