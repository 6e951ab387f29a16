from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.culture import language
from mores.longanswer.summary import resource_level
from mores.longanswer.tells import Tell, Word, find_tells, find_words

REAL = Path(os.environ.get("MORES_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data") / "calmqa"


@pytest.mark.parametrize(
    ("answer", "asked", "expected"),
    [
        # Table 15 and the text of Appendix C
        (
            "I'm sorry for any confusion, but it seems like the text you've provided is in a language that I don't "
            "currently support. If you're able to translate your question into English, I'd be happy to help!",
            "aa",
            {"apology", "translation"},
        ),
        ('A question in Kirundi! Umugirwa wo gufuba? Translation: "What is the drum?"', "rn", {"names_language"}),
        ('What a question! In English, your question translates to: "Can we control time?"', "hil", {"translation"}),
        ("I see you're speaking in Balochi!", "bal", {"names_language"}),
        (
            "I apologize, but I'm having trouble understanding your question. Could you please rephrase or translate "
            "your question into a language I can understand, such as English?",
            "wo",
            {"apology", "translation"},
        ),
        # what they are not
        ("I'm sorry to hear about your loss. The usual period of mourning is forty days.", "ar", set()),
        ("Buzkashi, which translates to “goat grabbing” in Persian, is played on horseback.", "ps", set()),
        ("In Hebrew, both “eich” and “keitzad” mean how.", "he", set()),
        ("I understand your concern. In Hungary you pay twice.", "hu", set()),
        ("You're asking about the Samoan delicacy, palolo!", "sm", set()),
        ("Lo siento mucho por la pérdida de tu madre. Hay que ir al notario.", "es", set()),
        ("Es tut mir leid zu hören, dass du traurig bist.", "de", set()),
        ("", "fo", set()),
    ],
)
def test_tells_of_an_answer(answer: str, asked: str, expected: set[str]) -> None:
    assert set(find_tells(answer, asked, None)) == expected


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("ar", "عذرا، لا يمكنني الإجابة عن هذا السؤال بشكل دقيق."),
        ("de", "Es tut mir leid, aber ich kann dir keine genaue Zahl nennen."),
        ("es", "Lo siento, pero no puedo entender completamente tu pregunta."),
        ("he", "אני מצטער, אבל אני לא יכול לענות על שאלות כאלה."),
        ("hi", "क्षमा करें, मैं इस प्रश्न का उत्तर नहीं दे सकता।"),
        ("hu", "Sajnálom, de nem tudok válaszolni erre a kérdésre."),
        ("ja", "申し訳ありませんが、その質問にはお答えできません。"),
        ("ko", "죄송하지만 질문을 이해하지 못했습니다."),
        ("pap", "Diskulpa, pero mi no por komprende bo pregunta."),
        ("ru", "Извините, я не могу ответить на этот вопрос."),
        ("tn", "Ke maswabi, ga ke itse karabo."),
        ("zh", "抱歉，我无法回答这个问题。"),
        ("fo", "I’m sorry, but I can’t help with that."),
    ],
)
def test_apologies_in_many_languages(asked: str, answer: str) -> None:
    assert "apology" in find_tells(answer, asked, None)


def test_only_the_opening_counts() -> None:
    filler = "The festival lasts for three days. " * 20
    assert find_tells(filler + "I'm sorry, I cannot answer.", "fj", None) == ()


def test_an_english_question_has_no_language_to_name() -> None:
    answer = "You're asking in French! Here is a translation of your question."
    assert find_tells(answer, "en-GB", True) == ()
    assert set(find_tells(answer, "wo", True)) == {"translation", "names_language", "english"}


@pytest.mark.parametrize(
    ("asked", "in_english", "is_tell"),
    [("fo", True, True), ("fo", False, False), ("fo", None, False), ("en", True, False)],
)
def test_answering_in_english(asked: str, in_english: bool | None, is_tell: bool) -> None:
    assert ("english" in find_tells("The answer is forty.", asked, in_english)) is is_tell


@pytest.mark.parametrize("text", ["😀", "Great! 🇫🇴", "👩🏽‍🚀", "☀️", "❤️", "✅ yes", "⭐", "1️⃣", "🌶", "©️", "🫠", "⌚"])
def test_emoji(text: str) -> None:
    assert Tell.EMOJI in find_tells(text, "en", None)
    assert find_tells(text, "ja", None) == ("emoji",)


@pytest.mark.parametrize(
    "text", ["", "1 # * ©", "☀ ★ ✓ → • ♥", "日本語。", "नमस्ते", "⌚\ufe0e", "𓀀", "a\ufe0f", "ᏣᎳᎩ", "½ ™ §", "한국어 ㉠"]
)
def test_what_is_no_emoji(text: str) -> None:
    assert Tell.EMOJI not in find_tells(text, "en", None)


@given(st.text(max_size=200), st.sampled_from(["en", "zh-Hant", "rn", "aa"]), st.none() | st.booleans())
def test_tells_are_named_once_and_in_order(answer: str, asked: str, in_english: bool | None) -> None:
    result = find_tells(answer, asked, in_english)
    assert list(result) == [tell for tell in Tell if tell in result]


def test_words_in_passing_are_no_tells() -> None:
    answer = "Many sources help us to understand Kirundi proverbs and their translation."
    assert find_tells(answer, "rn", None) == ()


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="no calmqa in the shared data; set MORES_SHARED_DATA to a folder with it")
def test_rates_of_appendix_c() -> None:
    """Half of the human-collected questions and not the paper's set, hence the tolerance."""
    count: Counter[tuple[str, str]] = Counter()
    for path in sorted(REAL.glob("dataset-*.json.gz")):
        name = path.name.removesuffix(".json.gz").rpartition("-")[2].capitalize()
        for entry in json.loads(gzip.decompress(path.read_bytes()))["entries"]:
            for answer in entry["answers"]:
                model, text = answer["prompting_state"]["model_name"], answer["translations"][name]["text"]
                if model.startswith(("Llama", "Mixtral", "GPT 4o")) and text:
                    tells, level = find_tells(text, "en", None), resource_level(language(name))
                    count.update((model, tell) for tell in ("n", *(["emoji"] if Tell.EMOJI in tells else [])))
                    words = [word for word, there in find_words(text, language(name)).items() if there]
                    count.update((f"{model}, {level}", word) for word in ("n", *words))
    rates = {key: 100 * value / count[key[0], "n"] for key, value in count.items()}
    assert rates["Llama 3 70B (together.ai)", "emoji"] == pytest.approx(17.54, abs=2)
    assert ("GPT 4o", "emoji") not in rates
    assert rates["Mixtral 8x22B (together.ai), low", Word.APOLOGY] == pytest.approx(31.47, abs=3)
    assert rates["Llama 3 70B (together.ai), low", Word.APOLOGY] == pytest.approx(14.74, abs=1)
    assert rates["Llama 3 70B (together.ai), high and mid", Word.APOLOGY] == pytest.approx(10.48, abs=1)
