"""The documentation site: it builds without a warning, leaves no page out, and needs nothing from elsewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.browser import Browser
from tests.conftest import MadeOnce

ROOT = Path(__file__).parents[1]
pytest.importorskip("mkdocs")
pytest.importorskip("material")
pytest.importorskip("mkdocstrings")


def build(root: Path, site: Path) -> str:
    """Build the site; returns what MkDocs says if it fails."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
    process = subprocess.run(
        command, cwd=root, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )
    return process.stderr if process.returncode else ""


@pytest.fixture(scope="module")
def site(made_once: MadeOnce) -> Path:
    """The built site."""

    def make(folder: Path) -> None:
        assert build(ROOT, folder) == ""

    return made_once("site", make)


@pytest.mark.slow
def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    loading = re.compile(r'<(?:script|img|iframe|link rel="(?!canonical|next|prev))[^>]*(?:src|href)="(?:https?:)?//')
    for page in site.rglob("*.html"):
        assert not loading.search(page.read_text("utf-8")), page


@pytest.mark.slow
def test_search_works_from_a_file_without_a_network(site: Path, browser: Browser) -> None:
    page = browser.page(width=1200, height=800)
    page.open((site / "commands" / "score.html").as_uri())

    def search() -> bool:
        """Type the word from the beginning, as often as it takes: while the theme starts it takes the focus away."""
        page.click(".md-search__input")
        page.evaluate("document.querySelector('.md-search__input').select()")
        page.type("krippendorff")
        page.press("End")
        with suppress(TimeoutError):
            page.wait("document.querySelector('.md-search-result__item a') !== null", 5)
            return True
        return False

    page.wait(search, 120)
    assert [address for address in page.requests if address.startswith("http")] == []
    assert page.problems == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("pandas", "tables.html"),
        ("Excel", "tables.html"),
        ("volunteers", "studio.html"),
        ("promptfoo", "tables.html"),
        ("JUnit", "ci.html"),
        ("LaTeX", "cookbook/figures.html"),
    ],
)
def test_search_knows_the_words_of_a_newcomer(site: Path, word: str, page: str) -> None:
    """A heading has the word, which the search puts above pages that only mention it."""
    sections = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    named = {section["location"].split("#")[0] for section in sections if word.lower() in section["title"].lower()}
    assert page in named


@pytest.mark.slow
def test_a_notebook_is_a_page_with_what_its_cells_show(site: Path) -> None:
    page = (site / "notebooks" / "judge-a-table.html").read_text("utf-8")
    assert "<mark>a fork</mark>" in page
    assert "little evidence about it" in page


def test_a_page_that_is_missing_in_the_navigation_is_an_error_that_says_so(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("mkdocs.yml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "docs" / "lonely.md").write_text("# Lonely\n")
    complaint = build(tmp_path, tmp_path / "site")
    assert "docs/lonely.md is not in the navigation: add 'lonely.md' to nav in mkdocs.yml" in complaint
