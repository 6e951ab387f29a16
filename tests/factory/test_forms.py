"""The forms of ExCAM's Tables 1 and 8 to 10: how an item of each source looks as an instruction and an output."""

from __future__ import annotations

import pytest

from mores.factory.drafts import drafts, word
from mores.factory.gold import Gold
from mores.factory.items import SourceItem, Task
from mores.factory.wrap import Wrapper
from mores.types import Severity


def item(source: str, task: Task, question: str, answer: str, **more: object) -> SourceItem:
    return SourceItem.model_validate(
        {"source": source, "id": "1", "task": task, "question": question, "answer": answer, "language": "en", **more}
    )


def golds(of: SourceItem) -> dict[tuple[Task, str], Gold]:
    wrapper = Wrapper(seed=3)
    return {(draft.task, draft.kind): word(draft, wrapper) for draft in drafts(of)}


QUIZ = item(
    "culturalbench", Task.QA, "In Iceland, what is eaten on Bolludagur?", "cream buns",
    options=("cream buns", "herring", "rye porridge", "smoked lamb"), wrong=("herring",), region="IS",
)  # fmt: skip


def test_a_question_with_options_lists_them_with_letters() -> None:
    """Tables 8 and 9: CulturalBench, INCLUDE, BLEnD."""
    right = golds(QUIZ)[Task.QA, "correct"].sample
    lines = right.instruction.splitlines()
    for line in ("Option A: cream buns", "Option B: herring", "Option C: rye porridge", "Option D: smoked lamb"):
        assert line in lines
    assert QUIZ.question in right.instruction
    assert "cream buns" in right.text


def test_the_same_question_is_also_asked_without_options() -> None:
    right = golds(QUIZ)[Task.FREEFORM, "correct"].sample
    assert QUIZ.question in right.instruction
    assert "herring" not in right.instruction + right.text


def test_a_hard_error_differs_from_the_right_pair_in_the_answer_only() -> None:
    """Table 1, second row: the wrong option, marked as one major error."""
    by_task = golds(QUIZ)
    right, wrong = by_task[Task.QA, "correct"], by_task[Task.QA, "hard"]
    assert wrong.sample.instruction == right.sample.instruction
    [error] = wrong.report.errors
    assert (error.quote, error.severity) == ("herring", Severity.MAJOR)
    assert "cream buns" in error.explanation


@pytest.mark.parametrize(
    ("source", "role", "context"),
    [
        ("normad", (("Country", "Peru"),), "When arriving, guests greet everyone present."),
        ("globalopinionqa", (("Country", "Mexico"),), None),
        ("epic", (("Nationality", "India"), ("Gender", "Male")), "My neighbour's car screeches uphill."),
    ],
)
def test_an_impersonation_names_role_context_and_task(
    source: str, role: tuple[tuple[str, str], ...], context: str | None
) -> None:
    """Tables 8 to 10: NormAd, GlobalOpinionQA, EPIC."""
    of = item(source, Task.IMPERSONATION, "Is this acceptable?", "No", wrong=("Yes",), role=role, context=context)
    sample = golds(of)[Task.IMPERSONATION, "correct"].sample
    for name, value in role:
        assert name in sample.instruction
        assert value in sample.instruction
    assert context is None or context in sample.instruction
    assert "Is this acceptable?" in sample.instruction
    assert "No" in sample.text


def test_a_text_is_asked_for_by_its_topic_and_a_question_by_itself() -> None:
    """Tables 9 and 10: Mango, NativQA, CaLMQA."""
    text = item(
        "mango", Task.GENERATION, "colours at Ghanaian funerals", "Black and red are worn at funerals in Ghana."
    )
    question = item(
        "calmqa", Task.FREEFORM, "Warum gibt es Karneval?", "Vor der Fastenzeit wird gefeiert.", language="de"
    )
    for of in (text, question):
        sample = golds(of)[of.task, "correct"].sample
        assert of.question in sample.instruction
        assert of.answer in sample.text
        assert sample.language == of.language
