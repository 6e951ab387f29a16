"""Protection of the studio from a hostile world: headers, tokens against forged requests, limits."""

from __future__ import annotations

import hmac
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from secrets import compare_digest
from threading import Lock

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mores.studio.phrase import Phrase

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "worker-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""What browsers should know about every answer."""
HTTPS_ONLY = "max-age=31536000"
"""For a year browsers come by HTTPS only, once they did; sent by HTTPS alone."""
LONGEST_BODY = 1_000_000
LONGEST_UPLOAD = 50_000_000
UPLOADS = ("/import", "/campaigns", "/participants")
"""How the paths end to which whole files are sent."""
TOKEN_FIELD = "csrf"
TOKEN_HEADER = "x-csrf-token"
_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,255})(:[0-9]{1,5})?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
FORGET_SECONDS = 3600
"""After that a shared bucket is full again, and forgotten."""
BROKEN = "Something went wrong on our side. What you sent before is safe; please try again."


class Guard:
    """ASGI middleware: headers with every answer, also after a failure; bodies that are too long are cut off."""

    def __init__(self, app: ASGIApp, root: str = "") -> None:
        self.app = app
        self.root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        root = scope.get("root_path") or self.root
        scope["root_path"] = root
        if root and not f"{scope['path']}/".startswith(f"{root}/"):  # the server in front took it away
            scope["path"] = root + scope["path"]
        longest = LONGEST_UPLOAD if scope["path"].endswith(UPLOADS) else LONGEST_BODY
        left = longest
        started = False

        async def bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, Phrase("Send at most {count} bytes.", count=longest))
            return message

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                https = {"Strict-Transport-Security": HTTPS_ONLY} if scope.get("scheme") == "https" else {}
                for name, value in (HEADERS | {"Cache-Control": "no-store"} | https).items():
                    headers.setdefault(name, value)
            await send(message)

        answer = refuse(scope, longest)
        try:
            await (answer or self.app)(scope, bounded, guarded)
        except Exception:
            if not started:
                await PlainTextResponse(BROKEN, 500)(scope, bounded, guarded)
            raise  # the server logs it


def refuse(scope: Scope, longest: int) -> Response | None:
    """Return the answer to a request that is not looked at: too long, or to a host whose name is none."""
    given = dict(scope["headers"])
    length = given.get(b"content-length", b"0")
    if not _LENGTH.fullmatch(length) or int(length) > longest:
        return PlainTextResponse(f"Send at most {longest:,} bytes.", 413)
    if not _HOST.fullmatch(given.get(b"host", b"none")):
        return PlainTextResponse("The request names no host.", 400)
    return None


def token_for(key: str, session: str) -> str:
    """Return what a form must carry to be this browser's own."""
    return hmac.new(key.encode(), session.encode("utf-8", "replace"), sha256).hexdigest()


def is_own(key: str, session: str, token: str) -> bool:
    """Return whether a form is this browser's own."""
    return bool(session) and compare_digest(token_for(key, session).encode(), token.encode("utf-8", "replace"))


LIMITS: Mapping[str, tuple[int, int]] = {
    "sign in": (10, 20),
    "account": (5, 10),
    "join": (60, 120),
    "write": (240, 240),
    "ask": (30, 30),
    "read": (1200, 1200),
}
"""How often a minute someone may do something, and how often at once."""


class Limiter:
    """A limit on how often someone may do something: a bucket of `burst` that fills at `per_minute`.

    Passwords are limited by the visitor's address (`sign in`) and by the account (`account`), so that neither one
    machine nor many can guess. Invitations have secrets that nobody can guess, and a whole class may open theirs from
    one address (`join`).
    """

    MOST = 100_000
    """Buckets that are kept; beyond them the one that was used longest ago is forgotten."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def allows(self, action: str, who: str, now: float | None = None) -> bool:
        """Take one from the bucket; False where it is empty."""
        who = who if len(who) <= 64 else sha256(who.encode("utf-8", "replace")).hexdigest()
        per_minute, burst = LIMITS[action]
        moment = time.monotonic() if now is None else now
        with self._lock:
            left, last = self._buckets.pop((action, who), (float(burst), moment))
            left = min(burst, left + (moment - last) * per_minute / 60)
            allowed = left >= 1
            self._buckets[action, who] = (left - 1 if allowed else left, moment)
            if len(self._buckets) > self.MOST:
                self._buckets.popitem(last=False)
        return allowed
