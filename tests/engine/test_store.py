"""The store: several processes at once, and files that are damaged."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.engine import Store, request_key
from mores.engine.claims import Claims
from mores.engine.rescue import rescue
from mores.engine.store import _pack_numbers, _unpack_numbers
from mores.errors import InputError, StoreError
from mores.models import Completion, Message, Request
from mores.models.fake import FakeModel
from tests.engine.server import Server
from tests.engine.test_runner import ask, collect, echo

FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.integers(1, 3),
        "schema": st.sampled_from([None, {"type": "string"}]),
        "alternatives": st.integers(0, 2),
        "grammar": st.sampled_from([None, "start: /a/", "start: /b/"]),
    },
)


@given(FIELDS, FIELDS)
def test_everything_that_a_request_asks_is_part_of_its_key(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = Request((Message("user", "x"),), **one), Request((Message("user", "x"),), **other)
    assert (request_key("m", first) == request_key("m", second)) is (first == second)


def test_answers_that_were_stored_by_older_versions_are_found() -> None:
    plain = Request((Message("user", "x"),))
    assert request_key("i", plain).key.hex() == "9b97f73e779234df4ab5b3cc4d2bbe20"
    assert request_key("i", plain._replace(alternatives=4)).key.hex() == "35f9fef57e4207007f9f2d61b5735439"
    assert request_key("i", plain._replace(shared=1)) == request_key("i", plain)  # a hint, which asks nothing else


RUN = """
import sys
from mores.engine import Job, Limits, RunOptions, Store, run
from mores.engine.loop import run as run_loop
from mores.models.base import Message, Request
from mores.models.openai import OpenAIModel

async def go(url, path):
    jobs = [Job(f"q{i}", Request((Message("user", f"q{i}"),))) for i in range(120)]
    with Store(path) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        answers = run(jobs, OpenAIModel("x", url, "k"), RunOptions(store=store, limits=Limits(concurrency=8)))
        print(sum([a.completion is not None async for a in answers]), flush=True)

run_loop(go(*sys.argv[1:]))
"""


def started(server: Server, path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, server.url, str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_two_processes_on_one_store_share_the_work(tmp_path: Path) -> None:
    with Server(latency=0.01) as server:
        both = [started(server, tmp_path / "s.db") for _ in range(2)]
        for process in both:
            go(process)
        assert [process.communicate(timeout=60)[0] for process in both] == ["120\n"] * 2
    assert Counter(server.asked) == Counter(f"q{i}" for i in range(120))


def test_nobody_waits_for_a_process_that_was_killed(tmp_path: Path) -> None:
    with Server(latency=30) as server:
        dead, alive = started(server, tmp_path / "s.db"), started(server, tmp_path / "s.db")
        go(dead)
        while len(server.asked) < 8:
            time.sleep(0.01)
        server.latency = 0
        os.kill(dead.pid, signal.SIGKILL)
        dead.communicate()
        go(alive)
        assert alive.communicate(timeout=60)[0] == "120\n"
    assert len(server.asked) == 128  # those in flight at the kill are asked again, and no other


OTHER = """
import sys
from pathlib import Path
from mores.engine.claims import Claims
claims = Claims(Path(sys.argv[1]))
claims.enter()
for line in sys.stdin:
    print(claims.take(line.strip().encode()), flush=True)
"""


@contextmanager
def another_process(store: Path) -> Iterator[Callable[[bytes], bool]]:
    """Another process on a store; what is yielded lets it claim a question."""
    command = [sys.executable, "-c", OTHER, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None

        def claim(key: bytes) -> bool:
            print(key.decode(), file=other.stdin, flush=True)
            assert other.stdout is not None
            return other.stdout.readline() == "True\n"

        yield claim
        other.stdin.close()


def test_a_claim_ends_with_its_release_and_its_process(tmp_path: Path) -> None:
    ours = Claims(tmp_path / "s.db")
    with another_process(tmp_path / "s.db") as claim:
        assert claim(b"0123456789abcdef")  # of all that it has
        ours.enter()
        assert not ours.alone
        assert not ours.take(b"0123456789abcdef")
    assert ours.take(b"0123456789abcdef")
    ours.leave()


def test_the_first_process_has_all_questions_until_another_comes(tmp_path: Path) -> None:
    first, second, third = b"0123456789abcdef", b"another question", b"a third question"
    ours = Claims(tmp_path / "s.db")
    ours.enter()
    assert ours.alone
    assert ours.take(first)
    assert ours.take(second)
    ours.release(second)
    ours.make_room()
    assert ours.alone  # nobody came
    with another_process(tmp_path / "s.db") as claim:
        assert not claim(third)
        ours.make_room()
        assert not ours.alone
        assert claim(third)
        assert claim(second)
        assert not claim(first)
        assert not ours.take(third)
        ours.release(first)
        assert claim(first)
    ours.leave()


def test_two_runs_of_a_process_keep_their_claims_when_one_of_them_ends(tmp_path: Path) -> None:
    ours, others = Claims(tmp_path / "s.db"), Claims(tmp_path / "s.db")
    ours.enter()
    assert ours.take(b"0123456789abcdef")
    others.enter()
    assert not ours.alone  # what the other run asks is no longer ours alone to know
    others.leave()
    with another_process(tmp_path / "s.db") as claim:
        assert not claim(b"0123456789abcdef")
        assert claim(b"another question")
    ours.leave()
    with another_process(tmp_path / "s.db") as claim:
        assert claim(b"0123456789abcdef")


def filled(path: Path, answers: int = 300) -> None:
    with Store(path) as store:
        collect((ask(f"q{i} " + "x" * 400) for i in range(answers)), FakeModel("echo", echo), store)


def break_pages(path: Path) -> None:
    """Overwrite two pages in the middle of the table of answers."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(path.read_bytes())
    middle = data.rindex(b"Q200 X") // 4096 * 4096
    data[middle : middle + 8192] = b"\xab" * 8192
    path.write_bytes(data)


def test_a_damaged_store_is_named_with_one_fix_and_can_be_rescued(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    filled(path)
    break_pages(path)
    jobs = [ask(f"q{i} " + "x" * 400) for i in range(300)]
    with Store(path) as store, pytest.raises(StoreError) as caught:
        collect(jobs, FakeModel("echo", echo), store)
    assert f"python -m mores.engine.rescue {path}" in str(caught.value)
    assert "same command" not in str(caught.value)

    counts = rescue(path)
    assert 250 < counts["response"] < 300
    assert (tmp_path / "s.db.damaged").exists()
    with Store(path) as store:
        assert len(store) == counts["response"]
        answers = collect(jobs, FakeModel("echo", echo), store)
    assert sum(a.cached for a in answers) == counts["response"]
    assert all(a.completion for a in answers)


def test_what_cannot_be_rescued(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        rescue(tmp_path / "s.db")
    (tmp_path / "s.db").write_bytes(b"not a database at all" * 500)
    with pytest.raises(StoreError, match=r"nothing can be read.*delete it"):
        rescue(tmp_path / "s.db")
    assert (tmp_path / "s.db").exists()


def test_thoughts_are_stored_with_their_answer(tmp_path: Path) -> None:
    """Also in a store of an older version, which has no table for them; its answers are read as they are."""

    def thinking(request: Request) -> Completion:
        return echo(request)._replace(thoughts="Hm.\0 Is it B?")

    path, jobs = tmp_path / "s.db", [ask("old"), ask("new")]
    with Store(path) as store:
        collect(jobs[:1], FakeModel("echo", echo), store)
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE thought")
    db.close()
    for known in (1, 2):
        with Store(path) as store:
            answers = collect(jobs, FakeModel("echo", thinking), store)
        assert [answer.completion and answer.completion.thoughts for answer in answers] == ["", "Hm.\0 Is it B?"]
        assert sum(answer.cached for answer in answers) == known
    assert rescue(path)["thought"] == 1
    with sqlite3.connect(path) as db:
        db.execute("UPDATE thought SET thoughts = 'Hm.'")
    db.close()
    with Store(path) as store:  # what is damaged is asked again, and an answer without thoughts has none of another
        assert [answer.cached for answer in collect(jobs, FakeModel("echo", echo), store)] == [True, False]
        completions = [answer.completion for answer in collect(jobs, FakeModel("echo", thinking), store)]
    assert completions == [echo(job.request) for job in jobs if isinstance(job.request, Request)]


def test_an_answer_whose_numbers_are_damaged_is_said_to_be(tmp_path: Path) -> None:
    filled(tmp_path / "s.db", 1)
    with sqlite3.connect(tmp_path / "s.db") as db:
        db.execute("UPDATE response SET logprobs = x'010203', sum = NULL")  # as older versions wrote it
    db.close()
    with Store(tmp_path / "s.db") as store, pytest.raises(StoreError, match=r"s\.db: damaged"):
        collect([ask("q0 " + "x" * 400)], FakeModel("echo", echo), store)


def test_prompts_that_repeat_another_are_kept_as_the_difference(tmp_path: Path) -> None:
    """Also when two kinds of prompts take turns; each can be read back, and answers are found as ever."""
    rules = " ".join(f"rule {n}." for n in range(90)), " ".join(f"{n * n * n:x}" for n in range(300, 500))
    jobs = [ask(f"{rule} Text {n}: Ağrı 神社") for n in range(200) for rule in rules] + [ask("short")]
    model = FakeModel("echo", echo)
    with Store(tmp_path / "s.db") as store:
        collect(jobs, model, store)
        assert all(answer.cached for answer in collect(jobs, model, store))
        for job in jobs:
            assert isinstance(job.request, Request)
            assert store.messages(request_key(model.identity, job.request)) == list(job.request.messages)
        assert store.messages(request_key("another model", ask("never asked").request)) is None  # type: ignore[arg-type]
    with sqlite3.connect(tmp_path / "s.db") as db:
        whole, alike = (db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("prompt", "alike"))
        stored = db.execute("SELECT sum(length(difference)) FROM alike").fetchone()[0]
    db.close()
    assert (whole, alike) == (3, 398)
    assert stored / alike < len(rules[0]) / 5


def test_a_prompt_that_was_not_committed_is_no_base_for_others(tmp_path: Path) -> None:
    long = "The same rules for every text. " * 40
    model = FakeModel("echo", echo)
    with Store(tmp_path / "s.db") as store:
        store._connect = lambda: sqlite3.connect(tmp_path / "missing" / "s.db")  # type: ignore[method-assign]
        with pytest.raises(StoreError):
            collect([ask(long + "1")], model, store)
        del store._connect
        collect([ask(long + "2")], model, store)
        key = request_key(model.identity, ask(long + "2").request)  # type: ignore[arg-type]
        assert store.messages(key) == [Message("user", long + "2")]


@given(st.lists(st.floats(max_value=0, allow_nan=False) | st.floats(-9, 0).map(lambda value: round(value, 6))))
def test_log_probabilities_come_back_exactly(numbers: list[float]) -> None:
    assert _unpack_numbers(_pack_numbers(numbers)) == tuple(numbers)
