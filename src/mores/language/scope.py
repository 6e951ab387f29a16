"""Which varieties the model leaves out, and how a tag that it does not know leads to one that it does.

Left out by hand are varieties that are confused on held-out text with a related language of twenty times the writers or
more, where they are not the standard language of a state or region: to know Scots costs more English than it finds
Scots.
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
"""Varieties left out, by the language that they would be confused with."""
CONSTRUCTED = {"ia", "io"}
SAME = {"zlm": "ms", "no": "nb", "ff": "fuv", "pnb": "lah"}
"""Tags that stand for another."""

LEFT_OUT = {variety for varieties in VARIETIES.values() for variety in varieties.split()} | CONSTRUCTED


def tag_of(code: str) -> str:
    """The tag that a language has in the model: without script and region, `zlm` and `ms` alike."""
    tag = language(code)
    base = tag.partition("-")[0]
    return tag if tag in LEFT_OUT else SAME.get(base, base)
