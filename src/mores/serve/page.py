"""The page at `/`: a form to try the service, and its API in short, made from the OpenAPI document."""

from __future__ import annotations

from functools import cache
from secrets import token_urlsafe

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from mores.serve.openapi import FIELDS
from mores.serve.settings import Bounds


@cache
def _template() -> Template:
    loader = PackageLoader("mores.serve", "")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("page.html.j2")


def page_of(app: FastAPI, bounds: Bounds, *, keys: bool) -> HTMLResponse:
    """Return the page; its policy allows the script and the style in it, and requests to this service."""
    nonce = token_urlsafe(16)
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; connect-src 'self';"
        " form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    html = _template().render(api=app.openapi(), fields=FIELDS, bounds=bounds, keys=keys, nonce=nonce)
    return HTMLResponse(html, headers={"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"})
