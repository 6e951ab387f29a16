"""Reading letters and True/False: what is clear is read, and what is not is a failure with its reason."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.benchmark.benchmark import Graded, Label
from mores.benchmark.choice import grade_letter, grade_truth, guess_letter, lettered, shuffle
from mores.errors import InputError
from mores.reading import without_thoughts
from mores.types import Failure, FailureKind, Item

CLEAR = {
    "B": "B",
    " b \n": "B",
    "B.": "B",
    "(B)": "B",
    "[B]": "B",
    '"B"': "B",
    "**B**": "B",
    "`B`": "B",
    "Option B": "B",
    "option b.": "B",
    "**(B)**": "B",
    "B) Pour for the elders": "B",
    "B. Pour for the elders": "B",
    "B: Pour for the elders": "B",
    "B - Pour for the elders": "B",
    "**B.** Pour for the elders": "B",
    "**B. Pour for the elders**": "B",
    "**B** because elders come first": "B",
    "B\n\nElders are served first.": "B",
    "(B) Pour.\nA would be rude.": "B",
    "B. Because A is impolite.": "B",
    "The answer is (B).": "B",
    "The answer is B": "B",
    "The answer is B, I think.": "B",
    "The correct answer is **B**.": "B",
    "The correct answer is B because elders come first.": "B",
    "The correct option is B. Pour": "B",
    "Answer: B": "B",
    "**Answer:** B": "B",
    "Answer: **B**": "B",
    "answer: b": "B",
    "Answer = B": "B",
    "Answer: Option B": "B",
    "My choice would be B!": "B",
    "Option B is correct.": "B",
    "Option A is wrong. The answer is B.": "B",
    "The answer is not A. The answer is B.": "B",
    "A. tea\nB. coffee\nC. milk\nD. water\n\nAnswer: B": "B",
    "I have to think of guests.\n\nB": "B",
    "<think>A? No, C. The answer is C.</think>B": "B",
    "A or C, hmm</think>\n\nB": "B",
    "<THINK>\nA\n</THINK>\nThe answer is B.": "B",
    "A": "A",
    "a": "A",
    "D": "D",
}
UNCLEAR = [
    "",
    "   ",
    "A man would pour for the elders.",
    "A man's answer is to pour.",
    "The answer is a matter of taste.",
    "The correct answer is A man who pours.",
    "I would pour for the elders.",
    "Pour for the elders",
    "A and B",
    "A, B",
    "A or B",
    "A/B",
    "A) and C)",
    "A.\nB.",
    "AB",
    "The answer is A or B.",
    "The answer is A, B and C.",
    "The answer is (A) and (B).",
    "The answer is **A** or **B**.",
    "The answer is A. No, the answer is B.",
    "A. Tea. But the answer is B.",
    "A. tea\nB. coffee\nC. milk\nD. water",
    "The answer is not A.",
    "Incorrect: A",
    "Option A is incorrect.",
    "E",
    "(Z)",
    "The answer is E.",
    "Die Antwort ist B, glaube ich",
    "答案是B",
    "الإجابة هي ب",
    "В",  # Cyrillic, the third letter there
    "Β",  # Greek
    "I do not know.",
    "None of the above",
    "1",
    "2.",
    "<think>The answer is B.",
    "<think>The answer is B.</think>",
]


def read_letter(reply: str, count: int) -> str | Failure:
    item = Item(id="1", prompt="?", choices=tuple(ascii_lowercase[:count]), target=("a",))
    graded = grade_letter(item, reply)
    return graded if isinstance(graded, Failure) else graded.read or ""


def read_truth(reply: str) -> str | Failure:
    graded = grade_truth(Item(id="1", prompt="?", target=("True",)), reply)
    return graded if isinstance(graded, Failure) else graded.read or ""


@pytest.mark.parametrize(("reply", "letter"), CLEAR.items())
def test_a_clear_letter_is_read(reply: str, letter: str) -> None:
    assert read_letter(reply, 4) == letter


@pytest.mark.parametrize("reply", UNCLEAR)
def test_anything_else_is_a_failure(reply: str) -> None:
    letter = read_letter(reply, 4)
    assert isinstance(letter, Failure)
    assert letter.kind is FailureKind.PARSE
    assert letter.reason.endswith("expected a letter from A to D")


@pytest.mark.parametrize("filler", [" ", "\n", "*", "(", "answer ", "A ", "not "])
def test_a_model_that_repeats_itself_is_read_in_no_time(filler: str) -> None:
    reply = f"The answer is{filler * 20_000}?"
    assert isinstance(read_letter(reply, 4), Failure)
    assert isinstance(read_truth(reply), Failure)


@given(st.text(max_size=60), st.integers(2, 26))
def test_any_text_gives_a_letter_of_the_question_or_a_failure(reply: str, count: int) -> None:
    letter = read_letter(reply, count)
    assert isinstance(letter, Failure) or letter in set(ascii_uppercase[:count])


@given(st.sampled_from("ABCD"), st.sampled_from("ABCD"))
def test_two_stated_letters_are_read_only_when_they_are_one(first: str, second: str) -> None:
    letter = read_letter(f"The answer is {first}. So the correct answer is {second}.", 4)
    assert letter == first if first == second else isinstance(letter, Failure)


TRUTHS = {
    "True": True,
    "false": False,
    "**False**": False,
    "True.": True,
    "The answer is True.": True,
    "False. People in Korea use both hands.": False,
    "<think>true or false? true</think>False": False,
    "TRUE": True,
}
NO_TRUTHS = [
    "",
    "True or False",
    "It could be true, it could be false.",
    "This is not true.",
    "That isn't true",
    "It is not entirely true.",
    "That is neither true",
    "untrue",
    "falsehood",
    "Yes",
    "Vrai",
    "正しい",
    "<think>It is true, but",
]


@pytest.mark.parametrize(("reply", "truth"), TRUTHS.items())
def test_a_clear_truth_is_read(reply: str, truth: bool) -> None:
    assert read_truth(reply) == str(truth)


@pytest.mark.parametrize("reply", NO_TRUTHS)
def test_no_truth_is_a_failure(reply: str) -> None:
    truth = read_truth(reply)
    assert isinstance(truth, Failure)
    assert truth.reason.endswith("expected True or False")


def test_grades() -> None:
    item = Item(id="1", prompt="?", choices=("tea", "milk", "rum"), target=("milk",))
    assert grade_letter(item, "(b)") == Graded(label=Label.CORRECT, read="B")
    assert grade_letter(item, "The answer is C.") == Graded(label=Label.INCORRECT, read="C")
    assert isinstance(grade_letter(item, "D"), Failure)
    statement = Item(id="1", prompt="?", target=("False",))
    assert grade_truth(statement, "False") == Graded(label=Label.CORRECT, read="False")
    assert grade_truth(statement, "true") == Graded(label=Label.INCORRECT, read="True")
    assert isinstance(grade_truth(statement, "perhaps"), Failure)


def test_options_have_letters() -> None:
    assert lettered(["tea", "milk"]) == "A. tea\nB. milk"
    with pytest.raises(InputError, match="27 options"):
        lettered(["x"] * 27)


def test_thoughts_are_left_out() -> None:
    assert without_thoughts("<think>a</think> b <think>c</think>") == "b"
    assert without_thoughts("cut <think>off") == "cut"


def question(number: int, *choices: str, **metadata: object) -> Item:
    text = f"Question {number}?\n{lettered(choices)}"
    return Item(id=str(number), prompt=text, choices=choices, target=choices[:1], metadata=metadata)


def test_without_knowledge_a_letter_is_guessed_or_always_the_same() -> None:
    items = [
        Item(id="1", prompt="?", choices=("w", "x", "y", "z"), target=("x",)),
        Item(id="2", prompt="?", choices=("w", "x"), target=("w", "x")),  # both are correct
        Item(id="3", prompt="?", choices=("w", "w", "x", "y"), target=("w",)),  # and here the first two
    ]
    assert guess_letter(items) == {"random": (1 / 4 + 1 + 1 / 2) / 3, "always B": 1.0}
    assert guess_letter([]) == {}


def test_shuffled_options_keep_letters_and_answer_together() -> None:
    items = [question(n, "w", "x", "y", "z", variants={"english": f"In English {n}?\nA. w\nB. x\nC. y\nD. z"})
             for n in range(400)]  # fmt: skip
    shuffled = [shuffle(item, 1) for item in items]
    assert shuffled == [shuffle(item, 1) for item in items] != [shuffle(item, 2) for item in items]
    for item in shuffled:
        assert item.prompt == f"Question {item.id}?\n{lettered(item.choices)}"
        assert item.metadata["variants"]["english"] == f"In English {item.id}?\n{lettered(item.choices)}"
        right = grade_letter(item, ascii_uppercase[item.choices.index("w")])
        assert isinstance(right, Graded)
        assert right.label is Label.CORRECT
    firsts = [item.choices.index("w") for item in shuffled]
    assert all(60 < firsts.count(place) < 140 for place in range(4))  # 100 ± 9 are expected


@pytest.mark.parametrize("option", ["A and B", "Options B and C", "(A), (C)", "All of the above", "None of the above."])
def test_options_that_speak_of_others_are_not_moved(option: str) -> None:
    item = question(1, "x", "y", "z", option)
    assert [shuffle(item, seed) for seed in range(20)] == [item] * 20


@pytest.mark.parametrize("option", ["A dessert", "Vitamin C", "above all the salary", "Red and White"])
def test_other_options_are_moved(option: str) -> None:
    item = question(1, "x", "y", "z", option)
    assert len({shuffle(item, seed).choices for seed in range(40)}) > 10


def test_a_prompt_that_hides_its_options_cannot_be_shuffled() -> None:
    item = Item(id="q7", prompt="w, x or y?", choices=("w", "x", "y"), target=("w",))
    with pytest.raises(InputError, match="q7: its prompt does not list the options"):
        shuffle(item, 1)
