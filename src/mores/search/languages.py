"""Texts in another language than the documents that they are looked up in: then they share few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from mores.culture import language_name
from mores.language import detect
from mores.search.base import Search
from mores.search.corpus import Corpus
from mores.search.encoders import LANGUAGES
from mores.types import Sample

_LOOKED_AT = 64
"""Texts, and passages, that are enough to know."""


def language_note(search: Search, samples: Iterable[Sample]) -> str | None:
    """Return a note if words are searched for in documents of another language; None if all is well.

    Only the languages that a text states, or that are certain, count.
    """
    if not isinstance(search, Corpus) or not search.name.startswith("corpus:"):
        return None
    texts = list(islice((sample for sample in samples if not sample.evidence), _LOOKED_AT))
    detected = _languages([sample.text for sample in texts])
    spoken = [_primary(sample.language) or tag for sample, tag in zip(texts, detected, strict=True)]
    step = max(1, len(search) // _LOOKED_AT)
    passages = Counter(_languages([search.text(place) for place in range(0, len(search), step)]))
    [(written, _)] = passages.most_common(1)
    others = Counter(tag for tag in spoken if tag and tag != written)
    if written is None or 2 * passages[written] <= passages.total() or 2 * others.total() <= len(texts):
        return None
    names = ", ".join(language_name(tag) for tag, _ in others.most_common(3))
    note = (
        f"most documents are in {language_name(written)} and most texts are not ({names}): "
        "a search by words finds little of what they have in common"
    )
    if written in LANGUAGES and LANGUAGES & others.keys():
        note += f"; {search.name.replace('corpus', 'fused', 1)} also compares meanings"
    return note


def _languages(texts: Sequence[str]) -> list[str | None]:
    """Return the language of each text without script and country, where it is certain."""
    return [_primary(detection.detected) for detection in detect(texts)] if texts else []


def _primary(tag: str | None) -> str | None:
    return tag.split("-")[0] if tag else None
