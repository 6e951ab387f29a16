"""The languages that compete with an expected one: those it is confused with, and English.

The model's list comes from held-out text; the table here adds other known cases: languages without a declaration, and
those that models answer in instead.
"""

from __future__ import annotations

from mores.language.model import shipped

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
