"""`mores bench`, through the real command."""

from __future__ import annotations

import csv
import json
import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest
from aiohttp import web

from mores.benchmark import BENCHMARKS, benchmark
from mores.benchmark.api import open_session
from mores.benchmark.benchmark import Label, Verdict
from mores.benchmark.choice import grade_letter, shuffle
from mores.benchmark.folder import open_bench_run
from mores.benchmark.score import BenchResult
from mores.benchmark.settings import QuestionSettings
from mores.benchmark.topics import TopicsRun
from mores.errors import ConfigError
from mores.formatting import headline_interval, possible, share_between
from mores.io import read_records
from mores.run import open_run
from mores.stats.results import share_result
from mores.types import Item
from tests.cli.conftest import Run
from tests.engine.server import Server, completion
from tests.runs import write_manifest

REAL = Path(os.environ.get("MORES_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data")
HARD = "culturalbench-hard"
QUESTIONS = 200


@pytest.fixture
def data(home: Path) -> Path:
    """A folder of datasets, each with its sample rows."""
    folder = home / "data"
    folder.mkdir()
    for chosen in map(benchmark, BENCHMARKS):
        assert chosen.folder
        sample, target = chosen.folder / "sample", folder / chosen.source
        if sample.is_dir() and not target.exists():
            target.symlink_to(sample)
    return folder


@pytest.fixture
def statements(home: Path) -> Path:
    """Hundreds of questions of four statements, in the published columns."""
    folder = home / "many" / "culturalbench"
    folder.mkdir(parents=True)
    with (folder / "CulturalBench-Hard.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question_idx", "prompt_question", "prompt_option", "answer", "country"])
        for question in range(QUESTIONS):
            for option in range(4):
                country = ("Chile", "Japan")[question % 2]
                rows.writerow([question, f"What is {question}?", f"This {option}.", option == question % 4, country])
    return folder.parent


def items(name: str, folder: Path) -> list[Item]:
    chosen = benchmark(name)
    return list(chosen.read(folder / chosen.source, lambda _: None))


def script(path: Path, rows: Iterable[tuple[str, str]]) -> str:
    """A model that answers as the rows say; the longest first, for one prompt may be the start of another."""
    ordered = sorted(rows, key=lambda row: -len(row[0]))
    path.write_text("".join(json.dumps({"contains": text, "answer": answer}) + "\n" for text, answer in ordered))
    return f"fake:{path.name}"


def oracle(item: Item) -> str:
    return ascii_uppercase[item.choices.index(item.target[0])] if item.choices else item.target[0]


def play(home: Path, questions: Iterable[Item], answer: Callable[[Item], str], name: str = "model") -> str:
    return script(home / f"{name}.jsonl", ((item.prompt, answer(item)) for item in questions))


def result(stdout: str) -> BenchResult:
    [only] = json.loads(stdout)
    return BenchResult.model_validate(only)


RULED = [name for name in BENCHMARKS if benchmark(name).grade is not None]


@pytest.mark.parametrize("name", RULED)
def test_the_oracle_is_right(mores: Run, home: Path, data: Path, name: str) -> None:
    model = play(home, items(name, data), oracle)
    done = mores("bench", name, "--data", "data", "--model", model, "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    overall = outcome.figures["accuracy"]
    assert (overall.value, overall.high, overall.unscored) == (1.0, 1.0, 0)
    assert overall.n == outcome.questions >= 5
    assert outcome.rows is None or outcome.rows.value == 1.0
    folder = home / "bench" / name / "fake_model.jsonl"
    assert {path.name for path in folder.iterdir()} >= {"responses.jsonl", "verdicts.jsonl", "result.json"}
    assert BenchResult.model_validate_json((folder / "result.json").read_bytes()) == outcome


CHOICES = [name for name in RULED if benchmark(name).grade is grade_letter]


@pytest.mark.parametrize("name", CHOICES)
def test_shuffled_options_take_their_letters_and_the_answer_along(
    mores: Run, home: Path, data: Path, name: str
) -> None:
    published = items(name, data)
    expected = [shuffle(item, 3) for item in published]
    assert {item.id: sorted(item.choices) for item in published} == {i.id: sorted(i.choices) for i in expected}
    assert any(before.choices != after.choices for before, after in zip(published, expected, strict=True))
    model = play(home, expected, oracle)
    done = mores("bench", name, "--data", "data", "--model", model, "--shuffle-options", "3", "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    assert (outcome.figures["accuracy"].value, outcome.figures["accuracy"].unscored) == (1.0, 0)
    assert outcome.signature["options"] == outcome.options == "shuffled.3"
    folder = open_bench_run(home / "bench" / f"{name}.shuffled3" / "fake_model.jsonl")
    assert folder.items() == expected


def test_what_has_no_letters_cannot_be_shuffled(mores: Run, data: Path) -> None:
    done = mores("bench", HARD, "--data", str(data), "--model", "fake:clean", "--shuffle-options", "3")
    assert done.returncode == 2
    assert "culturalbench-hard has no lettered options to shuffle (--shuffle-options)" in done.stderr


def test_a_board_keeps_shuffled_runs_apart(mores: Run, home: Path, data: Path) -> None:
    model = script(home / "a.jsonl", [("", "A")])
    for way in ((), ("--shuffle-options", "1")):
        assert mores("bench", "culturalbench-easy", "--data", str(data), "--model", model, *way).returncode == 0
    board = json.loads(mores("board", "bench", "--json").stdout)
    assert [leaderboard["benchmark"] for leaderboard in board["leaderboards"]] == [
        "culturalbench-easy", "culturalbench-easy.shuffled.1",
    ]  # fmt: skip
    assert board["leaderboards"][1]["title"].endswith("(shuffled.1)")


@pytest.mark.slow
def test_random_answers_are_near_one_sixteenth(mores: Run, home: Path, statements: Path) -> None:
    toss = random.Random(1)
    model = play(home, items(HARD, statements), lambda _: toss.choice(["True", "False"]))
    done = mores("bench", HARD, "--data", "many", "--model", model, "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    overall = outcome.figures["accuracy"]
    assert overall.low is not None
    assert overall.high is not None
    assert overall.low < 0.0625 < overall.high
    assert overall.value == pytest.approx(0.0625, abs=0.035)
    assert outcome.rows is not None
    assert outcome.rows.value == pytest.approx(0.5, abs=0.04)
    assert outcome.references["random"] == 0.0625


@pytest.mark.slow
@pytest.mark.skipif(not (REAL / "culturalbench").is_dir(), reason="the real CulturalBench is not here")
def test_always_false_on_the_real_data(mores: Run, home: Path) -> None:
    model = script(home / "false.jsonl", [("", "False")])
    done = mores("bench", HARD, "--data", str(REAL), "--model", model)
    assert done.returncode == 0, done.stderr
    overall = next(line for line in done.stdout.splitlines() if line.startswith("all"))
    assert overall.split()[1] == "0.0%"
    assert "1,227" in overall
    assert "statements alone 73.0%, random 6.2%, always False 0.0%, always False, statements 73.0%" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not (REAL / "culturalbench").is_dir(), reason="the real CulturalBench is not here")
def test_the_oracle_on_the_real_data(mores: Run, home: Path) -> None:
    model = play(home, items(HARD, REAL), oracle)
    done = mores("bench", HARD, "--data", str(REAL), "--model", model, "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    assert (outcome.questions, outcome.figures["accuracy"].value) == (1227, 1.0)
    assert {figures["accuracy"].value for groups in outcome.by.values() for figures in groups.values()} == {1.0}


@pytest.mark.slow
def test_what_unread_statements_could_change_is_said(mores: Run, home: Path, data: Path) -> None:
    statements = items(HARD, data)
    first, *_ = statements
    model = play(home, statements, lambda item: "hm" if item.id == first.id else oracle(item))
    done = mores("bench", HARD, "--data", "data", "--model", model)
    assert done.returncode == 0, done.stderr
    questions = len({benchmark(HARD).unit(item) for item in statements})
    known = share_result("accuracy", questions - 1, questions - 1, 1)
    assert f"accuracy {possible(known)}" in done.stdout
    headline = f"{HARD}, {model}: accuracy {share_between(known)}, n {questions - 1}, 1 unscored"
    assert done.stdout.splitlines()[-1] == headline
    page = (home / "bench" / "bench.html").read_text("utf-8")
    assert f"95%: {headline_interval(known)}" in page
    board = mores("board", "bench").stdout
    assert possible(known) in " ".join(board.split())


def test_an_unread_letter_is_no_failure_of_a_judge(mores: Run, home: Path, data: Path) -> None:
    first, *rest = items("culturalbench-easy", data)
    model = play(home, [first, *rest], lambda item: "hm" if item.id == first.id else oracle(item))
    way = ("--data", "data", "--model", model, "--judge-failures", "incorrect", "--json")
    done = mores("bench", "culturalbench-easy", *way)
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    overall = outcome.figures["accuracy"]
    assert (overall.value, overall.n, overall.unscored) == (1.0, len(rest), 1)
    assert (outcome.unjudged, outcome.signature["judge"]) == (None, "rule")


@pytest.mark.parametrize(
    ("stop", "graded", "words"),
    [
        ("length", True, "graded, but incomplete: {} answers were cut off"),
        ("content_filter", False, "could not be graded: {} answers were withheld by a content filter"),
        ("error", False, "could not be graded: {} requests were refused or not answered"),
    ],
)
def test_the_terminal_says_how_many_answers_are_incomplete(
    mores: Run, home: Path, data: Path, stop: str, graded: bool, words: str
) -> None:
    count = len(items("culturalbench-easy", data))
    (home / "stops.jsonl").write_text(json.dumps({"contains": "", "answer": "A", "stop": stop}))
    done = mores("bench", "culturalbench-easy", "--data", "data", "--model", "fake:stops.jsonl")
    assert (done.returncode == 0) is graded
    assert words.format(count) in " ".join(done.stdout.split()), done.stdout


@pytest.mark.usefixtures("statements")
def test_a_limit_takes_whole_questions_from_all_over(mores: Run, home: Path) -> None:
    model = script(home / "false.jsonl", [("", "False")])
    done = mores("bench", HARD, "--data", "many", "--model", model, "--limit", "10", "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    assert (outcome.questions, outcome.rows and outcome.rows.n) == (10, 40)
    verdicts = list(read_records(home / "bench" / HARD / "fake_false.jsonl" / "verdicts.jsonl", Verdict))
    assert {verdict.unit for verdict in verdicts} == {str(number) for number in range(0, QUESTIONS, QUESTIONS // 10)}


def test_samples_are_answers_to_the_same_question(mores: Run, home: Path, data: Path) -> None:
    model = play(home, items("normad", data), lambda item: "yes" if item.target == ("yes",) else "hm")
    done = mores("bench", "normad", "--data", "data", "--model", model, "--samples", "3", "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    overall = outcome.figures["accuracy"]
    assert (outcome.samples, outcome.questions, overall.n, overall.unscored) == (3, 5, 6, 9)
    assert overall.value == 1.0
    assert outcome.failures == {"parse": 9}
    assert outcome.signature["decoding"].endswith(",n3")


def test_a_second_run_needs_no_model(mores: Run, home: Path, data: Path) -> None:
    model = play(home, items("normad", data), oracle)
    arguments = ("bench", "normad", "--data", "data", "--model", model, "--json")
    first = mores(*arguments)
    script(home / "model.jsonl", [("", "hm")])  # the same name, and nothing right to say any more
    second = mores(*arguments)
    assert (second.returncode, second.stdout) == (0, first.stdout)
    fresh = mores(*arguments, "--fresh")
    assert fresh.returncode == 1
    assert "normad: no answer could be graded; the reasons are in verdicts.jsonl" in fresh.stderr


def test_a_judge_grades_culturall(mores: Run, home: Path, data: Path) -> None:
    questions = items("culturall", data)
    model = play(home, questions, oracle)
    judge = script(home / "judge.jsonl", [("\nOne", "0"), ("\n12\n", "well"), ("", "1")])
    done = mores("bench", "culturall", "--data", "data", "--model", model, "--judge", judge, "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    overall = outcome.figures["accuracy"]
    assert (overall.value, overall.n, overall.unscored) == (0.75, 4, 1)
    assert outcome.judge == "fake:judge.jsonl"
    assert list(outcome.by) == ["tier", "topic", "language", "region"]
    assert outcome.by["region"]["GB"]["accuracy"].value == 0.0
    assert {tier: figures["accuracy"].n for tier, figures in outcome.by["tier"].items()} == {
        "Easy": 1,
        "Hard": 1,
        "Medium": 2,
    }


def test_tiers_and_topics_are_further_groups(mores: Run, home: Path, data: Path) -> None:
    questions = items("culturalbench-easy", data)
    known = {questions[0].id}
    right = play(home, questions, oracle, "right")
    half = play(home, questions, lambda item: oracle(item) if item.id in known else "E", "half")
    wrong = play(home, questions, lambda item: next(x for x in "AB" if x != oracle(item)), "wrong")
    for model in (right, wrong):
        assert mores("bench", "culturalbench-easy", "--data", "data", "--model", model).returncode == 0
    done = mores("tiers", "bench", "--rule", "fifths")
    assert done.returncode == 0, done.stderr
    assert f"0 Easy, {len(questions)} Medium, 0 Hard; 0 without a tier; from 2 answers to each question" in done.stdout
    labeller = script(home / "labeller.jsonl", [(questions[0].prompt, "3"), ("", "1")])
    done = mores("topics", "culturalbench-easy", "--data", "data", "--model", labeller)
    assert done.returncode == 0, done.stderr
    more = ("--labels", "tiers.jsonl", "--labels", "topics", "--out", "again", "--json")
    done = mores("bench", "culturalbench-easy", "--data", "data", "--model", half, *more)
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    assert {name: own["accuracy"].value for name, own in outcome.by["topic"].items()} == {
        "Food and drink": None,
        "Work and money": 1.0,
    }
    assert list(outcome.by["tier"]) == ["Medium"]


def test_tiers_of_two_benchmarks_are_refused(mores: Run, home: Path, data: Path) -> None:
    for name in ("normad", "include"):
        model = play(home, items(name, data), oracle, name)
        assert mores("bench", name, "--data", "data", "--model", model).returncode == 0
    done = mores("tiers", "bench")
    assert done.returncode == 2
    assert "these are runs of include, normad; give runs of one benchmark" in done.stderr


def test_topics_are_a_run(mores: Run, home: Path, data: Path) -> None:
    questions = items("culturalbench-easy", data)
    labeller = script(home / "labeller.jsonl", [(questions[0].prompt, "none"), ("", "1")])
    arguments = ("topics", "culturalbench-easy", "--data", "data", "--model", labeller)
    done = mores(*arguments)
    assert done.returncode == 0, done.stderr
    assert "wrote topics; its page is topics/topics.html" in done.stderr
    run = open_run(home / "topics")
    assert isinstance(run, TopicsRun)
    assert (run.counts["Food and drink"], run.counts[""], len(run.counts)) == (len(questions) - 1, 1, 18)
    assert run.manifest.failures == {"parse": 1}
    assert run.manifest.headline == done.stdout.splitlines()[-1]
    assert mores("show", "topics", "--html", "page.html").stdout == done.stdout
    page = (home / "page.html").read_text()
    assert page == (home / "topics" / "topics.html").read_text()
    assert "no topic in " in page
    assert "Topics by region" in page
    assert {region.region for region in run.regions()} <= {item.region for item in questions}
    assert "Most frequent topic by region" in done.stdout
    (home / "two.toml").write_text('"Food" = "dishes"\n"Law" = "rules"\n')
    assert "so this one is in topics-2" in mores(*arguments, "--topics", "two.toml").stderr
    refused = mores(*arguments, "--topics", "two.toml", "--out", "topics")
    assert refused.returncode == 2
    assert "topics holds another run (other topics)" in refused.stderr
    write_manifest(home / "other", "collect")
    wrong = mores("bench", "culturalbench-easy", "--data", "data", "--model", "fake:clean", "--labels", "other")
    assert wrong.returncode == 1
    assert "other: it is a run of mores collect; give one of mores topics, or a file of labels" in wrong.stderr


def test_topics_need_a_list(mores: Run, data: Path) -> None:  # noqa: ARG001 - they lie there
    done = mores("topics", "normad", "--data", "data", "--model", "fake:clean")
    assert done.returncode == 2
    assert "normad has no list of topics; give one in a TOML file (--topics)" in done.stderr


@pytest.mark.slow
def test_judge_failures_may_count_as_msqas_authors_count_them(mores: Run, home: Path, data: Path) -> None:
    model = play(home, items("culturall", data), oracle)
    judge = script(home / "judge.jsonl", [("\n12\n", "well"), ("", "1")])
    arguments = ("bench", "culturall", "--data", "data", "--model", model, "--judge", judge, "--json")
    done = mores(*arguments, "--judge-failures", "incorrect")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    overall = outcome.figures["accuracy"]
    assert (overall.value, overall.n, overall.unscored) == (0.8, 5, 0)
    assert outcome.signature["judge"].endswith(".failed=incorrect")
    assert outcome.unjudged is Label.INCORRECT
    assert outcome.failures == {"parse": 1}


def test_a_search_shows_the_model_what_it_finds(mores: Run, home: Path, data: Path) -> None:
    questions = items("culturall", data)
    facts = [
        {"text": f"{question.metadata['versions']['']['question']} zorbium {question.id}"} for question in questions[:2]
    ]
    (home / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    rows = [(f"zorbium {question.id}", "known") for question in questions[:2]]
    model = script(home / "model.jsonl", [*rows, ("", "unknown")])
    judge = script(home / "judge.jsonl", [("\nknown", "1"), ("", "0")])
    arguments = ("bench", "culturall", "--data", "data", "--model", model, "--judge", judge, "--json")
    plain = mores(*arguments)
    assert result(plain.stdout).figures["accuracy"].value == 0.0
    done = mores(*arguments, "--search", "corpus:facts.jsonl", "--results", "1")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    assert outcome.figures["accuracy"].value == pytest.approx(0.4)
    assert outcome.signature["search"].startswith("corpus")
    folder = home / "bench" / "culturall.search" / "fake_model.jsonl"
    searched = [json.loads(line) for line in (folder / "evidence.jsonl").read_text().splitlines()]
    assert len(searched) == len(questions)
    assert facts[0]["text"] == searched[0]["found"]["evidence"][0]["text"]


def test_a_search_that_fails_leaves_questions_unscored(mores: Run, home: Path, data: Path) -> None:
    model = play(home, items("normad", data), oracle)
    done = mores("bench", "normad", "--data", "data", "--model", model, "--search", "fake:fail")
    assert done.returncode == 1
    assert "no answer could be graded" in done.stderr
    none = mores("bench", "normad", "--data", "data", "--model", model, "--search", "fake:none", "--json")
    assert result(none.stdout).figures["accuracy"].value == 1.0
    wrong = mores("bench", "normad", "--data", "data", "--model", model, "--search", "corpsu:x")
    assert wrong.returncode == 2
    assert "did you mean 'corpus:x'?" in wrong.stderr


def test_culturall_in_english(mores: Run, home: Path, data: Path) -> None:
    texts = [(item.metadata["variants"]["english"], "x") for item in items("culturall", data)]
    model = script(home / "model.jsonl", texts)
    judge = script(home / "judge.jsonl", [("¿Cuántas", "0"), ("何ですか", "0"), ("", "1")])  # it must see no Spanish
    arguments = ("bench", "culturall", "--data", "data", "--model", model, "--judge", judge, "--variant", "english")
    done = mores(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    assert outcome.figures["accuracy"].value == 1.0
    assert (outcome.signature["task"], outcome.variant) == ("culturall.2.english", "english")
    assert (home / "bench" / "culturall.english" / "fake_model.jsonl" / "result.json").is_file()
    asked = (home / "data" / "culturall" / "annotated_data.jsonl").read_text("utf-8")
    plain = [{k: v for k, v in json.loads(row).items() if not k.startswith("english_")} for row in asked.splitlines()]
    (home / "native" / "culturall").mkdir(parents=True)
    (home / "native" / "culturall" / "annotated_data.jsonl").write_text("\n".join(map(json.dumps, plain)))
    done = mores(*(word.replace("data", "native") if word == "data" else word for word in arguments))
    assert done.returncode == 1
    assert "the data have no english version of it; ask without it (--variant)" in done.stderr


def test_several_benchmarks_and_a_table(mores: Run, home: Path, data: Path) -> None:
    both = [*items("normad", data), *items("include", data)]
    done = mores("bench", "normad", "include", "--data", "data", "--model", play(home, both, oracle))
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "NormAd: what is acceptable in 75 countries: yes, no or neutral: fake:model.jsonl" in shown
    assert "INCLUDE: exam questions with regional knowledge, one option of four: fake:model.jsonl" in shown
    assert done.stdout.count("100.0%") > 10
    assert "for comparison: random 33.3%, always no 40.0%" in done.stdout
    folders = "bench/normad/fake_model.jsonl, bench/include/fake_model.jsonl"
    assert f"wrote {folders}; the page is bench/bench.html" in done.stderr


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["culturalbench-hrad"],
            "did you mean 'culturalbench-hard'? there are culturalbench-easy, culturalbench-hard,",
        ),
        (["nothing-like-it"], "unknown benchmark 'nothing-like-it'; there are"),
        (["culturall"], "culturall is graded by a model: name a judge, for example openai:NAME (--judge)"),
        (["normad", "--variant", "english"], "normad: no variant 'english'; it has rule (--variant)"),
        (["blend", "--variant", "english"], "blend: no variant 'english'; it has none (--variant)"),
        (
            ["msqa", "--judge", "fake:clean", "--by-logprob"],
            "msqa is not multiple choice, so its options cannot be chosen by log-probability (--by-logprob)",
        ),
        (["calmqa", "--judge", "fake:silent", "--judge", "fake:clean"], "calmqa takes one judge (--judge)"),
        (
            ["calmqa", "--facts", "fake:none"],
            "facts are judged by a model: name a judge, for example openai:NAME (--judge)",
        ),
        (["normad", "--data", "."], "normad: no such folder; put there normad*.csv or .jsonl"),
    ],
)
def test_what_is_wrong_is_said_with_the_fix(mores: Run, arguments: list[str], message: str) -> None:
    done = mores("bench", *arguments, "--model", "fake:clean", *([] if "--data" in arguments else ["--data", "data"]))
    assert done.returncode in {1, 2}
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_rows_that_are_bad_or_there_twice_are_left_out(mores: Run, home: Path) -> None:
    row = {"Country": "peru", "Story": "Ann greets.", "Rule-of-Thumb": "Greet.", "Gold Label": "yes"}
    (home / "own" / "normad").mkdir(parents=True)
    rows: list[dict[str, Any]] = [row, row, row | {"Gold Label": "perhaps"}]
    (home / "own" / "normad" / "normad.jsonl").write_text("\n".join(map(json.dumps, rows)))
    model = script(home / "yes.jsonl", [("", "yes")])
    done = mores("bench", "normad", "--data", "own", "--model", model, "--json")
    assert done.returncode == 0, done.stderr
    assert result(done.stdout).questions == 1
    assert "normad: left out 2 bad rows" in done.stderr
    assert "normad: these are the data of the first release" in done.stderr
    assert result(done.stdout).signature["release"] == "first"
    assert "duplicate id" in done.stderr
    assert "normad.jsonl:3: Gold Label 'perhaps' is none of yes, no, neutral" in done.stderr
    plan = mores("bench", "normad", "--data", "own", "--model", model, "--search", "fake:none", "--dry-run")
    assert "1 searches, at most $0.00" in plan.stdout
    assert plan.stderr.count("left out 2 bad rows") == 1, "the questions are read once"


def test_of_several_judges_those_on_a_server_get_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    address = "http://127.0.0.1:9/v1"
    served, local = open_session(
        "fake:", QuestionSettings(judge=("openai:a", "fake:clean"), judge_url=address, store=None)
    ).judges
    assert served.model.identity == f"openai:a@{address}"
    assert local.model.name == "fake:clean"
    with pytest.raises(ConfigError, match="a model of kind 'fake' takes no base url"):
        open_session("fake:", QuestionSettings(judge="fake:clean", judge_url=address, store=None))


def test_the_list(mores: Run) -> None:
    done = mores("bench", "list")
    assert done.returncode == 0, done.stderr
    for name in BENCHMARKS:
        assert name in done.stdout
    rows = {row["name"]: row for row in json.loads(mores("bench", "list", "--json").stdout)}
    assert list(rows) == list(BENCHMARKS)
    assert (rows["culturall"]["judge"], rows["culturall"]["variants"]) == (True, ["english"])
    assert (rows[HARD]["judge"], rows[HARD]["licence"]) == (False, "CC-BY-4.0")


@pytest.mark.slow
@pytest.mark.usefixtures("data")
def test_thoughts_that_a_server_sends_apart_are_kept_and_shown_and_not_graded(mores: Run, home: Path) -> None:
    async def thinking(server: Server, request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        body = completion("yes")
        body["choices"][0]["message"]["reasoning_content"] = "It could be no. The answer is: no"
        return web.json_response(body)

    with Server({thinking: 1.0}) as server:
        arguments = ("bench", "normad", "--data", "data", "--model", "openai:m", "--base-url", server.url)
        runs = []
        for out in ("first", "second"):
            done = mores(*arguments, "--out", out, OPENAI_API_KEY="x")
            assert not done.returncode, done.stderr
            [path] = (home / out).rglob("verdicts.jsonl")
            runs.append(list(read_records(path, Verdict)))
        assert len(server.asked) == len(set(server.asked))
    assert runs[0] == runs[1]
    assert {(verdict.answer, verdict.read) for verdict in runs[0]} == {("yes", "yes")}
    assert {verdict.thoughts for verdict in runs[0]} == {"It could be no. The answer is: no"}
    assert "The model’s thoughts" in next((home / "second").rglob("bench.html")).read_text("utf-8")


SETTINGS = """
[models.plain]
model = "openai:m"
base_url = "{url}"
facts = {{ open = false }}
[models.searching]
model = "openai:m"
base_url = "{url}"
reasoning_effort = "high"
web_search = true
facts = {{ open = true }}
"""


def test_settings_of_models_stand_side_by_side_as_in_culturalls_table_2(mores: Run, home: Path, data: Path) -> None:
    async def answer(_server: Server, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt = body["messages"][-1]["content"]
        if "Please evaluate" in prompt or "prediction" in prompt.lower():
            return web.json_response(completion("1" if "known by search" in prompt else "0"))
        return web.json_response(completion("known by search" if "web_search_options" in body else "unknown"))

    with Server({answer: 1.0}) as server:
        (home / "settings.toml").write_text(SETTINGS.format(url=server.url))
        models = ("--config", "settings.toml", "--model", "plain", "--also", "searching")
        judge = ("--judge", "openai:judge", "--judge-url", server.url)
        command = ("bench", "culturall", *models, *judge, "--data", str(data), "--out", "out")
        estimate = mores(*command, "--dry-run", "--json", OPENAI_API_KEY="x")
        assert not estimate.returncode, estimate.stderr
        assert {name.partition(":")[0] for name in json.loads(estimate.stdout)} >= {
            "plain, culturall",
            "searching, culturall",
        }
        done = mores(*command, OPENAI_API_KEY="x")
        assert not done.returncode, done.stderr
    table = [line.split() for line in done.stdout.splitlines()]
    header = next(line for line in table if line[:2] == ["setting", "reasoning"])
    assert header[:8] == ["setting", "reasoning", "web", "open", "all", "Easy", "Medium", "Hard"]
    rows = {line[0]: line[1:] for line in table if line and line[0] in ("plain", "searching") and len(line) > 7}
    assert rows["plain"][:4] == ["–", "no", "no", "0.0%"]
    assert [cell for cell in rows["searching"] if "–" not in cell] == ["high", "yes", "yes", *["100.0%"] * 4]
    assert 'id="settings"' in (home / "out" / "bench.html").read_text("utf-8")
    assert "searching" in done.stdout.splitlines()[-1], "a headline for each model comes last"
