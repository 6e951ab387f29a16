"""`openai:NAME`: any server that speaks the OpenAI chat protocol (vLLM, SGLang, llama.cpp, Ollama, hosted ones)."""

from __future__ import annotations

import math
import os
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
import orjson

from mores.errors import ConfigError, ModelError, Rejected, Transient
from mores.models.base import Completion, Request

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_OVERLOADED = {429, 503, 529}
_LATER = {408, 409, 425, 500, 502, 504} | _OVERLOADED
_CONNECT_TIMEOUT = 10.0


class OpenAIModel:
    """A chat model behind a base URL. The key comes from the environment: OPENAI_API_KEY."""

    constrained = False
    timeout = 300.0
    warning: str | None = None

    def __init__(self, name: str, base_url: str | None = None, api_key: str | None = None) -> None:
        if not name:
            raise ConfigError("openai: needs a model name, for example openai:gpt-4.1-mini")
        self.model = name
        self.base_url = _checked_url(base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
        self._key = api_key or os.environ.get("OPENAI_API_KEY")
        self._session: aiohttp.ClientSession | None = None
        self._url = f"{self.base_url}/chat/completions"
        self._length_field = "max_tokens"
        self._no_logprobs = False

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
        headers = {"Content-Type": "application/json", "User-Agent": "mores"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT),
        )
        try:
            await self._greet()
        except BaseException:
            await self._session.close()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def complete(self, request: Request) -> Completion:
        """One attempt; see `mores.errors` for what it raises."""
        status, headers, body = await self._post(orjson.dumps(self.body(request)))
        if status == 200:
            return read_completion(body)
        problem = _error_of(body)
        if status == 400 and self._adapt(problem, request):
            return await self.complete(request)
        raise self._refusal(status, headers, problem)

    def body(self, request: Request) -> dict[str, Any]:
        """The request as the protocol writes it."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": content} for role, content in request.messages],
            self._length_field: request.max_tokens,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.top_p != 1.0:
            body["top_p"] = request.top_p
        if request.seed is not None:
            body["seed"] = request.seed
        if request.logprobs and not self._no_logprobs:
            body["logprobs"] = True
        if request.schema is not None:
            schema = {"name": "report", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    async def _post(self, payload: bytes) -> tuple[int, Any, bytes]:
        assert self._session is not None, "the model is entered before it is asked"
        try:
            async with self._session.post(self._url, data=payload, allow_redirects=False) as response:
                return response.status, response.headers, await response.read()
        except aiohttp.ClientError as exc:
            raise Transient(f"{self.base_url}: {_describe(exc)}") from exc

    async def _greet(self) -> None:
        """Find out at once that the server is not there or the key is wrong, before a long run starts."""
        assert self._session is not None
        timeout = aiohttp.ClientTimeout(total=_CONNECT_TIMEOUT)
        try:
            async with self._session.get(f"{self.base_url}/models", timeout=timeout) as response:
                if response.status in (401, 403):
                    raise self._refusal(response.status, response.headers, _error_of(await response.read()))
        except aiohttp.ClientConnectorError as exc:
            raise ModelError(
                f"cannot reach {self.base_url}: {_describe(exc)};"
                " start the server, or give its address with --base-url or OPENAI_BASE_URL"
            ) from exc
        except (aiohttp.ClientError, TimeoutError):
            pass  # a server without that route, or a slow one: the first real call will tell

    def _adapt(self, problem: dict[str, Any], request: Request) -> bool:
        """Some models name the length limit otherwise, or give no log-probabilities: ask them as they want."""
        text = f"{problem.get('param') or ''} {problem['message']}"
        if "max_completion_tokens" in text and self._length_field == "max_tokens":
            self._length_field = "max_completion_tokens"
            return True
        if re.search(r"logprobs", text) and request.logprobs and not self._no_logprobs:
            self._no_logprobs = True
            return True
        return False

    def _refusal(self, status: int, headers: Any, problem: dict[str, Any]) -> ModelError:
        message = f"{self.base_url}: HTTP {status}: {problem['message']}"
        if 300 <= status < 400:  # following it would send texts and key where the user did not mean them to go
            target = headers.get("Location", "somewhere else")
            return ModelError(f"{self.base_url} redirects to {target}; give the right address with --base-url")
        if status in (401, 403):
            had = "refused the key" if self._key else "wants a key, and none is set"
            return ModelError(f"{message}; the server {had}: set OPENAI_API_KEY to a valid one")
        if status in (402, 404) or problem.get("code") in ("insufficient_quota", "model_not_found"):
            return ModelError(f"{message}; check the model's name, the base URL and the account")
        if status == 400 and problem.get("code") in ("unsupported_parameter", "unsupported_value"):
            return ModelError(f"{message}; a value of the run is not allowed by this model (see --temperature)")
        if status in _LATER:
            wait = _retry_after(headers.get("Retry-After"))
            return Transient(message, overload=status in _OVERLOADED, retry_after=wait)
        if status >= 500:
            return Transient(message)
        return Rejected(message)


def read_completion(body: bytes) -> Completion:
    """The answer in a 200 body; anything else in it is an error that may pass."""
    try:
        data = orjson.loads(body)
        if data.get("error"):
            problem = _error_of(body)
            busy = problem.get("code") in _OVERLOADED
            raise Transient(f"an error in a 200 answer: {problem['message']}", overload=busy)
        choice = data["choices"][0]
        message = choice["message"]
        usage = data.get("usage") or {}
        return Completion(
            text=message.get("content") or message.get("refusal") or "",
            logprobs=_logprobs(choice.get("logprobs")),
            stop=choice.get("finish_reason") or "stop",
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as exc:
        shown = body[:80].decode("utf-8", "replace")
        raise Transient(f"the server's answer is not a chat completion: {shown!r}") from exc


def _logprobs(block: Any) -> tuple[float, ...] | None:
    tokens = (block or {}).get("content")
    if not tokens:
        return None
    values = tuple(float(token["logprob"]) for token in tokens)
    return values if all(map(math.isfinite, values)) else None


def _error_of(body: bytes) -> dict[str, Any]:
    """The error object of a body in any of the usual shapes, always with a message."""
    try:
        error = orjson.loads(body)
        error = error.get("error", error.get("detail", error))
    except (ValueError, AttributeError):
        error = body[:200].decode("utf-8", "replace").strip()
    if not isinstance(error, dict):
        return {"message": str(error) or "no reason given"}
    return error | {"message": str(error.get("message") or error)}


def _retry_after(value: str | None) -> float | None:
    """Seconds from a Retry-After header, which is a number or a date."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"base URL {url!r} is not one; expected something like http://localhost:8000/v1")
    return url.rstrip("/")


def _describe(exc: Exception) -> str:
    return str(exc) or type(exc).__name__
