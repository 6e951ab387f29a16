"""The card of a dataset: what it says, hostile texts, and how it looks in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.report.card import page as card_page
from mores.types import Error, ErrorReport, Sample, Severity
from tests.browser import Browser
from tests.report.conftest import assert_fits, showing
from tests.report.markup import read_markup

HOSTILE = "</p><script>window.hacked = 1</script><b style='color:red'>"


def gold(text: str, quote: str, language: str, **more: Any) -> dict[str, Any]:
    start = text.index(quote)
    error = Error(
        side="text", quote=quote, start=start, end=start + len(quote), severity=Severity.MAJOR, type="wrong dish",
        explanation=f"Nobody says {quote}.",
    )  # fmt: skip
    sample = Sample(id=text[:5], instruction="What is eaten?", text=text, language=language, source="quiz")
    row = Gold(
        sample=sample, task=Task.QA, kind="hard", maker="rules", report=ErrorReport(errors=(error,) if quote else ()),
        item="i", group="g", split="test",
    )  # fmt: skip
    return row.model_copy(update=more).model_dump(mode="json")


def about(**more: Any) -> dict[str, Any]:
    source = {"name": "quiz", "title": "A quiz", "licence": "CC BY 4.0", "commercial": False, "revision": "abc" * 13}
    counts = {"items": 1200, "samples": 1200, "bad": 1, "lost": 2, "train": 1000, "dev": 100, "test": 100}
    audits = {"quiz": {"value": 0.012, "error": 0.01, "n": 1200}, "all": {"value": -0.02, "error": 0.01, "n": 1200}}
    return {
        "recipe": {"name": "made-up", "cap": 5000}, "mores": "1.0", "edition": 2,
        "changes": ["Texts have more errors."], "manifest": "def" * 13,
        "groups": {"count": 500, "largest": "quiz/1", "samples": 40},
        "samples": 1200, "facts": 600, "missing": [],
        "sources": [source | counts],
        "tables": {"kind": {"correct": 600, "hard": 600}, "language": {f"Language {i}": 50 - i for i in range(30)}},
        "length": {"instruction": 30, "text": 60}, "shortcut": audits, "paper_shortcut": audits,
        "audits": {"naive Bayes": {name: audit | {"value": 0.031} for name, audit in audits.items()}},
        "grouping": {"groups": 900, "largest": 40, "tested": 240, "twins": 3},
        "examples": [gold("يأكل الناس الخبز في الصباح", "الخبز", "ar"), gold("Wir essen Brot.", "Brot", "de")],
    } | more  # fmt: skip


def hostile() -> dict[str, Any]:
    card = about(missing=[HOSTILE], tables={HOSTILE: {HOSTILE: 3}}, examples=[gold(HOSTILE, "script", "en")])
    card["recipe"]["name"] = card["sources"][0]["licence"] = card["sources"][0]["revision"] = HOSTILE
    return card


def test_the_card_says_what_is_in_the_dataset() -> None:
    read = read_markup(card_page(about(missing=["mango"])))
    for words in (
        "Samples1,200", "Missing when this was built: mango", "CC BY 4.0 not for commercial use", "0.012 ± 0.010",
        "−0.020 ± 0.010", "abcabc", "correct600", "Facts600", "Language (30)",
        "2 of the data factory", "Texts have more errors.", "sha256:defdef", "500 groups; the largest has 40 samples",
        "naive Bayes", "0.031 ± 0.010", "3 of 240 test items have a near twin in training",
    ):  # fmt: skip
        assert words in read.words
    assert [mark.text for mark in read.all("mark")] == ["الخبز", "Brot"]
    assert [node.attributes["dir"] for node in read.all(".body")] == ["auto", "rtl", "auto", "auto"]
    assert [node.attributes["href"] for node in read.all(".ref")] == ["#e0-1", "#e1-1"]


PAGES = {"made-up": about, "hostile": hostile}


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    with showing(browser, tmp_path) as show_page:
        yield show_page


@pytest.mark.often("hostile")
@pytest.mark.parametrize("name", list(PAGES))
def test_nothing_is_wider_than_the_window(show: Any, name: str) -> None:
    assert_fits(show(card_page(PAGES[name]())))
