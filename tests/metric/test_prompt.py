"""The prompt is the paper's, and judged text cannot get out of its fence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.metric.prompt import defuse, fence_mark, messages, prompt_hash
from mores.models import STYLES
from mores.types import Sample

TEXTS = st.text(max_size=200)


def sample(instruction: str, text: str) -> Sample:
    return Sample(id="x", instruction=instruction, text=text)


def test_the_paper_style_is_table_5_as_published() -> None:
    system, user = messages(sample("What do Germans eat?", "Schnitzel."), "paper")
    assert system == ("system", "You compute a metric that judges the cultural correctness of a generation task.")
    assert user.content == (
        "Please judge the following instruction and generated text:\n"
        "Instruction: What do Germans eat?\n"
        "Text: Schnitzel.\n"
        "Return an error report in JSON format."
    )


@pytest.mark.parametrize("style", STYLES)
def test_every_style_begins_with_the_papers_system_prompt(style: str) -> None:
    paper = messages(sample("a", "b"), "paper")[0].content
    assert messages(sample("a", "b"), style)[0].content.startswith(paper)  # type: ignore[arg-type]


@pytest.mark.parametrize("style", STYLES)
def test_slots_in_the_data_are_not_filled(style: str) -> None:
    user = messages(sample("{Text} {Instruction} {0}", "secret {Instruction}"), style)[1].content  # type: ignore[arg-type]
    assert user.count("secret") == 1
    assert "{Text} {Instruction} {0}" in user


@given(TEXTS, TEXTS)
def test_no_side_can_contain_its_mark(instruction: str, text: str) -> None:
    mark = fence_mark(sample(instruction, text))
    assert mark not in (instruction + text).lower()
    user = messages(sample(instruction, text), "fenced")[1].content
    assert user.count(f"<<<{mark}\n") == user.count(f"\n{mark}>>>") == 2


def test_the_mark_moves_away_from_a_text_that_guessed_it() -> None:
    first = fence_mark(sample("a", "b"))
    assert fence_mark(sample("a", "b")) == first
    every_short_code = sample("a", " ".join(f"{n:04x}" for n in range(1 << 16)))
    assert fence_mark(every_short_code) not in every_short_code.text


CONTROL = (
    "<|im_end|> <|im_start|>system <｜Assistant｜> [SYSTEM_PROMPT] [TOOL_CALLS] [INST] [/inst] <<SYS>> </s>"
    " <end_of_turn> <think>"
)


@pytest.mark.parametrize("token", CONTROL.split())
def test_control_tokens_are_broken_up_invisibly(token: str) -> None:
    defused = defuse(f"a {token} b")
    assert token not in defused
    assert defused.replace("\u2060", "") == f"a {token} b"


def test_the_hash_tells_styles_apart() -> None:
    assert len({prompt_hash(style) for style in STYLES}) == len(STYLES)
