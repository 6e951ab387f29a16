"""Label Studio's and pearmut's JSON as these tools write it, and the commands that export and import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mores.cli.servers import studio
from mores.errors import InputError
from mores.io.exports import locate
from mores.studio.data.label_studio import from_results, read_label_studio, to_results
from mores.studio.data.pearmut import from_span, read_pearmut, to_span
from mores.studio.form import FormField, StudioForm

FORM = StudioForm(
    (FormField("kind", "Kind", "choice", options=[("a", "A"), ("b", "B")]), FormField("why", "Why?", "text"))
)


def test_answers_and_spans_come_back_from_label_studio() -> None:
    span = {"start": 1, "end": 3, "quote": "ea", "severity": "major", "side": "text"}
    answer = {"kind": "a", "why": "Because.", "errors": [span]}
    results = to_results(FORM, answer, "text")
    assert {result["type"] for result in results} == {"choices", "textarea", "labels"}
    assert next(one["value"] for one in results if one["type"] == "labels")["labels"] == ["major"]
    assert from_results(results, {"text": "tea"}, FORM) == answer


@pytest.mark.parametrize("start", [12, 13])
def test_spans_count_code_points_whichever_version_wrote_them(start: int) -> None:
    text = "💩This is an annotation."
    assert locate(text, start, start + 10, "annotation") == (12, 22)
    with pytest.raises(InputError, match="is not 'tea'"):
        locate(text, 0, 3, "tea")


def test_a_task_that_label_studio_wrote_is_read() -> None:
    value = {"start": 0, "end": 3, "text": "Tea", "labels": ["Drink"]}
    result = {"from_name": "label", "to_name": "text", "type": "labels", "value": value}
    annotation = {"id": 9, "completed_by": {"id": 4, "email": "x@example.org"}, "lead_time": 8.4, "result": [result]}
    task = {"id": 1, "data": {"text": "Tea first."}, "annotations": [annotation, annotation | {"was_cancelled": True}]}
    [row] = read_label_studio(json.dumps([task]), "tasks.json")
    assert row.content == {"text": "Tea first."}
    [answer] = row.answers
    assert (answer.person, answer.seconds) == ("Label Studio 4", 8.4)
    assert answer.answer == {"label": [{"start": 0, "end": 3, "quote": "Tea", "label": "Drink"}]}


def test_a_span_without_end_is_refused() -> None:
    result = {"from_name": "label", "to_name": "text", "type": "labels", "value": {"start": 0, "end": "END"}}
    task = {"data": {"text": "Tea first."}, "annotations": [{"result": [result]}]}
    with pytest.raises(InputError, match=r"tasks\.json: not valid JSON \(1e400 is not a number\)"):
        read_label_studio(json.dumps([task]).replace('"END"', "1e400"), "tasks.json")


def test_pearmuts_ends_are_inclusive() -> None:
    assert to_span({"start": 2, "end": 5, "severity": "minor"})["end_i"] == 4
    span = from_span({"start_i": 2, "end_i": 4, "severity": "minor", "category": None}, "0123456")
    assert (span["start"], span["end"], span["quote"]) == (2, 5, "234")
    with pytest.raises(InputError, match="an error span"):
        from_span({"start_i": 4, "end_i": 2}, "0123456")


def test_a_campaign_and_a_log_that_pearmut_wrote_are_read() -> None:
    item = {"item_id": "one", "src": "Guten Tag", "tgt": {"A": "Good day"}}
    campaign = {
        "info": {"assignment": "task-based"},
        "campaign_id": "c",
        "data": [[[item]], [[item | {"item_id": "two"}]]],
    }
    assert [row.content["item_id"] for row in read_pearmut(json.dumps(campaign), "c.json")] == ["one", "two"]
    span = {"start_i": 0, "end_i": 3, "severity": "major", "category": None}
    said = {"A": {"score": 87, "error_spans": [span], "textfield": None}}
    actions = [{"time": 100.0, "action": "load"}, {"time": 110.5, "action": "submit"}]
    line = {"annotation": [said], "actions": actions, "item": [item], "user_id": "calm-fox-1", "item_i": 13}
    tutorial = line | {"item_i": "welcome_0"}
    [row] = read_pearmut(f"{json.dumps(tutorial)}\n{json.dumps(line)}\n", "log.jsonl")
    [answer] = row.answers
    assert (answer.person, answer.seconds, answer.answer["score"]) == ("pearmut calm-fox-1", 10.5, 87)
    assert answer.answer["error_spans"][0]["quote"] == "Good"
    mixed = line | {"actions": [{"time": "100"}, {"time": 110.5}, {"time": "inf"}, {"time": 10**400}, {"time": None}]}
    [[answer]] = [row.answers for row in read_pearmut(json.dumps(mixed), "log.jsonl")]
    assert answer.seconds == 10.5
    for damaged in ({}, line | {"actions": 7}):
        with pytest.raises(InputError, match=r"log\.jsonl:2: no line of pearmut's log"):
            read_pearmut(f"{json.dumps(line)}\n{json.dumps(damaged)}\n", "log.jsonl")


@pytest.mark.slow
def test_the_command_line_imports_and_exports(tmp_path: Path) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        options = ["--database", str(tmp_path / "s.db"), *arguments]
        done = CliRunner().invoke(studio, options)
        assert done.exit_code == code, done.output
        return done.output

    (tmp_path / "c.yaml").write_text("kind: culturalteaming\ntitle: Tea\nregions: [KE]\n")
    campaign = run("new", str(tmp_path / "c.yaml")).split()[0]
    rows = "question,options_1,options_2,options_3,options_4,correct\nIn Kenya, what?,a,b,c,d,A\n"
    (tmp_path / "i.csv").write_text(rows.replace("In Kenya, what?", '"In Kenya, what?"'))
    assert run("import", campaign, str(tmp_path / "i.csv")).startswith("1 item, 0 answers")
    assert "already there: 1" in run("import", campaign, str(tmp_path / "i.csv"))
    written = run("export", campaign, str(tmp_path / "out"), "--format", "jsonl").split()
    assert {Path(path).name for path in written} == {
        "README.md",
        "CANARY",
        "METHOD.md",
        "items.jsonl",
        "versions.jsonl",
        "votes.jsonl",
    }
    [line] = (tmp_path / "out" / "items.jsonl").read_text().splitlines()
    assert json.loads(line)["content"]["options"] == ["a", "b", "c", "d"]
    canary = (tmp_path / "out" / "CANARY").read_text().strip()
    marked = {path.name for path in (tmp_path / "out").iterdir() if canary in path.read_text()}
    assert marked == {"CANARY", "README.md"}, "never in a row"
    run("export", campaign, code=2)
