"""Brave, Tavily and SearXNG against servers that speak as they document it: what is asked, read and refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from mores.engine import Limits
from mores.engine.loop import run
from mores.errors import ConfigError, ModelError
from mores.search import Options, open_search, search_cost
from mores.search.base import Evidence, Found, Query
from mores.search.online import WebSearch
from mores.search.providers import BRAVE, BRAVE_LANGUAGES, PROVIDERS, SEARXNG, TAVILY, brave_language
from mores.types import FailureKind
from tests.search.server import KEY, Fault, Server, broken, garbage

QUICK = Limits(concurrency=8, attempts=3, timeout=5, backoff=0.001, outage=0)
KAVA = {"title": "Kava", "url": "https://example.org/kava"}


def brave(_query: str) -> dict[str, Any]:
    row = {**KAVA, "type": "search_result", "description": "Kava is drunk.", "page_age": "2021-03-03T00:00:00"}
    return {"type": "search", "query": {"original": "kava"}, "web": {"type": "search", "results": [row]}}


def tavily(query: str) -> dict[str, Any]:
    row = {**KAVA, "content": "Kava is drunk.", "score": 0.8, "raw_content": None}
    return {"query": query, "answer": None, "images": [], "results": [row], "response_time": 1.2}


def searxng(query: str) -> dict[str, Any]:
    row = {**KAVA, "content": "Kava is drunk.", "engine": "wikipedia", "publishedDate": None, "score": 1.0}
    return {"query": query, "number_of_results": 0, "results": [row], "answers": [], "unresponsive_engines": []}


ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {"brave": brave, "tavily": tavily, "searxng": searxng}
ROUTES = {
    "brave": {"route": "/res/v1/web/search", "header": ("X-Subscription-Token", KEY)},
    "tavily": {"header": ("Authorization", f"Bearer {KEY}")},
    "searxng": {"header": ("Accept", "application/json")},
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        monkeypatch.delenv(provider.variable, raising=False)
        if provider.key:
            monkeypatch.setenv(provider.key, KEY)


def serve(name: str, *faults: Fault, answer: Callable[[str], dict[str, Any]] | None = None) -> Server:
    return Server(*faults, answer=answer or ANSWERS[name], **ROUTES[name])  # type: ignore[arg-type]


def find(name: str, server: Server, query: Query, k: int = 10) -> Found:
    async def ask() -> list[Found]:
        search = WebSearch(PROVIDERS[name], server.url, QUICK)
        try:
            return await search.find([query], k)
        finally:
            await search.close()

    [found] = run(ask())
    return found


@pytest.mark.parametrize("name", PROVIDERS)
def test_results_become_evidence(name: str) -> None:
    with serve(name) as server:
        found = find(name, server, Query("What is kava?"))
    date = "2021-03-03T00:00:00" if name == "brave" else ""
    assert found == Found(
        evidence=(Evidence(text="Kava is drunk.", title="Kava", source="https://example.org/kava", date=date),)
    )


@pytest.mark.parametrize(
    ("name", "query", "sent"),
    [
        ("brave", Query("tea", "ja", "JP"), {"count": "10", "country": "JP", "search_lang": "jp"}),
        ("brave", Query("tea", "fj", "FJ"), {"count": "10"}),
        ("tavily", Query("tea", "ja", "JP"), {"max_results": 10, "search_depth": "basic", "country": "japan"}),
        ("tavily", Query("tea", "tr", "TR"), {"max_results": 10, "search_depth": "basic", "country": "turkey"}),
        ("tavily", Query("tea", "sm", "WS"), {"max_results": 10, "search_depth": "basic"}),
        ("searxng", Query("tea", "pt", "BR"), {"format": "json", "language": "pt-BR"}),
        ("searxng", Query("tea"), {"format": "json"}),
    ],
)
def test_language_and_country_are_sent_where_the_provider_knows_them(
    name: str, query: Query, sent: dict[str, Any]
) -> None:
    with serve(name) as server:
        find(name, server, query)
    [body] = server.bodies
    fixed = {"result_filter": "web", "text_decorations": "false"} if name == "brave" else {}
    assert body == {"query" if name == "tavily" else "q": "tea"} | fixed | sent


@pytest.mark.parametrize(
    ("tag", "code"),
    [("zh", "zh-hans"), ("zh-TW", "zh-hant"), ("pt-BR", "pt-br"), ("pt", "pt-pt"), ("nb", "nb"), ("sw", None)],
)
def test_braves_languages(tag: str, code: str | None) -> None:
    assert brave_language(tag) == code
    assert code is None or code in BRAVE_LANGUAGES


def test_a_long_query_is_cut_at_a_word_where_the_provider_takes_no_longer_one() -> None:
    with serve("brave") as server:
        find("brave", server, Query("kava " * 60))
        find("brave", server, Query("a" * 300 + " " + "b" * 300))
    assert [body["q"] for body in server.bodies] == ["kava " * 49 + "kava", "a" * 300]


@pytest.mark.parametrize("name", PROVIDERS)
def test_what_may_pass_is_tried_again(name: str) -> None:
    with serve(name, broken, garbage) as server:
        assert find(name, server, Query("kava")).evidence
    assert len(server.bodies) == 3


def refusal(status: int, body: dict[str, Any]) -> Fault:
    async def refuse(_server: Server, _request: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status)

    return refuse


BRAVE_TOKEN = {
    "type": "ErrorResponse",
    "error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The token is invalid."},
}
BRAVE_QUOTA = {"type": "ErrorResponse", "error": {"code": "QUOTA_LIMITED", "detail": "Request quota reached."}}
TAVILY_KEY = {"detail": {"error": "Unauthorized: missing or invalid API key."}}
TAVILY_PLAN = {"detail": {"error": "This request exceeds your plan's set usage limit."}}


@pytest.mark.parametrize(
    ("name", "status", "body", "kind", "said"),
    [
        ("brave", 422, BRAVE_TOKEN, ConfigError, "The token is invalid.; the key was refused: set BRAVE_API_KEY"),
        ("brave", 429, BRAVE_QUOTA, ModelError, "buy credits"),
        ("brave", 404, {}, ModelError, "is not Brave Search: check MORES_BRAVE_URL"),
        (
            "tavily",
            401,
            TAVILY_KEY,
            ConfigError,
            "missing or invalid API key.; the key was refused: set TAVILY_API_KEY",
        ),
        ("tavily", 432, TAVILY_PLAN, ModelError, "buy credits"),
        ("searxng", 403, {}, ConfigError, "add json to search.formats"),
    ],
)
def test_what_stops_the_run_names_the_fix(
    name: str, status: int, body: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with serve(name, refusal(status, body)) as server, pytest.raises(kind, match=said.replace(".", r"\.")):
        find(name, server, Query("kava"))


def test_a_refused_query_fails_alone() -> None:
    body = {"detail": {"error": "Query is invalid."}}
    with serve("tavily", refusal(400, body)) as server:
        found = find("tavily", server, Query("kava"))
    assert found.failure is not None
    assert (found.failure.kind, found.failure.reason) == (FailureKind.MODEL, "tavily: HTTP 400: Query is invalid.")


def test_nothing_found_is_nothing_unless_engines_did_not_respond() -> None:
    empty: dict[str, Any] = {"results": [], "unresponsive_engines": []}
    with serve("searxng", answer=lambda _: empty) as server:
        assert find("searxng", server, Query("kava")) == Found()
    with serve("searxng", answer=lambda _: empty | {"unresponsive_engines": [["google", "timeout"]]}) as server:
        found = find("searxng", server, Query("kava"))
    assert found.failure is not None
    assert "engines did not respond: google timeout" in found.failure.reason
    with serve("brave", answer=lambda _: {"type": "search", "query": {}}) as server:
        assert find("brave", server, Query("kava")) == Found(), "an answer without results has no `web`"


def test_a_missing_key_or_address_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRAVE_API_KEY")
    for name, said in (
        ("brave", "set BRAVE_API_KEY"),
        ("searxng", "set SEARXNG_URL"),
        ("tavily:x", "it is called tavily"),
    ):
        with pytest.raises(ConfigError, match=said):
            open_search(name, Options())


def test_what_a_thousand_queries_cost() -> None:
    assert [search_cost(name, 1000, 10) for name in PROVIDERS] == [pytest.approx(5.0), pytest.approx(8.0), 0.0]
    assert search_cost("brave", 1000, 10, price=0.003) == pytest.approx(3.0)
    assert (BRAVE.most, TAVILY.most, SEARXNG.most) == (20, 20, 100)
