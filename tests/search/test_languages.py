"""When a person is told that texts and documents are in different languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mores.search import Search
from mores.search.corpus import Corpus
from mores.search.dense import DenseCorpus
from mores.search.fake import fake
from mores.search.languages import language_note
from mores.types import Evidence, Sample
from tests.search.concepts import Concepts

ENGLISH = [
    "In Germany, shops are closed on Sundays and on most public holidays.",
    "Guests usually bring flowers when somebody invites them for dinner at home.",
    "Children receive a large paper cone full of sweets on their first day of school.",
]
GERMAN = [
    "In Deutschland sind die Geschäfte am Sonntag und an den meisten Feiertagen geschlossen.",
    "Gäste bringen meistens Blumen mit, wenn jemand sie zum Abendessen nach Hause einlädt.",
    "Am ersten Schultag bekommen die Kinder eine große Tüte, die voller Süßigkeiten ist.",
]
HUNGARIAN = ["Magyarországon a vendégeket teával és olyan étellel várják, amelyet az egész család készített."] * 3


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORES_CACHE", str(tmp_path / "cache"))


def corpus(folder: Path, texts: list[str]) -> Path:
    path = folder / "c.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def samples(texts: list[str], language: str | None = None) -> list[Sample]:
    return [Sample(id=str(n), text=text, language=language) for n, text in enumerate(texts)]


def test_another_language_is_said_with_what_helps(tmp_path: Path) -> None:
    path = corpus(tmp_path, ENGLISH)
    note = language_note(Corpus(path), samples(GERMAN))
    assert note is not None
    assert "most documents are in English and most texts are not (German)" in note
    assert note.endswith(f"; fused:{path} also compares meanings")


def test_no_help_is_promised_for_a_language_that_the_encoder_does_not_know(tmp_path: Path) -> None:
    note = language_note(Corpus(corpus(tmp_path, ENGLISH)), samples(HUNGARIAN))
    assert note is not None
    assert "Hungarian" in note
    assert "fused" not in note


def test_texts_in_several_languages(tmp_path: Path) -> None:
    note = language_note(Corpus(corpus(tmp_path, ENGLISH)), samples(GERMAN[:2] + HUNGARIAN[:1] + ENGLISH[:1]))
    assert note is not None
    assert "(German, Hungarian)" in note
    assert "also compares meanings" in note  # it helps some of them


def test_a_stated_language_counts(tmp_path: Path) -> None:
    search = Corpus(corpus(tmp_path, ENGLISH))
    assert language_note(search, samples(["Tee.", "Brot.", "Bier."], "de-AT")) is not None
    assert language_note(search, samples(["Tee.", "Brot.", "Bier."], "en-GB")) is None


@pytest.mark.parametrize("texts", [ENGLISH, [], ["Ok", "7", "…"], ENGLISH[:2] + GERMAN[:2]])
def test_nothing_is_said_without_a_clear_difference(tmp_path: Path, texts: list[str]) -> None:
    assert language_note(Corpus(corpus(tmp_path, ENGLISH)), samples(texts)) is None
    assert language_note(Corpus(corpus(tmp_path, ENGLISH + GERMAN)), samples(GERMAN)) is None


def test_texts_that_are_not_looked_up_do_not_count(tmp_path: Path) -> None:
    own = [sample.model_copy(update={"evidence": (Evidence(text="x"),)}) for sample in samples(GERMAN)]
    assert language_note(Corpus(corpus(tmp_path, ENGLISH)), own) is None


def test_other_searches_need_no_note(tmp_path: Path) -> None:
    searches: list[Search] = [DenseCorpus(corpus(tmp_path, ENGLISH), encoder=Concepts()), fake("echo")]
    assert [language_note(search, samples(GERMAN)) for search in searches] == [None, None]
