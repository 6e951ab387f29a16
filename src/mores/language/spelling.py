"""Spelling that the counts of n-grams do not see well: a spelling no longer in use, and languages told by it alone.

The Kinyarwanda declaration has the l before i that the official spelling has since given up for r (muli is muri, ali is
ari), and cyanga for cyangwa. Without the new spelling the letters ri would tell Kirundi from Kinyarwanda, which both
write now.

Kirundi and Kinyarwanda share most words, and few of their n-grams are only one's. Those that are, by the orthographies
and grammars, count beside the others: vy, c, -mwo, -fise, the future in -zo-, the conditional in -o-, mw'i and kw'i,
wiwe and wanje for Kirundi; by, cy, jy, shy, -mo, -fite, the future in -za- and the past in -aga for Kinyarwanda.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

RESPELLED = {"kin": ((r"(?<!po)li", "ri"), (r"\blero\b", "rero"), (r"\bcyanga\b", "cyangwa"))}
"""Patterns and what stands for them, in turn, by the code of the declaration."""


def respell(code: str, text: str) -> str:
    """A text of a declaration in small letters as it is spelled now; the text itself where nothing has changed."""
    for pattern, now in RESPELLED.get(code, ()):
        text = re.sub(pattern, now, text.lower())
    return text


@dataclass(frozen=True)
class Pair:
    """Two languages of a script, and what only one of them writes."""

    script: str
    languages: tuple[str, str]
    marks: tuple[re.Pattern[str], re.Pattern[str]]

    def lead(self, text: str) -> int:
        """How many more marks of the first language than of the second a text has."""
        first, second = (len(mark.findall(text)) for mark in self.marks)
        return first - second


# What a verb may begin with before the sign of its tense: a negation and the prefix of its subject.
_SUBJECT = r"\b(?:nt?[ai]?|si)?(?:n|u|a|tu|mu|ba|i|zi|ri|ru|ki|gi|bi|bu|ka|ku|ha)"
_RUNDI = (
    r"vy",
    r"\b(?:n[ai]?|i|nta|ata|ya|wa|ba|za|bwa|rwa|twa|ari|hari)?c[ao]\b|\bc'|\bcan(?:e|ke)\b|\bic[ao](?!ra)\w",
    r"\bc(?:ari|abaye|itwa|iza|ose|anje|awe|acu)\b|tangu(?:r|ye)|gushik|shitse\b|toy[ai]\b|\bnimba\b",
    r"mwo\b|fise|shure|\b[mk]w'i",
    rf"{_SUBJECT}zo(?!ng)(?=[bcdfghjkmnprstvwyz]\w\w)",
    r"\b(?:y|w|tw|mw|n|z)o(?=(?:[bdfkpv]|t(?!s)|sh|gi)\w{3})",  # verbs that begin with o are none of these
    r"\b(?:w|y|b|bw|z|rw|c|k|ry|tw)iwe\b|\b(?:w|y|b|z|c|rw|bw)anje\b|\bjewe\b",
    r"\b(?:ku|u|a|ba|tu|mu)ja\b|\b(?:mbega|ingene|nyene|ata|u?musi|i?misi)\b",
)
_RWANDA = (
    r"by|cy|jy|shy|fite|shuri",
    r"(?<!mu)(?<!mi)rimo\b|[zvbr]amo\b|yemo\b",
    rf"{_SUBJECT}za(?=[bcdfghjkprstvwyz]\w\w)",
    r"\b(?:y|w|b|n|tw|mw|z|h|rw)a\w{2,}aga\b",
    r"\b(?:ntabwo|ese|mbese|umunsi|i?minsi)\b",
)
PAIRS = (Pair("Latn", ("rn", "rw"), (re.compile("|".join(_RUNDI)), re.compile("|".join(_RWANDA)))),)
MARK = 24.0
"""Nats that a mark adds to its language and takes from the other, half each."""
