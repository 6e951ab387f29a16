"""Whether a text has an answer, by rule.

The answer stands there as whole words (`mores.stats.explanations`), whatever the case, accents, punctuation and kind of
digits, in scripts with and without spaces; thousands separators, a full stop at its end and an article before it make
no difference either. The rule cannot tell for a long answer that is not there word by word, because it may be there in
other words, nor for answers such as "True" or "i, iii", which have no words of their own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from mores.search.words import words
from mores.stats.explanations import match_answer

LONGEST = 8
"""Words up to which an answer that is not there as it stands counts as not there."""

_TRUTHS = {"true", "false", "yes", "no", "neutral"}
_NUMBERING = re.compile(r"(?:i{1,3}|iv|v)(?:\s*,\s*(?:i{1,3}|iv|v))*|[a-z]")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:([,.\'’\u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?![\d.,]?\d)")
_OTHER = re.compile(r"[\W_]+")
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
    | dict.fromkeys("\u02bb\u02bc\u0640", "")
)
"""As in `mores.stats.explanations`; apostrophes that are letters and the Arabic stretch are dropped."""
_BOLD = re.compile(r"\*\*(.+?)\*\*|__(.+?)__", re.DOTALL)
_ARTICLE = re.compile(r"(?:[Tt]he|[Aa]n?|les?|la|une?|el|los|las|os?|as|uma?)\s+|[Ll][\'’]")
"""Of English, French, Spanish and Portuguese; small in the latter, for `La Paz` is a name."""


def has_answer(text: str, references: Sequence[str]) -> bool | None:
    """Whether a text has one of the answers; None where the rule cannot tell."""
    known = [one for one in references if _decidable(one)]
    plain = plain_numbers(text)
    if any(_stands(plain, form) for one in known for form in _forms(one)):
        return True
    certain = known and len(known) == len(references) and all(len(words(one)) <= LONGEST for one in known)
    return False if certain else None


def _decidable(answer: str) -> bool:
    bare = answer.strip().strip(".").casefold()
    return bool(words(answer)) and bare not in _TRUTHS and not _NUMBERING.fullmatch(bare)


def _forms(answer: str) -> Iterator[str]:
    """An answer as it is, and without the article before it."""
    whole = answer.strip()
    yield whole
    if len(bare := _ARTICLE.sub("", whole, count=1) if _ARTICLE.match(whole) else "") > 2:
        yield bare


def _stands(plain: str, answer: str) -> bool:
    wanted = plain_numbers(answer.rstrip(".。"))
    # Most texts do not even have the letters in a row, and to see that is a hundred times faster.
    return letters(wanted) in letters(plain) and match_answer(plain, wanted).normalised


@lru_cache(maxsize=256)
def letters(text: str) -> str:
    """Only the letters and digits of a text, in a coarser form than that in which words are compared."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return _OTHER.sub("", apart.translate(_PLAIN))


def plain_numbers(text: str) -> str:
    """A text with Western digits and without thousands separators: `1,000`, `1.000` and `١٬٠٠٠` are `1000`."""
    digits = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)
    return _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), digits.replace("\u066c", ","))


def is_taken(answer: str, question: str, texts: Sequence[str]) -> bool | None:
    """Whether a short answer, or what is bold in a longer one, stands in the texts; None where nothing is short enough.

    What stands in the question too tells nothing: the texts were found because of it.
    """
    bold = [one or other for one, other in _BOLD.findall(answer)]
    some = [one for one in (answer, *bold) if 0 < len(words(one)) <= LONGEST and _decidable(one)]
    own = [one for one in some if not has_answer(question, [one])]
    if not some:
        return None
    return any(has_answer(text, own) for text in texts) if own else False
