"""Global-MMLU, Global PIQA and ArabCulture, on rows in their published columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mores.benchmark import benchmark
from mores.benchmark.benchmark import Graded, Label
from mores.benchmark.choice import grade_last_letter
from mores.types import Failure, Item
from tests.benchmark.test_sources import dump, load

MMLU = {
    "sample_id": "world_religions/test/7", "subject": "world_religions", "subject_category": "Humanities",
    "question": "Nani?", "option_a": "w", "option_b": "x", "option_c": "y", "option_d": "z", "answer": "C",
    "cultural_sensitivity_label": "CS", "is_annotated": True,
}  # fmt: skip
ARAB: dict[str, Any] = {
    "worker_id": "w", "sample_id": "12", "sub_topic": "hospitality", "first_statement": "دخل الضيف.",
    "options": {"arabic_keys": ["أ", "ب", "ج"], "english_keys": ["A", "B", "C"], "text": ["قهوة ", "شاي", "ماء"]},
    "answer_key": {"arabic_answer_key": "أ", "english_answer_key": "A"}, "relevant_to_this_country": "Yes",
    "relevant_to_other_countries": "No", "should_discard": "No", "country": "KSA", "region": "Gulf",
}  # fmt: skip


def write(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    dump(path, list(rows))


def test_sensitive_and_agnostic_questions_are_never_mixed(tmp_path: Path) -> None:
    rows = [MMLU | {"sample_id": label, "cultural_sensitivity_label": label} for label in ("CS", "CA", "-")]
    write(tmp_path / "sw" / "test-00000-of-00001.jsonl", *rows)
    write(tmp_path / "sw" / "dev-00000-of-00001.jsonl", MMLU | {"sample_id": "dev"})
    [sensitive], bad = load("global-mmlu-sensitive", tmp_path)
    [agnostic], worse = load("global-mmlu-agnostic", tmp_path)
    assert not bad + worse
    assert (sensitive.id, agnostic.id) == ("sw:CS", "sw:CA")
    assert (sensitive.language, sensitive.target, sensitive.topic) == ("sw", ("y",), "world religions")
    assert sensitive.metadata["category"] == "Humanities"


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        ("en", {"cultural_sensitivity_label": "maybe"}, "'maybe' is neither CS nor CA nor -"),
        ("en", {"answer": "E"}, "answer 'E' names none of 4 options"),
        ("en", {"option_d": "w"}, "two options are the same"),
        ("en", {"option_b": ""}, "no 'option_b'"),
        ("files", {}, "the language is the folder's name, for example sw/test.jsonl"),
    ],
)
def test_a_bad_row_of_global_mmlu_is_reported_with_its_place(
    tmp_path: Path, place: str, change: dict[str, str], words: str
) -> None:
    write(tmp_path / place / "test.jsonl", MMLU | change)
    items, [problem] = load("global-mmlu-sensitive", tmp_path)
    assert not items
    assert problem.startswith(f"{place}/test.jsonl:1: ")
    assert words in problem


def piqa(folder: Path, variety: str, *cells: str, split: str = "nonparallel") -> None:
    solutions = [f"solution{number}" for number in range(4 if split == "parallel" else 2)]
    names = ["prompt", *solutions, "label", "approx_cultural_score", "example_id"]
    (folder / f"{split}_{variety}.tsv").write_text("\t".join(names) + "\n" + "\t".join(cells) + "\n", "utf-8")


@pytest.mark.parametrize(
    ("variety", "language", "region"),
    [
        ("eng_latn", "en", None),
        ("fra_latn_cana", "fr-CA", "CA"),
        ("apc_arab_jord", "apc-Arab-JO", "JO"),
        ("srp_cyrl_torl", "sr-Cyrl", None),
        ("cls_deva", "sa-Deva", None),
        ("tam_latn", "ta-Latn", None),
    ],
)
def test_the_name_of_a_file_gives_language_and_country(
    tmp_path: Path, variety: str, language: str, region: str | None
) -> None:
    piqa(tmp_path, variety, "To cut bread,", "use a saw.", "use a knife.", "1", "1", "x7")
    [item], bad = load("global-piqa", tmp_path)
    assert not bad
    assert (item.language, item.region, item.metadata["variety"]) == (language, region, variety)
    assert (item.id, item.target, item.metadata["specificity"]) == (f"{variety}:x7", ("use a knife.",), "cultural")


def test_the_splits_of_global_piqa_are_separate_benchmarks(tmp_path: Path) -> None:
    piqa(tmp_path, "eng_latn", "To cut bread,", "use a saw.", "use a knife.", "1", "0", "n")
    piqa(tmp_path, "eng_latn", "What cuts bread?", "A saw.", "Tea.", "A knife.", "Air.", "2", "", "p", split="parallel")
    (tmp_path / "unsampled_nonparallel_eng_latn.tsv").write_text("prompt\n")
    [two], [four] = load("global-piqa", tmp_path)[0], load("global-piqa-parallel", tmp_path)[0]
    assert (two.choices, four.target) == (("use a saw.", "use a knife."), ("A knife.",))
    assert "Situation:\nTo cut bread, ...\n\nOption A: use a saw.\n\nOption B: use a knife." in two.prompt
    assert four.prompt.startswith("What cuts bread?\n\nOption A: A saw.")
    assert four.prompt.endswith("is one of A, B, C, or D.")


def test_a_file_of_no_language_is_reported(tmp_path: Path) -> None:
    piqa(tmp_path, "xx", "To cut bread,", "use a saw.", "use a knife.", "1", "0", "n")
    items, [problem] = load("global-piqa", tmp_path)
    assert not items
    assert problem.startswith("nonparallel_xx.tsv:2: unknown language 'xx'")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("The best answer is: B", "B"),
        ("Option A: silly.\nOption B: fine.\nThe best answer is: [B]", "B"),
        ("At first the best answer is A. No: A burns.\n\nThe **best answer is: B**.", "B"),
        ("<think>The best answer is: A</think>B", "B"),
        ("B", "B"),
        ("The best answer is a knife", None),
        ("The best answer is: E", None),
        ("", None),
    ],
)
def test_the_last_stated_answer_counts(reply: str, read: str | None) -> None:
    graded = grade_last_letter(Item(id="1", prompt="?", choices=("x", "y"), target=("y",)), reply)
    if read is None:
        assert isinstance(graded, Failure)
    else:
        assert graded == Graded(label=Label.CORRECT, read=read)


def test_arabculture_names_the_place_or_not(tmp_path: Path) -> None:
    write(tmp_path / "KSA" / "test-00000-of-00001.jsonl", ARAB)
    [item], bad = load("arabculture", tmp_path)
    assert not bad
    assert (item.id, item.region, item.language, item.target) == ("SA:12", "SA", "ar", ("قهوة",))
    assert (item.topic, item.metadata["area"]) == ("hospitality", "Gulf")
    loaded = benchmark("arabculture")
    asked = {variant: loaded.messages(item, variant)[-1].content for variant in (None, *loaded.variants)}
    assert "Location: KSA, Gulf\nStatement: دخل الضيف.\n" in asked[None]
    assert "Location: Gulf\nStatement: دخل الضيف.\n" in asked["area"]
    assert "ocation" not in asked["plain"]
    assert all("\nA. قهوة\nB. شاي\nC. ماء\n" in text for text in asked.values())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answer_key": {"english_answer_key": "D"}}, "the answer 'D' is not one of the keys of 3 options"),
        ({"answer_key": "A"}, "'answer_key' is not an object"),
        ({"country": "Atlantis"}, "unknown region 'Atlantis'"),
        ({"options": ARAB["options"] | {"text": ["x", "x", "y"]}}, "two options are the same"),
        ({"options": ARAB["options"] | {"text": ["x"]}}, "the keys of 1 options"),
    ],
)
def test_a_bad_row_of_arabculture_is_reported(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    write(tmp_path / "KSA" / "test.jsonl", ARAB | change)
    items, [problem] = load("arabculture", tmp_path)
    assert not items
    assert words in problem


def test_parquet_as_on_the_hub(tmp_path: Path) -> None:
    """Lists in objects, as the release has them."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "KSA" / "test-00000-of-00001.parquet"
    path.parent.mkdir()
    parquet.write_table(pyarrow.Table.from_pylist([ARAB]), path)
    [item], bad = load("arabculture", tmp_path)
    assert (item.target, bad) == (("قهوة",), [])
    assert json.loads(item.model_dump_json())["choices"] == ["قهوة", "شاي", "ماء"]
