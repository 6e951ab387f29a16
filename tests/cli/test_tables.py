"""Every command that prints a table says the same at 80 columns as in a wide terminal, and the headline comes last."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from rich.console import Console, RenderableType

from mores.benchmark import BENCHMARKS, benchmark
from mores.benchmark.benchmark import Label
from mores.cli import mores as command
from mores.report.base.grid import Grid, print_tables
from mores.report.bench import tables
from mores.report.diagnose import grids
from mores.report.meta import describe_meta
from mores.report.train import tables as trained_tables
from mores.training.folder import Trained
from mores.types import Result, Signature
from tests.benchmark.test_board import put as put_run
from tests.benchmark.test_board import result, verdict
from tests.cli.test_collect import ROWS
from tests.cli.test_compare import GOLDS, LINES, SIGNED
from tests.cli.test_diagnose import play, sure, write_stories
from tests.cli.test_meta import put
from tests.factory.test_build import put as put_items
from tests.factory.test_build import survey
from tests.metaevaluation.test_juice import EXAMPLE
from tests.metaevaluation.test_people import simulate as write_people
from tests.report.diagnose_samples import everything
from tests.report.meta_samples import made_up

FIXTURES = Path(__file__).parents[1] / "fixtures"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?%?")
WIDE = "400"


def write_runs(home: Path) -> None:
    """Two models on two benchmarks."""
    for name, model, right in (("x", "one-model", 9), ("x", "another-model", 1), ("y", "one-model", 3)):
        verdicts = [verdict(f"q{i}", Label.CORRECT if i < right else Label.INCORRECT) for i in range(10)]
        put_run(home / "runs" / name / model, result(model, right / 10, name), verdicts)


def write_bench(home: Path) -> None:
    """The sample rows of every benchmark, and models that say one thing."""
    (home / "data").mkdir()
    for chosen in map(benchmark, BENCHMARKS):
        assert chosen.folder
        sample, target = chosen.folder / "sample", home / "data" / chosen.source
        if sample.is_dir() and not target.exists():
            target.symlink_to(sample)
    for name, says in {"A": "A", "2": "2", "judge": "VERDICT: CORRECT"}.items():
        (home / f"{name}.jsonl").write_text(json.dumps({"contains": "", "answer": says}) + "\n")
    (home / "topics.toml").write_text('"Food" = "dishes"\n"Customs" = "what is done"\n')


def write_judged(home: Path) -> None:
    """A dataset and two judges of it."""
    (home / "d").mkdir()
    (home / "d" / "test.jsonl").write_text(LINES)
    put("good.jsonl", GOLDS, lambda gold: -5.0 if gold.report.errors else 1.0, signature=SIGNED)
    put("poor.jsonl", GOLDS[2:], lambda _: -1.0, signature=SIGNED)


def write_texts(home: Path) -> None:
    long = "a-long-name-of-a-text-that-somebody-wants-to-find-again"
    rows = [
        {"id": f"{long}-{i}", "text": f"Text {i} about food.", "language": "pt-BR", "region": "BR"} for i in range(9)
    ]
    (home / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_answers(home: Path) -> None:
    rows = [
        {"id": str(i), "model": f"a-model-with-a-long-name-{i % 2}", "language": "en", "kind": "agnostic",
         "question": "What is eaten?", "answer": "People eat rice and bread with their families in the evening."}
        for i in range(12)
    ]  # fmt: skip
    (home / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_questions(home: Path) -> None:
    (home / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    passed = "<explanation>It is.</explanation><result>PASS</result>"
    answers = {"categorizing": "<category>history</category>", "task is to translate": "Why?", "": passed}
    script = "".join(json.dumps({"contains": text, "answer": answer}) + "\n" for text, answer in answers.items())
    (home / "collector.jsonl").write_text(script)


def write_study(home: Path) -> None:
    """A study that is analysed already: that takes seconds."""
    copytree(FIXTURES / "v0_2_0" / "home" / "runs" / "rate", home / "ratings.rate")


def write_items(home: Path) -> None:
    put_items(home, survey(40), "survey")
    (home / "mine.yaml").write_text("name: mine\nsources: [survey.jsonl]\nsampling: paper\n")


def write_built(home: Path) -> None:
    write_items(home)
    call("build", "mine.yaml", "--out", "built")


def write_asked(home: Path) -> None:
    write_stories(home)
    play(home, lambda n: sure(n % 3 > 0, 90))


def call(*arguments: str) -> str:
    """What a terminal shows: both streams, as they come."""
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return done.output


DATA = ("--data", "data")
COMMANDS: dict[str, tuple[Callable[[Path], object], tuple[str, ...], str]] = {
    "score": (write_texts, ("score", "texts.jsonl", "--model", "fake:first-word"),
              r"^9 texts, 9 judged; mean score −1"),
    "bench": (write_bench, ("bench", "msqa", *DATA, "--model", "fake:A.jsonl", "--judge", "fake:judge.jsonl"),
              r"^msqa, fake:A.jsonl: F 100.0%.*, n 5$"),
    "bench two": (write_bench, ("bench", "culturalbench-easy", "include", *DATA, "--model", "fake:A.jsonl"),
                  r"^include, fake:A.jsonl: accuracy .*%.*, n 5"),
    "bench list": (write_bench, ("bench", "list"), r"^\d+ benchmarks"),
    "board": (write_runs, ("board", "runs"), r"one-model is first with 30.0%$"),
    "topics": (write_bench, ("topics", "normad", *DATA, "--topics", "topics.toml", "--model", "fake:2.jsonl"),
               r"^normad: 5 of 5 questions sorted$"),
    "judge-check": (write_bench, ("judge-check", "msqa", *DATA, "--model", "fake:judge.jsonl"),
                    r"^fake:judge.jsonl grades .*% .* of \d+ answers correctly"),
    "longform": (write_answers, ("longform", "answers.jsonl"), r"without issues 100.0%.*, n 6, 0 unscored$"),
    "audit": (write_bench, ("audit", "injection", "--model", "fake:first-word", "--limit", "2"), r"than chance"),
    "meta": (write_judged, ("meta", "--data", "d", "--metric", "good.jsonl", "--metric", "poor.jsonl", "--baselines",
                            "always,never"), r"^good.jsonl: .*1\.00"),
    "people": (lambda home: write_people(home, 20), ("meta", "--data", "ratings:people.csv", "--metric", "good.csv",
                                                      "--metric", "poor.csv"), r"^good.csv: Pearson r 0\.\d+ \["),
    "juice": (write_bench, ("meta", "--data", f"juice:{EXAMPLE}"), r"^model-x: F1 0.44"),
    "rate": (write_study, ("show", "ratings.rate"), r"^b is rated highest: mean \d.\d\d of 5; against a p"),
    "compare": (write_judged, ("compare", "good.jsonl", "poor.jsonl", "--data", "d"),
                r"^good.jsonl is better than poor.jsonl in .*\+1.000"),
    "build": (write_items, ("build", "mine.yaml", "--out", "built"), r"^\d+ samples; a classifier that sees the text"),
    "build ground": (write_built, ("build", "ground", "built", "--out", "grounded"), r"^all +[\d. %]+$"),
    "collect": (write_questions, ("collect", "questions.jsonl", "--model", "fake:collector.jsonl"),
                r"^5 of 6 questions kept, 1 dropped$"),
    "sources": (write_bench, ("sources",), r"^\d+ datasets"),
    "calibration": (write_asked, ("diagnose", "calibration", "normad", *DATA, "--model", "fake:model.jsonl"), r"\.$"),
}  # fmt: skip


@pytest.mark.often("score", "bench list", "board", "topics", "judge-check", "rate", "compare", "collect", "sources")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_narrow_terminal_loses_nothing(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare, arguments, headline = COMMANDS[name]
    prepare(home)
    monkeypatch.setenv("COLUMNS", WIDE)
    wide = call(*arguments)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = call(*arguments)
    check(narrow, wide)
    assert re.search(headline, narrow.rstrip().splitlines()[-1])


def test_names_of_benchmarks_can_be_copied_from_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert set(BENCHMARKS) <= set(call("bench", "list").split())


def check(narrow: str, wide: str) -> None:
    """The same numbers, none of them cut; tables and notes within 80 columns."""
    assert numbers(wide)
    assert numbers(wide) <= numbers(narrow)
    assert not re.search(r"[\d.,%–-]…", narrow)
    assert all(cell_len(line) <= 80 for line in narrow.splitlines() if "  " in line.strip())


def numbers(text: str) -> set[str]:
    timed = re.compile(r"\d+ calls \(.*?/s\)|in \d+(\.\d)? s|\d+ known already|no calls")
    return set(NUMBER.findall(timed.sub("", text)))


def printed(view: RenderableType, width: int) -> str:
    console = Console(width=width, highlight=False, markup=False, record=True, file=io.StringIO())
    console.print(view)
    return console.export_text()


def large_tables() -> dict[str, Grid]:
    """Those of a meta-evaluation and of every analysis of `mores diagnose`."""
    meta = made_up()
    return {
        **{f"meta by {by} {n}": table for by in list(meta.counts)[:3]
           for n, table in enumerate(describe_meta(meta, [by]).printed) if isinstance(table, Grid)},
        **{f"{type(record).__name__} {n} {m}": grid
           for n, record in enumerate(everything()) for m, grid in enumerate(grids(record))},
    }  # fmt: skip


@pytest.mark.slow
def test_a_large_table_loses_nothing() -> None:
    large = large_tables()
    assert len(large) > 30
    for name, table in large.items():
        wide, narrow = printed(table, 1000), printed(table, 40)
        assert numbers(wide) <= numbers(narrow), name
        assert all(cell_len(line) <= 40 for line in narrow.splitlines()), name


def test_a_training_is_shown_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    sources = ("all", "blend", "culturalbench", "exams", "candle", "normad", "calmqa", "epic")
    decided = {name: Result(name="scaled_accuracy", value=place / 7, n=9) for place, name in enumerate(sources)}
    trained = Trained(
        base="b", signature=Signature(), samples=1, left_out=0, sources={}, tokens=1, seconds=1, device="cpu",
        decisions={"dev": decided, "test": decided},
    )  # fmt: skip
    shown = {}
    for width in ("80", WIDE):
        monkeypatch.setenv("COLUMNS", width)
        print_tables(trained_tables({"all": trained}))
        shown[width] = capsys.readouterr().out
    check(shown["80"], shown[WIDE])
    assert shown["80"].splitlines()[-1] == "trained on all: scaled accuracy 0.000 on test"


def test_names_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """`openai:m` and the colon behind it are no emoji."""
    print_tables(tables([result("openai:m", 0.5, "x")]))
    assert capsys.readouterr().out.splitlines()[-1].startswith("x, openai:m: ")
