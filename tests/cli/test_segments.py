"""`mores score` on files with one text per line, and on the logs of other harnesses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.metric.folder import open_score_run
from tests.cli.conftest import Run
from tests.harness.test_logs import FORK, inspect_sample, lm_eval_sample, write_eval

FOUND = {"side": "text", "quote": "fork", "severity": "major", "type": "x", "explanation": "y"}
ERROR, CLEAN = (json.dumps({"errors": errors, "explanation": "z"}) for errors in ([FOUND], []))


def put(name: str, *lines: str) -> None:
    Path(name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def script(*rows: tuple[str, str]) -> str:
    """A judge who answers by what is in the prompt."""
    put("judge.jsonl", *(json.dumps({"contains": word, "answer": answer}) for word, answer in rows))
    return "fake:judge.jsonl"


def test_a_score_for_each_line_and_one_for_the_system(mores: Run) -> None:
    put("src.txt", "How is sushi eaten?", "And pasta?", "", "And rice?")
    put("a.txt", FORK, "", "With a fork.", "It is boiled.")
    put("b.txt", "By hand.", "By hand.", "By hand.", "nonsense")
    judge = script(("nonsense", "?"), ("fork", ERROR), ("", CLEAN))
    done = mores("score", "-s", "src.txt", "-t", "a.txt", "b.txt", "--model", judge)
    assert done.returncode == 0, done.stderr
    clean = "0.9048"  # exp(-0.1), which the fake's tokens have
    assert done.stdout.splitlines() == [
        "a.txt\tSegment 0\tscore: -5.0000",
        "a.txt\tSegment 1\tscore: nan\tthe line is empty",
        "a.txt\tSegment 2\tscore: -5.0000",
        f"a.txt\tSegment 3\tscore: {clean}",
        "a.txt\tscore: -3.0317",  # (-5 - 5 + 0.9048) / 3
        *(f"b.txt\tSegment {number}\tscore: {clean}" for number in range(3)),
        next(line for line in done.stdout.splitlines() if line.startswith("b.txt\tSegment 3\tscore: nan\tnot JSON")),
        f"b.txt\tscore: {clean}",
    ]
    judged = open_score_run("a.txt.fake_judge.jsonl.score").judgements()
    assert [(judgement.sample_id, judgement.instruction) for judgement in judged] == [
        ("1", "How is sushi eaten?"), ("3", "Generate a culturally correct text."), ("4", "And rice?")
    ]  # fmt: skip


def test_references_are_evidence(mores: Run) -> None:
    put("a.txt", FORK)
    put("r.txt", "Sushi is eaten with chopsticks.")
    judge = script(("Sushi is eaten with chopsticks.", ERROR), ("", CLEAN))
    done = mores("score", "-t", "a.txt", "-r", "r.txt", "--only-system", "--model", judge)
    assert done.stdout == "a.txt\tscore: -5.0000\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "give one file of TEXTS, or --from KIND:LOG, or -t FILE"),
        (["a.txt", "b.txt"], 2, "give one file of TEXTS"),
        (["a.txt", "--from", "inspect:log.eval"], 2, "give one file of TEXTS"),
        (["a.txt", "-s", "a.txt"], 2, "-s, -r and --only-system go with -t FILE"),
        (["-t", "a.txt", "--out", "-"], 2, "with -t the scores are printed"),
        (["-t", "a.txt", "b.txt", "--html", "p.html"], 2, "--html shows one run"),
        (["-t", "a.txt", "sub/a.txt", "--out", "runs"], 2, "two files are called a.txt, and --out has a folder for"),
        (["-t", "a.txt", "-s", "two.txt"], 1, "two.txt has 2 lines, a.txt has 1; line n of each"),
        (["-t", "none.txt"], 1, "none.txt: no such file"),
        (["-t", "blank.txt"], 1, "blank.txt: contains no text"),
        (["-t", "latin.txt"], 1, "latin.txt:2: not valid UTF-8"),
        (
            ["--from", "helm:log.json"],
            2,
            "write inspect:LOG.eval, lm-eval:SAMPLES.jsonl or promptfoo:RESULTS.json (--from)",
        ),
        (["--from", "inspect:none.eval"], 1, "none.eval: no such file"),
    ],
)
def test_wrong_input_is_refused_with_the_fix(mores: Run, arguments: list[str], code: int, words: str) -> None:
    put("a.txt", FORK)
    put("two.txt", "a", "b")
    put("blank.txt", "", " ")
    Path("latin.txt").write_bytes(b"a\ncaf\xe9\n")
    done = mores("score", *arguments, "--model", "fake:clean")
    assert done.returncode == code
    assert words in done.stderr


def test_all_systems_are_checked_before_the_first_is_judged(mores: Run) -> None:
    put("a.txt", FORK)
    put("two.txt", "a", "b")
    put("src.txt", "How is sushi eaten?")
    done = mores("score", "-s", "src.txt", "-t", "a.txt", "two.txt", "--model", "fake:clean", "--out", "runs")
    assert done.returncode == 1
    assert "src.txt has 1 line, two.txt has 2" in done.stderr
    assert not Path("runs").exists()


def test_a_gate_that_fails_for_one_system_leaves_no_other_out(mores: Run) -> None:
    for name, text in (("a.txt", FORK), ("b.txt", "By hand."), ("c.txt", "With a fork.")):
        put(name, text)
    judge = script(("fork", ERROR), ("", CLEAN))
    done = mores("score", "-t", "a.txt", "b.txt", "c.txt", "--only-system", "--fail-on", "major", "--model", judge)
    assert done.returncode == 3
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["a.txt", "b.txt", "c.txt"]
    assert done.stderr.endswith("gate failed: a.txt: 1 major error; c.txt: 1 major error\n")


def test_logs_of_other_harnesses_are_judged(mores: Run) -> None:
    write_eval(Path("log.eval"), inspect_sample(), inspect_sample("bad", output={"choices": []}))
    put("samples.jsonl", json.dumps(lm_eval_sample()))
    judge = script(("fork", ERROR), ("", CLEAN))
    stopped = mores("score", "--from", "inspect:log.eval", "--model", judge)
    assert stopped.returncode == 1
    assert "log.eval: sample 2: 'bad', epoch 1, has no answer (empty); leave it out (--skip-bad)" in stopped.stderr
    done = mores("score", "--from", "inspect:log.eval", "--model", judge, "--skip-bad", "--html", "page.html")
    assert done.stdout.splitlines()[-1] == "1 text, 1 judged; mean score −5.000"
    assert "JP" in done.stdout
    assert FORK.split("fork")[0] in Path("page.html").read_text("utf-8")
    done = mores("score", "--from", "lm-eval:samples.jsonl", "--model", judge, "--json")
    assert json.loads(done.stdout)["errors"] == {"major": 1, "minor": 0}
