"""The facts in the package: whose they are, what may be done with them, and that no sentence of a source is copied."""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from mores.culture import language, mentions, region
from mores.factory import sources as datasets
from mores.search.content import coverage
from mores.search.shipped import RELATED

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "mores" / "search" / "facts"
REAL = Path(os.environ.get("MORES_SHARED_DATA") or ROOT.parent / "shared" / "data")
FREE = {"blend", "candle", "normad"}
OWN = "everyday"
"""Those that were written for Mores, which are of no dataset."""
TESTS = {"culturalbench", "calmqa", "exams", "include"}


@pytest.fixture(scope="module")
def facts() -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in gzip.decompress((FOLDER / "facts.jsonl.gz").read_bytes()).splitlines()]


def test_every_fact_has_its_source_region_language_and_licence(facts: list[dict[str, Any]]) -> None:
    for fact in facts:
        name = fact["source"].partition("/")[0]
        assert name in (FREE | {OWN}) - TESTS
        if name == OWN:
            assert (fact["licence"], fact["origin"]) == ("CC-BY-SA-4.0", "written for Mores from general knowledge")
            assert fact["topic"]
        else:
            assert datasets.source(name).commercial
            assert fact["licence"] == datasets.source(name).licence
        assert (region(fact["region"]), language(fact["language"])) == (fact["region"], fact["language"])
        assert 10 < len(fact["text"]) <= 280
        assert fact["text"][-1] in ".。።।"
    assert len({fact["text"] for fact in facts}) == len(facts) > 4_000
    assert len({fact["language"] for fact in facts}) == 13


def test_the_facts_are_small() -> None:
    assert (FOLDER / "facts.jsonl.gz").stat().st_size < 5_000_000


def test_the_licence_credits_every_source() -> None:
    note = " ".join((FOLDER / "LICENSE").read_text("utf-8").split())
    assert "SPDX-License-Identifier: CC-BY-SA-4.0" in note
    assert "facts.jsonl.gz" in note
    for name in FREE:
        credit = re.search(rf"{re.escape(datasets.source(name).homepage)}, CC (BY\S*) 4\.0\.", note)
        assert credit, name
        assert f"CC-{credit[1]}-4.0" == datasets.source(name).licence


@pytest.mark.often("candle")
@pytest.mark.parametrize("name", sorted(FREE))
def test_no_sentence_of_a_source_is_copied(name: str, facts: list[dict[str, Any]]) -> None:
    if not (REAL / name).is_dir():
        pytest.skip(f"no {name} in the shared data; set MORES_SHARED_DATA to a folder that has it")
    sentences = set()
    for item in datasets.load(name, REAL / name, lambda _: None):
        sentences |= {plain(text) for text in (item.question, item.answer, item.context, item.norm) if text}
    assert not [fact["text"] for fact in facts if plain(fact["text"]) in sentences]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["culturalbench", "calmqa"])
def test_no_fact_answers_a_question_of_a_benchmark(name: str, facts: list[dict[str, Any]]) -> None:
    from tools.facts import Fact, answering

    if not (REAL / name).is_dir():
        pytest.skip(f"no {name} in the shared data; set MORES_SHARED_DATA to a folder that has it")
    told = [Fact(fact["text"], fact["source"], fact["region"], fact["language"]) for fact in facts]
    assert not answering(told, datasets.load(name, REAL / name, lambda _: None))


def test_many_facts_were_written_for_everyday_life(facts: list[dict[str, Any]]) -> None:
    own = [fact for fact in facts if fact["source"].startswith(f"{OWN}/")]
    assert len(own) >= 500
    assert len({fact["region"] for fact in own}) >= 60
    topics = Counter(fact["topic"] for fact in own)
    assert topics.keys() >= {"eating", "tipping", "greeting", "gifts", "weddings", "funerals", "new-year", "holidays"}
    assert topics.keys() >= {"school", "work", "queues", "shoes", "age", "drinks", "names"}
    # A fact names its country: by it a search decides what it shows.
    assert not [fact["text"] for fact in own if not any(mention.countries for mention in mentions(fact["text"]))]


def test_no_written_fact_speaks_of_everybody(facts: list[dict[str, Any]]) -> None:
    everybody = re.compile(r"\b(?:all|every|everyone|everybody) (?:\w+ )?(?:people|men|women|families|\w+ans|\w+ese)\b")
    everybody = re.compile(rf"{everybody.pattern}|\b(?:everyone|everybody|nobody|no one|always|never)\b", re.IGNORECASE)
    assert not [fact["text"] for fact in facts if fact["source"].startswith(OWN) and everybody.search(fact["text"])]


def test_no_written_fact_is_about_the_texts_that_measure_reading(facts: list[dict[str, Any]]) -> None:
    """The 40 texts with free prose bring their own evidence, and no fact was written to fit one of them."""
    texts = [orjson.loads(line) for line in (ROOT / "examples" / "free.jsonl").read_bytes().splitlines()]
    for fact in facts:
        about = [text["text"] for text in texts if text["region"] == fact["region"]]
        if fact["source"].startswith(f"{OWN}/"):
            assert all(coverage(text, [fact["text"]]) < RELATED for text in about), fact["text"]


def test_a_fact_that_says_what_another_says_is_left_out() -> None:
    from tools.facts import Fact, told

    fact = Fact("Kimchi is served with most meals in South Korea.", "everyday/KR:eating:1", "KR", "en")
    question = "What is typically indispensable in meals in South Korea? rice; kimchi"
    assert told([fact], {"KR": [question]}) == {fact.source}
    assert not told([fact], {"JP": [question], "KR": ["What is the most popular sport in South Korea? football"]})


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
