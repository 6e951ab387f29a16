"""Native versus English: a model whose losses are known gives the numbers that follow from them."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mores.benchmark import culturall
from mores.benchmark.culturall import CULTURALL
from mores.benchmark.folder import RESULT, BenchRun
from mores.benchmark.score import BenchResult
from mores.diagnosis.change import Matrix, RunChange, language_words
from mores.diagnosis.paired import Opened, open_run
from mores.diagnosis.translation import (
    CASES,
    SAME_TEXT,
    TranslationResult,
    diagnose_translation,
    open_versions,
    paragraph,
)
from mores.errors import ConfigError, InputError
from mores.run import MANIFEST, Manifest
from mores.types import Item, Result, Signature
from tests.diagnosis.runs import BENCH, GARBLED, make_run

HOW_MANY = {"both": 20, "lost": 12, "won": 2, "neither": 8, "garbled": 3}
NATIVE = {"both", "lost"}
ENGLISH = {"both", "won"}


def made_items() -> list[Item]:
    own = [_item(kind, n, "th" if n % 2 else "ko") for kind, count in HOW_MANY.items() for n in range(count)]
    return own + [_item("both", 100 + n, "en") for n in range(5)]


def _item(kind: str, n: int, language: str) -> Item:
    native = {"scenario": "", "question": f"native? {kind} {n}", "answer": f"nativo{n}", "explanation": ""}
    english = {"scenario": "At home.", "question": f"english? {kind} {n}", "answer": f"angle{n}", "explanation": ""}
    versions = {"": native, "english": native if language == "en" else english}
    asked = {name: f"Answer: {version['question']}" for name, version in versions.items()}
    return Item(
        id=f"{kind}-{n}", prompt=asked[""], target=(native["answer"],), language=language, topic=f"t{n % 3}",
        metadata={"versions": versions, "variants": {"english": asked["english"]}},
    )  # fmt: skip


def say(prompt: str) -> str:
    _, way, kind, n = prompt.split()
    if kind == "garbled":
        return GARBLED if way == "english?" else "wrong"
    right = kind in (NATIVE if way == "native?" else ENGLISH)
    return ("It is nativo" if way == "native?" else "It is angle") + n if right else f"wrong {n}"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    base, items = tmp_path_factory.mktemp("runs"), made_items()
    return make_run(base / "native", items, say), make_run(base / "english", items, say, variant="english")


@pytest.fixture(scope="module")
def result(folders: tuple[Path, Path]) -> TranslationResult:
    return diagnose_translation(open_versions(*folders, benchmark=BENCH))


def test_the_numbers_are_exact(result: TranslationResult) -> None:
    assert result.names == ("natively", "in English")
    assert result.change.matrix == Matrix(both=20, first=12, second=2, neither=8)
    assert (result.figures["natively"].value, result.figures["in English"].value) == (32 / 42, 22 / 42)
    gain = result.figures["gain"]
    assert gain.value == pytest.approx(-10 / 42)
    assert gain.high is not None
    assert gain.high < 0
    assert result.change.mcnemar == 2 * (1 + 14 + 91) / 2**14
    assert result.change.p == pytest.approx(result.change.mcnemar, abs=0.005)


def test_questions_that_cannot_be_compared_are_counted(result: TranslationResult) -> None:
    assert result.left_out == {SAME_TEXT: 5, "no grade in English (parse)": 3}
    assert result.figures["gain"].unscored == 3
    assert "en" not in result.by["language"]


def test_by_language_and_topic(result: TranslationResult) -> None:
    thai, korean = result.by["language"]["th"], result.by["language"]["ko"]
    assert (thai.matrix, korean.matrix) == (Matrix(both=10, first=6, second=1, neither=4),) * 2
    assert sum(one.gain.n for one in result.by["topic"].values()) == 42
    assert thai.mcnemar == pytest.approx(2 * (1 + 7) / 2**7)
    assert thai.adjusted == pytest.approx(max(thai.p or 0, korean.p or 0))


def test_what_was_lost_and_won_is_listed_with_both_versions(result: TranslationResult) -> None:
    assert {case.unit for case in result.lost} == {f"lost-{n}" for n in range(12)}
    assert {case.unit for case in result.won} == {"won-0", "won-1"}
    case = result.lost[3]
    assert (case.first.question, case.second.question) == ("native? lost 3", "At home.\nenglish? lost 3")
    assert (case.first.reference, case.second.reference) == (("nativo3",), ("angle3",))
    assert (case.first.answer, case.second.answer) == ("It is nativo3", "wrong 3")
    assert case.groups["language"] == "th"


def test_lists_are_bounded_and_counts_are_not(tmp_path: Path) -> None:
    items = [_item("lost", n, "th") for n in range(CASES + 7)]
    one, two = make_run(tmp_path / "a", items, say), make_run(tmp_path / "b", items, say, variant="english")
    found = diagnose_translation(open_versions(one, two, benchmark=BENCH))
    assert (len(found.lost), found.change.matrix.first) == (CASES, CASES + 7)


def test_the_order_of_the_folders_does_not_matter(folders: tuple[Path, Path], result: TranslationResult) -> None:
    assert diagnose_translation(open_versions(folders[1], folders[0], benchmark=BENCH)) == result


def test_the_paragraph(result: TranslationResult) -> None:
    text = paragraph(result)
    for words in ("76.2%", "52.4%", "−23.8 percentage points", "unlikely to be chance", "better if asked natively"):
        assert words in text
    assert "12 questions are correct only natively and 2 only in English" in text
    assert "5 questions have the same text in both" in text
    assert "3 more could not be compared" in text


def test_the_paragraph_names_the_languages_that_stand_out(tmp_path: Path) -> None:
    items = [_item("lost", n, "th") for n in range(30)] + [_item("won", 100 + n, "ko") for n in range(30)]
    items += [_item("lost", 200 + n, "ja") for n in range(29)]  # too few to be named
    one, two = make_run(tmp_path / "a", items, say), make_run(tmp_path / "b", items, say, variant="english")
    text = paragraph(diagnose_translation(open_versions(one, two, benchmark=BENCH)))
    assert "Korean gains the most (+100.0 percentage points" in text
    assert "Thai loses the most (−100.0 percentage points" in text


@pytest.mark.parametrize(
    ("french", "spanish", "words"),
    [
        (
            -0.04,
            -0.22,
            "Spanish loses the most (−22.0 percentage points) and French the least (−4.0 percentage points)",
        ),
        (0.22, 0.04, "French gains the most (+22.0 percentage points) and Spanish the least (+4.0 percentage points)"),
        (
            0.04,
            -0.22,
            "French gains the most (+4.0 percentage points) and Spanish loses the most (−22.0 percentage points)",
        ),
        (0.0, -0.22, "Spanish loses the most (−22.0 percentage points) and French the least (0.0 percentage points)"),
        (0.0, 0.0, "No language with enough questions changes."),
    ],
)
def test_changes_are_said_by_size_and_direction(
    result: TranslationResult, french: float, spanish: float, words: str
) -> None:
    def change(value: float) -> RunChange:
        gain = Result(name="gain", value=value, low=value - 0.1, high=value + 0.1, n=30)
        return result.change.model_copy(update={"figures": {"gain": gain}})

    text = language_words({"language": {"fr": change(french), "es": change(spanish)}})
    assert words in re.sub(r" \(95% interval .*?\)", "", text)


def test_the_paragraph_is_honest_about_few_questions(tmp_path: Path) -> None:
    items = [_item("lost", 1, "th"), _item("both", 2, "th")]
    one, two = make_run(tmp_path / "a", items, say), make_run(tmp_path / "b", items, say, variant="english")
    text = paragraph(diagnose_translation(open_versions(one, two, benchmark=BENCH)))
    assert "only 2 questions" in text
    assert "Neither version is significantly better" in text


def test_without_a_shared_question_nothing_is_said(tmp_path: Path) -> None:
    items = [_item("both", 1, "en")]
    one, two = make_run(tmp_path / "a", items, say), make_run(tmp_path / "b", items, say, variant="english")
    found = diagnose_translation(open_versions(one, two, benchmark=BENCH))
    assert found.change.gain.value is None
    assert "nothing can be compared" in paragraph(found)


def test_runs_that_cannot_be_compared_are_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"both were asked natively; give one"):
        open_versions(folders[0], folders[0], benchmark=BENCH)
    other = make_run(tmp_path / "other", made_items()[:9], say)
    with pytest.raises(ConfigError, match=r"data is \w+\.9 in .*force the comparison"):
        open_versions(other, folders[1], benchmark=BENCH)
    forced = diagnose_translation(open_versions(other, folders[1], benchmark=BENCH, force=True))
    assert forced.left_out == {"not asked natively": len(made_items()) - 9}
    assert forced.notes[0].startswith("data is ")


def test_a_run_of_measured_answers_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    text = (folders[0] / RESULT).read_text()
    assert '"measured":false' in text
    shutil.copy(folders[0] / MANIFEST, tmp_path)
    (tmp_path / RESULT).write_text(text.replace('"measured":false', '"measured":true'))
    with pytest.raises(ConfigError, match="measured, not correct or incorrect"):
        open_run(tmp_path, BENCH)
    (tmp_path / RESULT).write_text("{}")
    with pytest.raises(InputError, match=r"result\.json.*run it again"):
        open_run(tmp_path, BENCH)


def test_culturall_is_read_in_both_ways() -> None:
    items = list(CULTURALL.read(Path(culturall.__file__).parent / "sample", lambda error: pytest.fail(str(error))))
    item = next(item for item in items if item.language != "en" and "variants" in item.metadata)
    versions = item.metadata["versions"]
    for variant in ("", "english"):
        manifest = Manifest(kind="bench", name="culturall", signature=Signature(), started=datetime.now(UTC))
        result = BenchResult(
            benchmark="culturall", title="", model="m", judge=None, questions=1, samples=1, figures={}, by={},
            signature=Signature(), variant=variant or None,
        )  # fmt: skip
        run = Opened(BenchRun(Path(), manifest), CULTURALL, result)
        assert run.variant == (variant or None)
        assert run.question(item) == f"{versions[variant]['scenario']}\n{versions[variant]['question']}"
        assert run.reference(item) == (versions[variant]["answer"],)
