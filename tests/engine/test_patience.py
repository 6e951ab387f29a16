"""When a call that failed is tried again: the waits by hand, on a clock that only they move."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from mores.engine import Counts, Limits, patience
from mores.engine.patience import Patience, Tries
from mores.errors import ModelError, Transient

START = 1000.0


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every wait, as long as it may be drawn."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(patience, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(patience, "time", SimpleNamespace(monotonic=lambda: START + sum(waits)))
    monkeypatch.setattr(patience, "random", SimpleNamespace(uniform=lambda low, high: low + high))
    return waits


def test_waits_double_up_to_the_longest_besides_what_the_server_asks_for(waits: list[float]) -> None:
    counts, tries = Counts(), Tries()
    calls = Patience(Limits(attempts=7, backoff=0.5, longest_wait=3.0), counts)
    problems = [Transient("busy", retry_after=4.0 if n == 5 else None) for n in range(7)]
    assert [asyncio.run(calls.another(tries, problem)) for problem in problems] == [True] * 6 + [False]
    assert waits == [0.5, 1, 2, 3, 3, 7]
    assert (tries.failed, tries.counted, counts.retries, counts.problem) == (7, 7, 6, "")


@pytest.mark.parametrize(
    ("outage", "expected", "counted"), [(9, [4, 4, 1], 1), (0, [4], 2)], ids=["by the clock", "by the attempts"]
)
def test_an_outage_is_waited_for_until_its_end_and_no_longer(
    outage: float, expected: list[float], counted: int, waits: list[float]
) -> None:
    """The first try began before it, and counts."""
    counts, tries = Counts(), Tries(started=START - 1)
    calls = Patience(Limits(attempts=2, outage=outage, backoff=4.0, longest_wait=4.0), counts)
    while asyncio.run(calls.another(tries, Transient("refused", down=True))):
        assert counts.gives_up_at == (START + outage if outage else None)
        assert counts.problem == "refused"
        tries.started = START + sum(waits)
    assert waits == expected
    assert (tries.failed, tries.counted) == (len(expected) + 1, counted)


@pytest.mark.usefixtures("waits")
def test_only_tries_that_began_during_an_outage_do_not_count() -> None:
    calls, down = Patience(Limits(outage=100.0), Counts()), Transient("refused", down=True)
    requests = [Tries(started=began) for began in (START, START - 1, START, START + 1)]
    assert [asyncio.run(calls.another(tries, down)) for tries in requests] == [True] * 4
    assert [tries.counted for tries in requests] == [1, 1, 0, 0]


def test_a_try_that_began_during_an_outage_does_not_count_when_it_fails_after_its_end(waits: list[float]) -> None:
    """An answer to another request was faster than the failure of this one."""
    counts = Counts()
    calls = Patience(Limits(attempts=2, outage=100.0, backoff=4.0, longest_wait=4.0), counts)
    down = Transient("refused", down=True)
    first, late = Tries(started=START - 1), Tries(started=START + 3)
    assert asyncio.run(calls.another(first, down))
    calls.succeeded()
    assert [asyncio.run(calls.another(late, down)) for _ in range(2)] == [True] * 2
    assert (late.failed, late.counted, counts.gives_up_at) == (2, 0, None)
    late.started = START + sum(waits)
    assert asyncio.run(calls.another(late, down))
    assert (late.counted, counts.gives_up_at) == (1, START + 104), "this one began after it"


@pytest.mark.usefixtures("waits")
@pytest.mark.parametrize("works", [True, False])
def test_a_request_that_the_server_drops_is_given_up_where_others_are_answered(works: bool) -> None:
    """After one more try, because an outage may have ended just before the server was asked."""
    counts, tries, asked = Counts(), Tries(started=START), list[str]()
    calls = Patience(Limits(attempts=3, outage=100.0, backoff=1.0, longest_wait=1.0), counts)

    async def check() -> bool:
        asked.append(counts.problem)
        return works

    dropped = Transient("dropped", down=True)
    again = [asyncio.run(calls.another(tries, dropped, check)) for _ in range(3)]
    assert (again, asked) == ([True] * 3, ["dropped"])
    tries.started = START + 50
    assert asyncio.run(calls.another(tries, dropped, check)) is not works
    assert counts.gives_up_at == (None if works else START + 100)
    assert counts.problem == ("" if works else "dropped")


def test_the_try_after_the_server_proved_to_work_is_made_at_once(waits: list[float]) -> None:
    """It may be away again soon; and whatever else goes wrong then has tries of its own."""
    calls = Patience(Limits(attempts=2, outage=100.0, backoff=4.0, longest_wait=4.0), Counts())

    async def works() -> bool:
        return True

    tries, down = Tries(started=START), Transient("dropped", down=True)
    assert all(asyncio.run(calls.another(tries, down, works)) for _ in range(2))
    assert (tries.counted, waits[-1]) == (1, 0)
    other = Tries(started=START, failed=2, is_last=True)
    again = [asyncio.run(calls.another(other, Transient("HTTP 500"))) for _ in range(2)]
    assert again == [True, False]
    assert not asyncio.run(calls.another(Tries(started=START + 50, is_last=True), down))


def test_one_that_is_refused_while_others_are_answered_goes_on_at_once(waits: list[float]) -> None:
    counts, tries = Counts(), Tries()
    calls, refused = Patience(Limits(attempts=2, backoff=1.0), counts), Transient("busy", overload=True)
    for _ in range(3):
        calls.succeeded()
        assert asyncio.run(calls.another(tries, refused))
    assert (waits, tries.counted, counts.retries) == ([], 0, 3)
    assert asyncio.run(calls.another(tries, refused)), "nobody was answered meanwhile"
    assert (len(waits), tries.counted) == (1, 1)


@pytest.mark.usefixtures("waits")
def test_one_that_is_refused_for_ever_is_given_up_in_the_end() -> None:
    calls, tries, refused = Patience(Limits(attempts=3), Counts()), Tries(), Transient("too large", overload=True)
    again = []
    for _ in range(103):
        calls.succeeded()
        again.append(asyncio.run(calls.another(tries, refused)))
    assert again == [True] * 102 + [False]


def test_a_run_stops_after_so_many_failures_in_a_row_or_a_twentieth_of_its_answers() -> None:
    calls, failed, busy = Patience(Limits(give_up=3), Counts()), Tries(failed=2), Transient("busy")
    for answers, failures in ((0, 3), (100, 5)):
        for _ in range(answers):
            calls.succeeded()
        for _ in range(failures - 1):
            assert calls.gave_up("m", failed, busy) == "busy (tried 2 times)"
        with pytest.raises(ModelError, match=rf"m: {failures} requests in a row failed, .*: busy \(tried 2 times\)"):
            calls.gave_up("m", failed, busy)
