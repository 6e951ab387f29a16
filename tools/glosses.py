"""Makes the file of English glosses for languages that the encoder does not know (`src/mores/search/glosses`).

    PYTHONPATH=benchmarks python -m tools.glosses SOURCES --data DATA --out src/mores/search/glosses/glosses.zip

SOURCES has these, unpacked; `src/mores/search/glosses/README.md` names versions and licences:

| folder | from |
| --- | --- |
| `annotations`, `derived`, `names` | npm `cldr-annotations-full`, `cldr-annotations-derived-full`, `cldr-localenames-full` |
| `libreoffice-l10n-LANGUAGE` | Debian and Ubuntu: messages of LibreOffice |
| `dict-freedict-ell-eng`, `dict-freedict-eng-ell` | Ubuntu: dictionaries of Wiktionary and others, Greek |
| `sword-text-swahili`, `sword-text-kjv` | Ubuntu: the New Testament, verse by verse |

DATA has `blend`: the questions of its first half, as `benchmarks/crosslingual.py` divides them, in Amharic, Greek and
Persian. `tools/glossary.txt` has words that were written for this. What a word means is read off the pairs by word
alignment (model 1 of Brown et al. 1993) in both directions: its gloss has the highest geometric mean of both
probabilities. The words of the glossary come first.
"""  # noqa: E501 - a table

from __future__ import annotations

import argparse
import gzip
import json
import re
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from crosslingual import blend_rows, half_of

from mores.search.glosses import LANGUAGES, LONGEST, spelled
from mores.search.words import words

Pair = tuple[str, str]
"""A text in the language and in English."""
GLOSSARY = Path(__file__).parent / "glossary.txt"
ROUNDS = 6
LIKELY = 0.15
"""A gloss has at least this probability in one of the directions."""
PHRASE = 0.3
"""The mean of both of a gloss for two words together."""
WORDS = 60
"""Words of a text that is aligned."""
TWICE = 2
"""A word of a running text is known from as many texts."""
STOP = frozenset(
    words(
        "a an the of to in on at by for from with and or but is are was were be been being it its this that these "
        "those he she they them his her their you your i my we our us me him as if so than then there here can cannot "
        "could may might will would shall should do does did has have had having who whom whose which into out up over "
        "about s t re ve ll d m unto thee thou thy ye hath shalt not no"
    )
)
_MARKUP = re.compile(r"<note.*?</note>|<[^>]*>|[%$]\w*|[{}~_&]|\([^)]*\)|^\s*\d+\.", re.DOTALL)
_PACKED = "usr/share/sword/modules/texts/ztext"


def cldr(sources: Path, tag: str) -> Iterator[Pair]:
    """Yield names and keywords of emoji, and names of languages, territories and scripts."""
    for folder, kind in (("annotations", "annotations"), ("derived", "annotationsDerived")):
        both = [sources / folder / kind / name / "annotations.json" for name in (tag, "en")]
        if all(path.exists() for path in both):
            there, english = (json.loads(path.read_text("utf-8"))[kind]["annotations"] for path in both)
            for sign in sorted(there.keys() & english.keys()):
                for field in sorted(there[sign].keys() & english[sign].keys()):
                    yield " ".join(there[sign][field]), " ".join(english[sign][field])
    for kind in ("languages", "territories", "scripts"):
        there, english = (
            json.loads((sources / "names" / "main" / name / f"{kind}.json").read_text("utf-8"))["main"][name][
                "localeDisplayNames"
            ][kind]
            for name in (tag, "en")
        )
        yield from ((there[code], english[code]) for code in sorted(there.keys() & english.keys()))


def messages(sources: Path, tag: str) -> Iterator[Pair]:
    """Yield the messages of LibreOffice."""
    for path in sorted(sources.glob(f"libreoffice-l10n-{tag}/**/*.mo")):
        content = path.read_bytes()
        count, *tables = struct.unpack("<3I", content[8:20])
        for number in range(count):
            places = (struct.unpack_from("<2I", content, table + 8 * number) for table in tables)
            key, text = (content[start : start + size].decode() for size, start in places)
            if key:
                yield text.split("\0")[0], key.split("\4")[-1].split("\0")[0]


def dictionary(sources: Path, name: str) -> Iterator[Pair]:
    """Yield each headword with each of its translations."""
    [path] = sources.glob(f"dict-freedict-{name}/**/*.dict.dz")
    content = gzip.decompress(path.read_bytes())
    digits = {letter: place for place, letter in enumerate(f"{ascii_uppercase}{ascii_lowercase}0123456789+/")}
    for line in path.with_name(path.name.replace(".dict.dz", ".index")).read_text("utf-8").splitlines():
        word, *numbers = line.split("\t")[:3]
        start, size = (int("".join(f"{digits[letter]:06b}" for letter in number), 2) for number in numbers)
        for row in content[start : start + size].decode("utf-8").split("\n")[1:]:
            for translation in re.split("[,;]", _MARKUP.sub("", row)):
                if not word.startswith("00") and translation.strip():
                    yield word, translation.strip()


def verses(sources: Path) -> Iterator[Pair]:
    """Yield the verses of the New Testament in Swahili and English, which are numbered alike."""
    texts = []
    for folder in (f"sword-text-swahili/{_PACKED}/swahili", f"sword-text-kjv/{_PACKED}/engKJV2006eb"):
        blocks, places, packed = ((sources / folder / f"nt.{name}").read_bytes() for name in ("bzs", "bzv", "bzz"))
        books = [zlib.decompress(packed[start : start + size]) for start, size, _ in struct.iter_unpack("<III", blocks)]
        texts.append(
            [
                books[book][start : start + size].decode("utf-8", "replace") if size else ""
                for book, start, size in struct.iter_unpack("<IIH", places)
            ]
        )
    yield from zip(*texts, strict=True)


def pairs(sources: Path, data: Path, tag: str) -> Iterator[Pair]:
    """Yield all pairs of a language."""
    yield from cldr(sources, tag)
    yield from messages(sources, tag)
    if tag == "el":
        yield from ((word, gloss) for word, gloss in dictionary(sources, "ell-eng") if gloss.isascii())
        yield from ((gloss, word) for word, gloss in dictionary(sources, "eng-ell"))
    if tag == "sw":
        yield from verses(sources)
    for row in blend_rows(data):
        if row["language"] == tag and half_of(row["key"]) == 0:
            yield row["native"], row["english"]


def clean(rows: Iterable[Pair], tag: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words of each pair once, with Vietnamese words of two syllables."""
    seen = set()
    for there, english in rows:
        if there == english or (there, english) in seen:
            continue
        seen.add((there, english))
        asked = spelled(_MARKUP.sub(" ", unescape(there)), tag)
        if tag == "vi":
            asked += [f"{first} {second}" for first, second in pairwise(asked)]
        told = [word for word in words(_MARKUP.sub(" ", unescape(english))) if word.isascii() and word.isalpha()]
        if 0 < len(asked) <= WORDS and 0 < len(told) <= WORDS:
            yield asked, told


def align(rows: Sequence[tuple[list[str], list[str]]]) -> dict[Pair, float]:
    """Return the probability that the first word of a pair is told by the second, by model 1."""
    numbers: tuple[dict[str, int], dict[str, int]] = ({"": 0}, {})
    first: list[int] = []
    second: list[int] = []
    place: list[int] = []
    for asked, told in rows:
        sources = [0, *(numbers[0].setdefault(word, len(numbers[0])) for word in asked)]
        for word in told:
            place += [place[-1] + 1 if place else 0] * len(sources)
            first += sources
            second += [numbers[1].setdefault(word, len(numbers[1]))] * len(sources)
    size = len(numbers[1])
    keys, link = np.unique(np.asarray(first, np.int64) * size + second, return_inverse=True)
    likely = np.ones(len(keys))
    for _ in range(ROUNDS):
        share = likely[link]
        share /= np.bincount(place, share)[place]
        count = np.bincount(link, share, len(keys))
        likely = count / np.bincount(keys // size, count)[keys // size]
    names = [list(names) for names in numbers]
    return {
        (names[0][key // size], names[1][key % size]): value
        for key, value in zip(keys.tolist(), likely.tolist(), strict=True)
        if value > LIKELY / 15
    }


def table(rows: Sequence[tuple[list[str], list[str]]], own: dict[str, str]) -> dict[str, str]:
    """Return the gloss of each word; it is empty for one that says nothing."""
    there, back = align(rows), align([(told, asked) for asked, told in rows])
    times: dict[str, float] = defaultdict(float)
    for asked, told in rows:
        for word in set(asked):
            times[word] += TWICE if len(told) < LONGEST else 1
    best: dict[str, tuple[float, str]] = {}
    for (word, gloss), value in there.items():
        other = back.get((gloss, word), 0.0)
        mean = (value * other) ** 0.5
        if max(value, other) >= LIKELY and times[word] >= TWICE and (" " not in word or mean >= PHRASE):
            best[word] = max(best.get(word, (0.0, "")), (mean, gloss))
    learnt = {word: "" if gloss in STOP else gloss for word, (value, gloss) in best.items() if word and value}
    glosses = learnt | own
    # "in clouds" would hide the second word of a phrase that begins with it.
    empty = {word for word in learnt if " " in word and "" in map(glosses.get, word.split())} - own.keys()
    return {word: glosses[word] for word in sorted(glosses.keys() - empty)}


def own_words(tag: str) -> dict[str, str]:
    """Return the words of the glossary in a language."""
    head, *lines = [line for line in GLOSSARY.read_text("utf-8").splitlines() if "|" in line]
    column = head.split("|").index(tag) if tag in head.split("|") else None
    glosses: dict[str, str] = {}
    for line in lines if column else ():
        for word in line.split("|")[column or 0].split("/"):
            spelling = " ".join(spelled(word, tag))
            if spelling.count(" ") < LONGEST:
                glosses.setdefault(spelling, " ".join(line.split("|")[0].split()[:2]))
    return glosses


def main() -> None:
    """Write the file, the same bytes for the same input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with ZipFile(options.out, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for tag in sorted(LANGUAGES):
            rows = list(clean(pairs(options.sources, options.data, tag), tag))
            glosses = table(rows, own_words(tag))
            lines = "".join(f"{word}\t{gloss}\n" for word, gloss in glosses.items())
            archive.writestr(ZipInfo(f"{tag}.tsv"), lines.encode(), ZIP_DEFLATED, 9)
            print(f"{tag}: {len(rows):,} pairs, {len(glosses):,} words", flush=True)


if __name__ == "__main__":
    main()
