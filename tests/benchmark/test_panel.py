"""A panel of judges: the majority counts, a tie is unscored, and agreement is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.benchmark.benchmark import Label, Verdict
from mores.benchmark.run import combine
from mores.io import JsonlWriter, read_records
from mores.types import Failure, FailureKind

RIGHT, WRONG, NONE = Label.CORRECT, Label.INCORRECT, Label.NOT_ATTEMPTED
BROKEN = Failure(kind=FailureKind.PARSE, reason="nonsense")


def put(path: Path, labels: list[Label | None]) -> Path:
    with JsonlWriter(path) as writer:
        for number, label in enumerate(labels):
            failure = None if label else BROKEN
            writer.write(Verdict(item_id=str(number), unit=str(number), answer="x", label=label, failure=failure))
    return path


def panel(folder: Path, *judges: list[Label | None]) -> tuple[list[Verdict], float | None]:
    files = {f"judge{n}": put(folder / f"{n}.jsonl", labels) for n, labels in enumerate(judges)}
    alpha = combine(files, folder / "all.jsonl")
    return list(read_records(folder / "all.jsonl", Verdict)), alpha


def test_the_majority_counts_and_says_who_said_what(tmp_path: Path) -> None:
    result, alpha = panel(tmp_path, [RIGHT, RIGHT, WRONG], [RIGHT, WRONG, WRONG], [WRONG, RIGHT, WRONG])
    assert [verdict.label for verdict in result] == [RIGHT, RIGHT, WRONG]
    assert result[0].reason == "judge0: correct; judge1: correct; judge2: incorrect"
    # Three units of three votes: observed disagreement 4/9, expected 2·4·5/(9·8) = 5/9, so α = 1 - 4/5.
    assert alpha == pytest.approx(0.2)


def test_a_judge_that_fails_is_no_vote(tmp_path: Path) -> None:
    result, _ = panel(tmp_path, [RIGHT, None, None], [None, None, WRONG], [RIGHT, None, RIGHT])
    assert [verdict.label for verdict in result] == [RIGHT, None, None]
    assert result[1].failure is not None
    assert result[1].failure.reason.startswith("no judge gave a grade: judge0: unscored (nonsense)")
    assert result[2].failure is not None
    assert result[2].failure.reason.startswith("there is no majority: judge0: unscored (nonsense); judge1: incorrect")


def test_three_opinions_are_no_majority(tmp_path: Path) -> None:
    [verdict], _ = panel(tmp_path, [RIGHT], [WRONG], [NONE])
    assert verdict.label is None


def test_judges_who_agree(tmp_path: Path) -> None:
    result, alpha = panel(tmp_path, [RIGHT, WRONG], [RIGHT, WRONG])
    assert [verdict.label for verdict in result] == [RIGHT, WRONG]
    assert alpha == 1.0


def test_files_of_different_answers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        panel(tmp_path, [RIGHT, WRONG], [RIGHT])
