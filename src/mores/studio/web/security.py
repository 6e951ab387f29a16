"""What stands between the studio and a hostile world: headers, tokens against forged requests, limits."""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from hashlib import sha256
from secrets import compare_digest
from threading import Lock
from typing import ClassVar

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
LONGEST_BODY = 1_000_000
LONGEST_UPLOAD = 50_000_000
UPLOADS = ("/import", "/campaigns")
"""How the paths end to which whole files are sent."""
TOKEN_FIELD = "csrf"
TOKEN_HEADER = "x-csrf-token"


class Guard:
    """ASGI middleware: sends the headers with every answer, and cuts off bodies that are too long."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        longest = LONGEST_UPLOAD if scope["path"].endswith(UPLOADS) else LONGEST_BODY
        left = longest

        async def bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, f"Send at most {longest:,} bytes.")
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > longest:
            await guarded({"type": "http.response.start", "status": 413, "headers": [(b"content-type", b"text/plain")]})
            await guarded({"type": "http.response.body", "body": f"Send at most {longest:,} bytes.".encode()})
            return
        await self.app(scope, bounded, guarded)


def token_for(key: str, session: str) -> str:
    """What a form must carry to be this browser's own."""
    return hmac.new(key.encode(), session.encode("utf-8", "replace"), sha256).hexdigest()


def is_own(key: str, session: str, token: str) -> bool:
    """Whether a form is this browser's own."""
    return bool(session) and compare_digest(token_for(key, session).encode(), token.encode("utf-8", "replace"))


class Limiter:
    """How often someone may do something: a bucket of `burst` that fills at `per_minute`."""

    LIMITS: ClassVar = {"sign in": (10, 20), "write": (240, 240), "ask": (30, 30), "read": (1200, 1200)}
    MOST = 100_000

    def __init__(self) -> None:
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def allows(self, action: str, who: str, now: float | None = None) -> bool:
        """Take one from the bucket; False where it is empty."""
        per_minute, burst = self.LIMITS[action]
        moment = time.monotonic() if now is None else now
        with self._lock:
            left, last = self._buckets.pop((action, who), (float(burst), moment))
            left = min(burst, left + (moment - last) * per_minute / 60)
            allowed = left >= 1
            self._buckets[action, who] = (left - 1 if allowed else left, moment)
            if len(self._buckets) > self.MOST:
                self._buckets.popitem(last=False)
        return allowed
