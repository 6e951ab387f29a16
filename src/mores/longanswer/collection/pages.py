"""Questions of community forums from their saved pages (CaLMQA, Appendix A.2).

Forums describe a question and its answers for search engines, as schema.org's `QAPage` or `FAQPage` in JSON-LD; that is
read, whatever the page looks like. Nothing is fetched: save the pages that a website's terms let you save.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mores.errors import InputError
from mores.factory.sources.rows import SourceRow
from mores.io.source import why_unreadable

SUFFIXES = (".html", ".htm")
DEEPEST = 20
"""How many lists and records may lie in each other."""


class ForumPage(HTMLParser):
    """The JSON-LD of a page, its language, and its own address."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.language, self.address, self.scripts = "", "", [""]
        self._inside = False
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "html":
            self.language = given.get("lang") or ""
        if tag == "link" and given.get("rel") == "canonical":
            self.address = given.get("href") or ""
        self._inside = tag == "script" and given.get("type") == "application/ld+json"
        if self._inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data


def is_pages(path: Path) -> bool:
    """Return whether a path is a saved page, or a folder of them."""
    return path.is_dir() or path.suffix.lower() in SUFFIXES


def read_pages(path: Path) -> Iterator[SourceRow | InputError]:
    """Yield the questions of a saved page, or of all in a folder, each with the best answer; InputError without any."""
    files = sorted(each for each in path.rglob("*") if each.suffix.lower() in SUFFIXES) if path.is_dir() else [path]
    if not files:
        yield InputError(f"{path}: no saved pages in this folder; expected .html files, or give a table")
    for file in files:
        try:
            page = ForumPage(file.read_text("utf-8", "replace"))
        except OSError as error:
            yield InputError(f"{file}: {why_unreadable(error)}")
            continue
        found = [row for script in page.scripts for row in find_questions(script)]
        if not found:
            yield InputError(
                f"{file}: no question in schema.org's QAPage or FAQPage; leave it out, or copy it to a table"
            )
        for number, row in enumerate(found, 1):
            known = {"language": page.language, "source": page.address}
            values = {name: value for name, value in (known | row).items() if value}
            yield SourceRow(f"{file}:{number}", file, (), values)


def find_questions(script: str) -> Iterator[dict[str, Any]]:
    """Yield the questions in the JSON-LD of a page, wherever they lie; nothing where it cannot be read."""
    try:
        yield from _walk(json.loads(script))
    except (ValueError, RecursionError):
        return


def _walk(data: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > DEEPEST or not isinstance(data, dict | list):
        return
    if isinstance(data, dict):
        kinds, title = data.get("@type"), data.get("name") or data.get("text")
        if "Question" in (kinds if isinstance(kinds, list) else [kinds]) and isinstance(title, str):
            text, url = data.get("text"), data.get("url")
            more = f"\n{text}" if isinstance(text, str) and text.strip() not in ("", title) else ""
            row = {"question": f"{title}{more}", "answer": _best(data), "language": data.get("inLanguage")}
            yield {name: value for name, value in (row | {"source": url}).items() if value}
            return
        data = list(data.values())
    for each in data:
        yield from _walk(each, depth + 1)


def _best(question: dict[str, Any]) -> str | None:
    """Return the accepted answer of a question, or the one with the most votes."""
    every = (question.get(name) for name in ("acceptedAnswer", "suggestedAnswer"))
    accepted, suggested = (
        [one for one in (each if isinstance(each, list) else [each]) if isinstance(one, dict)] for each in every
    )
    suggested.sort(key=lambda one: one["upvoteCount"] if isinstance(one.get("upvoteCount"), int) else 0, reverse=True)
    texts = (one.get("text") for one in [*accepted, *suggested])
    return next((text for text in texts if isinstance(text, str) and text.strip()), None)
