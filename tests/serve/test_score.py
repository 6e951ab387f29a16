"""Over HTTP, texts get the same judgements as in the terminal, as soon as they are there."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from mores.metric import Settings
from mores.types import Judgement
from tests.cli.conftest import run_in_process
from tests.serve.conftest import Serve
from tests.serve.judge import LINES, TEXTS, Held, ask, send, until

ROWS = [
    {"id": "a", "instruction": "Describe a meal.", "text": "Sushi is eaten with a fork 🍣.", "region": "Japan"},
    {"id": "b", "prompt": "Say it in Swahili.", "output": "Watu hunywa chai.", "lang": "sw", "source": "mine"},
    {"id": "c", "text": "Tea comes with milk.", "evidence": ["In Britain, tea comes with milk."]},
    {"id": "d", "text": "x" * 300},
]
DOCUMENTS = [{"text": "Sushi is eaten with the hands or with chopsticks."}, {"text": "Chai ni kinywaji cha Kenya."}]


@pytest.mark.often("fake:first-word-facts.jsonl")
@pytest.mark.parametrize(
    ("model", "facts"),
    [("fake:first-word", ""), ("fake:first-word", "facts.jsonl"), ("fake:broken", ""), ("fake:truncated", "")],
)
def test_judgements_are_byte_for_byte_those_of_mores_score(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, facts: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows in (("texts.jsonl", ROWS), ("facts.jsonl", DOCUMENTS)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--evidence", facts, "--passages", "2") if facts else ()
    address = serve(model, settings=Settings(max_characters=250), evidence=facts or None, passages=2)
    run_in_process(
        tmp_path, ("score", "texts.jsonl", "--model", model, "--out", "run", "--max-characters", "250", *options)
    )
    expected = Path("run/judgements.jsonl").read_bytes().splitlines()
    assert len(expected) == len(ROWS)
    assert all(Judgement.model_validate_json(line).evidence for line in expected[:3] if facts)
    assert ask(address, ROWS).body == b"[" + b",".join(expected) + b"]"
    assert [ask(address, row).body for row in ROWS] == expected
    streamed = ask(address, Path("texts.jsonl").read_bytes(), Content_Type="application/x-ndjson", **LINES)
    assert streamed.headers["Content-Type"] == "application/x-ndjson"
    assert sorted(streamed.body.splitlines(keepends=True)) == sorted(line + b"\n" for line in expected)


@pytest.mark.slow
def test_a_text_without_an_id_has_its_number(serve: Serve) -> None:
    address = serve("fake:clean")
    got = ask(address, [{"text": "a"}, {"text": "b"}, {"id": 7, "text": "c"}]).json
    assert [judgement["sample_id"] for judgement in got] == ["1", "2", "7"]
    assert ask(address, {"text": "a"}).json["sample_id"] == "1"


@pytest.mark.slow
def test_a_stream_has_each_judgement_as_soon_as_it_is_there(serve: Serve, held: Held) -> None:
    with send(serve(held), [{"id": "s", "text": "A slow text."}, *TEXTS], **LINES) as connection:
        got = b""
        while got.count(b'"sample_id"') < len(TEXTS):
            got += connection.recv(65536)
        assert b'"sample_id":"s"' not in got
        held.free.set()
        while b'"sample_id":"s"' not in got:
            got += connection.recv(65536)


def test_requests_share_one_model_and_no_text_waits_behind_a_whole_batch(serve: Serve, held: Held) -> None:
    address, batch = serve(held, store=None), [{"text": f"slow {number}"} for number in range(40)]
    with send(address, batch):
        until(lambda: len(held.asked) == held.concurrency)
        single = threading.Thread(target=ask, args=(address, {"text": "Only one."}))
        single.start()
        until(lambda: b"mores_texts_waiting 39" in ask(address, path="/metrics").body)
        held.free.set()
        single.join(20)
        place = next(number for number, prompt in enumerate(held.asked) if "Only one." in prompt)
    assert place <= held.concurrency + 1  # of the batch, one text had its turn before
    assert held.entered == 1
