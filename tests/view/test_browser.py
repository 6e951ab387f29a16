"""The viewer walked in a real browser: wide, on a phone, dark, with texts that run from right to left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import mores
from mores.io import read_records, read_samples
from mores.metric.summary import summarise
from mores.types import Judgement
from mores.view.notes import read_notes
from tests.browser import Browser, Page, binary
from tests.serving import serving
from tests.view.conftest import write_run

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.skipif(binary() is None, reason="no Chromium is installed")


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A viewer of the examples as their authors judge them, and as a judge that marks every first word."""
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    samples = {sample.id: sample for sample in read_samples(EXAMPLES / "world.jsonl")}
    gold = [each.repeat(samples[each.sample_id]) for each in read_records(EXAMPLES / "world.gold.jsonl", Judgement)]
    about = {"name": "world.jsonl", "model": "mores-authors", "headline": summarise(gold).headline}
    write_run(tmp_path / "runs" / "world-gold", gold, **about)
    mores.score_file(EXAMPLES / "world.jsonl", "fake:first-word", out=tmp_path / "runs" / "world-first-word")
    app = mores.view_app(tmp_path / "runs", model="fake:first-word")
    for name in ("world-gold", "world-first-word"):
        app.state.viewer.indexes.of(tmp_path / "runs" / name / "judgements.jsonl", wait=True)
    with serving(app) as served:
        yield served


def fits(page: Page, address: str) -> bool:
    """Whether nothing is wider than the window, and nothing was asked of others."""
    room = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return bool(room) and all(request.startswith(address) for request in page.requests)


def test_a_person_filters_stars_and_compares(browser: Browser, address: str, tmp_path: Path) -> None:
    page = browser.page(width=1280, height=900)
    page.open(address)
    page.click('a[href="run?run=world-gold"]')
    page.wait("document.querySelectorAll('.card').length === 20")
    page.evaluate("const s = document.querySelector('[name=language]'); s.value = 'ja';"
                  "s.dispatchEvent(new Event('change', {bubbles: true}))")  # fmt: skip
    page.wait("location.search.includes('language=ja') && document.querySelectorAll('.card').length === 1")
    page.click(".star input")
    page.click(".note .words input")
    page.type("Ask Haruko")
    page.click(".note button")
    page.wait("document.querySelector('.star input')?.checked && location.hash")
    assert [note.note for note in read_notes(tmp_path / "runs" / "world-gold").values()] == ["Ask Haruko"]
    assert page.evaluate("location.search.includes('language=ja')")
    page.open(address)
    for box in ("world-gold", "world-first-word"):
        page.click(f'input[value="{box}"]')
    page.click(".actions button")
    page.wait("document.querySelectorAll('.pair .card').length === 40")
    assert page.evaluate("document.querySelectorAll('.pair mark').length > 20")
    assert fits(page, address)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_fits_its_window(browser: Browser, address: str, width: int, dark: bool) -> None:
    page = browser.page(width=width, height=860, dark=dark, touch=width < 500)
    pair = "compare?run=world-gold&run=world-first-word"
    for path in ("", "run?run=world-gold", "run?run=world-gold&language=ar", pair, "try", "handover?run=world-gold"):
        page.open(f"{address}/{path}")
        assert fits(page, address), path
    page.open(f"{address}/run?run=world-gold&language=ar")
    assert page.evaluate("getComputedStyle(document.querySelector('.side.text .body')).direction") == "rtl"
    if width > 500:
        assert page.evaluate("getComputedStyle(document.querySelector('#panel')).display") == "grid"
    else:
        page.tap("#toggle")
        page.wait("document.querySelector('#panel').offsetHeight > 0")
    if (folder := os.environ.get("MORES_PICTURES")) and width > 500 and not dark:
        page.open(f"{address}/run?run=world-gold")
        (Path(folder) / "view.png").write_bytes(page.screenshot())
