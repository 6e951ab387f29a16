"""The leaderboard: ranks, paired tests, what is refused, and how ranks shift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mores.benchmark import board
from mores.benchmark.benchmark import Label, Verdict
from mores.benchmark.board import Board, BoardEntry, make_board, rank_runs, read_runs
from mores.benchmark.score import BenchResult, credit_of, tally
from mores.errors import ConfigError, InputError
from mores.report.bench import board_tables
from mores.stats.results import share_result
from mores.types import Failure, FailureKind, Result, Signature
from tests.runs import write_manifest


def result(
    model: str,
    value: float | None,
    bench: str = "b",
    *,
    figure: str = "accuracy",
    variant: str | None = None,
    **changes: str,
) -> BenchResult:
    fields = {"task": f"{bench}.1", "data": "d.4", "model": model, "decoding": "t0", "judge": "rule"} | changes
    return BenchResult(
        benchmark=bench, title=f"Benchmark {bench}", model=model, judge=None, variant=variant,
        signature=Signature(fields), questions=4, samples=1,
        figures={figure: Result(name=figure, value=value, low=0.0, high=1.0, n=4)}, by={}, references={"random": 0.25},
    )  # fmt: skip


def entry(model: str, credit: list[float], bench: str = "b", **changes: str) -> BoardEntry:
    value = sum(credit) / len(credit) if credit else None
    return BoardEntry(
        f"{bench}/{model}", result(model, value, bench, **changes), {f"q{i}": c for i, c in enumerate(credit)}
    )


def verdict(unit: str, label: Label | None, sample: int = 0, part: int = 0) -> Verdict:
    failure = None if label else Failure(kind=FailureKind.PARSE, reason="unread")
    return Verdict(item_id=f"{unit}.{part}", unit=unit, sample=sample, label=label, failure=failure)


# ---- credit ----------------------------------------------------------------------------------------------------


def test_a_question_has_credit_when_all_its_parts_are_right() -> None:
    yes, no, unread, skipped = Label.CORRECT, Label.INCORRECT, None, Label.NOT_ATTEMPTED
    questions = {"a": (yes, yes), "b": (yes, no), "c": (yes, unread), "d": (no, unread), "e": (yes, skipped)}
    verdicts = [verdict(unit, label, part=i) for unit, labels in questions.items() for i, label in enumerate(labels)]
    assert credit_of(tally(verdicts)) == {"a": 1.0, "b": 0.0, "e": 0.0}


def test_credit_is_the_share_of_right_samples_among_those_with_a_score() -> None:
    labels = (Label.CORRECT, Label.INCORRECT, Label.CORRECT, None)
    assert credit_of(tally(verdict("a", label, sample=i) for i, label in enumerate(labels))) == {"a": 2 / 3}


def test_what_the_judge_failed_to_grade_has_the_credit_that_the_run_gives_it() -> None:
    failed = Verdict(
        item_id="b.0", unit="b", answer="said", failure=Failure(kind=FailureKind.PARSE, reason="no verdict")
    )
    verdicts = [verdict("a", Label.CORRECT), failed]
    assert credit_of(tally(verdicts)) == {"a": 1.0}
    assert credit_of(tally(verdicts, Label.INCORRECT)) == {"a": 1.0, "b": 0.0}


# ---- tables ----------------------------------------------------------------------------------------------------


def test_ranks_and_tests_against_the_best_and_the_next() -> None:
    """Exact by hand: 8 questions, all 256 swaps; `a` beats `c` on all 8 (p = 2/256), `b` on 4 of 8 (p = 2/16)."""
    board = make_board([entry("c", [0.0] * 8), entry("a", [1.0] * 8), entry("b", [1.0] * 4 + [0.0] * 4)])
    [leaderboard] = board.leaderboards
    assert [(standing.rank, standing.model) for standing in leaderboard.standings] == [(1, "a"), (2, "b"), (3, "c")]
    first, second, third = leaderboard.standings
    assert first.best is None
    assert first.next is not None
    assert (first.next.against, first.next.difference, first.next.p, first.next.n) == ("b", 0.5, 0.125, 8)
    assert second.best is not None
    assert (second.best.against, second.best.difference, second.best.p) == ("a", -0.5, 0.125)
    assert third.best is not None
    assert third.best.p == 2 / 256
    assert third.best.adjusted == pytest.approx(3 * 2 / 256)
    assert first.next.adjusted == pytest.approx(0.125)  # 0.125 · 3 / 3
    assert third.next is None
    assert board.shift is None


def test_the_headline_carries_what_is_missing() -> None:
    whole, part = entry("a", [1.0, 0.0]), entry("a", [1.0, 0.0])
    missing = {"unscored": 2, "bounds": (0.25, 0.75), "whole": (0.05, 0.95)}
    figures = {"accuracy": part.result.figures["accuracy"].model_copy(update=missing)}
    part = replace(part, result=part.result.model_copy(update={"figures": figures}))
    headlines = [board_tables(make_board([each]))[-1] for each in (whole, part)]
    assert headlines[0] == "Benchmark b: a is first with 50.0%"
    said = "(5.0–95.0% whatever the unscored are; 0.0–100.0% if they are like the others)"
    assert headlines[1] == f"{headlines[0]} {said}"


def test_only_shared_questions_are_compared() -> None:
    first, second = entry("a", [1.0, 1.0, 1.0]), entry("b", [0.0])
    gap = make_board([first, second]).leaderboards[0].standings[0].next
    assert gap is not None
    assert (gap.n, gap.difference) == (1, 1.0)
    nobody = BoardEntry("x", result("b", 0.1), {"other": 0.0})
    assert make_board([first, nobody]).leaderboards[0].standings[0].next is None


def test_equal_values_share_a_rank_and_none_has_none() -> None:
    entries = [entry("b", [1.0, 0.0]), entry("a", [0.0, 1.0]), entry("c", []), entry("d", [0.0, 0.0])]
    [leaderboard] = make_board(entries).leaderboards
    assert [(standing.rank, standing.model) for standing in leaderboard.standings] == [
        (1, "a"),
        (1, "b"),
        (3, "d"),
        (None, "c"),
    ]


def test_two_runs_of_one_model_are_told_apart_by_their_folders() -> None:
    first, second = entry("m", [1.0]), entry("m", [0.0], decoding="t1")
    second = BoardEntry("elsewhere", second.result, second.credit)
    names = [standing.model for standing in make_board([first, second]).leaderboards[0].standings]
    assert names == ["m (b/m)", "m (elsewhere)"]


@pytest.mark.parametrize(("field", "text"), [("data", "other.9"), ("task", "b.2")])
def test_other_tasks_and_data_are_refused_unless_forced(field: str, text: str) -> None:
    entries = [entry("m", [1.0, 1.0]), entry("n", [0.0, 1.0], **{field: text})]
    with pytest.raises(ConfigError, match=rf"b: {field} is .* in b/m and {text} in b/n.*or force it"):
        make_board(entries)
    [leaderboard] = make_board(entries, force=True).leaderboards
    assert text in leaderboard.notes[0]


def test_another_judge_is_a_note() -> None:
    [leaderboard] = make_board([entry("m", [1.0]), entry("n", [0.0], judge="x.1")]).leaderboards
    assert [note.split(" is ")[0] for note in leaderboard.notes] == ["b: judge"]


def test_a_test_of_credit_says_so_where_the_figure_is_another() -> None:
    [leaderboard] = make_board([entry("m", [1.0], figure="f")]).leaderboards
    assert leaderboard.notes == ("ranks are by f, p compares the shares of correct answers",)


def test_variants_have_tables_of_their_own() -> None:
    entries = [entry("m", [1.0]), entry("m", [0.0], task="b.1.english", variant="english")]
    assert [each.result.name for each in entries] == ["b", "b.english"]
    assert [leaderboard.benchmark for leaderboard in make_board(entries).leaderboards] == ["b", "b.english"]


# ---- ranks -----------------------------------------------------------------------------------------------------


def ranks(values: dict[str, dict[str, float]]) -> Board:
    return make_board([entry(model, [v], bench) for bench, ranks_of in values.items() for model, v in ranks_of.items()])


def test_ranks_shift_among_the_shared_models() -> None:
    """`z` is only in x, so that the ranks there are among the others."""
    shift = ranks({"x": {"a": 0.3, "b": 0.6, "z": 0.9}, "y": {"a": 0.8, "b": 0.2}}).shift
    assert shift is not None
    assert shift.benchmarks == ("x", "y")
    assert shift.ranks == {"b": (1, 2), "a": (2, 1)}
    assert shift.left_out == ("z",)


def test_a_benchmark_with_one_model_does_not_hide_the_others() -> None:
    shift = ranks({"w": {"q": 0.5}, "x": {"a": 0.3, "b": 0.6}, "y": {"a": 0.8, "b": 0.2}}).shift
    assert shift is not None
    assert shift.benchmarks == ("x", "y")
    assert shift.left_out == ("w", "q")
    assert ranks({"x": {"a": 0.3}, "y": {"b": 0.8}}).shift is None


# ---- files -----------------------------------------------------------------------------------------------------


def put(folder: Path, result: BenchResult, verdicts: list[Verdict]) -> None:
    write_manifest(folder)
    (folder / "result.json").write_text(result.model_dump_json())
    (folder / "verdicts.jsonl").write_text("".join(verdict.model_dump_json() + "\n" for verdict in verdicts))


def test_runs_are_found_once(tmp_path: Path) -> None:
    put(tmp_path / "bench" / "b" / "m", result("m", 1.0), [verdict("q", Label.CORRECT)])
    runs = read_runs([tmp_path / "bench", tmp_path / "bench" / "b" / "m"])
    assert [(run.result.model, run.credit) for run in runs] == [("m", {"q": 1.0})]


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no run of mores bench in it; give a folder with a run.json"):
        read_runs([tmp_path])
    write_manifest(tmp_path)
    with pytest.raises(InputError, match=r"no run of a benchmark in it has a result; give a folder of mores bench"):
        read_runs([tmp_path])
    (tmp_path / "result.json").write_text(result("m", 1.0).model_dump_json())
    with pytest.raises(InputError, match=r"the run has no verdicts.jsonl; it is complete: run it again"):
        read_runs([tmp_path])
    (tmp_path / "verdicts.jsonl").touch()
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(InputError, match=r"result.json: benchmark: Field required; run it again"):
        read_runs([tmp_path])


# ---- missing scores --------------------------------------------------------------------------------------------


def graded(folder: str, labels: Mapping[str, Label | None]) -> BoardEntry:
    """A run whose figures and credit come from verdicts, as those of a folder do."""
    verdicts = [verdict(unit, label) for unit, label in labels.items()]
    tallies = tally(verdicts)
    scored = [hits for hits, n, _ in tallies.values() if n]
    headline = share_result("accuracy", int(sum(scored)), len(scored), len(labels) - len(scored))
    missing = {unit: 1.0 for unit, (_, n, _) in tallies.items() if not n}
    run = result(folder, headline.value).model_copy(update={"figures": {"accuracy": headline}})
    return BoardEntry(folder, run, credit_of(tallies), missing=missing)


def test_the_same_answers_with_a_judge_that_fails_on_wrong_ones_are_not_above() -> None:
    labels = {f"q{i}": Label.CORRECT if i % 2 else Label.INCORRECT for i in range(100)}
    failed = labels | {f"q{i}": None for i in range(0, 80, 2)}
    board = make_board(
        [graded("whole", labels), graded("failing", failed), graded("bad", dict.fromkeys(labels, Label.INCORRECT))]
    )
    [leaderboard] = board.leaderboards
    assert [(each.rank, each.model) for each in leaderboard.standings] == [(1, "whole"), (1, "failing"), (3, "bad")]
    assert leaderboard.standings[1].result.value == pytest.approx(50 / 60)
    gap = leaderboard.standings[1].best
    assert gap is not None
    assert gap.whole is not None
    assert gap.whole[0] < 0 < 0.4 < gap.whole[1]
    assert "share a rank" in " ".join(leaderboard.notes)


def test_a_model_that_is_better_whatever_is_missing_is_above() -> None:
    good = {f"q{i}": Label.CORRECT if i % 10 else None for i in range(100)}
    bad = dict.fromkeys(good, Label.INCORRECT)
    [leaderboard] = make_board([graded("bad", bad), graded("good", good)]).leaderboards
    assert [(each.rank, each.model) for each in leaderboard.standings] == [(1, "good"), (2, "bad")]


def test_boards_without_missing_scores_have_no_interval_of_what_is_missing() -> None:
    [leaderboard] = make_board([entry("a", [1.0] * 8), entry("b", [0.0] * 8)]).leaderboards
    assert "whole" not in leaderboard.model_dump_json()
    assert not leaderboard.notes


# ---- what is kept ----------------------------------------------------------------------------------------------


def write_run(folder: Path, model: str, labels: str) -> None:
    """Write a run in which a question is correct for each `c`, incorrect for each `i`, and not graded for each `-`."""
    words = {"c": Label.CORRECT, "i": Label.INCORRECT, "-": None}
    folder.mkdir(parents=True)
    write_manifest(folder, "bench")
    graded = labels.replace("-", "")
    (folder / "result.json").write_text(result(model, graded.count("c") / len(graded)).model_dump_json())
    rows = (verdict(f"q{i:03}", words[letter]).model_dump_json() + "\n" for i, letter in enumerate(labels))
    (folder / "verdicts.jsonl").write_text("".join(rows))


def test_a_kept_board_is_the_same_and_other_verdicts_make_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, labels in {"a": "cccciccc-c" * 3, "b": "ciciiccici" * 3, "c": "iiiicic--i" * 3}.items():
        write_run(tmp_path / name, name, labels)
    fresh = make_board(read_runs([tmp_path]))
    monkeypatch.setattr(board, "WORTH_KEEPING", 1)
    for _ in range(2):
        ranking, runs = rank_runs([tmp_path])
        assert ranking == fresh
        assert [run.result.model for run in runs] == ["a", "b", "c"]
    monkeypatch.setattr(board, "make_board", None)
    assert rank_runs([tmp_path])[0] == fresh
    monkeypatch.undo()
    path = tmp_path / "c" / "verdicts.jsonl"
    path.write_text(path.read_text().replace("incorrect", "correct"))
    assert rank_runs([tmp_path])[0] != fresh


@pytest.mark.parametrize("line", ['{"item_id": "x"}', "[]", '{"item_id": "x", "unit": "x", "label": "good"}', "{"])
def test_a_line_that_is_no_verdict_is_named(tmp_path: Path, line: str) -> None:
    write_run(tmp_path / "a", "a", "cic")
    path = tmp_path / "a" / "verdicts.jsonl"
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match=r"verdicts\.jsonl:4: "):
        read_runs([tmp_path])


def test_lines_that_others_wrote_count_as_ours_do(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "a", "cic")
    path = tmp_path / "a" / "verdicts.jsonl"
    before = read_runs([tmp_path])[0].credit
    short = '{"item_id": "q003", "unit": "q003", "label": "correct"}'
    path.write_text(path.read_text().replace("\n", "\n\n") + short)
    assert read_runs([tmp_path])[0].credit == {**before, "q003": 1.0}
