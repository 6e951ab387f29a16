"""A benchmark in a folder of the user's: found by its path, checked, run, and found again by what reads the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.benchmark import benchmark, reference
from mores.benchmark.folder import open_bench_run
from mores.errors import ConfigError
from tests.cli.conftest import Run, home, mores
from tests.outside import DOCS, FILES, write_folder

__all__ = ["home", "mores"]


@pytest.mark.parametrize("name", ["proverbs", "festivals"])
def test_the_benchmarks_of_the_guide_lack_nothing(mores: Run, home: Path, name: str) -> None:
    write_folder(home, name)
    done = mores("bench", "check", name, "--json")
    assert done.returncode == 0, done.stdout
    [check] = json.loads(done.stdout)
    assert (check["name"], check["ok"]) == (name, True)


def test_the_guide_takes_sixty_lines() -> None:
    code = [line for line in FILES["proverbs/__init__.py"].splitlines() if line.strip()]
    others = [line for path in ("ask.txt", "README.md") for line in FILES[f"proverbs/{path}"].splitlines()]
    assert len(code) + len(others) <= 60


def test_the_output_in_the_guide_is_that_of_today(mores: Run, home: Path) -> None:
    (write_folder(home, "proverbs") / "README.md").unlink()
    done = mores("bench", "check", "proverbs", COLUMNS="80")
    assert done.returncode == 1
    printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    assert max(map(len, printed.splitlines())) <= 80
    assert f"```\n{printed}\n```" in (DOCS / "benchmarks.md").read_text("utf-8")


def test_nested_json_and_several_items_in_a_row(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "festivals")
    items = list(benchmark(folder).read(folder / "sample", lambda _: None))
    assert [(item.region, item.topic) for item in items] == [
        ("JP", "Setsubun"), ("JP", "Setsubun"), ("MX", "Día de Muertos"), ("MX", "Las Posadas"), ("MX", "Las Posadas"),
    ]  # fmt: skip
    assert items[0].target == ("roasted soybeans", "beans")


def test_a_run_by_path_is_found_again_from_another_folder(
    mores: Run, home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(home / "mine", "proverbs")
    (home / "model.jsonl").write_text('{"contains": "from Japan", "answer": "B"}\n{"contains": "", "answer": "A"}\n')
    done = mores("bench", "mine/proverbs", "--model", "fake:model.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    [result] = json.loads(done.stdout)
    assert result["benchmark"] == "proverbs"
    assert result["figures"]["accuracy"]["value"] == 3 / 5
    assert result["references"] == {"random": pytest.approx(1 / 3), "always A": 0.4}
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    again = open_bench_run(home / "bench" / "proverbs" / "fake_model.jsonl").benchmark()
    assert again.folder == home / "mine" / "proverbs"
    assert reference(again) == f"{home / 'mine' / 'proverbs'}:proverbs"
    for command in (("diagnose", "locality", "bench", "--by", "region"), ("tiers", "bench")):
        done = mores(*command)
        assert done.returncode == 0, done.stderr


def test_the_data_may_lie_elsewhere(mores: Run, home: Path) -> None:
    folder = write_folder(home, "proverbs")
    (home / "sets").mkdir()
    (folder / "data").rename(home / "sets" / "proverbs")
    lost = mores("bench", "./proverbs", "--model", "fake:")
    assert lost.returncode == 2
    assert "proverbs is not on the Hub; get it from https://example.org/proverbs" in lost.stderr
    done = mores("bench", "./proverbs", "--model", "fake:", "--data", "sets", "--dry-run")
    assert "5 calls would be sent" in done.stdout


@pytest.mark.slow
def test_diagnose_and_info_take_a_path(mores: Run, home: Path) -> None:
    write_folder(home, "proverbs")
    info = mores("bench", "info", "./proverbs")
    assert "How does this proverb from United Kingdom go on?" in info.stdout
    done = mores("diagnose", "stability", "./proverbs", "--model", "fake:broken", "--samples", "2")
    assert "no such benchmark" not in done.stderr
    assert "proverbs" in done.stdout


LINE = 1 + FILES["proverbs/__init__.py"].partition("PROVERBS = ")[0].count("\n")
"""Where the benchmark is defined."""
TWO = FILES["proverbs/__init__.py"] + (
    "\nfrom dataclasses import replace\n\nfrom mores.benchmark.msqa import MSQA\n\n"
    'HARD = replace(PROVERBS, name="proverbs-hard")\n'
)


def test_several_in_a_folder_are_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "proverbs")
    (folder / "__init__.py").write_text(TWO)
    assert benchmark(f"{folder}:proverbs-hard").name == "proverbs-hard"
    for name, words in ((str(folder), "has several benchmarks"), (f"{folder}:easy", "has no benchmark 'easy'")):
        with pytest.raises(ConfigError, match=f"{words}; write .*:proverbs or .*:proverbs-hard"):
            benchmark(name)


def test_a_folder_may_have_modules_and_is_read_anew(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "proverbs")
    code = FILES["proverbs/__init__.py"].replace('version="1"', "version=VERSION")
    (folder / "__init__.py").write_text(f"from .about import VERSION\n{code}")
    for version in ("1", "20"):
        (folder / "about.py").write_text(f"VERSION = {version!r}\n")
        (folder / "ask.txt").write_text(f"{version} {{country}} {{start}}\n{{options}}")
        loaded = benchmark(folder)
        assert loaded.version == version
        assert next(loaded.read(folder / "sample", print)).prompt.startswith(f"{version} United Kingdom")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("PROVERBS = Benchmark(", "PROVERBS = Benchmark((",
         f"__init__.py:{LINE}: '(' was never closed; correct the syntax"),
        ("import Benchmark\n", "import Benchmarc\n", "__init__.py:3: ImportError: cannot import name 'Benchmarc'"),
        ("from mores.culture", "import nowhere.at_all\nfrom mores.culture",
         "__init__.py:5: No module named 'nowhere'; pip install nowhere"),
        ("    title=", "    titel=", f"__init__.py:{LINE}: TypeError: Benchmark.__init__() got an unexpected keyword"),
        ('    version="1",\n', "", f"__init__.py:{LINE}: TypeError: Benchmark.__init__() missing 1 required"),
        ('version="1"', "version=1", f"__init__.py:{LINE}: Benchmark 'proverbs': version is 1; expected a text"),
        ('("region",)', '"region"', "groupings is 'region'; expected a tuple of texts, such as (\"region\",)"),
        ("read=read", "read=None", "read is None; expected a function"),
        ("grade=grade_letter,", "", "it has none of grade, judging and long_answer; give exactly one"),
        ('name="proverbs"', 'name="a/b"', "a name has letters, digits"),
        ('name="proverbs"', 'name="msqa"', "'msqa' has the name of one of Mores; rename it"),
        ("PROVERBS = Benchmark(", "PROVERBS = dict(", "__init__.py: defines no Benchmark; write NAME = Benchmark(…)"),
        ("PROVERBS = ", "OTHER = PROVERBS = ", None),
        ("def read", "raise SystemExit(3)\n\n\ndef read", "__init__.py:12: SystemExit: 3"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_code_is_said(mores: Run, home: Path, old: str, new: str, words: str | None) -> None:
    code = FILES["proverbs/__init__.py"]
    assert old in code
    folder = write_folder(home, "proverbs")
    (folder / "__init__.py").write_text(code.replace(old, new))
    done = mores("bench", "./proverbs", "--model", "fake:", "--dry-run")
    checked = mores("bench", "check", "./proverbs", COLUMNS="500")
    if words is None:
        assert (done.returncode, checked.returncode) == (0, 0)
        return
    assert done.returncode == 2
    assert str(folder / "__init__.py") in done.stderr
    assert words in done.stderr
    assert checked.returncode == 1
    assert words in checked.stdout


def test_what_is_no_benchmark_is_said(mores: Run, home: Path) -> None:
    (home / "empty").mkdir()
    for name, words in (("empty", "the folder has no __init__.py"), ("no/where", "no/where: no such folder")):
        done = mores("bench", name)
        assert done.returncode == 2
        assert words in done.stderr
    assert mores("bench", "check", "mqsa").returncode == 2
    assert "name a benchmark or its folder" in mores("bench", "check").stderr


def test_a_name_goes_before_a_folder(home: Path) -> None:
    write_folder(home, "proverbs").rename(home / "msqa")
    assert benchmark("msqa").judging
    assert benchmark("./msqa").name == benchmark(Path("msqa")).name == "proverbs"


def test_prompts_say_what_they_lack(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "proverbs")
    loaded = benchmark(folder)
    (folder / "ask.txt").write_text("{start} {rule}")
    with pytest.raises(ConfigError, match=r"nothing fills the slot \{rule\} of a prompt; it gets country, start"):
        list(loaded.read(folder / "sample", print))
    (folder / "ask.txt").write_bytes("{start}\nOlá".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"ask\.txt:2: not valid UTF-8 \(byte 0xe1 at column 3\); save"):
        list(benchmark(folder).read(folder / "sample", print))
    (folder / "ask.txt").unlink()
    with pytest.raises(ConfigError, match=r"ask\.txt: no such file"):
        list(benchmark(folder).read(folder / "sample", print))
