"""What a notebook shows of records and runs; their words are escaped."""

from __future__ import annotations

from pathlib import Path

from mores.benchmark.board import make_board, read_runs
from mores.benchmark.folder import open_bench_run
from mores.report.score import judgement_html as as_html
from mores.run import open_run
from mores.types import Error, ErrorReport, Failure, FailureKind, Judgement, Sample, Severity
from tests.benchmark.test_board import put, result
from tests.runs import write_manifest


def judged(text: str, *errors: Error) -> Judgement:
    score = float(sum(error.severity.weight for error in errors)) or 0.9
    return Judgement.of(Sample(id="<a>", text=text), judge="j", score=score, report=ErrorReport(errors=errors))


def test_errors_are_marked_in_the_text() -> None:
    wrong = Error(side="text", start=3, end=8, quote="sushi", severity=Severity.MAJOR, type="<b>", correction="rice")
    shown = judged("At sushi & <i>", wrong)._repr_html_()
    assert "At <mark>sushi</mark><sup>1</sup> &amp; &lt;i&gt;" in shown
    assert "&lt;a&gt;</bdi>: score <strong>−5</strong>, 1 major" in shown
    assert "&lt;b&gt;" in shown
    assert "Correct: <bdi>rice</bdi>" in shown
    assert "Generate a culturally correct text" not in shown  # nobody gave an instruction
    assert "no errors" in judged("Fine.")._repr_html_()


def test_judgements_without_text_or_score_are_shown() -> None:
    lost = Error(side="text", quote="\ud800", severity=Severity.MINOR, type="t")
    bare = Judgement(sample_id="a", judge="j", score=-1.0, report=ErrorReport(errors=(lost,)))
    assert "1 minor" in as_html(bare)
    assert "<blockquote" not in as_html(bare)
    as_html(bare).encode()  # a lone surrogate cannot be sent to a browser
    failed = Judgement(sample_id="a", judge="j", failure=Failure(kind=FailureKind.MODEL, reason="<no>"))
    assert "&lt;no&gt;" in as_html(failed)


def test_runs_results_and_boards_are_tables(tmp_path: Path) -> None:
    put(tmp_path / "x", result("<m>", 0.5, "x"), [])
    run = open_bench_run(tmp_path / "x")
    for shown in (run._repr_html_(), run.result._repr_html_(), make_board(read_runs([tmp_path]))._repr_html_()):
        assert "<table>" in shown
        assert "&lt;m&gt;" in shown
        assert "50.0%" in shown
    assert "bench x, complete" in run._repr_html_()


def test_a_run_without_a_result_is_shown_by_its_status(tmp_path: Path) -> None:
    shown = open_run(write_manifest(tmp_path / "r"))._repr_html_()
    assert "bench x, complete" in shown
    assert "<table>" not in shown
