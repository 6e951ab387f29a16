"""The page of a collection: what it says, and that no text can do anything in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mores.longanswer.collection import CandidateStatus, Collected, mark_near
from mores.longanswer.collection.asking import CollectStage, categories
from mores.longanswer.collection.numbers import Collection, add_up
from mores.report import collect as pages
from mores.report.base.page import render_page
from mores.types import Failure, FailureKind, Signature
from tests.browser import Browser, Page
from tests.report.conftest import assert_fits, showing
from tests.report.test_bench_page import choose
from tests.report.test_meta_page import HOSTILE, Tags, rows, section, words

LANGUAGES = {"ar": "Arabic", "hu": "Hungarian", "en": "English"}
TOPICS = [category.name for category in categories()]


def questions(count: int = 60, text: str = "") -> list[Collected]:
    """Of each ten, three are dropped by a filter, one is a duplicate, one undecided and five kept."""
    every = []
    for i in range(count):
        statuses = [
            (CandidateStatus.DROPPED, CollectStage.SPECIFICITY),
            (CandidateStatus.DROPPED, CollectStage.QUALITY),
            (CandidateStatus.DROPPED, CollectStage.QUALITY),
        ]
        statuses += [
            (CandidateStatus.DROPPED, CollectStage.DUPLICATE),
            (CandidateStatus.UNSCORED, CollectStage.QUALITY),
        ]
        status, stage = (statuses[i % 10]) if i % 10 < 5 else (CandidateStatus.KEPT, None)
        failure = Failure(kind=FailureKind.PARSE, reason=text or "expected a result")
        tag = list(LANGUAGES)[i % 3]
        collected = Collected(
            id=(text and f"{text}{i}") or f"q{i}",
            question=text or f"question {i} " + "xyz"[i % 3] * (i + 3),
            language=tag,
            language_name=LANGUAGES[tag],
            status=status,
            stage=stage,
            reason=text or f"reason {i}",
            source=text or None,
            translation=text or None,
            answer=text or None,
            category=TOPICS[i % 4] if status is CandidateStatus.KEPT else None,
            failures={CollectStage.QUALITY: failure} if status is CandidateStatus.UNSCORED else {},
            replies={CollectStage.SPECIFICITY: text or f"words {i}"} if stage is not CollectStage.DUPLICATE else {},
        )  # fmt: skip
        every.append(collected)
    return mark_near(every)


def described(every: list[Collected], warning: str | None = None) -> tuple[Collection, Callable[[], list[Collected]]]:
    collection = add_up(every, CollectStage, "model-x", Signature(task="collect.1", mores="0"))
    return collection.model_copy(update={"warning": warning}), lambda: every


def page(every: list[Collected], warning: str | None = None) -> str:
    return render_page(pages.describe_collection(*described(every, warning)))


def test_the_headline_and_the_stages() -> None:
    html = page(questions())
    assert "50.0% kept 30 of 60 candidates are kept, 24 dropped, 6 undecided." in words(html)
    assert rows(section(html, "stages"))[:3] == [
        ["duplicate", "60", "54", "6", "0"], ["specificity", "54", "48", "6", "0"], ["quality", "48", "30", "12", "6"],
    ]  # fmt: skip
    assert "Not decided: 6 answers could not be parsed." in words(html)


def test_topics_and_overlap() -> None:
    html = page(questions())
    assert "hatched: fewer than 20 samples" in words(section(html, "overlap"))
    assert [row[0] for row in rows(section(html, "topics"))] == [
        "Arabic n 10", "English n 10", "Hungarian n 10", "all n 30"
    ]  # fmt: skip
    assert rows(section(html, "overlap"))[0][:2] == ["Arabic ar, n 10", "–"]
    assert re.fullmatch(r"\d\.\d\d n 10", rows(section(html, "overlap"))[0][2])


def test_one_language_is_compared_with_none() -> None:
    html = page([question for question in questions() if question.language == "ar"])
    assert 'id="overlap"' not in html


def test_duplicates_are_listed() -> None:
    html = words(section(page(questions()), "duplicates"))
    assert "The same: 6, dropped" in html
    assert "q3 reason 3 question 3" in html


def test_nothing_kept_and_a_warning() -> None:
    every = [question for question in questions() if question.status is CandidateStatus.DROPPED]
    html = page(every, "fake: is not a model; get one with `mores pull`")
    assert 'id="topics"' not in html
    assert "0.0% kept" in words(html)
    assert "Warning fake: is not a model" in words(html)
    assert "get one with <code>mores pull</code>" in html


def test_a_page_holds_some_of_each_fate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "CARDS", 12)
    html = page(questions())
    assert re.findall(r'<article class="card answer (\w+)"', html) == ["unscored"] * 4 + ["wrong"] * 4 + ["right"] * 4
    assert "Dropped: 18 (4 of them here, dropped.jsonl has all)" in words(html)


def test_hostile_texts_are_only_text() -> None:
    html = page(questions(20, HOSTILE), HOSTILE + "\ud800")
    html.encode()
    read = Tags(html)
    assert not read.tags & {"img", "iframe", "link"}
    assert html.count("<script>") == 1
    assert not {name for name in read.attributes if name.startswith("on")} | read.attributes & {"style", "src"}
    assert html.count("window.hacked = 1") > 10


# ---- in a browser ----------------------------------------------------------------------------------------------


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    with showing(browser, tmp_path) as show_page:
        yield show_page


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", HOSTILE])
def test_nothing_is_wider_than_the_window(show: Any, text: str) -> None:
    assert_fits(show(page(questions(40, text))))


def visible(tab: Page) -> list[str]:
    result: list[str] = tab.evaluate(
        "[...document.querySelectorAll('.answer')].filter((c) => c.offsetParent).map((c) => c.dataset.state)"
    )
    return result


@pytest.mark.slow
def test_cards_are_filtered_and_searched(show: Any) -> None:
    tab = show(page(questions()))
    assert len(visible(tab)) == 25
    choose(tab, "[data-filter=state]", "Unscored")
    assert visible(tab) == ["unscored"] * 6
    tab.click("#reset")
    choose(tab, "[data-filter=run]", "Specificity")
    assert visible(tab) == ["dropped"] * 6
    tab.click("#reset")
    choose(tab, "[data-filter=group]", "Arabic")
    assert len(visible(tab)) == 18
    tab.click("#reset")
    tab.click("#q")
    tab.type("REASON 21")
    assert visible(tab) == ["dropped"]
