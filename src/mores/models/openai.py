"""`openai:NAME`: any server that speaks the OpenAI chat protocol (vLLM, SGLang, llama.cpp, Ollama, hosted ones)."""

from __future__ import annotations

import asyncio
import os
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
import orjson

from mores.errors import ConfigError, ModelError, Rejected, Transient, suggest
from mores.models.base import Completion, Request, Stop, Style, are_logprobs, stop_of
from mores.models.http import ApiKey, arguments_for, read_body, read_json, read_wait
from mores.reading import split_thoughts

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_DOWN = {502, 503, 504, 529}
"""A gateway that does not reach the server, or a server that accepts no requests."""
_OVERLOADED = {429, 503, 529}
_LATER = {408, 409, 425, 500} | _OVERLOADED | _DOWN
_FINAL = {400, 413, 414, 422, 431, 451}
"""Refusals of one request, for good; others, such as 405, say that the run is set up wrongly."""
_CONNECT_TIMEOUT = 10.0
LONGEST_WAIT = 600.0
"""Seconds: we do not wait for a server that asks for more."""
MOST_BYTES = 16 << 20
"""Of an answer: 32,000 tokens with their log-probabilities take about 10 MB."""
_COVERED = 0.5
"""The share of an answer that tokens with log-probabilities must spell, or they say nothing about it."""


class OpenAIModel:
    """A chat model behind a base URL. The key comes from the environment: OPENAI_API_KEY."""

    constrained = False
    timeout = 300.0
    warning: str | None = None

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        key_variable: str | None = None,
        body: Mapping[str, object] | None = None,
    ) -> None:
        """Set up a model; `key_variable` names the variable of the key, "" for none, and `body` has further fields."""
        if not name:
            raise ConfigError("openai: needs a model name, for example openai:gpt-4.1-mini")
        self.model = name
        self.base_url = _checked_url(base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
        variable = "OPENAI_API_KEY" if key_variable is None else key_variable
        self._key = (api_key or (os.environ.get(variable) if variable else "") or "").strip()
        if not self._key.isascii() or not self._key.isprintable():
            raise ConfigError(f"{variable} has characters that no key has; copy it again")
        if key_variable and not self._key:
            raise ConfigError(f"openai:{name}: the variable {key_variable} of its key is not set; set it")
        self._extra = dict(body or {})
        self._mask = ApiKey(self._key)
        self._session: aiohttp.ClientSession | None = None
        self._users = 0
        self._opening: asyncio.Task[None] | None = None
        self._url = f"{self.base_url}/chat/completions"
        headers = {"Content-Type": "application/json", "User-Agent": "mores"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._arguments = arguments_for(self.base_url, headers)
        self._length_field = "max_tokens"
        self._no_logprobs = False
        self._served: list[str] = []
        """The models that the server lists."""

    @property
    def served(self) -> list[str]:
        """The models that the server listed when it was entered; empty where it lists none."""
        return self._served

    @property
    def style(self) -> Style | None:
        return None

    @property
    def name(self) -> str:
        return f"openai:{self.model}"

    @property
    def identity(self) -> str:
        return f"{self.name}@{self.base_url}"

    @property
    def concurrency(self) -> int:
        return 32

    async def __aenter__(self) -> Self:
        """Open at the first entry; further runs at the same time share the connection."""
        self._users += 1
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        try:
            await asyncio.shield(self._opening)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._users -= 1
        if self._users == 0 and self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
            self._opening = None
            await self._close()

    async def _open(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT),
        )
        await self._greet()

    async def _close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def complete(self, request: Request) -> Completion:
        """Return one attempt; see `mores.errors` for what it raises."""
        sent = self.body(request)
        status, headers, body = await self._post(orjson.dumps(sent))
        if status == 200:
            return read_completion(body)
        problem = read_error(body)
        if status in (400, 403, 422) and self._adapt(problem, sent):
            return await self.complete(request)
        raise self._refusal(status, headers, problem)

    def body(self, request: Request) -> dict[str, Any]:
        """Return the request as the protocol writes it."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": content} for role, content in request.messages],
            self._length_field: request.max_tokens,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.top_p != 1.0:
            body["top_p"] = request.top_p
        if request.top_k is not None:
            body["top_k"] = request.top_k
        if request.seed is not None:
            body["seed"] = request.dice
        if request.logprobs and not self._no_logprobs:
            body["logprobs"] = True
            if request.alternatives:
                body["top_logprobs"] = request.alternatives
        if request.schema is not None:
            schema = {"name": "report", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body | self._extra

    async def _post(self, payload: bytes) -> tuple[int, Any, bytes]:
        assert self._session is not None, "the model is entered before it is asked"
        try:
            async with self._session.post(self._url, data=payload, **self._arguments) as response:
                body = await read_body(response, MOST_BYTES)
                return response.status, response.headers, self._mask.masked_body(body)
        except aiohttp.ClientError as exc:
            raise Transient(f"{self.base_url}: {self._describe(exc)}", down=True, of_text=_of_text(exc)) from exc

    async def _greet(self) -> None:
        """Check that the server can be reached and the key is valid, before a long run starts."""
        assert self._session is not None
        timeout = aiohttp.ClientTimeout(total=_CONNECT_TIMEOUT)
        try:
            async with self._session.get(f"{self.base_url}/models", timeout=timeout, **self._arguments) as response:
                if response.status == 401:  # with 403 a key may still chat, though not list models
                    body = self._mask.masked_body(await read_body(response, MOST_BYTES))
                    raise self._refusal(response.status, response.headers, read_error(body))
                if response.status == 200:
                    self._served = read_names(await read_body(response, MOST_BYTES))
        except aiohttp.ClientConnectorError as exc:
            raise ModelError(
                f"cannot reach {self.base_url}: {self._describe(exc)};"
                " start the server, or give its address, for example in OPENAI_BASE_URL",
                setting="base_url",
            ) from exc
        except (aiohttp.ClientError, TimeoutError, Transient):
            pass  # a server without that route, or a slow one: the first real call will tell

    def _adapt(self, problem: dict[str, Any], sent: dict[str, Any]) -> bool:
        """Ask a model accordingly that has another name for the length limit, or returns no log-probabilities.

        What counts is what this request asked: others under way may have found out meanwhile.
        """
        text = f"{problem.get('param') or ''} {problem['message']}"
        if "max_tokens" in sent and "max_completion_tokens" in text:
            self._length_field = "max_completion_tokens"
            return True
        if "logprobs" in sent and "logprobs" in text:
            self._no_logprobs = True
            return True
        return False

    def _refusal(self, status: int, headers: Any, problem: dict[str, Any]) -> ModelError:
        message = f"{self.base_url}: HTTP {status}: {problem['message']}"
        if 300 <= status < 400:  # following it would send texts and key where the user did not mean them to go
            target = self._mask.masked(headers.get("Location", "somewhere else"))
            return ModelError(f"{self.base_url} redirects to {target}; give the correct address", setting="base_url")
        if status == 403:
            return ModelError(f"{message}; check what OPENAI_API_KEY may use, and what the server allows")
        if status == 401:
            reason = "refused the key" if self._key else "requires a key, and none is set"
            return ModelError(f"{message}; the server {reason}: set OPENAI_API_KEY to a valid one")
        if status == 402 or problem.get("code") == "insufficient_quota":
            return ModelError(f"{message}; the account has too little credit left", account=True)
        if status == 404 or problem.get("code") == "model_not_found":
            hint = "" if self.model in self._served else suggest(self.model, self._served, before="openai:")
            return ModelError(f"{message}; {hint}check the model's name and the base URL")
        if status == 400 and problem.get("code") in ("unsupported_parameter", "unsupported_value"):
            return ModelError(f"{message}; change the temperature or the seed, which this model does not accept")
        if status in _LATER:
            wait = read_wait(headers.get("Retry-After"), headers.get("Date"))
            if wait is not None and wait > LONGEST_WAIT:
                return ModelError(f"{message}; the server asks to wait {wait:,.0f} s: run again then")
            return Transient(message, overload=status in _OVERLOADED, down=status in _DOWN, retry_after=wait)
        if status >= 500:
            return Transient(message)
        return Rejected(message, final=status in _FINAL)

    def _describe(self, exc: Exception) -> str:
        return self._mask.masked(str(exc) or type(exc).__name__)


def _of_text(exc: aiohttp.ClientError) -> bool:
    """Return whether a connection broke that had been made: the text may be the reason."""
    return not isinstance(exc, aiohttp.ClientConnectorError)


def read_completion(body: bytes) -> Completion:
    """Return the answer in a 200 body; anything else in it is an error that may pass."""
    try:
        data = read_json(body)
        choice = data["choices"][0] if data.get("choices") else {}
        if error := data.get("error") or choice.get("error"):
            problem = read_error(orjson.dumps({"error": error}))
            busy = problem.get("code") in _OVERLOADED
            raise Transient(f"an error in a 200 answer: {problem['message']}", overload=busy, of_text=True)
        message = data["choices"][0]["message"]
        usage = data.get("usage") or {}
        stop = choice.get("finish_reason") or "stop"
        text, refusal = message.get("content") or "", message.get("refusal") or ""
        if not isinstance(text, str) or not isinstance(refusal, str) or not isinstance(stop, str):
            raise TypeError("text and finish reason are strings")
        if stop_of(stop) is Stop.OTHER:
            raise Transient(f"the server ended its answer with {stop[:60]!r}", of_text=True)
        if refusal and not text:
            text, stop = refusal, Stop.REFUSAL.value
        answer, thoughts = split_thoughts(text)
        apart = message.get("reasoning_content") or message.get("reasoning")
        return Completion(
            text=text,
            logprobs=_logprobs(choice.get("logprobs"), answer if thoughts else text, bool(thoughts or apart)),
            stop=stop,
            prompt_tokens=_count(usage.get("prompt_tokens")),
            completion_tokens=_count(usage.get("completion_tokens")),
            alternatives=_alternatives(choice.get("logprobs")),
            thoughts=apart.strip() if isinstance(apart, str) else "",
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as exc:
        start = body[:80].decode("utf-8", "replace")
        raise Transient(f"the server's answer is not a chat completion: {start!r}", of_text=True) from exc


def _logprobs(block: Any, text: str, thought: bool) -> tuple[float, ...] | None:
    """Return the log-probabilities of the tokens of a text; None where they do not cover it.

    After thoughts, they are those from where the text begins.
    """
    try:
        tokens = block["content"]
        if thought:
            tokens = tokens[_start([bytes(token.get("bytes") or token["token"].encode()) for token in tokens], text) :]
        values = tuple([float(token["logprob"]) for token in tokens])
        spelt = sum([len(token.get("bytes") or token["token"].encode()) for token in tokens])
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    covers = spelt >= _COVERED * len(text.encode())
    return values if covers and are_logprobs(values) else None


def _alternatives(block: Any) -> tuple[tuple[str, float], ...] | None:
    """Return what else the first token could have been; None where the server does not say."""
    try:
        rows = block["content"][0]["top_logprobs"]
        pairs = tuple((str(row["token"]), float(row["logprob"])) for row in rows)
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    return pairs if len(pairs) > 1 and are_logprobs([logprob for _, logprob in pairs]) else None


def _start(parts: list[bytes], text: str) -> int:
    """Return the last token from which the tokens spell the text; ValueError when there is none.

    It is found from the end, in reversed bytes: searching takes linear time only forwards.
    """
    spelt, wanted = b"".join(parts), text.strip().encode()
    begins = len(spelt) - spelt[::-1].index(wanted[::-1]) - len(wanted)
    starts = list(accumulate(map(len, parts), initial=0))
    start = bisect_right(starts, begins, hi=len(parts)) - 1
    if spelt[starts[start] : begins].strip():
        raise ValueError("the text begins within a token")
    return start


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**31 else 0


def read_names(body: bytes) -> list[str]:
    """Return the models that a server lists; none where it says something else."""
    try:
        return [str(model["id"]) for model in orjson.loads(body)["data"]]
    except (orjson.JSONDecodeError, KeyError, TypeError, RecursionError):
        return []


def read_error(body: bytes) -> dict[str, Any]:
    """Return the error object of a body in any of the usual shapes, always with a message."""
    try:
        error = orjson.loads(body)
        error = error.get("error", error.get("detail", error))
    except (ValueError, AttributeError):
        error = body[:200].decode("utf-8", "replace").strip()
    reason = (error.get("message") or error) if isinstance(error, dict) else error
    try:
        message = str(reason) or "no reason given"
    except RecursionError:  # lists in lists in lists
        message = body[:200].decode("utf-8", "replace")
    return (error if isinstance(error, dict) else {}) | {"message": message}


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ConfigError(f"base URL {url!r} is not one; expected something like http://localhost:8000/v1")
    if parts.username or parts.password:
        raise ConfigError("the base URL holds a password, which would get into every result; use OPENAI_API_KEY")
    return url.rstrip("/")
