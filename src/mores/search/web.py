"""Web pages as plain text: each site is asked for one page at a time, with pauses, and what its robots.txt allows."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from html import escape
from html.parser import HTMLParser
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import aiohttp

from mores.errors import Transient
from mores.models.http import read_body
from mores.search.passages import Passage

AGENT = "mores"
PAUSE = 1.0
"""Seconds between two pages of a site; more where its robots.txt asks for it."""
LONGEST_PAUSE = 30.0
SITES = 8
"""Sites that are asked at the same time."""
MOST_BYTES = 5_000_000
TIMEOUT = 30.0
_SKIPPED = frozenset(
    ["script", "style", "nav", "header", "footer", "aside", "form", "noscript", "svg", "template", "button"]
)
_BLOCKS = frozenset(
    ["p", "div", "li", "br", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "td", "dd", "dt"]
)


def is_address(name: str) -> bool:
    """Return whether it is the address of a web page."""
    return name.startswith(("http://", "https://"))


class _Page(HTMLParser):
    """The title, language and paragraphs of a page; menus and scripts are left out."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title, self.language = "", ""
        self._parts: list[str] = []
        self._skipped, self._in_title = 0, False
        self.feed(content)
        self.close()

    @property
    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\0"))
        return "\n\n".join(filter(None, lines))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "html":
            self.language = dict(attrs).get("lang") or ""
        self._in_title = tag == "title" and not self.title
        self._skipped += tag in _SKIPPED
        if tag in _BLOCKS:
            self._parts.append("\0")

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in _SKIPPED and self._skipped:
            self._skipped -= 1
        if tag in _BLOCKS:
            self._parts.append("\0")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._skipped:
            self._parts.append(data)


OnBad = Callable[[str], None]


async def fetch_pages(addresses: Sequence[str], on_bad: OnBad) -> AsyncGenerator[Passage, None]:
    """Yield each page as one passage, as they come; why one could not be read goes to the callback."""
    by_site: dict[str, list[str]] = defaultdict(list)
    for address in dict.fromkeys(addresses):
        by_site[f"{urlsplit(address).scheme}://{urlsplit(address).netloc}"].append(address)
    pages: asyncio.Queue[Passage | None] = asyncio.Queue(SITES)
    timeout, room = aiohttp.ClientTimeout(total=TIMEOUT), asyncio.Semaphore(SITES)

    async with aiohttp.ClientSession(timeout=timeout, headers={"User-Agent": AGENT}, trust_env=True) as session:

        async def visit(site: str) -> None:
            try:
                async with room, aclosing(_visit(session, site, by_site[site], on_bad)) as found:
                    async for page in found:
                        await pages.put(page)
            finally:
                await pages.put(None)

        tasks = [asyncio.create_task(visit(site)) for site in by_site]
        try:
            left = len(tasks)
            while left:
                if page := await pages.get():
                    yield page
                else:
                    left -= 1
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _visit(
    session: aiohttp.ClientSession, site: str, addresses: Sequence[str], on_bad: OnBad
) -> AsyncGenerator[Passage, None]:
    """Yield the pages of one site that its robots.txt allows, with pauses between them."""
    rules = RobotFileParser()
    _, robots = await _get(session, f"{site}/robots.txt") or ("", "")
    rules.parse(robots.splitlines())
    pause = min(LONGEST_PAUSE, max(PAUSE, float(rules.crawl_delay(AGENT) or 0)))
    for number, address in enumerate(addresses):
        if not rules.can_fetch(AGENT, address):
            on_bad(f"{address}: the robots.txt of the site does not allow it")
            continue
        await asyncio.sleep(pause if number else 0)
        answer = await _get(session, address)
        if answer is None:
            on_bad(f"{address}: no text could be read there")
            continue
        kind, content = answer
        page = _Page(content if "html" in kind else f"<pre>{escape(content)}</pre>")
        yield Passage(page.text, 1, " ".join(page.title.split()), address, "", page.language)


async def _get(session: aiohttp.ClientSession, address: str) -> tuple[str, str] | None:
    """Return the kind and the text of what is at an address; None if it is not text or cannot be fetched."""
    try:
        async with session.get(address) as response:
            kind = response.content_type
            if response.status != 200 or not kind.startswith(("text/", "application/xhtml")):
                return None
            body = await read_body(response, MOST_BYTES)
            return kind, body.decode(response.charset or "utf-8", "replace")
    except (aiohttp.ClientError, TimeoutError, LookupError, ValueError, Transient):
        return None
