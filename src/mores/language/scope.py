"""The varieties that the model excludes, and the tag in the model of every other language.

Excluded by hand are varieties that are confused on held-out text with a related language that has at least twenty times
as many writers, unless they are the standard language of a state or region: recognising Scots would cost more English
than it gains Scots.
"""

from __future__ import annotations

from mores.culture import language

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
