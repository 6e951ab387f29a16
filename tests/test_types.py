"""The records as JSON: what is new is left out where it is empty, so that files of earlier versions stay the same."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from mores.types import Error, ErrorReport, Evidence, Judgement, Sample, Severity, Signature

ERROR = Error(side="text", start=0, end=1, quote="x", severity=Severity.MINOR, type="t")
PASSAGE = Evidence(text="A fact.", title="Facts", source="https://example.org/", date="2020")


def test_without_evidence_the_json_is_as_it_was() -> None:
    assert json.loads(Sample(id="a", text="x").model_dump_json()) == {
        "id": "a", "instruction": "Generate a culturally correct text.", "text": "x",
        "language": None, "region": None, "source": None,
    }  # fmt: skip
    assert json.loads(ERROR.model_dump_json()) == {
        "side": "text", "start": 0, "end": 1, "quote": "x", "severity": "minor", "type": "t", "explanation": "",
    }  # fmt: skip
    judgement = Judgement(sample_id="a", judge="j", score=-1.0, report=ErrorReport(errors=(ERROR,)))
    assert "evidence" not in judgement.model_dump_json()
    assert "evidence" not in judgement.model_dump(mode="json")


def test_with_evidence_it_comes_back() -> None:
    sample = Sample(id="a", text="x", evidence=(PASSAGE, Evidence(text="Another.")))
    error = ERROR.model_copy(update={"evidence": (2, 1)})
    report = ErrorReport(errors=(error,))
    judgement = Judgement(sample_id="a", judge="j", score=-1.0, report=report, evidence=sample.evidence)
    assert Sample.model_validate_json(sample.model_dump_json()) == sample
    assert Judgement.model_validate_json(judgement.model_dump_json()) == judgement
    assert Judgement.model_validate(judgement.model_dump(mode="json")) == judgement
    assert json.loads(sample.model_dump_json())["evidence"][0] == {
        "text": "A fact.", "title": "Facts", "source": "https://example.org/", "date": "2020",
    }  # fmt: skip


def test_an_evidence_is_one_record_wherever_it_is_imported_from() -> None:
    from mores.search import Evidence as Found

    assert Found is Evidence
    with pytest.raises(ValidationError, match="url"):
        Evidence.model_validate({"text": "x", "url": "y"})


def test_a_signature_is_an_object_in_files_and_a_line_for_people() -> None:
    signature = Signature(metric="x.1", model="m:n")
    judgement = Judgement(sample_id="a", judge="j", score=0.5, signature=signature)
    assert json.loads(judgement.model_dump_json())["signature"] == {"metric": "x.1", "model": "m:n"}
    again = Judgement.model_validate_json(judgement.model_dump_json())
    assert isinstance(again.signature, Signature)
    assert {again.signature} == {signature} == {Signature(model="m:n", metric="x.1")}
    assert str(again.signature) == "metric:x.1|model:m:n"
    with pytest.raises(ValidationError):
        Judgement.model_validate({"sample_id": "a", "judge": "j", "signature": "metric:x.1"})
