"""Progress: a program hears nothing, and the counts are its own or those that it gives."""

from __future__ import annotations

import pytest

from mores.cli.progress import _describe
from mores.engine import SILENT, Counts, Progress
from mores.engine.loop import run
from mores.types import Blame, Failure, FailureKind


def test_what_failed_is_shown_by_whose_fault_it_was() -> None:
    counts = Counts()
    for blame in (Blame.TEXT, None, Blame.MOMENT, Blame.TEXT):
        counts.fail(Failure(kind=FailureKind.MODEL, reason="no", blame=blame) if blame else None)
    assert "3 failed (fault of the text: 2, the moment: 1)" in _describe(counts, None)
    counts.blamed[Blame.MOMENT] -= 1
    assert "2 failed (fault of the text)" in _describe(counts, None)


@pytest.mark.parametrize(
    ("calls", "seconds", "shown"),
    [
        (0, 40, "no calls"),
        (1, 12.3, "1 call (12 s each)"),
        (20, 30, "20 calls (1.5 s each)"),
        (90, 2, "90 calls (45.0/s)"),
    ],
)
def test_a_slow_judge_has_a_time_for_each_call_and_a_fast_one_a_rate(
    calls: int, seconds: float, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counts(calls=calls, started=1000)
    monkeypatch.setattr("mores.cli.progress.time.monotonic", lambda: 1000 + seconds)
    assert _describe(counts, None) == shown


def test_nobody_hears_of_it_but_the_counts_are_there(capfd: pytest.CaptureFixture[str]) -> None:
    progress: Progress = SILENT
    given = Counts()

    async def stages() -> tuple[Counts, Counts]:
        async with progress.stage("a", 2) as new, progress.stage("b", 2, counts=given) as same:
            return new, same

    progress.note("something")
    new, same = run(stages())
    assert same is given
    assert (new is not given, new.done) == (True, 0)
    assert list(progress.track("c", iter("xyz"), 3)) == ["x", "y", "z"]
    assert capfd.readouterr() == ("", "")
