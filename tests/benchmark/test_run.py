"""A run: what is asked and in which order, that it goes on where it stopped, and that memory does not grow."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mores.benchmark.benchmark import Benchmark, Graded, Label, Verdict
from mores.benchmark.choice import grade_letter, grade_truth
from mores.benchmark.run import Asking, BenchJob, Said, data_hash
from mores.benchmark.score import BenchResult
from mores.engine import Asker, Limits, Store
from mores.engine.blame import SEVERAL
from mores.errors import InputError, ModelError, Rejected
from mores.io import read_records
from mores.models.base import Completion, Message, Request
from mores.models.fake import FakeModel
from mores.types import Failure, FailureKind, Item

BENCH = Benchmark(
    name="x", title="X", version="1", licence="-", homepage="-", files="-", source="x", read=lambda *_: iter(()),
    grade=grade_truth, max_tokens=16, variants=("english",),
)  # fmt: skip


def items(questions: int, parts: int = 1) -> list[Item]:
    return [
        Item(id=f"{q}.{p}", prompt=f"question {q} part {p}", target=("True",), metadata={"unit": str(q)})
        for q in range(questions)
        for p in range(parts)
    ]


class Counting(FakeModel):
    """Counts what it is asked."""

    def __init__(self, answer: Callable[[Request], str] = lambda _: "True", name: str = "counting") -> None:
        self.asked: list[Request] = []
        self._say = answer
        super().__init__(name, self._reply)

    def _reply(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(self._say(request), prompt_tokens=3, completion_tokens=1)


def ask(model: FakeModel, store: Store | None = None, **changes: Any) -> Asker:
    return Asker(model, store, **changes)


def whole(run: BenchJob, folder: Path) -> BenchResult:
    responses, verdicts = folder / "responses.jsonl", folder / "verdicts.jsonl"

    async def work() -> None:
        await run.ask(responses)
        await run.grade(responses, verdicts)

    asyncio.run(work())
    return run.score(verdicts)


def test_a_run_writes_what_was_said_and_how_it_was_graded(tmp_path: Path) -> None:
    model = Counting(lambda r: "True" if "part 0" in r.messages[-1].content else "False")
    result = whole(BenchJob(BENCH, items(3, 2), ask(model)), tmp_path)
    rows = list(read_records(tmp_path / "responses.jsonl", Said))
    assert [row.response.item_id for row in rows] == ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"]
    assert rows[0].response.usage.prompt_tokens == 3
    verdicts = list(read_records(tmp_path / "verdicts.jsonl", Verdict))
    assert [(row.read, row.label) for row in verdicts[:2]] == [("True", Label.CORRECT), ("False", Label.INCORRECT)]
    assert result.figures["accuracy"].value == 0.0
    assert result.rows is not None
    assert result.rows.value == 0.5
    assert (result.signature["task"], result.signature["judge"]) == ("x.1", "rule")
    assert "data" in result.signature
    assert (result.name, result.variant, result.options, result.unjudged, result.by_logprob) == (
        "x", None, None, None, False,
    )  # fmt: skip


def test_what_is_asked(tmp_path: Path) -> None:
    model = Counting()
    bench = replace(BENCH, system="Be brief.")
    whole(BenchJob(bench, items(1), ask(model), asking=Asking(temperature=0.7, seed=5)), tmp_path)
    [request] = model.asked
    assert request.messages == (Message("system", "Be brief."), Message("user", "question 0 part 0"))
    assert (request.max_tokens, request.temperature, request.seed, request.logprobs) == (16, 0.7, 5, False)


def test_samples_come_question_by_question_each_with_its_own_seed(tmp_path: Path) -> None:
    model = Counting()
    run = BenchJob(BENCH, items(2, 2), ask(model), asking=Asking(samples=3))
    assert [(job.id, job.sample) for job in run.jobs()] == [
        (f"{question}.{part}", sample) for question in range(2) for sample in range(3) for part in range(2)
    ]
    result = whole(run, tmp_path)
    assert (result.samples, result.figures["accuracy"].n, result.questions) == (3, 6, 2)
    assert {request.seed for request in model.asked} == {0, 1, 2}
    assert len(model.asked) == 12


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    with Store(tmp_path / "store") as store:
        before = whole(BenchJob(BENCH, items(5), ask(first, store), asking=Asking(samples=2)), tmp_path)
        after = whole(BenchJob(BENCH, items(5), ask(second, store), asking=Asking(samples=2)), tmp_path)
    assert (len(first.asked), len(second.asked)) == (10, 0)
    assert before == after


def test_a_run_that_was_killed_asks_only_what_is_missing(tmp_path: Path) -> None:
    gone: list[bool] = []

    def until_question_7(request: Request) -> str:
        if "question 7" in request.messages[-1].content or gone:
            gone.append(True)
            raise ModelError("the server is gone")
        return "True"

    broken, working = Counting(until_question_7), Counting()
    with Store(tmp_path / "store") as store:
        with pytest.raises(ModelError, match="the server is gone"):
            whole(BenchJob(BENCH, items(20), ask(broken, store, limits=Limits(concurrency=1))), tmp_path)
        kept = 7
        assert len(broken.asked) == kept + SEVERAL + 1  # and one that had worked
        result = whole(BenchJob(BENCH, items(20), ask(working, store)), tmp_path)
    assert result.figures["accuracy"].value == 1.0
    assert kept + len(working.asked) == pytest.approx(20, abs=1)  # one may have been under way
    assert len(list(read_records(tmp_path / "responses.jsonl", Said))) == 20


def test_another_way_to_decode_is_another_question(tmp_path: Path) -> None:
    model = Counting()
    with Store(tmp_path / "store") as store:
        whole(BenchJob(BENCH, items(1), ask(model, store)), tmp_path)
        whole(BenchJob(BENCH, items(1), ask(model, store), asking=Asking(max_tokens=17)), tmp_path)
        whole(BenchJob(BENCH, items(1), ask(model, store, fresh=True)), tmp_path)
    assert [request.max_tokens for request in model.asked] == [16, 17, 16]


def test_a_refused_item_is_unscored_and_the_run_goes_on(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        if "question 1 " in request.messages[-1].content:
            raise Rejected("too long")
        return "True"

    result = whole(BenchJob(BENCH, items(3), ask(Counting(answer))), tmp_path)
    overall = result.figures["accuracy"]
    assert (overall.value, overall.n, overall.unscored) == (1.0, 2, 1)
    assert result.failures == {"model": 1}
    verdicts = list(read_records(tmp_path / "verdicts.jsonl", Verdict))
    assert verdicts[1].failure is not None
    assert "too long" in verdicts[1].failure.reason


@pytest.mark.slow
def test_memory_holds_items_and_not_answers(tmp_path: Path) -> None:
    """3,000 answers of 8 kB are 25 MB; what is held at once is what the engine lets run ahead, 1,024 of them."""
    model = Counting.__new__(Counting)
    FakeModel.__init__(model, "long", lambda _: Completion("True " + "x" * 8192))
    content = replace(BENCH, grade=lambda *_: Graded(label=Label.CORRECT))
    run = BenchJob(content, items(20), ask(model), asking=Asking(samples=150))
    tracemalloc.start()
    try:
        result = whole(run, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.figures["accuracy"].n == 3_000
    assert peak < 20e6


class Yes:
    """A judge that is asked whether the answer is the target, and once more when it is unsure."""

    prompt = "12345678"
    labels = tuple(Label)

    def ask(self, item: Item, answer: str) -> tuple[Message, ...] | Graded:
        if not answer:
            return Graded(label=Label.NOT_ATTEMPTED, reason="empty")
        return (Message("user", f"{item.metadata.get('variant')}: {answer}?"),)

    def ask_again(self, item: Item, answer: str, reply: str) -> tuple[Message, ...] | None:  # noqa: ARG002
        return (Message("user", "again"),) if reply == "unsure" else None

    def read(self, item: Item, answer: str, reply: str, again: bool) -> Graded | Failure:  # noqa: ARG002
        if reply not in {"yes", "no"}:
            return Failure(kind=FailureKind.PARSE, reason=f"{reply!r} is neither yes nor no")
        return Graded(label=Label.CORRECT if reply == "yes" else Label.INCORRECT, reason="again" if again else "")


def test_a_judge_grades_and_may_be_asked_again(tmp_path: Path) -> None:
    answers = {"question 0": "a", "question 1": "b", "question 2": "", "question 3": "c"}
    verdict_on = {"None: a?": "yes", "None: b?": "unsure", "again": "no", "None: c?": "well"}
    judge = Counting(lambda r: verdict_on[r.messages[-1].content], "judge")
    model = Counting(lambda r: answers[r.messages[-1].content[:10]])
    bench = replace(BENCH, grade=None, judging=Yes())
    result = whole(BenchJob(bench, items(4), ask(model), (ask(judge),)), tmp_path)
    verdicts = list(read_records(tmp_path / "verdicts.jsonl", Verdict))
    assert [verdict.label for verdict in verdicts] == [Label.CORRECT, Label.INCORRECT, Label.NOT_ATTEMPTED, None]
    assert [verdict.reason for verdict in verdicts] == ["", "again", "empty", ""]
    assert len(judge.asked) == 4  # nothing was asked about the empty answer
    overall = result.figures["accuracy"]
    assert overall.value == pytest.approx(1 / 3)
    assert (overall.n, overall.unscored) == (3, 1)
    assert result.judge == "fake:judge"
    assert result.signature["judge"] == "fake:judge.12345678"
    counted = whole(
        BenchJob(bench, items(4), ask(model), (ask(judge),), asking=Asking(judge_failures="incorrect")), tmp_path
    )
    assert (counted.unjudged, counted.signature["judge"]) == (Label.INCORRECT, "fake:judge.12345678.failed=incorrect")


def test_a_judge_that_is_not_needed_counts_nothing(tmp_path: Path) -> None:
    run = BenchJob(
        BENCH, items(1), ask(Counting()), (ask(Counting(name="judge")),), asking=Asking(judge_failures="incorrect")
    )
    result = whole(run, tmp_path)
    assert (result.unjudged, result.signature["judge"]) == (None, "rule")


def test_a_variant_is_asked_and_the_judge_knows_of_it(tmp_path: Path) -> None:
    question = Item(id="1", prompt="¿?", metadata={"variants": {"english": "What?"}})
    judge = Counting(lambda _: "yes", "judge")
    model = Counting(lambda _: "x")
    bench = replace(BENCH, grade=None, judging=Yes())
    run = BenchJob(bench, [question], ask(model), (ask(judge),), asking=Asking(variant="english"))
    result = whole(run, tmp_path)
    assert (result.signature["task"], result.variant, result.name) == ("x.1.english", "english", "x.english")
    assert [request.messages[-1].content for request in (*model.asked, *judge.asked)] == ["What?", "english: x?"]


def test_a_variant_that_an_item_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"0.0: the data have no english version"):
        whole(BenchJob(BENCH, items(1), ask(Counting()), asking=Asking(variant="english")), tmp_path)


def test_the_hash_of_the_items_changes_with_them() -> None:
    assert data_hash(items(2)) == data_hash(items(2)) != data_hash(items(3))
    letters = replace(BENCH, grade=grade_letter)
    asker = ask(Counting())
    assert BenchJob(letters, items(2), asker).signature() != BenchJob(letters, items(2)[::-1], asker).signature()


def test_incomplete_answers_are_missing_or_counted_as_the_protocol_says(tmp_path: Path) -> None:
    """A letter before the cut is graded by a rule, and said; a judge gets no half answer, and nobody a filtered one."""
    stops = {"question 0": "stop", "question 1": "length", "question 2": "content_filter", "question 3": "error"}

    def answer(request: Request) -> Completion:
        return Completion("True", stop=stops[request.messages[-1].content[:10]])

    asker = ask(FakeModel("stops", answer))
    by_rule = whole(BenchJob(BENCH, items(4), asker), tmp_path)
    assert (by_rule.figures["accuracy"].n, by_rule.figures["accuracy"].unscored) == (2, 2)
    assert (by_rule.failures, by_rule.incomplete) == ({"filtered": 1, "model": 1}, {"truncated": 1})
    judge = Counting(lambda _: "yes", "judge")
    judged = whole(BenchJob(replace(BENCH, grade=None, judging=Yes()), items(4), asker, (ask(judge),)), tmp_path)
    assert (judged.figures["accuracy"].n, judged.failures) == (1, {"truncated": 1, "filtered": 1, "model": 1})
    assert len(judge.asked) == 1


def test_answers_that_a_rule_cannot_read_are_asked_for_again_where_failures_are(tmp_path: Path) -> None:
    model = Counting(lambda _: "It depends.")
    with Store(tmp_path / "s.db") as store:
        assert whole(BenchJob(BENCH, items(3), ask(model, store)), tmp_path).failures == {"parse": 3}
        model._say = lambda _: "True"
        assert whole(BenchJob(BENCH, items(3), ask(model, store)), tmp_path).failures == {"parse": 3}
        again = whole(BenchJob(BENCH, items(3), ask(model, store, retry_failed=True)), tmp_path)
        assert (again.failures, len(model.asked)) == ({}, 6)
        whole(BenchJob(BENCH, items(3), ask(model, store, retry_failed=True)), tmp_path)
        assert len(model.asked) == 6


def test_what_a_rule_cannot_read_has_the_class_of_what_is_wrong_with_it(tmp_path: Path) -> None:
    answers = {
        "question 0": Completion("I cannot help.", stop="refusal"),
        "question 1": Completion("The capital of", stop="length"),
        "question 2": Completion("<think>Perhaps.</think>"),
        "question 3": Completion("It depends."),
    }
    asker = ask(FakeModel("answers", lambda request: answers[request.messages[-1].content[:10]]))
    result = whole(BenchJob(BENCH, items(4), asker), tmp_path)
    assert result.failures == {"refused": 1, "truncated": 1, "empty": 1, "parse": 1}
