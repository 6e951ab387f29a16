"""The engine: order, laziness, retries, the store, and a server that misbehaves."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from mores.engine import Answer, Counts, Job, Limits, RunOptions, Store, request_key, run
from mores.engine.job import Follow
from mores.engine.loop import run as run_loop
from mores.engine.runner import Lasting
from mores.errors import ModelError, Rejected, StoreError, Transient
from mores.models.base import Completion, Message, Model, Request
from mores.models.fake import FakeModel
from mores.models.openai import OpenAIModel
from mores.types import Failure, FailureKind
from tests.engine.server import ALL_FAULTS, Fault, Server, broken, crowded, too_long

QUICK = Limits(concurrency=16, backoff=0.001, attempts=30, timeout=10)


def ask(text: str, sample: int = 0) -> Job:
    return Job(text, Request((Message("user", text),)), sample)


def echo(request: Request) -> Completion:
    return Completion(request.messages[-1].content.upper(), (-0.5, -0.25), "stop", 3, 2)


def collect(
    jobs: Iterable[Job],
    model: Model,
    store: Store | None = None,
    limits: Limits = QUICK,
    follow: Follow | None = None,
    counts: Counts | None = None,
    **more: Any,
) -> list[Answer]:
    options = RunOptions(store=store, limits=limits, follow=follow, counts=counts or Counts(), **more)

    async def gather() -> list[Answer]:
        return [answer async for answer in run(jobs, model, options)]

    return run_loop(gather())


def test_jobs_that_are_not_known_yet_are_answered_as_they_come() -> None:
    """The second job exists only because the first, slow, is still open, and the third because the second is done."""

    async def play() -> list[str]:
        slow, second = asyncio.Event(), asyncio.Event()

        class Model(FakeModel):
            async def complete(self, request: Request) -> Completion:
                if request.messages[-1].content == "slow":
                    await slow.wait()
                return await super().complete(request)

        async def jobs() -> AsyncIterator[Job]:
            yield ask("slow")
            yield ask("second")
            await second.wait()
            yield ask("third")

        heard = []
        async for answer in run(jobs(), Model("echo", echo), RunOptions(limits=QUICK, in_order=False)):
            heard.append(answer.job.id)
            (second if answer.job.id == "second" else slow).set()
        return heard

    assert run_loop(play()) == ["second", "third", "slow"]


def served(server: Server) -> OpenAIModel:
    return OpenAIModel("stub", server.url, "key")


def test_answers_come_in_the_order_of_the_jobs() -> None:
    answers = collect((ask(f"q{i}") for i in range(1000)), FakeModel("echo", echo))
    assert [a.completion.text for a in answers if a.completion] == [f"Q{i}" for i in range(1000)]


def test_no_jobs_no_calls() -> None:
    assert collect([], FakeModel("echo", echo)) == []


def test_endless_jobs_are_read_only_as_far_as_needed() -> None:
    read = itertools.count()

    def endless() -> Iterator[Job]:
        while True:
            yield ask(f"q{next(read)}")

    async def first_hundred() -> None:
        async with aclosing(run(endless(), FakeModel("echo", echo), RunOptions(limits=QUICK))) as answers:
            async for answer in answers:
                if answer.job.id == "q99":
                    return

    run_loop(first_hundred())
    assert next(read) < 3000


@pytest.mark.parametrize(("lasting", "calls"), [(None, 2), (Lasting(lambda: None), 8)])
def test_a_lasting_run_has_four_calls_under_way_for_each_at_once(lasting: Lasting | None, calls: int) -> None:
    """Whoever gives it jobs decides whose may not hold up others'."""

    async def play() -> int:
        class Model(FakeModel):
            async def complete(self, request: Request) -> Completion:
                asked.append(request)
                await answered.wait()
                return await super().complete(request)

        async def jobs() -> AsyncIterator[Job]:
            for n in range(12):
                yield ask(f"q{n}")
            for _ in range(100):  # turns of the loop: enough for all that can begin
                await asyncio.sleep(0)
            under_way.append(len(asked))
            answered.set()

        asked, under_way, answered = list[Request](), list[int](), asyncio.Event()
        options = RunOptions(limits=Limits(concurrency=2), lasting=lasting)
        async with asyncio.timeout(10):
            assert len([answer async for answer in run(jobs(), Model("echo", echo), options)]) == 12
        return under_way[0]

    assert run_loop(play()) == calls


def test_an_answer_is_stored_and_never_asked_for_again(tmp_path: Path) -> None:
    jobs = [ask(f"q{i}") for i in range(300)]
    with Server() as server:
        with Store(tmp_path / "s.db") as store:
            first = collect(jobs, served(server), store)
            assert len(server.asked) == len(store) == 300
        with Store(tmp_path / "s.db") as store:
            again = collect(jobs, served(server), store)
    assert len(server.asked) == 300
    assert [a.completion for a in again] == [a.completion for a in first]
    assert all(a.cached for a in again)
    assert not any(a.cached for a in first)


@pytest.mark.slow
def test_answers_that_come_at_once_are_committed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit takes all that came in meanwhile, also from a model that answers at once; none is used before it."""
    sizes, write = list[int](), Store._write

    def count(store: Store, batch: Any) -> None:
        sizes.append(len(batch))
        write(store, batch)

    monkeypatch.setattr(Store, "_write", count)
    monkeypatch.setattr("mores.engine.store._PAUSE", 0.05)
    with Store(tmp_path / "store.db") as store:
        answers = collect([ask(str(n)) for n in range(2000)], FakeModel("echo", echo), store)
        assert len(answers) == sum(sizes) == len(store) == 2000
    assert len(sizes) <= 60  # of eight at once, the model's concurrency, they would be 250


def test_an_answer_that_is_not_committed_is_not_used(tmp_path: Path) -> None:
    async def check(store: Store, other: Store) -> None:
        options, model = RunOptions(store=store, in_order=False), FakeModel("echo", echo)
        async for answer in run([ask(f"q{i}") for i in range(400)], model, options):
            assert isinstance(answer.job.request, Request)
            key = request_key(model.identity, answer.job.request).key
            assert other.get_many([key]) == {key: answer.completion}

    with Store(tmp_path / "s.db") as store, Store(tmp_path / "s.db") as other:
        run_loop(check(store, other))


def test_a_finished_run_needs_no_server(tmp_path: Path) -> None:
    with Server() as server, Store(tmp_path / "s.db") as store:
        model = served(server)
        first = collect([ask("q")], model, store)
    with Store(tmp_path / "s.db") as store:
        assert [a.completion for a in collect([ask("q")], model, store)] == [a.completion for a in first]


def test_fresh_asks_again(tmp_path: Path) -> None:
    with Server() as server, Store(tmp_path / "s.db") as store:
        for fresh in (False, True):
            assert not collect([ask("q")], served(server), store, fresh=fresh)[0].cached
        assert server.asked == ["q", "q"]
        assert len(store) == 1


def test_retry_failed_asks_again_only_what_failed_or_cannot_be_used(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: Request) -> Completion:
        asked.append(request.messages[-1].content)
        if asked[-1] == "refused":
            raise Rejected("content policy", final=True)
        return Completion(asked[-1], stop="length" if asked[-1] == "cut off" else "stop")

    def read(answer: Answer) -> Failure | None:
        odd = answer.completion is not None and answer.completion.text == "odd"
        return Failure(kind=FailureKind.PARSE, reason="expected a number") if odd else None

    jobs = [ask(text) for text in ("good", "refused", "cut off", "odd")]
    one_by_one = Limits(concurrency=1)
    with Store(tmp_path / "s.db") as store:
        collect(jobs, FakeModel("x", answer), store, one_by_one)
        asked.clear()
        collect(jobs, FakeModel("x", answer), store, one_by_one, read=read)
        assert asked == []
        collect(jobs, FakeModel("x", answer), store, one_by_one, read=read, retry_failed=True)
        assert asked == ["refused", "cut off", "odd"]


def test_the_same_question_twice_in_a_run_is_asked_once() -> None:
    with Server(latency=0.05) as server:
        answers = collect([ask("same")] * 5, served(server))
    assert server.asked == ["same"]
    assert [a.cached for a in answers] == [False, True, True, True, True]


def test_samples_of_one_request_are_different_answers(tmp_path: Path) -> None:
    with Server() as server, Store(tmp_path / "s.db") as store:
        collect([ask("q", sample) for sample in range(4)], served(server), store)
        assert len(store) == 4
        assert sorted(b["seed"] for b in server.bodies) == [0, 1, 2, 3]  # in whatever order they arrived
        prompts = store._reader.execute("SELECT count(*) FROM prompt").fetchone()
        assert prompts == (1,)


@pytest.mark.parametrize(("seed", "sent"), [(5, [5, 6, 7]), (None, [None, None, None])])
def test_each_sample_has_the_next_seed_unless_the_request_has_none(seed: int | None, sent: list[int | None]) -> None:
    seeds: list[int | None] = []

    def answer(request: Request) -> Completion:
        seeds.append(request.seed)
        return echo(request)

    request = Request((Message("user", "q"),), seed=seed)
    collect([Job("q", request, sample) for sample in range(3)], FakeModel("x", answer), None, Limits(concurrency=1))
    assert seeds == sent


def test_key_depends_on_everything_that_decides_the_answer(tmp_path: Path) -> None:
    base = ask("q").request
    assert isinstance(base, Request)
    variants = [
        base,
        base._replace(temperature=0.7),
        base._replace(max_tokens=7),
        base._replace(schema={"type": "object"}),
        base._replace(messages=(Message("system", "q"),)),
        base._replace(logprobs=False),
    ]
    with Store(tmp_path / "s.db") as store:
        collect([Job("x", v) for v in variants], FakeModel("a", echo), store)
        collect([Job("x", v) for v in variants], FakeModel("b", echo), store)
        assert len(store) == 2 * len(variants)


def test_a_failed_job_passes_through_in_its_place() -> None:
    failure = Failure(kind=FailureKind.INPUT, reason="too long")
    answers = collect([ask("a"), Job("b", failure), ask("c")], FakeModel("echo", echo))
    assert [a.failure for a in answers] == [None, failure, None]


def test_follow_asks_one_more_question(tmp_path: Path) -> None:
    def follow(job: Job, completion: Completion) -> Request | None:
        assert isinstance(job.request, Request)
        return job.request._replace(messages=(Message("user", "again"),)) if completion.text == "BAD" else None

    jobs = [ask("good"), ask("bad"), ask("again")]
    with Store(tmp_path / "s.db") as store:
        for _ in range(2):
            answers = collect(jobs, FakeModel("echo", echo), store, follow=follow)
            assert [a.completion.text for a in answers if a.completion] == ["GOOD", "AGAIN", "AGAIN"]
            assert [a.followed for a in answers] == [False, True, False]
        assert len(store) == 3


@pytest.mark.often("unavailable", "broken", "dropped", "cut_short", "garbage", "not_a_completion", "error_in_200")
@pytest.mark.parametrize("fault", ALL_FAULTS, ids=lambda f: f.__name__)
def test_every_passing_fault_is_survived(fault: Fault) -> None:
    counts = Counts()
    with Server({fault: 0.4}) as server:
        answers = collect((ask(f"q{i}") for i in range(60)), served(server), counts=counts)
    assert all(a.completion for a in answers)
    assert counts.retries == len(server.asked) - 60 > 0


def test_all_faults_at_once_lose_and_repeat_nothing(tmp_path: Path) -> None:
    with Server(dict.fromkeys(ALL_FAULTS, 0.06)) as server, Store(tmp_path / "s.db") as store:
        answers = collect((ask(f"q{i}") for i in range(250)), served(server), store)
        assert [a.job.id for a in answers if a.completion] == [f"q{i}" for i in range(250)]
        assert len(store) == 250
    assert set(server.answered.values()) == {1}


@pytest.mark.slow
def test_a_storm_of_429_lowers_the_concurrency() -> None:
    counts = Counts()
    limits = Limits(concurrency=32, backoff=0.005, attempts=50)
    with Server({crowded: 1.0}, latency=0.005) as server:
        answers = collect((ask(f"q{i}") for i in range(300)), served(server), limits=limits, counts=counts)
    assert all(a.completion for a in answers)
    assert counts.concurrency < 32


@pytest.mark.slow
def test_retry_after_is_honoured() -> None:
    times: list[float] = []

    def answer(request: Request) -> Completion:
        times.append(time.monotonic())
        if len(times) == 1:
            raise Transient("busy", overload=True, retry_after=0.3)
        return echo(request)

    collect([ask("q")], FakeModel("busy", answer))
    assert times[1] - times[0] >= 0.3


def test_retries_end_and_the_run_goes_on() -> None:
    def answer(request: Request) -> Completion:
        if request.messages[-1].content == "bad":
            raise Transient("always")
        return echo(request)

    limits = Limits(concurrency=1, attempts=3, backoff=0.001)
    answers = collect([ask("a"), ask("bad"), ask("b")], FakeModel("x", answer), limits=limits)
    assert [a.failure.reason if a.failure else None for a in answers] == [None, "always (tried 3 times)", None]


def test_a_dead_server_stops_the_run() -> None:
    limits = Limits(concurrency=4, attempts=2, backoff=0.001, give_up=5)
    with Server({broken: 1.0}) as server, pytest.raises(ModelError, match=r"\d requests in a row failed.*HTTP 500"):
        collect((ask(f"q{i}") for i in range(1000)), served(server), limits=limits)
    assert len(server.asked) < 50


def test_a_request_that_cannot_work_is_a_failure_at_once() -> None:
    with Server({too_long: 1.0}) as server:
        answers = collect([ask("q")], served(server))
    assert answers[0].failure is not None
    assert "maximum context length" in answers[0].failure.reason
    assert len(server.asked) == 1


def test_wrong_key_stops_at_once() -> None:
    with Server(key="right") as server, pytest.raises(ModelError, match=r"401.*refused the key.*OPENAI_API_KEY"):
        collect((ask(f"q{i}") for i in range(100)), OpenAIModel("stub", server.url, "wrong"))
    assert server.asked == []


def test_unreachable_server_is_named_with_the_fix() -> None:
    with Server() as server:
        url = server.url
    with pytest.raises(ModelError, match=r"cannot reach http://127.0.0.1:\d+/v1.*OPENAI_BASE_URL") as caught:
        collect([ask("q")], OpenAIModel("stub", url, "k"))
    assert caught.value.setting == "base_url"


def test_timeout_is_a_passing_fault() -> None:
    calls = itertools.count()

    class Slow(FakeModel):
        async def complete(self, request: Request) -> Completion:
            if next(calls) == 0:
                await asyncio.sleep(5)
            return echo(request)

    limits = Limits(concurrency=1, timeout=0.05, backoff=0.001)
    assert collect([ask("q")], Slow("slow", echo), limits=limits)[0].completion


def test_a_bug_in_the_model_is_not_swallowed() -> None:
    def answer(request: Request) -> Completion:
        raise ZeroDivisionError(request.messages[-1].content)

    with pytest.raises(ZeroDivisionError, match="q"):
        collect([ask("q")], FakeModel("x", answer))


def test_ctrl_c_inside_a_running_loop_stops_the_calls() -> None:
    """As in a notebook: the interrupt comes while the caller waits for the thread with the calls."""
    script = (
        "import asyncio, os, signal, sys, threading, time\n"
        "from mores.engine.loop import run\n"
        "async def forever():\n"
        "    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    try:\n        await asyncio.sleep(60)\n    finally:\n        print('cleaned up', flush=True)\n"
        "async def notebook():\n    run(forever())\n"
        "loop = asyncio.new_event_loop()\n"
        "try:\n    loop.run_until_complete(notebook())\nexcept KeyboardInterrupt:\n    print('stopped')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20, check=False)
    assert done.stdout.split("\n")[:2] == ["cleaned up", "stopped"], done.stderr


def test_a_bad_job_stream_is_not_swallowed() -> None:
    def jobs() -> Iterator[Job]:
        yield ask("q")
        raise ValueError("line 17")

    with pytest.raises(ValueError, match="line 17"):
        collect(jobs(), FakeModel("echo", echo))


def test_rejected_is_not_retried() -> None:
    calls = itertools.count()

    def answer(request: Request) -> Completion:
        next(calls)
        raise Rejected(f"no {request.messages}")

    assert collect([ask("q")], FakeModel("x", answer))[0].failure
    assert next(calls) == 1


def test_a_follow_that_fails_stops_the_run(tmp_path: Path) -> None:
    def follow(job: Job, completion: Completion) -> Request | None:
        raise ZeroDivisionError(f"{job.id} {completion.text}")

    with Store(tmp_path / "s.db") as store, pytest.raises(ZeroDivisionError, match="q Q"):
        collect([ask("q")], FakeModel("echo", echo), store, follow=follow)


def test_a_run_that_is_refused_throughout_stops_early() -> None:
    with (
        Server({too_long: 1.0}) as server,
        pytest.raises(ModelError, match=r"so far was refused.*maximum"),
    ):
        collect((ask(f"q{i}") for i in range(1000)), served(server))
    assert len(server.asked) < 100


def test_a_slow_stream_of_jobs_is_answered_as_it_comes() -> None:
    asked: list[str] = []

    def slow() -> Iterator[Job]:
        for i in range(40):
            time.sleep(0.01)
            asked.append(f"q{i}")
            yield ask(asked[-1])

    async def first() -> int:
        async with aclosing(run(slow(), FakeModel("echo", echo))) as answers:
            async for _ in answers:
                return len(asked)
        raise AssertionError

    assert run_loop(first()) < 40


@pytest.mark.slow
def test_requests_per_minute_are_kept() -> None:
    limits = Limits(concurrency=8, requests_per_minute=1200)  # one every 50 ms
    started = time.monotonic()
    collect((ask(f"q{i}") for i in range(9)), FakeModel("echo", echo), limits=limits)
    assert time.monotonic() - started >= 8 * 0.05


def test_tokens_per_minute_are_kept() -> None:
    def answer(request: Request) -> Completion:
        return Completion(request.messages[-1].content, None, "stop", prompt_tokens=90, completion_tokens=10)

    limits = Limits(concurrency=8, tokens_per_minute=60_000)  # 100 tokens every 100 ms
    jobs = [Job(str(i), Request((Message("user", f"q{i}"),), max_tokens=1000)) for i in range(21)]
    started = time.monotonic()
    collect(jobs, FakeModel("x", answer), limits=limits)
    # 20 calls after the first; what the longest possible answers would have taken is given back at once.
    assert 1.9 <= time.monotonic() - started <= 10.0  # 21 s if it were not


def full(store: Store) -> None:
    pages = store._reader.execute("PRAGMA page_count").fetchone()[0]
    real = store._connect

    def small() -> object:
        db = real()
        db.execute(f"PRAGMA max_page_count = {pages + 20}")
        return db

    store._connect = small  # type: ignore[method-assign, assignment]


def test_a_full_disk_stops_the_run_and_keeps_what_is_there(tmp_path: Path) -> None:
    jobs = [ask(f"q{i} " + "x" * 2000) for i in range(500)]
    with Store(tmp_path / "s.db") as store:
        full(store)
        with pytest.raises(StoreError, match="disk is full: free some space"):
            collect(jobs, FakeModel("echo", echo), store)
    with Store(tmp_path / "s.db") as store:
        kept = len(store)
        assert 0 < kept < 500
        assert sum(a.cached for a in collect(jobs, FakeModel("echo", echo), store)) == kept


@pytest.mark.slow
def test_a_slow_disk_holds_up_the_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a kill would lose is bounded: calls in flight, and fewer answers than that on their way to the disk.

    Those of the last moment come on top, of which there are none here.
    """
    monkeypatch.setattr("mores.engine.store._PAUSE", 0)
    answered, most = 0, 0

    def answer(request: Request) -> Completion:
        nonlocal answered
        answered += 1
        return echo(request)

    with Store(tmp_path / "s.db") as store:
        write = store._write

        def slowly(batch: list[Any]) -> None:
            nonlocal most
            time.sleep(0.05)
            most = max(most, answered - len(store))
            write(batch)

        monkeypatch.setattr(store, "_write", slowly)
        collect([ask(f"q{i}") for i in range(40)], FakeModel("echo", answer), store, Limits(concurrency=4))
        assert len(store) == 40
    assert 4 <= most < 2 * 4


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to look at" * 100])
def test_a_damaged_store_says_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.db").write_bytes(content)
    with pytest.raises(StoreError, match=r"s\.db: file is not a database.*move it away"):
        Store(tmp_path / "s.db")


@pytest.mark.parametrize("name", ["locked", "full", "malformed"])
def test_the_name_of_a_store_is_not_taken_for_the_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(StoreError, match=r"File exists.*; check that the folder can be written"):
        Store(tmp_path / name / "s.db")


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        store._reader.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="another version of mores"):
        Store(tmp_path / "s.db")


@pytest.mark.slow
def test_processes_may_start_at_once_with_a_new_store(tmp_path: Path) -> None:
    script = f"from mores.engine import Store; print(len(Store({str(tmp_path / 's.db')!r})))"
    started = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[0] for process in started] == [b"0\n"] * 3


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "s.db") as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    with pytest.raises(StoreError, match="none with answers of mores"):
        Store(tmp_path / "s.db")


def test_two_runs_may_share_a_store(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as first, Store(tmp_path / "s.db") as second:
        collect([ask("a")], FakeModel("echo", echo), first)
        assert collect([ask("a")], FakeModel("echo", echo), second)[0].cached
        collect([ask("b")], FakeModel("echo", echo), second)
        assert collect([ask("b")], FakeModel("echo", echo), first)[0].cached


def test_logprobs_come_back_from_the_store_bit_for_bit(tmp_path: Path) -> None:
    values = (-1e-17, -0.1, -123.456789012345, -3.4028235e38)
    answer: Callable[[Request], Completion] = lambda _: Completion("é\u2028\x00😀", values)  # noqa: E731
    with Store(tmp_path / "s.db") as store:
        first = collect([ask("q")], FakeModel("x", answer), store)[0].completion
        assert collect([ask("q")], FakeModel("x", answer), store)[0].completion == first


@pytest.mark.parametrize("problem", [Transient("stopped"), ValueError("stopped"), None])
def test_a_run_that_is_cancelled_ends_although_its_model_hides_that(problem: Exception | None) -> None:
    """A library may turn the end of its task into an error of its own, or answer all the same."""

    class Deaf(FakeModel):
        async def complete(self, request: Request) -> Completion:
            asked.append(request)
            if len(asked) == 2:
                both.set()
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                if problem:
                    raise problem from None
            return echo(request)

    async def play() -> None:
        async def gather() -> list[Answer]:
            return [a async for a in run((ask(f"q{n}") for n in range(20)), Deaf("deaf", echo), options)]

        options = RunOptions(limits=Limits(concurrency=2, attempts=3, backoff=0.001))
        task = asyncio.create_task(gather())
        await both.wait()
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=5)
        assert done

    asked, both = list[Request](), asyncio.Event()
    run_loop(play())
    assert len(asked) == 2
