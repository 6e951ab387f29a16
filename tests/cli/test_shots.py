"""Few-shot prompting: examples in the question's language, never in the test, and the same in exported tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.benchmark import benchmark
from mores.benchmark.shots import answer_of, with_examples
from mores.errors import InputError
from tests.cli.conftest import Run

LANGUAGES = {"German": "de", "Thai": "th", "French": "fr"}


@pytest.fixture
def include(home: Path) -> Path:
    """Nine questions in each of three languages, of which INCLUDE has no instruction in Thai."""
    folder = home / "data" / "include"
    folder.mkdir(parents=True)
    rows = [
        {
            "language": language, "country": "Germany", "regional_feature": "culture", "domain": "Food",
            "question": f"{language} question {number}?", "choices": [f"{number}{letter}" for letter in "wxyz"],
            "answer": number % 4,
        }
        for language in LANGUAGES
        for number in range(9)
    ]  # fmt: skip
    (folder / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return home


def test_examples_are_in_the_same_language_and_left_out(include: Path) -> None:
    chosen = benchmark("include")
    items = list(chosen.read(include / "data" / "include", lambda error: pytest.fail(str(error))))
    asked = with_examples(chosen, items, 2)
    assert len(asked) == 27 - 3 * 2
    by_id = {item.id: item for item in items}
    for item in asked:
        *examples, question = item.prompt.split("\n\nAnswer the question with")
        assert question.endswith("\nAnswer:")
        assert by_id[item.id].prompt in item.prompt
        shown = [each for each in items if f"{each.prompt}\nAnswer: {answer_of(each)}\n\n" in item.prompt]
        assert len(shown) == len(examples) == 2
        assert {each.language for each in shown} == {item.language}
        assert not {each.id for each in shown} & {each.id for each in asked}
    assert [item.prompt for item in with_examples(chosen, items[::-1], 2)] == [item.prompt for item in asked[::-1]]
    with pytest.raises(InputError, match="9 questions in de leave none to ask; ask with at most 8"):
        with_examples(chosen, items, 9)


def test_parts_of_an_example_question_are_left_out_too() -> None:
    chosen = benchmark("culturalbench-hard")
    assert chosen.folder is not None
    items = list(chosen.read(chosen.folder / "sample", lambda error: pytest.fail(str(error))))
    asked = with_examples(chosen, items, 1)
    assert len({chosen.unit(item) for item in asked}) == len({chosen.unit(item) for item in items}) - 1
    assert len(asked) == len(items) - 4
    assert asked[0].prompt.count("\nTrue or False: ") == 1
    assert asked[0].prompt.endswith("\nTrue or False:")


def test_bench_and_an_exported_task_ask_the_same(include: Path, mores: Run) -> None:
    (include / "model.jsonl").write_text(json.dumps({"contains": "", "answer": "A"}))
    asking = ("--data", "data", "--shots", "3", "--variant", "native")
    done = mores("bench", "include", *asking, "--model", "fake:model.jsonl", "--limit", "6")
    assert done.returncode == 0, done.stderr
    folder = include / "bench" / "include.native.3shot" / "fake_model.jsonl"
    result = json.loads((folder / "result.json").read_text())
    assert (result["shots"], result["questions"], result["signature"]["shots"]) == (3, 6, "3")
    done = mores("export-task", "include", "--to", "lm-eval", "--out", "task", *asking)
    assert done.returncode == 0, done.stderr
    prompts = [
        json.loads(line)["item"]["prompt"] for line in (include / "task" / "data.jsonl").read_text().splitlines()
    ]
    assert len(prompts) == 27 - 3 * 3
    german = [prompt for prompt in prompts if "German" in prompt]
    assert all(prompt.count("Beantworte die Frage mit dem Buchstaben") == 4 for prompt in german)
    assert not any("Answer the question with" in prompt for prompt in german)
    assert all("Answer the question with" in prompt for prompt in prompts if "Thai" in prompt)
    canary = (include / "task" / "CANARY").read_text().strip()
    assert canary.startswith("mores-canary-")
    assert canary in (include / "task" / "README.md").read_text()
    assert canary not in (include / "task" / "data.jsonl").read_text()


def test_a_judge_does_not_read_examples(home: Path, mores: Run) -> None:
    done = mores("bench", "msqa", "--shots", "2", "--model", "fake:clean", "--judge", "fake:clean", "--data", str(home))
    assert done.returncode != 0
    assert "msqa is graded by a model, which would read the examples too" in done.stderr
