"""Languages that the model does not know are seldom called another with certainty, where Common Voice is there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mores.language import detect, languages

REAL = Path(os.environ.get("MORES_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data") / "common_voice"
pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason="no common_voice in the shared data; set MORES_SHARED_DATA to a folder that has it"
)
UNKNOWN = ("tig", "hsb", "ia", "kab", "mdf", "myv", "oc", "sah", "sc", "tok", "vot")


@pytest.mark.parametrize("name", UNKNOWN)
def test_sentences_in_an_unknown_language_are_seldom_certain(name: str) -> None:
    assert name not in languages()
    words = (REAL / f"{name}.txt").read_text("utf-8").split()[:2000]
    texts = [" ".join(words[first : first + 9]) for first in range(0, len(words) - 8, 9)]
    assert np.mean([detection.detected is not None for detection in detect(texts)]) <= 0.1
