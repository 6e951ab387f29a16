"""A report in parts: whatever the model writes, what comes out is a report that the grammar allows."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mores.metric.parts import report_parts
from mores.metric.quotes import report_grammar
from mores.metric.schema import report_schema
from mores.models.base import AnswerPart, Explanations
from mores.models.embedded import EXPLANATIONS
from mores.training.pair_samples import contradiction
from mores.types import Evidence, Sample
from tests.metric.test_quotes import TEXT, allows, sampled, wander


def write(
    sample: Sample, most: int, answer: Callable[[AnswerPart], str], explanations: Explanations | None = None
) -> tuple[str, list[str]]:
    """The report, and what was given of it before each part."""
    grammar = grammar_of(sample, most)
    parts, text, given = report_parts(grammar, sample, most, explanations)(), "", []
    try:
        part = next(parts)
        while True:
            given.append(part.given)
            written = answer(part)
            text += part.given + written
            part = parts.send(written)
    except StopIteration as end:
        return text + end.value, given


def grammar_of(sample: Sample, most: int) -> str:
    grammar = report_grammar(report_schema(most, longest=400, evidence=len(sample.evidence)), sample)
    assert grammar is not None
    return grammar


@pytest.mark.slow
@example("No\u2028tea\x85.", "Do it.", ["Tea\u2029is fine."], 1, EXPLANATIONS, 1)
@given(TEXT, TEXT, st.lists(TEXT, max_size=2), st.integers(1, 3), st.sampled_from([None, EXPLANATIONS]), st.integers())
def test_a_report_in_parts_is_one_of_the_grammar(
    text: str, instruction: str, passages: list[str], most: int, explanations: Explanations | None, seed: int
) -> None:
    evidence = tuple(Evidence(text=passage) for passage in passages)
    sample, dice = sampled(text, instruction).model_copy(update={"evidence": evidence}), Random(seed)

    def answer(part: AnswerPart) -> str:
        """As much as fits the part; of a single token, perhaps only the beginning."""
        written = wander(part.grammar, dice.randrange(2**32))
        return written[: dice.randint(1, len(written))] if part.most == 1 else written

    report, _ = write(sample, most, answer, explanations)
    assert allows(grammar_of(sample, most), report), report


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
    left = iter(answers)
    report, given = write(sample, 1, lambda _: next(left))
    assert given == expected
    assert allows(grammar_of(sample, 1), report)


PASSAGES = ("It rains. Guests get mint tea, always.", "“”")
ERROR = ["{", "text", 'green tea","', "major"]


@pytest.mark.parametrize(
    ("passages", "answers", "explanation"),
    [
        ((), ["incorrect a"], EXPLANATIONS.uncited.format(quote="green tea")),
        (PASSAGES, ["incorrect a", "]"], EXPLANATIONS.uncited.format(quote="green tea")),
        (PASSAGES, ["incorrect a", "1", "mint tea”,"], "The answer should be “mint tea”, not “green tea”."),
        (PASSAGES, ["misrepresented", "1", "always”"], "“green tea” reverses the norm; “always” is correct."),
        (
            PASSAGES,
            ["contra"],
            "“green tea” does not agree with the evidence: “Guests get mint tea, always.”",
        ),
    ],
)
def test_an_explanation_quotes_the_text_and_its_evidence(
    passages: tuple[str, ...], answers: list[str], explanation: str
) -> None:
    """What a passage without words says cannot be cited, and what compares a passage cites one."""
    evidence = tuple(Evidence(text=passage) for passage in passages)
    sample = sampled("Guests get green tea.").model_copy(update={"evidence": evidence})
    left = iter([*ERROR, *answers])
    report, _ = write(sample, 1, lambda _: next(left), EXPLANATIONS)
    [error] = json.loads(report)["errors"]
    assert error["explanation"] == explanation
    assert error.get("evidence", []) == ([] if "no evidence" in explanation else [1])
    assert list(left) == []


def test_without_evidence_nothing_contradicts_it() -> None:
    sample = sampled("Guests get green tea.")
    answers, asked = iter([*ERROR, "incorrect i"]), list[AnswerPart]()

    def answer(part: AnswerPart) -> str:
        asked.append(part)
        return next(answers)

    write(sample, 1, answer, EXPLANATIONS)
    assert not allows(asked[-1].grammar, "contradicts the evidence")
    assert allows(asked[-1].grammar, "stereotyping")


def test_after_an_error_there_may_be_another() -> None:
    sample = sampled("No tea, no milk.")
    answers = iter(["{", "text", 'tea","', "minor", "misrepresentat", ",", "text", 'milk","', "major", "stereo", "]"])
    report, given = write(sample, 3, lambda _: next(answers), EXPLANATIONS)
    assert [error["quote"] for error in json.loads(report)["errors"]] == ["tea", "milk"]
    assert given[5].endswith('“tea” does not seem to fit here; no evidence says what would."}')
    assert given[6] == '{"side":"'
    assert allows(grammar_of(sample, 3), report)


def test_an_error_is_explained_as_in_the_training_data() -> None:
    sample = Sample(id="s", instruction="Do it.", text="Guests get green tea.", evidence=(Evidence(text=PASSAGES[0]),))
    taught = contradiction(sample, [0])
    answers = iter(["{", "text", taught.quote + '","', "major", "contra"])
    report, _ = write(sample, 1, lambda _: next(answers), EXPLANATIONS)
    assert json.loads(report)["errors"][0]["explanation"] == taught.explanation


def test_a_sample_without_words_has_a_report_that_nobody_writes() -> None:
    assert write(sampled(" ", " "), 1, lambda _: "x") == ('{"errors":[]}', [])
