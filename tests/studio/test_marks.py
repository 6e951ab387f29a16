"""Marks in texts, with answers about each; a form in steps; blocks in an order of each person's own."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.studio.form import FormError, FormField, StudioForm, as_sent, matches, read_form, shuffle
from mores.studio.marks import to_errors, to_marks
from mores.studio.records import CampaignItem, Person, Role
from mores.studio.timeline import list_values
from mores.studio.workflow import (
    CampaignStage,
    Cast,
    Create,
    Flow,
    Refused,
    StageDecision,
    Step,
    Take,
    act,
)
from tests.studio.rules import fold_events

TEXTS = ["هذا نصّ عربي طويل", "यह एक वाक्य है", "ข้อความภาษาไทย", "日本語の文章です", "A 👩‍👩‍👧‍👦 family 🇰🇪 here"]
SEVERITY = FormField("severity", "Severity", "choice", options=[("minor", "Minor"), ("major", "Major")])
TYPE = FormField("type", "Type", required=False)


def marking(text: str, **fields: Any) -> StudioForm:
    return StudioForm(
        (FormField("marks", "Errors", "marks", parts={"text": text}, details=(SEVERITY, TYPE), **fields),)
    )


def mark(text: str, start: int, end: int, **answers: Any) -> dict[str, Any]:
    return {"part": "text", "start": start, "end": end, "quote": text[start:end], "severity": "minor"} | answers


def sent(*marks: dict[str, Any]) -> dict[str, list[str]]:
    return {"marks": [json.dumps(marks)]}


@given(text=st.text(min_size=1), places=st.data())
def test_what_is_read_is_the_selected_text(text: str, places: st.DataObject) -> None:
    start = places.draw(st.integers(0, len(text) - 1))
    end = places.draw(st.integers(start + 1, len(text)))
    answer = read_form(marking(text), sent(mark(text, start, end)))
    assert answer["marks"][0] | {"type": ""} == mark(text, start, end, type="")
    assert text[answer["marks"][0]["start"] : answer["marks"][0]["end"]] == answer["marks"][0]["quote"]


@pytest.mark.parametrize("text", TEXTS)
def test_marks_may_overlap_and_stand_in_the_order_of_the_text(text: str) -> None:
    answer = read_form(marking(text), sent(mark(text, 3, 6), mark(text, 0, len(text)), mark(text, 3, 4)))
    assert [(each["start"], each["end"]) for each in answer["marks"]] == [(0, len(text)), (3, 4), (3, 6)]
    assert read_form(marking(text), {"marks": as_sent(answer["marks"])}) == answer


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": 0, "end": 99, "quote": "x"},
        {"start": 2, "end": 2, "quote": ""},
        {"start": -2, "end": 1, "quote": "a"},
        {"start": 0, "end": 2, "quote": "zz"},
        {"start": 0.0, "end": 2, "quote": "ab"},
        {"start": False, "end": True, "quote": "a"},
        {"start": None, "end": 2, "quote": "ab"},
        {"part": "elsewhere"},
        {"part": ["text"]},
        {"severity": "terrible"},
        {"severity": ""},
        {"severity": {"a": 1}},
        {"type": "x" * 5000},
    ],
)
def test_a_mark_that_does_not_fit_the_text_or_its_form_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(FormError):
        read_form(marking("abcdef"), sent(mark("abcdef", 0, 2) | wrong))


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '"a"', "[" * 100_000, json.dumps([mark("abcdef", 0, 1)] * 201)])
def test_what_is_no_list_of_marks_is_refused(text: str) -> None:
    with pytest.raises(FormError):
        read_form(marking("abcdef"), {"marks": [text]})


def test_something_can_be_missing_only_where_the_form_says_so() -> None:
    absent = {"part": "text", "start": None, "end": None, "severity": "major"}
    assert read_form(marking("abc", missing=True), sent(absent))["marks"][0]["quote"] == ""
    with pytest.raises(FormError):
        read_form(marking("abc"), sent(absent))


def test_no_marks_are_an_answer_only_where_none_are_needed() -> None:
    assert read_form(marking("abc", required=False), {"marks": [""]}) == {"marks": []}
    with pytest.raises(FormError):
        read_form(marking("abc"), sent())


def test_marks_are_errors_of_a_report_and_come_back_from_one() -> None:
    text = "They wear a Saree in Oslo."
    [read] = read_form(marking(text), sent(mark(text, 12, 17, severity="major", type="dress")))["marks"]
    [error] = to_errors([read])
    assert (error.quote, error.severity.value, error.type) == ("Saree", "major", "dress")
    assert to_marks([error])[0] | read == to_marks([error])[0]


def test_a_practice_answer_is_correct_when_it_overlaps_the_known_marks_and_has_their_answers() -> None:
    text = "They wear a Saree in Oslo."
    known = {"marks": [{"part": "text", "start": 12, "end": 17, "quote": "Saree", "severity": "major"}]}
    near, far = mark(text, 10, 17, severity="major"), mark(text, 0, 4, severity="major")
    assert matches({"marks": [near]}, known)
    assert not matches({"marks": [near | {"severity": "minor"}]}, known)
    assert not matches({"marks": [near, far]}, known), "more than is wrong"
    assert not matches({"marks": []}, known)


def test_each_person_sees_the_blocks_in_an_order_of_their_own() -> None:
    fields = [
        FormField("before", "Before"),
        *(FormField(f"{b}{n}", n, block=b) for b in "abc" for n in "12"),
        FormField("z", "z"),
    ]
    form = StudioForm(tuple(fields), blocks=("a", "b", "c"))
    orders = {shuffle(form, str(seed)).blocks for seed in range(100)}
    assert len(orders) == 6
    shuffled = shuffle(form, "7")
    inside = [f"{block}{number}" for block in shuffled.blocks for number in "12"]
    assert [field.name for field in shuffled.fields] == ["before", *inside, "z"]


def test_what_a_person_answered_is_told_in_the_order_in_which_they_saw_it() -> None:
    form = StudioForm(tuple(FormField(f"good_{block}", "Good?", block=block) for block in "ab"), blocks=("b", "a"))
    told = list_values(form, {"good_a": "yes", "good_b": "no", "why": "so"})
    assert [tuple(fact) for fact in told] == [("1. Good?", "no"), ("2. Good?", "yes"), ("why", "so")]


# A form in steps: what was answered cannot be changed when the next step is shown.

STEPS = StudioForm(
    (FormField("error", "Is it one?"), FormField("why", "Why?", step=2), FormField("like", "Alike?", step=3))
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOSS = Person(id="boss", roles=frozenset({Role.ORGANISER}))
ANNA = Person(id="anna", roles=frozenset({Role.ANNOTATOR}))


def decide(item: CampaignItem) -> StageDecision | None:
    return StageDecision("next") if item.votes_at("judge") else None


FLOW = Flow("c", (CampaignStage("judge", "Judge", Role.ANNOTATOR, lambda _item: STEPS, decide),))


def play(*actions: Any) -> CampaignItem:
    item: CampaignItem | None = None
    for number, (person, action) in enumerate(actions):
        item = fold_events(item, act(FLOW, item, person, action, NOW, str(number)))
    assert item is not None
    return item


BEGIN = ((BOSS, Create("i", {}, stage="judge")), (ANNA, Take()))


def test_a_form_says_its_steps() -> None:
    assert STEPS.steps == 3
    assert [field.name for field in STEPS.select_step(2).fields] == ["why"]


def test_the_vote_has_every_step_and_the_time_of_all() -> None:
    steps = ((ANNA, Step(1, {"error": "yes"}, 10)), (ANNA, Step(2, {"why": "so"}, 5)), (ANNA, Cast({"like": "5"}, 2)))
    [vote] = play(*BEGIN, *steps).votes
    assert vote.answer == {"error": "yes", "why": "so", "like": "5"}
    assert vote.seconds == 17


def test_the_vote_keeps_the_order_in_which_blocks_were_seen() -> None:
    steps = ((ANNA, Step(1, {"error": "yes"})), (ANNA, Step(2, {"why": "so"})), (ANNA, Cast({}, order=("b", "a"))))
    assert play(*BEGIN, *steps).votes[0].order == ("b", "a")


def test_an_answered_step_is_final() -> None:
    begun = (*BEGIN, (ANNA, Step(1, {"error": "yes"})))
    with pytest.raises(Refused):
        play(*begun, (ANNA, Step(1, {"error": "no"})))
    with pytest.raises(Refused):
        play(*begun, (ANNA, Step(3, {"like": "5"})))
    assert play(*begun, (ANNA, Cast({"error": "no", "like": "1"}))).votes[0].answer["error"] == "yes"


def test_only_who_holds_the_item_answers_a_step() -> None:
    with pytest.raises(Refused):
        play(*BEGIN, (Person(id="ben", roles=ANNA.roles), Step(1, {"error": "yes"})))


def test_where_nobody_writes_items_only_the_organiser_adds_them() -> None:
    with pytest.raises(Refused):
        play((ANNA, Create("i", {})))
