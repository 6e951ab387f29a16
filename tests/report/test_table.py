"""The terminal table: what it shows, in which order, and that no text can steer the terminal."""

from __future__ import annotations

import io
import weakref
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console, RenderableType

from mores.metric.summary import ScoreSummary, summarise
from mores.report.base.grid import Grid
from mores.report.base.text import plain
from mores.report.score import cite, describe_judgements, rank, show_summary
from mores.types import Error, Failure, FailureKind, Judgement, Sample, Severity
from tests.report.samples import PAIRS, Pair, failed, judged, mistake


def printed(view: RenderableType, width: int = 120, *, colour: bool = False) -> str:
    """What a terminal of this width would get."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, color_system="truecolor" if colour else None
    )
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def table(pairs: Iterable[Pair]) -> Grid:
    """The list of texts that the terminal shows."""
    shown = describe_judgements(pairs, "t").printed[0]
    assert isinstance(shown, Grid)
    return shown


def pair_with(text: str, quote: str = "wrong", kind: str = "misrepresentation") -> Pair:
    sample = Sample(id=text, text=quote, language="en", region="GB")
    return judged(sample, mistake(sample, quote, Severity.MINOR, kind, ""))


def scored(name: str, score: float) -> Pair:
    return Sample(id=name, text="a"), Judgement(sample_id=name, judge="people", score=score)


def counted(pairs: Iterable[Pair]) -> ScoreSummary:
    return summarise(judgement for _, judgement in pairs)


def test_summary_of_the_samples() -> None:
    # Scores by hand: -7 -6 -5 -7 -6 -5 0.931 -12 -6 and 0 (no p(R)) over ten judged texts.
    counts = counted(PAIRS)
    assert counts.mean_score == pytest.approx(-5.3069)
    assert counts == ScoreSummary(
        n=12,
        judged=10,
        failed={FailureKind.TRUNCATED: 1, FailureKind.PARSE: 1},
        with_errors=8,
        errors={Severity.MAJOR: 9, Severity.MINOR: 9},
        unlocated=1,
        mean_score=counts.mean_score,
        without_certainty=1,
        signatures=counts.signatures,
    )


def test_nothing_judged_has_no_mean() -> None:
    only_failures = counted([failed(Sample(id="a", text="a"), FailureKind.MODEL, "no answer")])
    assert only_failures.mean_score is None
    assert counted([]).n == 0
    assert "mean" not in "\n".join(show_summary(only_failures))


def test_summary_lines_name_every_count() -> None:
    assert show_summary(counted(PAIRS)) == [
        "not judged: 1 answer was cut off, 1 answer could not be parsed",
        "no certainty p(R) for 1 text without errors",
        "8 with errors (9 major, 9 minor; 1 not found in the text)",
        "12 texts, 10 judged; mean score −5.307",
    ]


def test_weak_verdicts_have_one_line_for_each_reason() -> None:
    notes = ("weak verdict: without evidence it guesses\x1b[2J", "another note")
    weak = [(sample, judgement.model_copy(update={"notes": notes})) for sample, judgement in PAIRS[:1]]
    lines = show_summary(counted([*weak, *PAIRS[1:]]))
    assert [line for line in lines if "weak" in line] == ["1 weak verdict: without evidence it guesses␛[2J"]


def test_tally_keeps_no_judgement() -> None:
    alive: list[weakref.ref[Judgement]] = []

    def stream() -> Iterator[Pair]:
        for i in range(100):
            pair = scored(str(i), -1.0)
            alive.append(weakref.ref(pair[1]))
            yield pair

    assert counted(stream()).n == 100
    assert sum(ref() is not None for ref in alive) <= 1


def test_rows_in_the_order_of_the_input() -> None:
    lines = printed(table(PAIRS), 160).splitlines()
    assert lines[0].split() == ["id", "language", "region", "score", "errors", "first", "error"]
    assert [line.split()[0] for line in lines[2:14]] == [sample.id for sample, _ in PAIRS]
    row = next(line for line in lines if line.startswith("shrine"))
    assert " ".join(row.split()) == ("shrine en JP −7 1 major, 2 minor “clap ten times” incorrect information")
    assert "not judged: the answer was cut off after 1,024 tokens" in printed(table(PAIRS), 160)


def test_a_long_table_shows_the_worst() -> None:
    clean = [scored(f"clean-{i}", 0.5) for i in range(60)]
    unread = [failed(Sample(id="unread", text="a"), FailureKind.MODEL, "no answer")]
    view = table([*clean, *unread, scored("bad", -1.0), scored("worst", -9.0)])
    assert len(view.rows) == 40
    lines = printed(view).splitlines()
    assert [line.split()[0] for line in lines[2:6]] == ["worst", "bad", "unread", "clean-0"]
    assert "the 40 worst of 63 texts" in lines[-1]


def test_rank_puts_what_nobody_judged_between_wrong_and_right() -> None:
    nobody = Judgement(sample_id="x", judge="j", failure=Failure(kind=FailureKind.MODEL, reason="r"))
    wrong, right = scored("a", -1.0)[1], scored("b", 0.01)[1]
    assert rank(wrong) < rank(nobody) < rank(right)


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]8;;http://x\x07link", "␛]8;;http://x␇link"),
        ("\x9b2Jgone", "\N{REPLACEMENT CHARACTER}2Jgone"),
        ("a\u202eb\u2066c\u200ed\u061ce", "abcde"),
        ("two\r\nlines\tand\u2028more", "two lines and more"),
        ("\ud800", "\N{REPLACEMENT CHARACTER}"),
        ("می‌خواهم", "می‌خواهم"),
    ],
)
def test_plain(hostile: str, shown: str) -> None:
    assert plain(hostile) == shown


@given(st.text(min_size=1))
def test_no_text_can_steer_the_terminal(text: str) -> None:
    output = printed(table([pair_with(text, quote=text, kind=text)]))
    assert len(output.splitlines()) <= 3 + cell_len(plain(text)) // 9  # a long id is folded, everything else is cut
    assert not set(output) & (set(map(chr, range(32))) - {"\n"})
    assert not set(output) & set("\x7f\x9b\x1b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def test_markup_is_shown_as_it_is() -> None:
    output = printed(
        table([pair_with("[red]id[/red]", quote="[bold]x[/bold] :smile:", kind="[link=http://x]t[/link]")])
    )
    assert "[red]id[/red]" in output
    assert "“[bold]x[/bold] :smile:”" in output
    assert "[link=http://x]t[/link]" in output


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_script_breaks_the_width(width: int) -> None:
    lines = printed(table(PAIRS), width).splitlines()
    assert len(lines) == 2 + len(PAIRS)
    widths = {cell_len(line) for line in lines}
    assert len(widths) == 1  # padded to the same cell, whatever the script
    assert max(widths) <= width


def test_every_script_starts_in_the_same_column() -> None:
    lines = printed(table(PAIRS), 160).splitlines()
    place = lines[0].index("first error")
    assert {cell_len(line[: line.index("“")]) for line in lines if "“" in line} == {place}


@pytest.mark.parametrize("width", [80, 120])
def test_a_long_text_leaves_the_other_columns_alone(width: int) -> None:
    row = printed(table([pair_with("an-id", quote="x" * 5000)]), width).splitlines()[2]
    assert row.split()[:7] == ["an-id", "en", "GB", "−1", "1", "minor", "“" + row.split("“")[1].strip()]
    assert row.rstrip().endswith("…")


def test_colours_do_not_carry_the_meaning_alone() -> None:
    assert "1 major, 2 minor" in printed(table(PAIRS), 160, colour=True)


def test_the_first_error_shows_what_it_rests_on_also_in_a_narrow_terminal() -> None:
    sample, judgement = pair_with("a", quote="a long quote " * 5)
    assert judgement.report is not None
    first = judgement.report.errors[0].model_copy(update={"evidence": (3, 1, 3)})
    report = judgement.report.model_copy(update={"errors": (first,)})
    for width in (120, 60):
        assert "[3][1] “a long" in printed(table([(sample, judgement.model_copy(update={"report": report}))]), width)
    assert "[" not in printed(table([(sample, judgement)]))


def test_citations() -> None:
    error = Error(side="text", quote="x", severity=Severity.MINOR, type="t")
    assert cite(error) == ""
    assert cite(error.model_copy(update={"evidence": (2, 10, 2)})) == "[2][10]"
