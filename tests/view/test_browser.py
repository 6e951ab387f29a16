"""The viewer walked in a real browser: wide, on a phone, dark, with texts that run from right to left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import mores
from mores.io import read_records, read_samples
from mores.metric.summary import summarise
from mores.models import Completion, Request
from mores.models.fake import FakeModel
from mores.types import Judgement
from mores.view.notes import read_notes
from tests.browser import Browser, Page, binary
from tests.serving import serving
from tests.view.conftest import write_run

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.skipif(binary() is None, reason="no Chromium is installed")


def says(answer: str, _: Request) -> Completion:
    return Completion(text=answer)


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A viewer of the examples as their authors judge them, and as a judge that marks every first word."""
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))
    samples = {sample.id: sample for sample in read_samples(EXAMPLES / "world.jsonl")}
    gold = [each.repeat(samples[each.sample_id]) for each in read_records(EXAMPLES / "world.gold.jsonl", Judgement)]
    about = {"name": "world.jsonl", "model": "mores-authors", "headline": summarise(gold).headline}
    write_run(tmp_path / "runs" / "world-gold", gold, **about)
    mores.score_file(EXAMPLES / "world.jsonl", "fake:first-word", out=tmp_path / "runs" / "world-first-word")
    questions = [
        "question,answer,region,language",
        "What does a bride wear?,white,JP,en",
        "ماذا ترتدي العروس؟,أبيض,EG,ar",
    ]
    (tmp_path / "brides.csv").write_text("\n".join(questions), "utf-8")
    (tmp_path / "brides.toml").write_text('questions = "brides.csv"\ngrading = "exact"\n')
    for name, answer in (("long", "She wears a long white dress. " * 30), ("short", "white")):
        model = FakeModel(name, partial(says, answer))
        mores.bench(tmp_path / "brides.toml", model, out=tmp_path / "runs")
    app = mores.view_app(tmp_path / "runs", model="fake:first-word")
    for entry in app.state.viewer.runs.entries().values():
        app.state.viewer.indexes.of(entry.path / entry.judged[0], wait=True)
    with serving(app) as served:
        yield served


LONG, SHORT = "brides/fake_long", "brides/fake_short"
"""The runs of a benchmark."""


def fits(page: Page, address: str) -> bool:
    """Whether nothing is wider than the window, and nothing was asked of others."""
    room = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return bool(room) and all(request.startswith(address) for request in page.requests)


@pytest.mark.slow
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


def test_a_person_compares_answers_and_hands_one_to_people(browser: Browser, address: str, tmp_path: Path) -> None:
    page = browser.page(width=1280, height=900)
    page.open(address)
    for box in (LONG, SHORT):
        page.click(f'input[value="{box}"]')
    page.click(".actions button")
    page.wait("document.querySelectorAll('.pair .answer').length === 4")
    page.click(f'.facts a[href="run?run={LONG.replace("/", "%2F")}"]')
    page.wait("document.querySelectorAll('.answer').length === 2")
    page.click(".star input")
    page.click(".note button")
    page.wait("document.querySelector('.star input')?.checked && location.hash")
    page.click('a[href^="handover"]')
    page.wait("document.querySelectorAll('.leaving li').length === 1")
    page.click(".box button")
    page.wait("document.querySelector('.code') !== null")
    assert len(list((tmp_path / "runs").rglob("handover/texts.jsonl"))) == 1
    page.open(f"{address}/run?run={LONG}")
    page.click('.note a[href^="try"]')
    page.wait("document.querySelector('textarea')?.value.startsWith('She wears')")
    page.click(".box button")
    page.wait("document.querySelectorAll('.card mark').length > 0")
    assert fits(page, address)


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_fits_its_window(browser: Browser, address: str, width: int, dark: bool) -> None:
    page = browser.page(width=width, height=860, dark=dark, touch=width < 500)
    pair = "compare?run=world-gold&run=world-first-word"
    texts = ("run?run=world-gold", "run?run=world-gold&language=ar", pair, "try", "handover?run=world-gold")
    answers = (f"run?run={LONG}", f"compare?run={LONG}&run={SHORT}", f"handover?run={LONG}")
    for path in ("", *texts, *answers):
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
