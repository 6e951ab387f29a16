"""The page of small models shows what was saved of their runs."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

import mores
from mores.types import Result

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "small_models.py"))
ROWS = [json.loads(line) for line in SCRIPT["SAVED"].read_text("utf-8").splitlines()]


def test_the_tables_of_the_page_are_what_was_saved() -> None:
    page = (ROOT / "docs" / "small-models.md").read_text("utf-8")
    parts = SCRIPT["tables"](ROWS)
    shown = re.findall(r"(?s)<!-- (\w+): python benchmarks/small_models.py -->\n(.*?)\n<!-- /\1 -->", page)
    assert dict(shown) == parts
    outside = re.sub(r"(?s)<!-- (\w+): .*?<!-- /\1 -->", "", page.replace("95% interval", ""))
    assert re.findall(r"\d[\d.,]*%", outside) == [], "figures stand in the generated parts alone"


def test_every_result_has_its_questions_and_signature() -> None:
    for row in ROWS:
        assert row["signature"].endswith("|mores:0.2.0")
        if row["kind"] == "bench":
            result = Result.model_validate(row["result"])
            answers = int(match[1]) if (match := re.search(r"(\d+) answers", row["settings"])) else 1
            assert result.n + result.unscored == row["questions"] * answers, row
            assert f"task:{row['benchmark']}." in row["signature"]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Runs of two models: one has more questions of one benchmark than the other."""
    (tmp_path / "culturalbench").mkdir()
    options = ",".join(f"prompt_option_{letter}" for letter in "abcd")
    rows = [f"{n},{n},What {n}?,a{n},b{n},c{n},d{n},A,Peru\n" for n in range(4)]
    text = f"data_idx,question_idx,prompt_question,{options},answer,country\n{''.join(rows)}"
    (tmp_path / "culturalbench" / "CulturalBench-Easy.csv").write_text(text, "utf-8")
    asked = (("fake:first-word", 2, None), ("fake:clean", 2, None), ("fake:clean", None, None), ("fake:clean", 2, 1))
    for model, limit, seed in asked:
        out = tmp_path / "runs" / str(limit)
        mores.bench("culturalbench-easy", model, data=tmp_path, out=out, limit=limit, shuffle=seed, store=None)
    out = tmp_path / "runs" / "often"
    mores.diagnose("stability", "culturalbench-easy", model="fake:clean", data=tmp_path, samples=2, out=out, store=None)
    return tmp_path / "runs"


@pytest.mark.slow
def test_runs_are_read_with_their_settings_and_on_the_questions_that_all_models_have(runs: Path) -> None:
    rows = SCRIPT["read"](runs)
    benches = [(row["settings"], row["model"], row["questions"]) for row in rows if row["kind"] == "bench"]
    assert benches == [("", "fake:clean", 2), ("", "fake:first-word", 2), ("shuffled1", "fake:clean", 2)]
    assert [row["settings"] for row in rows if row["kind"] == "diagnose"] == ["stability"]
    parts = SCRIPT["tables"](rows)
    assert parts["results"].count("| culturalbench-easy") == 2
    assert "**Stability, culturalbench-easy.** fake:clean answered" in parts["diagnoses"]
    assert parts["judge"] == "No judge was checked."
