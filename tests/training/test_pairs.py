"""Claims with passages, as they are read from files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mores.errors import InputError
from mores.training.pairs import group, name_of, read_pairs, read_sentences
from tests.training.pairs import pair


def test_two_passages_that_contradict_each_other_give_each_claim_both_labels(tmp_path: Path) -> None:
    line = {
        "id": "7", "passages": ["Two cats sleep on a wall.", "Two cats fight on a wall."], "language": "en",
        "claims": ["The animals are resting.", "The cats are not at peace."], "undecided": ["The cats are grey."],
        "source": "made-up",
    }  # fmt: skip
    (tmp_path / "en.contrasts.jsonl").write_text(json.dumps(line) + "\n")
    pairs = read_pairs(tmp_path)
    asleep, fight = line["passages"]
    assert {(pair.claim, pair.evidence[0]): pair.label for pair in pairs[:4]} == {
        ("The animals are resting.", asleep): "supported",
        ("The cats are not at peace.", asleep): "refuted",
        ("The animals are resting.", fight): "refuted",
        ("The cats are not at peace.", fight): "supported",
    }
    assert [(pair.claim, pair.label, pair.evidence[0] in line["passages"]) for pair in pairs[4:]] == [
        ("The cats are grey.", "unknown", True)
    ]
    assert len(set(map(name_of, pairs))) == 5
    assert set(group(pairs).values()) == {"made-up/7-00"}, "what shares a claim or a passage is never parted"
    (tmp_path / "en.contrasts.jsonl").write_text(json.dumps(line | {"claims": ["One."]}) + "\n")
    with pytest.raises(InputError, match=r"en\.contrasts\.jsonl:1: claims.*expected a Contrast"):
        read_pairs(tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"claims": ["It rains.", ""]}, r"claims\.1: String should have at least 1 character"),
        ({"claims": ["It rains.", "It rains."]}, "the two claims, are the same"),
        ({"passages": ["It rains.", "It rains."]}, "the two passages, or the two claims, are the same"),
    ],
)
def test_a_contrast_without_one_is_named_with_file_and_line(tmp_path: Path, change: Any, problem: str) -> None:
    line = {
        "id": "1",
        "passages": ["Wet.", "Dry."],
        "claims": ["It rains.", "No rain."],
        "language": "en",
        "source": "x",
    }
    (tmp_path / "en.contrasts.jsonl").write_text(json.dumps(line | change) + "\n")
    with pytest.raises(InputError, match=rf"en\.contrasts\.jsonl:1: .*{problem}"):
        read_pairs(tmp_path)


def test_pairs_with_a_common_claim_or_passage_are_one_group() -> None:
    first, second, third, other = pair(1), pair(2, claim=pair(1).claim), pair(3, evidence=pair(2).evidence), pair(4)
    groups = group([first, second, third, other])
    assert len({groups[name_of(member)] for member in (first, second, third)}) == 1
    assert groups[name_of(other)] == name_of(other)


def test_sentences_become_claims_in_their_language(tmp_path: Path) -> None:
    lines = [f"Sentensi ya {number} inasema jambo jipya." for number in range(12)]
    (tmp_path / "sw.txt").write_text("\n".join(lines), "utf-8")
    pairs = read_sentences(tmp_path)
    assert {made.language for made in pairs} == {"sw"}
    assert all((made.claim in made.evidence[0]) == (made.label == "supported") for made in pairs)
    assert Counter(made.label for made in pairs) == {"supported": 3, "unknown": 1}
    with pytest.raises(InputError, match=r"no \.txt file"):
        read_sentences(tmp_path / "nowhere")
    (tmp_path / "sw.txt").write_text("Moja.\nMbili.\nTatu.\nTatu.\n", "utf-8")
    with pytest.raises(InputError, match="four different sentences; write one sentence per line"):
        read_sentences(tmp_path)


def test_bad_pairs_are_named_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.jsonl file"):
        read_pairs(tmp_path)
    good = pair(1).model_dump(mode="json")
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(good | {'label': 'maybe'})}\n", "utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl:2.*label"):
        read_pairs(tmp_path)
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(good)}\n" * 2, "utf-8")
    assert len(read_pairs(tmp_path)) == 1, "the same pair is taken once"
    (tmp_path / "b.jsonl").write_text(json.dumps(good | {"claim": "Another one."}), "utf-8")
    with pytest.raises(InputError, match=r"b\.jsonl: .*duplicate id .*, also in .*a\.jsonl"):
        read_pairs(tmp_path)
