"""Languages that only spelling distinguishes, which counts of n-grams do not capture well.

Kirundi and Kinyarwanda share most words, and few of their n-grams are only one's. Those that are count beside the
others. By the orthographies and grammars these are vy, c, kwo and kwu, -mwo, -fise, the future in -zo-, the conditional
in -o-, mw'i and kw'i, wiwe and wanje for Kirundi; by, cy, jy, shy, -mo, -fite, the future in -za- and the past in -aga,
ye and ze (his) for Kinyarwanda. By text of both (`tools/language_model.py`) they are stems of common words: ingwara,
kurondera, urwaruka, kudandaza; gutangira, inshuti, umuturage, gucuruza.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """Two languages of a script, and the spellings that only one of them has."""

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
    r"vy|kw[ou]",
    r"\b(?:n[ai]?|i|nta|ata|ya|wa|ba|za|bwa|rwa|twa|ari|hari)?c[ao]\b|\bc'|\bcan(?:e|ke)\b|\bic[ao](?!ra)\w",
    r"\bc(?:ari|abaye|itwa|iza|ose|anje|awe|acu|inshi)\b|tangu(?:r|ye)|toy[ai]\b|\bnimba\b",
    r"mwo\b|fise|shure|\b[mk]w'i|nyene\b|\buwu(?!he|nd)\w{3}|\bzi(?:biri|tatu|tanu)\b",
    rf"{_SUBJECT}zo(?!ng)(?=[bcdfghjkmnprstvwyz]\w\w)",
    r"\b(?:y|w|tw|mw|n|z)o(?=(?:[bdfkpv]|t(?!s)|sh|gi)\w{3})",  # verbs that begin with o are none of these
    r"\b(?:w|y|b|bw|z|rw|c|k|ry|tw)iwe\b|\b(?:w|y|b|z|c|rw|bw|ry|kw|tw|k|n|iw)anje\b|\bjewe\b",
    r"\b(?:ku|u|a|ba|tu|mu)ja\b|\b(?:ba|u|tu|ndi|bi|zi|i|ki)riko\b|\b(?:ku)?raba\b|(?:\bi|ha|ra|bi|\bzi|za)heze\b",
    r"[nua]gwa(?:ra|ye|yi)|gwany|iyumvir|ipfu[zr]|sigur|bandan[iy]|ronder(?!ez)|ron(?:k[ae]|se|sw)|danda[zjr]",
    r"gushik|shik(?:a\b|an|ir|iy)|shits|hejeje|tegerezwa|rwaruka|nyagihugu|barabara|\bamahera\b|gatondo|makungu",
    r"gitigiri|biharuro|b[ua]rimyi|igeme\b|\bimpuzu|nyishu\b|biharage|ndongozi|[ig]isagara|[mb][ua]tama\b",
    r"shengero|kibano|m[ui]gambwe|rorero|ngwano|(?:\b|[uio]|ku)m[ui]si\b|\bi?ndwi\b",
    r"\b(?:mbega|ingene|ata|umengo|wewe|weho|hoho|ngaha|ego|uwundi|mawe)\b",
)
_RWANDA = (
    r"by|cy|jy|shy|fite|shuri|nyine\b|nshuti|\be(?:shatu|nye|shanu|sheshatu)\b",
    r"(?<!mu)(?<!mi)rimo\b|[zvbr]amo\b|yemo\b",
    rf"{_SUBJECT}za(?=[bcdfghjkprstvwyz]\w\w)",
    r"\b(?:y|w|b|n|tw|mw|z|h|rw|bw)[aeio]\w+(?<!y)aga\b|tangi(?:r|ye|j)",
    r"tekere[zj]|curu[zj]|[bwyznm]ifu[zj]|\b\w{0,4}reba\b|\bgusura\b|[bm][ua]tura(?:ge|nyi)",
    r"bukungu|[bm][ua]hinzi|mwarimu|barimu|yobozi|nyirakuru|mibare|umubare|gahunda|mugi\b",
    r"\b(?:ye|rye|ze|bwe|rwe|kwe)\b|\bnyuma y|\b(?:ntabwo|ese|mbese|wowe|nyamara|wenda|yego|undi)\b",
)
PAIRS = (Pair("Latn", ("rn", "rw"), (re.compile("|".join(_RUNDI)), re.compile("|".join(_RWANDA)))),)
MARK = 24.0
"""Nats per mark: half is added to its language, and half taken from the other."""
