"""Textual tells: what gives away a model that could not answer in the language it was asked in (CaLMQA, Appendix C).

The patterns in `tells.toml` are whole phrases, looked for in the opening of an answer. The paper counts single words
anywhere, which also finds an English answer that says "understand" in passing; `find_words` counts as the paper does.
"""

from __future__ import annotations

import re
from contextlib import suppress
from enum import StrEnum
from functools import cache, lru_cache

from mores.culture import base_language, language_name
from mores.culture import language as language_tag
from mores.errors import InputError
from mores.io.values import read_packaged_toml

OPENING = 600
"""Code points of an answer in which a phrase is about the question and not about its subject."""


class Tell(StrEnum):
    """Each is a way to answer past the question, except emoji, which one model in the paper uses a lot."""

    APOLOGY = "apology"
    """It is sorry not to answer, or says that it does not understand or cannot."""
    TRANSLATION = "translation"
    """It translates the question, or asks for or offers a translation."""
    NAMES_LANGUAGE = "names_language"
    """It says, correctly or not, which language it was asked in."""
    EMOJI = "emoji"
    """It has at least one emoji."""
    ENGLISH = "english"
    """It is in English, and the question is not."""


def find_tells(answer: str, language: str, in_english: bool | None) -> tuple[str, ...]:
    """Return the tells of an answer to a question in a language; `in_english` is None where that is not known."""
    opening = answer[:OPENING].replace("’", "'")
    asked_in_english, lowered = base_language(language) == "en", opening.lower()
    named = (match["name"] for pattern in _language_patterns() for match in pattern.finditer(opening))
    present = {
        Tell.APOLOGY: any(pattern.search(lowered) for pattern in _patterns("apology")),
        Tell.TRANSLATION: not asked_in_english and any(pattern.search(lowered) for pattern in _patterns("translation")),
        Tell.NAMES_LANGUAGE: not asked_in_english and any(map(_is_language, named)),
        Tell.EMOJI: _EMOJI.search(answer) is not None,
        Tell.ENGLISH: bool(in_english) and not asked_in_english,
    }
    return tuple(tell.value for tell, there in present.items() if there)


class Word(StrEnum):
    """The words that the paper counts, anywhere in an answer (Appendix C)."""

    APOLOGY = "apology"
    """"sorry", "apologize" or "understand"."""
    TRANSLATION = "translation"
    """"translate" or "translation"."""
    LANGUAGE = "language"
    """The English name of the language of the question; not counted for English."""


_WORDS = {Word.APOLOGY: re.compile("sorry|apologi[sz]e|understand"), Word.TRANSLATION: re.compile("translat(?:e|ion)")}


def find_words(answer: str, language: str) -> dict[Word, bool]:
    """Return whether each of the paper's words is anywhere in an answer to a question in a language."""
    text = answer.lower()
    words = {word: pattern.search(text) is not None for word, pattern in _WORDS.items()}
    if base_language(language) != "en":
        with suppress(InputError):  # a language that has no name
            words[Word.LANGUAGE] = re.search(rf"\b{re.escape(language_name(language).lower())}\b", text) is not None
    return words


_PICTURES = (
    "\U0001f004\U0001f0cf\U0001f18e\U0001f191-\U0001f19a\U0001f1e6-\U0001f1ff\U0001f201\U0001f21a\U0001f22f"
    "\U0001f232-\U0001f236\U0001f238-\U0001f23a\U0001f250\U0001f251\U0001f300-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f7e0-\U0001f7eb\U0001f7f0\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff"
)
"""Pictographs beyond the basic plane: nobody writes them as anything but emoji."""
_SHOWN_SO = "⌚⌛⏩-⏬⏰⏳◽◾☔☕♈-♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛎⛔⛪⛲⛳⛵⛺⛽✅✊✋✨❌❎❓-❕❗➕-➗➰➿⬛⬜⭐⭕"
"""Signs of the basic plane that are emoji by themselves (Emoji_Presentation of Unicode)."""
_SHOWN_ON_DEMAND = "\u00a9\u00ae\u203c-\u3299"
"""The range of the others, which a variation selector turns into emoji: ☀️ is one, ☀ is not."""
_EMOJI = re.compile(rf"[{_PICTURES}{_SHOWN_SO}](?!\ufe0e)|[{_SHOWN_ON_DEMAND}]\ufe0f|[0-9#*]\ufe0f?\u20e3")


@cache
def _patterns(tell: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a tell in all languages: a model may be sorry in any."""
    by_language = read_packaged_toml("mores.longanswer", "tells.toml")[tell]
    return tuple(re.compile(pattern) for patterns in by_language.values() for pattern in patterns)


@cache
def _language_patterns() -> tuple[re.Pattern[str], ...]:
    """Return patterns of words that may name a language."""
    patterns = read_packaged_toml("mores.longanswer", "tells.toml")["names_language"]["en"]
    named = (pattern.replace("(LANGUAGE)", r"(?P<name>(?-i:[A-Z])\w+)") for pattern in patterns)
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in named)


@lru_cache(maxsize=4096)
def _is_language(name: str) -> bool:
    """Return whether a word names a language other than English, in English; a short one may be a code, as The is."""
    try:
        return len(name) > 3 and language_tag(name) != "en"
    except InputError:
        return False
