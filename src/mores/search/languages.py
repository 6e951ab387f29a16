"""Whether texts are in another language than the documents that they are looked up in: then they share few words."""

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
    """What a person should know before words are searched for in documents of another language; None where all is well.

    Only the languages that a text states, or that are certain, count.
    """
    if not isinstance(search, Corpus) or search.kind != "corpus":
        return None
    texts = list(islice((sample for sample in samples if not sample.evidence), _LOOKED_AT))
    spoken = _most_common([sample.text for sample in texts], [sample.language for sample in texts])
    step = max(1, len(search) // _LOOKED_AT)
    written = _most_common([search.text(place) for place in range(0, len(search), step)][:_LOOKED_AT])
    if spoken is None or written is None or spoken == written:
        return None
    note = (
        f"most texts are in {language_name(spoken)} and most documents in {language_name(written)}: "
        "a search by words finds little of what they have in common"
    )
    if {spoken, written} <= LANGUAGES:
        note += f"; {search.name.replace('corpus', 'fused', 1)} also compares meanings"
    return note


def _most_common(texts: Sequence[str], stated: Sequence[str | None] = ()) -> str | None:
    """The language of more than half of the texts."""
    detected = [detection.detected for detection in detect(texts)] if texts else []
    tags = [name or certain for name, certain in zip(stated or [None] * len(texts), detected, strict=True)]
    primary = Counter(tag.split("-")[0] for tag in tags if tag)
    [(tag, count)] = primary.most_common(1) or [("", 0)]
    return tag if 2 * count > len(texts) else None
