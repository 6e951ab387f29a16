"""The rules: whatever people do in whatever order, these hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.studio.form import FormField, StudioForm
from mores.studio.records import CampaignItem, Content, EventKind, ItemStatus, ItemVote, Person, Role
from mores.studio.workflow import (
    Action,
    Adjudicate,
    Answered,
    AskAgain,
    AskModel,
    CampaignStage,
    Cast,
    Create,
    Flow,
    ModelQuestion,
    Recheck,
    Reconsider,
    Refused,
    Release,
    Revise,
    StageDecision,
    Step,
    Submit,
    Take,
    Withdraw,
    act,
    apply,
    count_missing,
    count_taken,
    find_step,
    may,
)
from tests.studio.rules import fold_events

START = datetime(2026, 1, 1, tzinfo=UTC)
FORM = StudioForm((FormField("good", "Is it good?", "choice", options=[("yes", "Yes"), ("no", "No")]),))


def two_of_three(item: CampaignItem) -> StageDecision | None:
    votes = [vote.answer["good"] for vote in item.votes_at("check")]
    if len(votes) < 3:
        return None
    if votes.count("yes") >= 2:
        return StageDecision("next", result={"yes": votes.count("yes")})
    return StageDecision("back" if item.returns == 0 else "rejected", "not good enough")


def answered(item: CampaignItem) -> StageDecision | None:
    asks = item.asks_of("measure")
    return StageDecision("next") if asks and not any(ask.waiting for ask in asks) else None


FLOW = Flow(
    "c",
    (
        CampaignStage("write", "Write", Role.AUTHOR, lambda _: StudioForm(), lambda _: StageDecision("next"), own=True,
              tasks=frozenset({"help"})),
        CampaignStage("measure", "Measure", None, lambda _: StudioForm(), answered,
              questions=lambda _: [ModelQuestion("measure", "m1"), ModelQuestion("measure", "m2")]),
        CampaignStage("check", "Check", Role.VERIFIER, lambda _: FORM, two_of_three, people=lambda _: 3, regional=True,
              hold=timedelta(hours=1)),
    ),
    model="m",
    budget=2,
)  # fmt: skip


def somebody(name: str, *roles: Role, region: str = "KE") -> Person:
    return Person(id=name, roles=frozenset(roles), regions=frozenset({region}))


AUTHOR = somebody("author", Role.AUTHOR, Role.VERIFIER)
BOSS = somebody("boss", Role.ORGANISER)
VERIFIERS = [somebody(f"v{number}", Role.VERIFIER) for number in range(5)]
FOREIGN = somebody("foreign", Role.VERIFIER, region="JP")


def play(
    item: CampaignItem | None, person: Person | None, action: Action, at: datetime = START, flow: Flow = FLOW
) -> CampaignItem:
    for event in act(flow, item, person, action, at, "k"):
        item = apply(item, event)
    assert item is not None
    return item


def checked() -> CampaignItem:
    """An item that waits for three verifiers."""
    item = play(None, AUTHOR, Create("i", {"text": "a"}, region="KE"))
    item = play(item, AUTHOR, Submit({"text": "b"}))
    for ask in item.asks:
        item = play(item, None, Answered(ask.id, {"correct": False}))
    assert item.stage == "check"
    return item


def vote(item: CampaignItem, person: Person, good: str) -> CampaignItem:
    return play(play(item, person, Take()), person, Cast({"good": good}))


def test_an_item_passes_when_two_of_three_agree() -> None:
    item = checked()
    for person, good in zip(VERIFIERS, ("yes", "no", "yes"), strict=False):
        item = vote(item, person, good)
    assert (item.status, item.results["check"]) == (ItemStatus.ACCEPTED, {"yes": 2})


def test_a_returned_item_gets_new_votes_for_its_new_version() -> None:
    item = checked()
    for person in VERIFIERS[:3]:
        item = vote(item, person, "no")
    assert (item.stage, item.note, item.returns) == ("write", "not good enough", 1)
    item = play(item, AUTHOR, Submit({"text": "better"}))
    for ask in item.asks:
        item = play(item, None, Answered(ask.id, {}))
    assert (item.version, item.votes_at("check"), len(item.votes)) == (3, [], 3)
    assert may(FLOW, item, VERIFIERS[0], Take) is None
    for person in VERIFIERS[:3]:
        item = vote(item, person, "no")
    assert item.status is ItemStatus.REJECTED


@pytest.mark.parametrize(
    ("person", "action", "reason"),
    [
        (AUTHOR, Take, "own"),
        (AUTHOR, Cast, "own"),
        (FOREIGN, Take, "region"),
        (BOSS, Take, "another role"),
        (VERIFIERS[0], Cast, "do not have"),
        (VERIFIERS[0], Release, "do not have this item."),
        (VERIFIERS[0], Revise, "cannot be changed"),
        (VERIFIERS[0], Withdraw, "author"),
        (AUTHOR, Adjudicate, "organiser"),
        (AUTHOR, AskModel, "No model"),
        (AUTHOR, Answered, "Only a model"),
        (None, Take, "sign in"),
    ],
)
def test_who_may_not(person: Person | None, action: type[Action], reason: str) -> None:
    refusal = may(FLOW, checked(), person, action)
    assert refusal is not None
    assert reason in refusal


def accepted() -> CampaignItem:
    item = checked()
    for person in VERIFIERS[:3]:
        item = vote(item, person, "yes")
    return item


WRITTEN = play(None, AUTHOR, Create("i", {"text": "a"}, region="KE"))
BEFORE = AUTHOR.model_copy(update={"qualified": False})
PILOT = AUTHOR.model_copy(update={"left": 0})
CLOSED = replace(FLOW, open=False)
SAMPLED = replace(FLOW, stages=(*FLOW.stages, CampaignStage("again", "Again", Role.VERIFIER, lambda _: FORM,
                                                           lambda _: None, sample=5, others=True)))  # fmt: skip
AGAIN = accepted().model_copy(update={"stage": "again", "status": ItemStatus.OPEN})


@pytest.mark.parametrize(
    ("flow", "item", "person", "action", "reason"),
    [
        (FLOW, None, AUTHOR, Create, None),
        (FLOW, None, BOSS, Create, None),
        (FLOW, None, FOREIGN, Create, "cannot write"),
        (replace(FLOW, stages=FLOW.stages[2:]), None, AUTHOR, Create, "cannot write"),
        (FLOW, None, BEFORE, Create, "take the test"),
        (FLOW, None, PILOT, Create, "being looked at"),
        (FLOW, None, PILOT.model_copy(update={"left": 1}), Create, None),
        (FLOW, None, AUTHOR, Submit, "no such item"),
        (FLOW, WRITTEN, AUTHOR, Revise, None),
        (FLOW, WRITTEN, BOSS, Revise, None),
        (FLOW, WRITTEN, FOREIGN, Revise, "Only its author"),
        (FLOW, WRITTEN, FOREIGN, AskModel, "Only its author"),
        (FLOW, WRITTEN, BOSS, AskModel, None),
        (replace(FLOW, model=""), WRITTEN, AUTHOR, AskModel, "no model"),
        (replace(FLOW, budget=0), WRITTEN, AUTHOR, AskModel, "0 times"),
        (replace(FLOW, budget=0), WRITTEN, BOSS, AskModel, None),
        (FLOW, WRITTEN, AUTHOR, Withdraw, None),
        (FLOW, WRITTEN, BOSS, Withdraw, None),
        (CLOSED, WRITTEN, AUTHOR, Submit, "closed"),
        (CLOSED, WRITTEN, AUTHOR, Withdraw, None),
        (FLOW, WRITTEN, VERIFIERS[0], Take, "nothing to judge"),
        (FLOW, checked(), BEFORE.model_copy(update={"id": "new"}), Take, "take the test"),
        (FLOW, vote(checked(), VERIFIERS[0], "yes"), VERIFIERS[0], Take, "answered this item already"),
        (SAMPLED, AGAIN, VERIFIERS[0], Take, "at an earlier stage"),
        (
            replace(SAMPLED, stages=(*FLOW.stages, replace(SAMPLED.stages[3], others=False))),
            AGAIN,
            VERIFIERS[0],
            Take,
            None,
        ),
        (FLOW, accepted(), VERIFIERS[3], Take, "accepted"),
        (FLOW, accepted(), BOSS, Adjudicate, "accepted"),
        (FLOW, accepted(), BOSS, Recheck, "nothing to judge once more"),
        (SAMPLED, accepted(), BOSS, Recheck, None),
        (SAMPLED, accepted(), AUTHOR, Recheck, "Only an organiser"),
        (SAMPLED, checked(), BOSS, Recheck, "Only accepted"),
        (SAMPLED, accepted().model_copy(update={"check": {}}), BOSS, Recheck, "nothing to judge once more"),
        (SAMPLED, accepted().model_copy(update={"results": {"again": {}}}), BOSS, Recheck, "already"),
    ],
)
def test_who_may(
    flow: Flow, item: CampaignItem | None, person: Person, action: type[Action], reason: str | None
) -> None:
    refusal = may(flow, item, person, action)
    assert refusal is None if reason is None else reason in str(refusal)


@pytest.mark.parametrize("others", [True, False])
def test_a_drawn_item_goes_to_somebody_who_did_not_judge_it(others: bool) -> None:
    flow = replace(SAMPLED, stages=(*FLOW.stages, replace(SAMPLED.stages[-1], others=others)))
    item = play(accepted(), BOSS, Recheck(), flow=flow)
    assert (item.stage, item.status, item.path) == ("again", ItemStatus.OPEN, accepted().path)
    assert [may(flow, item, person, Take) is None for person in VERIFIERS] == [False, False, False, True, True]


def test_steps_are_answered_once_and_in_their_order() -> None:
    form = StudioForm(tuple(replace(FORM.fields[0], step=step) for step in (1, 2, 3)))
    item, person = play(checked(), VERIFIERS[0], Take()), VERIFIERS[0]
    assert find_step(form, item, person) == 1
    item = play(item, person, Step(1, {"seen": "a"}, seconds=2.0))
    assert find_step(form, item, person) == 2
    for wrong in (0, 1, 3):
        with pytest.raises(Refused, match="already"):
            play(item, person, Step(wrong, {}))
    item = play(item, person, Step(2, {"weighed": "b"}, seconds=3.0))
    item = play(item, person, Step(3, {}))
    assert find_step(form, item, person) == 3, "after the last one, the last"
    item = play(item, person, Cast({"good": "yes"}, seconds=1.0))
    [cast] = item.votes
    assert (cast.answer, cast.seconds) == ({"good": "yes", "seen": "a", "weighed": "b"}, 6.0)


def test_a_changed_vote_keeps_when_its_item_was_taken() -> None:
    item = play(checked(), VERIFIERS[0], Take())
    item = play(item, VERIFIERS[0], Cast({"good": "yes"}), START + timedelta(minutes=5))
    item = play(item, VERIFIERS[0], Cast({"good": "no"}), START + timedelta(minutes=9))
    assert [(vote.taken, vote.at - START) for vote in item.votes] == [(START, timedelta(minutes=9))]


def test_an_item_keeps_when_its_author_opened_the_page() -> None:
    for since, kept in ((START, START.isoformat()), (None, None)):
        [created] = act(FLOW, None, AUTHOR, Create("i", {}, since=since), START + timedelta(minutes=3))
        assert (created.kind, created.payload.get("since")) == (EventKind.CREATED, kept)


def test_a_vote_keeps_everything_that_came_with_it() -> None:
    at, person = START + timedelta(minutes=1), VERIFIERS[0]
    answer = Cast({"good": "yes"}, seconds=5.0, comment="unsure", order=("good",), offline=2.0)
    item = play(play(checked(), person, Take()), person, answer, at, replace(FLOW, skills={"v0": 0.9}))
    [cast] = item.votes
    assert cast == ItemVote(
        person="v0", stage="check", version=2, answer={"good": "yes"}, at=at, seconds=5.0, comment="unsure",
        order=("good",), skill=0.9, taken=START, offline=2.0, standing=person.standing,
    )  # fmt: skip
    assert cast.span == 58


def test_what_comes_without_times_took_none_and_did_not_wait() -> None:
    item = play(checked(), VERIFIERS[0], Take())
    voted, *_ = act(FLOW, item, VERIFIERS[0], Cast({"good": "yes"}), START)
    _, submitted, *_ = act(FLOW, WRITTEN, AUTHOR, Submit({"text": "b"}), START)
    assert (voted.kind, voted.payload["seconds"], "offline" in voted.payload) == (EventKind.VOTED, 0, False)
    assert (submitted.kind, submitted.payload["seconds"]) == (EventKind.SUBMITTED, 0)


def test_what_is_withdrawn_says_why_and_is_with_nobody() -> None:
    item = play(play(checked(), VERIFIERS[0], Take()), AUTHOR, Withdraw("a copy"))
    assert (item.status, item.note, item.holds) == (ItemStatus.WITHDRAWN, "a copy", ())


def test_events_of_one_action_have_keys_of_their_own() -> None:
    events = act(FLOW, WRITTEN, AUTHOR, Submit({"text": "b"}), START, "k")
    assert [event.key for event in events] == ["k", *(f"k+{number}" for number in range(1, len(events)))]
    assert len(events) > 2
    with pytest.raises(ValueError, match="the first event of i is edited, not created"):
        apply(None, events[0])


def test_a_change_keeps_the_language_and_region_that_it_does_not_name() -> None:
    item = play(None, AUTHOR, Create("i", {}, region="KE", language="sw"))
    item = play(item, AUTHOR, Revise({"text": "b"}))
    assert (item.region, item.language) == ("KE", "sw")
    item = play(item, AUTHOR, Revise({"text": "c"}, region="TZ", language="en"))
    assert (item.region, item.language) == ("TZ", "en")


def test_an_organiser_sends_an_item_only_to_a_stage_that_there_is() -> None:
    with pytest.raises(Refused, match="no such stage"):
        play(checked(), BOSS, Adjudicate("back", to="nowhere"))
    assert play(checked(), BOSS, Adjudicate("back", to="write")).stage == "write"


def test_an_organiser_does_not_send_on_what_its_author_has_not_finished() -> None:
    flow = replace(FLOW, stages=(replace(FLOW.stages[0], form=lambda _: FORM), *FLOW.stages[1:]))
    for to in ("", "check"):
        with pytest.raises(Refused, match="not complete"):
            play(WRITTEN, BOSS, Adjudicate("next", to=to), flow=flow)
        finished = WRITTEN.model_copy(update={"content": {"good": "no"}})
        assert play(finished, BOSS, Adjudicate("next", to=to), flow=flow).stage == (to or "measure")
    assert play(WRITTEN, BOSS, Adjudicate("rejected"), flow=flow).status is ItemStatus.REJECTED
    assert play(checked(), BOSS, Adjudicate("next"), flow=flow).status is ItemStatus.ACCEPTED, "its author has sent it"


@pytest.mark.parametrize(
    ("content", "region", "version"),
    [({"text": "c"}, "TZ", 3), ({"text": "c"}, "KE", 3), (None, "TZ", 3), (None, "KE", 2)],
)
def test_what_a_stage_corrects_is_a_new_version_that_no_person_wrote(
    content: Content | None, region: str, version: int
) -> None:
    decision = StageDecision("next", content=content, region=region)
    flow = replace(FLOW, stages=(replace(FLOW.stages[0], decide=lambda _: decision),))
    item = play(WRITTEN, AUTHOR, Submit({"text": "b"}, region="KE"), flow=flow)
    assert (item.content, item.region) == (content or {"text": "b"}, region)
    assert (item.status, item.version, item.edited) == (ItemStatus.ACCEPTED, version, 2)


def test_models_are_asked_again_after_each_answer_but_nothing_twice() -> None:
    """The second question follows from the first answer; what the author asked is no answer to the stage's."""

    def questions(item: CampaignItem) -> list[ModelQuestion]:
        first = any(ask.answer for ask in item.asks if ask.person is None)
        return [ModelQuestion("help"), *[ModelQuestion("help", sample=1)] * first]

    flow = replace(FLOW, stages=(FLOW.stages[0], replace(FLOW.stages[1], questions=questions), FLOW.stages[2]))
    item = play(WRITTEN, AUTHOR, AskModel("own", "help"), flow=flow)
    item = play(item, AUTHOR, Submit(item.content, region="KE"), flow=flow)
    assert [(ask.id, ask.person, ask.sample) for ask in item.asks] == [("own", "author", 0), ("i.1", None, 0)]
    item = play(item, None, Answered("i.1", {"text": "first"}), flow=flow)
    assert [(ask.id, ask.model, ask.sample) for ask in item.asks[2:]] == [("i.2", "m", 1)]


def test_an_organiser_has_models_asked_again_what_failed() -> None:
    """Here the item waits until both have answered."""
    measure = replace(FLOW.stages[1], decide=lambda item: None if item.failed else answered(item))
    flow = replace(FLOW, stages=(FLOW.stages[0], measure, FLOW.stages[2]))
    item = play(WRITTEN, AUTHOR, Submit({"text": "b"}, region="KE"), flow=flow)
    with pytest.raises(Refused, match="No model has failed"):
        play(item, BOSS, AskAgain(), flow=flow)
    item = play(item, None, Answered("i.0", None, "away"), flow=flow)
    item = play(item, None, Answered("i.1", {"correct": True}), flow=flow)
    item = play(item, BOSS, AskAgain(), flow=flow)
    with pytest.raises(Refused, match="No model has failed"):
        play(item, BOSS, AskAgain(), flow=flow)
    asks = [(ask.id, ask.model, ask.attempt, ask.waiting) for ask in item.asks]
    assert asks == [("i.0", "m1", 0, False), ("i.1", "m2", 0, False), ("i.2", "m1", 1, True)]
    assert play(item, None, Answered("i.2", {"correct": True}), flow=flow).stage == "check"


def test_models_are_asked_what_new_settings_and_a_sample_need() -> None:
    def with_question(flow: Flow, place: int) -> Flow:
        stages = list(flow.stages)
        stages[place] = replace(stages[place], questions=lambda _: [ModelQuestion("new", "m3")])
        return replace(flow, stages=tuple(stages))

    item = play(WRITTEN, AUTHOR, Submit({"text": "b"}, region="KE"))
    later = play(item, BOSS, AskAgain(), flow=with_question(FLOW, 1))
    assert [(ask.task, ask.model, ask.attempt) for ask in later.asks[2:]] == [("new", "m3", 0)]
    drawn = play(accepted(), BOSS, Recheck(), flow=with_question(SAMPLED, 3))
    assert [(ask.task, ask.stage) for ask in drawn.asks[2:]] == [("new", "again")]
    with pytest.raises(Refused, match="cannot be asked this"):
        play(WRITTEN, AUTHOR, AskModel("a", "measure"))


def test_the_path_names_every_stage_that_an_item_left() -> None:
    """Where it went, in which version, with how many votes, and whether an organiser decided."""
    item = vote(checked(), VERIFIERS[0], "yes")
    item = play(item, BOSS, Adjudicate("back", "Too short"))
    assert item.note == "Too short"
    item = play(item, BOSS, Adjudicate("rejected", "Never"))
    passages = [(p.stage, p.to, p.outcome, p.organiser, p.version, p.votes) for p in item.path]
    assert passages == [
        ("write", "measure", "next", False, 2, 0),
        ("measure", "check", "next", False, 2, 0),
        ("check", "write", "back", True, 2, 1),
        ("write", "", "rejected", True, 2, 0),
    ]
    assert item.adjudicated == (("check", 2), ("write", 2))
    [decided, *_] = act(FLOW, checked(), BOSS, Adjudicate("next", "Good"), START)
    assert (decided.kind, decided.payload) == (
        EventKind.ADJUDICATED, {"outcome": "next", "note": "Good", "result": {}},
    )  # fmt: skip


def test_what_waits_is_decided_again_where_fewer_votes_are_needed() -> None:
    item = vote(checked(), VERIFIERS[0], "yes")
    one = replace(FLOW, stages=(*FLOW.stages[:2], replace(FLOW.stages[2], decide=lambda _: StageDecision("next"))))
    assert play(item, BOSS, Reconsider()) == item
    assert play(item, BOSS, Reconsider(), flow=one).status is ItemStatus.ACCEPTED


def test_an_organiser_fills_in_a_form_only_where_one_decides() -> None:
    stage = FLOW.stages[2]
    assert stage.decision_form(checked()) is None
    assert replace(stage, adjudge=lambda _item, answer: answer).decision_form(checked()) == FORM
    assert replace(stage, role=Role.ORGANISER).decision_form(checked()) == FORM


@pytest.mark.parametrize(
    ("outcome", "changes", "result"),
    [
        ("next", {"adjudge": lambda _item, answer: answer | {"more": 1}}, {"good": "no", "more": 1}),
        ("next", {"role": Role.ORGANISER}, {"good": "no"}),
        ("next", {}, {}),
        ("back", {"role": Role.ORGANISER}, {}),
        ("rejected", {"adjudge": lambda _item, answer: answer | {"more": 1}}, {}),
    ],
)
def test_what_an_organiser_fills_in_is_the_result(outcome: str, changes: dict[str, Any], result: Content) -> None:
    stage = replace(FLOW.stages[2], **changes)
    assert stage.read_decision(checked(), outcome, {"good": ["no"]}) == result
    with pytest.raises(Refused, match="Choose what"):
        stage.read_decision(checked(), "accepted", {"good": ["no"]})


def test_a_fourth_person_is_not_given_the_last_place() -> None:
    item = checked()
    for person in VERIFIERS[:3]:
        item = play(item, person, Take())
    rejected = play(vote(checked(), VERIFIERS[0], "no"), BOSS, Adjudicate("rejected"))
    assert [count_missing(FLOW, each) for each in (WRITTEN, checked(), item, rejected)] == [0, 3, 0, 0]
    with pytest.raises(Refused, match="Others have taken"):
        play(item, VERIFIERS[3], Take())
    item = play(item, VERIFIERS[0], Release("I am not sure"))
    item = play(item, VERIFIERS[3], Take())
    with pytest.raises(Refused, match="already"):
        play(item, VERIFIERS[0], Take())


def test_what_is_kept_too_long_goes_to_another() -> None:
    item = play(checked(), VERIFIERS[0], Take())
    assert act(FLOW, item, None, Release(), START + timedelta(minutes=59), "k") == []
    item = play(item, None, Release(), START + timedelta(hours=1))
    assert item.holds == ()
    both = play(play(checked(), VERIFIERS[0], Take()), VERIFIERS[1], Take())
    assert [hold.person for hold in play(both, None, Release(of="v0")).holds] == ["v1"]
    assert may(FLOW, item, VERIFIERS[0], Take) is None


def test_a_vote_can_be_changed_for_ten_minutes() -> None:
    item = vote(checked(), VERIFIERS[0], "yes")
    item = play(item, VERIFIERS[0], Cast({"good": "no"}), START + timedelta(minutes=9))
    assert [vote.answer["good"] for vote in item.votes] == ["no"]
    with pytest.raises(Refused, match="final"):
        play(item, VERIFIERS[0], Cast({"good": "yes"}), START + timedelta(minutes=20))
    item = play(item, VERIFIERS[0], Cast({"good": "yes"}), START + timedelta(minutes=19))
    item = play(play(item, VERIFIERS[1], Take()), VERIFIERS[1], Cast({"good": "no"}), START + timedelta(minutes=40))
    assert [vote.answer["good"] for vote in item.votes] == ["yes", "no"]


def test_the_model_is_asked_only_so_often() -> None:
    item = play(None, AUTHOR, Create("i", {}))
    for number in range(2):
        item = play(item, AUTHOR, AskModel(f"a{number}", "help"))
    with pytest.raises(Refused, match="2 times"):
        play(item, AUTHOR, AskModel("a2", "help"))


def test_a_second_answer_to_the_same_question_changes_nothing() -> None:
    item = play(play(None, AUTHOR, Create("i", {})), AUTHOR, AskModel("a", "help"))
    item = play(item, None, Answered("a", {"text": "first"}))
    assert act(FLOW, item, None, Answered("a", {"text": "second"}), START, "k") == []


def test_an_attention_check_is_for_everybody_and_decides_nothing() -> None:
    item = play(None, BOSS, Create("i", {}, "KE", stage="check", check={"good": "no"}))
    for person in VERIFIERS:
        item = vote(item, person, "yes")
    assert (item.status, len(item.votes), count_missing(FLOW, item) > 0) == (ItemStatus.OPEN, 5, True)


ACTIONS = st.one_of(
    st.builds(Revise, st.fixed_dictionaries({"text": st.sampled_from("abc")})),
    st.builds(Submit, st.fixed_dictionaries({"text": st.sampled_from("abc")})),
    st.just(Take()),
    st.builds(Release, st.sampled_from(["", "cannot"])),
    st.builds(Cast, st.fixed_dictionaries({"good": st.sampled_from(["yes", "no"])})),
    st.builds(AskModel, st.uuids().map(str), st.just("help")),
    st.builds(Answered, st.sampled_from(["i.0", "i.1", "i.2", "i.3"]), st.just({"correct": True})),
    st.builds(Adjudicate, st.sampled_from(["next", "back", "rejected"])),
    st.just(Withdraw()),
)
PEOPLE = st.sampled_from([AUTHOR, BOSS, FOREIGN, None, *VERIFIERS])


@given(st.lists(st.tuples(PEOPLE, ACTIONS, st.integers(0, 90)), max_size=60))
def test_whatever_people_do(steps: list[tuple[Person | None, Action, int]]) -> None:
    item = play(None, AUTHOR, Create("i", {"text": "a"}, region="KE"))
    history = act(FLOW, None, AUTHOR, Create("i", {"text": "a"}, region="KE"), START, "k")
    at = START
    for person, action, minutes in steps:
        at += timedelta(minutes=minutes)
        before = item
        try:
            events = act(FLOW, item, person, action, at, "k")
        except Refused:
            continue
        for event in events:
            item = apply(item, event)
        history += events
        assert may(FLOW, before, person, type(action)) is None
        assert count_taken(item) <= 3
        assert not any(vote.person in ("author", "foreign", "boss") for vote in item.votes)
        assert not any(hold.person in ("author", "foreign", "boss") for hold in item.holds)
        assert len({hold.person for hold in item.holds}) == len(item.holds)
        assert all(vote.version <= item.version for vote in item.votes)
        if (
            item.status is ItemStatus.ACCEPTED
            and history[-1].kind is EventKind.ADVANCED
            and not isinstance(action, Adjudicate)
        ):
            assert sum(vote.answer["good"] == "yes" for vote in item.votes_at("check")) >= 2
        if before.status is ItemStatus.WITHDRAWN:
            assert person is None
        if before.status is ItemStatus.ACCEPTED:
            assert isinstance(action, Withdraw) or person is None
    assert fold_events(None, history) == item
    assert CampaignItem.model_validate_json(item.model_dump_json()) == item
