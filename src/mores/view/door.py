"""Access to the viewer: hosts, a token that becomes a cookie, and the origin of what changes something."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import ip_address
from secrets import compare_digest
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "mores_view"
A_YEAR = 365 * 24 * 3600
READING = ("GET", "HEAD")


class Door:
    """ASGI middleware: refuses unknown hosts, visitors without the token, and what other pages send.

    A page elsewhere can make a name of its own lead to this machine (DNS rebinding), so only names that are known are
    answered; an address of digits cannot be made to lead here.
    """

    def __init__(self, app: ASGIApp, token: str, write: bool, hosts: Iterable[str]) -> None:
        self.app, self.token, self.write = app, token, write
        self.hosts = {host.lower() for host in ("localhost", socket.gethostname(), socket.getfqdn(), *hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._refuse(Request(scope)) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, send)

    def _refuse(self, request: Request) -> Response | None:
        if not self._is_known(request.url.hostname or ""):
            name = request.url.hostname
            return PlainTextResponse(f"This viewer does not answer to the name {name}; see allow_host.", 403)
        if self.token and not _same(request.cookies.get(COOKIE, ""), self.token):
            if request.method not in READING or not _same(request.query_params.get("token", ""), self.token):
                return PlainTextResponse("Open the link that was printed when the viewer started.", 401)
            left = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
            clean = request.scope.get("root_path", "") + request.scope["path"] + (f"?{urlencode(left)}" if left else "")
            welcome = RedirectResponse(clean, 303)
            secure = request.url.scheme == "https"
            welcome.set_cookie(COOKIE, self.token, A_YEAR, httponly=True, samesite="lax", secure=secure)
            return welcome
        if request.method in READING:
            return None
        if request.headers.get("origin") != f"{request.url.scheme}://{request.headers.get('host')}":
            return PlainTextResponse("This was not sent by a page of this viewer.", 403)
        if not self.write:
            return PlainTextResponse("This viewer only shows runs; see write.", 403)
        return None

    def _is_known(self, host: str) -> bool:
        try:
            ip_address(host.strip("[]"))
        except ValueError:
            return host.lower() in self.hosts
        return True


def _same(given: str, expected: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), expected.encode())
