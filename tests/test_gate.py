"""Gates: what a result must reach."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import mores
from mores.errors import ConfigError, GateError, InputError
from mores.gate import BenchGate, TextGate
from mores.metric.summary import ScoreSummary
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Severity, Signature

SUMMARY = ScoreSummary(
    n=20, judged=19, failed={FailureKind.PARSE: 1}, with_errors=3, errors={Severity.MAJOR: 1, Severity.MINOR: 2},
    unlocated=0, mean_score=-0.25, without_certainty=0, signatures=(),
)  # fmt: skip


@pytest.mark.parametrize(
    "gate",
    [
        TextGate(),
        TextGate(fail_under=-0.25, max_unjudged=1),
        TextGate(max_unjudged=1),
        TextGate(max_unjudged="1"),
        TextGate(max_unjudged=0.05),
        TextGate(max_unjudged="5%"),
        TextGate(max_unjudged="100%"),
    ],
)
def test_texts_that_reach_it_pass(gate: TextGate) -> None:
    gate.check(SUMMARY)


@pytest.mark.parametrize(
    ("gate", "problem"),
    [
        (TextGate(fail_on="major"), "1 major error"),
        (TextGate(fail_on=Severity.MINOR), "1 major error, 2 minor errors"),
        (TextGate(fail_under=-0.25), "1 of 20 texts could not be judged, and may be worse than the others; judge them "
         "again, or set max_unjudged"),
        (TextGate(fail_under=-0.2), "the mean score −0.250 is below -0.2"),
        (TextGate(max_unjudged=0), "1 of 20 texts could not be judged; at most 0 may be"),
        (TextGate(max_unjudged=0.049), "1 of 20 texts could not be judged; at most 0.049 may be"),
        (TextGate("major", 0, "0"), "1 major error; the mean score −0.250 is below 0; 1 of 20 texts could not be "
         "judged; at most 0 may be"),
    ],
)  # fmt: skip
def test_texts_that_do_not_reach_it_fail_with_every_reason(gate: TextGate, problem: str) -> None:
    with pytest.raises(GateError, match=f"^{re.escape(problem)}$"):
        gate.check(SUMMARY)


def test_rows_that_were_left_out_count_as_unjudged() -> None:
    gate = TextGate(max_unjudged=2)
    gate.check(SUMMARY, left_out=1)
    with pytest.raises(GateError, match="3 of 22 texts"):
        gate.check(SUMMARY, left_out=2)


def test_nothing_judged_passes_no_gate() -> None:
    nothing = SUMMARY.model_copy(update={"judged": 0, "mean_score": None, "errors": {}})
    with pytest.raises(GateError, match=r"^no text could be judged$"):
        TextGate(max_unjudged="100%").check(nothing)


@pytest.mark.parametrize("limit", ["some", "120%", "-1", -1, 1.5, float("nan"), ""])
def test_a_limit_that_is_neither_a_number_nor_a_share_is_refused(limit: float | str) -> None:
    with pytest.raises(
        ConfigError, match=r"is not a number or a share; give one such as 3 or 5%|is nan; expected a number"
    ) as refused:
        TextGate(max_unjudged=limit)
    assert refused.value.setting == "max_unjudged"


def test_other_settings_are_refused_before_anything_is_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="fail_on is 'bad'; expected major or minor"):
        TextGate(fail_on="bad")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="'80' is not a share"):
        BenchGate(fail_under="80")
    with pytest.raises(InputError, match="no run of mores bench"):
        BenchGate(baseline=tmp_path)


def judgement(number: int, *severities: str, failed: bool = False) -> Judgement:
    errors = [
        Error(side="text", start=0, end=3, quote="bad", severity=severity, type="t", explanation=f"it is {severity}")
        for severity in map(Severity, severities)
    ]
    more: dict[str, Any] = (
        {"score": None, "failure": Failure(kind=FailureKind.PARSE, reason="no JSON")}
        if failed
        else {"score": -5.0 if errors else 0.5, "report": ErrorReport(errors=tuple(errors))}
    )
    return Judgement(sample_id=f"t:{number}", instruction="", text="bad", judge="j", signature=Signature(), **more)


def test_judgements_that_fail_are_named_in_notes() -> None:
    judgements = [judgement(1, "major", "minor"), judgement(2), judgement(3, failed=True)]
    with pytest.raises(GateError, match="1 major error") as failed:
        TextGate(fail_on="major").check(iter(judgements))
    assert failed.value.__notes__ == ["t:1: major error in 'bad': it is major", "t:3: not judged: no JSON"]
    TextGate(fail_on="major").check(judgements[1:2])
    with pytest.raises(GateError, match="1 of 2 texts could not be judged") as failed:
        TextGate(fail_on="major").check(judgements[1:])
    assert failed.value.__notes__ == ["t:3: not judged: no JSON"]


def test_of_many_errors_the_first_are_named() -> None:
    with pytest.raises(GateError, match="40 minor errors") as failed:
        TextGate(fail_on="minor").check(judgement(number, "minor") for number in range(40))
    assert [note.partition(":")[2].partition(":")[0] for note in failed.value.__notes__] == [*map(str, range(10))]


def test_no_judgements_pass_no_gate() -> None:
    with pytest.raises(GateError, match="no text could be judged"):
        TextGate().check([])


def test_a_baseline_needs_the_judgements(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        TextGate(baseline=tmp_path)
    rows = [{"id": str(number), "text": "bad"} for number in range(8)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mores.score_file(tmp_path / "t.jsonl", "fake:clean", out=tmp_path / "run", store=None)
    gate = TextGate(baseline=tmp_path / "run")
    gate.check(mores.score(rows, "fake:clean", store=None))
    with pytest.raises(ConfigError, match="give the run or its judgements, not their counts"):
        gate.check(SUMMARY)
