"""`mores score`, through the real command: what it writes, and what it says when something is wrong."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mores.engine import Store
from mores.io import read_records
from mores.metric.folder import open_score_run
from mores.types import Judgement
from tests.cli.conftest import Run, command
from tests.engine.server import Server, broken, dropped, too_long

ROWS = [
    {"id": "a", "instruction": "What do Germans eat?", "text": "Schnitzel", "language": "de", "region": "DE"},
    {"id": "b", "instruction": "Que mange-t-on ?", "text": "Du pain", "language": "French", "region": "France"},
]


def put(path: str, rows: list[dict[str, str]]) -> str:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judgements(path: str) -> list[Judgement]:
    return list(read_records(path, Judgement))


def results() -> list[str]:
    return sorted(str(path) for path in Path().glob("*.score*/judgements.jsonl"))


def written() -> str:
    """The only file of judgements."""
    [path] = results()
    return path


def test_jsonl_to_judgements_table_and_page(mores: Run) -> None:
    put("texts.jsonl", ROWS)
    done = mores("score", "texts.jsonl", "--model", "fake:first-word", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    judged = judgements(written())
    assert [j.sample_id for j in judged] == ["a", "b"]
    assert [j.score for j in judged] == [-1, -1]
    assert "Schnitzel" in done.stdout
    assert "2 texts, 2 judged" in done.stdout
    assert "its verdicts mean nothing" in done.stderr
    assert "its verdicts mean nothing" in Path("page.html").read_text()


def test_csv_parquet_and_plain_text_give_the_same(mores: Run) -> None:
    put("t.jsonl", ROWS)
    columns = list(ROWS[0])
    cells = "\n".join(",".join(f'"{row[c]}"' for c in columns) for row in ROWS)
    Path("t.csv").write_text(",".join(columns) + "\n" + cells + "\n")
    pq.write_table(pa.Table.from_pylist(ROWS), "t.parquet")
    written_texts = []
    for name in ("t.jsonl", "t.csv", "t.parquet"):
        assert mores("score", name, "--model", "fake:first-word", "--out", "o").returncode == 0
        written_texts.append(Path("o/judgements.jsonl").read_text())
    assert written_texts[0] == written_texts[1] == written_texts[2]
    Path("t.txt").write_text("First text.\n\nSecond text.\n")
    assert mores("score", "t.txt", "--model", "fake:clean").returncode == 0
    assert [j.sample_id for j in judgements(written())] == ["t:1", "t:3"]


def test_each_file_of_texts_and_each_model_has_its_own_result(mores: Run) -> None:
    put("t.jsonl", ROWS)
    Path("t.csv").write_text("text\nSchnitzel\n")
    for name, model in (("t.jsonl", "fake:clean"), ("t.csv", "fake:clean"), ("t.jsonl", "fake:first-word")):
        assert mores("score", name, "--model", model).returncode == 0
    assert results() == [
        "t.csv.fake_clean.score/judgements.jsonl",
        "t.jsonl.fake_clean.score/judgements.jsonl",
        "t.jsonl.fake_first-word.score/judgements.jsonl",
    ]


def test_a_folder_holds_one_run(mores: Run) -> None:
    score = partial(mores, "score", "t.jsonl", "--out", "o", "--model", "fake:clean")
    put("t.jsonl", ROWS)
    assert score().returncode == 0
    before = Path("o/judgements.jsonl").read_bytes()
    assert "2 known already" in score().stderr
    put("other.jsonl", [{"id": "a", "text": "Another text under the same id.", "language": "de"}])
    for done, fields in (
        (score("--style", "fenced"), "prompt"),
        (mores("score", "t.jsonl", "--out", "o", "--model", "fake:first-word"), "model"),
        (mores("score", "other.jsonl", "--out", "o", "--model", "fake:clean"), "data"),
    ):
        assert done.returncode == 2
        assert f"o holds another run (other {fields}); choose another folder" in done.stderr
        assert Path("o/judgements.jsonl").read_bytes() == before
    done = mores("score", "t.jsonl", "--out", "other.jsonl", "--model", "fake:clean")
    assert done.returncode == 2
    assert "other.jsonl is a file; name a folder for the run" in done.stderr


def test_other_texts_of_the_same_name_are_another_run(mores: Run) -> None:
    put("t.jsonl", ROWS)
    assert mores("score", "t.jsonl", "--model", "fake:clean").returncode == 0
    put("t.jsonl", [*ROWS, {"text": "One more."}])
    done = mores("score", "t.jsonl", "--model", "fake:clean")
    assert "another run (other data), so this one is in t.jsonl.fake_clean.score-2" in done.stderr
    assert [len(judgements(path)) for path in results()] == [3, 2]


def test_a_run_of_another_search_is_kept_before_anything_is_searched_for(mores: Run) -> None:
    put("t.jsonl", ROWS)
    put("other.jsonl", [{"id": "a", "text": "Another text under the same id.", "language": "de"}])
    score = partial(mores, "score", "t.jsonl", "--out", "o", "--model", "fake:clean")
    assert score("--evidence", "fake:echo").returncode == 0
    before = Path("o/judgements.jsonl").read_bytes()
    for done, fields in (
        (score("--evidence", "fake:none"), "evidence"),
        (score("--evidence", "fake:echo", "--passages", "1"), "evidence"),
        (
            mores("score", "other.jsonl", "--out", "o", "--model", "fake:clean", "--evidence", "fake:echo"),
            "data",
        ),
    ):
        assert done.returncode == 2
        assert f"another run (other {fields})" in done.stderr
        assert "searching" not in done.stderr
        assert Path("o/judgements.jsonl").read_bytes() == before
    assert score("--evidence", "fake:echo").returncode == 0  # the same run may go on


def test_the_run_and_what_is_shown_of_it(mores: Run) -> None:
    put("t.jsonl", ROWS)
    printed = mores("score", "t.jsonl", "--model", "fake:first-word", "--out", "o", "--html", "page.html").stdout
    [listed] = json.loads(mores("runs", "--json").stdout)
    assert (listed["kind"], listed["status"], listed["model"]) == ("score", "complete", "fake:first-word")
    assert listed["headline"] == printed.splitlines()[-1] == "2 texts, 2 judged; mean score −1.000"
    assert listed["files"] == {"judgements.jsonl": "Judgement"}
    shown = mores("show", "o", "--html", "shown.html")
    assert shown.stdout == printed
    assert Path("shown.html").read_text() == Path("page.html").read_text()
    assert json.loads(mores("show", "o", "--json").stdout)["result"]["mean_score"] == -1
    assert "Schnitzel" in open_score_run("o")._repr_html_()


def test_a_line_of_judgements_can_be_read_alone(mores: Run) -> None:
    put("t.jsonl", ROWS)
    assert mores("score", "t.jsonl", "--model", "fake:first-word").returncode == 0
    first = json.loads(Path(written()).read_text().splitlines()[0])
    assert {name: first[name] for name in ("text", "instruction", "language", "region")} == (
        {name: ROWS[0][name] for name in ("text", "instruction", "language", "region")}
    )
    alone = mores("show", written(), "--html", "alone.html")
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout == mores("show", "t.jsonl", written()).stdout
    assert "Schnitzel" in Path("alone.html").read_text()
    put("t.jsonl", [{**ROWS[0], "text": "Kraut"}, ROWS[1]])
    changed = mores("show", "t.jsonl", written())
    assert "'a' was another text when it was judged" in changed.stderr


WEDDINGS = """Nr,Question asked,Answer,Country,Model
1,How do people marry?,Guests wear white.,Japan,A
2,Who pays?,The groom.,Kenya,A
3,How do people marry?,Both sign.,Japan,B
4,Who pays?,Nobody.,Kenya,B
"""


@pytest.mark.slow
@pytest.mark.usefixtures("quick_figures")
def test_a_table_of_a_person(mores: Run) -> None:
    Path("weddings.csv").write_text(WEDDINGS)
    arguments = ("score", "weddings.csv", "--model", "fake:first-word", "--out", "run")
    done = mores(*arguments, "--by", "model", "--by", "country", "--figures", "figures", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    read = "text ← Answer, instruction ← Question asked, region ← Country; not read: Nr, Model (kept)"
    assert done.stderr.splitlines()[0] == f"weddings.csv, 4 rows: {read}"
    assert "no instruction" not in done.stderr
    assert ["A", "2", "2", "100.0%"] in [line.split()[:4] for line in done.stdout.splitlines()]
    assert "A less B      2" in done.stdout
    assert ["Kenya", "2"] in [line.split()[:2] for line in done.stdout.splitlines()]
    page = Path("page.html").read_text("utf-8")
    assert read in page
    assert "Differences of texts with errors, by Model" in page
    names = {path.name for path in Path("figures").iterdir()}
    charts = ("texts-with-errors", "mean-score", "errors-by-severity", "differences-of-texts-with-errors")
    assert {f"{chart}-by-model.{kind}" for chart in charts for kind in ("svg", "csv")} <= names
    assert {"texts-by-region.tex", "paired-differences-by-model.tex"} <= names
    assert not any(name.partition(".")[0].endswith("-2") for name in names)
    shown = mores("show", "run", "--by", "Model", "--json")
    groups = json.loads(shown.stdout)["by"]["Model"]["groups"]
    assert [(group["name"], group["counts"]["n"], group["score"]["value"]) for group in groups] == [
        ("A", 2, -1.0),
        ("B", 2, -1.0),
    ]
    printed = json.loads(mores(*arguments, "--by", "Country", "--json").stdout)
    assert printed["by"]["Country"]["differences"] == []  # no instruction is asked about both
    assert "Texts by Model" in mores("show", "run/judgements.jsonl", "--by", "model").stdout


def test_a_column_to_group_by_that_is_not_there_is_found_out_first(mores: Run) -> None:
    Path("weddings.csv").write_text(WEDDINGS)
    done = mores("score", "weddings.csv", "--model", "fake:clean", "--by", "Modell")
    assert done.returncode == 2
    assert "no column 'Modell' to group by; did you mean 'Model'? there are language, region, Nr, Model" in done.stderr
    assert done.stderr.rstrip().endswith("(--by)")
    assert not results()
    mores("audit", "injection", "--model", "fake:clean", "--limit", "1", "--out", "audit")
    assert (
        "only runs of mores score, bench, longform and rate are shown by a column"
        in mores("show", "audit", "--by", "Model").stderr
    )


def test_columns_that_compete_and_the_default_instruction(mores: Run) -> None:
    Path("a.csv").write_text("output,Answer\nx,gold\ny,gold\n")
    done = mores("score", "a.csv", "--model", "fake:clean")
    assert (
        "a.csv:2: 'output' and 'Answer' may each be the text; say which one is: text=output or text=Answer (--columns)"
    ) in done.stderr
    done = mores("score", "a.csv", "--model", "fake:clean", "--columns", "text=output", "--html", "page.html")
    told = "“Generate a culturally correct text.”"
    assert f"no instruction in 2 of 2 texts: the judge is told {told}; if a column has it, name it" in done.stderr
    assert f"{told} for 2 texts that had none" in Path("page.html").read_text("utf-8")


def test_stdin_to_stdout(mores: Run) -> None:
    done = mores("score", "-", "--model", "fake:first-word", stdin="Guten Tag!\n")
    assert json.loads(done.stdout)["report"]["errors"][0]["quote"] == "Guten"
    assert "1 text, 1 judged" in done.stderr
    done = mores("score", "-", "--model", "fake:clean", "--json", stdin='{"text": "x", "id": "y"}')
    assert json.loads(done.stdout)["sample_id"] == "y"


def test_json_summary(mores: Run) -> None:
    put("t.jsonl", ROWS)
    printed = json.loads(mores("score", "t.jsonl", "--model", "fake:silent", "--json").stdout)
    assert (printed["n"], printed["judged"], printed["mean_score"], printed["failed"]) == (2, 2, 0.0, {})
    [signature] = printed["signatures"]
    assert (signature["metric"], signature["model"], signature["p"]) == ("excam.1", "fake:silent", "none")


def test_a_run_in_which_nothing_was_judged_fails(mores: Run) -> None:
    put("t.jsonl", ROWS)
    done = mores("score", "t.jsonl", "--model", "fake:broken", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["failed"] == {"parse": 2}
    assert "no text could be judged" in done.stderr
    assert len(judgements(written())) == 2


@pytest.mark.parametrize("arguments", [["--out", "t.jsonl"], ["--html", "t.jsonl"], ["--out", "x", "--html", "./x"]])
def test_the_texts_are_not_overwritten(mores: Run, arguments: list[str]) -> None:
    put("t.jsonl", ROWS)
    before = Path("t.jsonl").read_text()
    done = mores("score", "t.jsonl", "--model", "fake:clean", *arguments)
    assert done.returncode == 2
    assert "must be different files" in done.stderr
    assert Path("t.jsonl").read_text() == before


def test_a_page_that_cannot_be_written_is_found_out_first(mores: Run) -> None:
    put("t.jsonl", ROWS)
    done = mores("score", "t.jsonl", "--model", "fake:clean", "--html", "nowhere/p.html")
    assert done.returncode == 1
    assert "mkdir -p nowhere" in done.stderr
    assert not results()


@pytest.mark.slow
def test_what_is_said_of_a_stopped_run_is_true(mores: Run) -> None:
    put("t.jsonl", ROWS)
    with Server({broken: 1.0}) as server:
        arguments = ["score", "t.jsonl", "--model", "openai:x", "--base-url", server.url, "--attempts", "1"]
        put("t.jsonl", [{"text": f"text {i}"} for i in range(20)])
        assert "Answers are saved; rerun to resume." in mores(*arguments).stderr
        assert "rerun without --fresh to resume" in mores(*arguments, "--fresh").stderr
        assert "Nothing of the run is saved" in mores(*arguments, "--no-store").stderr


@pytest.mark.slow
def test_what_a_slow_server_is_waited_for_is_shown(home: Path) -> None:
    put("t.jsonl", ROWS)
    with Server({broken: 1.0}) as server:
        arguments = ["score", "t.jsonl", "--model", "openai:x", "--base-url", server.url, "--attempts", "4"]
        done = subprocess.run(
            ["script", "-qec", shlex.join(command(*arguments)), "/dev/null"], cwd=home, capture_output=True, check=False
        )
    assert b"waiting: " in done.stdout


def test_a_console_that_cannot_show_a_script_still_shows_the_rest(mores: Run) -> None:
    put("t.jsonl", [{"id": "日本", "text": "日本"}])
    done = mores("score", "t.jsonl", "--model", "fake:first-word", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "1 text, 1 judged" in done.stdout


def test_dry_run_sends_nothing(mores: Run) -> None:
    put("t.jsonl", ROWS)
    with Server() as server:
        arguments = ("score", "t.jsonl", "--model", "openai:stub", "--base-url", server.url, "--dry-run")
        assert "2 calls would be sent" in mores(*arguments).stdout
        assert "give it with --price" in mores(*arguments).stdout
        assert "at most $" in mores(*arguments, "--price", "1,2").stdout
        assert server.asked == []
    assert not results()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.jsonl", b'{"text": "a"}\n' * 16 + b'{"text": "b"\n', "t.jsonl:17: "),
        ("t.jsonl", b'{"instruction": "a"}\n', "t.jsonl:1: no field 'text'; expected 'instruction' and 'text'"),
        ("t.jsonl", b'{"text": "a", "language": "klingonese"}\n', "t.jsonl:1: "),
        ("t.jsonl", b'{"text": "a", "region": "Atlantis"}\n', "t.jsonl:1: "),
        ("t.jsonl", b'{"text": " "}\n', "t.jsonl:1: the text is empty"),
        ("t.jsonl", b'{"text": "\xff"}\n', "t.jsonl:1: not valid UTF-8 (byte 0xff at column 11); save"),
        ("t.jsonl", b'{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n', "t.jsonl:2: id '1' is already that of line 1"),
        ("t.jsonl", b"", "t.jsonl: contains no text"),
        ("t.csv", b"instruction,txt\na,b\n", "no field 'text'"),
        ("t.parquet", b"not parquet", "t.parquet"),
        ("t.docx", b"x", "suffix '.docx' is not known"),
    ],
)  # fmt: skip
def test_bad_input_names_file_line_and_fix(mores: Run, name: str, content: bytes, words: str) -> None:
    Path(name).write_bytes(content)
    done = mores("score", name, "--model", "fake:clean")
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not results()


def test_skip_bad_leaves_rows_out_and_says_so(mores: Run) -> None:
    Path("t.jsonl").write_text('{"text": "a"}\n{"txt": "b"}\n{"text": "c"}\n')
    done = mores("score", "t.jsonl", "--model", "fake:clean", "--skip-bad", "--html", "p.html")
    assert done.returncode == 0
    assert "left out 1 bad row:\n  t.jsonl:2: no field 'text'" in done.stderr
    assert [j.sample_id for j in judgements(written())] == ["t:1", "t:3"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "gpt-4"], "unknown model 'gpt-4'"),
        (["--temperature", "warm"], "expected a number or 'none'"),
        (["--temperature", "nan"], "expected a number or 'none'"),
        (["--seed", "99999999999999999999"], "expected a whole number or 'none'"),
        (["--timeout", "nan"], "timeout is nan; expected a number (--timeout)"),
        (["--price", "cheap"], "for example 0.40,1.60"),
        (["--style", "loud"], "'loud' is not one of"),
        (["--no-such-option"], "No such option"),
        (["--model", "openai:x", "--base-url", "nonsense"], "http://localhost:8000/v1"),
    ],
)
def test_wrong_usage_is_exit_code_2(mores: Run, arguments: list[str], words: str) -> None:
    put("t.jsonl", ROWS)
    done = mores("score", "t.jsonl", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_unreachable_server_and_wrong_key(mores: Run) -> None:
    put("t.jsonl", ROWS)
    with Server(key="right") as server:
        done = mores("score", "t.jsonl", "--model", "openai:x", "--base-url", server.url, OPENAI_API_KEY="wrong")
        assert (done.returncode, server.asked) == (1, [])
        assert "refused the key: set OPENAI_API_KEY" in done.stderr
        done = mores("score", "t.jsonl", "--model", "openai:x", "--base-url", server.url)
        assert "requires a key, and none is set" in done.stderr
    done = mores("score", "t.jsonl", "--model", "openai:x", "--base-url", server.url)
    assert done.returncode == 1
    assert f"cannot reach {server.url}" in done.stderr


@pytest.mark.slow
def test_a_2_mb_text_is_a_failure_in_its_place(mores: Run) -> None:
    put("t.jsonl", [{"id": "long", "text": "x" * 2_000_000}, *ROWS])
    with Server({too_long: 0.0}) as server:
        done = mores("score", "t.jsonl", "--model", "openai:x", "--base-url", server.url)
    assert done.returncode == 0
    first, *rest = judgements(written())
    assert first.failure is not None
    assert "2,000,035 characters are more than the limit" in first.failure.reason
    assert [j.failure for j in rest] == [None, None]
    assert "not judged: 1 request could not be sent" in done.stdout
    assert "1 failed (fault of the text)" in " ".join(done.stderr.split())
    assert "--retry-failed" not in done.stderr, "it was never sent, so that it cannot be asked for again"


@pytest.mark.parametrize("arguments", [("--json",), pytest.param(("--out", "-"), marks=pytest.mark.slow)])
def test_a_full_disk_behind_stdout(home: Path, arguments: tuple[str, ...]) -> None:
    put("t.jsonl", ROWS)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("score", "t.jsonl", "--model", "fake:clean", *arguments),
            cwd=home, stdout=full, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_failed_run_leaves_the_old_output_alone(mores: Run) -> None:
    put("t.jsonl", ROWS)
    with Server() as server:
        score = partial(mores, "score", "t.jsonl", "--model", "openai:x", "--base-url", server.url)
        assert score().returncode == 0
        before = Path(written()).read_text()
        server.key = "right"
        assert score("--fresh").returncode == 1
    assert Path(written()).read_text() == before


def test_ctrl_c_keeps_what_was_judged(home: Path, mores: Run) -> None:
    put("t.jsonl", [{"text": f"text {i}"} for i in range(200)])
    with Server(latency=0.05) as server:
        arguments = ["score", "t.jsonl", "--model", "openai:x", "--base-url", server.url, "--concurrency", "4"]
        process = subprocess.Popen(command(*arguments), cwd=home, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        wait_for(server, 20)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 1
        assert "Answers are saved; rerun to resume." in err.decode()
        kept = keys(home)
        assert 0 < len(kept) < 200
        server.latency = 0
        done = mores(*arguments)
        assert f"{len(kept)} known already" in done.stderr
    assert len(judgements(written())) == 200


def wait_for(server: Server, answers: int) -> None:
    deadline = time.monotonic() + 30
    while sum(server.answered.values()) < answers and time.monotonic() < deadline:
        time.sleep(0.005)


def keys(home: Path) -> set[str]:
    """The prompts whose answers are in the store."""
    with Store(path := home / "cache" / "responses.db") as store, closing(sqlite3.connect(path)) as db:
        prompts = [store.messages(prompt) for (prompt,) in db.execute("SELECT prompt FROM response")]
    return {messages[-1].content for messages in prompts if messages}


@pytest.mark.parametrize("kills", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_killed_at_random_nothing_is_lost_or_asked_again(home: Path, mores: Run, kills: int) -> None:
    """300 calls, SIGKILL at random points: every answer once, and none asked for again that was kept."""
    put("t.jsonl", [{"id": f"s{i}", "text": f"text {i}"} for i in range(300)])
    draw = random.Random(7)
    with Server({dropped: 0.02}, latency=0.01) as server:
        arguments = ["score", "t.jsonl", "--model", "openai:x", "--base-url", server.url, "--concurrency", "8"]
        for _ in range(kills):
            before = len(server.asked)
            known = keys(home) if (home / "cache" / "responses.db").exists() else set()
            process = subprocess.Popen(
                command(*arguments), cwd=home, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            wait_for(server, sum(server.answered.values()) + draw.randrange(1, 100))
            time.sleep(draw.random() * 0.05)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert known.isdisjoint(server.asked[before:])
            assert not results()
        before, known = len(server.asked), keys(home)
        assert 0 < len(known) < 300
        done = mores(*arguments)
        assert done.returncode == 0, done.stderr
        assert known.isdisjoint(server.asked[before:])
    assert [j.sample_id for j in judgements(written())] == [f"s{i}" for i in range(300)]
    assert len(keys(home)) == 300
    assert sorted(path.name for path in home.iterdir()) == ["cache", "t.jsonl", "t.jsonl.openai_x.score"]


@pytest.mark.often("arguments0-heavy0")
@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], ["aiohttp", "numpy", "pydantic", "rich", "torch"]),
        (["score", "--help"], ["aiohttp", "jinja2", "langcodes", "numpy", "rich", "torch"]),
        (["meta", "--help"], ["aiohttp", "jinja2", "langcodes", "numpy", "rich", "scipy", "sklearn"]),
    ],
)
def test_help_needs_no_heavy_library(arguments: list[str], heavy: list[str]) -> None:
    """What only a new process can show: nothing is imported yet."""
    probe = f"import sys; from mores.cli import mores; mores({arguments}, standalone_mode=False); print()"
    probe += f"; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([command()[0], "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: ")
    assert done.stdout.endswith("\n[]\n")


# Evidence

FACTS = [
    {"text": "In Germany Schnitzel is eaten in many homes.", "title": "Schnitzel", "url": "https://example.org/s"},
    {"text": "En France on mange du pain tous les jours.", "title": "Le pain"},
]


def scripted(path: str, cited: list[int]) -> str:
    """A judge that finds the whole text of the first row wrong, and cites so; the others are clean."""
    error = {"side": "text", "quote": "Schnitzel", "severity": "minor", "type": "t", "explanation": "e"}
    printed = json.dumps({"errors": [error | {"evidence": cited}], "explanation": ""})
    rows = [{"contains": "Schnitzel\n", "answer": printed}, {"contains": "", "answer": '{"errors": []}'}]
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"fake:{path}"


def test_evidence_is_looked_up_shown_to_the_judge_and_kept(mores: Run) -> None:
    put("t.jsonl", ROWS)
    put("facts.jsonl", FACTS)
    arguments = ("--model", scripted("judge.jsonl", [1]), "--evidence", "facts.jsonl", "--passages", "1")
    done = mores("score", "t.jsonl", *arguments, "--html", "p.html")
    assert done.returncode == 0, done.stderr
    first, second = judgements(written())
    assert [passage.text for passage in first.evidence] == [FACTS[0]["text"]]
    assert [passage.text for passage in second.evidence] == [FACTS[1]["text"]]
    assert (first.evidence[0].source, second.evidence[0].source) == ("https://example.org/s", "facts.jsonl:2")
    assert first.report is not None
    assert first.report.errors[0].evidence == (1,)
    assert first.signature["evidence"].startswith("corpus:")
    assert first.signature["evidence"].endswith(".k1.c300.sentences")
    assert first.signature == second.signature
    assert "searching: 2 of 2" in done.stderr
    assert "[1] “Schnitzel” t" in done.stdout
    assert "corpus:facts.jsonl, at most 1 passages" in Path("p.html").read_text()
    shown = mores("show", "t.jsonl", written(), "--html", "shown.html")
    assert "[1] “Schnitzel” t" in shown.stdout
    assert FACTS[0]["text"] in Path("shown.html").read_text()
    assert sorted(path.name for path in Path().iterdir() if path.suffix == ".jsonl") == (
        ["facts.jsonl", "judge.jsonl", "t.jsonl"]
    )


def test_a_row_may_bring_its_own_evidence(mores: Run) -> None:
    Path("t.jsonl").write_text(json.dumps({**ROWS[0], "evidence": ["Its own."]}) + "\n" + json.dumps(ROWS[1]) + "\n")
    model = scripted("judge.jsonl", [1, 2])
    assert mores("score", "t.jsonl", "--model", model).returncode == 0
    first, second = judgements(written())
    assert [passage.text for passage in first.evidence] == ["Its own."]
    assert first.report is not None
    assert first.report.errors[0].evidence == (1,)
    assert first.notes == ("it cites evidence that it was not given; those numbers are left out",)
    assert second.evidence == ()
    assert mores("score", "t.jsonl", "--model", model, "--evidence", "fake:echo", "--out", "o").returncode == 0
    first, second = judgements("o/judgements.jsonl")
    assert [passage.text for passage in first.evidence] == ["Its own."]
    assert [passage.text for passage in second.evidence] == ["Que mange-t-on ? Du pain"]


def test_a_failed_search_is_a_failure_in_its_place_and_no_verdict_without_evidence(mores: Run) -> None:
    put("t.jsonl", ROWS)
    recorded = {"query": "Que mange-t-on ? Du pain", "evidence": [{"text": "Du pain."}]}
    Path("r.jsonl").write_text(json.dumps(recorded) + "\n")
    done = mores("score", "t.jsonl", "--model", "fake:first-word", "--evidence", "replay:r.jsonl")
    assert done.returncode == 0, done.stderr
    first, second = judgements(written())
    assert (first.sample_id, first.score) == ("a", None)
    assert first.failure is not None
    assert first.failure.reason.startswith("no evidence could be looked up: replay:r.jsonl: ")
    assert (second.sample_id, second.score) == ("b", -1)
    assert "the search failed for 1 of 2 texts, which are not judged" in done.stderr
    assert "1 failed (fault of the " in " ".join(done.stderr.split())
    assert "not judged: 1 request was refused or not answered" in done.stdout
    done = mores("score", "t.jsonl", "--model", "fake:clean", "--evidence", "fake:fail")
    assert done.returncode == 1
    assert "no text could be judged" in done.stderr


def test_a_search_that_finds_nothing_is_no_failure(mores: Run) -> None:
    put("t.jsonl", ROWS)
    assert mores("score", "t.jsonl", "--model", "fake:clean", "--evidence", "fake:none").returncode == 0
    judged = judgements(written())
    assert [(j.evidence, j.failure) for j in judged] == [((), None), ((), None)]
    assert judged[0].signature["evidence"] == "fake:none.k3.c300"


def test_evidence_through_a_pipe(mores: Run) -> None:
    done = mores("score", "-", "--model", "fake:first-word", "--evidence", "fake:echo", stdin="Guten Tag!\n")
    assert json.loads(done.stdout)["evidence"][0]["text"] == "Guten Tag!"


def test_the_papers_prompt_with_evidence_is_refused_before_anything_is_sent(mores: Run) -> None:
    put("t.jsonl", ROWS)
    # The one that brings evidence comes so late that the first would be answered before it is read.
    Path("own.jsonl").write_text('{"text": "a"}\n' * 3000 + '{"text": "b", "evidence": ["c"]}\n')
    with Server() as server:
        reached = ("--model", "openai:x", "--base-url", server.url, "--style", "paper")
        for arguments in (("t.jsonl", "--evidence", "fake:echo"), ("own.jsonl",)):
            done = mores("score", *arguments, *reached)
            assert done.returncode == 2
            assert "use the style fenced or guided (--style)" in done.stderr
        assert server.asked == []


def test_dry_run_counts_the_searches(mores: Run) -> None:
    Path("t.jsonl").write_text(json.dumps({**ROWS[0], "evidence": ["Its own."]}) + "\n" + json.dumps(ROWS[1]) + "\n")
    put("facts.jsonl", FACTS)
    local = mores("score", "t.jsonl", "--model", "fake:clean", "--evidence", "facts.jsonl", "--dry-run")
    assert "1 searches with corpus:facts.jsonl\n" in local.stdout
    assert "2 calls would be sent; 0 answers are in the store already" in local.stdout
    assert mores("score", "t.jsonl", "--model", "fake:clean", "--evidence", "facts.jsonl").returncode == 0
    Path(written()).unlink()
    again = mores("score", "t.jsonl", "--model", "fake:clean", "--evidence", "facts.jsonl", "--dry-run")
    assert "0 calls would be sent; 2 answers are in the store already" in again.stdout  # the same evidence was found
    paid = mores("score", "t.jsonl", "--model", "fake:clean", "--evidence", "serper", "--dry-run", "--json", "--fresh")
    printed = json.loads(paid.stdout)
    assert (printed["searches"], printed["search_cost"], printed["calls"]) == (1, 0.001, 2)
    plain = json.loads(mores("score", "t.jsonl", "--model", "fake:clean", "--dry-run", "--json", "--fresh").stdout)
    assert printed["prompt_tokens"] >= plain["prompt_tokens"] + 3 * 300 // 4
    assert "searches" not in plain
    printed = mores("score", "t.jsonl", "--model", "fake:clean", "--evidence", "serper", "--dry-run").stdout
    assert "1 searches with serper, at most $0.001" in printed
    assert not results()


@pytest.mark.parametrize(
    ("evidence", "code", "words"),
    [
        ("nowhere.jsonl", 1, "nowhere.jsonl: no such file or folder"),
        ("replay:nowhere.jsonl", 1, "nowhere.jsonl: no such file"),
        ("serper:maps", 2, "there are serper and serper:boxes"),
    ],
)
def test_a_wrong_search_is_found_out_first(mores: Run, evidence: str, code: int, words: str) -> None:
    put("t.jsonl", ROWS)
    done = mores("score", "t.jsonl", "--model", "fake:clean", "--evidence", evidence)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not results()
