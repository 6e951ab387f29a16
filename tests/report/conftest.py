"""A way to open a report in the browser of all tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Browser, Page, pixels
from tests.report.samples import PAIRS, page

Show = Callable[..., Page]


def open_report(browser: Browser, path: Path, pairs: Any = PAIRS, *, fragment: str = "", **options: Any) -> Page:
    """Write a report and open it in a window of the size and scheme among the options."""
    window = {key: options.pop(key) for key in ("width", "height", "dark", "touch") if key in options}
    path.write_text(page(pairs, **({"title": "Made-up texts"} | options)), encoding="utf-8")
    tab = browser.page(**window)
    tab.open(path.as_uri() + fragment)
    return tab


@contextmanager
def showing(browser: Browser, folder: Path) -> Iterator[Show]:
    """Opens pages, everything unfolded unless they should stay as they are; at the end each must have been quiet."""
    tabs: list[Page] = []

    def show_page(html: str, *, unfold: bool = True, **window: Any) -> Page:
        path = folder / f"page-{len(tabs)}.html"
        path.write_text(html, encoding="utf-8")
        tabs.append(browser.page(**window))
        tabs[-1].open(path.as_uri())
        if unfold:
            tabs[-1].evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        return tabs[-1]

    yield show_page
    for tab in tabs:
        assert_quiet(tab)
        tab.close()


def assert_quiet(tab: Page) -> None:
    """The page has not complained, asked a question or touched the network."""
    assert tab.problems == []
    assert tab.dialogs == []
    assert [url for url in tab.requests if not url.startswith("file:")] == []
    assert len(tab.requests) == 1


def assert_fits(tab: Page) -> None:
    """On a screen and on a phone, light and dark: the page is as wide as the window and has the scheme's ground."""
    for width, height, touch in ((1280, 900, False), (360, 740, True)):
        tab.resize(width, height, touch=touch)
        for dark in (False, True):
            tab.prefer(dark=dark)
            assert tab.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width]
            assert (sum(pixels(tab.screenshot((0, 0, 40, 40)))[0][0]) < 150) is dark
    tab.evaluate("document.querySelectorAll('*').forEach((e) => e.dispatchEvent(new MouseEvent('mouseover')))")
    assert tab.evaluate("window.hacked") is None, "a hostile text has run"


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Opens reports, and checks at the end that they were quiet."""
    tabs: list[Page] = []

    def show_report(*args: Any, **options: Any) -> Page:
        tabs.append(open_report(browser, tmp_path / f"report-{len(tabs)}.html", *args, **options))
        return tabs[-1]

    yield show_report
    for tab in tabs:
        assert_quiet(tab)
        tab.close()


@pytest.fixture(scope="module")
def shown(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The made-up texts, opened once for many tests; each sets the filters that it needs."""
    tab = open_report(browser, tmp_path_factory.mktemp("shown") / "report.html")
    yield tab
    assert_quiet(tab)
    tab.close()
