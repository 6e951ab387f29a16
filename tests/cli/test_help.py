"""What helps a new user before a run: suggestions, what a benchmark is, what a run would cost, public names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import mores as package
import mores_start
from mores.benchmark import BENCHMARKS, benchmark
from mores.cli import COMMANDS, main
from mores.cli import mores as commands
from tests.cli.conftest import Run
from tests.cli.test_diagnose import write_stories
from tests.engine.server import Server


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("scroe", "t.jsonl"), "no such command 'scroe'; did you mean 'score'?"),
        (("judgecheck",), "did you mean 'judge-check'?"),
        (("xyz",), "no such command 'xyz'; there are score, bench,"),
        (("bench", "mqsa"), "did you mean 'msqa'?"),
        (("bench", "info", "mqsa"), "did you mean 'msqa'?"),
        (("bench", "msqa", "--model", "opnai:x", "--judge", "fake:"), "did you mean 'openai:x'?"),
        (("bench", "normad", "--model", "fake:cleen", "--data", "."), "did you mean 'fake:clean'?"),
    ],
)
def test_a_misspelt_name_is_suggested(mores: Run, arguments: tuple[str, ...], words: str) -> None:
    done = mores(*arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_model_that_the_server_lists_is_suggested(mores: Run, home: Path) -> None:
    (home / "t.txt").write_text("Hello\n")
    with Server() as server:
        server.models = ["llama-3.1-8b", "qwen3-14b"]
        done = mores("score", "t.txt", "--model", "openai:lama-3.1-8b", "--base-url", server.url)
    assert done.returncode == 1
    assert "The model does not exist; did you mean 'openai:llama-3.1-8b'? check" in done.stderr


def test_the_columns_that_were_found_are_listed(mores: Run, home: Path) -> None:
    (home / "t.csv").write_text("body,lang\nHello,en\n")
    done = mores("score", "t.csv", "--model", "fake:clean")
    assert done.returncode == 1
    assert "no field 'text'; expected 'instruction' and 'text'; found 'body', 'lang'" in done.stderr


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_is_explained(mores: Run, name: str) -> None:
    chosen, done = benchmark(name), mores("bench", "info", name)
    assert done.returncode == 0, done.stderr
    for words in (
        chosen.title,
        chosen.homepage,
        chosen.licence,
        chosen.files,
        *chosen.figures,
        *chosen.groupings,
        *chosen.variants,
    ):
        assert words in done.stdout
    [printed] = json.loads(mores("bench", "info", name, "--json").stdout)
    assert any(text.strip() for text in printed["prompts"].values())
    assert printed["paper"] != printed["homepage"], "a citation"
    assert "questions" not in printed, "no data are named"


def test_questions_are_counted_by_language_topic_and_region(mores: Run, home: Path) -> None:
    rows = [
        ("zh", "cn", "Food", 12), ("zh", "cn", "Food", 3), ("zh", "hk", "Law", 0), ("ja", "jp", "Law", 15),
    ]  # fmt: skip
    fields = dict.fromkeys(("scenario", "question", "answer", "explanation"), "x")
    fields |= {f"english_{name}": "x" for name in fields}
    lines = [
        json.dumps(
            {"language": language, "region": region, "topic": topic, "eval_sum": solved} | fields | {"question": str(n)}
        )
        for n, (language, region, topic, solved) in enumerate(rows)
    ]
    (home / "data" / "culturall").mkdir(parents=True)
    (home / "data" / "culturall" / "annotated_data.jsonl").write_text("\n".join([*lines, '{"language": "zh"}']))
    done = mores("bench", "info", "culturall", "--data", "data")
    assert "Lin et al., 2026. CulturALL" in done.stdout
    assert "arXiv:2604.19262" in done.stdout
    assert "by language: Chinese 3; Japanese 1" in done.stdout
    assert "left out 1 bad row" in done.stderr
    [printed] = json.loads(mores("bench", "info", "culturall", "--data", "data", "--json").stdout)
    assert printed["questions"] == 4
    assert printed["by topic"] == {"Food": 2, "Law": 2}
    assert printed["by region"] == {"China": 2, "Hong Kong": 1, "Japan": 1}
    assert printed["by tier"] == {"Hard": 2, "Easy": 1}
    assert printed["by language, tier"] == {"Chinese, Hard": 2, "Chinese, Easy": 1}


def test_a_dry_run_counts_calls_and_cost_and_asks_nothing(mores: Run, home: Path) -> None:
    write_stories(home)
    run = ("bench", "normad", "--data", "data", "--model", "fake:clean", "--price", "1,10")
    done = mores(*run, "--dry-run", "--limit", "10", "--samples", "2")
    assert done.returncode == 0, done.stderr
    assert "20 calls would be sent; 0 answers are in the store already" in done.stdout
    assert "about $" in done.stdout
    assert not (home / "bench").exists()
    mores(*run, "--limit", "10")
    printed = json.loads(mores(*run, "--dry-run", "--limit", "10", "--samples", "2", "--json").stdout)
    [estimate] = printed.values()
    assert (estimate["calls"], estimate["known"]) == (10, 10)


def test_a_dry_run_counts_the_judge(mores: Run, home: Path) -> None:
    sample = Path(package.__file__).parent / "benchmark" / "msqa" / "sample"
    (home / "data").mkdir()
    (home / "data" / "msqa").symlink_to(sample)
    done = mores("bench", "msqa", "--data", "data", "--model", "fake:clean", "--judge", "fake:silent", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "msqa: fake:silent as the judge, at least:\n5 calls would be sent" in done.stdout


def test_the_public_names_are_listed() -> None:
    assert set(package.__all__) <= set(dir(package))


HELPS = json.loads((Path(package.__file__).parent / "cli" / "help.json").read_text("utf-8"))


@pytest.mark.parametrize("columns", [60, pytest.param(140, marks=pytest.mark.slow)])
def test_written_help_is_the_help_of_the_commands(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert {name.split()[0] for name in HELPS} == set(COMMANDS)
    for name in HELPS:
        assert mores_start.show_help([*name.split(), "--help"])
        written = capsys.readouterr().out
        command: Any = commands
        for word in name.split():
            command = command.get_command(click.Context(command), word)
            command._help_option = None  # a test that called it alone has left one without -h
        with pytest.raises(SystemExit):
            main([*name.split(), "-h"])
        assert written == capsys.readouterr().out


def test_help_needs_no_imports_of_the_command() -> None:
    code = "import sys, mores_start; mores_start.show_help(['bench', '--help']); sys.exit('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Ask a model the questions of BENCHMARK..." in done.stdout


def test_a_package_that_adds_names_has_the_command_speak_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine-1.dist-info").mkdir()
    (tmp_path / "mine-1.dist-info" / "entry_points.txt").write_text("[mores.languages]\nmine = mine:check\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert not mores_start.show_help(["bench", "--help"])


@pytest.mark.parametrize("arguments", [[], ["--help"], ["score"], ["score", "texts.jsonl", "--help"], ["no", "-h"]])
def test_everything_else_is_for_the_command(arguments: list[str]) -> None:
    assert not mores_start.show_help(arguments)
