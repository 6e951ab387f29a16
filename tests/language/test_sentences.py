from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.language.sentences import sentences
from mores.language.units import nearest_sentence


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Smith met J. R. R. Tolkien in the U.S.", "The year was 1937.", "It cost $3.14!"],
        ['"Why?" he asked.', "He left...", "She said “Stop.”", "Then it ended."],
        ["Well... maybe not.", "Wait…", "What?!", "Yes."],
        ["No. 5 is alive.", "The answer is no.", "Many agree with Mr. Bean."],
        ["Visit example.com.", "Version 2.0.1 is out (e.g. for Linux).", "Fine."],
        ["Yahoo! is old.", "¿Qué?", "¡No!", "«Sí.»", "El Sr. Pérez vive en la Av. Reforma."],
        ["Am 3. Oktober 1990 war es soweit.", "Im 19. Jahrhundert z. B. Berlin.", "Es kostet 5 Mio. Euro."],
        ["В 1867 г.", "Аляска была продана.", "А. С. Пушкин родился в г. Москве.", "Это так."],
        ["1526. augusztus 29-én volt.", "Dr. Kovács jött.", "Igen!"],
        ["Τι κάνεις;", "Καλά είμαι.", "Εντάξει;"],
        ["Սա առաջինն է։", "Սա երկրորդն է:", "Երրորդ։"],
        ["ما هي عاصمة مصر؟", "القاهرة.", "د. أحمد هنا.", "شكراً!"],
        ["یہ پہلا جملہ ہے۔", "یہ دوسرا ہے۔"],
        ["שלום.", "מה שלומך?", "טוב!"],
        ["यह पहला वाक्य है।", "डॉ. शर्मा आए।", "ठीक है?"],
        ["ይህ መጀመሪያ ነው።", "ይህ ሁለተኛ ነው፡፡", "ሦስተኛው?"],
        ["នេះជាប្រយោគទីមួយ។", "នេះជាទីពីរ។"],
        ["ဒါကပထမပါ။", "ဒါကဒုတိယပါ။"],
        ["བོད་སྐད།", "འདི་གཉིས་པ།"],
        ["안녕하세요.", "네.", "그렇습니다!", "좋아요?"],
        ["ที่ประเทศไทยมีวัดมากมายและมีประวัติศาสตร์ยาวนานหลายร้อยปี", "คนไทยส่วนใหญ่นับถือศาสนาพุทธ"],
    ],
)
def test_sentences_with_spaces_between_them(expected: list[str]) -> None:
    assert split(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["今日は晴れです。", "「なぜ？」と聞いた。", "明日は雨！", "本当ですか？！", "はい．"],
        ["你好！", "他说：“我不知道。”", "然后走了。", "价格是３．５元。"],
        ["첫 문장입니다。", "둘째。"],
    ],
)
def test_sentences_without_spaces_between_them(expected: list[str]) -> None:
    assert split("".join(expected)) == expected


def test_headings_lists_and_line_breaks() -> None:
    text = """# About kava

**Kava.** A drink of the Pacific. 😊

1. First item. It has two.
2. **Second**: no full stop
- bullet one
* bullet two: e.g. Fiji
> quoted line
| a | b |

A line that was wrapped
goes on here. One • two
---
"""
    assert split(text) == [
        "# About kava",
        "**Kava.**",
        "A drink of the Pacific. 😊",
        "1. First item.",
        "It has two.",
        "2. **Second**: no full stop",
        "- bullet one",
        "* bullet two: e.g. Fiji",
        "> quoted line",
        "| a | b |",
        "A line that was wrapped\ngoes on here.",
        "One",
        "• two",
        "---",
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\x85", "\u2028", "\n \n", "\r\n\r\n"])
def test_every_line_break_counts(newline: str) -> None:
    assert split(f"One thing{newline}Another") == ["One thing", "Another"]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000"])
def test_nothing_has_no_sentence(text: str) -> None:
    assert sentences(text) == []


@pytest.mark.slow
@given(st.text(max_size=80) | st.text(alphabet='aA1. !?…\n"”)*#-。」と؟ก ।г', max_size=60))
def test_spans_hold_all_that_is_not_space_in_order(text: str) -> None:
    at = 0
    for start, end in sentences(text):
        assert at <= start < end
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@given(st.lists(st.sampled_from(["It rains today.", "Why is that?", "Nobody knows!"]), min_size=1, max_size=8))
def test_a_sentence_stays_whole_wherever_it_stands(given_: list[str]) -> None:
    assert split(" ".join(given_)) == given_
    assert split("\n\n".join(given_)) == given_


@pytest.mark.parametrize(
    "unit", [".", " ", "a. ", "(", ".)", "1. ", "\n", "ก ", ". (", "# ", "*", "> ", "a\n", "。", '"']
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    text = unit * 60_000 + "x"
    started = time.perf_counter()
    sentences(text)
    assert time.perf_counter() - started < 10  # a second where it is linear, minutes where it is not


def test_the_nearest_sentence_of_a_passage() -> None:
    assert nearest_sentence("It rains. The feast is in May. Prices vary.", {"feast", "may"}) == "The feast is in May."
