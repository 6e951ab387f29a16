"""The detector on sentences written for it, on mixed and odd texts, and on anything at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.errors import InputError
from mores.language import check, detect, languages, model_tag
from mores.language.scope import confusions

SENTENCES = {
    "en": "My grandmother bakes bread every morning and sells it at the market.",
    "de": "Meine Großmutter backt jeden Morgen Brot und verkauft es auf dem Markt.",
    "es": "Mi abuela hace pan todas las mañanas y lo vende en el mercado.",
    "fr": "Ma grand-mère fait du pain tous les matins et le vend au marché.",
    "pt": "A minha avó faz pão todas as manhãs e não o vende no mercado.",
    "it": "Mia nonna prepara il pane ogni mattina e lo vende al mercato.",
    "nl": "Mijn grootmoeder bakt elke ochtend brood en verkoopt het op de markt.",
    "sv": "Min mormor bakar bröd varje morgon och säljer det på torget.",
    "fi": "Isoäitini leipoo leipää joka aamu ja myy sitä torilla.",
    "hu": "A nagymamám minden reggel kenyeret süt, és eladja a piacon.",
    "pl": "Moja babcia codziennie rano piecze chleb i sprzedaje go na targu.",
    "tr": "Büyükannem her sabah ekmek yapar ve onu pazarda satar.",
    "is": "Amma mín bakar brauð á hverjum morgni og selur það á markaðnum.",
    "id": "Nenek saya membuat roti setiap pagi dan menjualnya di pasar.",
    "sw": "Bibi yangu huoka mkate kila asubuhi na kuuza sokoni.",
    "fil": "Ang lola ko ay gumagawa ng tinapay tuwing umaga at ipinagbibili ito sa palengke.",
    "vi": "Bà tôi làm bánh mì mỗi buổi sáng và bán ở chợ.",
    "ru": "Моя бабушка каждое утро печёт хлеб и продаёт его на рынке.",
    "uk": "Моя бабуся щоранку пече хліб і продає його на ринку.",
    "bg": "Баба ми всяка сутрин пече хляб и го продава на пазара.",
    "el": "Η γιαγιά μου φτιάχνει ψωμί κάθε πρωί.",
    "he": "סבתא שלי אופה לחם בכל בוקר ומוכרת אותו בשוק.",
    "ar": "جدتي تصنع الخبز كل صباح وتبيعه في السوق.",
    "fa": "مادربزرگ من هر روز صبح نان می‌پزد و آن را در بازار می‌فروشد.",
    "ur": "میری دادی ہر صبح روٹی بناتی ہیں اور اسے بازار میں بیچتی ہیں۔",
    "hi": "मेरी दादी हर सुबह रोटी बनाती हैं और उसे बाज़ार में बेचती हैं।",
    "bn": "আমার দাদি প্রতিদিন সকালে রুটি বানান।",
    "ta": "என் பாட்டி தினமும் காலையில் ரொட்டி செய்கிறார்.",
    "th": "คุณยายของฉันทำขนมปังทุกเช้า",
    "ko": "우리 할머니는 매일 아침 빵을 만들어 시장에서 파신다.",
    "ja": "祖母は毎朝パンを焼いて市場で売っています。",
    "zh": "我的祖母每天早上做面包,然后在市场上卖。",
    "yue": "我阿嫲每日朝早都喺屋企整麵包,佢話唔好食就冇人買嘅。",
    "am": "አያቴ በየቀኑ ጠዋት ዳቦ ትጋግራለች።",
    "ka": "ბებიაჩემი ყოველ დილით პურს აცხობს.",
    "hy": "Տատիկս ամեն առավոտ հաց է թխում։",
}
ENGLISH = "The government has said that the new law will help every family in the country to find a better home. "
RUSSIAN = "Правительство заявило, что новый закон поможет каждой семье в стране найти лучшее жильё. "
GERMAN = "Die Regierung hat gesagt, dass das neue Gesetz jeder Familie im Land helfen wird, eine Wohnung zu finden. "


@pytest.mark.parametrize("tag", SENTENCES)
def test_a_sentence_is_found_among_all_languages(tag: str) -> None:
    one = detect([SENTENCES[tag]])[0]
    assert one.language == tag
    assert one.shares == {tag: 1.0}


def test_sorani_is_found_in_the_spelling_of_old_fonts() -> None:
    old = "نه‌نكم هه‌موو به‌یانییه‌ك نان ده‌كات و له‌ بازاڕ ده‌یفرۆشێت."
    new = "نەنکم هەموو بەیانییەک نان دەکات و لە بازاڕ دەیفرۆشێت."
    persian = "مادربزرگ من در خانه‌ای قدیمی زندگی می‌کند که آن را از پدرش به ارث برده است."
    assert [found.language for found in detect([old, new, persian])] == ["ckb", "ckb", "fa"]


def test_one_call_and_many_say_the_same() -> None:
    texts = list(SENTENCES.values())
    for one, alone in zip(detect(texts), (detect([text])[0] for text in texts), strict=True):
        assert one.language == alone.language
        assert one.probability == pytest.approx(alone.probability, abs=1e-4)


def test_more_texts_than_are_scored_at_once_keep_their_order() -> None:
    texts = [ENGLISH, RUSSIAN, ""] * 700
    assert [one.language for one in detect(texts)] == ["en", "ru", None] * 700


def test_case_links_code_emoji_and_markdown_do_not_count() -> None:
    noisy = "🎉 **MI ABUELA HACE PAN** todas las mañanas https://example.com/the/english/page `the and of` 12 345 @user"
    assert detect([noisy])[0].language == "es"


def test_latin_names_in_another_script_do_not_count() -> None:
    one = detect(["我昨天在 Starbucks 和 Michael Jackson 一起喝咖啡,然后去了 Apple Store。"])[0]
    assert (one.language, one.shares) == ("zh", {"zh": 1.0})


@pytest.mark.parametrize("text", ["", "   \n\t", "🎉🎉🎉", "1234 + 5 = ?", "\0", "https://example.com"])
def test_without_letters_there_is_no_language(text: str) -> None:
    one = detect([text], ["en"])[0]
    assert (one.language, one.probability, one.detected, one.shares) == (None, 0.0, None, {})
    assert check([text], ["en"])[0].correct is None


def test_no_texts() -> None:
    assert detect([]) == []
    assert check([], []) == []


def test_a_short_word_is_not_sure() -> None:
    one = detect(["no"])[0]
    assert one.detected is None
    assert 0 < one.probability < 0.74
    assert len(one.alternatives) == 5
    assert one.probability >= one.alternatives[0][1] >= one.alternatives[-1][1]


def test_only_candidates_are_found() -> None:
    text = SENTENCES["is"]
    assert detect([text], candidates=["fo", "en"])[0].language == "fo"
    assert detect([text], candidates=["is", "fo", "en"])[0].language == "is"


def test_a_text_in_no_candidates_script_is_in_none() -> None:
    assert detect([RUSSIAN], candidates=["en", "de"])[0].language is None


def test_unknown_candidates_are_refused() -> None:
    with pytest.raises(InputError, match="candidates gsw: not known"):
        detect(["a"], candidates=["gsw", "de"])
    with pytest.raises(InputError, match="none"):
        detect(["a"], candidates=[])


def test_one_expected_language_for_each_text() -> None:
    with pytest.raises(InputError, match="1 expected languages for 2 texts"):
        detect(["a", "b"], ["en"])


@pytest.mark.parametrize(
    ("tag", "known"), [("pt-BR", "pt"), ("zh-Hant", "zh"), ("iw", "he"), ("tl", "fil"), ("zlm", "ms")]
)
def test_regions_and_old_codes_are_known(tag: str, known: str) -> None:
    assert model_tag(tag) == known


def test_the_23_languages_of_calmqa_are_known() -> None:
    tags = "aa ar bal zh en fo fj de he hil hi hu ja rn ko pap ps ru sm es to tn wo"
    assert {*tags.split()} <= set(languages())
    assert len(languages()) > 150


def test_check_says_right_wrong_and_unsure() -> None:
    texts = [SENTENCES["es"], ENGLISH, RUSSIAN, "no", SENTENCES["pt"]]
    results = check(texts, ["es", "rn", "ko", "gsw", "pt-BR"])
    assert [result.correct for result in results] == [True, False, False, None, True]
    assert [result.detected for result in results[:3]] == ["es", "en", "ru"]


def test_an_expected_language_helps_a_short_text() -> None:
    word = "Ni gute bamenya?"  # Kirundi and Kinyarwanda alike
    rundi, rwanda = (detect([word], [tag])[0].expected for tag in ("rn", "rw"))
    assert rundi is not None
    assert rwanda is not None
    assert rundi + rwanda > 1


def test_a_mixed_text_has_the_share_of_each_language() -> None:
    one = detect([ENGLISH * 6 + RUSSIAN * 3])[0]
    assert one.detected == "en"
    letters = [sum(map(str.isalpha, text)) for text in (ENGLISH * 6, RUSSIAN * 3)]
    assert one.shares["en"] == pytest.approx(letters[0] / sum(letters), abs=0.05)
    assert set(one.shares) == {"en", "ru"}


def test_languages_of_one_script_are_told_apart_in_a_mixed_text() -> None:
    one = detect([GERMAN * 4 + ENGLISH * 4])[0]
    assert set(one.shares) == {"de", "en"}
    assert one.shares["de"] == pytest.approx(0.5, abs=0.1)


def test_a_foreign_title_does_not_count() -> None:
    assert detect([ENGLISH * 3 + "Die Leiden des jungen Werthers. " + ENGLISH * 3])[0].shares == {"en": 1.0}


@pytest.mark.slow
def test_a_very_long_text() -> None:
    one = detect([GERMAN * 5000])[0]
    assert one.detected == "de"
    assert one.probability > 0.999


def test_confusions_have_what_is_known_and_english() -> None:
    assert "rw" in confusions("rn")
    assert {"ceb", "fil"} <= set(confusions("hil"))
    assert {"es", "pt"} <= set(confusions("pap"))
    assert {"ur", "fa"} <= set(confusions("bal"))
    assert all("en" in confusions(tag) for tag in languages() if tag != "en")
    assert all(tag not in confusions(tag) for tag in languages())


@pytest.mark.slow
@given(st.lists(st.text(st.characters(), max_size=200), max_size=8))
def test_any_texts_have_probabilities_and_shares(texts: list[str]) -> None:
    found = detect(texts)
    assert len(found) == len(texts)
    for one in found:
        if one.language is None:
            assert one.shares == {}
            continue
        assert sum(one.shares.values()) == pytest.approx(1)
        assert 0 < one.probability <= 1 + 1e-9
        assert one.detected in {None, one.language}
        assert one.probability + sum(chance for _, chance in one.alternatives) <= 1 + 1e-6


@given(st.lists(st.sampled_from([ENGLISH, RUSSIAN, GERMAN, SENTENCES["ja"], "? ", "12 🎉 "]), max_size=12))
def test_shares_of_joined_texts_are_of_their_languages(parts: list[str]) -> None:
    one = detect(["".join(parts)], ["en"])[0]
    assert set(one.shares) <= {"en", "ru", "de", "ja"}
    assert sum(one.shares.values()) == pytest.approx(1 if one.language else 0)


MEMBERS = {
    "no": (
        "Bestemora mi bakar brød kvar morgon og sel det på torget, men ho veit ikkje kva det kostar i dag.",
        "Bestemoren min baker brød hver morgen og selger det på torget, men hun vet ikke hva det koster i dag.",
    ),
    "ku": ("دایکم هەموو بەیانییەک نان دەکات و لە بازاڕ دەیفرۆشێت، بەڵام نازانێت نرخەکەی چەندە.",),
    "zh": ("我阿嫲每朝都會整麵包，然後攞去街市度賣，不過佢唔知今日賣幾多錢。",),
}
"""Nynorsk and Bokmål, Sorani, Cantonese."""


def test_words_in_capitals_are_no_query() -> None:
    text = "Please SELECT the best answer to the question, and UPDATE your notes when you have seen the others."
    assert detect([text])[0].detected == "en"


def test_no_query_reaches_from_a_text_into_the_next() -> None:
    texts = ["Grandmother bakes bread every morning. UPDATE it", "heute SET backt die Großmutter frisches Brot"]
    assert [found.language for found in detect(texts)] == ["en", "de"]
    assert [detect([text])[0].shares for text in texts] == [found.shares for found in detect(texts)]


def test_code_is_left_out_of_the_text_that_has_it_alone() -> None:
    texts = [
        "Die Großmutter backt `bread every morning` Brot",
        "and sells it `on the market square",
        "{ x; } pa_de_ter",
    ]
    together = detect(texts)
    assert together == [detect([text])[0] for text in texts]
    assert together[0].shares == {"de": 1.0}


def test_related_languages_in_arabic_script_are_not_balochi_or_sindhi() -> None:
    persian = "از سنت های الهی می‌توان به سنت امتحان، سنت هدایت، سنت توفیق و سنت املا اشاره کرد."
    saraiki = "ساݙے ݙیہہ وچ ٻال ڳالھیں کریندن تے ماء پیو انہاں کوں ݙیکھ تے خوش تھیندن۔"
    persian_result, saraiki_result = detect([persian, saraiki])
    assert persian_result.detected == "fa"
    assert saraiki_result.detected != "sd"


@pytest.mark.parametrize(("expected", "text"), [(tag, text) for tag, texts in MEMBERS.items() for text in texts])
def test_a_macrolanguage_accepts_its_members(expected: str, text: str) -> None:
    assert check([text], [expected])[0].correct is True


@pytest.mark.parametrize(
    ("expected", "right"), [("sr", (True, True)), ("sr-Latn", (True, False)), ("sr-Cyrl", (False, True))]
)
def test_a_tag_with_a_script_accepts_no_other(expected: str, right: tuple[bool, bool]) -> None:
    texts = (
        "Ljudi u Srbiji često piju kafu i rakiju, a za slavu se peče kolač i kuva žito.",
        "Људи у Србији често пију кафу и ракију, а за славу се пече колач и кува жито.",
    )
    assert tuple(one.correct for one in check(texts, [expected] * 2)) == right


def test_a_member_accepts_no_other() -> None:
    assert check([MEMBERS["no"][0]], ["nb"])[0].correct is False
    assert model_tag("arz") == "ar"  # the model knows Egyptian only as Arabic


@pytest.mark.parametrize(
    "text",
    ["Hello", "OK", "iPhone 15 Pro Max", "Samsung Galaxy S24 Ultra", "def f(x): return x + 1", "New York", "Namaste",
     "Kya aap mujhe bata sakte hain ki yeh kahan hai?", "Main aaj bazaar ja raha hoon aur sabzi khareedunga",
     "SELECT name, email FROM customers WHERE country = 'Norway' ORDER BY name;",
     "user_id,first_name,last_name,email,created_at", ".button { background-color: white; border-radius: 4px; }"],
)  # fmt: skip
def test_a_greeting_a_product_code_and_romanised_hindi_are_certain_in_no_language(text: str) -> None:
    assert detect([text])[0].detected is None


@pytest.mark.parametrize(
    "text",
    [
        "Wutrobne postrowy z Budyšina, naša ludowa rěč so tu hišće dźensa rěči a pěstuje",  # Upper Sorbian
        "Мон чачинь Саранск ошсо, ней эрян Пензасо ды роботан школасо",  # Erzya
    ],
)
def test_a_language_that_the_model_does_not_know_is_not_taken_for_its_neighbour(text: str) -> None:
    assert detect([text])[0].detected is None


def test_a_row_without_a_text_is_an_error_that_names_it() -> None:
    with pytest.raises(InputError, match="text 1 is NoneType"):
        detect(["a text", None])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Syarikat itu berkata beliau akan menghadiri mesyuarat di pejabat pada hari Khamis kerana cuti", "ms"),
        ("Perusahaan itu mengatakan bahwa dia bisa datang ke kantor pada hari Kamis karena libur", "id"),
        ("Jeg vet ikke hvorfor de ikke kunne komme hjem før i kveld", "nb"),
        ("Eg veit ikkje kvifor dei ikkje kunne koma heim før i kveld", "nn"),
        ("Jeg ved ikke, hvorfor de ikke kunne komme hjem før i aften", "da"),
    ],
)
def test_related_languages_in_everyday_sentences(text: str, expected: str) -> None:
    assert detect([text])[0].language == expected
