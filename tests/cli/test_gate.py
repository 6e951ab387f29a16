"""Gates for continuous integration: which exit code a command ends with."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Run
from tests.cli.test_diagnose import play, write_stories

CLEAN = '{"errors": [], "explanation": ""}'


def report(severity: str) -> str:
    error = {"side": "text", "quote": "bad", "severity": severity, "type": "t", "explanation": "e"}
    return json.dumps({"errors": [error], "explanation": ""})


@pytest.fixture
def judge(home: Path) -> str:
    """Ten texts: seven are fine, two have a minor error, and of one the judge makes no sense."""
    rows = [{"id": str(i), "text": f"text{i} bad"} for i in range(10)]
    (home / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [("text0", report("minor")), ("text1", report("minor")), ("text2", "nonsense"), ("", CLEAN)]
    (home / "j.jsonl").write_text(
        "".join(json.dumps({"contains": text, "answer": answer}) + "\n" for text, answer in answers)
    )
    return "fake:j.jsonl"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 0, ""),
        (("--fail-on", "major"), 3, "1 of 10 texts could not be judged, and may be worse than the others"),
        (("--fail-on", "major", "--max-unjudged", "1"), 0, ""),
        (("--fail-on", "minor"), 3, "2 minor errors"),
        (("--fail-under", "-1"), 3, "judge them again, or set max_unjudged"),
        (("--fail-under", "-1", "--max-unjudged", "10%"), 0, ""),
        (("--fail-under", "1"), 3, "is below 1"),
        (("--max-unjudged", "1"), 0, ""),
        (("--max-unjudged", "10%"), 0, ""),
        (("--max-unjudged", "0.1"), 0, ""),
        (("--max-unjudged", "0"), 3, "1 of 10 texts could not be judged; at most 0 may be"),
        (("--max-unjudged", "9.9%"), 3, "at most 9.9% may be"),
        (("--fail-on", "minor", "--max-unjudged", "0"), 3, "2 minor errors; 1 of 10 texts"),
        (("--max-unjudged", "some"), 2, "'some' is not a number or a share; give one such as 3 or 5%"),
        (("--max-unjudged", "120%"), 2, "'120%' is not a number or a share"),
    ],
)
def test_texts(mores: Run, judge: str, options: tuple[str, ...], code: int, words: str) -> None:
    done = mores("score", "t.jsonl", "--model", judge, *options)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert ("gate failed" in done.stderr) == (code == 3)


def test_bad_rows_that_were_left_out_are_not_judged(mores: Run, home: Path, judge: str) -> None:
    with (home / "t.jsonl").open("a") as file:
        file.write('{"no text": 1}\n')
    done = mores("score", "t.jsonl", "--model", judge, "--skip-bad", "--max-unjudged", "1")
    assert done.returncode == 3
    assert "2 of 11 texts could not be judged" in done.stderr


def write_texts(path: Path, wrong: int, n: int = 12) -> None:
    """Texts with the same ids, of which the judge finds a major error in the first ones."""
    rows = [{"id": f"q{i}", "text": f"text {i} {'bad' if i < wrong else 'fine'}"} for i in range(n)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def strict(home: Path) -> str:
    answers = [{"contains": "bad", "answer": report("major")}, {"contains": "", "answer": CLEAN}]
    (home / "j.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return "fake:j.jsonl"


def test_texts_that_are_worse_than_those_of_an_earlier_run_fail(mores: Run, home: Path, strict: str) -> None:
    write_texts(home / "t.jsonl", 1)
    assert mores("score", "t.jsonl", "--model", strict, "--out", "earlier").returncode == 0
    gate = ("--model", strict, "--baseline", "earlier")
    write_texts(home / "t.jsonl", 3)  # two more: chance
    assert mores("score", "t.jsonl", *gate, "--out", "now").returncode == 0
    write_texts(home / "t.jsonl", 11)
    done = mores("score", "t.jsonl", *gate, "--out", "worse")
    assert done.returncode == 3
    # ten of twelve texts lose, and none gains: 2 of 2^10 ways to swap them are as extreme
    assert "significantly worse than earlier on 12 texts: mean score" in done.stderr
    assert "texts without errors −83.3 points, p 0.002" in done.stderr
    write_texts(home / "t.jsonl", 0)
    assert mores("score", "t.jsonl", *gate, "--out", "better").returncode == 0


def test_a_baseline_must_be_a_run_of_the_same_judge_over_the_same_ids(mores: Run, home: Path, strict: str) -> None:
    write_texts(home / "t.jsonl", 1)
    mores("score", "t.jsonl", "--model", strict, "--out", "earlier")
    done = mores("score", "t.jsonl", "--model", "fake:clean", "--baseline", "earlier")
    assert done.returncode == 2
    assert "scores are comparable only from the same judge (--baseline)" in done.stderr
    (home / "u.jsonl").write_text('{"id": "other", "text": "fine"}\n')
    done = mores("score", "u.jsonl", "--model", strict, "--baseline", "earlier")
    assert done.returncode == 3
    assert "no text has a score both here and in earlier; texts are paired by their ids" in done.stderr


def test_hosted_ci_gets_a_test_for_each_text_and_annotations_in_its_files(mores: Run, home: Path) -> None:
    rows = [
        {"id": "fine", "text": "fine"},
        {"id": "a\nb,1", "text": "worst bad \u0001"},
        {"id": "small", "text": "minor bad"},
        {"id": "lost", "text": "nonsense"},
    ]
    (home / "t.jsonl").write_text("\n" + "\n\n".join(map(json.dumps, rows)))  # rows are in lines 2, 4, 6 and 8
    answers = [("worst", report("major")), ("minor", report("minor")), ("nonsense", "no JSON"), ("", CLEAN)]
    (home / "j.jsonl").write_text("".join(json.dumps({"contains": text, "answer": a}) + "\n" for text, a in answers))
    options = ("--model", "fake:j.jsonl", "--fail-on", "major", "--junit", "junit.xml", "--annotations")
    done = mores("score", "t.jsonl", *options)
    assert done.returncode == 3
    assert [line for line in done.stderr.splitlines() if line.startswith("::")] == [
        "::error file=t.jsonl,line=4,title=major error%3A t::a%0Ab,1: 'bad': e",
        "::warning file=t.jsonl,line=6,title=minor error%3A t::small: 'bad': e",
        "::warning file=t.jsonl,line=8,title=not judged::lost: " + done.stderr.partition("::lost: ")[2].splitlines()[0],
        "::error title=gate failed::1 major error",
    ]
    suite = ElementTree.fromstring((home / "junit.xml").read_text("utf-8"))
    assert suite.attrib == {"name": "mores score t.jsonl", "tests": "5", "failures": "2", "errors": "1", "skipped": "0"}
    assert [(case.get("name"), case.get("line"), [child.tag for child in case]) for case in suite] == [
        ("fine", None, []),
        ("a\nb,1", "4", ["failure"]),
        ("small", "6", ["system-out"]),
        ("lost", "8", ["error"]),
        ("gate", None, ["failure"]),
    ]


def test_lines_of_plain_files_are_annotated_too(mores: Run, home: Path, strict: str) -> None:
    (home / "plain.txt").write_text("fine\n\nbad\n")
    done = mores("score", "-t", "plain.txt", "--model", strict, "--annotations", "--junit", "j.xml")
    assert "::error file=plain.txt,line=3,title=major error%3A t::3: 'bad': e" in done.stderr
    refused = mores("score", "-t", "plain.txt", "--model", strict, "--junit", "nowhere/j.xml")
    assert refused.returncode == 1
    assert "nowhere/j.xml: no folder nowhere; make it first: mkdir -p nowhere" in refused.stderr


@pytest.mark.usefixtures("judge")
def test_no_gate_passes_when_nothing_was_judged(mores: Run) -> None:
    done = mores("score", "t.jsonl", "--model", "fake:broken", "--fail-on", "major", "--max-unjudged", "100%")
    assert done.returncode == 1
    assert "no text could be judged" in done.stderr


def bench(mores: Run, home: Path, right: int, name: str, *options: str) -> tuple[int, str]:
    """A run of a hundred stories of which so many are answered right, and every tenth not at all."""
    model = play(home, lambda n: "nonsense" if n % 10 == 0 else "yes" if n < right else "no", name=name)
    done = mores("bench", "normad", "--data", "data", "--model", model, "--out", name, *options)
    return done.returncode, done.stderr


@pytest.mark.slow
def test_benchmarks(mores: Run, home: Path) -> None:
    write_stories(home)
    assert bench(mores, home, 80, "old")[0] == 0
    assert bench(mores, home, 80, "old", "--fail-under", "72%", "--max-unjudged", "10")[0] == 0
    code, message = bench(mores, home, 80, "old", "--fail-under", "73%", "--max-unjudged", "10")
    assert code == 3
    assert "normad: accuracy 80.0% may be below 73.0%: 10 answers could not be scored, and it is 72.0% if" in message
    code, message = bench(mores, home, 80, "old", "--fail-under", "0.81", "--max-unjudged", "9%")
    assert code == 3
    assert "normad: accuracy 80.0% is below 81.0%" in message
    assert "10 of 100 answers of normad could not be judged; at most 9% may be" in message
    assert bench(mores, home, 80, "old", "--fail-under", "80")[0] == 2
    assert bench(mores, home, 0, "none", "--baseline", "nowhere")[0] == 2


@pytest.mark.often("80-0")
@pytest.mark.parametrize(("right", "code"), [(95, 0), (80, 0), (78, 0), (60, 3)])
def test_a_run_that_is_significantly_worse_than_its_baseline_fails(
    mores: Run, home: Path, right: int, code: int
) -> None:
    write_stories(home)
    bench(mores, home, 80, "old")
    status, message = bench(mores, home, right, "new", "--baseline", "old/normad", "--max-unjudged", "10")
    assert status == code, message
    assert ("normad: significantly worse than old/normad/fake_old.jsonl: −20.0 points on 90 questions" in message) == (
        code == 3
    )


def test_wrong_answers_that_cannot_be_scored_let_no_gate_pass(mores: Run, home: Path) -> None:
    """A model is correct on 60 of 100 stories, where it had been on 80; 30 of its wrong answers cannot be read."""
    write_stories(home)
    old, new = (
        play(home, lambda n: "yes" if n < 80 else "no", name="old"),
        play(home, lambda n: "yes" if n < 60 else "nonsense" if n < 90 else "no", name="new"),
    )

    def gated(*options: str) -> tuple[int, str]:
        done = mores("bench", "normad", "--data", "data", "--model", new, "--out", "new", *options)
        return done.returncode, done.stderr

    assert mores("bench", "normad", "--data", "data", "--model", old, "--out", "old").returncode == 0
    assert gated("--fail-under", "60%")[0] == 0
    code, message = gated("--fail-under", "61%")  # where 85.7% of the answers with a score are correct
    assert (code, "accuracy 85.7% may be below 61.0%" in message) == (3, True)
    code, message = gated("--baseline", "old")  # which is as good on the questions that have a score in both
    assert (code, "if answers without a score are as bad as they can be, significantly worse than" in message) == (
        3,
        True,
    )
    assert gated("--baseline", "old", "--max-unjudged", "30")[0] == 0
    assert gated("--baseline", "old", "--max-unjudged", "29")[0] == 3


def test_a_judge_that_fails_on_bad_texts_lets_no_gate_pass(mores: Run, home: Path, judge: str) -> None:
    answers = [("text0", "nonsense"), ("text1", "nonsense"), ("text2", "nonsense"), ("", CLEAN)]
    rows = (json.dumps({"contains": text, "answer": answer}) + "\n" for text, answer in answers)
    (home / "j.jsonl").write_text("".join(rows))
    for gate in ("--fail-on=minor", "--fail-under=0.5"):
        done = mores("score", "t.jsonl", "--model", judge, gate)
        assert done.returncode == 3
        assert "gate failed: 3 of 10 texts could not be judged" in done.stderr


@pytest.mark.slow
def test_a_baseline_is_read_before_the_run_takes_its_place(mores: Run, home: Path) -> None:
    write_stories(home)
    bench(mores, home, 90, "same")
    code, message = bench(mores, home, 30, "same", "--baseline", "same", "--fresh")
    assert code == 3, message


def test_a_baseline_of_another_benchmark_is_refused(mores: Run, home: Path) -> None:
    write_stories(home)
    bench(mores, home, 80, "old", "--variant", "rule")
    code, message = bench(mores, home, 80, "new", "--baseline", "old")
    assert code == 2
    assert "contains no run that asks normad in the same way" in message
