"""Languages that are told by their letters alone."""

from __future__ import annotations

import pytest

from mores.language import detect
from mores.language.text import segments

BALOCHI = "بلوچی زبان ءِ بازیں شاعر ءُ نبشتہ کار بلوچستان ءَ ودی بوتگ انت ءُ وتی زبان ءِ ہزمت ءَ کتگ"
SINDHI = "سنڌي ٻولي پاڪستان ۾ ڳالهائي ويندي آهي ۽ ان جا ڪيترائي لهجا آهن"
SORANI = "زمانی کوردی لە کوردستان قسەی پێ دەکرێت و چەندین شێوەزاری هەیە، وەک سۆرانی و گۆرانی، کە زۆر کۆنە"
ASSAMESE = "মোৰ ঘৰ অসমত আৰু মই অসমীয়া ভাষা কওঁ"


@pytest.mark.parametrize(("tag", "text"), [("bal", BALOCHI), ("sd", SINDHI), ("ckb", SORANI), ("as", ASSAMESE)])
def test_a_language_without_training_text_is_told_by_its_letters(tag: str, text: str) -> None:
    assert detect([text])[0].detected == tag


@pytest.mark.parametrize(
    "text", ["اردو پاکستان کی قومی زبان ہے اور اسے بہت سے لوگ بولتے ہیں", "هذه لغة جميلة من ما نتكلم في البيت"]
)
def test_others_of_the_script_are_not_taken_for_balochi(text: str) -> None:
    assert detect([text])[0].language in {"ur", "ar"}


def test_japanese_is_told_from_chinese_by_its_kana() -> None:
    assert [one.detected for one in detect(["日本語を話す", "中国人说中文,很多人也说方言"])] == ["ja", "zh"]


def test_segments_have_letters_of_one_script_after_spaces() -> None:
    cut = segments(["Hello, 'world'! It's me.", "🎉 12", "Привет Bob, мир"])
    assert cut.codes.tobytes().decode("utf-32-le") == " hello 'world it's me привет мир "
    assert (cut.text.tolist(), cut.size.tolist(), cut.texts) == ([0, 2], [17.0, 9.0], 3)


def test_vowel_points_are_left_out() -> None:
    bare, pointed = (segments([text]).codes.tolist() for text in ("שלום", "שָׁלוֹם"))
    assert bare == pointed


def test_cantonese_without_characters_of_its_own_is_not_surely_chinese() -> None:
    cantonese, chinese, traditional = detect(
        ["呢個係香港最好食嘅嘢", "这个城市的人很喜欢喝茶", "這個城市的人很喜歡喝茶"]
    )
    assert (cantonese.detected, chinese.detected, traditional.detected) == ("yue", "zh", "zh")
    assert detect(["以前係番禺管，而家係南沙管"])[0].detected != "zh"
    assert detect(["這是我們和他們的關係"])[0].detected == "zh"  # 係 is in common words of Chinese too
