"""`mores build ground` through the real command: from items to a dataset with evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.factory.output import read_split
from tests.cli.conftest import Run
from tests.factory.test_build import put, survey


@pytest.fixture
def built(mores: Run, home: Path) -> Path:
    put(home, survey(40), "survey")
    (home / "mine.yaml").write_text("name: mine\nsources: [survey.jsonl]\nsampling: paper\n")
    done = mores("build", "mine.yaml", "--out", "data")
    assert done.returncode == 0, done.stderr
    return home / "data"


@pytest.mark.slow
@pytest.mark.usefixtures("built")
def test_a_built_dataset_gets_evidence(mores: Run, home: Path) -> None:
    done = mores("build", "ground", "data", "--out", "grounded", "--passages", "2")
    assert done.returncode == 0, done.stderr
    assert "evidence for test-covered" in done.stderr
    assert "wrote grounded" in done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:]}
    assert set(rows) == {"survey", "all"}
    assert rows["survey"][-1] == "100.0%", "each question has a number, which no other fact has"
    assert len(rows["survey"]) == 3, (
        "no answer to these questions can be reworded, and nothing is said of uncovered ones"
    )
    train = list(read_split(home / "grounded", "train"))
    assert {len(gold.sample.evidence) for gold in train} == {0, 2}
    assert not (home / "cache").exists(), "an index was left behind"
    again = mores("build", "ground", "data", "--out", "again", "--passages", "2", "--json")
    assert json.loads(again.stdout) == json.loads((home / "grounded" / "ground.json").read_text())


@pytest.mark.usefixtures("built")
def test_sentences_alone_are_trained_on_and_measure_nothing(mores: Run, home: Path) -> None:
    (home / "sentences").mkdir()
    lines = [f"Sentensi ya {number} inasema jambo jipya kuhusu kijiji." for number in range(80)]
    (home / "sentences" / "sw.txt").write_text("\n".join(lines), "utf-8")
    done = mores("build", "ground", "data", "--out", "grounded", "--sentences", "sentences")
    assert done.returncode == 0, done.stderr
    made_of_sentences = [gold for gold in read_split(home / "grounded", "train") if gold.sample.source == "sentences"]
    assert {gold.sample.language for gold in made_of_sentences} == {"sw"}
    assert {gold.kind for gold in made_of_sentences} == {"correct", "soft"}
    assert all(gold.sample.evidence for gold in made_of_sentences)
    assert not (home / "grounded" / "test-pairs.jsonl").exists()
    (home / "sentences" / "sw.txt").write_text("Moja.\n", "utf-8")
    done = mores("build", "ground", "data", "--out", "other", "--sentences", "sentences")
    assert done.returncode == 1
    assert "four different sentences" in done.stderr


@pytest.mark.slow
def test_bad_folders_are_said(mores: Run, built: Path) -> None:
    done = mores("build", "ground", "data", "--out", "data")
    assert done.returncode != 0
    assert "choose another folder (--out)" in done.stderr
    (built / "facts.jsonl").unlink()
    done = mores("build", "ground", "data", "--out", "grounded")
    assert done.returncode == 1
    assert "build it again with this version of mores" in done.stderr
    assert mores("build", "ground", "nothing", "--out", "grounded").returncode == 2
    assert mores("build", "ground", "data", "--out", "grounded", "--passages", "0").returncode == 2
