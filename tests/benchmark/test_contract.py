"""What every registered benchmark keeps to, and what `mores bench check` says where one does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mores.benchmark import BENCHMARKS, benchmark
from mores.benchmark.benchmark import Benchmark, Graded, Label
from mores.benchmark.contract import check, check_benchmark
from mores.errors import ConfigError, InputError
from mores.models.base import Message
from mores.types import Item
from tests.outside import write_folder


@pytest.mark.parametrize("name", BENCHMARKS)
def test_it_lacks_nothing(name: str) -> None:
    assert benchmark(name).name == name
    [checks] = check(name).values()
    assert [each for each in checks if each.status != "ok"] == []
    assert len(checks) == 12


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_misspelt_name_is_suggested(name: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"did you mean {name!r}?")):
        benchmark(f"{name[:4]}x{name[4:]}")


@pytest.fixture
def proverbs(tmp_path: Path) -> Benchmark:
    """A benchmark that lacks nothing."""
    return benchmark(write_folder(tmp_path, "proverbs"))


def missing(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    return {each.name: each.problems for each in check_benchmark(benchmark) if each.status == "missing"}


Change = Callable[[Item], dict[str, Any]]


def changed(benchmark: Benchmark, change: Change, which: slice = slice(None)) -> Benchmark:
    """The benchmark with other fields in some of its items."""

    def read(folder: Path, on_bad: Callable[[InputError], None]) -> Any:
        items = list(benchmark.read(folder, on_bad))
        items[which] = [item.model_copy(update=change(item)) for item in items[which]]
        return iter(items)

    return replace(benchmark, read=read)


@pytest.mark.parametrize(
    ("check_name", "change", "words"),
    [
        ("ids and parts", lambda _: {"id": "a"}, "5 items have the id 'a'"),
        ("languages and regions", lambda _: {"language": "klingonese"}, "item 'gb1': language 'klingonese'"),
        ("languages and regions", lambda _: {"region": "Atlantis"}, "item 'gb1': region 'Atlantis'"),
        ("languages and regions", lambda _: {"region": "Japan"}, "is written 'JP'; use mores.culture.region"),
        ("prompts", lambda _: {"prompt": " ", "choices": ()}, "item 'gb1': the prompt is empty"),
        ("prompts", lambda item: {"prompt": item.prompt + "{start}"}, "the slot {start} is not filled"),
        ("prompts", lambda _: {"prompt": "Which one?"}, "the option 'two in the bush' is not in the prompt"),
        ("targets and choices", lambda _: {"target": ()}, "item 'gb1' has no target"),
        ("targets and choices", lambda _: {"target": ("",), "choices": ()}, "an empty target"),
        ("targets and choices", lambda _: {"target": ("neither",)}, "'neither' is not one of the choices"),
        ("targets and choices", lambda item: {"choices": item.choices * 2}, "the same option twice"),
        ("targets and choices", lambda _: {"choices": ()}, "fewer than two words to choose from"),
        ("grading", lambda _: {"target": ("neither",)}, "grade does not accept the target 'neither'"),
        ("run with a fake model", lambda _: {"region": None}, "no sample row has the grouping 'region'"),
    ],
)
def test_what_is_wrong_with_items_is_listed(proverbs: Benchmark, check_name: str, change: Change, words: str) -> None:
    assert words in " ".join(missing(changed(proverbs, change))[check_name])


def test_many_problems_are_counted(proverbs: Benchmark) -> None:
    *shown, rest = missing(changed(proverbs, lambda _: {"target": ()}))["targets and choices"]
    assert (len(shown), rest) == (3, "and 2 more like these")


def test_the_parts_of_a_question_must_be_together(proverbs: Benchmark) -> None:
    apart = changed(proverbs, lambda _: {"metadata": {"unit": "u"}}, slice(0, None, 4))
    assert "the parts of question 'u' are not together" in missing(apart)["ids and parts"][0]


def content(_: Item, __: str) -> Graded:
    return Graded(label=Label.CORRECT)


def unfilled(items: Sequence[Item]) -> dict[str, float]:
    return {"luck": 1.5, "few": len(items) / 100}


@pytest.mark.parametrize(
    ("check_name", "fields", "words"),
    [
        ("description", {"licence": " "}, "licence is empty"),
        ("description", {"homepage": "example.org"}, "give the https:// address"),
        ("README.md", {"name": "other"}, "README.md does not name other"),
        ("prompts", {"variants": ("blind",)}, "it is not in metadata['variants']"),
        ("grading", {"grade": content}, "calls 'Zzyzx qwrtp, vlkmn.' correct"),
        ("grading", {"grade": lambda *_: 1 / 0}, "ZeroDivisionError"),
        ("references", {"references": unfilled}, "'luck' is 1.5"),
        ("references", {"references": unfilled}, "give {} then"),
        ("sample rows", {"read": lambda *_: iter(["x"])}, "it must yield mores.types.Item"),
    ],
)
def test_what_is_wrong_with_the_benchmark_is_listed(
    proverbs: Benchmark, check_name: str, fields: dict[str, Any], words: str
) -> None:
    assert words in " ".join(missing(replace(proverbs, **fields))[check_name])


@pytest.mark.parametrize(
    ("path", "text", "check_name", "words"),
    [
        ("README.md", None, "README.md", "README.md is missing"),
        ("README.md", "# proverbs\n", "README.md", "no section '## Fidelity'"),
        ("README.md", "# proverbs\n", "README.md", "does not name ask.txt"),
        ("judge.txt", "\n", "prompt files", "judge.txt is empty"),
        ("sample/proverbs.csv", "id\n1\n", "sample rows", "proverbs.csv:2: no 'option_a'"),
        ("sample/proverbs.csv", "id\n", "sample rows", "sample has 0 questions; give 5 or more"),
    ],
)
def test_what_is_wrong_with_files_is_listed(
    proverbs: Benchmark, path: str, text: str | None, check_name: str, words: str
) -> None:
    assert proverbs.folder
    file = proverbs.folder / path
    file.unlink() if text is None else file.write_text(text)
    assert words in " ".join(missing(proverbs)[check_name])


def test_without_sample_rows_the_rest_is_skipped(proverbs: Benchmark) -> None:
    assert proverbs.folder
    (proverbs.folder / "sample" / "proverbs.csv").rename(proverbs.folder / "rows.csv")
    (proverbs.folder / "sample").rmdir()
    checks = {each.name: each for each in check_benchmark(proverbs)}
    assert "the folder sample is missing" in checks["sample rows"].problems[0]
    assert checks["grading"].status == "skipped"
    assert checks["README.md"].status == "ok"


class Blind:
    """A judge that sees nothing and is content with everything."""

    labels = tuple(Label)

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt

    def ask(self, item: Item, answer: str) -> tuple[Message, ...]:  # noqa: ARG002
        return (Message("user", "Is it correct?"),)

    def ask_again(self, item: Item, answer: str, reply: str) -> None:
        pass

    def read(self, item: Item, answer: str, reply: str, again: bool) -> Graded:  # noqa: ARG002
        return Graded(label=Label.CORRECT)


def test_a_judge_must_see_the_answer_and_reject_nonsense(proverbs: Benchmark) -> None:
    assert "the judge's prompt is '?'" in missing(replace(proverbs, grade=None, judging=Blind("?")))["grading"][0]
    answer, target, nonsense, _ = missing(replace(proverbs, grade=None, judging=Blind("0" * 8)))["grading"]
    assert "the judge is not shown the answer" in answer
    assert "the judge is not shown the target" in target
    assert "graded even where it is nonsense" in nonsense
