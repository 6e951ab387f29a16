"""Multiple choice by log-probability: the likeliest candidate as the first word."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from mores.benchmark.benchmark import Label, Verdict
from mores.benchmark.culturalbench import EASY
from mores.benchmark.run import ALTERNATIVES, Asking, BenchJob, Said, likeliest
from mores.engine import Asker, Store
from mores.engine.loop import run
from mores.io import read_records
from mores.models import Completion, Request
from mores.models.fake import FakeModel
from mores.types import Failure, FailureKind, Item

ITEM = Item(id="1", prompt="Which?", choices=("tea", "rice", "bread"), target=("rice",))


def test_forms_of_a_letter_add_up() -> None:
    result = likeliest(
        ("A", "B"), (("A", math.log(0.3)), (" b", math.log(0.2)), ("B", math.log(0.2)), ("The", math.log(0.3)))
    )
    assert result == pytest.approx({"A": 3 / 7, "B": 4 / 7})


@pytest.mark.parametrize(
    ("alternatives", "kind", "words"),
    [
        (None, FailureKind.MODEL, "gives no alternatives"),
        ((("The", -0.1), ("I", -2.0)), FailureKind.PARSE, "none of A, B is among the first words: 'The', 'I'"),
    ],
)
def test_what_cannot_be_chosen_is_a_failure(
    alternatives: tuple[tuple[str, float], ...] | None, kind: FailureKind, words: str
) -> None:
    result = likeliest(("A", "B"), alternatives)
    assert isinstance(result, Failure)
    assert result.kind is kind
    assert words in result.reason


def test_the_likeliest_letter_is_the_answer_whatever_is_written(tmp_path: Path) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Completion:
        asked.append(request)
        return Completion(
            "A", (-0.1,), alternatives=(("A", math.log(0.4)), ("B", math.log(0.3)), (" B", math.log(0.2)))
        )

    responses, verdicts = tmp_path / "said.jsonl", tmp_path / "verdicts.jsonl"
    for _ in range(2):  # the second time from the store
        with Store(tmp_path / "s.db") as store:
            job = BenchJob(EASY, [ITEM], Asker(FakeModel("x", answer), store), asking=Asking(by_logprob=True))
            run(job.ask(responses))
        [row] = read_records(responses, Said)
        assert row.response.text == "B"
        assert row.probabilities == pytest.approx({"A": 4 / 9, "B": 5 / 9, "C": 0})
    assert len(asked) == 1
    assert (asked[0].max_tokens, asked[0].alternatives, asked[0].logprobs) == (1, ALTERNATIVES, True)
    run(job.grade(responses, verdicts))
    [verdict] = read_records(verdicts, Verdict)
    assert (verdict.label, verdict.read) == (Label.CORRECT, "B")
    assert job.signature()["decoding"].endswith(",logprob")
    result = job.score(verdicts)
    assert result.by_logprob
    assert result.name == "culturalbench-easy.logprob"  # boards do not rank it beside answers that are written
    assert job.signature() != BenchJob(EASY, [ITEM], Asker(FakeModel("x", answer), None)).signature()


def test_a_server_without_alternatives_leaves_it_unscored(tmp_path: Path) -> None:
    responses, verdicts = tmp_path / "said.jsonl", tmp_path / "verdicts.jsonl"
    model = FakeModel("x", lambda _: Completion("B", (-0.1,)))
    job = BenchJob(EASY, [ITEM], Asker(model, None), asking=Asking(by_logprob=True))
    run(job.ask(responses))
    run(job.grade(responses, verdicts))
    result = job.score(verdicts)
    assert (result.figures["accuracy"].n, result.figures["accuracy"].unscored, result.failures) == (0, 1, {"model": 1})


def test_equally_likely_letters_are_drawn_by_lot(tmp_path: Path) -> None:
    """The first would be correct too often: more than half of CulturalBench's published answers are A."""
    items = [Item(id=str(n), prompt=f"Which? {n}", choices=tuple("wxyz"), target=("w",)) for n in range(400)]
    alike = tuple((letter, math.log(0.25)) for letter in "ABCD")
    model = FakeModel("x", lambda _: Completion("A", (-0.1,), alternatives=alike))
    job = BenchJob(EASY, items, Asker(model, None), asking=Asking(by_logprob=True))
    for path in (tmp_path / "one.jsonl", tmp_path / "two.jsonl"):
        run(job.ask(path))
    texts = [row.response.text for row in read_records(tmp_path / "one.jsonl", Said)]
    assert texts == [row.response.text for row in read_records(tmp_path / "two.jsonl", Said)]
    # 100 are expected, with a standard deviation of 9
    assert all(60 < texts.count(letter) < 140 for letter in "ABCD")
