"""The page of a study of ratings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest

from mores.io import write_text
from mores.rating.folder import RESULT, RateRun
from mores.rating.ratings import Rating
from mores.rating.records import Annotator, Annotators, CarelessSign, RatingStudy
from mores.rating.study import analyse
from mores.report.base import figures
from mores.report.rate.tables import careless_people
from mores.report.runs import describe, run_page
from mores.run import Run, read_manifest
from tests.browser import Browser
from tests.rating.made_up import rating, study
from tests.report.markup import read_markup
from tests.runs import write_manifest

T = TypeVar("T")


def run_of(folder: Path, result: RatingStudy) -> RateRun:
    """A run with the analysis of some ratings."""
    write_manifest(folder, "rate", task="rate.1")
    write_text(folder / RESULT, result.model_dump_json())
    return RateRun(folder, read_manifest(folder))


def page_of(ratings: list[Rating]) -> str:
    with TemporaryDirectory() as name:
        return run_page(run_of(Path(name), analyse(ratings, source="ratings.csv")))


@cache
def whole_study() -> RatingStudy:
    """A study, analysed once for all tests of a process: that takes seconds."""
    return analyse(study(6), source="ratings.csv")


def shown(show: Callable[[Run], T]) -> T:
    """A whole study, while it exists."""
    with TemporaryDirectory() as name:
        return show(run_of(Path(name), whole_study()))


@cache
def page() -> str:
    """A whole study."""
    return shown(run_page)


def test_the_page_answers_what_a_reader_asks() -> None:
    words = read_markup(page()).words
    assert "cherry is rated highest of 3 models." in words
    for title in (
        "Mean rating by model", "Ratings by model and type", "Factual mistakes", "Omissions",
        "Models: differences of log odds", "Share of the comparisons that each model wins",
        "Krippendorff's α", "Marked errors", "Severity: points lower than others on the same answers",
    ):  # fmt: skip
        assert title in words, title
    assert "apple − banana" in words
    assert "derived from the ratings" in words


def test_a_study_of_one_model_has_a_page_too() -> None:
    words = read_markup(page_of([rating(question=str(n), rating=1 + n % 5, model="<b>x</b>") for n in range(6)])).words
    assert "Mean rating by model" in words
    assert "Comparison of models: not analysed, there is one model only, '<b>x</b>'." in words
    assert "Share of the comparisons" not in words


def test_a_study_without_ratings_has_a_page_too() -> None:
    words = read_markup(page_of([rating(rating=None)])).words
    assert "1 of 1 answers have no rating." in words
    assert "Mean rating" not in words


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_a_window(browser: Browser, tmp_path: Path, width: int) -> None:
    path = tmp_path / "rate.html"
    path.write_text(page(), encoding="utf-8")
    tab = browser.page(width=width, height=900)
    tab.open(path.as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert tab.problems == []
    assert tab.evaluate("document.querySelectorAll('figure.chart').length") >= 12
    tab.close()


def test_charts_and_tables_become_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    drawn = (".svg", ".pdf")  # test_figures draws them
    monkeypatch.setattr(figures, "draw", lambda _, path, *_more: [path.with_name(path.name + kind) for kind in drawn])
    ratings = [
        rating(question=str(n), model=model, rating=1 + (n + len(model)) % 5) for n in range(9) for model in ("a", "bb")
    ]
    run = run_of(tmp_path / "run", analyse(ratings, source="ratings.csv"))
    written = {path.name for path in figures.write_figures(describe(run), tmp_path / "figures")}
    assert {"ratings-mean-rating-by-model.pdf", "wins-wins-of-the-row-over-the-column.svg"} <= written
    tex = describe(run).tables["win-rates"].latex()
    assert r"\caption{Win rates and places}" in tex
    assert "bb & " in tex


def test_a_careless_person_is_named_with_the_reason() -> None:
    people = Annotators(
        formula="rating ~ model",
        people=(
            Annotator(
                name="bo", ratings=40, mean=3.0, careless=True, careless_p=0.004,
                signs=(CarelessSign(kind="fast", p=0.001, value=2.0, expected=40.0),),
            ),
            Annotator(name="ann", ratings=40, mean=3.0),
        ),
    )  # fmt: skip
    assert careless_people(people) == [
        "bo may be careless (p = 0.004, adjusted): 2 s for a rating (40 s by the others)"
    ]
