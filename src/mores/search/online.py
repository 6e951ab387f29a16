"""A search of the web: one request per query to a provider, with patience; the key is in the environment.

Each provider says what to send and how to read what comes back (`Provider`); `serper.py` and `providers.py` have them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from mores.culture import country, language
from mores.culture.languages import parse_tag
from mores.engine import Counts, Limits
from mores.engine.limits import Throttle
from mores.engine.patience import Patience, Tries
from mores.errors import ConfigError, ModelError, Transient
from mores.models.http import ApiKey, arguments_for, read_body, read_wait
from mores.search.base import Evidence, Found, Query
from mores.search.clean import clean
from mores.search.stream import together
from mores.types import Failure, FailureKind

LIMITS = Limits(concurrency=32, attempts=6, timeout=30.0)
"""Serper's smallest package allows 50 queries per second, and an answer takes one to two seconds."""
LONGEST_QUERY = 2_000
LONGEST_WAIT = 120.0
"""Seconds: we do not wait for a server that asks for more."""
_DOWN = {502, 503, 504}
_OVERLOADED = {429, 503}
_LATER = {408, 425} | _OVERLOADED
_MOST_BYTES = 4 << 20


class WebRequest:
    """A request for a query: a POST with a JSON body, or a GET with parameters."""

    def __init__(self, path: str, body: Mapping[str, Any] | None = None, **parameters: Any) -> None:
        self.path = path
        self.data = None if body is None else orjson.dumps({name: v for name, v in body.items() if v is not None})
        self.parameters = {name: str(value) for name, value in parameters.items() if value is not None}

    @property
    def method(self) -> str:
        """The method of HTTP."""
        return "GET" if self.data is None else "POST"


@dataclass(frozen=True)
class Provider:
    """A web search that is asked over HTTP."""

    name: str
    """As the user writes it."""
    title: str
    variable: str
    """The variable of the environment with the address, where it is another than `base_url`."""
    ask: Callable[[str, Query, int], WebRequest]
    """What is sent for a query, for so many results."""
    read: Callable[[bytes], list[Evidence] | Transient]
    """The results in an answer; anything else may pass."""
    base_url: str = ""
    """Empty where the user names it."""
    key: str = ""
    """The variable of the environment with the key; empty where none is needed."""
    homepage: str = ""
    headers: Callable[[str], Mapping[str, str]] = lambda _key: {}
    """What is sent with every request, given the key."""
    most: int = 100
    """Results that can be asked for."""
    longest: int = LONGEST_QUERY
    """Characters of a query."""
    cut: int = 0
    """Words to which a longer query is cut; 0 where it is refused."""
    price: Callable[[int], float] = lambda _k: 0.0
    """US dollars for a query with so many results."""
    explain: Callable[[Any], object] = lambda answer: answer.get("message")
    """The reason in an answer that refuses."""
    refused: frozenset[str] = frozenset()
    """Words in the reason that say that the key is not valid, besides the statuses 401 and 403."""
    spent: frozenset[str] = field(default=frozenset({"credits"}))
    """Words in the reason that say that nothing is left to pay with, besides the status 402."""
    forbidden: str = ""
    """What a status of 403 means where it is not about a key."""


def country_of(query: Query) -> str | None:
    """Return the ISO 3166-1 code of a query's country: the region's, or else that of the language's tag."""
    code = country(query.region) if query.region else parse_tag(language(query.language or "und")).territory
    return code if code and len(code) == 2 and code != "XK" else None


class WebSearch:
    """A provider's search."""

    def __init__(
        self,
        provider: Provider,
        base_url: str | None = None,
        limits: Limits | None = None,
        counts: Counts | None = None,
    ) -> None:
        self.name = provider.name
        self.provider = provider
        self.base_url = _checked_url(provider, base_url or os.environ.get(provider.variable) or provider.base_url)
        self.identity = f"{self.name}@{self.base_url}"
        self.counts = counts or Counts()
        self._key = (os.environ.get(provider.key) or "").strip() if provider.key else ""
        if provider.key and not self._key:
            raise ConfigError(
                f"{self._kind} needs a key: set {provider.key} (from {provider.homepage}),"
                " or search your own documents with corpus:PATH"
            )
        if not self._key.isascii() or not (self._key.isprintable()):
            raise ConfigError(f"{provider.key} has characters that no key has; copy it again")
        self._mask = ApiKey(self._key)
        self._arguments = arguments_for(self.base_url, {**provider.headers(self._key), "User-Agent": "mores"})
        self._limits = limits or LIMITS
        self._timeout = self._limits.timeout or LIMITS.timeout
        self._throttle = Throttle(self._limits, self._limits.concurrency or LIMITS.concurrency or 1)
        self._session: aiohttp.ClientSession | None = None
        self._patience = Patience(self._limits, self.counts)

    @property
    def _kind(self) -> str:
        return self.name.partition(":")[0]

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return at most k results for each query; raise for a refused key or an empty account, not for others."""
        most = self.provider.most
        if not 1 <= k <= most:
            raise ConfigError(f"{self._kind}: {k} results cannot be asked for; choose from 1 to {most}")
        return await together(self._find_one(query, k) for query in queries)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _find_one(self, query: Query, k: int) -> Found:
        longest, words = self.provider.longest, self.provider.cut
        text = clean(query.text, longest + 1) if not words else _cut(clean(query.text, LONGEST_QUERY), longest, words)
        if not text or len(text) > longest:
            what = "nothing to search for" if not text else f"longer than {longest} characters"
            return _failed(FailureKind.INPUT, f"{self._kind}: the query is {what}")
        request = self.provider.ask(text, query, k)
        tries = Tries()
        while isinstance(outcome := await self._attempt(request, tries), Transient):
            if not await self._patience.another(tries, outcome):
                return _failed(FailureKind.MODEL, self._patience.gave_up(self.name, tries, outcome))
        if isinstance(outcome, str):
            return _failed(FailureKind.MODEL, outcome)
        self.counts.calls += 1
        return Found(evidence=tuple(outcome)[:k])

    async def _attempt(self, request: WebRequest, tries: Tries) -> list[Evidence] | str | Transient:
        """Return what was found, the reason for a refusal, or a problem that may pass; raises what stops the run."""
        tries.started = await self._throttle.acquire(0)
        try:
            async with asyncio.timeout(self._timeout):
                status, headers, body = await self._send(request)
            outcome = self.provider.read(body) if status == 200 else self._refusal(status, headers, body)
            if isinstance(outcome, Transient) and outcome.overload:
                self._throttle.overloaded(outcome)
            elif not isinstance(outcome, Transient):
                self._throttle.succeeded(0)
                self._patience.succeeded()
            return outcome
        except TimeoutError:
            return Transient(f"{self._kind}: no answer within {self._timeout:g} s")
        except Transient as exc:
            return exc
        except aiohttp.ClientError as exc:
            reason = self._mask.masked(str(exc) or type(exc).__name__)
            return Transient(f"{self._kind}: {self.base_url}: {reason}", down=True)
        finally:
            self._throttle.release()

    async def _send(self, request: WebRequest) -> tuple[int, Any, bytes]:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=10.0),
            )
        sent: dict[str, Any] = {"data": request.data} if request.data is not None else {"params": request.parameters}
        address = f"{self.base_url}{request.path}"
        async with self._session.request(request.method, address, **sent, **self._arguments) as response:
            body = await read_body(response, _MOST_BYTES)
            return response.status, response.headers, self._mask.masked_body(body)

    def _refusal(self, status: int, headers: Any, body: bytes) -> str | Transient:
        provider, answer = self.provider, loaded(body)
        text = provider.explain(answer) if isinstance(answer, dict) else body.decode("utf-8", "replace")
        reason = clean(text, 200) or "no reason given"
        message = f"{self._kind}: HTTP {status}: {reason}"
        if status == 403 and provider.forbidden:
            raise ConfigError(f"{message}; {provider.forbidden}")
        if status in (401, 403) or any(word in reason for word in provider.refused):
            raise ConfigError(f"{message}; the key was refused: set {provider.key} to a valid one")
        if status == 402 or any(word in reason.lower() for word in provider.spent):
            raise ModelError(f"{message}; buy credits and rerun; results are saved")
        if 300 <= status < 400 or status == 404:
            raise ModelError(f"{message}; {self.base_url} is not {provider.title}: check {provider.variable}")
        if status in _LATER or status >= 500:
            wait = read_wait(headers.get("Retry-After"), headers.get("Date"))
            if wait is not None and wait > LONGEST_WAIT:
                raise ModelError(f"{message}; the server asks to wait {wait:,.0f} s: run again then")
            return Transient(message, overload=status in _OVERLOADED, down=status in _DOWN, retry_after=wait)
        return message


def loaded(body: bytes) -> Any:
    """Return the JSON of a body; None where it is none."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def not_results(name: str, body: bytes) -> Transient:
    """Return the problem of an answer that has no results in it."""
    return Transient(f"{name}: not search results: {body[:80].decode('utf-8', 'replace')!r}")


def _cut(text: str, longest: int, words: int) -> str:
    """Return the beginning of a text, at the end of a word."""
    kept = " ".join(text.split()[:words])
    return kept if len(kept) <= longest else kept[: longest + 1].rpartition(" ")[0] or kept[:longest]


def _failed(kind: FailureKind, reason: str) -> Found:
    return Found(failure=Failure(kind=kind, reason=reason))


def _checked_url(provider: Provider, url: str) -> str:
    if not url:
        raise ConfigError(f"{provider.name} needs an address: set {provider.variable} to that of your instance")
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        known = False
    if not known:
        expected = provider.base_url or "http://localhost:8888"
        raise ConfigError(f"{provider.variable} {url!r} is not an address; expected one like {expected}")
    if parts.username or parts.password:
        fix = f"use {provider.key}" if provider.key else "leave it out"
        raise ConfigError(f"{provider.variable} holds a password, which would get into every result; {fix}")
    return url.rstrip("/").removesuffix("/search")
