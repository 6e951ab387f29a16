"""Stability: figures true to scripted models, and what is counted and listed."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mores.benchmark.benchmark import Benchmark, Graded, Label, Verdict
from mores.benchmark.choice import grade_letter, letters
from mores.benchmark.run import Asking, BenchJob
from mores.diagnosis.paired import Subject, subject_of_run
from mores.diagnosis.stability import CLUSTERS, LISTED, CurvePoint, Stability, measure_stability, paragraph
from mores.engine import Asker
from mores.errors import InputError
from mores.io import read_records
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.types import Failure, FailureKind, Item, Signature

YES, NO, SKIPPED = Label.CORRECT, Label.INCORRECT, Label.NOT_ATTEMPTED


def grade(item: Item, text: str) -> Graded:
    return Graded(label=YES if text in item.target else NO)


BENCH = Benchmark(
    name="x", title="X", version="1", licence="-", homepage="-", files="-", source="x", read=lambda *_: iter(()),
    grade=grade, groupings=(),
)  # fmt: skip
CHOICE = replace(BENCH, grade=grade_letter, candidates=letters)


def items(count: int) -> list[Item]:
    languages, topics = ("en", "th"), ("food", "history", "arts")
    return [
        Item(id=f"q{i}", prompt=f"question {i}?", target=("yes",), language=languages[i % 2], topic=topics[i % 3])
        for i in range(count)
    ]


def subject(own: Sequence[Item], benchmark: Benchmark = BENCH) -> Subject:
    return Subject(benchmark, own, "fake:m", Signature(task="x.1"))


def verdict(
    unit: str, sample: int, label: Label | None, answer: str = "an answer", read: str | None = None, part: str = ""
) -> Verdict:
    failure = None if label else Failure(kind=FailureKind.PARSE, reason="unread")
    return Verdict(
        item_id=unit + part, unit=unit, sample=sample, label=label, answer=answer, read=read, failure=failure
    )


def from_labels(*rows: Sequence[Label | None]) -> Stability:
    verdicts = [verdict(f"q{i}", n, label) for i, row in enumerate(rows) for n, label in enumerate(row)]
    return measure_stability(subject(items(len(rows))), verdicts)


def value(point: CurvePoint) -> float:
    return point.value


# ---- scripted models -------------------------------------------------------------------------------------------


class Luck(FakeModel):
    """Right with the probability that a question has, each time anew."""

    def __init__(self, chances: Sequence[float]) -> None:
        self._chances = chances
        super().__init__("luck", self._reply)

    def _reply(self, request: Request) -> Completion:
        question = int(request.messages[-1].content.split("?")[0].split()[-1])
        draw = np.random.default_rng((question, request.seed or 0)).random()
        return Completion("yes" if draw < self._chances[question] else f"no {int(draw * 1e9)}")


@pytest.mark.slow
def test_questions_with_chances_of_0_and_03_and_1(tmp_path: Path) -> None:
    """The truth is known: of n answers at least one is right with 1 - (1-p)ⁿ, all with pⁿ; N = 12, 60 of each p."""
    chances = [0.0] * 60 + [0.3] * 60 + [1.0] * 60
    own = [item.model_copy(update={"topic": f"p={chances[i]}"}) for i, item in enumerate(items(180))]
    run = BenchJob(BENCH, own, Asker(Luck(chances), None), asking=Asking(samples=12, temperature=0.7))
    said, graded = tmp_path / "said.jsonl", tmp_path / "verdicts.jsonl"

    async def work() -> None:
        await run.ask(said)
        await run.grade(said, graded)

    asyncio.run(work())
    result = measure_stability(subject_of_run(run), read_records(graded, Verdict))
    assert (result.samples, result.depth, result.questions) == (12, 12, 180)
    by_topic = result.by["topic"]
    for name in ("mean", "best", "worst", "majority"):
        assert [by_topic[f"p={p}"][name].value for p in (0.0, 1.0)] == [0.0, 1.0]
    assert by_topic["p=0.0"]["never"].value == 1.0
    assert by_topic["p=1.0"]["always"].value == 1.0
    assert [by_topic["p=1.0"]["best"].low, by_topic["p=1.0"]["best"].high] == pytest.approx([0.9404, 1.0], abs=1e-4)
    sometimes = by_topic["p=0.3"]
    truths = {"mean": 0.3, "best": 1 - 0.7**12, "sometimes": 1 - 0.7**12 - 0.3**12, "always": 0.3**12}
    for name, truth in truths.items():
        one = sometimes[name]
        assert one.value == pytest.approx(truth, abs=4 * math.sqrt(0.21 / 60 if name != "mean" else 0.21 / 720))
        assert one.low is not None
        assert one.high is not None
        assert one.low - 0.02 <= truth <= one.high + 0.02
    best = result.curves["best"]
    for n in (1, 2, 5, 9):
        assert value(best[n - 1]) == pytest.approx((0 + 1 - 0.7**n + 1) / 3, abs=0.05)
        assert value(result.curves["worst"][n - 1]) == pytest.approx((0 + 0.3**n + 1) / 3, abs=0.05)
        wins = sum(
            math.comb(n, k) * 0.3**k * 0.7 ** (n - k) * (1.0 if 2 * k > n else 0.5) for k in range(n + 1) if 2 * k >= n
        )
        assert value(result.curves["majority"][n - 1]) == pytest.approx((0 + wins + 1) / 3, abs=0.05)
    assert result.sometimes_in_all == len(result.sometimes)
    assert {one.topic for one in result.sometimes} == {"p=0.3"}
    assert abs(result.sometimes[0].correct / 12 - 0.5) <= abs(result.sometimes[-1].correct / 12 - 0.5)


# ---- counts ----------------------------------------------------------------------------------------------------


def test_what_has_no_grade_is_left_out_and_counted() -> None:
    """Ten questions: one has one graded answer of three, one has none."""
    result = from_labels(*[[YES, YES, NO]] * 8, [YES, None, None], [None, None, None])
    assert [point.questions for point in result.curves["best"]] == [9, 8, 8]
    assert result.depth == 1  # 8 of the 9 with any are fewer than nine in ten
    assert result.missing == {
        "answers without a grade": 5,
        "questions without any graded answer": 1,
        "questions with one graded answer only": 1,
        "questions with fewer than 1 graded answers": 1,
    }
    assert value(result.curves["best"][0]) == pytest.approx((8 * 2 / 3 + 1) / 9)
    assert value(result.curves["best"][1]) == pytest.approx(1.0)
    sometimes = result.figures["sometimes"]
    assert (sometimes.value, sometimes.n, sometimes.unscored) == (1.0, 8, 2)


def test_the_figures_are_of_as_many_answers_as_most_questions_have() -> None:
    result = from_labels(*[[YES, YES, NO]] * 19, [YES, NO, None])
    assert (result.depth, result.figures["best"].n, result.figures["best"].unscored) == (3, 19, 1)
    assert result.missing["questions with fewer than 3 graded answers"] == 1


def test_an_answer_that_attempts_nothing_is_not_right() -> None:
    result = from_labels([YES, SKIPPED], [SKIPPED, SKIPPED])
    assert [result.figures[name].value for name in ("always", "sometimes", "never")] == [0.0, 0.5, 0.5]


def test_by_language_and_topic() -> None:
    result = from_labels([YES, YES], [NO, NO], [YES, NO], [NO, NO])
    assert {group: one["mean"].value for group, one in result.by["language"].items()} == {"en": 0.75, "th": 0.0}
    assert {group: one["mean"].n for group, one in result.by["topic"].items()} == {"food": 2, "history": 1, "arts": 1}
    assert result.by["language"]["en"]["best less worst"].value == 0.5


def test_questions_are_drawn_for_intervals() -> None:
    """Half of 100 questions are known: the mean's interval is that of a share of 100, not of 500 answers."""
    result = from_labels(*[[YES] * 5] * 50, *[[NO] * 5] * 50)
    mean = result.figures["mean"]
    assert [mean.low, mean.high] == pytest.approx([0.3983, 0.6017], abs=1e-4)
    mixed = from_labels(*[[YES, NO]] * 20, *[[YES, YES]] * 20, *[[NO, NO]] * 20)
    low, high = mixed.figures["mean"].low, mixed.figures["mean"].high
    assert low is not None
    assert high is not None
    assert 0.36 < low < 0.42
    assert 0.58 < high < 0.64


def test_clusters_of_words() -> None:
    said = ["Paris", "paris!", "PARIS", "Rome", "Lyon", "rome."]
    labels = [YES, YES, YES, NO, NO, NO]
    own = [verdict("q0", n, label, text) for n, (text, label) in enumerate(zip(said, labels, strict=True))]
    own.append(verdict("q0", 6, None))
    result = measure_stability(subject(items(1)), own)
    [one] = result.sometimes
    assert [(c.answer, c.n, c.correct) for c in one.clusters] == [("Paris", 3, 3), ("Rome", 2, 0), ("Lyon", 1, 0)]
    assert (one.correct, one.graded, one.unscored, one.more) == (3, 6, 1, 0)
    assert (one.question, one.reference, one.language) == ("question 0?", "yes", "en")
    assert "plurality" not in result.figures


def test_lists_are_bounded() -> None:
    count = LISTED + 5
    own = [verdict(f"q{i}", n, YES if n == 0 else NO, f"answer {n}") for i in range(count) for n in range(CLUSTERS + 3)]
    result = measure_stability(subject(items(count)), own)
    assert (len(result.sometimes), result.sometimes_in_all) == (LISTED, count)
    assert (len(result.sometimes[0].clusters), result.sometimes[0].more) == (CLUSTERS, 3)


def test_choices_are_voted_on() -> None:
    """A twice, B, C and D once: A leads with fewer than half, so it wins the plurality and not the majority."""
    own = [
        verdict("q0", n, YES if letter == "A" else NO, f"I choose {letter} ({n})", letter)
        for n, letter in enumerate("ABACD")
    ]
    result = measure_stability(subject(items(1), CHOICE), own)
    assert (result.figures["majority"].value, result.figures["plurality"].value) == (0.0, 1.0)
    assert next((c.answer, c.n) for c in result.sometimes[0].clusters) == ("A", 2)
    assert "the most frequent choice" in paragraph(result)
    assert any("most frequent choice" in note for note in result.notes)


def test_a_question_with_parts_is_right_when_all_are() -> None:
    own = [Item(id=f"q0{p}", prompt="?", target=("True",), metadata={"unit": "q0"}) for p in "ab"]
    verdicts = [
        verdict("q0", n, label, read=str(label is YES), part=part)
        for n, labels in enumerate(((YES, YES), (YES, NO), (NO, None)))
        for part, label in zip("ab", labels, strict=True)
    ]
    result = measure_stability(subject(own, CHOICE), verdicts)
    assert result.questions == 1
    assert result.figures["mean"].value == pytest.approx(1 / 2)  # the third has an unread part, and no grade
    assert "several parts" in " ".join(result.notes)


def test_verdicts_of_other_questions_are_refused() -> None:
    with pytest.raises(InputError, match="'q7', which is not an item of the run"):
        measure_stability(subject(items(1)), [verdict("q7", 0, YES)])


# ---- in words --------------------------------------------------------------------------------------------------


def test_the_paragraph_has_the_numbers() -> None:
    said = paragraph(from_labels(*[[YES] * 4] * 10, *[[YES, NO, NO, NO]] * 20, *[[NO] * 4] * 10))
    assert "answered 40 questions of x 4 times each" in said
    assert "always correct on 25.0%" in said
    assert "sometimes on 50.0%" in said
    assert "At least one of 4 is correct for 75.0%" in said
    assert "Voting hurts" in said
    assert "Voting helps" in paragraph(from_labels(*[[YES, YES, NO]] * 20))


def test_the_paragraph_is_honest_about_little_data() -> None:
    assert "One graded answer per question" in paragraph(from_labels([YES], [NO]))
    assert "once" in paragraph(from_labels([YES], [NO]))
    assert "With only 2 questions, these figures are uncertain" in paragraph(from_labels([YES, NO], [NO, NO]))
    assert "there is no result" in paragraph(from_labels([None, None]))
    assert "2 answers without a grade" in paragraph(from_labels([None, None]))
    assert "there is no result" in paragraph(measure_stability(subject(items(2)), []))


# ---- answers without a grade -----------------------------------------------------------------------------------


def test_ungraded_answers_are_part_of_every_figure() -> None:
    """34 questions are always correct and one never, and of 25 no answer is graded: from 34 to 59 of 60."""
    result = from_labels(*[(YES, YES, YES)] * 34, (NO, NO, NO), *[(None, None, None)] * 25)
    always = result.figures["always"]
    assert always.value == pytest.approx(34 / 35)
    assert always.bounds == pytest.approx((34 / 60, 59 / 60))
    assert always.whole is not None
    assert always.whole[0] < 34 / 60 < 59 / 60 < always.whole[1]
    shown = (
        f"always correct on 97.1% ({100 * always.whole[0]:.1f}–{100 * always.whole[1]:.1f}% whatever the unscored are"
    )
    assert shown in paragraph(result)
    for name, ends in {"never": (1 / 60, 26 / 60), "sometimes": (0, 25 / 60), "mean": (34 / 60, 59 / 60)}.items():
        assert result.figures[name].bounds == pytest.approx(ends)


def test_an_ungraded_answer_may_be_either() -> None:
    """Of each row, how often it is always, sometimes and never correct if the last is wrong, or correct."""
    result = from_labels((YES, YES, None), (NO, NO, None), (YES, NO, None), (YES, YES, YES))
    ends = {name: result.figures[name].bounds for name in ("always", "sometimes", "never", "mean", "best", "worst")}
    assert ends["always"] == pytest.approx((1 / 4, 2 / 4))
    assert ends["sometimes"] == pytest.approx((1 / 4, 3 / 4))
    assert ends["never"] == pytest.approx((0, 1 / 4))
    assert ends["mean"] == pytest.approx(((2 + 0 + 1 + 3) / 12, (3 + 1 + 2 + 3) / 12))
    assert result.depth == 2
    assert ends["best"] == pytest.approx((2 / 3 / 4 + 2 / 4, 2 / 3 / 4 + 3 / 4))
    assert ends["worst"] == pytest.approx(((1 / 3 + 1) / 4, (1 + 1 / 3 + 1) / 4))


def test_whether_voting_helps_is_not_said_where_ungraded_answers_could_decide() -> None:
    rows = [(YES, YES, NO)] * 40
    assert "Voting helps" in paragraph(from_labels(*rows))
    assert "Too many answers have no grade" in paragraph(from_labels(*rows, *[(None,) * 3] * 40))


def test_without_missing_answers_there_is_nothing_about_them() -> None:
    result = from_labels((YES, NO), (YES, YES), (NO, NO))
    assert all(figure.bounds is figure.whole is None for figure in result.figures.values())
    assert all(figure.bounds is figure.whole is None for figure in from_labels((YES,), (NO,)).figures.values())
