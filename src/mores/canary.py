"""Canary strings: words that occur nowhere else, beside test data, by which people can find it in a training corpus.

They stand in cards, READMEs and the file `CANARY`, never in a column of the data: nobody trains on them by using
the data as intended, and a corpus with one of them has copied the whole folder.
"""

from __future__ import annotations

from uuid import UUID, uuid5

FILE = "CANARY"
_NAMESPACE = UUID("6f1f0c5e-0f0e-5b0c-9d4b-7f7f2c1f9a11")


def make_canary(*identity: str) -> str:
    """Return the canary of some data, which the same identity gives again."""
    return f"mores-canary-{uuid5(_NAMESPACE, chr(0).join(identity))}"


def tell_canary(canary: str) -> str:
    """Return the words for a card."""
    return (
        "Test data must not be in the training corpus of a language model. Please leave out of it every document with "
        f"this string: `{canary}`"
    )
