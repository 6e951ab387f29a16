"""The OpenAI-compatible client: what it sends, and how it reads every kind of answer."""

from __future__ import annotations

import asyncio
import json
import math
import time
from base64 import b64encode
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from mores.engine.loop import run
from mores.errors import ConfigError, ModelError, Rejected, Transient
from mores.models import Completion, Message, Options, Request, open_model
from mores.models.http import ApiKey
from mores.models.openai import OpenAIModel, read_completion
from mores.types import Failure
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
        completion = ask(OpenAIModel("m", server.url + "/", "secret"))
    [body] = server.bodies
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "max_tokens": 7, "temperature": 0.0, "seed": 3, "logprobs": True,
    }  # fmt: skip
    assert completion.logprobs == (-0.25,) * 4
    assert (completion.prompt_tokens, completion.completion_tokens, completion.stop) == (10, 4, "stop")


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
        (400, {"error": {"message": "temperature", "code": "unsupported_value"}}, ModelError, "or the seed"),
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


@pytest.mark.parametrize(
    ("value", "seconds"), [("2", 2.0), ("0.5", 0.5), ("-3", 0.0), ("", None), ("soon", None), ("date", 30.0)]
)
def test_a_server_says_when_to_come_back(value: str, seconds: float | None) -> None:
    async def busy(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
        return web.json_response({}, status=429, headers={"Retry-After": later if value == "date" else value})

    with Server({busy: 1.0}) as server, pytest.raises(Transient) as caught:
        ask(OpenAIModel("m", server.url))
    assert caught.value.retry_after == (None if seconds is None else pytest.approx(seconds, rel=0.2))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.binary() | ANYTHING.map(json.dumps).map(str.encode))
def test_any_body_is_a_completion_or_a_passing_error(body: bytes) -> None:
    with suppress(Transient):
        assert isinstance(read_completion(body).text, str)


@given(st.sampled_from(["message", "content", "finish_reason", "logprobs", "logprob", "usage", "tokens"]), ANYTHING)
def test_a_completion_with_one_wrong_part_is_still_of_the_right_types(part: str, value: object) -> None:
    body = completion("good answer")
    choice = body["choices"][0]
    places = {
        "message": (choice, "message"),
        "content": (choice["message"], "content"),
        "finish_reason": (choice, "finish_reason"),
        "logprobs": (choice, "logprobs"),
        "logprob": (choice["logprobs"]["content"][0], "logprob"),
        "usage": (body, "usage"),
        "tokens": (body["usage"], "prompt_tokens"),
    }
    place, key = places[part]
    place[key] = value
    with suppress(Transient):
        parsed = read_completion(json.dumps(body).encode())
        assert isinstance(parsed.text, str)
        assert isinstance(parsed.stop, str)
        assert parsed.logprobs is None or all(math.isfinite(p) for p in parsed.logprobs)
        assert 0 <= parsed.prompt_tokens < 2**31


def test_a_good_answer_is_not_lost_over_bad_log_probabilities() -> None:
    body = completion("x")
    body["choices"][0]["message"] = {"content": None, "refusal": "I cannot."}
    body["choices"][0]["logprobs"] = {"content": [{"logprob": None}]}
    assert read_completion(orjson.dumps(body)) == Completion("I cannot.", None, "refusal", 10, 1)


def test_an_empty_answer_is_an_answer() -> None:
    body = completion("")
    assert read_completion(orjson.dumps(body)).text == ""
    body["choices"][0]["finish_reason"] = "length"
    assert read_completion(orjson.dumps(body)).stop == "length"


@pytest.mark.parametrize("value", [1000.0, 0.5, 1e-3, float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_no_log_probabilities_count_as_missing(value: float) -> None:
    body = completion("one two three")
    tokens = body["choices"][0]["logprobs"]["content"]
    tokens[1]["logprob"] = value
    tokens[0]["top_logprobs"] = [{"token": "A", "logprob": -0.1}, {"token": "B", "logprob": value}]
    parsed = read_completion(json.dumps(body).encode())  # as Python's servers write NaN and infinity
    assert (parsed.text, parsed.logprobs, parsed.alternatives) == ("one two three", None, None)


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"a": NaN', b'{"error": "\\ud83d"}', b'{"a": 1e999}', b"NaN"])
def test_what_only_looks_like_json_is_a_passing_error(body: bytes) -> None:
    with pytest.raises(Transient):
        read_completion(body)


def test_what_rounding_adds_to_a_log_probability_is_no_reason_to_drop_it() -> None:
    body = completion("one two")
    body["choices"][0]["logprobs"]["content"][1]["logprob"] = 1e-9
    assert read_completion(orjson.dumps(body)).logprobs == (-0.25, 1e-9)


@pytest.mark.parametrize("with_bytes", [True, False])
def test_log_probabilities_of_thinking_are_left_out(with_bytes: bool) -> None:
    tokens = [
        ("Let me", -2.0),
        (" think</think>", -2.0),
        ("\n", -1.0),
        ('{"a"', -0.1),
        (": é}", -0.3),
        ("<|end|>", -0.2),
    ]
    body = completion("")
    body["choices"][0]["message"] = {"content": '{"a": é}', "reasoning_content": "Let me think"}
    body["choices"][0]["logprobs"]["content"] = [
        {"token": token, "logprob": p, "bytes": list(token.encode()) if with_bytes else None} for token, p in tokens
    ]
    assert read_completion(orjson.dumps(body)).logprobs == (-0.1, -0.3, -0.2)
    body["choices"][0]["message"]["content"] = "something else"
    assert read_completion(orjson.dumps(body)).logprobs is None


@pytest.mark.parametrize(
    ("fields", "thoughts"),
    [
        ({"reasoning_content": "Is it B?\n"}, "Is it B?"),  # DeepSeek, older vLLM
        ({"reasoning": "Is it B?"}, "Is it B?"),  # vLLM, OpenRouter
        ({"reasoning": "Is it B?", "reasoning_content": "Is it B?"}, "Is it B?"),
        ({"reasoning": None, "reasoning_content": ""}, ""),
        ({"reasoning": [{"text": "Is it B?"}]}, ""),
    ],
)
def test_thoughts_that_come_apart_are_kept_apart(fields: dict[str, Any], thoughts: str) -> None:
    body = completion("A")
    body["choices"][0]["message"] |= fields
    answer = read_completion(orjson.dumps(body))
    assert (answer.text, answer.thoughts) == ("A", thoughts)
    written = answer.complete()
    assert not isinstance(written, Failure)
    assert (written.text, written.whole, written.thoughts, written.apart) == ("A", "A", thoughts, thoughts)
    assert written.aloud == ("<think>\nIs it B?\n</think>\n\nA" if thoughts else "A")
    body["choices"][0]["message"]["content"] = ""
    nothing = read_completion(orjson.dumps(body)).complete()
    assert isinstance(nothing, Failure)
    assert nothing.reason == ("the answer has only thoughts" if thoughts else "the answer is empty")


def test_many_calls_at_once_find_out_what_a_model_wants() -> None:
    """All calls that are under way when the first is refused ask again too."""

    async def picky(server: Server, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        await asyncio.sleep(0.05)
        if "max_tokens" in body or "logprobs" in body:
            wanted = "max_completion_tokens" if "max_tokens" in body else "no logprobs"
            return web.json_response({"error": {"message": f"use {wanted}"}}, status=400)
        return server.proper(body["messages"][-1]["content"])

    async def gather(model: OpenAIModel) -> list[Completion]:
        async with model:
            return await asyncio.gather(*(model.complete(ASK) for _ in range(20)))

    with Server({picky: 1.0}) as server:
        assert len(run(gather(OpenAIModel("m", server.url)))) == 20


def test_two_runs_may_use_one_model_at_once() -> None:
    async def both(model: OpenAIModel) -> None:
        async with model:
            async with model:
                await model.complete(ASK)
            await model.complete(ASK)
        async with model:
            await model.complete(ASK)

    with Server() as server:
        run(both(OpenAIModel("m", server.url)))
    assert len(server.asked) == 3


@pytest.mark.parametrize("value", ["100000", "inf"])
def test_a_server_that_asks_for_hours_is_not_waited_for(value: str) -> None:
    async def later(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        return web.Response(status=429, headers={"Retry-After": value})

    with Server({later: 1.0}) as server, pytest.raises(ModelError, match="run again then"):
        ask(OpenAIModel("m", server.url))


@pytest.mark.parametrize(
    ("url", "key", "words"),
    [
        ("http://bob:sekret@host/v1", "k", "holds a password"),
        ("http://[::1/v1", "k", "is not one"),
        ("http://host/v1", "a\rb", "copy it again"),
        ("http://host/v1", "schlüssel", "copy it again"),
    ],
)
def test_bad_addresses_and_keys(url: str, key: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        OpenAIModel("m", url, key)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("opnai:x", Options(), "did you mean 'openai:x'"),
        ("gpt-4", Options(), "unknown model 'gpt-4'"),
        ("openai:", Options(), "needs a model name"),
        ("openai:x", Options(adapter="a"), "a model of kind 'openai' takes no adapter"),
        ("openai:x", Options(precision="float32"), "a model of kind 'openai' takes no precision"),
        ("embedded", Options(precision="float32"), "a model of kind 'embedded' takes no precision"),
        ("openai:x", Options(base_url="localhost:8000"), "http://localhost:8000/v1"),
        ("embedded", Options(base_url="http://x"), "a model of kind 'embedded' takes no base url"),
        ("reader", Options(base_url="http://x"), "a model of kind 'reader' takes no base url"),
        ("reader:x.gguf", Options(), "take embedded:FILE.gguf"),
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


def test_the_likeliest_first_tokens_are_read_when_asked_for() -> None:
    body = completion("B it is")
    first = [{"token": "B", "logprob": -0.2}, {"token": " A", "logprob": -1.8}]
    body["choices"][0]["logprobs"]["content"][0]["top_logprobs"] = first
    assert read_completion(orjson.dumps(body)).alternatives == (("B", -0.2), (" A", -1.8))
    assert read_completion(orjson.dumps(completion("B it is"))).alternatives is None
    model = OpenAIModel("m", "http://127.0.0.1:1/v1")
    assert model.body(ASK._replace(alternatives=20))["top_logprobs"] == 20
    assert "top_logprobs" not in model.body(ASK)


@pytest.mark.slow
def test_an_answer_is_read_in_linear_time() -> None:
    """Log-probabilities that do not spell the text after the thoughts: every token was compared with all others."""

    def seconds(count: int) -> float:
        body = completion("x" * count)
        body["choices"][0]["message"]["reasoning_content"] = "Hm."
        rows = [{"token": "y", "logprob": -0.1, "bytes": None}] * count
        body["choices"][0]["logprobs"] = {"content": rows}
        data = orjson.dumps(body)
        started = time.process_time()
        assert read_completion(data).logprobs is None
        return time.process_time() - started

    seconds(100)
    assert seconds(40_000) < 2


@pytest.mark.parametrize("stop", ["error", "abort", "FAILED", "who knows"])
def test_an_answer_that_ended_with_an_error_is_none(stop: str) -> None:
    with pytest.raises(Transient, match="ended its answer with"):
        read_completion(orjson.dumps(completion("{}", stop)))
    body = completion("{}")
    body["choices"][0]["error"] = {"message": "the provider failed"}
    with pytest.raises(Transient, match="the provider failed"):
        read_completion(orjson.dumps(body))


def test_log_probabilities_that_do_not_cover_the_answer_are_none() -> None:
    body = completion("a report of many words")
    body["choices"][0]["logprobs"] = {"content": [{"token": "a", "logprob": -1e-6, "bytes": None}]}
    assert read_completion(orjson.dumps(body)).logprobs is None


@pytest.mark.parametrize("before", ["", "B", "Bearer ", "user:"])
def test_a_key_is_masked_however_it_is_encoded(before: str) -> None:
    key = "sk-Test+1234/abcd=="
    mask = ApiKey(key)
    forms = [quote(key), quote(key, safe=""), key.encode().hex(), b64encode(f"{before}{key}.".encode()).decode()]
    for form in forms:
        shown = mask.masked(f"refused: {form}")
        assert len(shown) < len(form)
        assert mask.masked_body(form.encode()) == mask.masked(form).encode()


@given(st.data(), st.sampled_from(["sk-Test+1234/abcd==", 'a"strange\\key~%1', "0123-4567_89abcdef"]))
def test_a_key_is_masked_in_any_case_and_with_any_escape(data: st.DataObject, key: str) -> None:
    forms = [key, quote(key), quote(key, safe=""), key.encode().hex(), b64encode(f"{key}.".encode()).decode()]
    form = data.draw(st.sampled_from(forms))
    before, after = (data.draw(st.text(st.sampled_from('ab \n\té/\\"…'), max_size=8)) for _ in range(2))

    def written(letter: str) -> str:
        ways = [letter, letter.upper(), letter.lower(), f"\\u{ord(letter):04x}", f"\\u{ord(letter):04X}"]
        plain = [json.dumps(way)[1:-1] if len(way) == 1 else way for way in ways]
        return data.draw(st.sampled_from([*plain, "\\/"] if letter == "/" else plain))

    spelt = json.dumps(before)[:-1] + "".join(map(written, form)) + json.dumps(after)[1:]
    answer = ApiKey(key).masked_body(f'{{"content": {spelt}}}'.encode())
    assert form.lower() not in json.loads(answer)["content"].lower()
    assert "…" in json.loads(answer)["content"]
