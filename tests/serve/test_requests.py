"""Requests that are refused, keys, and what the service says about itself."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.errors import ConfigError
from mores.serve import Bounds
from mores.serve.keys import Keys, read_keys
from tests.serve.conftest import Serve
from tests.serve.judge import TEXTS, ask, send
from tests.serving import serving

KEY = "a-key-that-nobody-guesses"


def test_what_is_wrong_with_a_request_is_said_with_the_place_and_the_fix(serve: Serve) -> None:
    address = serve("fake:clean", bounds=Bounds(max_body=2000, max_batch=3))
    for body, status, reason in (
        (b"{", 400, "not valid JSON"),
        (b'"text"', 422, 'expected an object such as {"text": "…"}, or an array of them'),
        ([], 422, "there is no text; send at least one"),
        ({"txt": "a"}, 422, "no field 'text', but 'txt'; rename it to 'text'"),
        ({"text": " "}, 422, "the text is empty"),
        ({"text": "a", "language": "nothing"}, 422, "unknown language 'nothing'"),
        ({"text": "a", "evidence": [{"text": ""}]}, 422, "evidence 1: the text is empty"),
        ([{"text": "a"}, 1, {}], 422, "nothing was judged; correct these texts:\n  text 2: not an object"),
        ([{"id": "x", "text": "a"}, {"id": "x", "text": "b"}], 422, "text 2: id 'x' is already that of text 1"),
        (TEXTS[:4], 413, "4 texts; send at most 3 in one request"),
        ({"text": "a" * 2000}, 413, "the body has more than 2,000 bytes"),
    ):
        got = ask(address, body)
        assert (got.status, reason in got.json["detail"]) == (status, True), (body, got)
    got = ask(address, b'{"text": "a"}\n{"text', Content_Type="application/x-ndjson")
    assert (got.status, got.json["detail"].partition(":")[0]) == (400, "line 2")
    assert ask(address, b"text=a", Content_Type="application/x-www-form-urlencoded").status == 415
    packed = ask(address, gzip.compress(b'{"text": "a"}'), Content_Encoding="gzip")
    assert (packed.status, packed.json["detail"]) == (415, "the Content-Encoding is gzip; send the body unpacked")
    assert ask(address, path="/score").status == 405
    assert b'mores_requests_total{status="422"} 8' in ask(address, path="/metrics").body


@pytest.mark.slow
def test_load_balancers_may_ask_for_the_state_alone(serve: Serve) -> None:
    address = serve("fake:clean", keys=[KEY])
    for path in ("/health", "/ready"):
        with urllib.request.urlopen(urllib.request.Request(address + path, method="HEAD"), timeout=30) as answer:
            assert (answer.status, answer.read()) == (200, b"")


def test_a_body_without_a_length_is_bounded_and_one_that_does_not_come_is_given_up(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mores.serve.app.SECONDS", 1.0)
    address = serve("fake:clean", bounds=Bounds(max_body=2000))
    with send(address, TEXTS[0], Content_Length="1000") as slow:
        assert slow.recv(100).startswith(b"HTTP/1.1 408 ")
    with send(address, b"fff\r\n" + b" " * 0xFFF, Content_Length="", Transfer_Encoding="chunked") as endless:
        assert endless.recv(100).startswith(b"HTTP/1.1 413 ")


def test_only_who_shows_a_key_may_ask(serve: Serve, capfd: pytest.CaptureFixture[str]) -> None:
    address = serve("fake:clean", keys=["another-key-0123456789", KEY])
    for headers in ({}, {"Authorization": "Bearer wrong-key-0123456789"}, {"Authorization": f"Basic {KEY}"}):
        for got in (ask(address, {"text": "a"}, **headers), ask(address, path="/metrics", **headers)):
            assert (got.status, got.headers["WWW-Authenticate"]) == (401, "Bearer")
    right = {"Authorization": f"Bearer {KEY}"}
    assert ask(address, {"text": "a"}, **right).status == 200
    assert KEY not in ask(address, path="/metrics", **right).body.decode()
    for path in ("/health", "/ready", "/openapi.json"):
        assert ask(address, path=path).status == 200
    paths = ask(address, path="/openapi.json").json["paths"]
    assert {path for path, about in paths.items() if "401" in str(about)} == {"/score", "/metrics"}
    assert KEY not in "".join(capfd.readouterr())


def test_keys_come_from_a_file_and_the_environment_and_are_never_printed(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# of the newsroom\n{KEY}\n\n")
    assert read_keys(file, "env-key-0123456789, other-key-0123456789") == [
        KEY, "env-key-0123456789", "other-key-0123456789"
    ]  # fmt: skip
    file.write_text(f"{KEY}\nshort-secret\n")
    with pytest.raises(ConfigError, match=re.escape(f"{file}:2: a key is at least 16")) as problem:
        read_keys(file, None)
    assert "short-secret" not in str(problem.value)
    file.write_text("# none\n")
    with pytest.raises(ConfigError, match="contains no key"):
        read_keys(file, None)
    assert KEY not in repr(vars(Keys([KEY])))


def test_bounds_that_cannot_work_are_refused() -> None:
    with pytest.raises(ConfigError, match="256 texts in one request can never be accepted where only 100 may wait"):
        Bounds(max_waiting=100)
    with pytest.raises(ConfigError, match="deadline is 0; expected more than 0"):
        Bounds(deadline=0)


@pytest.mark.slow
def test_an_app_whose_lifespan_does_not_run_says_so(tmp_path: Path) -> None:
    from fastapi import FastAPI

    parent = FastAPI()
    parent.mount("/metric", mores.serve_app("fake:clean", store=tmp_path / "store.db"))
    with serving(parent) as address:
        got = ask(address, {"text": "a"}, path="/metric/score")
        assert (got.status, "its lifespan must run" in got.json["detail"]) == (503, True)


@pytest.mark.slow
def test_the_openapi_document_describes_what_is_sent_and_answered(serve: Serve) -> None:
    document = ask(serve("fake:clean"), path="/openapi.json").json
    assert "security" not in str(document)
    assert set(document["paths"]) == {"/score", "/health", "/ready", "/metrics"}
    schemas = document["components"]["schemas"]
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)):
        assert name in schemas
    score = document["paths"]["/score"]["post"]
    [text, several] = score["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert text == several["items"]
    assert set(text["properties"]) == set(mores.Sample.model_fields)
    assert text["anyOf"] == [{"required": ["text"]}, {"required": ["turns"]}]
    assert set(schemas["Judgement"]["properties"]) == set(mores.Judgement.model_fields)
    assert {"200", "400", "408", "413", "415", "422", "429", "503"} == set(score["responses"])


@pytest.mark.slow
def test_metrics_are_in_the_text_format_of_prometheus(serve: Serve) -> None:
    address = serve("fake:first-word")
    ask(address, TEXTS)
    ask(address, TEXTS[0])
    page = ask(address, path="/metrics")
    assert page.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    values: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for line in page.body.decode().splitlines():
        if line.startswith("# TYPE"):
            _, _, name, kinds[name] = line.split()
        elif not line.startswith("#"):
            sample = re.fullmatch(r'(\w+)(\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? ([\d.e-]+)', line)
            assert sample, line
            assert kinds.get(sample[1]) or kinds[re.sub("_(bucket|sum|count)$", "", sample[1])], line
            values[sample[1] + (sample[2] or "")] = float(sample[3])
    assert values['mores_texts_total{outcome="scored"}'] == 7
    assert values["mores_stored_answers_total"] == 1
    assert values["mores_model_calls_total"] == 6
    assert values['mores_requests_total{status="200"}'] == values["mores_request_seconds_count"] == 2
    buckets = [value for name, value in values.items() if "_bucket" in name]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 2
    assert values["mores_ready"] == 1


def test_a_server_need_not_know_the_address_of_a_client() -> None:
    app, sent = mores.serve_app("fake:clean", store=None), list[Any]()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b'{"text": "Tea."}'}

    async def send(message: Any) -> None:
        sent.append(message)

    async def score() -> None:
        async with app.router.lifespan_context(app):
            while app.state.service.unready:  # noqa: ASYNC110 - it is asked as a client would ask
                await asyncio.sleep(0.01)
            headers = [(b"content-type", b"application/json")]
            scope = {"type": "http", "method": "POST", "path": "/score", "headers": headers, "client": None}
            await app(scope, receive, send)

    asyncio.run(score())
    assert sent[0]["status"] == 200
