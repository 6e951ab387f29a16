"""The scripts of Unicode that distinguish languages, and how letters are folded before they are counted.

Han and kana are one script here, `Jpan`, since Japanese mixes them. Everything that is not a letter of a known script
is a space: digits, punctuation, emoji, symbols.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

SPACE = 32
APOSTROPHE = 39

BLOCKS: dict[str, tuple[tuple[int, int], ...]] = {
    "Latn": ((0x41, 0x5A), (0x61, 0x7A), (0xAA, 0xAA), (0xBA, 0xBA), (0xC0, 0x24F), (0x250, 0x2AF), (0x2B0, 0x2BA),
             (0x300, 0x36F), (0x1D00, 0x1DBF), (0x1E00, 0x1EFF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF), (0xAB30, 0xAB6F),
             (0xFB00, 0xFB06)),
    "Grek": ((0x370, 0x3FF), (0x1F00, 0x1FFF)),
    "Cyrl": ((0x400, 0x52F), (0x1C80, 0x1C8F), (0x2DE0, 0x2DFF), (0xA640, 0xA69F)),
    "Armn": ((0x530, 0x58F), (0xFB13, 0xFB17)),
    "Hebr": ((0x5D0, 0x5F2), (0xFB1D, 0xFB4F)),
    "Arab": ((0x600, 0x6FF), (0x750, 0x77F), (0x870, 0x8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFE)),
    "Syrc": ((0x700, 0x74F),),
    "Thaa": ((0x780, 0x7BF),),
    "Nkoo": ((0x7C0, 0x7FF),),
    "Deva": ((0x900, 0x97F), (0xA8E0, 0xA8FF)),
    "Beng": ((0x980, 0x9FF),),
    "Guru": ((0xA00, 0xA7F),),
    "Gujr": ((0xA80, 0xAFF),),
    "Orya": ((0xB00, 0xB7F),),
    "Taml": ((0xB80, 0xBFF),),
    "Telu": ((0xC00, 0xC7F),),
    "Knda": ((0xC80, 0xCFF),),
    "Mlym": ((0xD00, 0xD7F),),
    "Sinh": ((0xD80, 0xDFF),),
    "Thai": ((0xE00, 0xE7F),),
    "Laoo": ((0xE80, 0xEFF),),
    "Tibt": ((0xF00, 0xFFF),),
    "Mymr": ((0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)),
    "Geor": ((0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2F)),
    "Hang": ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF)),
    "Ethi": ((0x1200, 0x139F), (0x2D80, 0x2DDF), (0xAB00, 0xAB2F)),
    "Cher": ((0x13A0, 0x13FF), (0xAB70, 0xABBF)),
    "Cans": ((0x1400, 0x167F), (0x18B0, 0x18FF)),
    "Khmr": ((0x1780, 0x17FF),),
    "Mong": ((0x1800, 0x18AF),),
    "Olck": ((0x1C50, 0x1C7F),),
    "Tfng": ((0x2D30, 0x2D7F),),
    "Jpan": ((0x3005, 0x3007), (0x3041, 0x3096), (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF),
             (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D),
             (0x20000, 0x3FFFF)),
    "Yiii": ((0xA000, 0xA4CF),),
    "Vaii": ((0xA500, 0xA63F),),
    "Java": ((0xA980, 0xA9DF),),
    "Tavt": ((0xAA80, 0xAADF),),
    "Mtei": ((0xAAE0, 0xAAFF), (0xABC0, 0xABFF)),
    "Cakm": ((0x11100, 0x1114F),),
    "Adlm": ((0x1E900, 0x1E95F),),
}  # fmt: skip
"""Blocks of code points (first and last) by ISO 15924 code."""

NAMES = ("", *BLOCKS)
"""The number of a script is its index in this list; 0 stands for everything else."""
NUMBERS = {name: number for number, name in enumerate(NAMES)}

DENSE = {"Jpan": 3.0, "Hang": 2.0, "Ethi": 1.7, "Yiii": 3.0, "Cans": 1.5, "Vaii": 2.0}
"""How many letters of an alphabet a character is worth, where it is a syllable or a word."""

_APOSTROPHES = "'’‘ʻʼʽʾʿˈˊ`´′ꞌ＇"
# Vowel points, which are optional; tatweel; joiners and the soft hyphen, which are invisible.
_DROPPED = ((0x591, 0x5C7), (0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6ED),
            (0xAD, 0xAD), (0x200B, 0x200F), (0x2060, 0x2064), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF))  # fmt: skip
_ENDS = ".!?…;:\n。！？；：؟۔؛।॥։።፧၊။។༎"


@dataclass(frozen=True)
class Tables:
    """The properties of each code point."""

    script: npt.NDArray[np.uint8]
    fold: npt.NDArray[np.uint32]
    drop: npt.NDArray[np.bool_]
    end: npt.NDArray[np.bool_]
    weight: npt.NDArray[np.float32]
    """By number of script."""


@cache
def tables() -> Tables:
    """Return the tables of all code points, made once."""
    script = np.zeros(0x110000, np.uint8)
    for name, blocks in BLOCKS.items():
        for first, last in blocks:
            script[first : last + 1] = NUMBERS[name]
            if last - first < 0x1000:  # Han and Hangul have nothing else
                script[[code for code in range(first, last + 1) if unicodedata.category(chr(code))[0] not in "LM"]] = 0
    fold = np.arange(0x110000, dtype=np.uint32)
    fold[[ord(c) for c in _APOSTROPHES]] = APOSTROPHE
    weight = np.array([DENSE.get(name, 1.0) for name in NAMES], np.float32)
    return Tables(script, fold, _flags(_DROPPED), _flags((ord(c), ord(c)) for c in _ENDS), weight)


def _flags(ranges: Iterable[tuple[int, int]]) -> npt.NDArray[np.bool_]:
    flags = np.zeros(0x110000, np.bool_)
    for first, last in ranges:
        flags[first : last + 1] = True
    return flags
