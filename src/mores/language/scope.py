"""Which languages the model knows, and how a tag that it does not know leads to one that it does.

Of the declarations those are taken that are in a language with a two-letter code or at least a million writers (CLDR's
estimate), and Hiligaynon and Papiamento, which benchmarks ask about. Left out by hand are varieties that are confused
on held-out text with a related language of twenty times the writers or more, where they are not the standard language
of a state or region: to know Scots costs more English than it finds Scots.
"""

from __future__ import annotations

from langcodes import Language

from mores.culture import language

WRITERS = 1_000_000
ALWAYS = {"hil", "pap"}
VARIETIES = {
    "az": "tly",
    "de": "gsw nds",
    "en": "jam kri pcm sco",
    "es": "ast lad",
    "fr": "frp oc pcd wa",
    "hr": "bs",
    "id": "bjn",
    "it": "co fur lij lld sc vec",
    "sr": "sr-ME",
    "sw": "buc swb",
    "tr": "crh gag",
    "zh": "cjy gan hak hsn nan wuu",
}
"""Varieties left out, by the language that they would be confused with."""
CONSTRUCTED = {"ia", "io"}
FILES = {
    "032": "not in the script of the language",
    "058": "a dialect",
    "062": "a dialect",
    "063": "a dialect",
    "068": "a dialect",
    "bos_cyrl": "as good as Serbian",
    "ckb": "not in the script of the language",
    "san_gran": "not in the script of the language",
    "vie_han": "not in the script of the language",
}
"""Declarations left out, and why."""
SAME = {"zlm": "ms", "no": "nb", "ff": "fuv", "pnb": "lah"}
"""Tags that stand for another."""

_LEFT_OUT = {variety for varieties in VARIETIES.values() for variety in varieties.split()} | CONSTRUCTED


def tag_of(code: str) -> str:
    """The tag that a language has in the model: without script and region, `zlm` and `ms` alike."""
    tag = language(code)
    base = tag.partition("-")[0]
    return tag if tag in _LEFT_OUT else SAME.get(base, base)


def is_known(tag: str) -> bool:
    """Whether the model takes a declaration in this language."""
    if tag in _LEFT_OUT or tag == "und":
        return False
    return len(tag) == 2 or tag in ALWAYS or bool(Language.get(tag).writing_population() >= WRITERS)
