"""An error-marking campaign: what comes in, who may do what, which marks are the same error, and what comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mores.cli import mores
from mores.errors import InputError
from mores.io import read_records
from mores.metaevaluation.juice.data import JuiceData
from mores.metaevaluation.juice.records import Juice
from mores.metric.mqm_tsv import read_mqm_tsv
from mores.studio.campaigns.marking import KIND
from mores.studio.campaigns.marking.errors import agreed, found_in, group
from mores.studio.campaigns.marking.forms import MarkingSettings
from mores.studio.data.exports import write_export
from mores.studio.data.imports import import_items, read_items_files
from mores.studio.form import FormError, read_form
from mores.studio.records import CampaignItem, ItemStatus, Person, Role
from mores.studio.store.database import Database
from mores.types import Judgement
from tests.studio.play import Play
from tests.studio.test_hostile_input import TEXTS
from tests.studio.test_planted import Reader

TEXT = "Guests get tea last, and shoes stay on."


def mark(quote: str, severity: str = "minor", kind: str = "custom", text: str = TEXT, **more: Any) -> dict[str, Any]:
    start = text.index(quote)
    place = {"part": "text", "start": start, "end": start + len(quote), "quote": quote}
    return {**place, "severity": severity, "type": kind, "explanation": "", "correction": "", **more}


def absent(kind: str = "custom") -> dict[str, Any]:
    return {"part": "text", "start": None, "end": None, "quote": "", "severity": "minor", "type": kind}


def answer(*marks: dict[str, Any]) -> dict[str, Any]:
    return {"marks": json.dumps(marks), "none": "" if marks else "yes"}


def admit(**content: Any) -> dict[str, Any]:
    return dict(KIND.admit(MarkingSettings(title="T"), content))


def add(play: Play, *rows: dict[str, Any]) -> list[CampaignItem]:
    """Import rows as an organiser does."""
    data = "\n".join(json.dumps({"language": "sw", "region": "KE"} | row) for row in rows).encode()
    boss = Person(id=play.organiser_id, roles=frozenset({Role.ORGANISER}))
    import_items(play.database, play.campaign, boss, read_items_files(play.campaign, [("rows.jsonl", data)]), data)
    return play.items()


def vote(play: Play, name: str, role: Role = Role.ANNOTATOR, **values: str) -> str:
    """Somebody joins, takes the next item and answers it."""
    player = play.person(role, name)
    item = player.take()
    assert item, f"there is nothing for {name}"
    sent = player.send(f"/items/{item}/vote", **values)
    assert sent.status_code == 200, sent.text
    return item


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "marking", languages=["Swahili"], regions=["Kenya"])


# What comes in.


def test_a_text_comes_in_as_a_sample_or_with_the_report_of_a_metric() -> None:
    plain = admit(id="a", text=TEXT, instruction="Tell me.", source="gpt")
    assert (plain["text"], plain["marks"], plain["id"]) == (TEXT, [], "a")
    error = {"side": "text", "quote": "tea last", "severity": "major", "type": "hospitality"}
    report = {"errors": [error, error | {"quote": "no such words", "explanation": "Why."}], "explanation": ""}
    judged = admit(sample_id="a", text=TEXT, instruction="", judge="excam", score=-10.0, report=report, notes=[])
    located, lost = judged["marks"]
    assert (located["start"], located["end"], located["quote"]) == (11, 19, "tea last")
    assert (lost["start"], lost["quote"], lost["explanation"]) == (None, "", "“no such words”: Why.")
    assert admit(text=TEXT, report=json.dumps(report))["marks"] == judged["marks"], "a cell of a CSV file"
    kept = judged["marks"][0] | {"start": "x", "end": [], "explanation": None}
    assert admit(text=TEXT, marks=[kept])["marks"][0]["start"] == 11


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"instruction": "x"}, "no 'text'"),
        ({"text": "  "}, "no 'text'"),
        ({"text": TEXT, "txet": "x"}, "unknown field 'txet'"),
        ({"text": ["a"]}, "'text' is not a text"),
        ({"text": TEXT, "report": {"errors": [{"side": "text"}]}}, r"report\.errors\.0\.quote"),
        ({"text": TEXT, "report": "{"}, "report: not valid JSON"),
        ({"text": TEXT, "marks": [{"quote": "tea"}]}, "a mark has no 'part'"),
        ({"text": TEXT, "marks": ["tea"]}, "a mark has no 'part'"),
        ({"text": "x" * 100_001}, "at most 100,000"),
    ],
)
def test_what_cannot_come_in_says_why(content: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        admit(**content)


def test_places_are_those_of_the_text_with_its_own_line_ends() -> None:
    error = {"side": "text", "start": 3, "end": 6, "quote": "tea", "severity": "minor", "type": "x"}
    read = admit(text="a\r\ntea", report={"errors": [error]})
    assert (read["text"], read["marks"][0]["start"], read["marks"][0]["quote"]) == ("a\r\ntea", 3, "tea")


def test_judgements_of_several_metrics_about_one_text_are_one_item_and_errors_name_the_line(play: Play) -> None:
    error = {"side": "text", "quote": "tea", "severity": "minor", "type": "x"}
    row = {"sample_id": "a", "text": TEXT, "judge": "one", "score": -1.0, "report": {"errors": [error]}}
    [item] = add(play, row, row | {"judge": "two", "report": {"errors": [error | {"quote": "shoes"}]}})
    assert [each["quote"] for each in item.content["marks"]] == ["tea", "shoes"]
    assert item.content["judge"] == "one, two"
    with pytest.raises(InputError, match=r"rows\.jsonl:2: no 'text'"):
        add(play, {"text": TEXT}, {"instruction": "x"})


# What people fill in.


def form_of(content: dict[str, Any] | None = None, **settings: Any) -> Any:
    campaign = MarkingSettings(title="T", **settings)
    item = CampaignItem.model_validate(
        {"id": "i", "campaign": "c", "author": None, "content": content or {"text": TEXT}, "stage": "mark"}
        | {"created": "2026-01-01T00:00:00Z", "updated": "2026-01-01T00:00:00Z"}
    )
    return KIND.stages(campaign)[0].form(item)


def test_that_there_is_no_error_is_said_and_never_assumed() -> None:
    form = form_of()
    assert read_form(form, {"marks": ["[]"], "none": ["yes"]}) == {"marks": [], "none": True}
    with pytest.raises(FormError, match="say below that there is none"):
        read_form(form, {"marks": ["[]"]})
    with pytest.raises(FormError, match="take one of them back"):
        read_form(form, {"marks": [json.dumps([mark("tea last")])], "none": ["yes"]})


def test_types_are_those_of_the_taxonomy() -> None:
    sent = {"marks": [json.dumps([mark("tea last", kind="Cultural Incoherence")])]}
    assert read_form(form_of(taxonomy="juice"), sent)["marks"][0]["type"] == "Cultural Incoherence"
    assert read_form(form_of(), sent)["marks"][0]["type"] == "Cultural Incoherence"
    for settings in ({"taxonomy": "mqm"}, {"taxonomy": "own", "types": ["dress"]}):
        with pytest.raises(FormError):
            read_form(form_of(**settings), sent)
    with pytest.raises(ValueError, match="types is empty"):
        MarkingSettings(title="T", taxonomy="own")


def test_the_instruction_can_be_marked_only_where_the_organiser_says_so() -> None:
    content = {"text": TEXT, "instruction": "Write about tea."}
    place = {"part": "instruction", "start": 12, "end": 15, "quote": "tea"}
    sent = {"marks": [json.dumps([mark("tea last") | place])]}
    assert read_form(form_of(content, mark_instruction=True), sent)["marks"][0]["part"] == "instruction"
    with pytest.raises(FormError):
        read_form(form_of(content), sent)


def test_a_report_is_filled_in_and_a_type_of_another_taxonomy_stands_in_the_explanation() -> None:
    content = {"text": TEXT, "marks": [mark("tea last", "major", "hospitality", explanation="Why.")]}
    [filled] = form_of(content, taxonomy="juice").values["marks"]
    assert (filled["quote"], filled["type"], filled["explanation"]) == ("tea last", "", "hospitality: Why.")
    assert form_of(content, begin="blank").values["marks"] == []


# The flow.


def test_two_people_mark_a_third_checks_and_equal_errors_are_joined(play: Play, tmp_path: Path) -> None:
    add(play, {"id": "guests", "text": TEXT, "instruction": "Guests in Mombasa."})
    vote(play, "Amina", **answer(mark("tea last", "major", correction="tea first"), mark("shoes stay on")))
    vote(play, "Juma", **answer(mark("tea last,", "minor", "order"), absent()))
    [item] = play.items()
    assert item.stage == "validate"
    verdicts = {"verdict_0": "valid", "verdict_1": "other", "category_1": "dress", "verdict_2": "valid"}
    vote(play, "Wanjiku", Role.VERIFIER, **verdicts, verdict_3="invalid")
    [item] = play.items()
    assert item.status is ItemStatus.ACCEPTED
    assert group(item) == [[0, 2], [1]], "overlap joins, whatever the type; a stray comma does not matter"
    errors = list(agreed(item))
    assert [(error.mark["quote"], error.mark["type"], len(error.people)) for error in errors] == [
        ("tea last", "custom", 2),
        ("shoes stay on", "dress", 1),
    ]
    write_export(play.database, play.campaign, "folder", tmp_path / "out")
    check_export(tmp_path / "out")


def check_export(folder: Path) -> None:
    judgements = list(read_records(folder / "judgements.jsonl", Judgement))
    assert [(each.judge, each.score) for each in judgements] == [("p2", -6.0), ("p3", -2.0)]
    [first] = [error for error in judgements[0].report.errors if error.correction] if judgements[0].report else []
    assert (first.quote, first.start, first.correction) == ("tea last", 11, "tea first")
    [together] = read_records(folder / "agreed.jsonl", Judgement)
    assert (together.sample_id, together.judge, together.score) == ("guests", "people", -6.0)
    again = read_mqm_tsv(folder / "mqm.tsv")
    assert [(each.judge, each.report) for each in again] == [(each.judge, each.report) for each in judgements]
    [juice] = JuiceData(folder / "juice.json").answers
    assert juice.sample.id == "guests"
    assert [sorted(a.detector for a in error.annotations) for error in juice.errors] == [["p2", "p3"], ["p2"]]
    assert [error.spans[0][:2] for error in juice.errors] == [(11, 19), (25, 38)]


def test_whoever_marked_a_text_does_not_check_it(database: Database) -> None:
    play = Play(database, "marking", languages=["Swahili"], markers=1)
    add(play, {"text": TEXT})
    player = play.person(Role.ANNOTATOR, "Amina")
    item = player.take()
    player.send(f"/items/{item}/vote", **answer(mark("tea last")))
    organiser = play.organiser()
    person = next(member.person.id for member in play.members() if Role.ANNOTATOR in member.person.roles)
    organiser.open(f"/people/{person}")
    organiser.send(f"/people/{person}/roles", roles=["annotator", "verifier"])
    assert player.take() is None
    assert play.person(Role.VERIFIER, "Juma").take() == item


def test_a_text_without_marks_needs_no_check_and_who_cannot_judge_is_a_failure(play: Play, tmp_path: Path) -> None:
    add(play, {"id": "a", "text": TEXT})
    shy = play.person(Role.ANNOTATOR, "Shy")
    shy.send(f"/items/{shy.take()}/decline", reason="Not my region")
    vote(play, "Amina", **answer())
    vote(play, "Juma", **answer())
    [item] = play.items()
    assert (item.status, list(agreed(item))) == (ItemStatus.ACCEPTED, [])
    write_export(play.database, play.campaign, "folder", tmp_path / "out")
    judgements = list(read_records(tmp_path / "out" / "judgements.jsonl", Judgement))
    assert [(each.score, bool(each.failure)) for each in judgements] == [(0.0, False), (0.0, False), (None, True)]


def test_the_organiser_joins_errors_where_they_want_to(database: Database) -> None:
    play = Play(database, "marking", languages=["Swahili"], markers=2, validated=False, grouping="organiser")
    add(play, {"text": TEXT})
    vote(play, "Amina", **answer(mark("tea last")))
    vote(play, "Juma", **answer(mark("tea last"), mark("shoes")))
    [item] = play.items()
    assert (item.stage, item.status) == ("group", ItemStatus.OPEN)
    organiser = play.organiser()
    organiser.open(f"/items/{item.id}/life")
    filled = {name: value for name, value in organiser.filled().items() if name.startswith("group_")}
    assert filled == {"group_0": "1", "group_1": "1", "group_2": "2"}, "as the rule joins them"
    organiser.send(f"/items/{item.id}/adjudicate", outcome="next", group_0="1", group_1="2", group_2="2")
    [item] = play.items()
    assert item.status is ItemStatus.ACCEPTED
    assert group(item) == [[0], [1, 2]]


def test_the_next_person_goes_on_from_what_the_one_before_left_where_the_organiser_says_so(database: Database) -> None:
    play = Play(database, "marking", languages=["Swahili"], begin="previous")
    add(play, {"text": TEXT})
    vote(play, "Amina", **answer(mark("tea last")))
    second = play.person(Role.ANNOTATOR, "Juma")
    second.take()
    assert second.page is not None
    assert "&#34;tea last&#34;" in second.page.text


def test_people_are_blind_to_the_marks_of_others(play: Play) -> None:
    add(play, {"text": TEXT})
    vote(play, "Amina", **answer(mark("tea last", explanation="A secret reason.")))
    second = play.person(Role.ANNOTATOR, "Juma")
    second.take()
    assert second.page is not None
    assert "secret reason" not in second.page.text
    assert "&#34;start&#34;" not in second.page.text


# Which marks are the same error.


def item_with(*people: list[dict[str, Any]]) -> CampaignItem:
    votes = [
        {
            "person": f"p{number}",
            "stage": "mark",
            "version": 1,
            "answer": {"marks": marks},
            "at": "2026-01-01T00:00:00Z",
        }
        for number, marks in enumerate(people)
    ]
    return CampaignItem.model_validate(
        {"id": "i", "campaign": "c", "author": None, "content": {"text": TEXT}, "stage": "group", "votes": votes}
        | {"created": "2026-01-01T00:00:00Z", "updated": "2026-01-01T00:00:00Z"}
    )


def test_a_long_mark_joins_the_error_that_it_is_most_like_and_not_two_of_one_person() -> None:
    item = item_with([mark("tea last"), mark("shoes stay on")], [mark("last, and shoes stay on")])
    assert group(item) == [[0], [1, 2]]


def test_what_is_missing_has_no_place_and_is_not_joined() -> None:
    assert group(item_with([absent()], [absent()])) == [[0], [1]]


def test_the_severity_of_an_error_is_the_usual_one() -> None:
    item = item_with([mark("tea last")], [mark("tea last", "major")], [mark("tea last", "major")])
    assert [error.mark["severity"] for error in agreed(item)] == ["major"]
    assert len(found_in(item)) == 3


# What the organiser sees, and what other commands make of it.


def test_agreement_does_not_depend_on_a_stray_space_and_is_told_from_that_on_types() -> None:
    people = [[mark("tea last", kind="a")], [mark("tea last,", kind="b")]]
    figures = KIND.summarise(MarkingSettings(title="T"), [item_with(*people)])
    assert figures["Agreement on marked characters (F1)"].startswith("1")
    assert figures["The same type, where two marked the same words"] == "0.0% (0 of 1)"
    assert figures["Judgements"] == 2
    assert KIND.label("mark", {"marks": people[0]}) == "minor"
    assert KIND.label("mark", {"marks": []}) == "no error"


@pytest.mark.slow
def test_other_commands_read_the_export(play: Play, tmp_path: Path) -> None:
    add(play, {"id": "guests", "text": TEXT, "instruction": "Guests in Mombasa."}, {"id": "b", "text": "Fine."})
    for name in ("Amina", "Juma"):
        player = play.person(Role.ANNOTATOR, name)
        while (item := player.take()) is not None:
            wrong = play.read(item).content["id"] == "guests"
            player.send(f"/items/{item}/vote", **answer(*([mark("tea last", "major")] if wrong else [])))
    vote(play, "Wanjiku", Role.VERIFIER, verdict_0="valid", verdict_1="valid")
    folder = tmp_path / "out"
    write_export(play.database, play.campaign, "folder", folder)
    shown = CliRunner().invoke(mores, ["show", str(folder / "judgements.jsonl"), "--html", str(tmp_path / "page.html")])
    assert shown.exit_code == 0, shown.output
    assert "tea last" in (tmp_path / "page.html").read_text("utf-8")
    assert "4 judged; mean score −2.500" in shown.output, "two at -5 and two at 0"
    data, out = f"juice:{folder / 'juice.json'}", str(tmp_path / "run")
    done = CliRunner().invoke(
        mores, ["meta", "--data", data, "--metric", str(folder / "agreed.jsonl"), "--out", out, "--json"]
    )
    assert done.exit_code == 0, done.output
    people = Juice.model_validate_json(done.stdout).judges[0]
    assert (people.predicted, people.errors, people.scores["f1"].value) == (1, 1, 1.0)


def test_hostile_marks_are_refused_or_only_text(play: Play, tmp_path: Path) -> None:
    add(play, {"text": TEXT, "instruction": "<script>evil()</script>"})
    player = play.person(Role.ANNOTATOR, "Amina")
    item = player.take()
    for text in TEXTS.values():
        sent = player.send(f"/items/{item}/vote", marks=text, none="")
        assert sent.status_code == 422, text[:30]
        assert Reader(sent.text).problems == []
    hostile = "<script>evil()</script>{{ 7*7 }}\u202e"
    wrong = mark("tea last", kind=hostile[:90], explanation=hostile, correction="=1+1")
    assert player.send(f"/items/{item}/vote", **answer(wrong)).status_code == 200
    vote(play, "Juma", **answer(wrong))
    checker = play.person(Role.VERIFIER, "Wanjiku")
    checker.take()
    assert checker.page is not None
    assert Reader(checker.page.text).problems == []
    assert Reader(play.organiser().open(f"/items/{item}/life").text).problems == []
    write_export(play.database, play.campaign, "folder", tmp_path / "out")
    [first, _] = read_mqm_tsv(tmp_path / "out" / "mqm.tsv")
    assert first.report
    assert first.report.errors[0].explanation == hostile


def test_marking_is_practised_and_places_need_only_overlap(database: Database) -> None:
    known = {"marks": [{"part": "text", "start": 11, "end": 19, "quote": "tea last", "severity": "major"}]}
    practice = [{"content": {"text": TEXT}, "answer": known, "explanation": "Tea comes first.", "language": "sw"}]
    play = Play(database, "marking", languages=["Swahili"], practice=practice, pass_share=1)
    add(play, {"text": TEXT})
    player = play.person(Role.ANNOTATOR, "Amina")
    assert player.take() is None, "the test comes first"
    assert 'data-part="text"' in player.open("/practice").text
    player.send("/practice", number="0", **answer(mark("get tea last", "major")))
    assert "Tea comes first." in player.open("/practice").text
    assert player.take()
