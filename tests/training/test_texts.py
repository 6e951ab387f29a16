"""Coherent texts of several sentences: what becomes of them in training."""

from __future__ import annotations

from pathlib import Path

import pytest

from mores.errors import InputError
from mores.metric.claims import decisions_of
from mores.training.pairs import read_pairs
from mores.training.texts import TextSamples, WrittenText, read_texts

TEXT = WrittenText.model_validate(
    {
        "id": "maypole",
        "language": "en",
        "region": "DE",
        "instruction": "Tell me about the maypole.",
        "sentences": ["Villages in Bavaria put up a tall tree.", "It is painted blue and white.", "I hope this helps."],
        "changes": [
            {"sentence": 1, "text": "Villages in Bavaria cut down a tall tree.", "wrong": "cut down",
             "correct": "raise", "severity": "major", "type": "misrepresented norm"},
            {"sentence": 2, "text": "It is painted red and white.", "wrong": "red",
             "severity": "minor", "type": "incorrect information"},
        ],
        "passages": ["On the first of May young men raise it.", "The flag gives it its colours: azure and white."],
        "supported": [1, 2],
        "near": ["In Sweden it is done in June."],
        "none": [3],
    }
)  # fmt: skip
OTHERS = [TEXT.model_copy(update={"id": f"other {n}", "passages": (f"Passage {n}.",)}) for n in range(40)]


def test_each_change_is_an_error_that_its_passage_shows() -> None:
    golds = [gold for gold in TextSamples([TEXT, *OTHERS]).samples(tested=False) if gold.item == "texts/maypole"]
    assert len(golds) == 3 * 4 + 2
    shown = [gold for gold in golds if any("azure" in passage.text for passage in gold.sample.evidence)]
    decisions = [decisions_of(gold.report, gold.sample.text) for gold in shown[:4]]
    pairs = [("supported", "supported"), ("wrong", "supported"), ("supported", "wrong"), ("wrong", "wrong")]
    assert decisions == [[*pair, "none"] for pair in pairs]
    for error, evidence in ((error, gold.sample.evidence) for gold in shown for error in gold.report.errors):
        assert ("raise" if error.quote == "cut down" else "azure") in evidence[error.evidence[0] - 1].text
        assert error.severity == ("major" if error.quote == "cut down" else "minor")
    assert all(gold.sample.text[e.start : e.end] == e.quote for gold in shown for e in gold.report.errors)
    silent = [gold for gold in golds if gold not in shown]
    assert {tuple(decisions_of(gold.report, gold.sample.text)) for gold in silent} == {("unknown", "unknown", "none")}


def test_some_texts_are_kept_for_the_test() -> None:
    samples = TextSamples(OTHERS)
    trained, tested = ({gold.item for gold in samples.samples(tested=part)} for part in (False, True))
    assert trained
    assert tested
    assert not trained & tested


def test_texts_are_read_beside_pairs(tmp_path: Path) -> None:
    (tmp_path / "a.texts.jsonl").write_text(TEXT.model_dump_json() + "\n", "utf-8")
    assert read_texts(tmp_path) == [TEXT]
    assert read_pairs(tmp_path) == []
    (tmp_path / "b.texts.jsonl").write_text(TEXT.model_dump_json() + "\n", "utf-8")
    with pytest.raises(InputError, match="duplicate id maypole"):
        read_texts(tmp_path)
    (tmp_path / "b.texts.jsonl").write_text(TEXT.model_dump_json().replace("cut down a", "put up a") + "\n", "utf-8")
    with pytest.raises(InputError, match="the wrong words are not in it"):
        read_texts(tmp_path)
