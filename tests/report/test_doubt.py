"""A verdict that says little never looks like one that does, wherever it is shown."""

from __future__ import annotations

from typing import Any

import pytest

from mores.gate import TextGate
from mores.report.ci import find
from mores.report.score import describe_judgements, judgement_html
from mores.types import Decision, ErrorReport, Evidence, JudgedClaim, Judgement, Sample, Signature
from tests.report.markup import read_markup
from tests.report.samples import page
from tests.report.test_table import printed, table

SAMPLE = Sample(id="a", text="Guests wear white.")
WEAK: dict[str, Any] = {"notes": ("weak verdict: it guesses",)}
SHOWN: dict[str, Any] = {"evidence": (Evidence(text="Guests wear black."),)}


def claims(decision: Decision, confidence: float | None = None) -> dict[str, Any]:
    """A report about one claim, without an error, that has no score."""
    claim = JudgedClaim(start=0, end=18, decision=decision)
    return {"score": None, "report": ErrorReport(claims=(claim,), certainty=0.9, confidence=confidence)}


CASES: dict[str, dict[str, Any]] = {
    "Not known no errors found, but no evidence about it": WEAK,
    "Not known no errors found, but little evidence about it": WEAK | SHOWN,
    "Not known the evidence decides none of its claims": claims("unknown") | SHOWN,
    "Not known passages of the evidence contradict each other about it": claims("disputed") | SHOWN,
    "Not known no evidence about its claims": claims("unknown"),
    "Not known only 55% confidence that it has no errors": claims("supported", 0.55) | SHOWN,
}


def judgement(fields: dict[str, Any]) -> Judgement:
    """The judgement of a text in which no error was found."""
    report, signature = ErrorReport(certainty=0.9), Signature(model="m")
    given = {"sample_id": "a", "judge": "m", "score": 0.9, "report": report, "signature": signature, **fields}
    return Judgement.model_validate(given).repeat(SAMPLE)


@pytest.mark.parametrize("words", CASES)
def test_what_is_not_known_is_said_in_every_place(words: str) -> None:
    judged = judgement(CASES[words])
    reason = words.removeprefix("Not known ").removeprefix("no errors found, but ")
    card = read_markup(page([(SAMPLE, judged)], title="t")).only("article")
    assert " ".join(card.only(".badge").text.split()) == f"? {words}"
    assert {"doubtful", "unknown"} & set(card.attributes["class"].split())
    assert "✓" not in card.text
    assert f"not known: {reason}" in printed(table([(SAMPLE, judged)]))
    notebook = judgement_html(judged)
    assert "<strong>not known</strong>" in notebook
    assert reason in notebook
    [finding] = find(judged, TextGate())
    assert (finding.tag, finding.title) == ("skipped", "not known")
    assert reason in finding.message


def test_only_a_verdict_by_evidence_or_by_a_person_has_a_tick() -> None:
    badges = {
        "✓ No errors p(R) 0.900": (judgement(SHOWN), judgement({"signature": Signature(gold="people")})),
        "No errors found by the judge’s knowledge, without evidence p(R) 0.900": (judgement({}),),
    }
    for words, cases in badges.items():
        for judged in cases:
            badge = read_markup(page([(SAMPLE, judged)], title="t")).only(".badge")
            assert " ".join(badge.text.split()) == words


def test_texts_without_errors_and_weak_are_counted() -> None:
    pairs = [(SAMPLE, judgement(WEAK)), (SAMPLE, judgement(SHOWN))]
    html = page(pairs, title="t")
    assert "no errors found in 1, but weak: not known" in " ".join(read_markup(html).only(".tiles").text.split())
    assert "2 texts, 1 of them weak" in html
    lines = describe_judgements(pairs, "t").printed
    assert "no errors found in 1 text with a weak verdict: whether they are correct is not known" in lines
