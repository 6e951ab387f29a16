"""The browser that other tests drive: a page is there when its own load has ended."""

from __future__ import annotations

import time
from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, StreamingResponse

from tests.browser import Browser
from tests.serving import serving

app = FastAPI()


@app.get("/again", response_class=HTMLResponse)
def again() -> str:
    return "<script>setTimeout(() => location.reload(), 100)</script>"


@app.get("/slow")
def slow() -> StreamingResponse:
    def parts() -> Iterator[str]:
        yield "<!doctype html><title>slow</title>" + " " * 2000
        time.sleep(0.3)
        yield "<main>there</main>"

    return StreamingResponse(parts(), media_type="text/html")


def test_a_load_of_the_page_before_is_not_taken_for_the_one_that_is_opened(browser: Browser) -> None:
    with serving(app) as address:
        page = browser.page()
        page.open(f"{address}/again")
        time.sleep(0.5)  # it loads itself again, and nobody listens
        page.open(f"{address}/slow")
        assert page.evaluate("document.querySelector('main').innerText") == "there"
        page.close()
