"""An answer written in parts: what must stand there is read like a prompt, in one step, and the rest is written.

A small model takes as long to write a token as to read three or four. What is given counts with log-probability 0: this
is for models that were tuned to write such answers, and for which it is nearly certain.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import orjson

from mores.errors import Transient
from mores.models.base import Completion, Request, is_logprob

_LIKELIEST = 40
"""Tokens whose log-probabilities are asked for where the model chooses."""
Call = Callable[[str, dict[str, Any]], Awaitable[bytes]]
"""Posts a body to a path of a llama.cpp server, and returns the answer's."""


async def write_parts(request: Request, call: Call, slot: int) -> Completion:
    """Return the answer to a request that has parts; the server's slot keeps what it has read from one to the next."""
    assert request.parts is not None
    messages = [message._asdict() for message in request.messages]
    prompt = orjson.loads(await call("/apply-template", {"messages": messages}))["prompt"]
    sampling = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "top_k": request.top_k,
        "seed": request.dice,
    }
    body = {name: value for name, value in sampling.items() if value is not None}
    body |= {"n_probs": 1, "cache_prompt": True, "id_slot": slot}
    parts = request.parts()
    text, logprobs, written, prompt_tokens = "", list[float | None](), None, 0
    alternatives = list[tuple[str, float]]()
    while True:
        try:
            part = parts.send(written)  # type: ignore[arg-type] # None starts it
        except StopIteration as end:
            text += end.value
            logprobs += [0.0] * await _count(end.value, call)
            return _completion(request, text, logprobs, "stop", prompt_tokens, alternatives)
        text += part.given
        logprobs += [0.0] * await _count(part.given, call)
        most = part.most or max(1, request.max_tokens - len(logprobs))
        asked = body | {"prompt": prompt + text, "grammar": part.grammar, "n_predict": most}
        if part.options:
            asked |= {"n_probs": _LIKELIEST}
        answer = orjson.loads(await call("/completion", asked))
        prompt_tokens = prompt_tokens or answer["tokens_evaluated"] - len(logprobs)
        written = answer["content"]
        if not written:  # there would be no end
            raise Transient(f"the embedded server wrote nothing after {text[-80:]!r}")
        text += written
        values = [token["logprob"] for token in answer["completion_probabilities"]]
        logprobs += values[:-1] if answer["stop_type"] == "eos" else values  # the last token only ends
        if part.options:
            alternatives += _chances(part.options, answer["completion_probabilities"][0]["top_logprobs"])
        if answer["stop_type"] == "limit" and part.most is None:
            return _completion(request, text, logprobs, "length", prompt_tokens, alternatives)


def _chances(options: Sequence[tuple[str, str]], likeliest: list[dict[str, Any]]) -> Iterator[tuple[str, float]]:
    """Yield the log-probability of each option, by its name: that of the token that it begins with."""
    for option, name in options:
        starts = [row["logprob"] for row in likeliest if row["token"] and option.startswith(row["token"])]
        if starts and is_logprob(starts[0]):
            yield name, starts[0]


def _completion(
    request: Request,
    text: str,
    logprobs: list[float | None],
    stop: str,
    prompt_tokens: int,
    alternatives: list[tuple[str, float]],
) -> Completion:
    known = tuple(value for value in logprobs if value is not None and is_logprob(value))
    whole = request.logprobs and len(known) == len(logprobs)
    chances = tuple(alternatives) or None
    return Completion(text, known if whole else None, stop, prompt_tokens, len(logprobs), alternatives=chances)


async def _count(text: str, call: Call) -> int:
    """Return the tokens of a text."""
    return len(orjson.loads(await call("/tokenize", {"content": text}))["tokens"]) if text else 0
