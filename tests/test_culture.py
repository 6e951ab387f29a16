"""Languages and regions: golden cases, the lists of the ExCAM paper (Appendix E), and properties."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from typing import Any

import pycountry
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.culture import (
    RTL_SCRIPTS,
    accepts,
    countries,
    country,
    is_rtl,
    language,
    language_name,
    languages,
    local_region_name,
    mentions,
    mentions_country,
    region,
    region_name,
    regions,
    roll_up,
    script,
)
from mores.errors import InputError

PAPER_LANGUAGES = {
    "Arabic": "ar",
    "Chinese": "zh",
    "English": "en",
    "German": "de",
    "Hebrew": "he",
    "Hindi": "hi",
    "Japanese": "ja",
    "Korean": "ko",
    "Russian": "ru",
    "Spanish": "es",
    "Telugu": "te",
    "Italian": "it",
    "Turkish": "tr",
    "Lithuanian": "lt",
    "Uzbek": "uz",
    "Bulgarian": "bg",
    "Armenian": "hy",
    "Serbian": "sr",
    "Malay": "ms",
    "Ukrainian": "uk",
    "Belarusian": "be",
    "Polish": "pl",
    "Bengali": "bn",
    "Azerbaijani": "az",
    "Greek": "el",
    "Dutch; Flemish": "nl",
    "Indonesian": "id",
    "Kazakh": "kk",
    "North Macedonian": "mk",
    "Vietnamese": "vi",
    "Finnish": "fi",
    "Basque": "eu",
    "Tagalog": "fil",
    "Croatian": "hr",
    "Nepali": "ne",
    "Hungarian": "hu",
    "Estonian": "et",
    "French": "fr",
    "Persian": "fa",
    "Tamil": "ta",
    "Urdu": "ur",
    "Malayalam": "ml",
    "Portuguese": "pt",
    "Georgian": "ka",
    "Albanian": "sq",
}

CALMQA_LANGUAGES = {
    "Afar": "aa",
    "Balochi": "bal",
    "Faroese": "fo",
    "Fijian": "fj",
    "Hiligaynon": "hil",
    "Kirundi": "rn",
    "Papiamento": "pap",
    "Pashto": "ps",
    "Samoan": "sm",
    "Tongan": "to",
    "Tswana": "tn",
    "Wolof": "wo",
}

PAPER_REGIONS = (
    "AF Afghanistan, AL Albania, DZ Algeria, AD Andorra, AO Angola, AR Argentina, AM Armenia, AU "
    "Australia, AT Austria, AZ Azerbaijan, BD Bangladesh, BY Belarus, BE Belgium, BO Bolivia, BA Bosnia "
    "and Herzegovina, BR Brazil, BG Bulgaria, BF Burkina Faso, CA Canada, CL Chile, CN China, CO "
    "Colombia, CI Côte d’Ivoire, HR Croatia, CU Cuba, CY Cyprus, CZ Czechia, DK Denmark, EC Ecuador, EG "
    "Egypt, SV El Salvador, EE Estonia, ET Ethiopia, FI Finland, FR France, GE Georgia, DE Germany, GH "
    "Ghana, GR Greece, GT Guatemala, HN Honduras, HK Hong Kong (SAR), HU Hungary, IS Iceland, IN India, "
    "ID Indonesia, IR Iran, IQ Iraq, IE Ireland, IL Israel, IT Italy, JP Japan, JO Jordan, KZ Kazakhstan, "
    "KE Kenya, KW Kuwait, KG Kyrgyzstan, LA Laos, LV Latvia, LB Lebanon, LY Libya, LT Lithuania, MO Macau "
    "(SAR), MY Malaysia, MV Maldives, ML Mali, MT Malta, MU Mauritius, MX Mexico, MN Mongolia, ME "
    "Montenegro, MA Morocco, MM Myanmar, NP Nepal, NL Netherlands, NZ New Zealand, NI Nicaragua, NG "
    "Nigeria, KP North Korea, MK North Macedonia, NO Norway, PK Pakistan, PS Palestinian Territories, PE "
    "Peru, PH Philippines, PL Poland, PT Portugal, PR Puerto Rico, RO Romania, RU Russia, WS Samoa, SA "
    "Saudi Arabia, SN Senegal, RS Serbia, SG Singapore, SK Slovakia, SI Slovenia, SO Somalia, ZA South "
    "Africa, KR South Korea, ES Spain, LK Sri Lanka, SD Sudan, SE Sweden, CH Switzerland, SY Syria, TW "
    "Taiwan, TJ Tajikistan, TZ Tanzania, TH Thailand, TL Timor-Leste, TN Tunisia, TR Turkey, UG Uganda, "
    "UA Ukraine, GB United Kingdom, US United States, UY Uruguay, UZ Uzbekistan, VE Venezuela, VN "
    "Vietnam, ZW Zimbabwe"
)


def test_every_language_of_the_papers() -> None:
    tags = PAPER_LANGUAGES | CALMQA_LANGUAGES
    assert {name: language(name) for name in tags} == tags
    assert {name: language(language_name(tag)) for name, tag in tags.items()} == tags


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        ("pt_br", "pt-BR"),
        ("zh-Hans-CN", "zh-Hans-CN"),
        ("ZH_hant", "zh-Hant"),
        ("es-419", "es-419"),
        ("en-UK", "en-GB"),
        (" de ", "de"),
        ("deu", "de"),
        ("ger", "de"),
        ("cmn", "zh"),
        ("arb_Arab", "ar"),
        ("eng_Latn", "en"),
        ("zh-yue", "yue"),
        ("iw", "he"),
        ("tl", "fil"),
        ("und", "und"),
        ("mul", "mul"),
        ("german", "de"),
        ("Rundi", "rn"),
        ("Farsi", "fa"),
        ("Mandarin", "zh"),
        ("Brazilian Portuguese", "pt-BR"),
        ("Traditional Chinese", "zh-Hant"),
        ("Chinese (Simplified)", "zh-Hans"),
        ("Chinese, Simplified", "zh-Hans"),
        ("Chinese (Traditional, Hong Kong)", "zh-Hant-HK"),
        ("English (UK)", "en-GB"),
        ("English (Scotland)", "en-GB"),
        ("Norwegian Bokma\u030al", "nb"),
        ("Deutsch", "de"),
        ("日本語", "ja"),
        ("العربية", "ar"),
        ("हिन्दी", "hi"),
        ("Malti", "mt"),
        ("Lao", "lo"),
        ("mon", "mn"),
        ("MON", "mn"),
    ],
)
def test_language(value: str, tag: str) -> None:
    assert language(value) == tag


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "xx",
        "english1",
        "qqq-zz",
        "1901",
        "419",
        "ua",
        "edo",
        "a",
        "C",
        "en--US",
        "en-GB-oxenfree",
        "kg-keu",
        "\ud800",
        "\0",
    ],
)
def test_what_is_no_language_is_refused(value: str) -> None:
    with pytest.raises(InputError, match=r"^unknown language .*; "):
        language(value)


@pytest.mark.parametrize(
    "value", ["qaa", "x-dothraki", "en-x-pirate", "mis", "zxx", "en-ZZ", "ar-XA", "en-Qaaa", "zh-min"]
)
def test_private_and_special_codes_are_refused(value: str) -> None:
    with pytest.raises(InputError, match="unknown language"):
        language(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Germn", "unknown language 'Germn'; did you mean German (de)?"),
        ("jp", "unknown language 'jp'; did you mean Japanese (ja)?"),
        ("xx", "unknown language 'xx'; use a BCP 47 tag such as 'pt-BR' or an English name"),
        (
            "Mon",
            "language 'Mon' is the code of Mongolian (mn) and the name of Mon (mnw); write 'mn' or 'mnw'",
        ),
    ],
)
def test_language_messages(value: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        language(value)
    assert str(caught.value) == message


def test_a_suggestion_names_the_language_within_the_words() -> None:
    with pytest.raises(InputError, match=r"did you mean Hindi \(hi\)"):
        language("Hindi language")


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("de", "German"),
        ("pt-BR", "Portuguese (Brazil)"),
        ("zh-Hant-HK", "Chinese (Traditional, Hong Kong)"),
        ("es-419", "Spanish (Latin America)"),
        ("und", "Unknown language"),
        ("mul", "Multiple languages"),
    ],
)
def test_language_name(tag: str, name: str) -> None:
    assert language_name(tag) == name


@pytest.mark.parametrize(
    "tag",
    ["ar", "he", "fa", "ur", "ps", "bal", "yi", "dv", "ckb", "sd", "ug", "pa-Arab", "az-Arab", "pa-PK", "und-Arab"],
)
def test_right_to_left(tag: str) -> None:
    assert is_rtl(tag)


@pytest.mark.parametrize("tag", [None, "en", "ku", "pa", "az", "tr", "ja", "mn-Mong", "yi-Latn", "und", "mul"])
def test_left_to_right(tag: str | None) -> None:
    assert not is_rtl(tag)


@pytest.mark.slow
def test_right_to_left_scripts_agree_with_unicode() -> None:
    """The letters of a script in Python's Unicode data run from right to left exactly when it is in the table."""
    scripts = {script.name.upper(): script.alpha_4 for script in pycountry.scripts}
    compared = set()
    for character in map(chr, range(0x110000)):
        script = scripts.get(unicodedata.name(character, "").split(" LETTER ")[0])
        if script and unicodedata.category(character) == "Lo":
            rtl = unicodedata.bidirectional(character) in {"R", "AL"}
            assert rtl == (script in RTL_SCRIPTS.split()), (script, unicodedata.name(character))
            compared.add(script)
    assert {"Arab", "Hebr", "Thaa", "Telu"} <= compared


def test_every_region_of_the_paper() -> None:
    names = dict(entry.split(" ", 1) for entry in PAPER_REGIONS.split(", "))
    assert {region(name): name for name in names.values()} == names
    shown = names | {"HK": "Hong Kong", "MO": "Macao", "TR": "Türkiye"}
    assert {code: region_name(code) for code in names} == shown


def test_every_spelling_of_iso_3166() -> None:
    for entry in pycountry.countries:
        spellings = [spelling for field, spelling in entry if field != "flag"]
        assert {region(spelling) for spelling in spellings} == {entry.alpha_2}
        assert region(region_name(entry.alpha_2)) == entry.alpha_2


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("UK", "GB"),
        ("uk", "GB"),
        ("U.K.", "GB"),
        ("Great Britain", "GB"),
        ("USA", "US"),
        ("usa", "US"),
        ("076", "BR"),
        ("76", "BR"),
        ("AND", "AD"),
        ("South Korea", "KR"),
        ("Korea, Republic of", "KR"),
        ("Russia", "RU"),
        ("Ivory Coast", "CI"),
        ("Cote d'Ivoire", "CI"),
        ("Türkiye", "TR"),
        ("Turkey", "TR"),
        ("Palestine", "PS"),
        ("Macau", "MO"),
        ("Czech Republic", "CZ"),
        ("Burma", "MM"),
        ("Swaziland", "SZ"),
        ("Cape Verde", "CV"),
        ("Macedonia", "MK"),
        ("DR Congo", "CD"),
        ("Democratic Republic of the Congo", "CD"),
        ("Republic of the Congo", "CG"),
        ("Vatican", "VA"),
        ("Kosovo", "XK"),
        ("XK", "XK"),
        ("The Gambia", "GM"),
        ("Iran (Islamic Republic of)", "IR"),
        ("St Kitts & Nevis", "KN"),
    ],
)
def test_region(value: str, code: str) -> None:
    assert region(value) == code


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Irann", "unknown region 'Irann'; did you mean Iran (IR)?"),
        ("Middle Nigeria", "unknown region 'Middle Nigeria'; did you mean Nigeria (NG)?"),
        ("Cataloonia", "unknown region 'Cataloonia'; did you mean Catalonia (ES-CT)?"),
        ("ES-ZZ", "unknown region 'ES-ZZ'; did you mean Spain (ES)?"),
        (
            "La Paz",
            "region 'La Paz' is the name of 3 regions (BO-L in Bolivia, HN-LP in Honduras, SV-PA in El Salvador); "
            "write the code of one",
        ),
        ("Korea", "unknown region 'Korea'; did you mean South Korea (KR) or North Korea (KP)?"),
        ("Atlantis", "unknown region 'Atlantis'; use an ISO 3166 code such as 'BR' or 'ES-CT', or an English name"),
    ],
)
def test_region_messages(value: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        region(value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "code", "name"),
    [
        ("ES-CT", "ES-CT", "Catalonia"),
        ("es_ct", "ES-CT", "Catalonia"),
        ("Catalonia", "ES-CT", "Catalonia"),
        ("Catalunya", "ES-CT", "Catalonia"),
        ("Cataluña", "ES-CT", "Catalonia"),
        ("Assam", "IN-AS", "Assam"),
        ("Tamil Nadu", "IN-TN", "Tamil Nadu"),
        ("West Java", "ID-JB", "West Java"),
        ("Jawa Barat", "ID-JB", "West Java"),
        ("Hawaii", "US-HI", "Hawaii"),
        ("Hawaiʻi", "US-HI", "Hawaii"),
        ("Québec", "CA-QC", "Quebec"),
        ("Brittany", "FR-BRE", "Brittany"),
        ("Tibet", "CN-XZ", "Tibet"),
        ("Basque Country", "ES-PV", "Basque Country"),
        ("Scotland", "GB-SCT", "Scotland"),
        ("UK-SCT", "GB-SCT", "Scotland"),
        ("England", "GB-ENG", "England"),
        ("Asturias", "ES-AS", "Asturias"),
        ("Principado de Asturias", "ES-AS", "Asturias"),
        ("Hunan", "CN-HN", "Hunan"),
        ("GB-AND", "GB-AND", "Ards and North Down"),
        ("IN-TG", "IN-TS", "Telangana"),
        ("Northern Nigeria", "NG-NORTH", "Northern Nigeria"),
        ("Kano State", "NG-KN", "Kano"),
        ("Somali", "SO", "Somalia"),
        ("ET-SO", "ET-SO", "Somali (Ethiopia)"),
        ("Niger State", "NG-NI", "Niger (Nigeria)"),
        ("Georgia, US", "US-GA", "Georgia (United States)"),
        ("La Paz (Bolivia)", "BO-L", "La Paz (Bolivia)"),
        ("Punjab, Pakistan", "PK-PB", "Punjab (Pakistan)"),
        ("Punjab", "XX-PUNJAB", "Punjab"),
        ("Kurdistan", "XX-KURDISTAN", "Kurdistan"),
        ("Iraqi Kurdistan", "IQ-KR", "Kurdistan Region of Iraq"),
        ("Sapmi", "XX-SAPMI", "Sápmi"),
        ("US-PR", "PR", "Puerto Rico"),
        ("CN-HK", "HK", "Hong Kong"),
        ("FR-971", "GP", "Guadeloupe"),
    ],
)
def test_parts_of_countries_and_cultural_regions(value: str, code: str, name: str) -> None:
    assert region(value) == code
    assert region_name(code) == name


def test_every_part_is_read_back_from_its_name_and_lies_in_a_country() -> None:
    codes = {region(unit.code) for unit in pycountry.subdivisions}
    assert len(codes) > 5_000
    for code in codes:
        assert region(region_name(code)) == code
        assert countries(code) == (country(code),)
        assert country(code) in {code, code[:2]}


def test_a_country_comes_before_a_part_of_the_same_name() -> None:
    assert {name: region(name) for name in ("Georgia", "Mexico", "Luxembourg", "Niger", "Mali", "MUS")} == {
        "Georgia": "GE", "Mexico": "MX", "Luxembourg": "LU", "Niger": "NE", "Mali": "ML", "MUS": "MU",
    }  # fmt: skip


def test_parts_roll_up_to_their_country() -> None:
    assert roll_up("ES-CT") == ("ES", "ES-CT")
    assert roll_up("NG-NORTH") == ("NG", "NG-NORTH")
    assert roll_up("ES") == ("ES", None)
    assert roll_up("PR") == ("PR", None)
    assert roll_up("Atlantis") == ("Atlantis", None)


def test_a_region_of_several_countries_stands_for_itself() -> None:
    assert roll_up("XX-KURDISTAN") == ("XX-KURDISTAN", None)
    assert countries("Kurdistan") == ("IQ", "IR", "SY", "TR")
    assert countries("Bengal") == ("BD", "IN")


@pytest.mark.parametrize(
    "value", ["", " ", "the", "ZZ", "EU", "SU", "419", "0", "\ud800", "Europe", "North", "Central Region"]
)
def test_what_is_no_region_is_refused(value: str) -> None:
    with pytest.raises(InputError, match=r"^unknown region .*; "):
        region(value)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("KR", "South Korea"),
        ("IR", "Iran"),
        ("GB", "United Kingdom"),
        ("TW", "Taiwan"),
        ("XK", "Kosovo"),
        ("CD", "DR Congo"),
    ],
)
def test_region_name(code: str, name: str) -> None:
    assert region_name(code) == name


@pytest.mark.often("language")
@pytest.mark.parametrize("find", [language, region])
def test_a_very_long_value_is_refused_shortly(find: object) -> None:
    assert callable(find)
    with pytest.raises(InputError) as caught:
        find("en-" + "abcde-" * 100_000)
    assert len(str(caught.value)) < 200


@pytest.mark.slow
@given(st.one_of(st.text(), st.from_regex(r"\A[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4}\Z")))
def test_language_gives_a_canonical_tag_or_an_input_error(value: str) -> None:
    try:
        tag = language(value)
    except InputError:
        return
    assert language(tag) == tag
    assert language_name(tag)
    assert is_rtl(tag) in {True, False}


@given(st.text())
def test_region_gives_a_code_or_an_input_error(value: str) -> None:
    try:
        code = region(value)
    except InputError:
        return
    assert region(code) == code
    assert region_name(code)


@pytest.mark.slow
def test_every_iso_639_3_code_is_stable() -> None:
    for known in pycountry.languages:
        try:
            tag = language(known.alpha_3)
        except InputError:
            continue
        assert language(tag) == tag, known


# -- one language in another -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "detected", "same"),
    [
        ("no", "nb", True), ("no", "nn", True), ("nb", "nn", False), ("nb", "no", False), ("no", "da", False),
        ("zh", "cmn", True), ("zh", "yue", True), ("zh", "zh-Hant", True), ("zh-Hant", "zh", True),
        ("ar", "arz", True), ("ar", "ary", True), ("arz", "ary", False), ("fa", "pes", True), ("fa", "prs", True),
        ("ku", "kmr", True), ("ku", "ckb", True), ("ckb", "ku", False), ("sw", "swh", True), ("sw", "swc", True),
        ("ms", "id", False), ("id", "ms", False), ("ms", "min", False), ("ms", "zsm", True), ("et", "vro", True),
        ("sr", "sr-Latn", True), ("sr-Latn", "sr-Cyrl", False), ("uz", "uz-Cyrl", True), ("pa-Arab", "pa-Guru", True),
        ("az-Cyrl", "az-Arab", False), ("pt-BR", "pt-PT", True), ("en", "en-GB", True), ("en", "de", False),
    ],
)  # fmt: skip
def test_a_language_accepts_its_members_and_a_tag_without_script_any_script(
    expected: str, detected: str, same: bool
) -> None:
    """`pa-Guru` is `pa`: where a language has one usual script, that is no script."""
    assert accepts(expected, detected) is same


@pytest.mark.parametrize(
    ("tag", "code"),
    [("sr", "Cyrl"), ("sr-Latn", "Latn"), ("zh", "Hans"), ("zh-TW", "Hant"), ("hi-Latn", "Latn"), ("fa", "Arab")],
)
def test_the_script_of_a_language(tag: str, code: str) -> None:
    assert script(tag) == code


@pytest.mark.parametrize(
    ("region", "tag", "name"),
    [("CN", "zh-Hans", "中国"), ("IR", "fa", "ایران"), ("IN", "hi", "भारत"), ("KE", "sw", "Kenya"),
     ("US", "en", "United States"), ("CN", "arc", None)],
)  # fmt: skip
def test_the_name_of_a_country_in_a_language(region: str, tag: str, name: str | None) -> None:
    assert local_region_name(region, tag) == name


def test_suggestions_are_looked_for_only_where_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with many names that only it has passes over each; looking for similar ones takes a tenth of a second."""
    asked: list[str] = []

    def close(name: str, _candidates: object) -> list[str]:
        asked.append(name)
        return []

    monkeypatch.setattr("mores.culture.languages.close", close)
    with pytest.raises(InputError) as error:
        language("Nowherish Nolanguage")
    assert asked == []
    assert str(error.value).startswith("unknown language 'Nowherish Nolanguage'; use ")
    assert asked == ["nowherish nolanguage"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Smoking in South Korea", [{"KR"}]),
        ("Names of Korea", [{"KP", "KR"}]),
        ("Serbo-Croatian", [{"HR"}]),
        ("Afro-Brazilians and Poles", [{"BR"}, {"PL"}]),
        ("Papua New Guinea's coast", [{"PG"}]),
        ("Guinea-Bissau", [{"GW"}]),
        ("Chinatown, turkey and New Mexico", []),
        ("North American roots", []),
    ],
)
def test_the_countries_that_a_text_names(text: str, expected: list[set[str]]) -> None:
    assert [set(mention.countries) for mention in mentions(text)] == expected


def test_a_part_of_a_country_names_the_country() -> None:
    assert mentions_country("French spoken in Quebec", "CA")
    assert not mentions_country("French spoken in Quebec", "DE")


def test_every_country_is_named_by_its_name() -> None:
    for entry in pycountry.countries:
        name = region_name(entry.alpha_2)
        if name != "Jersey":  # rather a garment
            assert mentions_country(name, entry.alpha_2), name


def test_common_names_are_those_of_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of names.txt says what langcodes and pycountry say without it."""
    rows = dict(regions.common_names())
    assert len(rows) > 500
    cached: list[Any] = [languages.language, languages.language_name, languages.script, languages.macrolanguage]
    cached += [regions.region, regions.region_name]
    monkeypatch.setattr(regions, "common_names", dict)
    monkeypatch.setattr(languages, "common_names", dict)
    for function in cached:
        function.cache_clear()
    for code, row in rows.items():
        if code.isupper():
            assert (region(code), region_name(code)) == (code, row[0])
        else:
            assert language(code) == code
            assert (language_name(code), script(code), languages.macrolanguage(code) or "") == row
    for function in cached:
        function.cache_clear()


def test_common_languages_need_no_tables() -> None:
    code = (
        "from mores.culture import accepts, language_name, region_name, script; import sys; "
        "assert (language_name('en'), region_name('KE'), script('fa')) == ('English', 'Kenya', 'Arab'); "
        "assert accepts('no', 'nn') and not accepts('en', 'de'); "
        "assert not {'langcodes', 'language_data', 'pycountry', 'numpy'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
