"""The metric end to end, through the models that ship for tests and a real server."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.errors import InputError
from mores.metric import SampleLike, Settings, open_metric
from mores.metric.metric import NO_LOGPROBS, NOT_THERE, REPAIRED
from mores.metric.summary import summarise
from mores.models import Completion, Request, Style
from mores.models.fake import FakeModel
from mores.models.openai import OpenAIModel
from mores.types import DEFAULT_INSTRUCTION, Evidence, Failure, FailureKind, Sample
from tests.engine.server import Server

SCHNITZEL = ("What do Germans eat?", "No Germans like Schnitzel.")
FOUND = json.dumps(
    {
        "errors": [
            {"side": "text", "quote": "No Germans", "severity": "major", "type": "overgeneralisation",
             "explanation": "Many Germans like it."},
            {"side": "instruction", "quote": "Italians", "severity": "minor", "type": "t", "explanation": ""},
        ],
        "explanation": "An overgeneralisation.",
    }
)  # fmt: skip


CLEAN = '{"errors": [], "explanation": ""}'


def test_the_worked_example_of_figure_1() -> None:
    model = FakeModel("figure-1", lambda _: Completion(FOUND, (-0.5,)))
    [judgement] = mores.score([SCHNITZEL], model=model, store=None)
    assert judgement.score == -6
    assert judgement.report is not None
    first, second = judgement.report.errors
    assert (first.start, first.end, first.quote) == (0, 10, "No Germans")
    assert not second.located


PLACED = Sample(id="1", instruction="How do people marry?", text="Guests wear white.", region="JP", language="en")


@pytest.mark.parametrize("tuned_with", [None, "guided", "fenced", "brief"])
def test_only_an_untuned_judge_is_told_the_region(tuned_with: Style | None) -> None:
    asked: list[Request] = []

    class Tuned(FakeModel):
        style = tuned_with

    def answer(request: Request) -> Completion:
        asked.append(request)
        return Completion(CLEAN, (-0.1,))

    bare = PLACED.model_copy(update={"id": "2", "region": None, "language": None})
    placed, plain = mores.score([PLACED, bare], model=Tuned("x", answer), store=None, concurrency=1)
    texts = ["\n".join(message.content for message in request.messages) for request in asked]
    told = ["Region: Japan\nLanguage: English\n" in text for text in texts]
    assert told == ([False] if tuned_with else [True, False])  # to a tuned one both are the same question
    assert (placed.signature == plain.signature) == (tuned_with is not None)
    changed = {name for name, value in placed.signature.items() if plain.signature[name] != value}
    assert changed == (set() if tuned_with else {"prompt"})


def test_the_papers_prompt_is_never_told_the_region() -> None:
    [judgement] = mores.score([PLACED], model="fake:clean", style="paper", store=None)
    assert judgement.signature["prompt"] == "paper.da89a626"


def test_a_clean_text_scores_its_certainty() -> None:
    [judgement] = open_metric("fake:clean", store=None).judge(["Fine."])
    assert judgement.score == pytest.approx(0.904837, abs=1e-6)  # exp(-0.1)
    assert judgement.report is not None
    assert judgement.report.certainty == judgement.score


def test_without_log_probabilities_there_is_a_note_and_another_signature() -> None:
    [silent] = open_metric("fake:silent", store=None).judge(["Fine."])
    [clean] = open_metric("fake:clean", store=None).judge(["Fine."])
    assert (silent.score, silent.notes) == (0.0, (NO_LOGPROBS,))
    assert silent.signature["p"] == "none"
    assert clean.signature["p"] == "mean-logprob"


@pytest.mark.parametrize(("name", "kind"), [("broken", FailureKind.PARSE), ("truncated", FailureKind.TRUNCATED)])
def test_an_unreadable_report_is_a_failure_and_never_a_score(name: str, kind: FailureKind) -> None:
    [judgement] = open_metric(f"fake:{name}", store=None).judge(["Fine."])
    assert judgement.score is None
    assert judgement.report is None
    assert judgement.failure is not None
    assert judgement.failure.kind is kind


def test_repair_asks_once_more_under_the_constraint() -> None:
    requests: list[Request] = []

    def answer(request: Request) -> Completion:
        requests.append(request)
        return Completion(FOUND if request.schema else "I think it is fine.", (-0.5,))

    [judgement] = open_metric(FakeModel("x", answer), Settings(repair=True), store=None).judge([SCHNITZEL])
    assert judgement.score == -6
    assert judgement.notes == (REPAIRED,)
    assert [bool(r.schema) for r in requests] == [False, True]
    assert requests[0].messages == requests[1].messages


def test_repair_that_fails_too_is_a_failure() -> None:
    [judgement] = open_metric("fake:broken", Settings(repair=True), store=None).judge([SCHNITZEL])
    assert judgement.failure is not None


def test_a_text_that_is_too_long_is_not_sent() -> None:
    def never(request: Request) -> Completion:
        raise AssertionError(request)

    metric = open_metric(FakeModel("x", never), Settings(max_characters=1000), store=None)
    [judgement] = metric.judge(["x" * 2_000_000])
    assert judgement.failure is not None
    assert judgement.failure.kind is FailureKind.INPUT
    assert "2,000,035 characters" in judgement.failure.reason
    assert "shorten it or raise max_characters" in judgement.failure.reason


def test_half_a_character_is_not_sent() -> None:
    [judgement] = open_metric("fake:clean", store=None).judge(["half \ud83d an emoji"])
    assert judgement.failure is not None
    assert "lone surrogate" in judgement.failure.reason


def test_samples_may_be_texts_pairs_mappings_or_records() -> None:
    metric = open_metric("fake:clean", store=None)
    values: list[SampleLike] = [
        "a",
        ("i", "b"),
        {"instruction": "i", "text": "c", "language": "German"},
        Sample(id="mine", text="d"),
    ]
    jobs = [job.data for job in metric.jobs(values)]
    assert [s.id for s in jobs] == ["1", "2", "3", "mine"]
    assert [s.instruction for s in jobs] == [DEFAULT_INSTRUCTION, "i", "i", DEFAULT_INSTRUCTION]
    assert jobs[2].language == "de"
    with pytest.raises(InputError, match="sample 1 is a int"):
        metric.judge([5])  # type: ignore[list-item]
    with pytest.raises(InputError, match="sample 1: no field 'text'"):
        metric.judge([{"txt": "x"}])
    for single in ("a text", {"text": "a text"}):
        with pytest.raises(InputError, match="put it in a list"):
            metric.judge(single)
    with pytest.raises(InputError, match="sample 2: the text is empty"):
        metric.judge(["a", " "])


def test_it_works_inside_a_running_loop() -> None:
    async def notebook() -> int:
        return len(mores.score(["a", "b"], model="fake:clean", store=None))

    assert asyncio.run(notebook()) == 2


def test_signatures_differ_when_something_that_matters_does() -> None:
    base = open_metric("fake:clean", store=None)
    variants = [
        base,
        open_metric("fake:silent", store=None),
        open_metric("fake:clean", Settings(style="paper"), store=None),
        open_metric("fake:clean", Settings(constrain=True), store=None),
        open_metric("fake:clean", Settings(temperature=0.7), store=None),
        open_metric("fake:clean", Settings(max_tokens=7), store=None),
        open_metric("fake:clean", Settings(seed=1), store=None),
        open_metric("fake:clean", Settings(repair=True), store=None),
    ]
    assert len({m.signature() for m in variants}) == len(variants)
    assert open_metric("fake:clean", concurrency=3, store=None).signature() == base.signature()


def test_through_a_server_with_and_without_log_probabilities(tmp_path: Path) -> None:
    for logprobs, p in ((True, "mean-logprob"), (False, "none")):
        with Server(logprobs=logprobs) as server:
            metric = open_metric(OpenAIModel("stub", server.url, "k"), store=tmp_path / f"{logprobs}.db")
            [judgement] = metric.judge([SCHNITZEL])
        assert judgement.signature["p"] == p
        assert judgement.score == (pytest.approx(0.7788, abs=1e-4) if logprobs else 0.0)  # exp(-0.25)


# Evidence


class Weak(FakeModel):
    """A judge whose kind says that it is weak without evidence."""

    weak_without_evidence = "without evidence it guesses"
    weak_uncovered = "this evidence says nothing"


GIVEN = (Evidence(text="Many Germans like Schnitzel."), Evidence(text="Schnitzel is from Vienna."))
ASKED = Sample(id="s", instruction=SCHNITZEL[0], text=SCHNITZEL[1], evidence=GIVEN)


def citing(*cited: object) -> FakeModel:
    """Finds an error for each list of numbers."""
    error = {"side": "text", "quote": "No Germans", "severity": "minor", "type": "t", "explanation": ""}
    written = {"errors": [error | {"evidence": numbers} for numbers in cited], "explanation": ""}
    return FakeModel("citing", lambda _: Completion(json.dumps(written), (-0.5,)))


def test_errors_cite_the_evidence_that_the_judgement_keeps() -> None:
    [judgement] = open_metric(citing([2], []), store=None).judge([ASKED])
    assert judgement.report is not None
    assert [error.evidence for error in judgement.report.errors] == [(2,), ()]
    assert judgement.evidence == GIVEN
    assert judgement.notes == ()


def test_citations_of_what_is_not_there_are_left_out_with_a_note() -> None:
    [judgement] = open_metric(citing([2, 3, 1, 99]), store=None).judge([ASKED])
    assert judgement.report is not None
    assert judgement.report.errors[0].evidence == (2, 1)
    assert judgement.notes == (NOT_THERE,)
    [without] = open_metric(citing([1]), store=None).judge([SCHNITZEL])
    assert without.report is not None
    assert (without.report.errors[0].evidence, without.notes) == ((), (NOT_THERE,))


def test_the_constraint_knows_how_much_evidence_there_is() -> None:
    metric = open_metric(citing([]), Settings(constrain=True), store=None)
    for sample, numbers in ((ASKED, [1, 2]), (ASKED.model_copy(update={"evidence": GIVEN[:1]}), [1])):
        schema = metric.request(sample).schema
        assert schema is not None
        error = schema["properties"]["errors"]["items"]["properties"]
        assert error["evidence"]["items"]["enum"] == numbers
    plain = metric.request(Sample(id="s", text="x")).schema
    assert plain is not None
    assert "evidence" not in json.dumps(plain)


def test_the_signature_says_what_was_searched() -> None:
    plain, searched = (
        open_metric("fake:clean", store=None),
        replace(open_metric("fake:clean", store=None), evidence="c.k3"),
    )
    [without], [with_evidence] = plain.judge(["x"]), plain.judge([ASKED])
    [looked_up], [nothing] = searched.judge([ASKED]), searched.judge(["x"])
    # As it was before there was evidence.
    assert str(without.signature).startswith(
        "metric:excam.1|model:fake:clean|prompt:guided.8b7a9958|schema:none|decoding:t0.0,max1024,seed0|repair:no"
        "|p:mean-logprob|mores:"
    )
    assert with_evidence.signature["evidence"] == "given"
    assert looked_up.signature["evidence"] == "c.k3"
    assert with_evidence.signature != without.signature != looked_up.signature
    # One run, one signature: that nothing was found for a text is part of how it was judged.
    assert nothing.signature == looked_up.signature


def test_a_text_whose_search_failed_is_not_judged() -> None:
    lost = Failure(kind=FailureKind.MODEL, reason="no connection")
    metric = open_metric("fake:first-word", store=None)
    metric.unsearched = {"s": lost}
    failed, judged = metric.judge([ASKED, Sample(id="t", text="x")])
    assert failed.score is None
    assert failed.failure == Failure(kind=FailureKind.MODEL, reason="no evidence could be looked up: no connection")
    assert judged.score == -1


def test_half_a_character_or_too_much_evidence_is_not_sent() -> None:
    half = ASKED.model_copy(update={"evidence": (Evidence(text="x", title="half \ud83d"),)})
    long = ASKED.model_copy(update={"evidence": (Evidence(text="x" * 2000),)})
    metric = open_metric("fake:clean", Settings(max_characters=1000), store=None)
    reasons = [judgement.failure.reason for judgement in metric.judge([half, long]) if judgement.failure]
    assert len(reasons) == 2
    assert "lone surrogate" in reasons[0]
    assert "2,046 characters" in reasons[1]  # 20 of the instruction, 26 of the text


def test_repair_keeps_the_evidence() -> None:
    requests: list[Request] = []

    def answer(request: Request) -> Completion:
        requests.append(request)
        return Completion('{"errors": []}' if request.schema else "Fine.", (-0.5,))

    open_metric(FakeModel("x", answer), Settings(repair=True), store=None).judge([ASKED])
    assert requests[1].schema is not None
    assert '"enum": [1, 2]' in json.dumps(requests[1].schema)


def test_a_verdict_without_evidence_of_a_judge_that_needs_it_is_weak() -> None:
    metric = open_metric(Weak("weak", lambda _: Completion(FOUND, (-0.5,))), store=None)
    judgements = metric.judge([ASKED, SCHNITZEL, "Fine."])
    assert [judgement.notes for judgement in judgements] == [(), *[("weak verdict: without evidence it guesses",)] * 2]
    assert summarise(judgements).weak == {"without evidence it guesses": 2}
    [strong] = open_metric("fake:clean", store=None).judge([SCHNITZEL])
    assert summarise([strong]).weak == {}


def test_a_verdict_by_passages_with_few_words_of_the_text_is_weak() -> None:
    """`Schnitzel` is one of five content words, and one of four of the passage: (2 / 5 + 1 / 4) / 3 is 0.22."""
    sample = Sample(id="s", text="Schnitzel is popular on Sundays in Germany.")
    far = sample.model_copy(update={"evidence": (Evidence(text="Schnitzel with potatoes costs little."),)})
    near = sample.model_copy(update={"evidence": (Evidence(text="Germans often eat Schnitzel on Sundays."),)})
    weak = Weak("weak", lambda _: Completion(FOUND, (-0.5,)))
    by_words = replace(open_metric(weak, store=None), by_words=True)
    judgements = by_words.judge([far, near])
    assert [judgement.notes for judgement in judgements] == [("weak verdict: this evidence says nothing",), ()]
    assert open_metric(weak, store=None).judge([far])[0].notes == ()  # found by meaning, or given
    assert replace(open_metric("fake:clean", store=None), by_words=True).judge([far])[0].notes == ()
    assert by_words.signature() == open_metric(weak, store=None).signature()


@pytest.mark.parametrize("style", ["paper", "fenced", "guided", "brief"])
def test_a_summary_is_asked_for_and_kept_in_every_style(style: str) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Completion:
        asked.append(request)
        return Completion(json.dumps({"errors": [], "explanation": "Nothing is wrong: it is eaten there."}))

    settings: dict[str, Any] = {"style": style, "store": None, "max_errors": 2, "constrain": True}
    plain, told = (
        mores.score([SCHNITZEL], FakeModel("x", answer), explain=explain, **settings)[0] for explain in (False, True)
    )
    assert told.report is not None
    assert told.report.explanation == "Nothing is wrong: it is eaten there."
    assert told.signature["prompt"] != plain.signature["prompt"]
    assert told.signature["schema"] != plain.signature["schema"]
    assert [list((request.schema or {})["properties"]) for request in asked] == [["errors"], ["errors", "explanation"]]


def test_a_tuned_judge_keeps_its_prompt_and_has_a_summary_of_its_errors() -> None:
    class Tuned(FakeModel):
        style = "brief"

    asked: list[Request] = []

    def answer(request: Request) -> Completion:
        asked.append(request)
        errors = [
            {"side": "text", "quote": quote, "severity": severity, "type": "t", "explanation": "Eaten by hand."}
            for quote, severity in (("fork", "major"), ("spoon", "minor"))
        ]
        return Completion(json.dumps({"errors": errors if "fork" in request.messages[-1].content else []}))

    texts = ["With a fork or a spoon.", "Fine."]
    plain, told = (mores.score(texts, Tuned("tuned", answer), explain=explain, store=None) for explain in (False, True))
    assert asked[:2] == asked[2:]
    assert [judgement.score for judgement in plain] == [judgement.score for judgement in told]
    reports = [(before.report, after.report) for before, after in zip(plain, told, strict=True)]
    assert [before.explanation for before, _ in reports if before] == ["", ""]
    assert [after.explanation for _, after in reports if after] == [
        "2 errors (1 minor, 1 major). Eaten by hand.", "The judge found no error.",
    ]  # fmt: skip
    assert plain[0].signature != told[0].signature
