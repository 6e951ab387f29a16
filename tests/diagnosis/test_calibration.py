"""Calibration: what is read as a confidence, and scripted models whose calibration is known."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.benchmark.benchmark import Benchmark, Graded, Label, Verdict
from mores.benchmark.calmqa import CALMQA
from mores.benchmark.choice import grade_letter, letters
from mores.benchmark.msqa import MSQA
from mores.benchmark.run import Asking, BenchJob, Said
from mores.diagnosis.calibration import (
    AGREEMENT,
    CASES,
    LIKELIHOOD,
    VERBALISED,
    CalibrationResult,
    calibrate,
    paragraph,
)
from mores.diagnosis.confidence import (
    ROOM,
    Stated,
    ask_confidence,
    ask_likelihood,
    fallback_notes,
    form_of,
    measure_agreement,
    prompts_hash,
    read_likelihood,
    read_reply,
    read_stated,
)
from mores.diagnosis.paired import Subject, subject_of_run
from mores.engine import Asker, Limits, Store
from mores.errors import ConfigError, InputError, Rejected
from mores.io import JsonlWriter, read_records
from mores.models import Model
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.stats.calibration import confidence_results
from mores.stats.selective import make_cells
from mores.types import Failure, FailureKind, Item, Response, Signature

PROMPTS = files("mores.diagnosis").joinpath("prompts")
LANGUAGES = sorted(one.name.split(".")[1] for one in PROMPTS.iterdir() if one.name.startswith("confidence."))


def grade(item: Item, text: str) -> Graded:
    if not text:
        return Graded(label=Label.NOT_ATTEMPTED)
    return Graded(label=Label.CORRECT if text in item.target else Label.INCORRECT)


BENCH = Benchmark(
    name="x", title="X", version="1", licence="-", homepage="-", files="-", source="x", read=lambda *_: iter(()),
    grade=grade, max_tokens=16, groupings=("region",), variants=("english",),
)  # fmt: skip
CHOICE = replace(BENCH, grade=grade_letter, candidates=letters)


def items(count: int, language: str | None = "en") -> list[Item]:
    topics = ("food", "history")
    return [
        Item(id=f"q{i}", prompt=f"question {i}?", target=("yes",), language=language, topic=topics[i % 2])
        for i in range(count)
    ]


class Scripted(FakeModel):
    """Says what a function of the question's number says, and remembers what it was asked."""

    def __init__(self, say: Callable[[int], str | Completion]) -> None:
        self.asked: list[Request] = []
        self._say = say
        super().__init__("scripted", self._reply)

    def _reply(self, request: Request) -> Completion:
        self.asked.append(request)
        said = self._say(int(request.messages[-1].content.split("?")[0].split()[-1]))
        return said if isinstance(said, Completion) else Completion(said)


def subject(own: Sequence[Item], benchmark: Benchmark = BENCH) -> Subject:
    return Subject(benchmark, own, "fake:m", Signature(task="x.1"))


def asker(model: Model) -> Asker:
    return Asker(model, None, limits=Limits(concurrency=1))


def whole(run: BenchJob, folder: Path) -> CalibrationResult:
    """Ask, grade, calibrate."""
    said, stated, verdicts = (folder / f"{name}.jsonl" for name in ("said", "stated", "verdicts"))

    async def work() -> None:
        await ask_confidence(run, said, stated)
        await run.grade(said, verdicts)

    asyncio.run(work())
    about = subject_of_run(run, confidence=f"verbalised.{prompts_hash()}")
    return calibrate(about, VERBALISED, read_records(verdicts, Verdict), read_stated(stated), fallback_notes(stated))


def verdict(
    item: str, label: Label | None, sample: int = 0, answer: str | None = "yes", read: str | None = None
) -> Verdict:
    failure = None if label else Failure(kind=FailureKind.PARSE, reason="unread")
    return Verdict(item_id=item, unit=item, sample=sample, label=label, answer=answer, failure=failure, read=read)


YES, NO, SKIPPED = Label.CORRECT, Label.INCORRECT, Label.NOT_ATTEMPTED


# ---- what is read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        ("85", 85), ("85%", 85), ("85 %", 85), ("%85", 85), ("８５", 85), ("８５％", 85), ("٨٥", 85), ("٨٥٪", 85),
        ("८५", 85), ("০", 0), ("100", 100), ("0", 0), ("**85**", 85), ("<85>", 85), ("[85].", 85), ("85。", 85),
        ("\u200f٨٥\u200e", 85), ("085", 85),
        ("150", None), ("high", None), ("85 to 90", None), ("85-90", None), ("85, 90", None), ("", None), ("-5", None),
        ("0.85", None), ("85.5", None), ("8²", None), ("八十五", None), ("1e2", None), ("85/100", None), ("101", None),
        ("about 85", None), ("85 because I know", None), ("1000", None),
    ],
)  # fmt: skip
def test_one_whole_number_to_100_is_read_and_nothing_else(said: str, confidence: int | None) -> None:
    answer, found = read_reply(f"Answer: Paris\nConfidence: {said}", form_of("en"))
    assert answer == "Paris"
    assert (None if isinstance(found, Failure) else found) == confidence
    if isinstance(found, Failure):
        assert found.kind is FailureKind.PARSE
        assert "Confidence: 85" in found.reason


@pytest.mark.parametrize(
    ("said", "answer", "confidence"),
    [
        ("Answer: Paris\nConfidence: 85", "Paris", 85),
        ("Paris\nConfidence: 85", "Paris", 85),
        ("**Answer:** Paris\n**Confidence:** 85%\n\n", "Paris", 85),
        ("<think>Answer: Rome\nConfidence: 3</think>Answer: Paris\nConfidence: 85", "Paris", 85),
        ("Well.\nAnswer: Paris,\nFrance\nConfidence: 85", "Paris,\nFrance", 85),
        ("answer: Paris\nCONFIDENCE： 85", "Paris", 85),
        ("Answer: Paris", "Paris", None),
        ("Paris", "Paris", None),
        ("Answer: Paris\nConfidence: 85\nConfidence: 20", "Paris", None),
        ("Answer: Paris\nConfidence: 85\nI am 20% sure.", "Paris", None),
        ("Answer: Paris. Confidence: 85", "Paris. Confidence: 85", None),
        ("Answer: 85", "85", None),
        ("Confidence: 85", "", 85),
        ("", "", None),
    ],
)
def test_the_form_of_a_reply(said: str, answer: str, confidence: int | None) -> None:
    found, sure = read_reply(said, form_of("en"))
    assert (found, None if isinstance(sure, Failure) else sure) == (answer, confidence)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_prompt_shows_a_form_that_is_read(language: str) -> None:
    form = form_of(language)
    assert form.template.startswith("{question}\n\n")
    assert "100" in form.template
    assert form.answer != form.confidence
    assert not form.fallback
    first, last = form.template.split("\n")[-2:]
    start, end = first.index("<"), last.index("<")
    for number in ("85", "٨٥", "85%"):
        assert read_reply(f"{first[:start]}42 Ω\n{last[:end]}{number}", form) == ("42 Ω", 85)
    assert read_reply("Answer: Paris\nConfidence: 7", form) == ("Paris", 7)


def test_msqas_languages_have_a_prompt() -> None:
    assert {"en", "zh", "fr", "id", "ko", "ja", "pt", "th", "ru", "es", "ms"} <= set(LANGUAGES)


def test_the_prompt_of_a_language_without_its_region_or_of_english() -> None:
    assert [form_of(tag).language for tag in ("pt-BR", "zh-Hant-TW", "xh", None)] == ["pt", "zh", "en", "en"]
    assert [form_of(tag).fallback for tag in ("pt-BR", "xh", "en-GB", None)] == [False, True, False, False]


@given(st.text(max_size=80))
def test_no_reply_breaks_the_reader(text: str) -> None:
    answer, sure = read_reply(text, form_of("ar"))
    assert isinstance(answer, str)
    assert isinstance(sure, Failure) or 0 <= sure <= 100


# ---- asking ----------------------------------------------------------------------------------------------------


def test_the_question_is_asked_in_its_language_and_the_answer_alone_is_graded(tmp_path: Path) -> None:
    model = Scripted(lambda i: f"答案：yes\n置信度：{90 + i}")
    result = whole(BenchJob(BENCH, items(2, "zh"), asker(model), asking=Asking(seed=5)), tmp_path)
    [first, _] = model.asked
    assert first.messages[-1].content.startswith("question 0?\n\n请回答")
    assert (first.max_tokens, first.seed, first.schema) == (16 + ROOM, 5, None)
    assert [one.response.text for one in read_records(tmp_path / "said.jsonl", Said)] == ["yes", "yes"]
    stated = list(read_records(tmp_path / "stated.jsonl", Stated))
    assert next((one.confidence, one.language, one.text) for one in stated) == (90, "zh", "答案：yes\n置信度：90")
    assert result.figures["confidence"].value == pytest.approx(0.905)
    assert result.signature["confidence"] == f"verbalised.{prompts_hash()}"
    assert result.signature["task"] == "x.1"
    assert result.notes == ()


def test_english_stands_in_and_the_result_says_so(tmp_path: Path) -> None:
    result = whole(BenchJob(BENCH, items(3, "xh"), asker(Scripted(lambda _: "Answer: yes\nConfidence: 50"))), tmp_path)
    assert result.notes[0] == "confidence was asked for in English in 3 answers, because there is no prompt in Xhosa"
    assert "no prompt in Xhosa" in paragraph(result)


def test_the_english_variant_is_asked_in_english(tmp_path: Path) -> None:
    own = [item.model_copy(update={"metadata": {"variants": {"english": item.prompt}}}) for item in items(1, "th")]
    model = Scripted(lambda _: "Answer: yes\nConfidence: 50")
    result = whole(BenchJob(BENCH, own, asker(model), asking=Asking(variant="english")), tmp_path)
    assert "Answer the question above" in model.asked[0].messages[-1].content
    assert not any("English" in note for note in result.notes)


def test_what_failed_is_asked_for_again_and_the_rest_is_there_once(tmp_path: Path) -> None:
    model = Scripted(lambda i: f"Answer: yes\nConfidence: {90 if i or len(model.asked) > 3 else 'high'}")
    run = BenchJob(BENCH, items(3), replace(asker(model), store=tmp_path / "store.db"))
    assert whole(run, tmp_path).figures["confidence"].n == 2
    again = whole(replace(run, asker=replace(run.asker, retry_failed=True)), tmp_path)
    assert len(model.asked) == 4
    assert again.figures["confidence"].n == len(list(read_records(tmp_path / "said.jsonl", Said))) == 3


def test_what_fails_is_counted_and_never_a_number(tmp_path: Path) -> None:
    def say(i: int) -> str | Completion:
        if i == 0:
            raise Rejected("too long")
        if i == 1:
            return Completion("Answer: yes\nConfidence: 8", stop="length")
        return ["Answer: yes\nConfidence: 85", "Answer: yes\nConfidence: high", "Confidence: 20"][i - 2]

    result = whole(BenchJob(BENCH, items(5), asker(Scripted(say))), tmp_path)
    assert result.missing == {
        "the model gave no answer": 1, "the reply was cut off": 1, "no confidence could be read": 1
    }  # fmt: skip
    assert (result.answers, result.figures["ECE"].n, result.figures["ECE"].unscored) == (5, 2, 3)
    assert result.not_attempted == 1  # an empty answer
    assert result.figures["accuracy"].value == 0.5
    said = paragraph(result)
    assert "Left out: 3 of 5 answers" in said
    assert "1 answers are not attempts; they count as not correct" in said
    assert "2 answers are too few to conclude anything" in said
    food, history = result.by["topic"]["food"], result.by["topic"]["history"]
    assert (food["ECE"].n, food["ECE"].unscored, history["ECE"].n, history["ECE"].unscored) == (2, 1, 0, 2)
    assert history["ECE"].value is None


def test_a_judge_grades_the_answer_without_the_confidence(tmp_path: Path) -> None:
    """MSQA: right, wrong, and not attempted, which counts as not correct."""

    def judged(request: Request) -> Completion:
        asked = request.messages[-1].content
        assert "Confidence" not in asked
        if "Paris" in asked:
            return Completion("VERDICT: CORRECT")
        first = "NOT_CORRECT" in asked
        return Completion(
            f"VERDICT: {'NOT_CORRECT' if first else 'NOT_ATTEMPTED' if 'Beats me' in asked else 'INCORRECT'}"
        )

    own = [
        Item(id=f"q{i}", prompt=f"question {i}?", target=("the capital",), language="en", topic="t") for i in range(3)
    ]
    said = ("Paris", "Rome", "Beats me")
    model = Scripted(lambda i: f"Answer: {said[i]}\nConfidence: {90 - 10 * i}")
    result = whole(BenchJob(MSQA, own, asker(model), (asker(FakeModel("judge", judged)),)), tmp_path)
    assert result.figures["accuracy"].value == pytest.approx(1 / 3)
    assert (result.not_attempted, result.missing) == (1, {})
    assert [(case.id, case.label) for case in result.most_confident_mistakes] == [("q1", NO), ("q2", SKIPPED)]


@pytest.mark.parametrize(
    ("said", "answer", "confidence"),
    [
        ('{"answer": "yes", "confidence": 85}', "yes", 85),
        ('{"answer": "yes", "confidence": 0}', "yes", 0),
        ('{"answer": "yes", "confidence": 150}', "yes", None),
        ('{"answer": "yes", "confidence": true}', "yes", None),
        ('{"answer": "yes", "confidence": 0.5}', "yes", None),
        ('{"answer": "yes", "confi', '{"answer": "yes", "confi', None),
        ('{"answer": 3, "confidence": 5}', '{"answer": 3, "confidence": 5}', None),
    ],
)
def test_a_model_that_must_be_held_to_a_schema_writes_json(
    said: str, answer: str, confidence: int | None, tmp_path: Path
) -> None:
    model = Scripted(lambda _: said)
    model.constrained = True
    whole(BenchJob(BENCH, items(1), asker(model)), tmp_path)
    assert model.asked[0].schema is not None
    [spoken], [stated] = (
        list(read_records(tmp_path / "said.jsonl", Said)),
        list(read_records(tmp_path / "stated.jsonl", Stated)),
    )
    assert (spoken.response.text, stated.confidence) == (answer, confidence)
    assert (stated.failure is None) == (confidence is not None)


def test_asking_again_costs_nothing(tmp_path: Path) -> None:
    first, second = (Scripted(lambda _: "Answer: yes\nConfidence: 50") for _ in range(2))
    with Store(tmp_path / "store") as store:
        before = whole(BenchJob(BENCH, items(4), Asker(first, store)), tmp_path)
        after = whole(BenchJob(BENCH, items(4), Asker(second, store)), tmp_path)
    assert (len(first.asked), len(second.asked)) == (4, 0)
    assert before == after


def test_likelihood_of_written_answers_is_the_mean_over_tokens(tmp_path: Path) -> None:
    def say(i: int) -> Completion:
        logprobs = {0: (math.log(0.25), 0.0), 1: None, 2: ()}[i]
        return Completion("yes", logprobs)

    model, path = Scripted(say), tmp_path / "said.jsonl"
    asyncio.run(ask_likelihood(BenchJob(BENCH, items(3), asker(model)), path))
    assert model.asked[0].logprobs
    assert model.asked[0].messages[-1].content == "question 0?"
    found = read_likelihood(path)
    assert found["q0", 0] == pytest.approx(0.5)
    for key in (("q1", 0), ("q2", 0)):
        failure = found[key]
        assert isinstance(failure, Failure)
        assert "no log-probabilities" in failure.reason


def test_likelihood_of_choices_is_the_probability_of_the_chosen(tmp_path: Path) -> None:
    own = [
        Item(id=f"q{i}", prompt=f"question {i}?", choices=("yes", "no"), target=("yes",), language="en")
        for i in range(2)
    ]
    model = Scripted(lambda i: Completion("A", alternatives=(("A", math.log(0.6)), ("B", math.log(0.2 + 0.6 * i)))))
    path, graded = tmp_path / "said.jsonl", tmp_path / "verdicts.jsonl"
    run = BenchJob(CHOICE, own, asker(model), asking=Asking(by_logprob=True))

    async def work() -> None:
        await ask_likelihood(run, path)
        await run.grade(path, graded)

    asyncio.run(work())
    assert model.asked[0].alternatives == 20
    found = read_likelihood(path)
    assert [found["q0", 0], found["q1", 0]] == [pytest.approx(0.75), pytest.approx(0.8 / 1.4)]
    result = calibrate(subject_of_run(run), LIKELIHOOD, read_records(graded, Verdict), found)
    assert result.figures["accuracy"].value == 0.5


def test_a_refused_question_has_no_likelihood(tmp_path: Path) -> None:
    with JsonlWriter(tmp_path / "said.jsonl") as writer:
        failure = Failure(kind=FailureKind.FILTERED, reason="withheld")
        writer.write(Said(sample=0, response=Response(item_id="q0", model="m", failure=failure)))
    assert read_likelihood(tmp_path / "said.jsonl") == {("q0", 0): failure}


def test_agreement_is_the_share_of_the_same_words_or_choices() -> None:
    said = ["Paris.", "paris", "Rome", "ปา", None]
    own = [verdict("q0", YES if answer else None, n, answer) for n, answer in enumerate(said)]
    found = measure_agreement(BENCH, [*own, verdict("q1", YES)])
    assert [found["q0", n] for n in range(4)] == [0.5, 0.5, 0.25, 0.25]
    missing, alone = found["q0", 4], found["q1", 0]
    assert isinstance(missing, Failure)
    assert isinstance(alone, Failure)
    assert "no other answer" in alone.reason
    chosen = [verdict("q0", YES, n, f"I say {n}", read) for n, read in enumerate("AABA")]
    assert measure_agreement(CHOICE, chosen)["q0", 0] == 0.75
    result = calibrate(subject(items(2)), AGREEMENT, [*own, verdict("q1", YES)], found)
    assert result.missing == {"the model gave no answer": 1, "there is no other answer to compare it with": 1}


def test_what_a_judge_read_is_no_answer() -> None:
    own = [verdict("q0", YES, n, answer, read="1") for n, answer in enumerate(("Paris", "Rome"))]
    assert measure_agreement(BENCH, own)["q0", 0] == 0.5


def test_marks_of_tones_tell_words_apart() -> None:
    own = [verdict("q0", YES, n, answer) for n, answer in enumerate(("ก่า", "ก้า"))]
    assert measure_agreement(BENCH, own)["q0", 0] == 0.5


# ---- scripted models -------------------------------------------------------------------------------------------


def scripted(tmp_path: Path, sure: Sequence[int], right: Sequence[bool]) -> CalibrationResult:
    def say(i: int) -> str:
        return f"Answer: {'yes' if right[i] else 'no'}\nConfidence: {sure[i]}"

    return whole(BenchJob(BENCH, items(len(sure)), asker(Scripted(say))), tmp_path)


def test_always_95_and_right_half_the_time(tmp_path: Path) -> None:
    result = scripted(tmp_path, [95] * 400, [i % 2 == 0 for i in range(400)])
    found = {name: one.value for name, one in result.figures.items()}
    assert found["ECE"] == pytest.approx(45.0)
    assert found["Brier"] == pytest.approx((0.05**2 + 0.95**2) / 2)
    assert found["overconfidence"] == pytest.approx(0.45)
    assert (found["accuracy"], found["accuracy at 90+"], found["AUROC"]) == (0.5, 0.5, 0.5)
    assert found["gain at half coverage"] == 0.0
    assert found["area under selective accuracy"] == pytest.approx(0.5)
    sure = result.figures["accuracy at 90+"]
    assert [sure.n, sure.low, sure.high] == pytest.approx([400, 0.4499, 0.5501], abs=1e-4)
    ece = result.figures["ECE"]
    assert ece.low is not None
    assert ece.high is not None
    assert ece.low < 45 < ece.high < 51
    assert [bar.n for bar in result.bins] == [0] * 9 + [400]
    assert [result.bins[9].confidence, result.bins[9].accuracy] == pytest.approx([0.95, 0.5])
    assert result.bins[0].accuracy_low is None
    said = paragraph(result)
    assert "It is overconfident." in said
    assert "its average confidence is 95.0%" in said
    assert "off by 45.0 percentage points" in said
    assert "does not show which are correct" in said
    assert "always the same" in said
    assert {group: one["ECE"].value for group, one in result.by["topic"].items()} == {
        "food": pytest.approx(5.0), "history": pytest.approx(95.0)
    }  # fmt: skip


def test_a_model_that_is_right_as_often_as_it_says(tmp_path: Path) -> None:
    """Of the answers with confidence c, exactly c% are right, so the error is 0, and what it knows, it tells."""
    levels = (5, 15, 25, 35, 45, 55, 65, 75, 85, 95)
    sure = [level for level in levels for _ in range(20)]
    right = [i < level // 5 for level in levels for i in range(20)]
    result = scripted(tmp_path, sure, right)
    assert result.figures["ECE"].value == pytest.approx(0.0, abs=1e-9)
    assert result.figures["accuracy"].value == 0.5
    assert result.figures["overconfidence"].value == pytest.approx(0.0, abs=1e-9)
    chance = result.figures["ECE by chance"]
    assert chance.value is not None
    assert 3 < chance.value < 12
    assert (result.figures["AUROC"].low or 0) > 0.7
    assert result.figures["accuracy at half coverage"].value == pytest.approx(0.75)
    assert result.figures["gain at half coverage"].value == pytest.approx(0.25)
    said = paragraph(result)
    assert "there is no sign that its confidence is wrong" in said
    assert "gains +25.0 points" in said
    assert [point.coverage for point in result.curve][-1] == 1.0
    assert result.curve[-1].accuracy == pytest.approx(0.5)
    assert result.curve[1].accuracy == pytest.approx(0.95)
    assert (result.curve[1].threshold, result.curve[9].threshold, result.curve[10].threshold) == (0.95, 0.55, 0.45)


def test_random_confidence_says_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    result = scripted(tmp_path, rng.integers(0, 101, 400).tolist(), (rng.random(400) < 0.5).tolist())
    area_, gain, error = (result.figures[name] for name in ("AUROC", "gain at half coverage", "ECE"))
    assert area_.low is not None
    assert area_.high is not None
    assert area_.low < 0.5 < area_.high
    assert gain.low is not None
    assert gain.high is not None
    assert gain.low < 0 < gain.high
    assert error.value == pytest.approx(25, abs=5)  # the mean of |0.5 - c| over all c
    assert (error.value or 0) > (result.figures["ECE by chance"].high or 100)
    assert "overconfident in some answers and underconfident in others" in paragraph(result)
    assert "has no clear effect" in paragraph(result)


def test_answers_to_one_question_are_not_so_many_questions() -> None:
    """Ten questions with twenty answers each, all alike: the interval is that of ten."""
    right = np.repeat(np.arange(10) < 5, 20)
    sure = np.full(200, 0.7)
    many = confidence_results(make_cells(sure, right, np.repeat(np.arange(10), 20)), 0)["accuracy"]
    single = confidence_results(make_cells(sure, right, np.arange(200)), 0)["accuracy"]
    assert many.value == single.value == 0.5
    assert many.low is not None
    assert single.low is not None
    assert many.low < 0.3 < 0.42 < single.low
    own = [verdict(f"q{i // 20}", YES if right[i] else NO, i % 20) for i in range(200)]
    result = calibrate(subject(items(10)), AGREEMENT, own, dict.fromkeys(((v.item_id, v.sample) for v in own), 0.7))
    assert "intervals resample whole questions" in paragraph(result)
    low = result.bins[7].accuracy_low
    assert low is not None
    assert low < 0.3


# ---- what is shown ---------------------------------------------------------------------------------------------


def test_the_most_confident_mistakes_and_the_least_confident_hits_are_shown_and_not_more() -> None:
    own = items(3 * CASES)
    verdicts = [verdict(item.id, NO if i % 3 else YES) for i, item in enumerate(own)]
    sure: dict[tuple[str, int], float | Failure] = {(f"q{i}", 0): i / (3 * CASES) for i in range(3 * CASES)}
    result = calibrate(subject(own), VERBALISED, verdicts, sure)
    assert [len(result.most_confident_mistakes), len(result.least_confident_hits)] == [CASES, CASES]
    assert [case.id for case in result.most_confident_mistakes[:2]] == ["q149", "q148"]
    assert [case.id for case in result.least_confident_hits[:2]] == ["q0", "q3"]
    case = result.most_confident_mistakes[0]
    assert (case.question, case.reference, case.label) == ("question 149?", "yes", NO)


def test_ungraded_and_unknown_answers_are_missing() -> None:
    own = [verdict("q0", None), verdict("q1", YES), verdict("q2", SKIPPED)]
    result = calibrate(subject(items(3)), VERBALISED, own, {("q0", 0): 0.5, ("q2", 0): 1.0})
    assert result.missing == {"the answer could not be graded": 1, "it has no confidence": 1}
    assert (result.figures["accuracy"].value, result.not_attempted) == (0.0, 1)


def test_nothing_to_say() -> None:
    result = calibrate(subject(items(2)), VERBALISED, [], {})
    assert result.figures["ECE"].value is None
    assert result.curve == ()
    assert "there is no result" in paragraph(result)


def test_long_answers_are_refused() -> None:
    with pytest.raises(ConfigError, match="calmqa: its answers are measured"):
        Subject(CALMQA, [], "m", Signature())


def test_verdicts_of_other_questions_are_refused() -> None:
    with pytest.raises(InputError, match="'q7', which is not an item of the run"):
        calibrate(subject(items(1)), VERBALISED, [verdict("q7", YES)], {})
