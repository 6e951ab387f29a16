"""The tables of benchmarks/README.md say what the results files say; whole evaluations are compared fairly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "benchmarks" / "results" / "peers").glob("*.json"))


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import peers

    return peers


def test_the_table_is_what_the_files_say(peers: Any) -> None:
    readme = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    assert peers.START + peers.table() + peers.END in readme, "bring it up to date: python benchmarks/peers.py"
    assert {path.stem for path in FILES} <= set(peers.ORDER)  # otherwise the table lacks one


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_says_how_and_where_it_was_measured(path: Path) -> None:
    record = json.loads(path.read_text("utf-8"))
    assert set(record) == {
        "work", "command", "date", "machine", "load_before", "python", "versions", "figures",
    }  # fmt: skip
    python, script, *_ = record["command"].split()
    assert python == "python"
    assert (ROOT / script).is_file()
    assert set(record["machine"]) == {"system", "architecture", "cores"}
    for values in record["figures"].values():
        assert next(iter(values)) == "Mores"
        assert all(value > 0 for value in values.values())


def test_the_table_of_goals_is_what_the_file_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import goals

    readme = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    parts = json.loads(goals.RESULTS.read_text("utf-8"))
    assert goals.HEAD + goals.table(parts) + goals.END in readme, "measure again: python benchmarks/goals.py --save"
    rows = [("calls", 1.2, "×", 1.3, False, "peer 1.0: 3"), ("rate", 70, "%", 85, True, "")]
    table = goals.table({"calls": {"where": "2026-01-01, Linux", "load": [0.1, 2], "rows": rows}})
    assert "| calls | 1.2 × | ≤ 1.3 | met | peer 1.0: 3 |\n| rate | 70 % | ≥ 85 | not met |  |\n" in table
    assert "Measured on 2026-01-01, Linux: calls (load 0.1 to 2)." in table


def test_a_saved_comparison_gets_into_the_table(peers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{peers.START}old\n{peers.END}\nafter\n", "utf-8")
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    monkeypatch.setattr(peers, "README", readme)
    monkeypatch.setattr(sys, "argv", ["somewhere/search.py", "--save"])
    figures = {"queries/s": {"Mores": 2000, "other": 500}, "accuracy in %": {"Mores": 90, "other": 80}}
    peers.save("search", "Search", {"Mores": "1", "other": "2.5"}, figures)
    text = readme.read_text("utf-8")
    assert text.startswith(f"before\n{peers.START}")
    assert text.endswith(f"{peers.END}\nafter\n")
    assert "| Search<br>`python benchmarks/search.py --save` | queries/s | 2,000 | other 2.5: 500 (0.25×) |\n" in text
    assert "|  | accuracy in % | 90.0 | other 2.5: 80.0 |\n" in text
    readme.write_text("nothing", "utf-8")
    with pytest.raises(SystemExit, match="no place for the table"):
        peers.write_table()


@pytest.mark.slow
def test_whole_evaluations_ask_the_same_and_agree() -> None:
    """The script itself fails where requests or accuracy differ."""
    size = ["--questions", "6", "--samples", "2", "--connections", "4", "--latency-ms", "1", "--rounds", "1"]
    command = [sys.executable, str(ROOT / "benchmarks" / "whole.py"), *size, "--only", "mores,aiohttp"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 0, process.stderr
    assert "6 questions × 2 answers" in process.stdout
    assert [line.split()[0] for line in process.stdout.splitlines()[-2:]] == ["Mores", "bare"]
