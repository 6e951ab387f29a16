"""The studio on a real port, and people with a browser in front of it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from mores.studio.web.visit import COOKIE
from tests.browser import Browser, Page


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The address at which the app is served, in a thread of this process."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < deadline, "the server did not start in time"
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def visitor(browser: Browser, address: str, cookie: str = "", **window: Any) -> Page:
    """A tab of someone who is signed in with this cookie, or of a stranger."""
    page = browser.page(**window)
    if cookie:
        page.send("Network.setCookie", name=COOKIE, value=cookie, url=address)
    return page


def fill(page: Page, **values: Any) -> None:
    """Fill in fields by name, as a person would see it: text is typed, boxes are ticked, several lines in order."""
    for name, value in values.items():
        script = """((name, value) => {
            const values = Array.isArray(value) ? value : [value];
            const fields = [...document.getElementsByName(name)].filter((field) => field.type !== "hidden");
            fields.forEach((field, place) => {
                if (field.type === "checkbox" || field.type === "radio") {
                    if (field.checked !== values.includes(field.value)) field.click();
                } else {
                    field.value = values[place] ?? "";
                    field.dispatchEvent(new Event("input", {bubbles: true}));
                }
            });
            return fields.length;
        })"""
        count = page.evaluate(f"{script}({json.dumps(name)}, {json.dumps(value)})")
        assert count, f"no field {name} on {page.evaluate('location.href')}"


def follow(page: Page, selector: str, timeout: float = 30.0) -> None:
    """Click something that leads to another page, and wait for it."""
    page.evaluate("window.here = true")
    page.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
    page.wait("!window.here && document.readyState === 'complete'", timeout)
