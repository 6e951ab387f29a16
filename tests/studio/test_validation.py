"""ExCAM's validation campaign: what comes in, what each step shows and asks, what follows, and what goes out."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import InputError
from mores.factory.gold import Gold, Original
from mores.factory.items import Task
from mores.factory.output import read_split
from mores.io import JsonlWriter, read_records
from mores.studio.campaigns.validation import WordChange, compare
from mores.studio.campaigns.validation.export import to_judged
from mores.studio.campaigns.validation.forms import ValidationSettings, validate_form
from mores.studio.campaigns.validation.rows import admit, choose, join
from mores.studio.data.incoming import Incoming
from mores.studio.form import FormError, as_seen, read_form
from mores.studio.manage import export_campaign, import_files
from mores.studio.records import CampaignItem, ItemStatus, ItemVote, Role
from mores.studio.store.campaigns import SettingsError, read_settings
from mores.studio.store.database import Database
from mores.studio.store.items import now
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Sample, Severity
from tests.studio.play import Play, Player

ROW: dict[str, Any] = {
    "sample": "s-1",
    "instruction": "What do families in Japan eat on New Year's Eve?",
    "original": "Many families eat soba before midnight.",
    "text": "Many families eat cold ramen before midnight.",
    "severity": "minor",
    "type": "WRONGDISH",
    "explanation": "GOLDWHY: buckwheat noodles are eaten.",
    "explanations": {"gemma-name": "FIRSTWHY soba is eaten.", "phi-name": "SECONDWHY ramen is Chinese."},
}
STEP_1 = {"cultural": "yes", "error": "valid", "note": ""}
STEP_2 = {"explained": "valid", "severity_ok": "yes", "type_ok": "yes", "changed": "no"}
STEP_3 = {"likeness_1": "5", "likeness_2": "2"}


def gold(**fields: Any) -> Gold:
    sample = Sample(
        id="mango/1:minor", instruction=ROW["instruction"], text=ROW["text"], language="en", region="JP", source="mango"
    )
    error = Error(
        side="text", start=18, end=28, quote="cold ramen", severity=Severity.MINOR, type="dish", explanation="Soba."
    )
    whole = {"sample": sample, "report": ErrorReport(errors=(error,), explanation="Soba is eaten.")}
    origin = {"task": Task.FREEFORM, "kind": "soft", "maker": "model:q", "item": "mango/1"}
    original = Original(instruction=ROW["instruction"], text=ROW["original"])
    return Gold.model_validate({**whole, **origin, "original": original, **fields})


def judgement(judge: str, *errors: str, **fields: Any) -> Judgement:
    reported = [Error(side="text", quote="ramen", severity=Severity.MAJOR, type="t", explanation=why) for why in errors]
    report = None if fields else ErrorReport(errors=tuple(reported))
    return Judgement(sample_id="mango/1:minor", judge=judge, report=report, score=None if fields else -5, **fields)


def rows(*records: Any) -> list[Incoming]:
    return [
        Incoming(f"f.jsonl:{place}", record if isinstance(record, dict) else record.model_dump(mode="json"))
        for place, record in enumerate(records, 1)
    ]


# What comes in


def test_a_row_gets_marks_where_it_differs_and_is_admitted_again_as_it_is() -> None:
    content = admit(ROW)
    assert [mark["quote"] for mark in content["marks"]] == ["cold ramen"]
    assert admit(content) == content
    assert admit(ROW | {"errors": [{"side": "text", "start": 23, "end": 28}]})["marks"][0]["quote"] == "ramen"


def test_places_stay_correct_where_lines_end_as_on_windows() -> None:
    content = admit(ROW | {"original": "One.\r\nThey eat soba.", "text": "One.\r\nThey eat ramen."})
    [mark] = content["marks"]
    assert content["text"][mark["start"] : mark["end"]] == mark["quote"] == "ramen"
    assert content["text"] == "One.\r\nThey eat ramen."
    assert admit(content) == content


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"text": ""}, "no text in 'text'"),
        ({"severity": "critical"}, "expected minor or major"),
        ({"text": ROW["original"]}, "does not differ"),
        ({"explenation": "x"}, "did you mean 'explanation'"),
        ({"errors": [{"side": "text", "start": 0, "end": 999}]}, "does not fit"),
        ({"errors": [{"side": "text", "start": 0, "end": 4, "quote": "Some"}]}, "is 'Many', not 'Some'"),
        ({"errors": [{"side": "title", "start": 0, "end": 4}]}, "no side, start and end"),
        ({"errors": ["ramen"]}, "an error is not"),
        ({"explanations": ["x"]}, "write null where a metric failed"),
        ({"explanations": "nonsense"}, "not valid JSON"),
    ],
)
def test_a_row_that_cannot_be_used_says_why(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        admit(ROW | changes)


def test_metrics_stand_in_an_order_that_does_not_follow_their_names() -> None:
    first = Counter(
        admit(ROW | {"text": f"Many families eat ramen {number}."})["explanations"][0]["metric"] for number in range(40)
    )
    assert set(first) == {"gemma-name", "phi-name"}
    assert min(first.values()) > 8


def test_lines_of_a_dataset_are_joined_with_judgements_of_metrics() -> None:
    failure = Failure(kind=FailureKind.PARSE, reason="no JSON")
    correct = gold(report=ErrorReport(), kind="correct", original=None)
    judged = (judgement("gemma", "Soba it is.", "Not cold."), judgement("phi"), judgement("qwen", failure=failure))
    [row] = join(rows(gold(), *judged, correct))
    assert (row.language, row.region, row.place) == ("en", "JP", "f.jsonl:1")
    content = admit(row.content)
    assert content["explanations"] == [{"metric": "gemma", "explanation": "Soba it is.\nNot cold."}]
    assert (content["silent"], content["failed"]) == (["phi"], ["qwen"])
    assert (content["sample"], content["source"], content["original"]) == ("mango/1:minor", "mango", ROW["original"])
    assert content["explanation"] == "Soba is eaten."
    assert [mark["quote"] for mark in content["marks"]] == ["cold ramen"]


def test_the_original_of_a_wrong_answer_has_the_correct_one_in_its_place() -> None:
    [row] = join(rows(gold(kind="hard", answer="soba", original=None)))
    assert row.content["original"] == "Many families eat soba before midnight."
    with pytest.raises(InputError, match=r"f\.jsonl:1: mango/1:minor: the text without the error is not known"):
        join(rows(gold(original=None)))


def test_two_judgements_of_one_metric_and_broken_records_are_refused_with_their_place() -> None:
    with pytest.raises(InputError, match=r"f\.jsonl:3: a second judgement of phi about mango/1:minor"):
        join(rows(gold(), judgement("phi"), judgement("phi")))
    with pytest.raises(InputError, match=r"f\.jsonl:1: not a Gold record: sample.text: Field required"):
        join(rows(gold().model_dump(mode="json") | {"sample": {"id": "x"}}))


def test_as_many_of_each_source_are_chosen_and_always_the_same() -> None:
    golds = [
        gold(sample=gold().sample.model_copy(update={"id": f"{source}{number}", "source": source}), kind=kind)
        for source in ("a", "b")
        for kind in ("soft", "hard")
        for number in range(9)
    ]
    chosen = list(choose(golds, 4))
    assert Counter(each.sample.source for each in chosen) == {"a": 4, "b": 4}
    assert {each.kind for each in chosen} == {"soft"}
    assert list(choose(golds[::-1], 4)) == chosen
    assert list(choose(golds, 4, seed=1)) != chosen


# Two versions of a text


@given(st.text(), st.text())
def test_the_pieces_are_the_texts(original: str, modified: str) -> None:
    comparison = compare(original, modified, [(0, len(modified))] if modified else [])
    assert "".join(piece.text for piece in comparison.before) == original
    assert "".join(piece.text for piece in comparison.after) == modified
    assert all(piece.marked for piece in comparison.after)


@pytest.mark.parametrize(
    ("original", "modified", "changes"),
    [
        ("They eat soba.", "They eat cold ramen.", [WordChange("soba", "cold ramen")]),
        ("They never eat it.", "They eat it.", [WordChange("never", "")]),
        ("子どもは大人からお年玉をもらう。", "子どもは大人から月餅をもらう。", [WordChange("お年玉", "月餅")]),
        ("يبدأون بالتمر والماء.", "يبدأون بالقهوة والماء.", [WordChange("بالتمر", "بالقهوة")]),
    ],
)
def test_changes_are_found_in_every_script(original: str, modified: str, changes: list[WordChange]) -> None:
    assert compare(original, modified).changes == changes


# What people fill in


def item(**changes: Any) -> CampaignItem:
    content = admit(ROW | changes)
    whole = {"id": "i", "campaign": "c", "author": None, "stage": "validate", "language": "en"}
    return CampaignItem(content=content, created=now(), updated=now(), **whole)


def read(step: int, values: dict[str, Any], **changes: Any) -> dict[str, Any]:
    sent = {name: [value] for name, value in values.items()}
    return read_form(validate_form(item(**changes)).select_step(step), sent)


def mark(start: int, end: int) -> str:
    return json.dumps([{"part": "text", "start": start, "end": end, "quote": ROW["text"][start:end]}])


def test_marks_fit_what_is_said_about_the_error() -> None:
    gold_marks = json.dumps(admit(ROW)["marks"])
    assert read(1, STEP_1 | {"marks": gold_marks})["error"] == "valid"
    partly = STEP_1 | {"error": "partly"}
    [left] = read(1, partly | {"marks": mark(23, 28)})["marks"]
    assert left["quote"] == "ramen"
    assert read(1, partly | {"marks": gold_marks, "note": "cold is fine"})["note"], "without scripts it can be said"
    for wrong in (partly | {"marks": gold_marks}, partly | {"marks": "[]"}, STEP_1 | {"marks": mark(23, 28)}):
        with pytest.raises(FormError) as error:
            read(1, wrong)
        assert list(error.value.problems) == ["marks"]
    assert read(1, STEP_1 | {"error": "not", "marks": gold_marks})["error"] == "not"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"severity_ok": "no"}, "own_severity"),
        ({"severity_ok": "no", "own_severity": "minor"}, "own_severity"),
        ({"type_ok": "no"}, "own_type"),
        ({"changed": "yes"}, "error_after"),
    ],
)
def test_who_disagrees_says_what_instead(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(FormError) as error:
        read(2, STEP_2 | changes)
    assert list(error.value.problems) == [problem]


def test_without_explanations_of_metrics_there_are_two_steps() -> None:
    assert validate_form(item()).steps == 3
    assert validate_form(item(explanations={"m": "", "n": None})).steps == 2


def test_people_see_explanations_in_an_order_of_their_own_and_ratings_stay_with_their_metric() -> None:
    shown = item()
    texts = [explanation["explanation"] for explanation in shown.content["explanations"]]
    forms = [as_seen(validate_form(shown), shown.id, f"person-{number}").select_step(3) for number in range(20)]
    assert {tuple(field.quote for field in form.fields) for form in forms} == {tuple(texts), tuple(texts[::-1])}
    assert all((field.name == "likeness_1") == (field.quote == texts[0]) for form in forms for field in form.fields)
    vote = ItemVote(person="p", stage="validate", version=1, answer=STEP_1 | STEP_2 | STEP_3, at=now())
    [answer] = to_judged(ValidationSettings(title="T"), shown.model_copy(update={"votes": (vote,)})).answers.values()
    first, second = (explanation["metric"] for explanation in shown.content["explanations"])
    assert (answer[f"similarity:{first}"], answer[f"similarity:{second}"]) == ("5", "2")


def test_settings_say_how_many_people_a_language_needs() -> None:
    from mores.studio.campaigns.validation import KIND

    settings = read_settings(KIND, {"title": "T", "people_by_language": {"Swahili": 5}, "main": "English"})
    assert isinstance(settings, ValidationSettings)
    assert [settings.needed(code) for code in ("en", "de", "sw")] == [3, 2, 5]
    problems: list[dict[str, Any]] = [
        {"main": "Klingonese"},
        {"people_by_language": {"en": 1}},
        {"practice": [{"content": {}, "answer": {}}]},
    ]
    for wrong in problems:
        with pytest.raises(SettingsError):
            read_settings(KIND, {"title": "T"} | wrong)


# A campaign


def bring(play: Play, *rows: dict[str, Any]) -> None:
    organiser = play.organiser()
    organiser.open("/data")
    sent = "\n".join(json.dumps(row) for row in rows).encode()
    token = organiser.hidden()["csrf"]
    path = f"/c/{play.campaign.id}/import"
    answer = organiser.browser.post(path, data={"csrf": token}, files={"file": ("rows.jsonl", sent)})
    assert answer.status_code == 200, answer.text


def vote(player: Player, item: str, *steps: dict[str, Any]) -> None:
    for step in steps:
        player.open(f"/items/{item}")
        answer = player.send(f"/items/{item}/vote", **step)
        assert answer.status_code == 200, answer.text


MARKS = {"marks": json.dumps(admit(ROW)["marks"])}


def test_each_step_shows_no_more_than_it_should(database: Database) -> None:
    play = Play(database, "validation")
    bring(play, ROW | {"language": "en"})
    anna = play.person(Role.ANNOTATOR, "Anna")
    identifier = anna.take()
    assert identifier
    pages = [anna.open(f"/items/{identifier}").text]
    assert anna.send(f"/items/{identifier}/vote", **STEP_2, step="2").status_code == 409, "a step cannot be skipped"
    assert anna.open(f"/items/{identifier}").text.count("Step 1 of 3") == 1
    vote(anna, identifier, STEP_1 | MARKS)
    pages.append(anna.open(f"/items/{identifier}").text)
    refused = anna.send(f"/items/{identifier}/vote", **STEP_1, **MARKS, step="1")
    assert refused.status_code == 409, "a step that was sent is final"
    vote(anna, identifier, STEP_2)
    pages.append(anna.open(f"/items/{identifier}").text)
    for words, first in (("GOLDWHY", 1), ("WRONGDISH", 1), ("FIRSTWHY", 2), ("SECONDWHY", 2)):
        assert [words in page for page in pages] == [place >= first for place in range(3)], words
    assert all("<del>soba</del>" in page and "<ins>cold ramen</ins>" in page for page in pages)
    vote(anna, identifier, STEP_3)
    others = ("", f"/items/{identifier}", "/figures", f"/items/{identifier}/life", "/data", "/card")
    pages += [anna.open(path).text for path in others]
    assert not [page for page in pages if "gemma-name" in page or "phi-name" in page], "metrics have no names"
    assert "gemma-name" in play.organiser().open(f"/items/{identifier}/life").text


@pytest.mark.slow
def test_three_people_in_english_and_two_elsewhere_decide(database: Database, tmp_path: Path) -> None:
    play = Play(database, "validation")
    german = ROW | {"language": "de", "sample": "s-2", "explanations": {"gemma-name": ""}}
    bring(play, ROW | {"language": "en"}, german, ROW | {"language": "sw", "sample": "s-3"})
    people = [play.person(Role.ANNOTATOR, name, language="English, German") for name in ("Anna", "Ben", "Cem")]
    by_language = {each.language: each.id for each in play.items()}
    answers = {
        "Anna": [STEP_1 | MARKS, STEP_2],
        "Ben": [
            STEP_1 | {"error": "partly", "marks": mark(23, 28)},
            STEP_2 | {"severity_ok": "no", "own_severity": "major"},
        ],
        "Cem": [STEP_1 | {"error": "not", **MARKS}, STEP_2 | {"changed": "yes", "error_after": "valid"}],
    }
    for player, (name, steps) in zip(people, answers.items(), strict=True):
        while identifier := player.take():
            if identifier == by_language["de"] and name == "Anna":
                player.send(f"/items/{identifier}/decline", reason="I do not know this custom.")
                continue
            vote(player, identifier, *steps, *([STEP_3] if identifier == by_language["en"] else []))
    stand = {each.language: (each.status, len(each.votes)) for each in play.items()}
    assert stand == {"en": (ItemStatus.ACCEPTED, 3), "de": (ItemStatus.REJECTED, 2), "sw": (ItemStatus.OPEN, 0)}

    page = play.organiser().open("/figures").text
    assert "ExCAM, Table 13" in page
    assert "Not counted: 0 samples with too few answers and 1 without any; “I can&#39;t judge this”: 1." in page
    paths = {path.name: path for path in export_campaign(tmp_path / "studio.db", play.campaign.id, tmp_path / "out")}
    table = list(csv.reader(paths["table3.csv"].read_text("utf-8").splitlines()))
    assert table[1:5] == [
        ["This campaign (N=1)", "Culture rel.", "100.0", "0.0", "0.0", "0.0"],
        ["This campaign (N=1)", "Error valid (strict)", "0.0", "0.0", "100.0", "0.0"],
        ["This campaign (N=1)", "Error valid (partial)", "0.0", "100.0", "0.0", "0.0"],
        ["This campaign (N=1)", "Expl. valid", "100.0", "0.0", "0.0", "0.0"],
    ]
    assert r"\begin{tabular}" in paths["table12.tex"].read_text("utf-8")
    assert "| **ExCAM, Table 12** |" in paths["tables.md"].read_text("utf-8")
    judged = list(read_records(paths["judgements.jsonl"], Judgement))
    marked = {
        each.judge: [(error.quote, error.severity.value, error.type) for error in each.report.errors]
        for each in judged
        if each.report and each.language == "en"
    }
    assert list(marked.values()) == [
        [("cold ramen", "minor", "WRONGDISH")],
        [("ramen", "major", "WRONGDISH")],
        [("cold ramen", "minor", "WRONGDISH")],  # the explanation changed this person's mind
    ]
    assert [each.judge for each in judged if each.language == "de"] == list(marked)[1:]
    assert [each.score for each in read_records(paths["gold.jsonl"], Judgement)] == [-1, -1, -1]
    rated = list(csv.DictReader(paths["answers.csv"].read_text("utf-8").splitlines()))
    assert {row["likeness gemma-name"] + row["likeness phi-name"] for row in rated if row["language"] == "en"} <= {
        "52",
        "25",
    }
    assert not any("Anna" in path.read_text("utf-8") for path in paths.values())


def test_a_dataset_and_judgements_are_imported_by_one_command(database: Database, tmp_path: Path) -> None:
    """The example of the README, with a folder as `mores build` writes it."""
    play = Play(database, "validation")
    correct = gold(report=ErrorReport(), kind="correct", original=None, split="test")
    with JsonlWriter(tmp_path / "test.jsonl") as file:
        file.write(gold(split="test"))
        file.write(correct)
    with JsonlWriter(tmp_path / "samples.jsonl") as file:
        for each in choose(read_split(tmp_path, "test"), per_source=25):
            file.write(each)
    with JsonlWriter(tmp_path / "judgements.jsonl") as file:
        file.write(judgement("gemma", "Soba it is."))
        file.write(judgement("gemma").model_copy(update={"sample_id": "another"}))
    names = ("samples.jsonl", "judgements.jsonl")
    done = import_files(tmp_path / "studio.db", play.campaign.id, [tmp_path / name for name in names])
    assert (done.items, done.answers) == (1, 0)
    [read_back] = play.items()
    assert (read_back.language, read_back.region) == ("en", "JP")
    assert read_back.content["explanations"] == [{"metric": "gemma", "explanation": "Soba it is."}]
    archive = BytesIO()
    organiser = play.organiser()
    organiser.open("/data")
    archive.write(organiser.send("/export", format="jsonl").content)
    [line] = ZipFile(archive).read("items.jsonl").decode().splitlines()
    again = join(rows(json.loads(line)["content"]))
    assert admit(again[0].content) == read_back.content, "what was exported can be imported again"
