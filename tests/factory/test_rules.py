"""Soft errors by rule: golden cases by hand in several languages, and what holds for every change."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.factory.errors.model import differences
from mores.factory.errors.rules import RULES, SINGLE, Pool, changes, swaps
from mores.factory.errors.rules.edit import data, folded
from mores.factory.errors.rules.swap import Bounded
from mores.factory.gold import ChangedText
from mores.factory.items import SourceItem, Task
from mores.factory.statement import bare, sentence
from mores.types import Severity

TEN_LARGEST = ["en", "zh", "es", "hi", "ar", "bn", "pt", "ru", "ja", "de", "fr"]
EMPTY = Pool([])


def item(answer: str, language: str | None = "en", **fields: object) -> SourceItem:
    values = {
        "source": "blend",
        "id": "1",
        "task": Task.GENERATION,
        "question": "?",
        "answer": answer,
        "language": language,
    }
    return SourceItem.model_validate(values | fields)


def change(rule: str, item: SourceItem, pool: Pool = EMPTY, seed: int = 0) -> ChangedText | None:
    return next((changed for changed in changes(bare(item), pool, seed) if changed.rule == rule), None)


def marked(changed: ChangedText | None) -> str | None:
    """The changed answer with its wrong words in brackets."""
    if changed is None:
        return None
    text = changed.answer
    for mistake in reversed(changed.mistakes):
        start, end = mistake.start, mistake.end
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


# -- quantifiers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "answer", "expected"),
    [
        ("en", "Many people eat rice.", "[All] people eat rice."),
        ("en", "Guests often bring a gift.", "Guests [always] bring a gift."),
        ("en", "It is the most famous dish.", None),
        ("en", "They do not usually shake hands.", None),
        ("en", "They ate there for many years.", None),
        ("en", "They often not only bow.", None),
        ("de", "Man isst oft nicht warm.", None),
        ("en", "Few families own a car.", "[No] families own a car."),
        ("en-GB", "Britons tend to queue.", "Britons [always] queue."),
        ("zh-Hans", "中国人通常用筷子吃饭。", "中国人[一律]用筷子吃饭。"),
        ("zh", "许多人喜欢喝茶。", "[所有]人喜欢喝茶。"),
        ("zh", "这是非常常见的。", None),
        ("es", "La mayoría de los mexicanos cenan tarde.", "[Todos] los mexicanos cenan tarde."),
        ("es", "A menudo comen maíz.", "[Siempre] comen maíz."),
        ("es", "No comen a menudo.", "No comen [siempre]."),
        ("hi", "लोग अक्सर चाय पीते हैं।", "लोग [हमेशा] चाय पीते हैं।"),
        ("hi", "कई लोग शाकाहारी हैं।", "[सभी] लोग शाकाहारी हैं।"),
        ("ar", "معظم الناس يشربون الشاي.", "[كل] الناس يشربون الشاي."),
        ("ar", "يشربون القهوة غالبًا صباحا.", "يشربون القهوة [دائمًا] صباحا."),
        ("bn", "তারা সাধারণত মাছ খায়।", "তারা [সবসময়] মাছ খায়।"),
        ("pt", "Muitos brasileiros jantam tarde.", "[Todos os] brasileiros jantam tarde."),
        ("pt-BR", "A maioria dos brasileiros toma café.", "[Todos os] brasileiros toma café."),
        ("ru", "Русские часто пьют чай.", "Русские [всегда] пьют чай."),
        ("ru", "Они редко пьют кофе.", "Они [никогда не] пьют кофе."),
        ("ja", "多くの日本人は神社に行きます。", "[すべての]日本人は神社に行きます。"),
        ("ja", "数多くの寺があります。", None),
        ("de", "Viele Deutsche essen abends Brot.", "[Alle] Deutsche essen abends Brot."),
        ("de", "Man isst oft Brot.", "Man isst [immer] Brot."),
        ("fr", "Les Français mangent souvent du pain.", "Les Français mangent [toujours] du pain."),
        ("fr", "La plupart des gens dînent tard.", "[Tous les] gens dînent tard."),
        ("sw", "Watu wengi hula wali.", "Watu [wote] hula wali."),
        ("fi", "Monet ihmiset syövät riisiä.", None),
        (None, "Many people eat rice.", None),
    ],
)
def test_quantifiers(language: str | None, answer: str, expected: str | None) -> None:
    changed = change("quantifiers", item(answer, language))
    assert marked(changed) == expected
    if changed:
        [mistake] = changed.mistakes
        assert mistake.severity == Severity.MINOR
        assert mistake.type == "stereotyping"


def test_the_explanation_says_what_is_wrong_and_what_is_right() -> None:
    changed = change("quantifiers", item("Guests often bring a gift."))
    assert changed is not None
    [mistake] = changed.mistakes
    assert mistake.explanation.startswith("“always” overgeneralises")
    assert mistake.explanation.endswith("“often” is correct.")


# -- negation ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "answer", "expected"),
    [
        ("en", "You should bow to elders.", "You should [not] bow to elders."),
        ("en", "You shouldn’t tip.", "You [should] tip."),
        ("en", "Slurping is considered rude.", "Slurping is considered [polite]."),
        ("en", "It is disrespectful not to bow.", "It is [respectful] not to bow."),
        ("en", "It is respectful to bow.", "It is [disrespectful] to bow."),
        ("en", "It should be noted that it rains.", None),
        ("en", "A must-see city.", None),
        ("en", "Never point with one finger.", "[Always] point with one finger."),
        ("en", "The number four brings bad luck.", "The number four brings [good] luck."),
        ("zh", "客人应该脱鞋。", "客人[不]应该脱鞋。"),
        ("zh", "数字四不吉利。", "数字四[吉利]。"),
        ("es", "No se debe hablar alto.", "[Se debe] hablar alto."),
        ("es", "Esto se debe al clima.", None),
        ("es", "Está prohibido fumar.", "Está [permitido] fumar."),
        ("hi", "जूते उतारना चाहिए।", "जूते [नहीं] उतारना चाहिए।"),
        ("hi", "यह दिन शुभ माना जाता है।", "यह दिन [अशुभ] माना जाता है।"),
        ("ar", "يجب خلع الحذاء.", "[لا] يجب خلع الحذاء."),
        ("ar", "فلا يجوز الأكل.", None),
        ("bn", "জুতা খোলা উচিত।", "জুতা খোলা উচিত [নয়]।"),
        ("pt", "É proibido fumar aqui.", "É [permitido] fumar aqui."),
        ("pt", "Não se deve falar alto.", "[Se deve] falar alto."),
        ("ru", "Здесь принято снимать обувь.", "Здесь [не] принято снимать обувь."),
        ("ru", "Нельзя свистеть дома.", "[Можно] свистеть дома."),
        ("ja", "靴を脱ぐべきです。", "靴を脱ぐ[べきではありません]。"),
        ("ja", "箸を立ててはいけません。", "箸を立て[てもかまいません]。"),
        ("de", "Das gilt als unhöflich.", "Das gilt als [höflich]."),
        ("de", "Es wird immer größer.", None),
        ("fr", "Il faut enlever ses chaussures.", "Il [ne faut pas] enlever ses chaussures."),
        ("fr", "On doit saluer.", "On [ne doit pas] saluer."),
    ],
)
def test_negation(language: str, answer: str, expected: str | None) -> None:
    changed = change("negation", item(answer, language))
    assert marked(changed) == expected
    if changed:
        [mistake] = changed.mistakes
        assert mistake.severity == Severity.MAJOR
        assert mistake.type == "misrepresented norm"


@pytest.mark.parametrize("rule", ["quantifiers", "degree", "negation"])
def test_every_large_language_has_words(rule: str) -> None:
    assert sorted(data(rule)) == sorted([*TEN_LARGEST, "fa", "sw"])
    assert all(swaps(rule, language) for language in TEN_LARGEST)
    assert all(set(row) <= {"from", "to", "only_after", "unless_after"} for table in data(rule).values()
               for row in table["swaps"])  # fmt: skip


@pytest.mark.parametrize(
    ("language", "answer", "expected"),
    [
        ("en", "Guests usually bring a gift.", "Guests [rarely] bring a gift."),
        ("en", "Few people eat beef.", "[Many] people eat beef."),
        ("en", "It is not usually eaten.", None),
        ("es", "La gente cena tarde a menudo.", "La gente cena tarde [rara vez]."),
        ("de", "Man isst oft Brot.", "Man isst [selten] Brot."),
        ("ru", "Русские часто пьют чай.", "Русские [редко] пьют чай."),
        ("zh", "他们经常喝茶。", "他们[很少]喝茶。"),
        ("sw", "Watu wengi hula wali.", "Watu [wachache] hula wali."),
    ],
)
def test_degree(language: str, answer: str, expected: str | None) -> None:
    changed = change("degree", item(answer, language))
    assert marked(changed) == expected
    if changed:
        assert [mistake.severity for mistake in changed.mistakes] == [Severity.MINOR]


# -- numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "answer", "pattern"),
    [
        ("en", "It began in 1950.", r"It began in \[(?:18|19|20)\d\d\]\."),
        ("en", "In the 1960s it spread.", r"In the \[\d{3}0\]s it spread\."),
        ("en", "in the 19th century", r"in the \[\d+(?:st|nd|rd|th)\] century"),
        ("en", "School starts at 8:30 am.", r"School starts at \[\d+:30\] am\."),
        ("en", "About 60% are Muslim.", r"About \[\d\d?\]% are Muslim\."),
        ("en", "It is in May.", r"It is in \[[A-Z][a-z]+\]\."),
        ("en", "They may come on 3 dates.", r"They may come on \[\d+\] dates\."),
        ("en", "Shops close on Sundays.", r"Shops close on \[[A-Z][a-z]+days\]\."),
        ("en", "They have two sons.", r"They have \[[a-z]+\] sons\."),
        ("zh", "春节在一月。", r"春节在\[[一二三四五六七八九十]+月\]。"),
        ("zh", "每到星期天休息。", r"每到\[星期[一二三四五六]\]休息。"),
        ("ja", "祭りは7月です。", r"祭りは\[(?:[1-9]|1[0-2])\]月です。"),
        ("es", "Se celebra en marzo.", r"Se celebra en \[[a-z]+\]\."),
        ("hi", "यह १५ अगस्त को है।", r"यह (?:\[[०-९]+\] अगस्त|१५ \[\S+\]) को है।"),
        ("ar", "يصومون ٣٠ يوما.", r"يصومون \[[٠-٩]+\] يوما\."),
        ("bn", "এটি ১৯৭১ সালে হয়।", r"এটি \[[০-৯]{4}\] সালে হয়।"),
        ("pt", "Acontece em dezembro.", r"Acontece em \[[a-zç]+\]\."),
        ("ru", "Праздник 9 мая.", r"Праздник (?:\[\d+\] мая|9 \[[а-я]+[ая]\])\."),
        ("de", "Das Fest ist im Oktober.", r"Das Fest ist im \[[A-ZÄ][a-zä]+\]\."),
        ("fr", "La fête est en juillet.", r"La fête est en \[[a-zéû]+\]\."),
        ("sw", "Ilianza 1963.", r"Ilianza \[\d{4}\]\."),
        (None, "12", r"\[\d+\]"),
    ],
)
def test_numbers(language: str | None, answer: str, pattern: str) -> None:
    for seed in range(20):
        changed = change("numbers", item(answer, language), seed=seed)
        assert changed is not None
        assert re.fullmatch(pattern, marked(changed) or "")
        assert [mistake.severity for mistake in changed.mistakes] == [Severity.MINOR]
        assert changed.answer != answer


@pytest.mark.parametrize(
    "answer",
    ["COVID-19 came.", "Use A4 paper.", "See [12].", "They may march.", "1. Rice", "www.x.org/7", "a 5G phone",
     "1 child", "No numbers.", "Call 0123456789012345.", "as 1 Corinthians says in 11:4-7", "reigned 811-783"],
)  # fmt: skip
def test_what_is_no_quantity_stays(answer: str) -> None:
    assert change("numbers", item(answer)) is None


def test_a_range_stays_in_order() -> None:
    for seed in range(60):
        for answer in ("the war (1853-1856)", "the war 1853 – 1856", "10-15 minutes"):
            changed = change("numbers", item(answer), seed=seed)
            assert changed is not None
            low, high = map(int, re.findall(r"\d+", changed.answer))
            assert low < high


@pytest.mark.parametrize(
    ("answer", "called"),
    [
        ("There are 1652 indigenous languages in India.", "number"),
        ("They keep over 1200 islands clean.", "number"),
        ("It costs $1500 a year.", "number"),
        ("The 1984 elections were held in spring.", "year"),
        ("In 1990 schools were opened.", "year"),
        ("The Olympics of June 1988 athletes remember.", "year"),
        ("It was founded in 1652.", "year"),
    ],
)
def test_four_digits_before_things_that_are_counted_are_no_year(answer: str, called: str) -> None:
    for seed in range(9):
        edits = [edit for edit in changes(bare(item(answer)), EMPTY, seed) if edit.rule == "numbers"]
        notes = {
            mistake.explanation.split(";")[0].split("is the wrong ")[1] for edit in edits for mistake in edit.mistakes
        }
        assert notes <= {called, "month"}
        assert notes


@pytest.mark.parametrize(
    ("answer", "pattern"),
    [
        ("for 15-30 minutes", r"“(\d+-30)” is the wrong range; “15-30” is correct\."),
        ("from 1747-1823", r"“(\d+-1823)” is the wrong period; “1747-1823” is correct\."),
        ("on 05/02", r"“(\d+/02)” is the wrong date; “05/02” is correct\."),
        ("at 8:30 am", r"“(\d+:30)” is the wrong time; “8:30” is correct\."),
        ("by 80,000-90,000 people", r"“([4-8]\d,000-90,000)” is the wrong range; “80,000-90,000” is correct\."),
    ],
)
def test_an_explanation_names_the_same_kind_of_words_twice(answer: str, pattern: str) -> None:
    for seed in range(20):
        changed = change("numbers", item(answer), seed=seed)
        assert changed is not None
        match = re.fullmatch(pattern, changed.mistakes[0].explanation)
        assert match
        assert f"[{match[1]}]" in (marked(changed) or "")


def test_a_reversed_norm_says_what_the_correct_wording_is() -> None:
    changed = change("negation", item("It is correct to stand up when an elder enters."))
    assert marked(changed) == "It is [incorrect] to stand up when an elder enters."
    assert changed is not None
    explanation = "“incorrect” reverses the norm; the correct wording is “correct”."
    assert changed.mistakes[0].explanation == explanation


def test_a_number_that_is_also_right_is_not_put_in() -> None:
    right = tuple(str(n) for n in range(1, 12) if n not in {7, 9})
    assert {marked(change("numbers", item("7", also_correct=right), seed=seed)) for seed in range(9)} <= {"[9]", "[12]"}


def test_a_year_is_never_in_the_future() -> None:
    years = [change("numbers", item("in 2024"), seed=seed) for seed in range(60)]
    assert all(changed and int(changed.answer[3:]) <= 2025 for changed in years)


# -- swap --------------------------------------------------------------------------------------------------


def question(country: str, region: str, answer: str, *also: str) -> SourceItem:
    return item(
        answer, source="blend", id=region, task=Task.QA, question=f"What do people in {country} eat at New Year?",
        region=region, also_correct=also,
    )  # fmt: skip


JAPAN = question("Japan", "JP", "soba", "mochi")
SPAIN = question("Spain", "ES", "grapes", "lentils")
ITALY = question("Italy", "IT", "lentils", "cotechino")
POOL = Pool([JAPAN, SPAIN, ITALY])


def test_the_answer_of_another_culture_to_the_same_question() -> None:
    changed = change("swap", JAPAN, POOL)
    assert marked(changed) == "[grapes]"  # lentils are right in two cultures, mochi is right here
    assert changed is not None
    [mistake] = changed.mistakes
    assert mistake.explanation == "“grapes” fits Spain; what is correct for Japan is “soba”."
    assert (mistake.severity, mistake.type) == (Severity.MAJOR, "misrepresentation")


def test_an_answer_that_says_more_or_less_of_a_right_one_is_not_wrong() -> None:
    assert change("swap", question("Japan", "JP", "soba", "white grape"), POOL) is None


def test_an_answer_of_the_same_country_is_not_put_in() -> None:
    java, turkey = question("West Java", "ID-JB", "seblak"), question("Turkey", "TR", "baklava")
    kurdistan, indonesia = question("Kurdistan", "XX-KURDISTAN", "dolma"), question("Indonesia", "ID", "rendang")
    pool = Pool([java, turkey, kurdistan, indonesia])
    assert {name for name, _ in pool.answers(java)} == {"baklava", "dolma"}
    assert {name for name, _ in pool.answers(indonesia)} == {"baklava", "dolma"}
    assert {name for name, _ in pool.answers(turkey)} == {"seblak", "rendang"}


def test_an_answer_to_another_question_is_not_put_in() -> None:
    other = JAPAN.model_copy(update={"question": "What do people in Japan drink at New Year?"})
    assert change("swap", other, POOL) is None


@pytest.mark.parametrize(
    ("language", "answer", "pattern"),
    [
        ("en", "Sushi is Japanese food.", r"Sushi is \[(?:Spanish|Italian)\] food\."),
        ("en", "It is an Italian dish.", None),  # neither would go with "an"
        ("en", "They live in Japan.", r"They live in \[(?:Spain|Italy)\]\."),
        ("zh", "日本人吃寿司。", r"\[(?:西班牙|意大利)\]人吃寿司。"),
        ("ja", "日本の祭りです。", r"\[(?:スペイン|イタリア)\]の祭りです。"),
        ("fr", "C'est une fête en Italie.", r"C'est une fête en \[Espagne\]\."),
        ("de", "In Japan isst man Reis.", r"In \[(?:Spanien|Italien)\] isst man Reis\."),
        ("hi", "जापान में लोग चावल खाते हैं।", r"\[इटली\] में लोग चावल खाते हैं।"),
        ("en", "South Italian towns", None),
        ("ru", "Это праздник в Японии.", None),
    ],
)
def test_names_of_countries_and_peoples(language: str, answer: str, pattern: str | None) -> None:
    for seed in range(9):
        text = marked(change("swap", item(answer, language, region="JP"), POOL, seed))
        assert (re.fullmatch(pattern, text) if text and pattern else text) != (None if pattern else "")
        assert (text is None) == (pattern is None)


@pytest.mark.parametrize(
    ("answer", "region", "explanation"),
    [
        ("Tea came from Japan.", "JP", "what is correct for Japan is “Japan”."),
        ("Tea came from Japan.", "DE", "what is correct here is “Japan”."),
        ("Such tea is Japanese.", "ES-CT", "what is correct here is “Japanese”."),
    ],
)
def test_a_name_of_another_country_is_not_called_correct_for_the_region(
    answer: str, region: str, explanation: str
) -> None:
    changed = change("swap", item(answer, region=region), POOL)
    assert changed is not None
    assert changed.mistakes[0].explanation.endswith(f"fits another culture; {explanation}")


def test_a_country_of_the_question_is_not_put_in() -> None:
    moved = item("They moved to Japan.", region="JP", question="Who left Spain?")
    assert {marked(change("swap", moved, POOL, seed)) for seed in range(9)} == {"They moved to [Italy]."}


def test_names_that_several_items_of_one_culture_use() -> None:
    texts = {"IR": "Families meet during Nowruz for tea.", "IN": "Lamps are lit during Diwali at home."}
    items = [item(text, id=f"{code}{n}", region=code) for code, text in texts.items() for n in range(2)]
    changed = change("swap", items[0], Pool(items))
    assert marked(changed) == "Families meet during [Diwali] for tea."
    assert changed is not None
    assert changed.mistakes[0].explanation == "“Diwali” fits India; what is correct for Iran is “Nowruz”."
    assert change("swap", items[0], Pool(items[:3])) is None  # one use is no proof
    both = [*items, item(texts["IN"], id="x", region="NP")]
    assert change("swap", items[0], Pool(both)) is None  # two cultures use it


def test_nothing_to_swap_without_a_pool() -> None:
    assert change("swap", JAPAN) is None


def test_a_bounded_pool_does_not_depend_on_the_order() -> None:
    keys = [f"key{n}" for n in range(200)]

    def counts(order: list[str]) -> dict[str, int]:
        bounded: Bounded[str, list[int]] = Bounded(20, list)
        for key in order:
            if (uses := bounded.get(key)) is not None:
                uses.append(1)
        return {key: len(uses) for key, uses in bounded.values.items()}

    forwards = counts(keys * 2)
    assert forwards == counts(keys[::-1] * 2)
    assert list(forwards.values()) == [2] * 20


# -- what no rule may change -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("en", "1. Wash the rice\n2. Add water"),
        ("en", "You need: 1) rice, 2) beans and (3) salt"),
        ("zh", "1、洗米\n2、加水"),
        ("ja", "①米 (1)洗う (2)炊く"),
        ("ru", "1) рис\n2) вода"),
        ("ar", "١. الأرز\n٢. الماء"),
        ("en", "I am 34 years old and have lived in Peru since 1999."),
        ("en", "In my family we always eat at 7."),
        ("de", "Ich bin 34 und esse oft Brot."),
        ("es", "Tengo 34 años y ceno a menudo a las 10."),
        ("fr", "J'ai 34 ans et je mange souvent du pain."),
        ("ru", "Мне 34 года, я часто пью чай."),
        ("zh", "我今年34岁，通常喝茶。"),
        ("ja", "私は34歳で、多くの祭りに行きます。"),
        ("hi", "मैं 34 साल का हूँ और अक्सर चाय पीता हूँ।"),
        ("ko", "저는 34살입니다."),
        ("en", "See https://example.org/2019/07 for more."),
        ("en", "Run `sleep 30` or mail tea2go@example.org."),
        ("en", "The history of tea (Mair, 2009) says so."),
        ("en", "The book was published in 1998."),
        ("de", "Das Buch ist 1998 erschienen."),
        ("en", "See page 12 and step 3."),
        ("lt", "2, 4, 1, 3."),
    ],
)
def test_what_is_not_cultural_stays(language: str, answer: str) -> None:
    for seed in range(5):
        assert [marked(changed) for changed in changes(bare(item(answer, language)), POOL, seed, most=3)] == []


def test_only_the_sentence_about_the_writer_is_kept() -> None:
    text = "I am 34 years old. In Peru people have 3 meals."
    for seed in range(9):
        assert re.fullmatch(r"I am 34 years old\. In Peru people have \[\d+\] meals\.",
                            marked(change("numbers", item(text), seed=seed)) or "")  # fmt: skip


# -- sentences ---------------------------------------------------------------------------------------------


def test_an_answer_in_a_sentence_is_changed_at_its_place() -> None:
    stated = sentence(JAPAN)
    assert stated is not None
    assert stated.text == "What people in Japan eat at New Year is soba."
    texts = {changed.rule: marked(changed) for changed in changes(stated, POOL, 0)}
    assert texts == {"swap": "What people in Japan eat at New Year is [grapes]."}


def test_words_of_the_question_may_be_wrong_in_a_sentence_but_not_its_country() -> None:
    asked = item("rice", task=Task.QA, question="What do people in Japan usually eat at 7 am?", region="JP")
    stated = sentence(asked)
    assert stated is not None
    texts = {changed.rule: marked(changed) for changed in changes(stated, POOL, 0)}
    assert texts == {
        "degree": "What people in Japan [rarely] eat at 7 am is rice.",
        "quantifiers": "What people in Japan [always] eat at 7 am is rice.",
    }


def test_several_errors_of_one_text_are_apart_and_each_has_its_severity() -> None:
    text = "Guests often bring a gift. You should bow. It began in 1950."
    every = list(changes(bare(item(text)), EMPTY, 0, most=3))
    assert [len(changed.mistakes) for changed in every] == [1, 1, 1, 1, 2, 3]
    for changed in every[-2:]:
        assert changed.rule == "+".join(sorted({mistake.rule for mistake in changed.mistakes}))
        for mistake in changed.mistakes:
            assert f"“{changed.answer[mistake.start : mistake.end]}”" in mistake.explanation
            assert mistake.severity is RULES[mistake.rule].severity


# -- every change ------------------------------------------------------------------------------------------

FRAGMENTS = [
    "Many people", "should", "must not", "is considered rude", "in Japan", "Italian", "on Monday", "often", "always",
    "1984", "3.5", "12:30", "٣", "१९८४", "1990s", "21st", "अक्सर", "करना चाहिए", "通常", "应该", "日本", "多くの",
    "べきです", "часто", "нельзя", "oft", "immer", "a menudo", "se debe", "muitas vezes", "souvent", "il faut",
    "غالبًا", "يجب", "সাধারণত", "উচিত", "é", "\u0301", ".", ",", "\n", "{new}", "{", "-", "’",
]  # fmt: skip
answers = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(" ".join))


@pytest.mark.slow
@given(answers, st.sampled_from(TEN_LARGEST), st.integers(0, 5), st.lists(answers, max_size=2))
def test_every_change_changes_words_and_marks_them(answer: str, language: str, seed: int, also: list[str]) -> None:
    unchanged = bare(item(answer, language, region="IT", also_correct=tuple(also)))
    every = list(changes(unchanged, POOL, seed, most=3))
    single = [changed for changed in every if len(changed.mistakes) == 1]
    assert len({changed.rule for changed in single}) == len(single)
    assert [len(changed.mistakes) for changed in every[len(single) :]] in ([], [2], [2, 3])
    for changed in every:
        assert differences(answer, changed.answer)
        assert changed.correct == answer
        rest, end = answer, 0
        for mistake in changed.mistakes:
            kept = changed.answer[end : mistake.start].strip()
            assert kept in rest  # what is not marked was there before, in this order
            rest, end = rest[rest.index(kept) + len(kept) :], mistake.end
            quote = changed.answer[mistake.start : mistake.end]
            assert quote == quote.strip() != ""
            assert f"“{quote}”" in mistake.explanation
            assert (mistake.severity, mistake.type) == (RULES[mistake.rule].severity, RULES[mistake.rule].type)
        assert changed.answer[end:].strip() in rest
    for changed in single:
        assert folded(changed.answer) not in {folded(correct) for correct in (answer, *also)}
    assert every == list(changes(unchanged, POOL, seed, most=3))


@pytest.mark.slow
def test_changes_do_not_depend_on_the_order_of_items_or_the_hash_seed() -> None:
    script = (
        "from tests.factory.test_rules import *\n"
        "pool = Pool([ITALY, SPAIN, JAPAN])\n"
        "given = item('Many people in Japan should rest on Monday 3 May 1999 in Spain.', region='JP')\n"
        "print(list(changes(bare(given), pool, 5, most=3)), list(changes(bare(SPAIN), pool, 5)))"
    )

    def run(hash_seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    many = item("Many people in Japan should rest on Monday 3 May 1999 in Spain.", region="JP")
    here = [list(changes(bare(many), POOL, 5, most=3)), list(changes(bare(SPAIN), POOL, 5))]
    assert len(here[0]) == len(SINGLE) + 2
    assert run("1") == f"{here[0]} {here[1]}\n"


def test_the_seed_and_the_item_decide() -> None:
    text = "It was in 1950."
    assert len({marked(change("numbers", item(text), seed=seed)) for seed in range(20)}) > 3
    assert len({marked(change("numbers", item(text, id=str(n)))) for n in range(20)}) > 3
