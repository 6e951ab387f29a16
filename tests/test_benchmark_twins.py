"""The measure of near twins: against the plain definition, and on a dataset with a known pair."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.factory.facts import CorrectFact

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "twins.py"))
WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


def subsequences(words: Sequence[str]) -> set[tuple[str, ...]]:
    if not words:
        return {()}
    rest = subsequences(words[1:])
    return rest | {(words[0], *others) for others in rest}


@given(WORDS, WORDS)
def test_the_longest_common_subsequence(first: list[str], second: list[str]) -> None:
    longest = max(map(len, subsequences(first) & subsequences(second)))
    assert SCRIPT["common_length"](first, second) == longest


def test_a_twin_in_training_is_counted_and_one_in_the_same_split_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [
        ("train", "In Peru people eat twelve grapes at the New Year."),
        ("test", "In Peru people eat twelve green grapes at New Year."),  # 9 of 10 and 10 words in the same order
        ("test", "Soup of red peas is cooked in Jamaica."),
        ("test", "Soup of red beans is cooked in Jamaica."),
        ("train", "Jamaica in cooked is beans red of soup."),  # the same words in another order
    ]
    rows = [
        CorrectFact(id=f"made/{n}", source=f"made/{n}", group=str(n), text=text, split=split)
        for n, (split, text) in enumerate(texts)
    ]
    (tmp_path / "facts.jsonl").write_text("".join(row.model_dump_json() + "\n" for row in rows), "utf-8")
    table = measured(tmp_path, monkeypatch, capsys)
    assert table["near"][:5] == ["twins", "tested", "words", "0.8", "one"]
    assert table["made"] == table["all"]
    assert (table["all"][0], table["all"][1], table["all"][3]) == ("3", "1", "1")


def measured(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> dict[str, list[str]]:
    monkeypatch.setattr(sys, "argv", ["twins.py", str(folder)])
    SCRIPT["main"]()
    return {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
