"""What a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.factory.statement import subject


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("What is a common snack in Peru?", "a common snack in Peru"),
        ("What is  a common\n snack in Peru (one word)?", "a common snack in Peru"),
        ("What is the usual age in Peru? (Give numerals (e.g., 12) only.)", "the usual age in Peru"),
        ("What are the usual drinks in Peru?", "one of the usual drinks in Peru"),
        ("Who is the best known boxer in Peru?", "the best known boxer in Peru"),
        ("What is usually eaten in Peru?", "what is usually eaten in Peru"),
        ("What food is usually served at weddings in Peru?", "the food that is usually served at weddings in Peru"),
        ("Which region in Peru has the most rain?", "the region in Peru that has the most rain"),
        ("What do people in Peru wear at home?", "what people in Peru wear at home"),
        ("What kind of fish do people in Peru like?", "the kind of fish that people in Peru like"),
        ("What should you bring to a dinner in Peru?", "what you should bring to a dinner in Peru"),
        ("At what time do people have dinner in Peru?", "the time at which people have dinner in Peru"),
        ("In Peru, where do people meet?", "the place where people meet in Peru"),
        ("During Lent, when do families in Peru eat?", "the time when families in Peru eat during Lent"),
        ("Why do people in Peru shake hands?", "the reason why people in Peru shake hands"),
        ("How do people in Peru greet elders?", "the way people in Peru greet elders"),
        ("How many meals do people in Peru have a day?", "the number of meals that people in Peru have a day"),
    ],
)
def test_the_subject_of_a_question(question: str, phrase: str) -> None:
    assert subject(question) == phrase


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "Peru",
        "Is rice eaten in Peru?",
        "What are usual drinks in Peru?",
        "Which of the following is a drink in Peru?",
        "Someone in Peru sneezes. What is said?",
        "What is the new year in Peru called?",
        "What does a groom wear in Peru?",
        "What should a guest do first in Peru?",
        "What are you asked to do in Peru?",
        "What would a neighbour call someone who is late in Peru?",
        "¿Qué se come en Perú?",
        "What is the answer: rice or corn?",
    ],
)
def test_other_questions_have_none(question: str) -> None:
    assert subject(question) is None


PARTS = ("what ", "which ", "In ", "is ", "do ", "a ", "Peru", ", ", "?", " (", ")", "{x} ")


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_any_text_has_a_phrase_or_none(text: str) -> None:
    phrase = subject(text)
    assert phrase is None or (phrase == " ".join(phrase.split()) and "?" not in phrase)
