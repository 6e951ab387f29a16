"""The examples are what newcomers run first: they must be valid, varied and right to the code point."""

from __future__ import annotations

import json
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import langcodes
import pycountry
import pytest

from mores.engine.loop import run
from mores.language.sentences import sentences
from mores.search import open_search
from mores.search.ground import query_of
from mores.types import Judgement, Sample

EXAMPLES = Path(__file__).parent.parent / "examples"


def _lines(name: str) -> list[str]:
    return (EXAMPLES / name).read_text(encoding="utf-8").splitlines()


SAMPLES = [Sample.model_validate_json(line) for line in _lines("world.jsonl")]
GOLD = [Judgement.model_validate_json(line) for line in _lines("world.gold.jsonl")]
PAIRS = list(zip(SAMPLES, GOLD, strict=True))
IDS = [sample.id for sample in SAMPLES]
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur"}


def test_gold_judges_every_sample_once_and_in_order() -> None:
    assert len(set(IDS)) == len(IDS) == 38
    assert [gold.sample_id for gold in GOLD] == IDS


def test_examples_are_varied() -> None:
    languages = {langcodes.get(sample.language).language for sample in SAMPLES if sample.language}
    assert len(languages) >= 14
    assert len({sample.region for sample in SAMPLES}) >= 18
    assert len(languages & RIGHT_TO_LEFT) >= 3


def test_half_of_the_examples_are_wrong_and_some_more_than_once() -> None:
    errors = Counter(len(gold.report.errors) for gold in GOLD if gold.report)
    assert errors == {0: 19, 1: 11, 2: 7, 3: 1}
    sides = {error.side for gold in GOLD if gold.report for error in gold.report.errors}
    assert sides == {"instruction", "text"}
    severities = {error.severity for gold in GOLD if gold.report for error in gold.report.errors}
    assert len(severities) == 2


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_sample_is_complete_and_short(sample: Sample) -> None:
    assert sample.language
    assert langcodes.tag_is_valid(sample.language)
    assert pycountry.countries.get(alpha_2=sample.region)
    assert sample.source == "mores-examples"
    assert 0 < len(sample.instruction) <= 90
    assert 0 < len(sample.text) <= 160


@pytest.mark.parametrize(("sample", "gold"), PAIRS, ids=IDS)
def test_gold_spans_are_the_quoted_words(sample: Sample, gold: Judgement) -> None:
    assert gold.report
    for error in gold.report.errors:
        assert error.located
        assert sample.side(error.side)[error.start : error.end] == error.quote
        assert error.explanation
        assert error.type


@pytest.mark.parametrize("gold", GOLD, ids=IDS)
def test_gold_score_is_equation_1(gold: Judgement) -> None:
    assert gold.judge == "mores-authors"
    assert gold.signature == {"gold": "world.1"}
    assert gold.report
    weights = sum(error.severity.weight for error in gold.report.errors)
    assert gold.score == (weights or 1.0)
    assert gold.report.certainty == (None if weights else 1.0)


# Free texts, judged by passages of prose

FREE = [(row.pop("correct"), Sample(**row)) for row in map(json.loads, _lines("free.jsonl"))]
"""Whether each text is correct, and the text."""
PASSAGES = [json.loads(line)["text"] for line in _lines("passages.jsonl")]
NO_COMMON_WORD = ("en-coffee-wrong", "es-rosca-wrong")
"""They share only function words with their passage."""


def test_free_texts_come_in_pairs_that_differ_in_a_few_words() -> None:
    assert len({sample.id for _, sample in FREE}) == len(FREE)
    assert Counter(sample.language for _, sample in FREE) == dict.fromkeys(("en", "es", "fr", "id", "de"), 8)
    assert [correct for correct, _ in FREE] == [True, False] * (len(FREE) // 2)
    for (_, right), (_, wrong) in zip(FREE[::2], FREE[1::2], strict=True):
        assert (right.instruction, right.language, right.region) == (wrong.instruction, wrong.language, wrong.region)
        changed = SequenceMatcher(None, right.text.split(), wrong.text.split(), autojunk=False).ratio()
        assert 0.6 < changed < 1
        assert pycountry.countries.get(alpha_2=right.region)


def test_free_texts_have_a_few_sentences_and_a_passage_that_is_found_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path))
    search = open_search(f"corpus:{EXAMPLES / 'passages.jsonl'}")
    answers = run(search.find([query_of(sample) for _, sample in FREE], 3))
    for place, ((_, sample), found) in enumerate(zip(FREE, answers, strict=True)):
        assert 2 <= len(sentences(sample.text)) <= 3
        is_found = PASSAGES[place // 2] in [piece.text for piece in found.evidence]
        assert is_found is (sample.id not in NO_COMMON_WORD), sample.id


def test_passages_have_distractors() -> None:
    assert len(PASSAGES) == len(set(PASSAGES)) > len(FREE) // 2 + 8
