"""What servers do wrong, one line each: `FAULTS` is the table that the matrix goes through. Add a line to add a fault.

`usable` says what a run must make of the answer: False, it is a failure; True, it is an answer like any other; None,
it is nonsense, which is a failure to some graders and a wrong answer to others.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from aiohttp import web

Respond = Callable[[web.Request, dict[str, Any]], Any]
"""Gets the request and the body of a proper answer, which it may change; a body, bytes past HTTP, or a response."""


class ServerFault(NamedTuple):
    """One way to go wrong."""

    respond: Respond
    usable: bool | None = False


def status(number: int, message: object = "no", /, **fields: object) -> ServerFault:
    """Refuse with a status."""
    headers = {name.replace("_", "-"): str(fields.pop(name)) for name in ("Retry_After", "Location") if name in fields}
    body = {"error": {"message": message, **fields}}
    return ServerFault(lambda *_: web.json_response(body, status=number, headers=headers))


def choice(usable: bool | None = False, **fields: object) -> ServerFault:
    """Change the choice, for example its finish reason."""

    def respond(_: web.Request, body: dict[str, Any]) -> dict[str, Any]:
        body["choices"][0] |= fields
        return body

    return ServerFault(respond, usable)


def content(value: object, stop: str = "stop", usable: bool | None = None, **message: object) -> ServerFault:
    """Write something else."""
    return choice(usable, message={"role": "assistant", "content": value, **message}, finish_reason=stop)


def around(before: str, after: str = "", usable: bool | None = True) -> ServerFault:
    """Write something around the answer."""

    def respond(_: web.Request, body: dict[str, Any]) -> dict[str, Any]:
        message = body["choices"][0]["message"]
        message["content"] = before + message["content"] + after
        return body

    return ServerFault(respond, usable)


def thoughts(value: object) -> ServerFault:
    """Send thoughts apart from the answer."""

    def respond(_: web.Request, body: dict[str, Any]) -> dict[str, Any]:
        body["choices"][0]["message"]["reasoning_content"] = value
        return body

    return ServerFault(respond, True)


def tokens(*logprobs: object, text: str | None = None) -> ServerFault:
    """Give these log-probabilities."""
    rows = [{"token": "a" if text is None else text, "logprob": value, "bytes": None} for value in logprobs]
    return choice(True, logprobs={"content": rows})


def body(usable: bool | None = False, **fields: object) -> ServerFault:
    """Change the whole body."""
    return ServerFault(lambda _, whole: whole | fields, usable)


def raw(*parts: bytes, hang: bool = False) -> ServerFault:
    """Write bytes past all rules of HTTP, and close the connection, or never."""

    async def respond(request: web.Request, _: dict[str, Any]) -> web.Response:
        assert request.transport is not None
        for part in parts:
            request.transport.write(part)
        await asyncio.sleep(30 if hang else 0)
        request.transport.abort()
        return web.Response()

    return ServerFault(respond)


def head(length: object, *lines: str) -> bytes:
    """A head of HTTP."""
    size = [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: application/json", *size, *lines, "", ""]).encode()


WHOLE = json.dumps({"choices": [{"message": {"content": "of nobody"}, "finish_reason": "stop"}]}).encode()
DEEP = "[" * 5000 + "]" * 5000
STATUSES = [
    *(300, 301, 302, 303, 307, 308),
    *range(400, 419),
    *(421, 422, 423, 424, 425, 426, 428, 429, 431, 444, 451, 460, 499),
    *(500, 501, 502, 503, 504, 505, 507, 508, 509, 510, 511),
    *(520, 521, 522, 523, 524, 525, 526, 529, 530, 598, 599),
]
FAULTS: dict[str, ServerFault] = {
    **{f"status {code}": status(code, Location="http://127.0.0.1:9/") for code in STATUSES},
    "429 soon": status(429, Retry_After="0.01"),
    "429 at no time": status(429, Retry_After="soon"),
    "429 in the past": status(429, Retry_After="-5"),
    "429 nan": status(429, Retry_After="nan"),
    "429 by a date": status(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    "no quota": status(429, code="insufficient_quota"),
    "no model": status(404, code="model_not_found"),
    "too long": status(400, code="context_length_exceeded"),
    "filtered prompt": status(400, code="content_filter"),
    "no such setting": status(400, code="unsupported_parameter"),
    "an error that is a list": status(400, ["a", {"b": "c"}]),
    "an error without words": status(500, None),
    "an error with a key": status(401, "Bearer sk-live-4f9a7c2e81d05b63"),
    "an error page": ServerFault(lambda *_: web.Response(status=500, text="<html>Internal error")),
    "error in 200": body(error={"message": "upstream failed", "code": 502}),
    "error text in 200": body(error="upstream failed"),
    "error in the choice": choice(error={"message": "provider returned an error"}),
    "no choices": body(choices=[]),
    "choices null": body(choices=None),
    "choices an object": body(choices={"message": {"content": "A"}}),
    "no message": choice(message=None),
    "message a text": choice(message="A"),
    "a list for a body": ServerFault(lambda *_: web.json_response([1, 2])),
    "a number for a body": ServerFault(lambda *_: web.json_response(7)),
    "half a body": ServerFault(lambda *_: web.Response(text='{"choices": [{"mess', content_type="application/json")),
    "a page": ServerFault(lambda *_: web.Response(text="<html>hi</html>", content_type="text/html")),
    "an empty body": ServerFault(lambda *_: web.Response(content_type="application/json")),
    "no UTF-8": ServerFault(lambda *_: web.Response(body=WHOLE.replace(b"nobody", b"\xff\xfe"))),
    "a lone surrogate": ServerFault(lambda *_: web.Response(body=WHOLE.replace(b"nobody", rb"\ud800"))),
    "nested deeply": ServerFault(lambda *_: web.Response(text=DEEP, content_type="application/json")),
    **{f"ends with {reason!r}": choice(finish_reason=reason)
       for reason in ("error", "abort", "aborted", "cancelled", "failed", "timeout", "insufficient_system_resource",
                      "malformed_function_call", "unknown", "other", "content_filter", "SAFETY", "recitation",
                      "PROHIBITED_CONTENT", "blocklist")},
    **{f"ends with {reason!r}": choice(True, finish_reason=reason)
       for reason in (None, "STOP", "eos", "eos_token", "end_turn", "stop_sequence", "COMPLETE")},
    **{f"ends with {reason!r}": choice(finish_reason=reason) for reason in (7, ["stop"], {"reason": "stop"})},
    "cut off at once": content("", "length", usable=False),
    "cut off in thoughts": content("<think>Let me see", "length", usable=False),
    "filtered without a word": content("", "content_filter", usable=False),
    "filtered after a word": content("I", "content_filter", usable=False),
    "a tool is called": content(None, "tool_calls", usable=False, tool_calls=[{"function": {"name": "f"}}]),
    "a function is called": content("", "function_call", usable=False, function_call={"name": "f"}),
    "declined": content(None, refusal="I cannot help with that."),
    # Benchmarks with short answers count nothing as not attempted, as their papers do.
    "empty": content(""),
    "white space": content(" \n\t "),
    "null": content(None),
    "only thoughts": content("<think>Hm.</think>\n"),
    "thoughts without end": content("<think>Hm. A"),
    "parts": content([{"type": "text", "text": "A"}], usable=False),
    "a number": content(7, usable=False),
    "nonsense": content("Lorem ipsum dolor."),
    "all letters": content("A B C D yes no true false 1 0"),
    "5,000 digits": content("9" * 5000),
    "NUL": content("A\0B"),
    "200,000 characters": content("x" * 200_000),
    "JSON in JSON": content(json.dumps({"errors": {"errors": []}})),
    "deep JSON": content('{"errors":' + DEEP + "}"),
    "thoughts first": around("<think>Hm.</think>\n"),
    "thoughts apart": thoughts("Hm. No. B. <result>FAIL</result>"),
    "thoughts that are a list": thoughts([{"text": "Hm."}]),
    "white space around": around("\n\n", "  \n"),
    "no log-probability": choice(True, logprobs=None),
    "log-probabilities a text": choice(True, logprobs="none"),
    "log-probabilities without tokens": choice(True, logprobs={"content": [{"logprob": -0.1}]}),
    "log-probability -1e308": tokens(*[-1e308] * 8),
    "log-probability -9999": tokens(*[-9999.0] * 8),
    "log-probability above 0": tokens(*[0.7] * 8),
    "log-probability a text": tokens(*["high"] * 8),
    "log-probability null": tokens(*[None] * 8),
    "one log-probability": tokens(-1e-6, text="of nothing"),
    "log-probabilities of other words": tokens(*[-0.1] * 3000, text="other"),
    **{f"usage {value!r}": body(True, usage={"prompt_tokens": value, "completion_tokens": value})
       for value in (-5, 2**70, "many", None, 1.5)},
    "usage null": body(True, usage=None),
    "more fields": body(True, extra={"a": [1, 2]}, object=None),
    "dropped": raw(),
    "dropped in the head": raw(b"HTTP/1.1 200 OK\r\nContent-"),
    "dropped in the body": raw(head(len(WHOLE)), WHOLE[:20]),
    "no HTTP": raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a head without end": raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000),
    "a length that is no number": raw(head("ten") + WHOLE),
    "a negative length": raw(head(-5) + WHOLE),
    "two lengths": raw(head(5, f"Content-Length: {len(WHOLE)}") + WHOLE),
    "chunks that lie": raw(head(None, "Transfer-Encoding: chunked") + b"ffffff\r\n" + WHOLE),
    "not packed, though it says so": raw(head(len(WHOLE), "Content-Encoding: gzip") + WHOLE),
    "no word": raw(hang=True),
    "half a body and no end": raw(head(len(WHOLE)), WHOLE[:20], hang=True),
}  # fmt: skip
