"""SimpleQA and Chinese SimpleQA: their rows, and 200 real questions through the real command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from mores.benchmark import simpleqa
from mores.benchmark.benchmark import Benchmark
from mores.benchmark.simpleqa import CHINESE, SIMPLEQA
from mores.errors import InputError
from mores.types import Item
from tests.benchmark.test_msqa import honest, values
from tests.cli.conftest import Run, home, mores
from tests.engine.server import Server
from tests.factory.test_sources import REAL

__all__ = ["home", "mores"]

FOLDER = Path(simpleqa.__file__).parent / "sample"
has_real = pytest.mark.skipif(
    not all((REAL / one.source).is_dir() for one in (SIMPLEQA, CHINESE)),
    reason="no simpleqa and chinese_simpleqa in the shared data; set MORES_SHARED_DATA to a folder that has them",
)


def read(benchmark: Benchmark, folder: Path) -> list[Item]:
    return list(benchmark.read(folder, lambda error: pytest.fail(str(error))))


def test_the_rows_that_come_with_them() -> None:
    english, chinese = read(SIMPLEQA, FOLDER), read(CHINESE, FOLDER)
    assert [(item.target, item.topic, item.metadata) for item in english] == [
        (("Canberra",), "Geography", {"answer_type": "Place"}),
        (("Vincent van Gogh",), "Art", {"answer_type": "Person"}),
        (("1989",), "History", {"answer_type": "Date"}),
        (("6",), "Science and technology", {"answer_type": "Number"}),
        (("Guitar",), "Music", {"answer_type": "Other"}),
    ]
    assert [(item.id, item.target, item.topic) for item in chinese] == [
        ("sample1", ("八月",), "中华文化"),
        ("sample2", ("长江",), "自然与自然科学"),
        ("sample3", ("曹雪芹",), "人文与社会科学"),
        ("sample4", ("鸭",), "生活、艺术与文化"),
        ("sample5", ("1898年",), "社会"),
    ]
    assert {item.language for item in english} == {"en"}
    assert {item.language for item in chinese} == {"zh"}
    assert [m.content for m in SIMPLEQA.messages(english[1])] == ['Who painted "The Starry Night"?']


@pytest.mark.parametrize("cell", ["", "{}", "[1]", "topic", "__import__('os')", "{'topic': 'Art'}", "(" * 5000])
def test_bad_rows_are_named_and_left_out(tmp_path: Path, cell: str) -> None:
    (tmp_path / "simple_qa_test_set.csv").write_text(
        f"metadata,problem,answer\n\"{cell}\",q?,a\n\"{{'topic': 'Art', 'answer_type': 'Place'}}\",r?,b\n"
    )
    problems: list[InputError] = []
    assert [item.prompt for item in SIMPLEQA.read(tmp_path, problems.append)] == ["r?"]
    assert len(problems) == 1
    assert f"{tmp_path}/simple_qa_test_set.csv:2: " in str(problems[0])


@pytest.mark.slow
@has_real
def test_the_whole_real_data() -> None:
    for benchmark, count, groups in ((SIMPLEQA, 4326, 10), (CHINESE, 3000, 6)):
        items = read(benchmark, REAL / benchmark.source)
        assert len(items) == len({item.id for item in items}) == count
        assert len({item.topic for item in items}) == groups


def take(folder: Path, count: int) -> dict[str, list[Item]]:
    """A data folder with the first rows of both real datasets, and their items."""
    for benchmark in (SIMPLEQA, CHINESE):
        (folder / benchmark.source).mkdir(parents=True)
    with (REAL / SIMPLEQA.source / SIMPLEQA.files).open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[: count + 1]
    with (folder / SIMPLEQA.source / SIMPLEQA.files).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    lines = (REAL / CHINESE.source / CHINESE.files).read_text("utf-8").splitlines(keepends=True)
    (folder / CHINESE.source / CHINESE.files).write_text("".join(lines[:count]), "utf-8")
    return {benchmark.name: read(benchmark, folder / benchmark.source) for benchmark in (SIMPLEQA, CHINESE)}


RIGHT_UNSURE = {"simpleqa": (4, 2), "chinese-simpleqa": (3, 5)}
"""Of ten answers so many are correct, and so many not attempted; the rest is wrong."""


@pytest.mark.slow
@has_real
def test_a_scripted_model_and_judge_on_200_real_questions(mores: Run, tmp_path: Path) -> None:
    items = take(tmp_path / "data", 100)
    script = {}
    for name, rows in items.items():
        right, unsure = RIGHT_UNSURE[name]
        for number, item in enumerate(rows):
            place = number % 10
            known, open_ = f"It is {item.target[0]}.", "I do not know."
            script[item.prompt] = known if place < right else open_ if place < right + unsure else "Surely Atlantis."
    assert len(script) == 200
    with Server(answer=script.__getitem__) as model, Server(answer=honest) as judge:
        done = mores(
            "bench", *items, "--model", "openai:m", "--base-url", model.url, "--judge", "openai:j",
            "--judge-url", judge.url, "--data", str(tmp_path / "data"), "--json",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(judge.asked) == 200 + 60 + 70  # a second time of every answer that is not correct
        assert len(model.asked) == 200
    english, chinese = json.loads(done.stdout)
    assert values(english["figures"]) == pytest.approx({"F": 4 / 9, "CO": 0.4, "NA": 0.2, "IN": 0.4, "CGA": 0.5})
    assert values(chinese["figures"]) == pytest.approx({"F": 0.4, "CO": 0.3, "NA": 0.5, "IN": 0.2, "CGA": 0.6})
    for result in (english, chinese):
        assert (result["figures"]["F"]["n"], result["figures"]["F"]["unscored"], result["failures"]) == (100, 0, {})
    assert set(english["by"]) == {"topic", "answer_type"}
    assert sum(rows["F"]["n"] for rows in english["by"]["topic"].values()) == 100
