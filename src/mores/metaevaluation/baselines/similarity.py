"""CulturalBench's heuristic as a metric: a text is correct if it is similar enough to the name of its country.

By default it compares character n-grams, which find little more than the country's name and its adjectives in the text,
in every language in which they are spelt as in English. With an encoder of sentences it compares meanings:
`similarity-minilm` as in the paper (English), `similarity-use` in 16 languages. It does not see the question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mores.culture import region_name
from mores.errors import InputError
from mores.factory.gold import Gold
from mores.search.encoders import Encoder, Floats, open_encoder, unit_vectors


def best_cut(scores: npt.ArrayLike, correct: npt.ArrayLike) -> float:
    """Return the cut with the highest balanced accuracy if scores at or above it count as correct; the lowest such cut.

    It lies halfway between two neighbouring scores, so that a slightly different score falls on the same side.
    """
    values, labels = np.asarray(scores, dtype=np.float64), np.asarray(correct, dtype=bool)
    if values.size == 0 or labels.all() or not labels.any():
        raise InputError("a threshold needs both correct and wrong samples")
    levels, level = np.unique(values, return_inverse=True)
    right_below, wrong_below = (
        np.cumsum(np.bincount(level[part], minlength=levels.size)) for part in (labels, ~labels)
    )
    # Whole numbers, so that no rounding decides between two cuts.
    gains = np.concatenate([[0], wrong_below * labels.sum() - right_below * (~labels).sum()])
    best = int(gains.argmax())
    if best == 0:
        return float(levels[0])
    return float(levels[best - 1] + levels[best]) / 2 if best < levels.size else float(np.nextafter(levels[-1], np.inf))


Vectors = Any
"""One row for each text, of length 1; dense or sparse."""
Embed = Callable[[Sequence[str]], Vectors]
MOST = 2000
"""At most this many samples set the threshold."""


@dataclass
class Similarity:
    """Cosine of text and country's name, minus a threshold."""

    encoder: str | None = None
    """The name of an encoder, or None for character n-grams."""
    learns: tuple[str, ...] = ("train", "dev")
    version: str = ""
    _cut: float = 0.0

    def __post_init__(self) -> None:
        self.version = f"1.{open_encoder(self.encoder).identity if self.encoder else 'ngrams'}"

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:
        with_region = [gold for gold in (*dev, *train) if gold.sample.region][:MOST]
        self._cut = best_cut(self._cosines(with_region), [not gold.report.errors for gold in with_region])

    def scores(self, golds: Sequence[Gold]) -> list[float | str]:
        with_region = [gold for gold in golds if gold.sample.region]
        cosines = iter(self._cosines(with_region))
        return [float(next(cosines)) - self._cut if gold.sample.region else "it has no region" for gold in golds]

    def _cosines(self, golds: Sequence[Gold]) -> npt.NDArray[np.float64]:
        regions = [gold.sample.region or "" for gold in golds]
        return country_cosines([gold.sample.text for gold in golds], regions, embedding(self.encoder))


def embedding(encoder: str | None) -> Embed:
    """Return how texts are compared: by an encoder of this name, or by character n-grams."""
    return _meanings(open_encoder(encoder)) if encoder else ngrams


def ngrams(texts: Sequence[str]) -> Vectors:
    """Character n-grams: fast, for any language, and blind to meaning."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 5), n_features=2**20, norm="l2", alternate_sign=False
    ).transform(texts)


def country_cosines(texts: Sequence[str], regions: Sequence[str], embed: Embed = ngrams) -> npt.NDArray[np.float64]:
    """Return how similar each text is to the name of its country."""
    if not texts:
        return np.zeros(0)
    countries = [region_name(region) for region in regions]
    names = sorted(set(countries))
    vectors = embed([*names, *texts])
    row_of = {name: row for row, name in enumerate(names)}
    left, right = vectors[len(names) :], vectors[[row_of[name] for name in countries]]
    product = left.multiply(right) if hasattr(left, "multiply") else left * right
    return np.asarray(product.sum(axis=1), dtype=np.float64).ravel()


def _meanings(encoder: Encoder) -> Embed:
    def embed(texts: Sequence[str]) -> Vectors:
        known = _KNOWN.setdefault(encoder.identity, {})
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, unit_vectors(encoder, new), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


_KNOWN: dict[str, dict[str, Floats]] = {}
"""Texts that each encoder has encoded: the same ones come again when a source is left out."""
