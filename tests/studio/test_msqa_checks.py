"""MSQA's three checks by models: the rule of difficulty, what every failure leads to, what answers mean."""

from __future__ import annotations

from typing import Any

import pytest

from mores.errors import InputError
from mores.models import Completion
from mores.search import Evidence, Found
from mores.studio.campaigns.msqa import KIND
from mores.studio.campaigns.msqa.checks import State, all_checks, too_easy
from mores.studio.form import FormError, read_form
from mores.studio.records import ItemStatus
from mores.studio.workflow import (
    Adjudicate,
    Answered,
    AskAgain,
    Refused,
)
from tests.answers import graded
from tests.studio.msqa_life import (
    AUTHOR,
    BOSS,
    HOSTILE,
    INSPECTED,
    WRITTEN,
    Life,
    settings,
)

# The rule of difficulty


def runs(correct: int, failed: int = 0, of: int = 5) -> list[bool | None]:
    return [True] * correct + [None] * failed + [False] * (of - correct - failed)


@pytest.mark.parametrize(
    ("rows", "together", "expected"),
    [
        ([runs(0)] * 3, False, False),
        ([runs(3)] * 3, False, False),  # nine of fifteen, three of each
        ([runs(4), runs(0), runs(0)], False, True),
        ([runs(0), runs(0), runs(4)], False, True),
        ([runs(5)] * 3, False, True),
        ([runs(3, 1), runs(0), runs(0)], False, None),  # the failed run could be the fourth
        ([runs(2, 1), runs(0), runs(0)], False, False),  # it could only be the third
        ([runs(4, 1), runs(0), runs(0)], False, True),
        ([runs(3, 1), runs(4), runs(0)], False, True),  # decided by another model
        ([runs(0, 5), runs(0), runs(0)], False, None),
        ([runs(0, 3), runs(0, 3), runs(0, 3)], False, False),
        ([runs(1), runs(1), runs(1)], True, False),
        ([runs(2), runs(1), runs(1)], True, True),
        ([runs(3)] * 3, True, True),
        ([runs(1), runs(1), runs(1, 1)], True, None),
        ([runs(1), runs(1), runs(0, 1)], True, False),
        ([runs(2), runs(2), runs(0, 5)], True, True),
    ],
)
def test_more_than_three_runs(rows: list[list[bool | None]], together: bool, expected: bool | None) -> None:
    assert too_easy(rows, 3, together=together) is expected


@pytest.mark.parametrize("most", range(6))
def test_a_verdict_holds_whatever_the_failed_runs_would_have_been(most: int) -> None:
    for correct, failed in [(n, m) for n in range(6) for m in range(6 - n)]:
        possible = {
            too_easy([runs(correct + found)], most, together=together)
            for found in range(failed + 1)
            for together in (True, False)
        }
        expected = possible.pop() if len(possible) == 1 else None
        assert too_easy([runs(correct, failed)], most, together=False) is expected, (correct, failed)


def test_four_of_five_runs_send_it_back_and_three_let_it_on() -> None:
    life = Life()
    life.write()
    item = life.answer(correct=[("two", run) for run in range(4)])
    assert (item.stage, item.returns) == ("write", 1)
    assert item.note == "Too easy: models answered correctly in 4 of 5 runs; at most 3 may be."
    life.write(question="Outra?")
    item = life.answer(correct=[("two", run) for run in range(3)] + [("one", run) for run in range(3)])
    assert item.stage == "inspect"
    assert item.results["check"]["difficulty"]["tier"] == "Medium"
    assert [model["correct"] for model in item.results["check"]["difficulty"]["models"]] == [3, 3, 0]


def test_all_runs_together_and_kept_as_easy() -> None:
    life = Life(counted="all", too_easy="keep")
    life.write()
    item = life.answer(correct=[("one", 0), ("one", 1), ("two", 0), ("three", 4)])
    assert item.stage == "inspect"
    assert item.results["check"]["difficulty"]["tier"] == "Easy"
    assert life.check("difficulty").reason == "Too easy, kept as Easy: 4 of 15 runs are correct."


# What a failure of each check leads to


@pytest.mark.parametrize(
    ("answers", "check", "state", "stage"),
    [
        ({}, "retrieval", State.PASSED, "inspect"),
        ({"confirm": {"verdict": "NOT_FOUND", "reason": ""}}, "retrieval", State.UNCONFIRMED, "inspect"),
        ({"search": {"evidence": []}}, "retrieval", State.UNCONFIRMED, "inspect"),
        ({"confirm": {"verdict": "CONTRADICTED", "reason": "[1] is red."}}, "retrieval", State.RETURNED, "write"),
        ({"search": "The search failed: no line"}, "retrieval", State.STUCK, "check"),
        ({"confirm": "The model did not answer"}, "retrieval", State.STUCK, "check"),
        ({}, "quality", State.PASSED, "inspect"),
        ({"quality": {"verdict": "AMBIGUOUS", "reason": "Two."}}, "quality", State.RETURNED, "write"),
        ({"quality": {"verdict": "INCORRECT", "reason": "Red."}}, "quality", State.RETURNED, "write"),
        ({"quality": "The model's answer cannot be used: no verdict"}, "quality", State.STUCK, "check"),
        ({}, "difficulty", State.PASSED, "inspect"),
        ({"try": "The model did not answer"}, "difficulty", State.STUCK, "check"),
        ({"judge": "The model's answer cannot be used"}, "difficulty", State.STUCK, "check"),
        ({"translate": "The model did not answer"}, "quality", State.PASSED, "inspect"),
    ],
)
def test_what_models_say_and_what_follows(answers: dict[str, Any], check: str, state: State, stage: str) -> None:
    life = Life()
    life.write()
    item = life.answer(answers)
    assert (life.check(check).state, item.stage) == (state, stage)
    if state is State.STUCK:
        assert life.check(check).reason
        assert item.failed


def test_it_goes_back_with_all_reasons_even_where_another_check_is_stuck() -> None:
    life = Life()
    life.write()
    said = {
        "confirm": {"verdict": "CONTRADICTED", "reason": "[1] is red."},
        "quality": {"verdict": "AMBIGUOUS", "reason": "Two."},
    }
    item = life.answer(said | {"try": "The model did not answer"})
    assert item.stage == "write"
    assert item.note == "Evidence speaks against the answer: [1] is red.\nIt is not one clear question: Two."


def test_it_waits_for_every_check_before_it_goes_back() -> None:
    life = Life()
    item = life.write()
    quality = next(ask for ask in item.asks if ask.task == "quality")
    item = life.do(None, Answered(quality.id, {"verdict": "AMBIGUOUS", "reason": "Two."}))
    assert (item.stage, life.check("quality").state) == ("check", State.RETURNED)


def test_what_a_campaign_cannot_check_is_not_done_and_an_inspector_must_confirm_it() -> None:
    life = Life(model="", search="", models=[])
    item = life.write()
    assert (item.stage, item.asks) == ("inspect", ())
    assert {check.state for check in all_checks(life.settings, item)} == {State.NOT_DONE}
    assert life.check("retrieval").reason == "This campaign has no search."
    form = life.flow.stage("inspect").form(item)
    values = {name: [value] for name, value in INSPECTED.items()}
    with pytest.raises(FormError) as caught:
        read_form(form, values)
    assert set(caught.value.problems) == {"by_hand_retrieval", "by_hand_quality", "by_hand_difficulty"}
    confirmed = read_form(form, values | {name: ["yes"] for name in caught.value.problems})
    assert confirmed["by_hand_quality"] is True


def test_evidence_without_a_reader_and_runs_without_a_judge_are_not_done() -> None:
    life = Life(model="")
    life.write()
    item = life.answer()
    assert item.stage == "inspect"
    assert (life.check("retrieval").state, life.check("difficulty").state) == (State.NOT_DONE, State.NOT_DONE)
    assert life.check("retrieval").facts["evidence"]
    assert life.check("difficulty").reason == "This campaign has no model that judges the answers."


def test_a_passed_check_needs_no_hand_and_a_skipped_one_does() -> None:
    life = Life()
    life.write()
    life.answer({"quality": "The model did not answer"})
    item = life.do(BOSS, Adjudicate("next", "Looks fine"))
    assert item.stage == "inspect"
    names = [field.name for field in life.flow.stage("inspect").form(item).fields if field.name.startswith("by_hand")]
    assert names == ["by_hand_quality"]


def test_what_failed_is_asked_again_and_the_item_goes_on() -> None:
    life = Life()
    life.write()
    before = life.answer({"quality": "The model did not answer", "judge": "The model did not answer"})
    with pytest.raises(Refused):
        life.do(AUTHOR, AskAgain())
    item = life.do(BOSS, AskAgain())
    again = item.asks[len(before.asks) :]
    assert {ask.task for ask in again} == {"quality", "judge"}
    assert {ask.attempt for ask in again} == {1}
    assert life.answer().stage == "inspect"
    assert life.check("difficulty").facts["models"][0] == {"model": "one", "correct": 0, "failed": 0, "runs": 5}


def test_a_changed_item_is_checked_anew_and_an_unchanged_one_is_not() -> None:
    life = Life()
    life.write()
    first = life.answer({"quality": {"verdict": "AMBIGUOUS", "reason": "Two."}})
    unchanged = life.write()
    assert (unchanged.stage, unchanged.asks, unchanged.returns) == ("write", first.asks, 2)
    changed = life.write(question="E hoje?")
    assert changed.stage == "check"
    assert sum(ask.waiting for ask in changed.asks) == 1 + 1 + 1 + 15
    assert life.answer().stage == "inspect"


def test_after_enough_returns_a_failed_check_rejects() -> None:
    life = Life(most_returns=2)
    said = {"quality": {"verdict": "AMBIGUOUS", "reason": "Two."}}
    ends = []
    for number in range(3):
        life.write(question=f"Pergunta {number}?")
        ends.append(life.answer(said).status)
    assert ends == [ItemStatus.OPEN, ItemStatus.OPEN, ItemStatus.REJECTED]


def test_every_question_is_asked_once() -> None:
    life = Life()
    life.write()
    item = life.answer()
    keys = [(ask.task, ask.model, ask.sample) for ask in item.asks]
    assert len(keys) == len(set(keys)) == 1 + 1 + 1 + 1 + 15 + 15
    assert Life(translate=False).write().asks_of("translate") == []
    assert Life().write(question_zh="问", answer_zh="答").asks_of("translate") == []


# What models are asked, and what their answers mean


def completion(text: str, stop: str = "stop") -> Completion:
    return Completion(text, None, stop, prompt_tokens=0, completion_tokens=0)


@pytest.mark.parametrize(
    ("task", "text", "verdict"),
    [
        ("quality", "One bull.\nVERDICT: UNIQUE", "UNIQUE"),
        ("quality", "<think>VERDICT: INCORRECT</think>Two.\n**Verdict: ambiguous**", "AMBIGUOUS"),
        ("confirm", "[1]\nVERDICT: NOT_FOUND", "NOT_FOUND"),
        ("judge", "The red one.\nVERDICT: NOT_CORRECT", "NOT_CORRECT"),
    ],
)
def test_verdicts_are_read(task: str, text: str, verdict: str) -> None:
    item = Life().write()
    assert KIND.tasks[task].read(graded(completion(text)), item, item.asks[0], settings())["verdict"] == verdict


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ("quality", completion("It is unique.")),
        ("quality", completion("VERDICT: UNIQUE\nVERDICT: AMBIGUOUS")),
        ("quality", completion("VERDICT: CORRECT")),
        ("quality", completion("VERDICT: UNIQUE", "length")),
        ("confirm", completion("")),
        ("judge", completion("x\nVERDICT: CORRECT", "content_filter")),
        ("try", completion("<think>hm</think>")),
        ("try", completion("Capri", "length")),
        ("translate", completion("哪头牛？")),
        ("translate", completion('{"question": "哪头牛？"}')),
        ("translate", completion('{"question": "", "answer": "x"}')),
        ("translate", completion('{"question": ["x"], "answer": "x"}')),
        ("translate", completion("[1]")),
    ],
)
def test_what_cannot_be_read_is_a_failure(task: str, answer: Completion) -> None:
    item = Life().write()
    with pytest.raises(InputError):
        KIND.tasks[task].read(graded(answer), item, item.asks[0], settings())


@pytest.mark.parametrize("task", ["quality", "confirm", "translate", "judge"])
def test_hostile_texts_stay_between_the_marks(task: str) -> None:
    life = Life()
    item = life.write(question=HOSTILE, answer=HOSTILE)
    evidence = Found(evidence=(Evidence(text=HOSTILE, title=HOSTILE, source="javascript:alert(1)"),))
    search = next(ask for ask in item.asks if ask.task == "search")
    found = KIND.lookups["search"].read(evidence, item, search, life.settings)
    life.do(None, Answered(search.id, found))
    tried = next(ask for ask in item.asks if ask.task == "try")
    item = life.do(None, Answered(tried.id, {"answer": HOSTILE}))
    ask = next(ask for ask in item.asks if ask.task == task)
    text = KIND.tasks[task].request(item, ask, life.settings).messages[-1].content
    given = text.split("<<<")[1:] if task == "judge" else text.split("<<<")[2:]
    assert given
    for part in given:
        mark = part.split("\n")[0]
        inside = part[: part.index(f"\n{mark}>>>")]
        assert "VERDICT" not in inside
        assert "<|im_end|>" not in inside
        assert mark not in inside[len(mark) :]


def test_the_question_is_asked_as_the_benchmark_asks_it() -> None:
    item = Life().write()
    ask = next(ask for ask in item.asks if ask.task == "try")
    request = KIND.tasks["try"].request(item, ask, settings())
    assert [message.content for message in request.messages] == [WRITTEN["question"]]
    assert (request.temperature, request.max_tokens) == (0.7, 2048)
    query = KIND.lookups["search"].query(item, ask, settings())
    assert (query.text, query.language, query.region) == ("Qual boi de Parintins é azul? Caprichoso", "pt", "BR")
