"""The page of small models shows what was saved of their runs."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

from mores.types import Result

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "small_models.py"))
ROWS = [json.loads(line) for line in SCRIPT["SAVED"].read_text("utf-8").splitlines()]


def test_the_table_of_the_page_is_what_was_saved() -> None:
    page = (ROOT / "docs" / "small-models.md").read_text("utf-8")
    assert re.findall(r"(?s)small_models.py -->\n(.*?)\n<!-- /table", page) == [SCRIPT["table"](ROWS)]


def test_every_result_is_a_whole_subset_with_its_signature() -> None:
    for row in ROWS:
        result = Result.model_validate(row["result"])
        assert result.n + result.unscored == row["questions"] == 100
        assert f"task:{row['benchmark']}." in row["signature"]
        assert ".100|" in row["signature"]


def test_runs_are_read_with_their_settings(tmp_path: Path) -> None:
    import mores

    (tmp_path / "culturalbench").mkdir()
    options = ",".join(f"prompt_option_{letter}" for letter in "abcd")
    rows = f"data_idx,question_idx,prompt_question,{options},answer,country\n0,0,What?,a,b,c,d,A,Peru\n"
    (tmp_path / "culturalbench" / "CulturalBench-Easy.csv").write_text(rows, "utf-8")
    for seed in (None, 1):
        mores.bench(
            "culturalbench-easy", "fake:first-word", data=tmp_path, out=tmp_path / "bench", shuffle=seed, store=None
        )
    read = SCRIPT["read"](tmp_path / "bench")
    assert [row["settings"] for row in read] == ["", "shuffled1"]
    assert SCRIPT["table"](read).count("| culturalbench-easy") == 2
