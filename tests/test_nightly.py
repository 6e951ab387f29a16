"""The workflow in examples/nightly.yml, and the pattern for pytest in docs/ci.md: both do what they say."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from mores.benchmark import benchmark
from mores.benchmark.contract import correct_answer
from tests.cli.conftest import Run, home, mores
from tests.cli.test_diagnose import script
from tests.test_docs import ROOT, check_options

pytest_plugins = ["pytester"]
__all__ = ["home", "mores"]  # fixtures

WORKFLOW = ROOT / "examples" / "nightly.yml"


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}  # YAML reads the key `on` as True
    result: dict[str, Any] = workflow["jobs"]
    return result


def commands(job: dict[str, Any]) -> list[str]:
    lines = [line.strip() for step in job["steps"] for line in step.get("run", "").splitlines()]
    return [line for line in lines if line.startswith("mores ")]


def uploads(job: dict[str, Any]) -> list[str]:
    [step] = [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
    assert step["if"] == "always()", "a page is needed most when a gate failed"
    return str(step["with"]["path"]).split()


def test_each_job_is_one_that_github_accepts(jobs: dict[str, Any]) -> None:
    for job in jobs.values():
        assert job["runs-on"]
        assert job["timeout-minutes"] <= 360
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
        assert {step["uses"] for step in job["steps"] if "uses" in step} <= {
            f"actions/{name}" for name in ("checkout@v4", "setup-python@v5", "cache@v4", "upload-artifact@v4")
        }
        for line in commands(job):
            check_options(line)
            assert "--max-unjudged" in line, "otherwise a broken judge may pass"


def test_its_shell_lines_parse(jobs: dict[str, Any]) -> None:
    for job in jobs.values():
        for step in job["steps"]:
            if "run" in step:
                subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)


CLEAN = '{"errors": [], "explanation": ""}'


@pytest.mark.slow
@pytest.mark.parametrize("name", ["api", "vllm"])
@pytest.mark.parametrize("broken", [False, True])
def test_its_commands_write_what_it_uploads(
    jobs: dict[str, Any], mores: Run, home: Path, name: str, broken: bool
) -> None:
    """With a fake model that knows every answer; where one answer makes no sense, gates fail and pages are there."""
    lines = [
        [re.sub(r"^openai:.*", "fake:m.jsonl", word) for word in shlex.split(line)[1:]] for line in commands(jobs[name])
    ]
    asked = sorted({word for line in lines if line[0] == "bench" for word in line[1 : line.index("--model")]})
    answers = [("with a spoon", CLEAN), ("with a fork", "?" if broken else CLEAN)]
    (home / "data").mkdir()
    for loaded in map(benchmark, asked):
        assert loaded.folder
        (home / "data" / loaded.source).symlink_to(loaded.folder / "sample")
        items = list(loaded.read(loaded.folder / "sample", lambda error: pytest.fail(str(error))))
        answers += [(item.prompt, correct_answer(loaded, item)) for item in items]
    script(home / "m.jsonl", answers)
    baseline = mores(
        "bench", *asked, "--data", "data", "--model", "fake:m.jsonl", "--out", "baseline", MORES_CACHE="last"
    )
    assert baseline.returncode == 0, baseline.stderr
    if broken:
        for line in lines:  # a good night, whose answers are in the store
            if line[0] == "bench":
                assert mores(*line, "--data", "data").returncode == 0
        script(home / "m.jsonl", [(text, answer) for text, answer in answers if answer == CLEAN] + [("", "?")])
    (home / "texts.jsonl").write_text('{"text": "Eaten with a spoon."}\n{"text": "Eaten with a fork."}\n')
    (home / "vllm.log").touch()
    for line in lines:
        done = mores(*line, *(("--data", "data") if line[0] == "bench" else ()))
        assert (done.returncode != 0) == broken, done.stderr
    assert [path for path in uploads(jobs[name]) if not (home / path).exists()] == []
    assert len(list(home.glob("bench*/bench.html"))) == 1


REPORT = {
    "errors": [
        {"side": "text", "quote": "with a fork", "severity": "major", "type": "custom",
         "explanation": "Sushi is eaten with chopsticks or by hand."}
    ],
    "explanation": "",
}  # fmt: skip


@pytest.fixture
def pattern(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The test file of the docs, with a judge that finds an error in every text and calls all stories fine."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "ci.md").read_text("utf-8"), re.DOTALL)
    [code] = [block for block in blocks if "def test_" in block]
    normad = benchmark("normad").folder
    assert normad
    pytester.mkdir("datasets").joinpath("normad").symlink_to(normad / "sample")
    answers = [{"contains": "Answer with one word", "answer": "yes"}, {"contains": "", "answer": json.dumps(REPORT)}]
    pytester.path.joinpath("j.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    code = code.replace("openai:gpt-4.1-mini", "fake:j.jsonl").replace("with chopsticks or by hand", "with a fork")
    pytester.path.joinpath("test_culture.py").write_text(code)
    monkeypatch.setenv("MORES_CACHE", str(pytester.path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return pytester


@pytest.mark.slow
def test_a_failed_gate_is_shown_at_the_line_of_the_test(pattern: pytest.Pytester) -> None:
    result = pattern.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            ">*.check(mores.score(answers(), JUDGE))",
            "E*GateError: 1 major error",
            "E*: major error in 'with a fork': Sushi is eaten with chopsticks or by hand.",
            "test_culture.py:*: GateError",
            "E*GateError: normad: accuracy *% is below 60.0%",
        ]
    )
    result.stdout.no_fnmatch_line("*mores?gate.py*")


def test_without_a_key_nothing_is_asked(pattern: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    pattern.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist").assert_outcomes(skipped=2)
    assert not (pattern.path / "cache").exists()


def test_pytest_of_others_does_not_load_mores() -> None:
    assert [point for point in entry_points(group="pytest11") if point.value.startswith("mores")] == []
    imports = re.compile(r"^\s*(?:import|from) _?pytest\b", re.MULTILINE)
    assert [path for path in (ROOT / "src").rglob("*.py") if imports.search(path.read_text("utf-8"))] == []
