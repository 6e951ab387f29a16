"""The facts in the package as a search: which are shown for a text, and for which judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

import mores
from mores.engine.loop import run
from mores.metric import Metric, open_metric
from mores.metric.settings import EvidenceSettings
from mores.metric.texts import make_lookup
from mores.models.base import BasicModel, Completion, Request, wants_evidence
from mores.models.embedded import TUNED, EmbeddedModel
from mores.search import Query, open_search, search_or_corpus
from mores.search.base import about
from mores.search.ground import ground, is_near, nearness
from mores.search.places import named_countries
from mores.search.shipped import FusedFacts, ShippedFacts, shipped_facts
from mores.types import Evidence, Sample
from tests.search.concepts import Concepts

FACTS = [
    ("The most popular hot drink in Greece is coffee.", "blend/1:Greece", "GR"),
    ("The most popular hot drink in China is tea.", "blend/1:China", "CN"),
    ("Etiquette in Greece asks people to bring sweets to a wedding.", "normad/GR:1", "GR"),
    ("The bread that people eat in Greece at a wedding is koulouri.", "candle/1", "GR"),
]


@pytest.fixture(autouse=True)
def _facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"text": text, "source": source, "region": at, "licence": "CC-BY-4.0"} for text, source, at in FACTS]
    (tmp_path / "f.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    monkeypatch.setattr("mores.search.shipped.FACTS", tmp_path / "f.jsonl")
    monkeypatch.setattr("mores.search.encoders.has_encoder", lambda: False)
    monkeypatch.setattr("mores.search.dense.open_encoder", lambda _: Concepts())
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))


def sources(query: Query, search: ShippedFacts | None = None) -> list[str]:
    [found] = run((search or ShippedFacts()).find([query], 3))
    assert found.failure is None
    return [piece.source for piece in found.evidence]


def test_a_fact_brings_its_source_and_licence() -> None:
    [found] = run(ShippedFacts().find([Query("The most popular hot drink in Greece is milk.")], 1))
    assert found.evidence == (Evidence(text=FACTS[0][0], source="blend/1:Greece", licence="CC-BY-4.0"),)


def test_only_countries_that_the_text_names_are_shown() -> None:
    drink = "The most popular hot drink is milk."
    assert sources(Query(drink, region="CN")) == ["blend/1:China"]
    assert sources(about(Query(drink), f"Greece. {drink}", "")) == ["blend/1:Greece"]
    assert sources(Query("The most popular hot drink in Peru is milk.")) == []
    assert set(sources(Query(drink))) == {"blend/1:Greece", "blend/1:China"}


def test_what_has_little_in_common_is_not_shown() -> None:
    assert sources(Query("Greece has many islands, and most of them have a harbour.")) == []


def test_the_source_of_a_text_is_left_out() -> None:
    text = "The bread that people eat in Greece at a wedding is lagana."
    assert sources(about(Query(text), text, "candle")) == ["normad/GR:1"]
    assert sources(about(Query(text), text, "a model")) == ["candle/1", "normad/GR:1"]

    async def grounded(source: str) -> tuple[Evidence, ...]:
        search = open_search("mores")
        async for sample, _ in ground([Sample(id="1", text=text, source=source)], search, 3):
            return sample.evidence
        return ()

    assert [piece.source for piece in run(grounded("candle"))] == ["normad/GR:1"]
    assert [piece.source for piece in run(grounded("mine"))] == ["candle/1", "normad/GR:1"]


def test_meaning_finds_what_words_do_not() -> None:
    assert sources(Query("Zur Hochzeit gibt es Brot", "de", "GR")) == []
    fused = FusedFacts()
    assert not fused.by_words
    assert sources(Query("Zur Hochzeit gibt es Brot", "de", "GR"), fused) == ["candle/1", "normad/GR:1"]
    assert sources(Query("Zur Hochzeit gibt es Brot", "hu", "GR"), fused) == []  # which the encoder does not know
    assert fused.name == "mores"
    assert "concepts.1" in fused.identity
    assert fused.identity != ShippedFacts().identity


def test_the_best_installed_search_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not isinstance(shipped_facts(), FusedFacts)
    assert "the extra dense" in shipped_facts().about
    monkeypatch.setattr("mores.search.encoders.has_encoder", lambda: True)
    assert isinstance(shipped_facts(), FusedFacts)
    assert shipped_facts().about == "4 facts that come with Mores, by words and meaning"


@pytest.mark.parametrize(
    ("text", "language", "named"),
    [
        ("Tea in Greece and in China", None, {"GR", "CN"}),
        ("在中国和日本", "zh", {"CN", "JP"}),
        ("在中国和日本，人们喝茶。", None, {"CN", "JP"}),
        ("στην Ελλάδα", "el", {"GR"}),
        ("Tea", None, set()),
    ],
)
def test_countries_are_named_in_any_language(text: str, language: str | None, named: set[str]) -> None:
    assert named_countries(text, language) == named


class NeedsEvidence(BasicModel):
    """A judge that is weak without evidence, and finds no error."""

    name = identity = "needs-evidence"
    weak_without_evidence = "it guesses"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request.messages[-1].content)
        return Completion('{"errors": [], "explanation": ""}', stop="stop")


def lookup(model: Any, **settings: Any) -> str:
    metric = open_metric(model, style=settings.pop("style", None))
    found = make_lookup(EvidenceSettings(**settings), metric)
    return found.name if found else "none"


def test_a_judge_that_needs_evidence_gets_the_facts_unless_told_otherwise(tmp_path: Path) -> None:
    assert lookup(NeedsEvidence()) == "mores"
    assert lookup(NeedsEvidence(), evidence="none") == "none"
    assert lookup(NeedsEvidence(), evidence=str(tmp_path / "f.jsonl")) == f"corpus:{tmp_path / 'f.jsonl'}"
    assert lookup(NeedsEvidence(), style="paper") == "none"
    assert lookup("fake:clean") == "none"
    assert lookup("fake:clean", evidence="mores") == "mores"


def test_a_judge_may_say_that_it_wants_evidence() -> None:
    class Reader(NeedsEvidence):
        weak_without_evidence = ""
        wants_evidence = True

    assert lookup(Reader()) == "mores"


@pytest.mark.parametrize(
    ("kind", "adapter", "expected"),
    [("embedded", None, False), ("embedded", str(TUNED), True), ("reader", None, True)],
)
def test_the_models_of_mores_that_judge_want_evidence(kind: str, adapter: str | None, expected: bool) -> None:
    assert wants_evidence(EmbeddedModel(adapter=adapter, kind=kind)) is expected
    assert not wants_evidence(EmbeddedModel("other.gguf", kind="embedded"))


def test_judgements_say_where_their_evidence_comes_from() -> None:
    model = NeedsEvidence()
    text = "The most popular hot drink in Greece is milk."
    [judgement] = mores.score([text], model, store=None)
    assert [(piece.source, piece.licence) for piece in judgement.evidence] == [("blend/1:Greece", "CC-BY-4.0")]
    assert FACTS[0][0] in model.asked[0]
    assert judgement.signature["evidence"].startswith("mores.1/corpus:")
    [without] = mores.score([text], model, evidence="none", store=None)
    assert (without.evidence, without.signature.get("evidence")) == ((), None)


def test_texts_that_bring_their_evidence_are_judged_by_that_alone(tmp_path: Path) -> None:
    given = {"text": "The most popular hot drink in Greece is milk.", "evidence": ["Milk is popular in Greece."]}
    [judgement] = mores.score([given], NeedsEvidence(), store=None)
    assert judgement.signature["evidence"] == "given"
    (tmp_path / "t.jsonl").write_bytes(orjson.dumps(given))
    scored = mores.score_file(tmp_path / "t.jsonl", NeedsEvidence(), out=tmp_path / "run", store=None)
    [judgement] = scored.judgements()
    assert judgement.signature["evidence"] == "given"
    assert isinstance(open_metric(NeedsEvidence()), Metric)


def test_a_path_is_searched_by_meaning_too_where_an_encoder_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "f.jsonl")
    assert search_or_corpus(path) == f"corpus:{path}"
    monkeypatch.setattr("mores.search.encoders.has_encoder", lambda: True)
    assert search_or_corpus(path) == f"fused:{path}"
    assert search_or_corpus(f"corpus:{path}") == f"corpus:{path}"


@pytest.mark.parametrize(
    ("passages", "expected"),
    [
        (["Bread for every guest.", "Coffee."], True),
        (["Coffee.", "Kava."], False),  # far
        (["Bread.", "Guests."], False),  # as near as each other
        (["Bread."], True),
    ],
)
def test_a_passage_is_about_the_same_if_it_is_near_and_nearer_than_others(passages: list[str], expected: bool) -> None:
    evidence = tuple(Evidence(text=text) for text in passages)
    sample = Sample(id="1", text="Brot für jeden Gast", evidence=evidence)
    assert is_near(sample, nearness(Concepts())) is expected


def test_evidence_by_meaning_covers_a_text_without_common_words(tmp_path: Path) -> None:
    class Weak(NeedsEvidence):
        weak_uncovered = "it says little"

    (tmp_path / "d.jsonl").write_text('{"text": "Bread for every guest."}\n{"text": "Kava."}')

    def notes(text: str) -> tuple[str, ...]:
        [judgement] = mores.score([text], Weak(), evidence=f"fused:{tmp_path / 'd.jsonl'}", store=None)
        return tuple(note for note in judgement.notes if "weak" in note)

    assert notes("Brot für jeden Gast") == ()
    assert notes("Tee und Gäste, Kaffee, Hochzeit") == ("weak verdict: it says little",)
