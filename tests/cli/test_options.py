"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.engine.cost import Price, read_price
from mores.errors import ConfigError
from tests.cli.conftest import Run


def test_a_given_price_counts() -> None:
    assert Price(1, 2) == read_price("1,2")
    assert Price(1, 2).cost(500_000, 250_000) == 1.0
    assert read_price("0.40, 1.60") == Price(0.40, 1.60)
    assert read_price("0,0") == Price(0, 0)


@pytest.mark.parametrize("wrong", ["cheap", "1", "1,2,3", "-1,2", "", "nan,1", "inf,1"])
def test_a_price_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match=r"expected two numbers|not negative"):
        read_price(wrong)


LOOP = "a link that leads back to itself; remove it, or give another path"


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "loop"),
        ("score", "loop.csv"),
        ("score", "-t", "loop"),
        ("score", "--from", "inspect:loop"),
        ("score", "t.txt", "--out", "loop"),
        ("score", "t.txt", "--html", "loop"),
        ("score", "t.txt", "--html", "loop/page.html"),
    ],
)
def test_a_link_to_itself_is_named(mores: Run, home: Path, arguments: tuple[str, ...]) -> None:
    for name in ("loop", "loop.csv"):
        (home / name).symlink_to(name)
    (home / "t.txt").write_text("Tea.\n")
    done = mores(*arguments, "--model", "fake:clean")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] in {f"error: {name}: {LOOP}" for name in ("loop", "loop.csv", "loop/page.html")}


def test_the_page_of_a_run_cannot_be_a_link_to_itself(mores: Run, home: Path) -> None:
    (home / "loop").symlink_to("loop")
    done = mores("show", ".", "--html", "loop")
    assert (done.returncode, done.stderr) == (1, f"error: loop: {LOOP}\n")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("score", "t.txt", "--model", "fake:clean", "--model", "fake:broken"), "--model"),
        (("score", "t.txt", "--model=fake:clean", "--model=fake:clean"), "--model"),
        (("score", "-t", "t.txt", "-s", "a", "--sources", "b"), "-s"),
        (("diagnose", "stability", "run", "--out", "a", "--out", "b"), "--out"),
        (("build", "ground", ".", "--out", "a", "--out", "b"), "--out"),
        (("studio", "--port", "1", "--port", "2"), "--port"),
        (("studio", "invite", "c", "author", "--uses", "1", "--uses", "2"), "--uses"),
    ],
)
def test_an_option_with_one_value_is_given_once(mores: Run, arguments: tuple[str, ...], option: str) -> None:
    done = mores(*arguments)
    assert done.returncode == 2
    assert f"Error: {option} takes one value and is given 2 times" in done.stderr


def test_flags_and_options_with_several_values_may_be_repeated(mores: Run, home: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (home / name).write_text("Tea.\n")
    done = mores("score", "-t", "a.txt", "-t", "b.txt", "--model", "fake:clean", "--only-system", "--only-system")
    assert done.returncode == 0
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == ["a.txt", "b.txt"]


@pytest.mark.parametrize("option", ["--fail-under", "--rpm", "--timeout"])
@pytest.mark.parametrize("number", ["nan", "inf"])
def test_a_limit_is_a_finite_number(mores: Run, home: Path, option: str, number: str) -> None:
    (home / "t.txt").write_text("Tea.\n")
    done = mores("score", "t.txt", "--model", "fake:clean", option, number)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert f"is {number}; expected a number ({option})" in done.stderr


def test_a_folder_does_not_get_the_name_of_a_file(mores: Run, home: Path) -> None:
    (home / "t.jsonl").write_text('{"text": "fine"}\n')
    for command in (("score", "t.jsonl"), ("bench", "normad", "--data", ".")):
        done = mores(*command, "--model", "fake:clean", "--out", "result.jsonl")
        assert done.returncode == 2
        assert (
            "result.jsonl: a folder will be made here, and its name is that of a file; give a name without .jsonl"
            in (done.stderr)
        )
        assert "(--out)" in done.stderr
    assert not (home / "result.jsonl").exists()
    (home / "earlier.jsonl").mkdir()  # as earlier versions made it: a run in it continues
    assert mores("score", "t.jsonl", "--model", "fake:clean", "--out", "earlier.jsonl").returncode == 0
    assert mores("score", "t.jsonl", "--model", "fake:clean", "--out", "-").returncode == 0


def test_no_store_says_what_is_kept(mores: Run, home: Path) -> None:
    (home / "t.jsonl").write_text('{"text": "fine"}\n')
    assert "Keep no answers but those in the result" in " ".join(mores("score", "--help").stdout.split())
    assert mores("score", "t.jsonl", "--model", "fake:clean", "--no-store", "--out", "run").returncode == 0
    assert not (home / "cache" / "responses.db").exists()
    assert (home / "run" / "judgements.jsonl").exists()
