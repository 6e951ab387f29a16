"""The OpenAI-compatible client: what it sends, and how it reads every kind of answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import orjson
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from mores.engine.loop import run
from mores.errors import ConfigError, ModelError, Rejected, Transient
from mores.models import Completion, Message, Options, Request, open_model
from mores.models.openai import OpenAIModel, _retry_after, read_completion
from tests.engine.server import Server, completion

ASK = Request((Message("system", "s"), Message("user", "u")), max_tokens=7, seed=3)


def ask(model: OpenAIModel, request: Request = ASK) -> Completion:
    async def go() -> Completion:
        async with model:
            return await model.complete(request)

    return run(go())


def refusing(status: int, body: Any) -> Server:
    async def fault(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        return web.json_response(body, status=status)

    return Server({fault: 1.0})


def test_what_is_sent() -> None:
    with Server() as server:
        found = ask(OpenAIModel("m", server.url + "/", "secret"))
    [body] = server.bodies
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "max_tokens": 7, "temperature": 0.0, "seed": 3, "logprobs": True,
    }  # fmt: skip
    assert found.logprobs == (-0.25,) * 4
    assert (found.prompt_tokens, found.completion_tokens, found.stop) == (10, 4, "stop")


def test_a_schema_goes_as_response_format() -> None:
    with Server() as server:
        ask(OpenAIModel("m", server.url), ASK._replace(schema={"type": "object"}, temperature=None, logprobs=False))
    [body] = server.bodies
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert "temperature" not in body
    assert "logprobs" not in body


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, {"error": {"message": "too long"}}, Rejected, "too long"),
        (413, {"error": "big"}, Rejected, "big"),
        (422, {"detail": [{"msg": "bad"}]}, Rejected, "bad"),
        (401, {"error": {"message": "no"}}, ModelError, "OPENAI_API_KEY"),
        (403, {"error": {"message": "no"}}, ModelError, "OPENAI_API_KEY"),
        (404, {"error": {"message": "The model `m` does not exist"}}, ModelError, "check the model's name"),
        (402, {"error": {"message": "pay"}}, ModelError, "account"),
        (429, {"error": {"message": "quota", "code": "insufficient_quota"}}, ModelError, "account"),
        (400, {"error": {"message": "temperature", "code": "unsupported_value"}}, ModelError, "--temperature"),
        (429, {"error": {"message": "slow"}}, Transient, "slow"),
        (500, "oops", Transient, "oops"),
        (503, {}, Transient, "503"),
        (599, [], Transient, "599"),
        (200, {"error": {"message": "inside", "code": 429}}, Transient, "inside"),
        (200, {"choices": [{"message": None}]}, Transient, "not a chat completion"),
    ],
)  # fmt: skip
def test_refusals(status: int, body: Any, kind: type[ModelError], words: str) -> None:
    with refusing(status, body) as server, pytest.raises(kind) as caught:
        ask(OpenAIModel("m", server.url, "k"))
    assert type(caught.value) is kind
    assert words in str(caught.value)


def test_a_redirect_is_not_followed() -> None:
    async def moved(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        return web.Response(status=307, headers={"Location": "https://elsewhere.example/v1"})

    with Server({moved: 1.0}) as server, pytest.raises(ModelError, match=r"redirects to https://elsewhere\.example/v1"):
        ask(OpenAIModel("m", server.url, "secret"))


def test_overload_is_told_from_mere_failure() -> None:
    for status, overload in ((429, True), (503, True), (500, False)):
        with refusing(status, {}) as server, pytest.raises(Transient) as caught:
            ask(OpenAIModel("m", server.url))
        assert caught.value.overload is overload


@pytest.mark.parametrize(
    ("message", "gone", "come"),
    [
        ("Unsupported parameter: use 'max_completion_tokens'", "max_tokens", "max_completion_tokens"),
        ("You are not allowed to request logprobs from this model", "logprobs", None),
    ],
)
def test_a_model_that_wants_it_otherwise_gets_it_so(message: str, gone: str, come: str | None) -> None:
    async def picky(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        if gone in await request.json():
            return web.json_response({"error": {"message": message}}, status=400)
        return web.json_response(completion("x"))

    with Server({picky: 1.0}) as server:
        assert ask(OpenAIModel("m", server.url)).text == "x"
    assert come is None or come in server.bodies[-1]


@pytest.mark.parametrize(("value", "seconds"), [("2", 2.0), ("0.5", 0.5), ("-3", 0.0), ("", None), ("soon", None)])
def test_retry_after_in_seconds(value: str, seconds: float | None) -> None:
    assert _retry_after(value) == seconds


def test_retry_after_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert _retry_after(later) == pytest.approx(30, abs=2)


@given(st.one_of(st.binary(), st.recursive(st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["choices", "message", "content", "logprobs", "usage", "error", "logprob"]), inner, max_size=3),
).map(lambda value: orjson.dumps(value))))  # fmt: skip
def test_any_body_is_a_completion_or_a_passing_error(body: bytes) -> None:
    try:
        found = read_completion(body)
    except Transient:
        return
    assert isinstance(found.text, str)


def test_a_refusal_is_read_as_text_and_nan_is_no_log_probability() -> None:
    body = completion("x")
    body["choices"][0]["message"] = {"content": None, "refusal": "I cannot."}
    body["choices"][0]["logprobs"] = {"content": [{"logprob": None}]}
    with pytest.raises(Transient):
        read_completion(orjson.dumps(body))
    body["choices"][0]["logprobs"] = None
    assert read_completion(orjson.dumps(body)) == Completion("I cannot.", None, "stop", 10, 1)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("opnai:x", Options(), "did you mean 'openai:…'"),
        ("gpt-4", Options(), "no such kind"),
        ("openai:", Options(), "needs a model name"),
        ("openai:x", Options(adapter="a"), "--adapter does not go with"),
        ("openai:x", Options(base_url="localhost:8000"), "http://localhost:8000/v1"),
        ("embedded", Options(base_url="http://x"), "--base-url does not go with"),
        ("embedded:no-such-file", Options(), "mores pull"),
        ("embedded", Options(adapter="no-such.gguf"), "not a GGUF LoRA file"),
        ("fake:nonsense", Options(), "there are clean"),
        ("fake:missing.jsonl", Options(), "expected rows with 'contains'"),
    ],
)
def test_wrong_names_and_options_say_the_fix(name: str, options: Options, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _ = open_model(name, options).identity
    assert words in str(caught.value)
