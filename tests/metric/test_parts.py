"""A report in parts: whatever the model writes, what comes out is a report that the grammar allows."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.metric.parts import report_parts
from mores.metric.quotes import report_grammar
from mores.metric.schema import report_schema
from mores.models.base import Part
from mores.models.embedded import UNSUPPORTED
from mores.types import Sample
from tests.metric.test_quotes import TEXT, allows, sampled, wander


def write(sample: Sample, grammar: str, answer: Callable[[Part], str]) -> tuple[str, list[str]]:
    """The report, and what was given of it before each part."""
    parts, text, given = report_parts(grammar, sample)(), "", []
    try:
        part = next(parts)
        while True:
            given.append(part.given)
            written = answer(part)
            text += part.given + written
            part = parts.send(written)
    except StopIteration as end:
        return text + end.value, given


@given(TEXT, TEXT, st.integers(0, 2), st.integers(1, 3), st.booleans(), st.integers())
def test_a_report_in_parts_is_one_of_the_grammar(
    text: str, instruction: str, evidence: int, most: int, careful: bool, seed: int
) -> None:
    sample, dice = sampled(text, instruction, evidence), Random(seed)
    schema = report_schema(most, longest=400, evidence=evidence)
    grammar = report_grammar(schema, sample, UNSUPPORTED if careful else "")
    assert grammar is not None

    def answer(part: Part) -> str:
        """As much as fits the part; of a single token, perhaps only the beginning."""
        written = wander(part.grammar, dice.randrange(2**32))
        return written[: dice.randint(1, len(written))] if part.most == 1 else written

    report, _ = write(sample, grammar, answer)
    assert allows(grammar, report), report


@pytest.mark.parametrize(
    ("instruction", "answers", "expected"),
    [
        ("Do it.", ["]}"], ['{"errors":[']),
        (
            "Do it.",
            ['{"', "text", 'tea","', "major", 'custom","explanation":"No."}]}'],
            ['{"errors":[', 'side":"', '","quote":"', 'severity":"', '","type":"'],
        ),
        (
            "",
            ["{", 'tea","', "m", "i", 'custom","explanation":"No."}]}'],
            ['{"errors":[', '"side":"text","quote":"', 'severity":"', "", 'nor","type":"'],
        ),
    ],
)
def test_the_model_is_asked_only_for_what_it_decides(instruction: str, answers: list[str], expected: list[str]) -> None:
    sample = sampled("No tea.", instruction)
    grammar = report_grammar(report_schema(1), sample)
    assert grammar is not None
    left = iter(answers)
    report, given = write(sample, grammar, lambda _: next(left))
    assert given == expected
    assert allows(grammar, report)


def test_a_sample_without_words_has_a_report_that_nobody_writes() -> None:
    sample = sampled(" ", " ")
    assert write(sample, report_grammar(report_schema(1), sample) or "", lambda _: "x") == ('{"errors":[]}', [])
