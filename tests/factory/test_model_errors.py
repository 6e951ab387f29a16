"""Soft errors by a model: the prompts of Table 7, the strict reading of answers, and a run with a fake model."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.engine import Asker, Counts
from mores.factory.errors.model import (
    NO_SEVERITY,
    Made,
    SoftErrorSettings,
    make,
    make_each,
    make_several,
    prompt_hash,
    read,
    requests,
)
from mores.factory.gold import Gold, Original
from mores.factory.items import Task
from mores.models.base import Completion, Request, Stop
from mores.models.fake import FakeModel
from mores.types import Error, ErrorReport, Failure, FailureKind, Sample, Severity

SAMPLE = Sample(
    id="mango/1",
    instruction="Write about New Year in Japan.",
    text="Families eat soba on New Year's Eve and visit a shrine in January.",
    language="en",
    region="JP",
)
GOLD = Gold(
    sample=SAMPLE, report=ErrorReport(), task=Task.GENERATION, kind="correct", maker="source", item="mango/1", group="g"
)
WRITTEN = {
    "Error Type": "incorrect information",
    "Cultural Content": "Yes, Japan is named.",
    "Rule Adherence": "Pointwise.",
    "Explanation": "Soba, not ramen, is eaten on New Year's Eve, and shrines are visited.",
    "Severity": "major",
    "Modified Instruction": SAMPLE.instruction,
    "Modified Generated Text": "Families eat ramen on New Year's Eve and visit a casino in January.",
}


def answer(**changes: Any) -> str:
    return "I think about {it}.\n\nOUTPUT:\n" + json.dumps(WRITTEN | changes, ensure_ascii=False)


def soften(text: str, stop: str = "stop", gold: Gold = GOLD, severity: Severity = Severity.MINOR) -> Made:
    return read(Completion(text, stop=stop).complete(Stop.LENGTH), gold, severity, "qwen")


def failure(text: str, stop: str = "stop") -> Failure:
    result = soften(text, stop)
    assert isinstance(result, Failure)
    return result


def test_one_request_for_minor_and_one_for_major_errors() -> None:
    both = requests(GOLD, SoftErrorSettings(max_tokens=99))
    assert list(both) == [Severity.MINOR, Severity.MAJOR]
    (message,) = both[Severity.MINOR].messages
    assert message.role == "user"
    assert message.content.startswith("For a scientific experiment, I need to introduce cultural errors")
    assert f"\nInstruction: {SAMPLE.instruction}\nGenerated Text: {SAMPLE.text}\n" in message.content
    assert "\n6, Your error(s) should be minor, but still incorrect.\n" in message.content
    major = both[Severity.MAJOR].messages[0].content
    assert "\n6, Your error(s) should be major and significantly incorrect.\n" in major
    assert "OUTPUT:\n{" in major
    assert both[Severity.MAJOR].max_tokens == 99
    assert len(prompt_hash()) == 8


def test_what_is_put_in_is_not_taken_for_a_slot() -> None:
    sample = SAMPLE.model_copy(update={"instruction": "Use {gt} and {MINOR/MAJOR}."})
    prompt = requests(GOLD.model_copy(update={"sample": sample}))[Severity.MINOR].messages[0].content
    assert "Instruction: Use {gt} and {MINOR/MAJOR}.\n" in prompt


def test_the_changed_words_are_the_errors() -> None:
    gold = soften(answer())
    assert isinstance(gold, Gold)
    explanation = WRITTEN["Explanation"]
    assert gold.report.errors == (
        Error(side="text", start=13, end=18, quote="ramen", severity=Severity.MINOR, type="incorrect information",
              explanation=explanation),
        Error(side="text", start=49, end=55, quote="casino", severity=Severity.MINOR, type="incorrect information",
              explanation=explanation),
    )  # fmt: skip
    assert gold.sample.id == "mango/1:minor"
    assert gold.sample.text == WRITTEN["Modified Generated Text"]
    assert (gold.kind, gold.maker, gold.item, gold.group) == ("soft", "model:qwen", "mango/1", "g")
    assert (gold.sample.language, gold.sample.region) == ("en", "JP")
    assert gold.original == Original(instruction=SAMPLE.instruction, text=SAMPLE.text)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"Modified Generated Text": "Families boil ramen on Christmas Eve and visit a casino in July."}, "separate"),
        ({"Modified Generated Text": "Nobody in Peru ever goes to any of the many festivals there."}, "most words"),
        (
            {"Modified Generated Text": "Las familias comen fideos en Nochevieja y visitan un santuario en enero."},
            "most words|another language",
        ),
        ({"Modified Generated Text": "Families eat soba on New Year's Eve and visit a island in January."}, "grammar"),
        ({"Explanation": "I modified the dish that is eaten."}, "speaks of the change"),
        ({"Modified Instruction": f"{SAMPLE.instruction}\nFollow these rules:"}, "words of the request"),
        (
            {"Modified Generated Text": f"Generated Text: {SAMPLE.text.replace('soba', 'ramen')}"},
            "words of the request",
        ),
    ],
)
def test_rules_refuse_what_a_model_did_not_change_pointwise(changes: dict[str, str], reason: str | None) -> None:
    completion = Completion(answer(**changes)).complete(Stop.LENGTH)
    result = read(completion, GOLD, Severity.MINOR, settings=SoftErrorSettings(checked=True))
    if reason is None:
        assert isinstance(result, Gold)
    else:
        assert isinstance(result, Failure)
        assert re.search(reason, result.reason), result.reason
        assert isinstance(read(completion, GOLD, Severity.MINOR), Gold), "unchecked, as in edition 2"


def test_an_answer_that_can_be_repaired_is_refused_for_what_is_wrong_with_it_then() -> None:
    text = answer(Explanation="The original text was modified.").replace("OUTPUT:", "")
    settings = SoftErrorSettings(repair=True, checked=True)
    completion = Completion(text).complete(Stop.LENGTH)
    for counted, reason in ((None, "no 'OUTPUT:'"), (Counter[str](), "speaks of the change")):
        result = read(completion, GOLD, Severity.MINOR, "", counted, settings=settings)
        assert isinstance(result, Failure)
        assert reason in result.reason
        assert not counted


def test_a_text_in_another_language_is_refused() -> None:
    text = "الأطفال يأكلون الأرز مع السمك في صباح العيد"
    gold = GOLD.model_copy(update={"sample": SAMPLE.model_copy(update={"text": text, "language": "ar"})})
    for written, refused in (
        ("Children eat rice with fish on the morning of the feast", True),
        (f"{text} الكبير", False),
    ):
        completion = Completion(answer(**{"Modified Generated Text": written})).complete(Stop.LENGTH)
        result = read(completion, gold, Severity.MINOR, settings=SoftErrorSettings(checked=True))
        assert isinstance(result, Failure) is refused


def test_an_answer_that_rules_refuse_is_asked_for_once_more() -> None:
    def say(request: Request) -> Completion:
        again = len(request.messages) > 1
        return Completion(answer() if again else answer(Explanation="The original text was modified."))

    async def results() -> list[Made]:
        asker = Asker(FakeModel("soft", say))
        settings = SoftErrorSettings(repair=True, checked=True)
        return [made async for _, made in make_each([(GOLD, Severity.MINOR)], asker, settings)]

    (made,) = asyncio.run(results())
    assert isinstance(made, Gold)


def test_errors_of_both_sides() -> None:
    gold = soften(answer(**{"Modified Instruction": "Write about New Year in Peru."}), severity=Severity.MAJOR)
    assert isinstance(gold, Gold)
    assert [(error.side, error.quote) for error in gold.report.errors] == [
        ("instruction", "Peru"), ("text", "ramen"), ("text", "casino"),
    ]  # fmt: skip
    assert {error.severity for error in gold.report.errors} == {Severity.MAJOR}  # as asked, not as answered


@pytest.mark.parametrize(
    ("named", "severity", "unnamed"),
    [
        ("minor", Severity.MINOR, False),
        (" **Minor**.", Severity.MINOR, False),
        ("Major, as a shrine is no casino", Severity.MAJOR, False),
        ("moderate", Severity.MAJOR, True),
        ("minor or major", Severity.MAJOR, True),
        ("", Severity.MAJOR, True),
    ],
)
def test_the_severity_is_what_the_model_assigns(named: str, severity: Severity, unnamed: bool) -> None:
    """ExCAM, Section 3; where the answer names none or both, the severity that was asked for counts."""
    repaired, written = Counter[str](), Completion(answer(Severity=named)).complete(Stop.LENGTH)
    gold = read(written, GOLD, Severity.MAJOR, "qwen", repaired, settings=SoftErrorSettings(severity="answered"))
    assert isinstance(gold, Gold)
    assert [error.severity for error in gold.report.errors] == [severity, severity]
    assert gold.sample.id == "mango/1:major", "the name says which request it is from"
    assert repaired == ({NO_SEVERITY: 1} if unnamed else {})


@pytest.mark.parametrize("cultural", ["No", "no.", "No, it is general.", " **No**"])
def test_what_is_not_cultural_is_dropped(cultural: str) -> None:
    assert soften(answer(**{"Cultural Content": cultural, "Error Type": "", "Modified Generated Text": ""})) is None


def test_the_last_output_counts() -> None:
    text = f"The format is OUTPUT: {{...}}. Draft OUTPUT: {{}}\n{answer()}"
    assert isinstance(soften(text), Gold)
    assert isinstance(soften(answer().replace("OUTPUT:\n", "**OUTPUT:**\n```json\n") + "\n```"), Gold)


def test_an_output_in_the_text_is_not_the_output() -> None:
    assert isinstance(soften(answer(**{"Modified Instruction": "Write OUTPUT: yes."})), Gold)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("I refuse.", FailureKind.PARSE, "no 'OUTPUT:'"),
        ("OUTPUT: {'Error Type': 1}", FailureKind.PARSE, "not JSON"),
        (answer() + " That is all.", FailureKind.PARSE, "not JSON"),
        (answer().replace('"Severity"', '"Severity": "", "Severity"'), FailureKind.PARSE, "twice"),
        ("OUTPUT: {}", FailureKind.SCHEMA, "Error Type"),
        (answer(Note="more"), FailureKind.SCHEMA, "Note"),
        (answer(**{"Modified Generated Text": None}), FailureKind.SCHEMA, "Modified Generated Text"),
        (answer(**{"Cultural Content": "Norway is named."}), FailureKind.SCHEMA, "Cultural Content"),
        (answer(**{"Modified Generated Text": " "}), FailureKind.SCHEMA, "empty"),
        (answer(Explanation=""), FailureKind.SCHEMA, "empty"),
        (answer(**{"Modified Generated Text": SAMPLE.text}), FailureKind.SCHEMA, "changed"),
        (answer(**{"Modified Generated Text": SAMPLE.text + "!!"}), FailureKind.SCHEMA, "changed"),
        (answer(Explanation="\ud800").replace("\ud800", "\\ud800"), FailureKind.PARSE, "not JSON"),
        ("OUTPUT: " + '{"a":' * 100_000, FailureKind.PARSE, "not JSON"),
    ],
)
def test_what_cannot_be_used_is_a_failure(text: str, kind: FailureKind, words: str) -> None:
    result = failure(text)
    assert result.kind == kind
    assert words in result.reason


def test_cut_off_and_withheld_answers() -> None:
    assert failure(answer()[:-20], "length").kind == FailureKind.TRUNCATED
    assert failure("", "content_filter").kind == FailureKind.FILTERED


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_a_pair_with_errors_or_a_failure(instruction: str, text: str) -> None:
    result = soften(answer(**{"Modified Instruction": instruction, "Modified Generated Text": text}))
    if isinstance(result, Gold):
        assert result.report.errors
        assert all(result.sample.side(e.side)[e.start : e.end] == e.quote for e in result.report.errors)
    else:
        assert isinstance(result, Failure)


@pytest.mark.slow
@given(st.text(max_size=200))
def test_no_answer_raises(text: str) -> None:
    assert soften(f"OUTPUT: {{{text}") is None or soften(f"OUTPUT: {{{text}")


def test_a_run(tmp_path: Path) -> None:
    """Minor and major of each pair in order; the second run needs no model."""
    calls: list[str] = []

    def say(request: Request) -> Completion:
        prompt = request.messages[0].content
        calls.append(prompt)
        if "about tea" in prompt:
            return Completion("OUTPUT: " + json.dumps(WRITTEN | {"Cultural Content": "No"}))
        return Completion(answer() if "should be major" in prompt else "Sorry.")

    other = SAMPLE.model_copy(update={"id": "mango/2", "instruction": "Write about tea."})
    wrong = GOLD.model_copy(update={"kind": "hard"})
    golds = [GOLD, GOLD.model_copy(update={"sample": other}), wrong]
    counts = Counts()

    async def collect() -> list[tuple[Gold, Made]]:
        asker = Asker(FakeModel("soft", say), store=tmp_path / "answers.db")
        return [pair async for pair in make(golds, asker, counts=counts)]

    pairs = asyncio.run(collect())
    assert [gold.sample.id for gold, _ in pairs] == ["mango/1", "mango/1", "mango/2", "mango/2", "mango/1", "mango/1"]
    minor, major, *dropped, unfit, _ = (result for _, result in pairs)
    assert isinstance(minor, Failure)
    assert isinstance(major, Gold)
    assert major.sample.id == "mango/1:major"
    assert major.maker == "model:fake:soft"
    assert dropped == [None, None]
    assert isinstance(unfit, Failure)
    assert unfit.kind == FailureKind.INPUT
    assert len(calls) == counts.calls == 4
    assert asyncio.run(collect()) == pairs
    assert len(calls) == 4


REPAIRABLE = {
    "words after it": answer() + " That is all.",
    "no OUTPUT": "Here it is: " + json.dumps(WRITTEN),
    "a line break in a string": answer().replace("eat ramen", "eat\\nramen").replace("\\n", "\n"),
    "quotation marks in a string": answer().replace("not ramen", 'not "ramen", they say,'),
    "a fence and words": answer().replace("OUTPUT:\n", "OUTPUT:\n```json\n") + "\n```\nDone.",
    "names in another case": answer().replace("Error Type", "error_type").replace("Explanation", "explanation"),
    "a field too many": answer(Note="more"),
    "a field that is not used is missing": answer().replace('"Rule Adherence": "Pointwise.", ', ""),
    "a side that is left out": answer(**{"Modified Instruction": ""}),
    "a side that is only called unchanged": answer(**{"Modified Instruction": "(No change)"}),
    "a label": answer(**{"Modified Generated Text": f"Generated Text: {WRITTEN['Modified Generated Text']}"}),
}


@pytest.mark.parametrize("name", REPAIRABLE)
def test_what_can_be_read_without_a_guess_is_repaired(name: str) -> None:
    repaired = Counter[str]()
    written = Completion(REPAIRABLE[name]).complete(Stop.LENGTH)
    plainly = read(written, GOLD, Severity.MINOR, "qwen")
    wrongly = isinstance(plainly, Gold) and [error.quote for error in plainly.report.errors] != ["ramen", "casino"]
    assert isinstance(plainly, Failure) or wrongly
    made = read(written, GOLD, Severity.MINOR, "qwen", repaired)
    assert isinstance(made, Gold)
    assert [error.quote for error in made.report.errors] == ["ramen", "casino"]
    assert made.sample.instruction == SAMPLE.instruction
    assert repaired.total() == 1


@pytest.mark.parametrize(
    "text",
    [
        "I refuse.",
        "OUTPUT: {}",
        answer().replace('"Severity"', '"Severity": "", "Severity"'),
        answer(**{"Modified Generated Text": SAMPLE.text}),
        answer(**{"Modified Generated Text": None, "Modified Instruction": None}),
        answer(**{"Cultural Content": "Norway is named."}),
        answer(Explanation=""),
        answer(Explanation="\ud800").replace("\ud800", "\\ud800"),
        answer()[:-40],
        "OUTPUT: " + '{"a":' * 100_000,
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    repaired = Counter[str]()
    made = read(Completion(text).complete(Stop.LENGTH), GOLD, Severity.MINOR, "qwen", repaired)
    assert isinstance(made, Failure)
    assert not repaired


@given(st.text(max_size=200))
def test_no_answer_raises_when_it_is_repaired(text: str) -> None:
    for written in (f"OUTPUT: {{{text}", f'{{"Error Type": "{text}", "Modified Generated Text": "{text}"}}'):
        read(Completion(written).complete(Stop.LENGTH), GOLD, Severity.MINOR, "qwen", Counter())


def pairs_of(count: int) -> list[Gold]:
    samples = [SAMPLE.model_copy(update={"id": f"mango/{n}", "instruction": f"Write about {n}."}) for n in range(count)]
    return [GOLD.model_copy(update={"sample": sample}) for sample in samples]


def test_an_unusable_answer_is_asked_for_once_more() -> None:
    asked: list[Request] = []

    def say(request: Request) -> Completion:
        asked.append(request)
        first = len(request.messages) == 1
        if "about 0." in request.messages[0].content:
            return Completion("Sorry." if first else answer(**{"Modified Instruction": ""}))
        return Completion("Never.")

    async def collect() -> list[Made]:
        asker, settings = Asker(FakeModel("soft", say), store=None), SoftErrorSettings(repair=True)
        golds = [(gold, Severity.MAJOR) for gold in pairs_of(2)]
        return [made async for _, made in make_each(golds, asker, settings, repaired=repaired)]

    repaired = Counter[str]()
    mended, failed = asyncio.run(collect())
    assert isinstance(mended, Gold)
    assert isinstance(failed, Failure)
    assert len(asked) == 4, "each once more, and no more"
    again = next(request for request in asked if len(request.messages) == 3)
    assert again.messages[2].content.startswith(
        "This output cannot be used: no 'OUTPUT:' with JSON after it. Return all"
    )
    assert repaired == {"the type, the explanation or one of the texts is empty": 1, "asked for once more": 1}


def test_several_at_once_and_the_rest_one_by_one() -> None:
    def say(request: Request) -> Completion:
        prompt = request.messages[0].content
        numbers = re.findall(r"Instruction (\d+): Write about (\d+)\.", prompt)
        if not numbers:
            return Completion(answer())
        outputs = [
            f"OUTPUT {place}: {json.dumps(WRITTEN | {'Modified Instruction': f'Write about {number}.'})}"
            for place, number in numbers
            if number != "1"
        ]
        return Completion("Thoughts about OUTPUT 1: nothing.\n" + "\n".join(outputs))

    async def collect() -> list[tuple[Gold, Severity, Made]]:
        asker, settings = Asker(FakeModel("soft", say), store=None), SoftErrorSettings(at_once=2, repair=True)
        golds = [(gold, severity) for gold in pairs_of(3) for severity in Severity]
        return [(gold, severity, made) async for (gold, severity), made in make_several(golds, asker, settings, counts)]

    counts = Counts()
    results = asyncio.run(collect())
    assert counts.calls == 4, "three pairs, two at once, for each severity"
    by_pair = {(gold.sample.id, severity): made for gold, severity, made in results}
    assert len(by_pair) == 6
    for (name, severity), made in by_pair.items():
        if name == "mango/1":
            assert isinstance(made, Failure)
            assert "no output for this pair" in made.reason
        else:
            assert isinstance(made, Gold)
            assert made.sample.id == f"{name}:{severity}"
            assert {error.severity for error in made.report.errors} == {severity}
            assert made.sample.instruction == f"Write about {name[-1]}."
