"""The page at `/`, on which people try the service and read about its API."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fastapi import FastAPI

import mores
from mores.errors import Rejected
from mores.models import Completion, Request
from mores.models.fake import FakeModel
from mores.serve import Bounds
from mores.serve.openapi import FIELDS
from mores.types import Blame, Error, Judgement
from tests.browser import Browser, Page
from tests.serve.conftest import Serve
from tests.serve.judge import Held, ask, send, until
from tests.serving import serving

KEY = "a-key-that-nobody-guesses"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
ERRORS = [
    {"side": "text", "quote": "with a fork", "severity": "major", "type": "custom", "explanation": HOSTILE},
    {"side": "text", "quote": "sushi with", "severity": "minor", "type": HOSTILE, "explanation": "It overlaps."},
    {"side": "text", "quote": "nowhere", "severity": "minor", "type": "omission", "explanation": ""},
]
RESULT = "document.getElementById('result').innerText"


class Critic(FakeModel):
    """Finds three errors, and refuses texts with "bad" in them."""

    def __init__(self) -> None:
        super().__init__("critic", lambda _: Completion(""))

    async def complete(self, request: Request) -> Completion:
        if "bad" in request.messages[-1].content:
            raise Rejected("http://10.0.0.7/v1 refuses it")
        return Completion(json.dumps({"errors": ERRORS, "explanation": HOSTILE}))


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """`visit(address, text="…")`: the page with filled-in fields, after Ctrl+Enter in the text."""
    tabs: list[Page] = []

    def open_and_send(address: str, **fields: str) -> Page:
        tabs.append(browser.page())
        tabs[-1].open(address + "/")
        for name, value in reversed(fields.items()):  # the text is last and has the focus
            tabs[-1].click(f"#{name}")
            tabs[-1].type(value)
        tabs[-1].press("Enter", ctrl=True)
        return tabs[-1]

    yield open_and_send
    for tab in tabs:
        tab.close()


def test_the_page_describes_the_api_and_loads_nothing_from_elsewhere(serve: Serve) -> None:
    address = serve("fake:clean", bounds=Bounds(max_batch=99, deadline=7.5))
    got, again = ask(address, path="/"), ask(address, path="/")
    html, policy = got.body.decode(), got.headers["Content-Security-Policy"]
    assert got.headers["Content-Type"] == "text/html; charset=utf-8"
    [nonce] = set(re.findall(r'nonce="([^"]+)"', html))
    assert policy.startswith(f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}';")
    assert nonce not in again.body.decode()
    assert not re.search(
        r"""\son\w+=|\sstyle=|(?:src|href)="(?!#|data:,"|openapi\.json")|url\(|@import|innerHTML""", html
    )
    document = ask(address, path="/openapi.json").json
    for path, operations in document["paths"].items():
        assert all(f"<code>{method.upper()} {path}</code>" in html for method in operations)
    for status in document["paths"]["/score"]["post"]["responses"]:
        assert f"<code>{status}</code>" in html
    answer = set(re.findall(r"<code>(\w+)</code>", html.partition("<h3>Answer</h3>")[2].partition("<h3>")[0]))
    fields = Judgement.model_fields.keys() | Error.model_fields | {"errors", "kind", "reason", "blame"}
    assert answer - fields <= {*Blame}
    assert {"score", "report", "failure", "notes"} <= answer
    assert all(f"<code>{name}</code>" in html for name in FIELDS)
    assert all(f'"{blame}": "The cause is' in html for blame in Blame)
    assert "at most 99 objects" in html
    assert "within 7.5 seconds" in html
    assert "Bearer" not in html.partition("<script")[0]
    assert "fake:clean" not in html


@pytest.mark.slow
def test_the_page_of_a_service_with_keys_asks_for_one_and_needs_none_itself(serve: Serve) -> None:
    got = ask(serve("fake:clean", keys=[KEY]), path="/")
    assert got.status == 200
    assert b'<input id="key" type="password" required' in got.body
    assert b"Authorization: Bearer $KEY" in got.body
    assert got.body.count(b"Needs a key.") == 2
    assert KEY.encode() not in got.body


@pytest.mark.slow
def test_a_text_is_judged_and_its_error_marked_also_where_the_service_is_mounted(
    visit: Callable[..., Page], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    metric = mores.serve_app("fake:first-word")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with metric.router.lifespan_context(metric):
            yield

    both = FastAPI(lifespan=lifespan)
    both.mount("/metric", metric)
    with serving(both) as server:
        address = f"{server}/metric"
        until(lambda: ask(address, path="/ready").status == 200)
        page = visit(address, text="Sushi is eaten with a fork.", language="English", region="Japan")
        page.wait("!!document.querySelector('mark')")
        assert page.evaluate("document.querySelector('mark').textContent") == "Sushi"
        assert page.evaluate("document.querySelector('mark').className") == "minor"
        assert page.evaluate("document.getElementById('summary').textContent") == "Score −1. 1 minor error."
        assert "The first word." in page.evaluate(RESULT)
        assert page.evaluate("document.querySelector('.body').lang") == "en"
        assert f"curl {address}/score" in page.evaluate("document.getElementById('curl').textContent")
        assert set(page.requests) == {f"{address}/", f"{address}/score"}
        assert page.problems == []


def test_what_a_judge_writes_is_shown_as_text_and_overlaps_are_marked(serve: Serve, visit: Callable[..., Page]) -> None:
    page = visit(serve(Critic(), store=None), text="In Japan 🍣 people eat sushi with a fork.")
    page.wait("!!document.querySelector('mark')")
    marks = "[...document.querySelectorAll('mark')].map((mark) => [mark.textContent, mark.className])"
    assert page.evaluate(marks) == [["sushi ", "minor"], ["with", "major"], [" a fork", "major"]]
    shown = page.evaluate(RESULT)
    assert "Score −7. 1 major error, 2 minor errors." in shown
    assert "not found in the text: “nowhere”" in shown
    assert shown.count(HOSTILE) == 3
    assert page.evaluate("document.querySelectorAll('#result script, #result img').length") == 0
    assert (page.dialogs, page.problems) == ([], [])


def test_a_text_that_is_not_checked_is_never_shown_as_free_of_errors(serve: Serve, visit: Callable[..., Page]) -> None:
    address = serve(Critic(), store=None, keys=[KEY])
    for key, text, reason in (
        ("wrong-key-0123456789", "Tea.", "The service does not know this key."),
        (KEY, "A bad text.", "The judge gives no answer for this text."),
        (KEY, " ", "The text is empty"),
    ):
        page = visit(address, text=text, key=key)
        page.wait("!!document.querySelector('.failed')")
        shown = page.evaluate(RESULT)
        assert f"Not checked. {reason}" in shown
        assert "This does not mean that the text has no errors." in shown
        assert ("The cause is this text" in shown) == ("bad" in text)
        assert "10.0.0.7" not in shown
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]


@pytest.mark.slow
def test_a_busy_service_says_when_to_try_again_and_checking_can_be_stopped(
    serve: Serve, held: Held, visit: Callable[..., Page]
) -> None:
    address = serve(held, store=None, bounds=Bounds(max_waiting=10, max_share=2, max_batch=2))
    first = visit(address, text="A slow text.")
    first.wait("!!document.querySelector('.busy')")
    until(lambda: held.asked)
    first.click("#send")
    first.wait("!!document.querySelector('.failed')")
    assert "Not checked. You stopped it." in first.evaluate(RESULT)
    with send(address, [{"text": f"slow {n}"} for n in range(2)]), send(address, [{"text": "slow 3"}]):
        until(lambda: b"mores_texts_waiting 2" in ask(address, path="/metrics").body)
        second = visit(address, text="Tea.")
        second.wait("!!document.querySelector('.failed')")
        assert "2 of your texts wait already" in second.evaluate(RESULT)
        assert "Try again in 1 second." in second.evaluate(RESULT)
        second.wait("document.getElementById('summary').textContent.endsWith('You can try again now.')")
