"""The words around the data: in the language of the data, and questions that can be asked as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores import culture
from mores.factory import sources
from mores.factory.drafts import drafts
from mores.factory.items import SourceItem, Task
from mores.factory.sources.calmqa import clean_answer, clean_question
from mores.factory.sources.options import lacks_material, needs_options, without_full_stops
from mores.factory.wrap import Wrapper
from mores.factory.wrap.templates import BUILT_IN, KINDS, Templates
from tests.factory.test_sources import REAL, WRITERS, dump, dump_lines, load

LATIN = re.compile(r"[A-Za-z]{2,}")
OTHER_SCRIPTS = [
    path.name for path in sorted((BUILT_IN / "base").iterdir())
    if path.name != "und" and culture.script(path.name) != "Latn"
]  # fmt: skip
OURS = {"candle"}
"""Sources whose questions are words of ours, put around data in many languages."""


# In the language of the data


def test_the_languages_of_other_scripts_are_these() -> None:
    assert " ".join(OTHER_SCRIPTS) == "am ar as bg bn el fa he hi ja ko mk ru sr zh"


@pytest.mark.parametrize("language", OTHER_SCRIPTS)
def test_no_template_of_another_script_has_latin_words(language: str) -> None:
    templates = Templates()
    for kind, slots in KINDS.items():
        for template in templates.get("none", kind, language):
            text, _ = template.fill(dict.fromkeys(slots.allowed, "1"))
            assert not LATIN.search(text), f"{language}/{kind}: {text}"


def foreign_words(item: SourceItem) -> list[str]:
    """Latin words that stand around an item in another script and are not its own."""
    given_by_data = [item.answer, *item.options, *item.wrong, item.context or "", *sum(item.role, ())]
    given_by_data += [] if item.source in OURS else [item.question]
    words: list[str] = []
    for draft in drafts(item):
        wrapped = Wrapper(TEMPLATES).wrap(item, draft.answer, task=draft.task)
        text = f"{wrapped.instruction}\n{wrapped.text}"
        for part in sorted(filter(None, given_by_data), key=len, reverse=True):
            text = text.replace(part, " ")
        words += LATIN.findall(text)
    return words


TEMPLATES = Templates()


def in_another_script(item: SourceItem) -> bool:
    return item.language is not None and culture.script(item.language) != "Latn"


def write_in_many_languages(data: Path) -> None:
    """CANDLE in its languages, besides the rows of the other sources' tests."""
    ends = {"zh-Hans": '以 {"答案": }', "fa": 'پاسخ در قالب json {"پاسخ": }', "hi": '{"उत्तर": }'}
    sentences = {"zh-Hans": "茶来自<mask>。", "fa": "چای از <mask> است.", "hi": "चाय <mask> से है।"}
    names = {"zh-Hans": "中国", "fa": "ایران", "hi": "भारत"}
    countries = {"zh-Hans": "China", "fa": "Iran", "hi": "India"}
    dump(
        data / "candle" / "candle_more.json",
        {tag: {countries[tag]: [{"prompt": f": {sentences[tag]} {ends[tag]}", "answer": names[tag]}]} for tag in ends},
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    for name, writer in WRITERS.items():
        writer(folder / name)
    write_in_many_languages(folder)
    return folder


def test_no_english_stands_around_another_script(data: Path) -> None:
    items = [item for name in WRITERS for item in load(name, data / name)[0] if in_another_script(item)]
    assert {"candle", "exams"} <= {item.source for item in items}
    assert {"zh-Hans", "fa", "hi", "mk"} <= {item.language for item in items}
    assert [(item.id, words) for item in items if (words := foreign_words(item))] == []


def test_the_check_sees_an_english_phrase() -> None:
    item = SourceItem(
        source="candle", id="1", task=Task.GENERATION, question="the culture of China", answer="茶。", language="zh"
    )
    assert set(foreign_words(item)) == {"the", "culture", "of", "China"}


@pytest.mark.often("candle")
@pytest.mark.parametrize("name", ["calmqa", "candle", "exams"])
def test_no_english_stands_around_the_real_data(name: str) -> None:
    if not (REAL / name).is_dir():
        pytest.skip(f"no {name} in the shared data; set MORES_SHARED_DATA to a folder that has it")
    items = [item for item in load(name, REAL / name)[0] if in_another_script(item)]
    assert len(items) > 100
    assert [(item.id, words) for item in items[::7] if (words := foreign_words(item))] == []


@pytest.mark.parametrize(
    ("tag", "topic"),
    [("zh-Hans", "中国文化"), ("fa", "فرهنگ ایران"), ("hi", "भारत की संस्कृति"), ("sw", "utamaduni wa Kenya")],
)
def test_the_topic_of_candle_is_in_the_language_of_the_text(data: Path, tag: str, topic: str) -> None:
    items, _ = load("candle", data / "candle")
    assert [item.question for item in items if item.language == tag] == [topic]


# Questions that can be asked as they stand


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("ar", "أي من المدن الآتية عاصمة؟"),
        ("ar", "يقع مقر المنظمة في مدينة :"),
        ("bg", "Коя от посочените планини е най-висока?"),
        ("bg", "Кой договор НЕ е част от системата?"),
        ("bg", "Същността на проблема се изразява в:"),
        ("de", "Welche Behauptung ist richtig?"),
        ("en", "Which of the following is eaten in Peru?"),
        ("en", "In Peru, what is not eaten at breakfast?"),
        ("es", "Cuando se produce un eclipse lunar..."),
        ("fr", "Lequel de ces reliefs est le plus ancien?"),
        ("hr", "Koji je od navedenih vladara bio prvi?"),
        ("hr", "Koji niz određuje točan kronološki slijed?"),
        ("hu", "Nem vallási központ:"),
        ("it", "Quale dei seguenti paesi è una repubblica?"),
        ("lt", "Kuris iš šių reiškinių būdingas viduramžiams?"),
        ("mk", "Што од долунаведеното е жанр?"),
        ("sq", "Cila nga këto vepra është e tij?"),
        ("sr", "Који је од наведених владара био први?"),
        ("sr-Latn", "Koji je od navedenih vladara bio prvi?"),
        ("tr", "Aşağıdakilerden hangisi Osmanlı Devleti'ndedir?"),
        ("vi", "Tỉnh nào sau đây giáp Campuchia?"),
        ("vi", "Một trong những nguyên tắc của tổ chức là"),
        ("en", "The capital of Peru is ____?"),
    ],
)
def test_a_question_that_speaks_of_its_options_needs_them(language: str, question: str) -> None:
    assert needs_options(question, ["1789", "1848"], language)


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("ar", "ما عاصمة المغرب؟"),
        ("bg", "Кой български владетел приема християнството?"),
        ("de", "Woher stammt die Wärme des Erdinneren?"),
        ("en", "What is eaten on Sundays in Peru?"),
        ("hr", "Kako se naziva grobnica iznad koje je humak?"),
        ("hu", "Melyik ital a gyümölcspárlat?"),
        ("it", "Chi guidava la politica francese?"),
        ("lt", "Iš kurios valstybės Kijevo Rusia priėmė krikščionybę?"),
        ("mk", "Против кого се борел Атинскиот сојуз?"),
        ("sq", "Në cilën betejë u vranë sunduesit?"),
        ("sr", "Који је народ освојио Рим?"),
        ("sr-Latn", "Koji je narod osvojio Rim?"),
        ("tr", "Bu savaş hangi yılda başladı?"),
        ("vi", "Vì sao năm 1960 được gọi là “Năm châu Phi”?"),
        ("rn", "Isoko ryahiye gute?"),
    ],
)
def test_other_questions_stand_alone(language: str, question: str) -> None:
    assert not needs_options(question, ["1789", "1848"], language)


@pytest.mark.parametrize(
    ("language", "option"),
    [("en", "All of the above"), ("en", "Options B and C"), ("tr", "Yukarıdakilerin hepsi."), ("bg", "I и II"),
     ("hr", "sve navedeno"), ("vi", "Tất cả các ý trên đều đúng")],
)  # fmt: skip
def test_options_that_stand_for_others_keep_the_question_with_them(language: str, option: str) -> None:
    assert needs_options("?", ["1789", option], language)
    assert not needs_options("?", ["1789", "A Vienna", "tea and milk"], language)


@pytest.mark.parametrize(
    ("language", "question", "lacks"),
    [("bg", "Кой показател е показан на картата?", True), ("lt", "Kuris politikas pavaizduotas nuotraukoje?", True),
     ("it", "In quale stato è l’edificio dell’immagine?", True), ("hr", "Tko je na slici?", True),
     ("tr", "Özerklik hangi şekilde elde edildi?", False), ("en", "What is shown in the picture?", True),
     ("en", "What do people in Peru drink?", False), ("rn", "Isoko ryahiye gute?", False)],
)  # fmt: skip
def test_questions_about_what_is_not_there(language: str, question: str, lacks: bool) -> None:
    assert lacks_material(question, language) == lacks


def exam(stem: str, options: list[str], language: str, subject: str = "History") -> dict[str, object]:
    choices = [{"label": label, "text": text} for label, text in zip("ABCDE", options, strict=False)]
    info = {"subject": subject, "language": language}
    return {"id": stem, "question": {"stem": stem, "choices": choices}, "answerKey": "A", "info": info}


def test_exams_are_asked_without_options_only_where_they_can_be(tmp_path: Path) -> None:
    rows = [
        exam("Кой е първият цар?", ["Симеон.", "Б) Петър;", "Кир \uf0e0 Дарий"], "Bulgarian"),
        exam("Кой от изброените е цар?", ["Симеон", "Кир"], "Bulgarian"),
        exam("Кој е првиот? (Rrethoje shkronjën para përgjigjes së saktë)", ["Самуил", "Кир"], "Macedonian"),
        exam("Căn cứ vào Atlat Địa lí Việt Nam trang 4 - 5, cho biết sông nào dài?", ["Đà", "Lô"], "Vietnamese"),
        exam("Căn cứ vào Atlat trang 23 và trang 4 - 5, tỉnh nào lớn?", ["Nghệ An", "Gia Lai"], "Vietnamese"),
        exam("Ko je prvi car?", ["Dušan", "Uroš"], "Serbian"),
        exam("Ко је први цар?", ["Душан", "Урош"], "Serbian"),
        exam("Који је град на слици?", ["Ниш", "Пирот"], "Serbian"),
        exam("Tavaink közül melyik a legkedveltebb?", ["Fehér-tó", "Balaton"], "Hungarian", subject="Geography"),
        exam("A buvo; B įvyko; C liko. 14. Kas pirmas?", ["Leninas", "Stalinas"], "Lithuanian"),
        exam("ما عاصمة المغرب؟", ["الدوحة", "الرباط"], "Arabic"),
    ]
    dump_lines(tmp_path / "train.jsonl", rows)
    items, bad = load("exams", tmp_path)
    assert bad == []
    assert [(item.language, item.question, item.stands_alone) for item in items] == [
        ("bg", "Кой е първият цар?", True), ("bg", "Кой от изброените е цар?", False), ("mk", "Кој е првиот?", True),
        ("vi", "Sông nào dài?", True), ("vi", "Tỉnh nào lớn?", True),
        ("sr-Latn", "Ko je prvi car?", True), ("sr", "Ко је први цар?", True),
    ]  # fmt: skip
    assert items[0].options == ("Симеон", "Петър", "Кир → Дарий")
    tasks = [{draft.task for draft in drafts(item)} for item in items[:2]]
    assert tasks == [{Task.QA, Task.FREEFORM}, {Task.QA}]


def test_a_list_of_options_has_no_full_stops() -> None:
    assert without_full_stops(["Fish.", "A very long answer with many words."]) == [
        "Fish", "A very long answer with many words",
    ]  # fmt: skip
    sentences = ["He was the first king of the land.", "He was the last king of the land."]
    assert without_full_stops(sentences) == sentences
    assert without_full_stops(["1940 г.", "1945 г."]) == ["1940 г.", "1945 г."]
    assert without_full_stops(["„Poetika“.", "Iliada."]) == ["„Poetika“", "Iliada"]


# Posts of forums

POST = """Hola El Arca,

1. La mantilla es una prenda femenina de España, que es una evolución del antiguo manto de las mujeres.
- En la zona norte se empleaban tejidos tupidos; en la zona sur, encajes más ligeros de seda.

https://example.org/mantilla
Ministerio de Cultura, 091-555-1234
Mi abuela tenía 3 mantillas.
\u200b
Saludos"""


def test_a_post_is_left_with_what_it_tells_of_the_world() -> None:
    assert clean_answer(POST, "es") == (
        "La mantilla es una prenda femenina de España, que es una evolución del antiguo manto de las mujeres.\n"
        "En la zona norte se empleaban tejidos tupidos; en la zona sur, encajes más ligeros de seda."
    )
    assert clean_question("Hola a todos\n¿Qué es la mantilla?\nMi abuela tenía una.", "es") == (
        "¿Qué es la mantilla?\nMi abuela tenía una."
    )


def test_a_post_that_is_mostly_about_its_writer_is_left_out() -> None:
    story = "Ich habe das mit meiner Tochter genau so erlebt, und mir hat damals niemand geholfen, leider. " * 3
    fact = (
        "Der Freistaat ist die deutsche Entsprechung für das Wort Republik; Sachsen, Bayern und Thüringen sind einer."
    )
    assert clean_answer(f"{story}\n{fact}", "de") is None
    assert clean_answer(f"Ich weiß es.\n{fact}", "de") == fact
    assert clean_answer("Darum.", "de") is None
    assert clean_answer(f"Hallo! {fact}", "de") == f"Hallo! {fact}"


@given(st.text(st.sampled_from("ab1.)- \n我я"), max_size=300), st.sampled_from(["en", "ru", "zh", "rn"]))
def test_cleaning_twice_changes_nothing_more(text: str, language: str) -> None:
    once = clean_question(text, language)
    assert clean_question(once, language) == once


def test_every_source_says_why_it_has_no_facts() -> None:
    reasons = {name: sources.source(name).no_facts for name in sources.SOURCES}
    assert {name for name, reason in reasons.items() if reason} == {"epic", "globalopinionqa"}
