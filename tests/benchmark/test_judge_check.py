"""What is said of a judge: one without fault, one that believes long answers, one that fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mores.benchmark.benchmark import Judging, Label, Verdict
from mores.benchmark.culturall import CULTURALL
from mores.benchmark.judge_check import (
    EXPECTED,
    PROBES,
    JudgeCheck,
    LabelledAnswer,
    Probe,
    check,
    make_probes,
    probes_hash,
)
from mores.benchmark.msqa.judge import JUDGE
from mores.benchmark.run import Said
from mores.errors import InputError
from mores.io import JsonlWriter, read_records
from mores.types import Failure, FailureKind, Item, Signature

ITEMS = [
    Item(id=f"{language}{n}", prompt="?", target=(f"{language}-{n % 4}",), language=language)
    for language in ("en", "ja")
    for n in range(8)
]
LABELLED = [
    LabelledAnswer(item_id="en0", answer="nearly", label=Label.CORRECT),
    LabelledAnswer(item_id="ja0", answer="no", label=Label.INCORRECT),
    LabelledAnswer(item_id="ja1", answer="hm", label=Label.NOT_ATTEMPTED),
]
BROKEN = Failure(kind=FailureKind.PARSE, reason="?")


def judged(folder: Path, judge: Callable[[Said], Label | None], judging: Judging = JUDGE) -> JudgeCheck:
    """What is said of a judge, given as a function of what was said that returns a label or None."""
    verdicts = folder / "verdicts.jsonl"
    with JsonlWriter(verdicts) as writer:
        for row in make_probes(ITEMS, LABELLED, ITEMS):
            label = judge(row)
            name = row.response.item_id
            failure = None if label else BROKEN
            writer.write(Verdict(item_id=name, unit=name, sample=row.sample, label=label, failure=failure))
    return check(ITEMS, LABELLED, read_records(verdicts, Verdict), judging, "judge", Signature())


def should(answered: Said) -> Label:
    probe = PROBES[answered.sample]
    if probe is Probe.LABELLED:
        return next(row.label for row in LABELLED if row.answer == answered.response.text)
    return EXPECTED[probe]


def never_not_attempted(row: Said) -> Label:
    return Label.CORRECT if should(row) is Label.CORRECT else Label.INCORRECT


def test_answers_are_what_they_should_be() -> None:
    probes = make_probes(ITEMS, LABELLED, ITEMS)
    assert len(probes) == 5 * len(ITEMS) + 3
    targets = {item.id: item.target[0] for item in ITEMS}
    for row in probes:
        text, right = row.response.text or "", targets[row.response.item_id]
        probe = PROBES[row.sample]
        if probe in {Probe.CORRECT, Probe.WORDY_CORRECT}:
            assert right in text
        elif probe is not Probe.LABELLED:
            assert right not in text
        if probe is Probe.WRONG:
            assert text.startswith(right[:3])  # of the same language


def test_a_judge_without_fault(tmp_path: Path) -> None:
    check = judged(tmp_path, should)
    assert (check.agreement.value, check.agreement.n, check.kappa) == (1.0, 83, 1.0)
    assert set(check.probes) == {probe.value for probe in Probe}
    assert {name: result.n for name, result in check.languages.items()} == {"en": 41, "ja": 42}
    assert {name: bias.value for name, bias in check.biases.items()} == {
        "many words, correct": 0,
        "many words, wrong": 0,
    }


def test_a_judge_that_never_says_not_attempted_fails_on_refusals(tmp_path: Path) -> None:
    check = judged(tmp_path, never_not_attempted)
    assert check.probes["refusal"].value == 0
    assert check.probes["graded by people"].value == pytest.approx(2 / 3)
    assert check.probes["wrong"].value == 1
    assert check.grades["refusal"] == {"incorrect": 16}
    assert check.agreement.value == pytest.approx(66 / 83)
    # 33 are correct, 33 incorrect and 17 not attempted, which are called incorrect too
    chance = (33 / 83) ** 2 + (33 / 83) * (50 / 83)
    assert check.kappa == pytest.approx((66 / 83 - chance) / (1 - chance))


def test_a_judge_that_has_no_such_label_is_not_asked_for_it(tmp_path: Path) -> None:
    assert CULTURALL.judging is not None
    check = judged(tmp_path, never_not_attempted, CULTURALL.judging)
    assert (check.agreement.value, check.kappa) == (1.0, 1.0)


def test_a_judge_that_believes_long_answers(tmp_path: Path) -> None:
    check = judged(tmp_path, lambda row: Label.CORRECT if len(row.response.text or "") > 100 else should(row))
    assert check.probes["wrong, in many words"].value == 0
    bias = check.biases["many words, wrong"]
    assert bias.value == 1.0
    assert bias.low is not None
    assert bias.low > 0.5
    assert check.agreement.value == pytest.approx(67 / 83)


def test_a_judge_that_fails_in_one_language(tmp_path: Path) -> None:
    check = judged(tmp_path, lambda row: None if row.response.item_id.startswith("ja") else should(row))
    assert (check.languages["ja"].value, check.languages["ja"].unscored) == (None, 42)
    assert check.languages["en"].value == 1.0
    assert (check.agreement.n, check.agreement.unscored) == (41, 42)


def test_a_judge_that_never_answers(tmp_path: Path) -> None:
    check = judged(tmp_path, lambda _: None)
    assert (check.agreement.value, check.kappa, check.biases) == (None, None, {})


def test_a_grade_of_an_unknown_item_is_refused() -> None:
    with pytest.raises(InputError, match="'other', which is not in the benchmark"):
        make_probes(ITEMS, [LabelledAnswer(item_id="other", answer="x", label=Label.CORRECT)], ITEMS)


def test_other_grades_of_the_same_answers_are_another_run() -> None:
    stricter = [row.model_copy(update={"label": Label.INCORRECT}) for row in LABELLED]
    probes = make_probes(ITEMS, LABELLED, ITEMS)
    assert probes == make_probes(ITEMS, stricter, ITEMS)
    assert probes_hash(probes, LABELLED) != probes_hash(probes, stricter)
