"""Reads responses safely: never beyond a limit, and never with the user's key in them."""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson

from mores.errors import ConfigError, Transient
from mores.io.addresses import HERE

MASK = "…"
_SHORTEST = 8
_SHORTEST_WORD = 20
"""Shorter ones, and words such as `anything`, are placeholders for servers without keys, and may occur in an answer."""

_SPELT = re.compile(rb"\\u00[2-7]")
"""JSON's escapes of letters that a key may have, unlike those of accents."""


def arguments_for(address: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return aiohttp's arguments of every request to a server, with the proxy that the environment names for it.

    With `trust_env` aiohttp would look for the proxy in another thread at every request, and in ~/.netrc for a password
    that it then refuses beside a key: that takes as long as the request itself. Headers are not those of the session,
    because aiohttp sends these to the proxy as well, with the key as if it were the proxy's password.
    """
    # A redirect would take texts and key where the user did not mean them to go.
    arguments: dict[str, Any] = {"headers": {**headers}, "allow_redirects": False}
    server = urlsplit(address)
    proxy = getproxies().get(server.scheme)
    if not proxy or server.hostname in HERE or proxy_bypass(server.netloc):
        return arguments
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme not in ("http", "https"):
        variable = f"{server.scheme.upper()}_PROXY"
        raise ConfigError(f"{variable} names a proxy of the kind {parts.scheme}; only http and https can be used")
    arguments["proxy"] = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    if parts.username is not None:
        secret = b64encode(f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()).decode()
        # A tunnel is asked for in a request to the proxy alone; without one, it reads the request to the server.
        where = arguments.setdefault("proxy_headers" if server.scheme == "https" else "headers", {})
        where["Proxy-Authorization"] = f"Basic {secret}"
    return arguments


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Return the body of an answer; what is longer than `most` bytes is not read to its end."""
    if (
        response.content_length is not None
        and response.content_length <= most
        and "Content-Encoding" not in response.headers
    ):
        return await response.read()
    body = bytearray()
    if (response.content_length or 0) <= most:
        async for chunk in response.content.iter_chunked(1 << 16):
            body += chunk
            if len(body) > most:
                break
        else:
            return bytes(body)
    raise Transient(
        f"{response.url.origin()}: HTTP {response.status} with more than {most >> 20} MB, which is not an answer"
    )


def read_json(body: bytes) -> Any:
    """Return the JSON in a body.

    NaN and infinity, which Python's servers write and JSON does not know, are read as null.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            return orjson.loads(orjson.dumps(json.loads(body, parse_constant=lambda _: None)))
        except (RecursionError, TypeError) as exc:
            raise ValueError("not JSON") from exc


def read_wait(retry_after: str | None, date: str | None = None) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date; `date` has the server's clock."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
        return None if math.isnan(seconds) else max(0.0, seconds)
    except ValueError:
        pass
    until, now = _read_date(retry_after), _read_date(date or "") or datetime.now(UTC)
    return None if until is None else max(0.0, (until - now).total_seconds())


def _read_date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


class ApiKey:
    """The user's key, which some servers repeat in their errors: it is removed from every response."""

    def __init__(self, key: str) -> None:
        secret = len(key) >= (_SHORTEST_WORD if key.isalpha() else _SHORTEST)
        forms = {key, orjson.dumps(key)[1:-1].decode(), *_encoded(key)} if secret else set[str]()
        longest_first = sorted(forms, key=len, reverse=True)
        self._forms = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if forms else None
        self._bytes = re.compile(self._forms.pattern.encode(), re.IGNORECASE) if self._forms else None
        self._sought = [form.lower().encode() for form in longest_first]

    def masked(self, text: str) -> str:
        """Return a text without the key."""
        return self._forms.sub(MASK, text) if self._forms else text

    def masked_body(self, body: bytes) -> bytes:
        """Return a body without the key, also where JSON spells it with escapes, or it is encoded."""
        if self._bytes is None:
            return body
        if b"\\/" in body or (b"\\u00" in body and _SPELT.search(body)):
            with suppress(ValueError, TypeError):  # it is no JSON, or nested deeper than can be written
                body = orjson.dumps(read_json(body))
        lowered = body.lower()  # hardly any body has the key, and the expression takes a hundred times as long
        return self._bytes.sub(MASK.encode(), body) if any(form in lowered for form in self._sought) else body


def _encoded(key: str) -> Iterator[str]:
    """Yield how a server may spell a key: in percent signs, hexadecimal, and base64 from each of its three offsets.

    Of base64, the characters that depend on what stands beside the key are left out.
    """
    yield from (quote(key), quote(key, safe=""))
    yield "".join(f"%{byte:02x}" for byte in key.encode())
    yield key.encode().hex()
    for offset in range(3):
        whole = b64encode(b"\0" * offset + key.encode()).decode()
        inner = whole[-(-8 * offset // 6) : len(whole.rstrip("=")) - bool((offset + len(key)) % 3)]
        yield inner
        yield inner.translate({ord("+"): "-", ord("/"): "_"})
