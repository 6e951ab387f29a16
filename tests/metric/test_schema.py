"""The strict parser: a report, or a failure with its reason; never an exception, never a guess."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.metric.schema import WrittenReport, parse, parse_text, report_schema, schema_hash
from mores.models.base import Completion, Stop, Written
from mores.types import Failure, FailureKind

ERROR = {
    "side": "text",
    "quote": "No Germans",
    "severity": "major",
    "type": "overgeneralisation",
    "explanation": "Many do.",
    "correction": "Some Germans",
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ERRORS = st.fixed_dictionaries(
    {
        "side": st.sampled_from(["instruction", "text"]),
        "quote": TEXT,
        "severity": st.sampled_from(["minor", "major"]),
        "type": TEXT.filter(bool),
        "explanation": TEXT,
        "correction": TEXT,
    }
)
REPORTS = st.fixed_dictionaries({"errors": st.lists(ERRORS, max_size=4), "explanation": TEXT})


def report(*errors: Mapping[str, object], **more: object) -> str:
    return json.dumps({"errors": list(errors), "explanation": "…", **more})


def test_a_report() -> None:
    parsed = parse_text(report(ERROR))
    assert isinstance(parsed, WrittenReport)
    assert parsed.errors[0].quote == "No Germans"
    assert parsed.errors[0].correction == "Some Germans"
    plain = parse_text(report({name: value for name, value in ERROR.items() if name != "correction"}))
    assert isinstance(plain, WrittenReport)
    assert plain.errors[0].correction == ""


@pytest.mark.parametrize("text", [report(), f"  {report()}\n", f"```json\n{report()}\n```", f"```\n{report()}\n```"])
def test_white_space_and_one_code_fence_are_allowed(text: str) -> None:
    assert parse_text(text) == WrittenReport(errors=(), explanation="…")


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("", FailureKind.PARSE, "not JSON"),
        ("The text is fine.", FailureKind.PARSE, "begins 'The text is fine.'"),
        (f"Here it is: {report()}", FailureKind.PARSE, "not JSON"),
        (f"{report()} Hope this helps!", FailureKind.PARSE, "Extra data"),
        (report(ERROR)[:-10], FailureKind.PARSE, "not JSON"),
        ('{"errors": [], "errors": []}', FailureKind.PARSE, "a key occurs twice"),
        ('{"errors": [], "explanation": NaN}', FailureKind.PARSE, "NaN"),
        ('{"errors": [], "explanation": "\\ud800"}', FailureKind.PARSE, "surrogates"),
        ("[" * 100_000, FailureKind.PARSE, "nested too deeply"),
        ("[]", FailureKind.SCHEMA, "the whole"),
        ("null", FailureKind.SCHEMA, "the whole"),
        ("{}", FailureKind.SCHEMA, "errors: Field required"),
        ('{"errors": {}}', FailureKind.SCHEMA, "errors"),
        (report(score=-5), FailureKind.SCHEMA, "score: Extra inputs"),
        (report(ERROR | {"severity": "critical"}), FailureKind.SCHEMA, "errors.0.severity"),
        (report(ERROR | {"severity": "MAJOR"}), FailureKind.SCHEMA, "errors.0.severity"),
        (report(ERROR | {"side": "output"}), FailureKind.SCHEMA, "errors.0.side"),
        (report(ERROR | {"quote": 5}), FailureKind.SCHEMA, "errors.0.quote"),
        (report(ERROR | {"quote": None}), FailureKind.SCHEMA, "errors.0.quote"),
        (report(ERROR | {"type": ""}), FailureKind.SCHEMA, "errors.0.type"),
        (report(ERROR | {"occurrence": 0}), FailureKind.SCHEMA, "errors.0.occurrence"),
        (report(ERROR | {"occurrence": True}), FailureKind.SCHEMA, "errors.0.occurrence"),
        (report(ERROR | {"start": 0}), FailureKind.SCHEMA, "errors.0.start"),
        (report({k: v for k, v in ERROR.items() if k != "explanation"}), FailureKind.SCHEMA, "errors.0.explanation"),
    ],
)  # fmt: skip
def test_anything_else_is_a_failure_with_its_reason(text: str, kind: FailureKind, reason: str) -> None:
    failure = parse_text(text)
    assert isinstance(failure, Failure)
    assert failure.kind is kind
    assert reason in failure.reason


def test_a_cut_off_answer_says_so() -> None:
    cut = Completion(report(ERROR)[:30], stop="length", completion_tokens=1024).complete(Stop.LENGTH)
    assert isinstance(cut, Written)
    failure = parse(cut)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.TRUNCATED
    assert "1024 tokens; raise max_tokens" in failure.reason


def test_a_whole_report_at_the_very_limit_counts() -> None:
    whole = Completion(report(), stop="length").complete(Stop.LENGTH)
    assert isinstance(whole, Written)
    assert isinstance(parse(whole), WrittenReport)


@pytest.mark.parametrize(
    ("completion", "kind"),
    [
        (Completion(report(), stop="content_filter"), FailureKind.FILTERED),
        (Completion(report(), stop="error"), FailureKind.MODEL),
        (Completion("I cannot help.", stop="refusal"), FailureKind.REFUSED),
        (Completion("", stop="tool_calls"), FailureKind.EMPTY),
        (Completion("<think>It is fine.</think>\n"), FailureKind.EMPTY),
    ],
)
def test_what_is_not_a_complete_answer_cannot_be_graded(completion: Completion, kind: FailureKind) -> None:
    failure = completion.complete(Stop.LENGTH)
    assert isinstance(failure, Failure)
    assert failure.kind is kind


def test_a_report_after_thoughts_is_read() -> None:
    answer = Completion(f"<think>Fine.</think>\n{report()}").complete()
    assert isinstance(answer, Written)
    assert (answer.thoughts, answer.text) == ("<think>Fine.</think>", report())


@given(st.text())
def test_any_text_is_a_report_or_a_failure(text: str) -> None:
    assert isinstance(parse_text(text), WrittenReport | Failure)


@given(REPORTS, st.booleans())
def test_any_report_is_read_as_it_was_written(written: dict[str, object], ascii_only: bool) -> None:
    parsed = parse_text(json.dumps(written, ensure_ascii=ascii_only))
    assert isinstance(parsed, WrittenReport)
    assert parsed.model_dump(mode="json", exclude={"errors": {"__all__": {"occurrence", "evidence"}}}) == written


@given(REPORTS, st.data())
def test_no_cut_report_is_ever_read_as_another(written: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(written)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    assert isinstance(parse_text(cut), Failure)


def test_the_schema_fits_the_parser_and_its_bounds_are_its_own() -> None:
    free, bounded = report_schema(), report_schema(3)
    assert set(free["properties"]["errors"]["items"]["required"]) == set(ERROR)
    assert "maxLength" not in json.dumps(free)  # strict mode of hosted servers does not know it
    assert bounded["properties"]["errors"]["maxItems"] == 3
    assert set(bounded["properties"]["errors"]["items"]["required"]) == {*ERROR} - {"correction"}  # a small model's
    assert schema_hash(free) != schema_hash(bounded) != schema_hash(report_schema(2))
    assert schema_hash(None) == "none"


# Evidence


def numbers(schema: Mapping[str, Any]) -> Any:
    return schema["properties"]["errors"]["items"]["properties"].get("evidence")


def test_the_schema_has_numbers_only_with_evidence() -> None:
    assert numbers(report_schema()) is numbers(report_schema(3)) is None
    assert report_schema(3) == report_schema(3, evidence=0)
    free, bounded = report_schema(evidence=2), report_schema(3, evidence=2)
    assert numbers(free) == {"type": "array", "items": {"type": "integer", "enum": [1, 2]}}
    assert numbers(bounded) == {"type": "array", "items": {"type": "integer", "enum": [1, 2]}, "maxItems": 2}
    assert set(free["properties"]["errors"]["items"]["required"]) == {*ERROR, "evidence"}


def test_numbers_stand_before_the_explanation() -> None:
    # A model that writes in this order first says what it rests on, and then why.
    order = list(report_schema(3, evidence=1)["properties"]["errors"]["items"]["properties"])
    assert order.index("evidence") == order.index("explanation") - 1


@pytest.mark.parametrize("cited", [[], [1], [3, 1, 3]])
def test_numbers_are_read_as_they_were_written(cited: list[int]) -> None:
    parsed = parse_text(report(ERROR | {"evidence": cited}))
    assert isinstance(parsed, WrittenReport)
    assert parsed.errors[0].evidence == tuple(cited)


@pytest.mark.parametrize("cited", [[0], [-1], ["1"], [1.0], [True], 1, "1", None, [[1]]])
def test_anything_else_is_no_number(cited: object) -> None:
    failure = parse_text(report(ERROR | {"evidence": cited}))
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.SCHEMA
    assert "errors.0.evidence" in failure.reason
