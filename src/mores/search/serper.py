"""`serper`: Google's results through Serper (https://serper.dev): one POST per query, the key in the environment.

`serper` gives the organic results alone, as VeriScore does; `serper:boxes` puts Google's answer box and knowledge
graph before them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
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
from mores.models.http import ApiKey, read_body, read_wait
from mores.search.base import Evidence, Found, Query
from mores.search.clean import clean, evidence, web_address
from mores.search.stream import together
from mores.types import Failure, FailureKind

DEFAULT_BASE_URL = "https://google.serper.dev"
PRICE = 0.001
"""US dollars per credit: Serper's smallest package, 50 dollars for 50,000 (serper.dev, August 2026); larger ones cost
down to 0.0003. CaLMQA paid 510 dollars in all (footnote 10)."""
LIMITS = Limits(concurrency=32, attempts=6, timeout=30.0)
"""The smallest package allows 50 queries per second, and an answer takes one to two seconds."""
MOST = 100
"""Results that can be asked for."""
LONGEST_QUERY = 2_000
LONGEST_WAIT = 120.0
"""Seconds: we do not wait for a server that asks for more."""
_DOWN = {502, 503, 504}
_OVERLOADED = {429, 503}
_LATER = {408, 425} | _OVERLOADED
_MOST_BYTES = 4 << 20
_MOST_ATTRIBUTES = 20

_HL = """
    ach af ak am ar az be bem bg bn br bs ca chr ckb co crs cs cy da de ee el en eo es es-419 et eu fa fi fo fr fy ga
    gaa gd gl gn gu ha haw hi hr ht hu hy ia id ig is it iw ja jw ka kg kk km kn ko kri ku ky la lg ln lo loz lt lua
    lv mfe mg mi mk ml mn mr ms mt my ne nl nn no nso ny nyn oc om or pa pcm pl ps pt pt-br pt-pt qu rm rn ro ru
    rw sd si sk sl sn so sq sr st su sv sw ta te tg th ti tk tl tn to tr tt tum tw ug uk ur uz vi wo xh yi yo
    zh-cn zh-tw zu
"""
HL = frozenset(_HL.split())
"""The languages of Google's own pages, as its `hl` writes them; for others none is sent."""
_OLD_CODES = {"he": "iw", "jv": "jw", "fil": "tl", "nb": "no"}
"""Google keeps codes that ISO 639 has replaced."""
_NO_COUNTRY = {"XK"}


@lru_cache(maxsize=1024)
def hl_of(tag: str | None) -> str | None:
    """Return Google's code of a language; None where it has none, for example Balochi."""
    if tag is None:
        return None
    known = parse_tag(language(tag))
    if known.language in ("zh", "yue"):
        return "zh-tw" if known.maximize().script == "Hant" else "zh-cn"
    if known.language == "es" and known.territory not in (None, "ES"):
        return "es-419"
    base = str(known.language)
    whole = f"{base}-{known.territory}".lower()
    code = whole if whole in HL else _OLD_CODES.get(base, base)
    return code if code in HL else None


def gl_of(query: Query) -> str | None:
    """Return Google's code of a country: the region's, or else that of the language's tag."""
    code = country(query.region) if query.region else parse_tag(language(query.language or "und")).territory
    return code.lower() if code and len(code) == 2 and code not in _NO_COUNTRY else None


def credits_for(k: int) -> int:
    """Return what a query costs in Serper's credits: more than ten results cost double."""
    return 1 if k <= 10 else 2


class Serper:
    """Google through Serper. The key comes from SERPER_API_KEY, the address from MORES_SERPER_URL where it is set."""

    def __init__(
        self,
        boxes: bool = False,
        base_url: str | None = None,
        limits: Limits | None = None,
        counts: Counts | None = None,
    ) -> None:
        self.name = "serper:boxes" if boxes else "serper"
        self.base_url = _checked_url(base_url or os.environ.get("MORES_SERPER_URL") or DEFAULT_BASE_URL)
        self.identity = f"{self.name}@{self.base_url}"
        self.counts = counts or Counts()
        self._boxes = boxes
        self._key = (os.environ.get("SERPER_API_KEY") or "").strip()
        if not self._key:
            raise ConfigError(
                "serper needs a key: set SERPER_API_KEY (from https://serper.dev),"
                " or search your own documents with corpus:PATH"
            )
        if not self._key.isascii() or not self._key.isprintable():
            raise ConfigError("SERPER_API_KEY has characters that no key has; copy it again")
        self._mask = ApiKey(self._key)
        self._limits = limits or LIMITS
        self._timeout = self._limits.timeout or LIMITS.timeout
        self._throttle = Throttle(self._limits, self._limits.concurrency or LIMITS.concurrency or 1)
        self._session: aiohttp.ClientSession | None = None
        self._patience = Patience(self._limits, self.counts)

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return at most k results for each query; raise for a refused key or an empty account, not for others."""
        if not 1 <= k <= MOST:
            raise ConfigError(f"serper: {k} results cannot be asked for; choose from 1 to {MOST}")
        return await together(self._find_one(query, k) for query in queries)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _find_one(self, query: Query, k: int) -> Found:
        text = clean(query.text, LONGEST_QUERY + 1)
        if not text or len(text) > LONGEST_QUERY:
            what = "nothing to search for" if not text else f"longer than {LONGEST_QUERY} characters"
            return _failed(FailureKind.INPUT, f"serper: the query is {what}")
        codes = {"gl": gl_of(query), "hl": hl_of(query.language)}
        payload = orjson.dumps({"q": text, "num": k} | {name: code for name, code in codes.items() if code})
        tries = Tries()
        while isinstance(outcome := await self._attempt(payload, tries), Transient):
            if not await self._patience.another(tries, outcome):
                return _failed(FailureKind.MODEL, self._patience.gave_up(self.name, tries, outcome))
        if isinstance(outcome, str):
            return _failed(FailureKind.MODEL, outcome)
        self.counts.calls += 1
        return Found(evidence=tuple(outcome)[:k])

    async def _attempt(self, payload: bytes, tries: Tries) -> list[Evidence] | str | Transient:
        """Return what was found, the reason for a refusal, or a problem that may pass; raises what stops the run."""
        tries.started = await self._throttle.acquire(0)
        try:
            async with asyncio.timeout(self._timeout):
                status, headers, body = await self._post(payload)
        except TimeoutError:
            return Transient(f"serper: no answer within {self._timeout:g} s")
        except Transient as exc:
            return exc
        except aiohttp.ClientError as exc:
            reason = self._mask.masked(str(exc) or type(exc).__name__)
            return Transient(f"serper: {self.base_url}: {reason}", down=True)
        finally:
            self._throttle.release()
        outcome = read_results(body, self._boxes) if status == 200 else self._refusal(status, headers, body)
        if isinstance(outcome, Transient) and outcome.overload:
            self._throttle.overloaded(outcome)
        elif not isinstance(outcome, Transient):
            self._throttle.succeeded(0)
            self._patience.succeeded()
        return outcome

    async def _post(self, payload: bytes) -> tuple[int, Any, bytes]:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                headers={"X-API-KEY": self._key, "Content-Type": "application/json", "User-Agent": "mores"},
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=10.0),
                trust_env=urlsplit(self.base_url).hostname not in ("localhost", "127.0.0.1", "::1"),
            )
        # A redirect would take the key where the user did not mean it to go.
        async with self._session.post(f"{self.base_url}/search", data=payload, allow_redirects=False) as response:
            body = await read_body(response, _MOST_BYTES)
            return response.status, response.headers, self._mask.masked_body(body)

    def _refusal(self, status: int, headers: Any, body: bytes) -> str | Transient:
        answer = _loaded(body)
        text = answer.get("message") if isinstance(answer, dict) else body.decode("utf-8", "replace")
        reason = clean(text, 200) or "no reason given"
        message = f"serper: HTTP {status}: {reason}"
        if status in (401, 403):
            raise ConfigError(f"{message}; the key was refused: set SERPER_API_KEY to a valid one")
        if status == 402 or "credits" in reason.lower():
            raise ModelError(f"{message}; buy credits and rerun; results are saved")
        if 300 <= status < 400 or status == 404:
            raise ModelError(f"{message}; {self.base_url} is not Serper: check MORES_SERPER_URL")
        if status in _LATER or status >= 500:
            wait = read_wait(headers.get("Retry-After"), headers.get("Date"))
            if wait is not None and wait > LONGEST_WAIT:
                raise ModelError(f"{message}; the server asks to wait {wait:,.0f} s: run again then")
            return Transient(message, overload=status in _OVERLOADED, down=status in _DOWN, retry_after=wait)
        return message


def read_results(body: bytes, boxes: bool) -> list[Evidence] | Transient:
    """Return the results in an answer, with those in boxes beside them if wanted; anything else may pass."""
    answer = _loaded(body)
    if not isinstance(answer, dict) or not isinstance(answer.get("organic", []), list):
        return Transient(f"serper: not search results: {body[:80].decode('utf-8', 'replace')!r}")
    rows = [*_boxed(answer)] if boxes else []
    rows += [row for row in answer.get("organic", []) if isinstance(row, dict)]
    pieces = [
        evidence(row.get("snippet"), row.get("title"), web_address(row.get("link")), row.get("date")) for row in rows
    ]
    return [piece for piece in pieces if piece is not None]


def _loaded(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def _boxed(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the answer box and the knowledge graph in the form of a result."""
    if isinstance(box := answer.get("answerBox"), dict):
        parts = [clean(box.get(part), 1_000) for part in ("answer", "snippet")]
        yield box | {"snippet": " ".join(filter(None, parts))}
    if isinstance(graph := answer.get("knowledgeGraph"), dict):
        yield {
            "title": graph.get("title"),
            "snippet": ". ".join(filter(None, _known(graph))),
            "link": graph.get("descriptionLink") or graph.get("website"),
        }


def _known(graph: dict[str, Any]) -> Iterator[str]:
    yield clean(graph.get("type"), 100)
    yield clean(graph.get("description"), 1_000).rstrip(".")
    attributes = graph.get("attributes")
    if isinstance(attributes, dict):
        for name, value in list(attributes.items())[:_MOST_ATTRIBUTES]:
            yield f"{clean(name, 100)}: {clean(value, 200)}"


def _failed(kind: FailureKind, reason: str) -> Found:
    return Found(failure=Failure(kind=kind, reason=reason))


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        known = False
    if not known:
        raise ConfigError(f"MORES_SERPER_URL {url!r} is not an address; expected one like {DEFAULT_BASE_URL}")
    if parts.username or parts.password:
        raise ConfigError("MORES_SERPER_URL holds a password, which would get into every result; use SERPER_API_KEY")
    return url.rstrip("/").removesuffix("/search")
