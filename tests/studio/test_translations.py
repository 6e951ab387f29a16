"""The languages of the pages: whole files, the same values in every sentence, names and numbers as people write."""

from __future__ import annotations

import ast
import json
import re
import string

import pytest
from babel.messages.pofile import read_po

from mores.studio.phrase import Phrase, keep_phrases, read_phrases
from mores.studio.records import Role
from mores.studio.store.database import Database
from mores.studio.web.pages import (
    LOCALES,
    environment,
    language_in,
    list_locales,
    region_in,
    show_duration,
    translate,
    translator,
)
from mores.studio.web.places import find_name
from tests.studio.play import Play, Player
from tools.translations import LANGUAGES, NOTE, STUDIO, texts

VALUES = re.compile(r"%\(\w+\)s|\{\w+\}")
NAMES = {"CulturALL", "CulturalBench", "CulturalTeaming", "κ", "JSON Lines", "Parquet", "Label Studio"}
NAMES |= {"excam", "juice", "mqm"}
"""What is the same in every language."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_and_nothing_is_left_over(language: str) -> None:
    known = translate(language)
    assert sorted(set(texts()) - set(known)) == []
    assert sorted(set(known) - set(texts())) == []


IN_ENGLISH = (
    "data/",
    "campaigns/__init__",
    "campaigns/culturall/drafting",
    "campaigns/culturall/topics",
    "campaigns/marking/imports",
    "campaigns/rating/content",
    "campaigns/validation/rows",
    "demo",
    "manage",
    "plain_yaml",
    "serve",
    "store/backup",
    "store/database",
    "tasks",
)
"""What is wrong with a file, a model's answer or the server is said as in the terminal, with the file and the line."""

RAISED = {"StageDecision", "FormError", "HTTPException", "InputError", "Refused", "Unknown"}


def test_no_message_is_put_together_where_it_cannot_be_translated() -> None:
    raised = []
    for path in sorted(STUDIO.rglob("*.py")):
        if any(name in str(path.relative_to(STUDIO).with_suffix("")) for name in IN_ENGLISH):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RAISED:
                joined = [part for part in node.args if isinstance(part, ast.JoinedStr)]
                raised += [f"{path.name}:{part.lineno}: use Phrase" for part in joined]
    assert raised == []


def test_phrases_are_kept_whole_and_said_in_the_language_of_the_page() -> None:
    inner = Phrase("Give at most {count}.", count=4000)
    note = Phrase.join([inner, "{Amina} wrote this"], "\n")
    kept = json.loads(json.dumps(keep_phrases({"note": note, "plain": ["a", 1]})))
    read = read_phrases(kept)
    assert read == {"note": "Give at most 4,000.\n{Amina} wrote this", "plain": ["a", 1]}
    say = translator("es")
    spanish = translate("es")["Give at most {count}."].format(count="4.000")
    assert say(read["note"]) == f"{spanish}\n{{Amina}} wrote this"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_values_of_its_text(language: str) -> None:
    for text, translated in translate(language).items():
        assert sorted(VALUES.findall(text)) == sorted(VALUES.findall(translated)), text
        assert "%%" not in translated, text


@pytest.mark.parametrize("language", ["ar", "hi", "zh"])
def test_a_translation_is_in_the_script_of_its_language(language: str) -> None:
    """A text that was copied, or that is in another language, would have few letters of the script."""
    for text, translated in translate(language).items():
        letters = [letter for letter in VALUES.sub("", translated) if letter.isalpha()]
        if text not in NAMES and letters and text != "AI":
            assert any(letter not in string.ascii_letters for letter in letters), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_file_says_that_it_is_machine_made(language: str) -> None:
    path = LOCALES / f"{language}.po"
    assert NOTE in path.read_text("utf-8").splitlines()[0]
    with path.open("rb") as file:
        assert len(read_po(file, locale=language)) == len(texts())


def test_names_of_regions_and_languages_are_in_the_language_of_the_page() -> None:
    assert [region_in("KE", code) for code in ("en", "es", "zh")] == ["Kenya", "Kenia", "肯尼亚"]
    assert [language_in("sw", code) for code in ("en", "sw", "zh")] == ["Swahili", "Kiswahili", "斯瓦希里语"]
    assert region_in("IN-TN", "es") == "Tamil Nadu"
    assert find_name(region_in("KE", "ar"), "ar") == "KE"


def test_numbers_and_times_are_written_as_in_the_language() -> None:
    def number(language: str) -> str:
        return environment(language).from_string("{{ 12345.5|number }}").render()

    assert [number("en"), number("es"), number("hi")] == ["12,345.5", "12.345,5", "12,345.5"]
    assert [show_duration(45), show_duration(200), show_duration(7500)] == ["45 sec", "3 min 20 sec", "2 hr 5 min"]
    assert "分钟" in show_duration(200, "zh")


@pytest.fixture
def play(database: Database) -> Play:
    return Play(database, "culturalteaming", regions=["Kenya"])


@pytest.mark.slow
def test_a_stranger_chooses_by_the_link_the_browser_or_the_footer(play: Play) -> None:
    stranger = Player(play.browser(), play)

    def shown(page: str) -> str:
        return "".join(re.findall(r'<html lang="(\w+)" dir="(\w+)"', page)[0])

    assert shown(stranger.open("/login").text) == "enltr"
    assert shown(stranger.browser.get("/login", headers={"accept-language": "sw-KE,en;q=0.5"}).text) == "swltr"
    assert shown(stranger.browser.get("/login?lang=ar").text) == "arrtl"
    assert shown(stranger.open("/login").text) == "arrtl", "the choice of a link is kept"
    stranger.browser.post("/language", data=stranger.hidden() | {"locale": "hi", "back": "/login"})
    assert shown(stranger.open("/login").text) == "hiltr"


def test_choosing_a_language_keeps_one_where_one_is_and_nowhere_else(play: Play) -> None:
    author = play.person(Role.AUTHOR, "Amina")
    author.open()
    answer = author.browser.post(
        "/language", data=author.hidden() | {"locale": "ar", "back": "/me"}, follow_redirects=False
    )
    assert answer.headers["location"] == "/me"
    assert '<html lang="ar" dir="rtl">' in author.open().text
    for back in ("//evil.example", "https://evil.example", "/\\evil.example", ""):
        answer = author.browser.post(
            "/language", data=author.hidden() | {"locale": "xx", "back": back}, follow_redirects=False
        )
        assert answer.headers["location"] == "/"
    assert '<html lang="en" dir="ltr">' in author.open().text, "an unknown language is none"


def test_people_write_countries_and_languages_in_their_own_language(play: Play) -> None:
    author = play.person(Role.AUTHOR, "Amina")
    author.open("/me")
    author.send("/me", name="Amina", nationality="Kenya", home="Kenya", languages="Swahili", locale="ar")
    names = f"{region_in('KE', 'ar')}، {region_in('TZ', 'ar')}"
    author.open("/me")
    page = author.send(
        "/me", name="Amina", nationality=names, home=names, languages=language_in("sw", "ar"), locale="en"
    )
    assert page.status_code == 200
    assert 'value="Kenya, Tanzania"' in author.open("/me").text


def test_every_language_is_offered_by_its_own_name(play: Play) -> None:
    page = Player(play.browser(), play).open("/login").text
    for code, name in list_locales().items():
        assert f'value="{code}" lang="{code}"' in page
        assert f">{name}</button>" in page
