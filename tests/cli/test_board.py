"""`mores board`: tables, JSON and the page, through the command."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mores.benchmark.benchmark import Label
from mores.cli.board import board
from mores.errors import ConfigError
from mores.extras import install_command
from tests.benchmark.test_board import put, result, verdict

Call = Callable[..., Result]


@pytest.fixture
def call(home: Path) -> Call:
    """Runs the command on two models and two benchmarks."""
    for bench, model, right in (("x", "m", 9), ("x", "n", 1), ("y", "m", 3), ("y", "n", 5)):
        labels = [Label.CORRECT if i < right else Label.INCORRECT for i in range(10)]
        verdicts = [verdict(f"q{i}", label) for i, label in enumerate(labels)]
        put(home / "bench" / bench / model, result(model, right / 10, bench), verdicts)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(board, arguments, catch_exceptions=False)

    return run


def test_tables(call: Call) -> None:
    done = call("bench")
    lines = [line.split() for line in done.stdout.splitlines()]
    behind = ["p", "0.008,", "n", "10"]  # 2 of 256 swaps of the 8 that differ
    assert ["1.", "m", "90.0%", "(0.0–100.0%)", "–", "80.0*", *behind, "4", "0"] in lines
    assert ["2.", "n", "10.0%", "(0.0–100.0%)", "−80.0*", *behind, "–", "4", "0"] in lines
    assert ["1.", "n", "50.0%", "(0.0–100.0%)", "–", "20.0", "p", "0.500,", "n", "10", "4", "0"] in lines
    assert ["for", "comparison:", "random", "25.0%"] in lines
    assert [line for line in lines if line[:1] in (["m"], ["n"])] == [["m", "1", "2"], ["n", "2", "1"]]


def test_json_is_all_that_is_printed(call: Call) -> None:
    printed = json.loads(call("bench", "--json").stdout)
    assert [leaderboard["benchmark"] for leaderboard in printed["leaderboards"]] == ["x", "y"]
    assert printed["shift"]["ranks"] == {"m": [1, 2], "n": [2, 1]}


def test_the_page(call: Call, home: Path) -> None:
    done = call("bench", "--html", "board.html")
    assert "wrote board.html" in done.stderr
    html = (home / "board.html").read_text()
    assert 'id="ranks"' in html
    assert "n, rank on x 2, y 1" in html


@pytest.mark.slow
def test_figures_for_a_paper(call: Call, home: Path) -> None:
    pytest.importorskip("matplotlib")
    done = call("bench", "--figures", "paper")
    names = {path.name for path in (home / "paper").iterdir()}
    assert f"wrote {len(names)} files into paper" in done.stderr
    title = "x-accuracy-with-95-intervals"
    assert {
        f"{title}.svg",
        f"{title}.pdf",
        f"{title}.csv",
        "x-benchmark-x-ranks.csv",
        "x-benchmark-x-ranks.tex",
    } <= names
    assert (home / "paper" / f"{title}.csv").read_text().splitlines()[1].startswith("m,0.9,0.0,1.0,")


def test_without_matplotlib_nothing_is_read(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.extras.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=re.escape(install_command("figures"))):
        call("bench", "--figures", "paper")


def test_other_data_need_force(call: Call, home: Path) -> None:
    put(home / "bench" / "x" / "o", result("o", 0.5, "x", data="other"), [verdict("q0", Label.CORRECT)])
    with pytest.raises(ConfigError, match=r"x: data is d.4"):
        call("bench")
    assert "so the numbers are not comparable" in " ".join(call("bench", "--force").stdout.split())


def test_a_name_cannot_steer_the_terminal(call: Call, home: Path) -> None:
    put(home / "bench" / "x" / "bad", result("\x1b[31mred[bold]", 0.5, "x"), [verdict("q0", Label.CORRECT)])
    shown = call("bench").stdout
    assert "\x1b" not in shown
    assert "␛[31mred[bold]" in shown


def test_json_of_a_kept_board_is_the_same_until_a_run_changes(
    call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mores.benchmark.board.WORTH_KEEPING", 1)
    first = call("bench", "--json").stdout
    with monkeypatch.context() as without:
        without.setattr("mores.benchmark.board.rank_runs", None)
        assert call("bench", "--json").stdout == first
    made = home / "bench" / "x" / "n" / "result.json"
    made.write_text(made.read_text("utf-8").replace('"value":0.1', '"value":0.2'), "utf-8")
    assert json.loads(call("bench", "--json").stdout) != json.loads(first)
