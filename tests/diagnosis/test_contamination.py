"""Contamination: models that know the published order or the published words by heart are found, others are not."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import numpy as np
import pytest

from mores.benchmark.choice import grade_letter, guess_letter, lettered, letters
from mores.benchmark.run import BenchJob
from mores.diagnosis.contamination import (
    COMPLETION,
    ORDER,
    RECOGNITION,
    CompletedHalf,
    Contamination,
    compare,
    exchange,
    find_contamination,
    overlap,
    paragraph,
    split_questions,
)
from mores.engine import Asker
from mores.errors import Rejected
from mores.io import read_records
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.types import Blame, Item, Signature
from tests.diagnosis.runs import BENCH, Scripted

CHOICE = BENCH.__class__(
    **{name: getattr(BENCH, name) for name in ("version", "licence", "homepage", "files", "source", "read")},
    name="choice", title="Choice: a test", grade=grade_letter, candidates=letters, references=guess_letter,
)  # fmt: skip


def item(number: int) -> Item:
    choices = tuple(f"option {number}.{place}" for place in range(4))
    question = f"What is served at the feast number {number} in the small town by the river, and who brings it there?"
    prompt = f"Answer with a letter.\n\nQuestion: {question}\n{lettered(choices)}"
    return Item(id=f"q{number}", prompt=prompt, choices=choices, target=(choices[1],))


ITEMS = [item(number) for number in range(60)]


def run(model: FakeModel, folder: Path, judge: FakeModel | None = None) -> Contamination:
    job = BenchJob(CHOICE, ITEMS, Asker(model, None))
    return asyncio.run(find_contamination(job, Asker(judge, None) if judge else None, folder))


def by_name(result: Contamination) -> dict[str, tuple[float | None, float | None, float | None]]:
    return {test.name: (test.seen.value, test.control.value, test.p) for test in result.tests}


def test_the_correct_option_keeps_its_letter() -> None:
    moved = [exchange(each) for each in ITEMS]
    for before, after in zip(ITEMS, moved, strict=True):
        assert after is not None
        assert after.choices != before.choices
        assert sorted(after.choices) == sorted(before.choices)
        assert after.choices[1] == before.choices[1]
        assert lettered(after.choices) in after.prompt
    two = ITEMS[0].model_copy(update={"choices": ITEMS[0].choices[:2]})
    assert exchange(two) is None
    others = ITEMS[0].model_copy(update={"choices": (*ITEMS[0].choices[:3], "All of the above")})
    assert exchange(others) is None


def test_questions_are_split_without_prompts_and_options() -> None:
    halves = list(split_questions(ITEMS))
    assert len(halves) == 60
    _, first, rest = halves[7]
    assert (
        first + rest == "What is served at the feast number 7 in the small town by the river, and who brings it there?"
    )
    assert abs(len(first) - len(rest)) < 20


@pytest.mark.parametrize(
    ("written", "share"), [("the old  BRIDGE", 1.0), ("over the old bridge!", 1.0), ("old", 0.2), ("", 0.0)]
)
def test_overlap(written: str, share: float) -> None:
    assert overlap(written, "the old bridge") == pytest.approx(share, abs=0.02)


def test_a_model_that_knows_the_published_data_is_found(tmp_path: Path) -> None:
    known = {each.prompt for each in ITEMS}
    halves = {first: rest for _, first, rest in split_questions(ITEMS)}

    def say(prompt: str) -> str:
        if half := re.search(r"First half: (.*)\n", prompt):
            return halves[half[1]] if "benchmark Choice" in prompt else "and then there is something else altogether?"
        return "B" if prompt in known else "ACD"[len(prompt) % 3]

    result = run(Scripted(say), tmp_path)
    figures = by_name(result)
    assert figures[ORDER][:2] == (1.0, 0.0)
    assert figures[COMPLETION][0] == 1.0
    assert result.flagged == [ORDER, COMPLETION]
    assert result.verbatim == 60
    assert paragraph(result).startswith(
        "It has probably seen the test data of choice. With the options as published, 100.0%"
    )


def test_a_model_with_a_favourite_letter_is_not(tmp_path: Path) -> None:
    """B is always correct: shuffling all options would make this model look contaminated."""
    result = run(Scripted(lambda prompt: "There was a feast." if "First half" in prompt else "B"), tmp_path)
    assert by_name(result)[ORDER] == (1.0, 1.0, 0.5)
    assert result.flagged == []
    assert "There is no sign" in paragraph(result)


def test_recognition_asks_in_both_orders(tmp_path: Path) -> None:
    """A model that likes A has a probability of a half, and one that knows the published words has more."""

    def prefer(request: Request) -> Completion:
        text = request.messages[-1].content
        if not request.alternatives:
            return Completion("B")
        first = -0.1 if "A. What is served" in text else -2.35
        return Completion("A", alternatives=(("A", first), ("B", float(np.log(-np.expm1(first))))))

    judge = FakeModel("judge", lambda _: Completion("Which dish is brought to the feast?"))
    result = run(FakeModel("m", prefer), tmp_path, judge)
    test = next(test for test in result.tests if test.name == RECOGNITION)
    assert test.seen.value == pytest.approx(np.exp(-0.1), abs=0.01)
    assert (test.seen.n, test.p) == (60, None)
    assert RECOGNITION not in result.flagged


def test_a_half_that_was_not_completed_says_why(tmp_path: Path) -> None:
    def say(prompt: str) -> str:
        if "feast number 7 " in prompt and "First half" in prompt:
            raise Rejected("too long")
        return "of many words" * (5_000 if "feast number 8 " in prompt else 1)

    result = run(Scripted(say), tmp_path)
    failed = [half for half in read_records(tmp_path / "complete.plain.jsonl", CompletedHalf) if half.failure]
    assert [(half.item_id, half.failure and half.failure.blame) for half in failed] == [("q7", Blame.TEXT)]
    assert next(test.difference.unscored for test in result.tests if test.name == COMPLETION) == 1


def test_missing_answers_decide_nothing() -> None:
    """A model whose wrong answers to one of the orders are lost looks as if it knew the other."""
    everything = [str(number) for number in range(60)]
    seen = dict.fromkeys(everything[:30], 1.0)
    control = {id_: float(place < 15) for place, id_ in enumerate(everything[:30])}
    lost = compare(ORDER, seen, control, everything)
    whole = compare(ORDER, {**dict.fromkeys(everything, 0.0), **seen}, {**dict.fromkeys(everything, 0.0), **control})
    assert (lost.difference.n, lost.difference.unscored, whole.difference.unscored) == (30, 30, 0)
    results = [
        Contamination(model="m", benchmark="b", signature=Signature(), tests=tests, completed=(), left_out={})
        for tests in ((lost,), (whole,), (compare(ORDER, {}, {}, everything),))
    ]
    assert [result.flagged for result in results] == [[], [ORDER], []]
    said = [paragraph(result) for result in results]
    assert said[0].startswith("That answers are missing may explain the signs")
    assert said[1].startswith("It has probably seen")
    assert said[2] == "Whether it has seen the test data of b is not known: nothing could be measured."


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_they_should_be() -> None:
    """Answers to two orders that are exchangeable, of 400 models with 100 questions each."""
    generator, p = np.random.default_rng(0), []
    for _ in range(400):
        skill = generator.beta(2, 2, 100)
        pair = [
            dict(zip(map(str, range(100)), map(float, generator.random(100) < skill), strict=True)) for _ in range(2)
        ]
        p.append(compare(ORDER, *pair).p or 0.0)
    assert np.mean(np.array(p) < 0.05) < 0.075
    assert np.mean(np.array(p) < 0.01) < 0.025
