"""Asking a model: what comes back, what is kept, what is said of the cost, and the options."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from mores.engine import Answer, Asker, Counts, Job, Limits, Reply, Store, open_asker, read_reply, unread
from mores.engine.cost import Price
from mores.engine.loop import run
from mores.engine.progress import Silent
from mores.errors import ConfigError
from mores.io import read_records
from mores.models import Completion, Message, Request
from mores.models.fake import FakeModel
from mores.models.openai import OpenAIModel
from mores.types import Failure, FailureKind, Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

T = TypeVar("T")


class Echo(FakeModel):
    """Repeats each question in capitals, and remembers what it was asked."""

    def __init__(self, name: str = "echo", constrained: bool = False) -> None:
        super().__init__(name, self._reply)
        self.constrained = constrained
        self.asked: list[Request] = []

    def _reply(self, request: Request) -> Completion:
        self.asked.append(request)
        text = request.messages[-1].content
        return Completion(text.upper(), stop="length" if text == "long" else "stop")


class Notes(Silent):
    """Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.stages: list[tuple[str, int, Price | None, Counts]] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    @asynccontextmanager
    async def stage(
        self, name: str, total: int, price: Price | None = None, counts: Counts | None = None
    ) -> AsyncIterator[Counts]:
        counts = counts or Counts()
        self.stages.append((name, total, price, counts))
        yield counts


def request(text: str, max_tokens: int = 10) -> Request:
    return Request((Message("user", text),), max_tokens)


def jobs(*texts: str) -> list[Job]:
    return [Job(text, request(text)) for text in texts]


def answers(asker: Asker, asked: list[Job], counts: Counts | None = None) -> list[Answer]:
    async def collect() -> list[Answer]:
        return [answer async for answer in asker.ask(asked, counts=counts)]

    return run(collect())


def texts(given: list[Answer]) -> list[str | None]:
    return [answer.completion and answer.completion.text for answer in given]


def each(asker: Asker, tasks: list[tuple[T, list[Request]]], counts: Counts) -> list[tuple[T, list[Reply]]]:
    async def collect() -> list[tuple[T, list[Reply]]]:
        return [pair async for pair in asker.ask_each(tasks, counts)]

    return run(collect())


def test_answers_come_in_order_and_the_file_of_the_store_keeps_them(tmp_path: Path) -> None:
    first, second, counts = Echo(), Echo(), Counts()
    assert texts(answers(Asker(first, store=tmp_path / "s.db"), jobs("a", "b", "c"))) == ["A", "B", "C"]
    assert texts(answers(Asker(second, store=str(tmp_path / "s.db")), jobs("c", "d"), counts)) == ["C", "D"]
    assert [asked.messages[0].content for asked in second.asked] == ["d"]
    assert (counts.done, counts.cached, counts.calls) == (2, 1, 1)
    with Store(tmp_path / "s.db") as store:
        assert len(store) == 4


def test_fresh_asks_again_what_the_store_knows(tmp_path: Path) -> None:
    model = Echo()
    for fresh in (False, True):
        answers(Asker(model, store=tmp_path / "s.db", fresh=fresh), jobs("a"))
    assert len(model.asked) == 2


def test_an_open_store_stays_open(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        asker = Asker(Echo(), store=store)
        answers(asker, jobs("a"))
        answers(asker, jobs("b"))
        assert len(store) == 2


def test_without_a_store_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    model = Echo()
    asker = Asker(model, store=None)
    assert texts(answers(asker, jobs("a")) + answers(asker, jobs("a"))) == ["A", "A"]
    assert len(model.asked) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_question_may_follow_an_answer() -> None:
    def follow(job: Job, completion: Completion) -> Request | None:
        return request("again") if completion.text == job.id.upper() == "A" else None

    async def collect() -> list[Answer]:
        return [answer async for answer in Asker(Echo(), store=None).ask(jobs("a", "b"), follow=follow)]

    first, second = run(collect())
    assert (texts([first, second]), first.followed, second.followed) == (["AGAIN", "B"], True, False)


def test_each_thing_comes_with_its_replies_and_one_without_questions_in_its_place() -> None:
    long, counts = request("long")._replace(schema={"type": "object"}), Counts()
    model = Echo()
    tasks = [("none", []), ("two", [request("a"), request("b")]), ("nothing", []), ("long", [long])]
    cut = Failure(kind=FailureKind.TRUNCATED, reason="the answer was cut off; it ends with 'LONG'")
    result = each(Asker(model, store=None), tasks, counts)
    assert result == [("none", []), ("two", ["A", "B"]), ("nothing", []), ("long", [cut])]
    assert (counts.done, counts.failed, counts.calls) == (4, 0, 3)
    assert all(asked.schema is None for asked in model.asked)


@pytest.mark.parametrize("constrained", [True, False])
def test_only_a_model_that_needs_its_schema_is_held_to_it(constrained: bool) -> None:
    model = Echo(constrained=constrained)
    each(Asker(model, store=None), [(1, [request("a")._replace(schema={"type": "object"})])], Counts())
    assert [bool(asked.schema) for asked in model.asked] == [constrained]


def test_answers_are_written_in_order_with_progress(tmp_path: Path) -> None:
    def read(answer: Answer) -> Response:
        assert answer.completion is not None
        return Response(item_id=answer.job.id, model="m", text=answer.completion.text)

    progress = Notes()
    asker = Asker(Echo(), store=None, given_price=Price(1, 2), progress=progress)
    run(asker.write(tmp_path / "out.jsonl", jobs("a", "b"), read, stage="answers", total=2))
    assert [(response.item_id, response.text) for response in read_records(tmp_path / "out.jsonl", Response)] == [
        ("a", "A"),
        ("b", "B"),
    ]
    [(name, total, price, counts)] = progress.stages
    assert (name, total, price, counts.done) == ("answers", 2, Price(1, 2), 2)


def test_the_most_that_calls_cost_is_announced() -> None:
    progress = Notes()
    asker = Asker(FakeModel("x", lambda _: Completion("")), store=None, given_price=Price(1e6, 2e6), progress=progress)
    never = Job("z", Failure(kind=FailureKind.INPUT, reason="too long"))
    # "abcdefgh" is three tokens by the rule of thumb, and the answer at most ten: 3 + 20 dollars each.
    asker.announce("answers", [*(Job(str(n), request("abcdefgh")) for n in range(2)), never])
    assert progress.notes == ["answers: 2 calls, about $46.00 at most"]


@pytest.mark.parametrize("name", ["fake:clean", "openai:nobody-knows-this"])
def test_what_is_free_or_unknown_is_not_announced(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    progress = Notes()
    open_asker(name, store=None, progress=progress).announce("answers", jobs("a"))
    assert progress.notes == []


def test_options_go_to_the_model_the_limits_and_the_asker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    progress = Notes()
    asker = open_asker(
        "openai:m", base_url="http://127.0.0.1:9/v1", concurrency=3, attempts=2, timeout=5.0, outage=0.0,
        requests_per_minute=60.0, store=tmp_path / "s.db", fresh=True, price=Price(1, 2), progress=progress,
    )  # fmt: skip
    assert asker.model.name == "openai:m"
    assert asker.options.base_url == "http://127.0.0.1:9/v1"
    assert asker.limits == Limits(concurrency=3, attempts=2, timeout=5.0, outage=0.0, requests_per_minute=60.0)
    assert (asker.store, asker.fresh, asker.price) == (tmp_path / "s.db", True, Price(1, 2))
    assert asker.progress is progress


def test_what_is_not_given_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    model = Echo()
    asker = open_asker(model)
    assert asker.model is model
    assert isinstance(asker.store, Path)
    assert asker.store.is_relative_to(tmp_path)
    assert (asker.limits, asker.fresh, asker.price) == (Limits(), False, Price(0, 0))
    assert open_asker(model, store=None).store is None


def test_an_unknown_option_is_named_with_those_that_there_are() -> None:
    with pytest.raises(
        TypeError, match=r"unexpected option 'concurency'; did you mean 'concurrency'\? there are .*base_url"
    ):
        open_asker("fake:clean", concurency=3)  # type: ignore[call-arg]


def test_a_judge_is_opened_alike_but_for_its_address_and_the_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    asker = open_asker("openai:a", store=None, base_url="http://127.0.0.1:9/v1", attempts=2)
    judge = asker.open("openai:m")
    assert (judge.model.name, judge.options.base_url) == ("openai:m", "http://127.0.0.1:9/v1")
    assert (judge.limits, judge.store) == (asker.limits, None)
    assert asker.open("openai:m", "http://127.0.0.1:8/v1").options.base_url == "http://127.0.0.1:8/v1"
    assert open_asker("embedded", store=None, adapter="none").open("embedded").options.adapter is None


@pytest.mark.parametrize(
    ("completion", "kind", "reason"),
    [
        (Completion("half a sen", stop="length"), FailureKind.TRUNCATED, "cut off; it ends with 'half a sen'"),
        (Completion("", stop="content_filter"), FailureKind.FILTERED, "content filter"),
        (Completion("<think>Hm.</think> "), FailureKind.EMPTY, "only thoughts"),
        (None, FailureKind.MODEL, "did not answer"),
    ],
)
def test_replies_that_cannot_be_read(completion: Completion | None, kind: FailureKind, reason: str) -> None:
    reply = read_reply(Answer(jobs("a")[0], completion, None))
    assert isinstance(reply, Failure)
    assert reply.kind is kind
    assert reason in reply.reason


def test_replies_that_can_be_read() -> None:
    assert read_reply(Answer(jobs("a")[0], Completion("<think>Hm.</think>Yes."), None)) == "Yes."
    failure = Failure(kind=FailureKind.MODEL, reason="no connection")
    assert read_reply(Answer(jobs("a")[0], None, failure)) == failure
    assert unread("x" * 61, "a number").reason == f"expected a number, found '{'x' * 60}…'"


@pytest.mark.parametrize("name", ["fake:clean", "embedded"])
def test_a_judge_that_needs_no_server_is_not_given_the_address_of_the_model(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    asker = open_asker("openai:a", store=None, base_url="http://127.0.0.1:9/v1")
    judge = asker.open(name)
    assert judge.model.name.startswith(name)
    translator = judge.open("openai:t")
    assert isinstance(translator.model, OpenAIModel)
    assert translator.model.base_url == "http://127.0.0.1:9/v1"
    with pytest.raises(ConfigError, match=f"a model of kind '{name.partition(':')[0]}' takes no base url"):
        asker.open(name, "http://127.0.0.1:8/v1")
