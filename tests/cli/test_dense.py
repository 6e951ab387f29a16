"""`mores score --evidence fused:PATH`, with an encoder that knows a few words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mores as api
from mores.io import read_records
from mores.types import Judgement
from tests.cli.conftest import Run
from tests.search.concepts import Concepts

FACTS = ["Guests are offered tea.", "At a wedding there is bread."]
TEXTS = ["Misafir için çay vardır.", "Düğün için ekmek vardır."]


@pytest.fixture
def _files(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mores.search.dense.open_encoder", lambda _: Concepts())
    for name, texts in (("facts", FACTS), ("texts", TEXTS)):
        rows = [{"text": text, "language": "tr" if name == "texts" else "en"} for text in texts]
        (home / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def evidence(folder: str) -> list[list[str]]:
    judgements = read_records(Path(folder, "judgements.jsonl"), Judgement)
    return [[piece.text for piece in judgement.evidence] for judgement in judgements]


@pytest.mark.usefixtures("_files")
def test_facts_in_another_language_are_found_and_the_run_says_how(mores: Run) -> None:
    model = ("--model", "fake:clean", "--passages", "1")
    done = mores("score", "texts.jsonl", *model, "--evidence", "fused:facts.jsonl", "--out", "fused")
    assert done.returncode == 0, done.stderr
    assert "encoding passages: 2 in" in done.stderr
    assert evidence("fused") == [[FACTS[0]], [FACTS[1]]]
    run = api.open_run("fused")
    assert run.manifest.signature["evidence"].startswith("fused:")
    assert "concepts.1" in run.manifest.signature["evidence"]
    again = mores("score", "texts.jsonl", *model, "--evidence", "dense:facts.jsonl", "--out", "fused")
    assert again.returncode != 0  # another search is another run
    assert evidence("fused") == [[FACTS[0]], [FACTS[1]]]


@pytest.mark.usefixtures("_files")
def test_words_remain_the_default_and_a_note_says_what_would_help(mores: Run) -> None:
    english = ["In Germany, shops are closed on Sundays and on most public holidays."] * 3
    Path("facts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in english))
    done = mores("score", "texts.jsonl", "--model", "fake:clean", "--evidence", "facts.jsonl", "--out", "words")
    assert done.returncode == 0, done.stderr
    assert "most documents are in English and most texts are not (Turkish)" in done.stderr
    assert "fused:facts.jsonl also compares meanings" in done.stderr


@pytest.mark.usefixtures("_files")
def test_the_same_in_python() -> None:
    run = api.score_file("texts.jsonl", "fake:clean", evidence="fused:facts.jsonl", passages=1, out="run")
    assert [[piece.text for piece in judgement.evidence] for judgement in run.judgements()] == [[FACTS[0]], [FACTS[1]]]
