"""Whole conversations: how they are read, what the judge reads, and errors that are located by turn."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.errors import InputError
from mores.io import read_samples
from mores.io.dialogue import read_dialogue
from mores.metric.mqm_tsv import read_mqm_tsv, write_mqm_tsv
from mores.models.base import Completion, Request
from mores.models.fake import FakeModel
from mores.report.base.page import render_page
from mores.report.score import describe, judgement_html
from mores.types import Error, Judgement, Sample, Severity

TURNS = [
    {"speaker": "Aiko", "text": "With what do people eat sushi?"},
    {"speaker": "Bot", "text": "In Japan people eat sushi with forks. 🍣 With forks!"},
]
CHAT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "And forks?"},
    {"role": "assistant", "content": "With forks."},
]


def words_of(sample: Sample) -> list[tuple[int, str, str]]:
    return [(turn.number, turn.speaker, sample.text[turn.start : turn.end]) for turn in sample.turns]


@pytest.mark.parametrize(
    "row",
    [
        {"turns": TURNS},
        {"dialog": [{"from": turn["speaker"], "value": turn["text"]} for turn in TURNS]},
        {"turns": json.dumps(TURNS)},
    ],
)
def test_a_list_of_turns_is_a_conversation_wherever_there_is_no_text(row: dict[str, Any]) -> None:
    [sample] = read_samples([row])
    assert words_of(sample) == [(1, "Aiko", TURNS[0]["text"]), (2, "Bot", TURNS[1]["text"])]
    assert sample.text.startswith("Aiko: With what")
    assert read_samples([json.loads(sample.model_dump_json())]).__next__() == sample, "what Mores writes is read again"


def test_a_chat_is_a_conversation_only_if_asked_for() -> None:
    [before] = read_samples([{"messages": CHAT}])
    assert (before.text, before.turns) == ("With forks.", ())
    [sample] = read_samples([{"messages": CHAT}], dialogue=True)
    assert sample.instruction == "Be kind."
    assert words_of(sample) == [(2, "user", "Hi"), (4, "user", "And forks?"), (5, "assistant", "With forks.")]
    [answered] = read_samples([{"messages": CHAT[:2], "text": "Hello."}], dialogue=True)
    assert words_of(answered) == [(2, "user", "Hi"), (3, "assistant", "Hello.")]
    parts = [{"role": "user", "content": ["Hi"]}, {"role": "assistant", "content": [{"type": "text"}, "Yes.", 5, None]}]
    [spoken] = read_samples([{"messages": parts}], dialogue=True)
    assert words_of(spoken) == [(1, "user", "Hi"), (2, "assistant", "Yes.")]
    [last] = read_samples([{"messages": parts}])
    assert last.text == "Yes."


def test_other_columns_that_are_called_turns_stay_what_they_are() -> None:
    [sample] = read_samples([{"text": "A: b", "turns": 3}])
    assert sample.text == "A: b"
    assert not sample.turns
    assert sample.metadata == {"turns": 3}
    seconds = [{"speaker": "A", "start": 0.5, "end": 2.1}]
    [timed] = read_samples([{"text": "A: b", "turns": seconds}])
    assert not timed.turns


def test_a_plain_text_keeps_its_words_and_a_file_of_them_is_parted_by_blank_lines(tmp_path: Path) -> None:
    text = "Prologue\nAiko: It is 12:30.\n  See http://example.org\n太郎：はい\nBot:\n"
    assert [(turn.number, turn.speaker, text[turn.start : turn.end]) for turn in read_dialogue(text).turns] == [
        (1, "Aiko", "It is 12:30.\n  See http://example.org"), (2, "太郎", "はい"),
    ]  # fmt: skip
    path = tmp_path / "talks.txt"
    path.write_text("A: Hi\nB: Yes\n\n\nA: No\n", "utf-8")
    samples = list(read_samples(path, dialogue=True))
    assert [sample.id for sample in samples] == ["talks:1", "talks:5"]
    assert [sample.text for sample in samples] == ["A: Hi\nB: Yes", "A: No"]
    with pytest.raises(InputError, match=r"list:1: no turns in the text; begin each"):
        list(read_samples([{"text": "no speaker"}], dialogue=True))
    with pytest.raises(InputError, match="empty or not a list of turns"):
        list(read_samples([{"turns": 3}]))


def forks(request: Request) -> Completion:
    """Find the second “forks” and a name; the prompt must hold the whole conversation."""
    assert "Aiko: With what do people eat sushi?\n\nBot: In Japan" in request.messages[-1].content
    fields = {"side": "text", "severity": "major", "type": "custom", "explanation": "Chopsticks or hands."}
    errors = [{**fields, "quote": "with forks", "occurrence": 2}, {**fields, "quote": "Aiko"}]
    errors.append({**fields, "quote": "sushi?\n\nBot: In Japan"})
    return Completion(json.dumps({"errors": errors, "explanation": ""}), (-0.1,))


def test_errors_are_located_by_turn_in_records_files_and_views(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps({"id": "a", "turns": TURNS}) + "\n", "utf-8")
    run = mores.score_file(path, FakeModel("judge", forks), out=tmp_path / "run", store=None)
    [judgement] = run.judgements()
    assert judgement.report is not None
    second, name, across = judgement.report.errors
    assert second.turn is not None
    assert (second.turn.number, second.turn.speaker) == (2, "Bot")
    assert TURNS[1]["text"][second.turn.start : second.turn.end] == "With forks" == second.quote, "after the emoji"
    assert judgement.text is not None
    assert judgement.text[second.start : second.end] == second.quote
    assert name.turn is None, "a speaker's name is no turn"
    assert across.turn is not None
    assert TURNS[0]["text"][across.turn.start : across.turn.end] == "sushi?", "the part in the first of its turns"
    assert Judgement.model_validate_json(judgement.model_dump_json()) == judgement

    document = describe(run)
    [table] = [part for part in document.printed if not isinstance(part, str) and part.title == "Errors by turn"]
    rows = list(csv.reader(table.csv().splitlines()))
    assert [row[1:4] for row in rows[1:]] == [["1", "Aiko", "24:30"], ["2", "Bot", "40:50"]]
    page = render_page(document)
    assert 'data-turn="2"' in page
    assert "in turn 2: “" in page
    assert "turn 2: “" in judgement_html(judgement)
    assert mores.score([{"id": "a", "turns": TURNS}], FakeModel("judge", forks), store=None) == [judgement]
    [read] = read_mqm_tsv(write_mqm_tsv([judgement]))
    assert read.report == judgement.report
    assert read.turns == judgement.turns


def test_a_rerun_as_conversations_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps({"text": "A: Hi\nB: Yes"}) + "\n", "utf-8")
    once, again = (mores.score_file(path, "fake:clean", dialogue=flag, store=None) for flag in (False, True))
    assert once.path != again.path
    assert [bool(judgement.turns) for run in (once, again) for judgement in run.judgements()] == [False, True]


def test_errors_outside_a_conversation_have_no_turn() -> None:
    error = Error(side="text", start=0, end=4, quote="Fine", severity=Severity.MINOR, type="custom")
    assert Sample(id="1", text="Fine.").in_turn(error) == error
    assert "turn" not in error.model_dump()
