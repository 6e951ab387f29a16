"""Every form in which a number is shown, worked out by hand."""

from __future__ import annotations

from functools import partial

import pytest

from mores import formatting
from mores.types import FailureKind, Result

NAN, INF = float("nan"), float("inf")
SHARE = Result(name="accuracy", value=0.41, low=0.3821, high=0.4389, n=50)
CHANGE = Result(name="gain", value=0.04, low=-0.01, high=0.0904, n=50)
UNKNOWN = Result(name="accuracy", value=None, bounds=(0.1, 0.9), unscored=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (formatting.number(0.591), "0.59"),
        (formatting.number(-0.125), "−0.12"),
        (formatting.number(-0.001), "0.00"),
        (formatting.number(0.0004, 3, signed=True), "0.000"),
        (formatting.number(0.5, 3, signed=True), "+0.500"),
        (formatting.number(-0.5, 1, signed=True), "−0.5"),
        (formatting.number(None), "–"),
        (formatting.number(NAN), "–"),
        (formatting.percent(0.5), "50.0%"),
        (formatting.percent(-0.012), "−1.2%"),
        (formatting.percent(-0.0001), "0.0%"),
        (formatting.percent(0.256, 0, signed=True), "+26%"),
        (formatting.percent(None), "–"),
        (formatting.percent(INF), "–"),
        (formatting.points(0.123), "+12.3"),
        (formatting.points(-0.05), "−5.0"),
        (formatting.points(0.0001), "0.0"),
        (formatting.points(None), "–"),
        (formatting.show_score(-6.0), "−6"),
        (formatting.show_score(0.9314), "0.931"),
        (formatting.show_score(1.0), "1.000"),
        (formatting.show_score(0.0), "0"),
        (formatting.show_score(-2.5), "−2.500"),
        (formatting.p_value(0.0312), "0.031"),
        (formatting.p_value(0.0009), "<0.001"),
        (formatting.p_value(None), "–"),
        (formatting.p_equals(0.0312), "p = 0.031"),
        (formatting.p_equals(0.0), "p < 0.001"),
        (formatting.money(1234.5), "$1,234.50"),
        (formatting.money(0.00012, 4), "$0.0001"),
        (formatting.duration(1234.4), "1,234 s"),
        (formatting.duration(3.14159, 1), "3.1 s"),
        (formatting.megabytes(88_000_000), "88 MB"),
        (formatting.megabytes(1_520_000_000, 1), "1,520.0 MB"),
    ],
)
def test_single_values(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (formatting.span(-0.1, 0.25), "[−0.10, 0.25]"),
        (formatting.span(0.1, 0.25, 3, signed=True), "[+0.100, +0.250]"),
        (formatting.span(None, 0.25), ""),
        (formatting.span(0.1, INF), ""),
        (formatting.to(-0.01, 0.09), "−1.0 to +9.0"),
        (formatting.to(0.1, 0.2, formatting.percent), "10.0% to 20.0%"),
        (formatting.to(-1, 2, partial(formatting.number, digits=0)), "−1 to 2"),
        (formatting.to(None, 0.2), ""),
        (formatting.shares(0.1, 0.25, 0), "10–25%"),
        (formatting.between(SHARE), "38.2–43.9%"),
        (formatting.between(UNKNOWN), ""),
        (formatting.between(None), ""),
        (formatting.possible(UNKNOWN), "10.0–90.0% whatever the unscored are"),
        (formatting.possible(SHARE), ""),
        (formatting.full_share(SHARE), "41.0% (95% interval 38.2% to 43.9%)"),
        (formatting.full_share(UNKNOWN), "unknown"),
        (formatting.full_points(CHANGE), "+4.0 percentage points (95% interval −1.0 to +9.0)"),
        (formatting.full_points(UNKNOWN), "unknown"),
    ],
)
def test_intervals(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (formatting.count(1234), "1,234"),
        (formatting.count(1, "answer"), "1 answer"),
        (formatting.count(0, "answer"), "0 answers"),
        (formatting.count(1500, "answer"), "1,500 answers"),
        (formatting.left_out(3), "✕3"),
        (formatting.left_out(0), ""),
        (formatting.show_failures({FailureKind.PARSE: 15, "model": 1, "missing": 0}),
         "15 answers could not be parsed, 1 request was refused or not answered"),
        (formatting.name_failure("parse"), "the answer could not be parsed"),
        (formatting.name_failure("lost"), "the answer without a result (lost)"),
    ],
)  # fmt: skip
def test_counts(text: str, expected: str) -> None:
    assert text == expected


def test_code_in_a_message() -> None:
    assert formatting.show_code("see `mores pull <NAME>` & `x`") == (
        "see <code>mores pull &lt;NAME&gt;</code> &amp; <code>x</code>"
    )
    assert formatting.show_code("it`s <b>") == "it`s &lt;b&gt;"


def test_the_first_problems_and_how_many_more() -> None:
    assert formatting.first_problems(["a", "b"]) == "\n  a\n  b"
    assert formatting.first_problems(list("abc"), 2) == "\n  a\n  b\n  and 1 more"
    assert formatting.first_problems(["a"], 5, total=2_000) == "\n  a\n  and 1,999 more"
