"""Serper against a real server: what is asked, what is read, and everything that can go wrong."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web

from mores.engine import Counts, Limits
from mores.engine.loop import run
from mores.errors import ConfigError, ModelError
from mores.search.base import Evidence, Found, Query
from mores.search.serper import HL, Serper, gl_of, hl_of
from mores.types import FailureKind
from tests.search import server as faults
from tests.search.server import KEY, Fault, Server, results

QUICK = Limits(concurrency=8, attempts=4, timeout=5, backoff=0.001, outage=0)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    monkeypatch.delenv("MORES_SERPER_URL", raising=False)


def find(
    server: Server,
    queries: Sequence[Query],
    k: int = 10,
    limits: Limits = QUICK,
    counts: Counts | None = None,
    boxes: bool = False,
) -> list[Found]:
    async def ask() -> list[Found]:
        search = Serper(boxes, server.url, limits, counts)
        try:
            return await search.find(queries, k)
        finally:
            await search.close()

    return run(ask())


def reason(result: Found) -> str:
    assert result.failure is not None
    assert result.evidence == ()
    return result.failure.reason


def test_a_query_becomes_evidence_in_the_order_of_the_results() -> None:
    row = {
        "title": "Kava",
        "link": "https://example.org/kava",
        "snippet": "Kava is drunk in Fiji.",
        "date": "3 Mar 2021",
    }
    with Server(answer=lambda _: {"organic": [row, {**row, "title": "Yaqona"}]}) as server:
        (result,) = find(server, [Query("What is kava?", "en", "FJ")])
    first = Evidence(text="Kava is drunk in Fiji.", title="Kava", source="https://example.org/kava", date="3 Mar 2021")
    assert result == Found(evidence=(first, first.model_copy(update={"title": "Yaqona"})))
    assert server.bodies == [{"q": "What is kava?", "num": 10, "gl": "fj", "hl": "en"}]


def test_without_language_and_region_none_is_sent() -> None:
    with Server() as server:
        find(server, [Query("  kava \n root \ud83d")], k=5)
    assert server.bodies == [{"q": "kava root", "num": 5}]


def test_answers_are_in_the_order_of_the_queries_and_calls_at_once_are_bounded() -> None:
    with Server(latency=0.01) as server:
        results = find(server, [Query(f"q{n}") for n in range(60)])
    assert [result.evidence[0].title for result in results] == [f"q{n} 1" for n in range(60)]
    assert 1 < server.most_active <= 8


def test_no_more_than_k() -> None:
    with Server(answer=lambda query: results(query, 9)) as server:
        (result,) = find(server, [Query("tea")], k=4)
    assert len(result.evidence) == 4


def test_nothing_found_is_no_failure() -> None:
    with Server(answer=lambda _: {"searchParameters": {}}) as server:
        assert find(server, [Query("xyzzy")]) == [Found()]


FULL: dict[str, Any] = {
    "answerBox": {
        "title": "Height",
        "answer": "3,776 m",
        "snippet": "Fuji is 3,776 m high.",
        "link": "https://a.example",
    },
    "knowledgeGraph": {
        "title": "Mount Fuji",
        "type": "Volcano in Japan",
        "description": "A volcano.",
        "descriptionLink": "https://b.example",
        "attributes": {"Elevation": "3,776 m"},
    },
    **results("fuji", 2),
}


def test_boxes_come_first_when_asked_for_and_not_otherwise() -> None:
    with Server(answer=lambda _: FULL) as server:
        (boxed,) = find(server, [Query("fuji")], k=3, boxes=True)
        (plain,) = find(server, [Query("fuji")], k=3)
    assert [(piece.text, piece.source) for piece in boxed.evidence] == [
        ("3,776 m Fuji is 3,776 m high.", "https://a.example"),
        ("Volcano in Japan. A volcano. Elevation: 3,776 m", "https://b.example"),
        ("About fuji 1.", "https://example.org/1"),
    ]
    assert [piece.title for piece in plain.evidence] == ["fuji 1", "fuji 2"]


@pytest.mark.parametrize(
    "fault", [faults.too_many, faults.broken, faults.garbage, faults.not_results, faults.dropped, faults.endless]
)
def test_what_passes_is_tried_again(fault: Fault) -> None:
    counts = Counts()
    with Server(fault, fault) as server:
        (result,) = find(server, [Query("tea")], counts=counts)
    assert len(result.evidence) == 3
    assert (counts.calls, counts.retries, counts.problem, len(server.bodies)) == (1, 2, "", 3)


def test_what_does_not_pass_is_a_failure_after_all_tries() -> None:
    with Server(always=faults.broken) as server:
        (result,) = find(server, [Query("tea")])
    assert result.failure is not None
    assert result.failure.kind is FailureKind.MODEL
    assert reason(result) == "serper: HTTP 502: <html>Bad gateway</html> (tried 4 times)"
    assert len(server.bodies) == 4


@pytest.mark.slow
def test_an_outage_is_waited_for_by_the_clock() -> None:
    first: list[float] = []

    async def gone(server: Server, request: web.Request) -> web.StreamResponse:
        first.append(time.monotonic())
        if first[-1] < first[0] + 0.5:
            return await (faults.dropped if len(server.bodies) % 2 else faults.broken)(server, request)
        return web.json_response(results("tea"))

    limits = Limits(concurrency=4, attempts=2, backoff=0.01, longest_wait=0.05, outage=10)
    with Server(always=gone) as server:
        every = find(server, [Query(f"q{n}") for n in range(8)], limits=limits)
    assert all(len(result.evidence) == 3 for result in every)  # two tries alone are over after a tenth of a second


def test_a_refusal_costs_one_place() -> None:
    """Of four searches at once the first is refused: three places are left, and one answer makes room for it."""
    begun, all_there, one_more = 0, asyncio.Event(), asyncio.Event()

    async def refusing(server: Server, request: web.Request) -> web.StreamResponse:
        nonlocal begun
        begun += 1
        number = begun
        (all_there if number == 4 else one_more if number == 5 else asyncio.Event()).set()
        async with asyncio.timeout(5):
            await (all_there if number < 3 else one_more).wait()
        if number == 1:
            return await faults.too_many(server, request)
        if number == 2:
            await asyncio.sleep(0.1)  # after the refusal
        return web.json_response(results("tea"))

    with Server(always=refusing) as server:
        every = find(server, [Query(f"q{n}") for n in range(4)], limits=Limits(concurrency=4, backoff=0.001))
    assert all(result.evidence for result in every)
    assert begun == 5


def test_results_that_repeat_the_key_are_kept_without_it() -> None:
    def echoing(_: str) -> dict[str, Any]:
        return {"organic": [{"title": KEY, "snippet": f"Your key is {KEY}.", "link": f"https://x.example/{KEY}"}]}

    with Server(answer=echoing) as server:
        (result,) = find(server, [Query("tea")])
    assert KEY not in repr(result)
    assert result.evidence[0].text == "Your key is …."


def test_a_server_that_says_nothing_is_a_failure() -> None:
    started = time.monotonic()
    with Server(always=faults.silent) as server:
        (result,) = find(server, [Query("tea")], limits=Limits(attempts=2, timeout=0.1, backoff=0.001))
    assert "no answer within 0.1 s (tried 2 times)" in reason(result)
    assert time.monotonic() - started < 5


def test_nobody_listening_is_a_failure() -> None:
    with Server() as server:
        pass
    (result,) = find(server, [Query("tea")])
    assert server.url in reason(result)


def test_many_failures_in_a_row_stop_the_run() -> None:
    limits = Limits(concurrency=4, attempts=1, give_up=5, backoff=0.001, outage=0)
    with Server(always=faults.broken) as server, pytest.raises(ModelError, match="serper: 5 requests in a row failed"):
        find(server, [Query(f"q{n}") for n in range(50)], limits=limits)
    assert len(server.bodies) < 20


def test_a_refused_key_stops_the_run_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "wrong-key")
    with Server() as server, pytest.raises(ConfigError, match="SERPER_API_KEY") as raised:
        find(server, [Query("tea"), Query("coffee")])
    assert "wrong-key" not in str(raised.value)


@pytest.mark.parametrize(
    ("fault", "fix"),
    [(faults.no_credits, "buy credits"), (faults.redirected, "MORES_SERPER_URL"), (faults.later, "4,000 s")],
)
def test_what_no_later_try_can_mend_stops_the_run(fault: Fault, fix: str) -> None:
    with Server(always=fault) as server, pytest.raises(ModelError, match=fix):
        find(server, [Query("tea")])
    assert len(server.bodies) == 1


def test_one_refused_query_is_one_failure_and_the_key_is_not_in_it() -> None:
    with Server(faults.refused) as server:
        results = find(server, [Query("bad"), Query("good")], limits=Limits(concurrency=1, attempts=4))
    assert reason(results[0]) == "serper: HTTP 400: Query not allowed for …."
    assert len(results[1].evidence) == 3
    assert len(server.bodies) == 2


@pytest.mark.parametrize("text", ["", " \n", "x" * 2001])
def test_what_cannot_be_searched_is_not_sent(text: str) -> None:
    with Server() as server:
        (result,) = find(server, [Query(text)])
    assert result.failure is not None
    assert result.failure.kind is FailureKind.INPUT
    assert server.bodies == []


def test_hostile_results_are_cleaned() -> None:
    row = {
        "title": "A\u202eB\x00\U000e0041",
        "link": "javascript:alert(1)",
        "snippet": "one\r\n\ttwo " + "x" * 10_000,
        "date": ["no", "text"],
    }
    with Server(answer=lambda _: {"organic": [row, "junk", None, {"title": "no snippet"}]}) as server:
        (result,) = find(server, [Query("tea")])
    (piece,) = result.evidence
    assert (piece.title, piece.source, piece.date) == ("AB", "", "")
    assert piece.text.startswith("one two xxx")
    assert len(piece.text) == 2000


@pytest.mark.slow
def test_cancelling_ends_the_calls_at_once() -> None:
    async def ask(server: Server) -> None:
        search = Serper(False, server.url, QUICK)
        task = asyncio.create_task(search.find([Query(f"q{n}") for n in range(20)], 10))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1
        await search.close()

    started = time.monotonic()
    with Server(always=faults.silent) as server:
        run(ask(server))
    assert time.monotonic() - started < 5


def test_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SERPER_API_KEY")
    with pytest.raises(ConfigError, match="set SERPER_API_KEY"):
        Serper()


@pytest.mark.parametrize("url", ["nonsense", "ftp://x", "https://", "https://u:p@example.org", "http://[::"])
def test_bad_addresses(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_SERPER_URL", url)
    with pytest.raises(ConfigError, match="MORES_SERPER_URL"):
        Serper()


def test_the_key_is_nowhere_in_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_SERPER_URL", "http://localhost:1/search/")
    search = Serper()
    assert search.identity == "serper@http://localhost:1"
    assert Serper(boxes=True).identity != search.identity


@pytest.mark.parametrize("k", [0, 101])
def test_numbers_of_results_that_cannot_be(k: int) -> None:
    with Server() as server, pytest.raises(ConfigError, match="1 to 100"):
        find(server, [Query("tea")], k=k)


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("zh", "zh-cn"),
        ("zh-TW", "zh-tw"),
        ("zh-Hant", "zh-tw"),
        ("zh-HK", "zh-tw"),
        ("he", "iw"),
        ("fil", "tl"),
        ("jv", "jw"),
        ("nb", "no"),
        ("nn", "nn"),
        ("pt-BR", "pt-br"),
        ("pt", "pt"),
        ("es", "es"),
        ("es-MX", "es-419"),
        ("en-GB", "en"),
        ("rn", "rn"),
        ("bal", None),
        ("und", None),
        (None, None),
    ],
)
def test_google_has_codes_of_its_own(tag: str | None, code: str | None) -> None:
    assert hl_of(tag) == code
    assert code is None or code in HL


def test_the_country_is_the_regions_or_else_the_languages() -> None:
    assert gl_of(Query("x", "pt-BR", "AO")) == "ao"
    assert gl_of(Query("x", "pt-BR")) == "br"
    assert gl_of(Query("x", "es-419")) is None
    assert gl_of(Query("x", "pt")) is None
    assert gl_of(Query("x", "ca", "ES-CT")) == "es"
    assert gl_of(Query("x", None, "NG-NORTH")) == "ng"
    assert gl_of(Query("x", "ku", "XX-KURDISTAN")) is None
    assert gl_of(Query("x", None, "XK")) is None
