"""Facts and answers in other words: what they say stays the same."""

from __future__ import annotations

from typing import Any

import pytest

from mores.factory.facts import CorrectFact
from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.training import reword
from mores.types import Evidence
from tests.metaevaluation.golds import error, gold

ASKED = "What is a common snack in Peru?"
KEYS = [str(number) for number in range(60)]


def fact(subject: str | None = "a common snack in Peru", **changes: Any) -> CorrectFact:
    fields = {
        "id": "x",
        "source": "x",
        "group": "x",
        "split": "train",
        "answers": ("corn", "rolls"),
        "subject": subject,
    }
    return CorrectFact.model_validate({"text": f"{ASKED} corn; rolls"} | fields | changes)


def piece(text: str = f"{ASKED} corn; rolls") -> Evidence:
    return Evidence(text=text, source="x")


def pair(*answers: str, **changes: Any) -> list[Gold]:
    """A right answer, and a wrong one."""
    right, wrong = (f"I say: {answer}" for answer in answers)
    return [
        gold("r", text=right, instruction=ASKED, **changes),
        gold("w", error(wrong, answers[1]), text=wrong, instruction=ASKED, **changes),
    ]


@pytest.mark.parametrize("subject", ["a common snack in Peru", None])
def test_a_fact_says_the_same_in_several_ways(subject: str | None) -> None:
    texts = {reword.reword_evidence(piece(), fact(subject), 300, key).text for key in KEYS}
    assert len(texts) > 6
    for text in texts:
        assert "corn" in text
        assert "rolls" in text
        assert (subject or ASKED).removeprefix("a ") in text
        assert (ASKED in text) == (subject is None)


def test_what_is_no_whole_fact_or_would_be_too_long_stays() -> None:
    assert reword.reword_evidence(piece("What is …"), fact(), 300, "k") == piece("What is …")
    assert reword.reword_evidence(piece(), fact(answers=()), 300, "k") == piece()
    longer = [reword.reword_evidence(piece(), fact(), len(piece().text), key) for key in KEYS]
    assert all(len(evidence.text) <= len(piece().text) for evidence in longer)
    assert piece() in longer


def test_a_passage_says_something_else_where_there_is_room() -> None:
    other = Evidence(text="Tea is drunk.", source="y")
    both = {reword.add_beside(piece("Corn is eaten."), other, 28, key) for key in KEYS}
    assert both == {piece("Corn is eaten. Tea is drunk."), piece("Tea is drunk. Corn is eaten.")}
    assert reword.add_beside(piece("Corn is eaten."), other, 27, "k") == piece("Corn is eaten.")


@pytest.mark.parametrize("wrong", ["a fork", "Bread.", "rolls? Never!"])
def test_an_answer_becomes_a_sentence_whose_error_is_still_the_answer(wrong: str) -> None:
    texts = set()
    for key in KEYS:
        right, other = (reword.reword_answer(original, fact(), key) for original in pair("corn", wrong))
        assert right is not None
        assert other is not None
        assert right.sample.text.count("corn") == 1
        assert right.report.errors == ()
        [located] = other.report.errors
        assert located.quote == wrong == other.sample.text[located.start : located.end]
        assert other.sample.text != wrong
        assert not {"..", "!.", "?."} & {
            two for at in [located.end or 0] for two in [other.sample.text[at - 1 : at + 1]]
        }
        texts.add(right.sample.text)
    assert len(texts) >= 15, "many patterns"


def test_the_patterns_of_the_test_are_never_trained_on() -> None:
    train, test = reword.phrases("train"), reword.phrases("test")
    assert all(not set(train[kind]) & set(test[kind]) for kind in test)
    right, _ = pair("corn", "a fork")
    texts = {part: {reword.reword_answer(right, fact(), key, part) for key in KEYS} for part in ("train", "test")}
    assert not texts["train"] & texts["test"]


def test_a_sentence_stays_as_it_is() -> None:
    right, _ = pair("corn", "a fork")
    sample = right.sample.model_copy(update={"text": "A common snack in Peru is corn."})
    assert reword.reword_answer(right.model_copy(update={"sample": sample}), fact(), "k") is None


def test_what_is_no_short_answer_stays() -> None:
    right, wrong = pair("corn", "a fork")
    assert reword.reword_answer(right, fact(None), "k") is None
    assert reword.reword_answer(right, fact(answers=("rice",)), "k") is None
    assert reword.reword_answer(wrong.model_copy(update={"kind": "soft"}), fact(), "k") is None
    assert reword.reword_answer(wrong.model_copy(update={"task": Task.QA}), fact(), "k") is None
