"""The varieties that the model excludes, and the tag in the model of every other language.

Excluded by hand are varieties that are confused on held-out text with a related language that has at least twenty times
as many writers, unless they are the standard language of a state or region: recognising Scots would cost more English
than it gains Scots.

With an expected language compete those it is confused with, and English. The model's list comes from held-out text; the
table here adds other known cases: languages without a declaration, and those that models answer in instead.
"""

from __future__ import annotations

from mores.culture import language
from mores.language.model import shipped

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
"""Excluded varieties, by the language that they would be confused with."""
CONSTRUCTED = {"ia", "io"}
SAME = {"zlm": "ms", "no": "nb", "ff": "fuv", "pnb": "lah"}
"""Tags that are replaced by another."""

LEFT_OUT = {variety for varieties in VARIETIES.values() for variety in varieties.split()} | CONSTRUCTED


def tag_of(code: str) -> str:
    """Return the tag of a language in the model: without script and region, and `ms` for `zlm`."""
    tag = language(code)
    base = tag.partition("-")[0]
    return tag if tag in LEFT_OUT else SAME.get(base, base)


ALSO = {
    "bal": "ur fa ps ar sd",
    "ckb": "fa ar ug ku",
    "hil": "ceb fil war",
    "lah": "ur",
    "pap": "es pt nl",
    "ps": "fa ur ar",
    "rn": "rw sw",
    "rw": "rn sw",
    "sd": "ur fa ar",
    "tn": "nso st",
    "wo": "fr",
    "ja": "zh",
    "yue": "zh",
    "zh": "ja yue",
    "as": "bn",
}
EVERYWHERE = ("en",)


def confusions(tag: str) -> tuple[str, ...]:
    """Return the languages that a language is confused with, English last."""
    near = (*ALSO.get(tag, "").split(), *shipped().confusions.get(tag, ()), *EVERYWHERE)
    return tuple(dict.fromkeys(name for name in near if name != tag))
