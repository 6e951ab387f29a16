"""Speed of the local corpus against other BM25 libraries, on the same words, as ratios measured in one run.

    python benchmarks/search.py                                  # 20,000 made-up documents, 2,000 queries
    python benchmarks/search.py --corpus documents.jsonl         # your own; queries are words of its passages
    python benchmarks/search.py --save                           # and writes results/peers/search.json
    pip install bm25s tantivy rank_bm25                          # the peers; without them their rows say so

`mores` is all that a user waits for: the corpus is read, cut, indexed and written to disk, and every query gives
evidence with text and source. The peers get the same passages as lists of words, keep their index in memory and give
numbers of passages; FTS5 is that of Python's own SQLite. A ratio above 1 says how many times faster `mores` answers.
FTS5 and rank_bm25 are asked fewer queries.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import peers as record

import mores
from mores.search.base import Query
from mores.search.corpus import Corpus
from mores.search.passages import find_documents, read_passages
from mores.search.stream import find_all
from mores.search.words import words

DOCUMENTS, QUERIES, K = 20_000, 2_000, 10
VOCABULARY, WORDS_ASKED = 50_000, 12
Find = Callable[[list[str]], list[int]]


class Row(NamedTuple):
    """One contestant."""

    name: str
    build: float
    rate: float


def write_documents(path: Path, count: int) -> None:
    """Made-up documents of 40 to 120 words, a few of which are very frequent, as in every language."""
    draw = random.Random(0)
    vocabulary = ["".join(draw.choices("aeioubdfgklmnprstvz", k=draw.randint(3, 9))) for _ in range(VOCABULARY)]
    weights = list(accumulate(1 / (n + 1) for n in range(VOCABULARY)))
    with path.open("w") as file:
        for _ in range(count):
            text = " ".join(draw.choices(vocabulary, cum_weights=weights, k=draw.randint(40, 120)))
            file.write(json.dumps({"text": text}) + "\n")


def read_texts(path: Path) -> list[str]:
    """The passages that `mores` makes of a corpus."""
    rows = (row for document in find_documents(path) for row in read_passages(document))
    return [f"{row.title}\n{row.text}" for row in rows]


def make_queries(passages: list[list[str]], count: int) -> list[str]:
    """Some words of some passage: what a claim shares with its source."""
    draw = random.Random(1)
    some = [draw.choice(passages) for _ in range(count)]
    return [" ".join(draw.sample(passage, min(WORDS_ASKED, len(passage)))) for passage in some]


def measure_ours(path: Path, queries: list[str], cache: Path) -> tuple[Row, float]:
    """Build, open again, and search as a run does."""
    started = time.perf_counter()
    Corpus(path, cache)
    built = time.perf_counter()
    corpus = Corpus(path, cache)
    opened = time.perf_counter()

    async def search() -> int:
        return len([results async for _, results in find_all(corpus, ((q, Query(q)) for q in queries), K)])

    assert asyncio.run(search()) == len(queries)
    rate = len(queries) / (time.perf_counter() - opened)
    return Row(f"mores, {len(corpus):,} passages", built - started, rate), opened - built


def with_bm25s(passages: list[list[str]]) -> Find:
    """bm25s with NumPy, one query at a time."""
    import bm25s

    index = bm25s.BM25()
    index.index(passages, show_progress=False)

    def find(query: list[str]) -> list[int]:
        places: list[int] = index.retrieve([query], k=K, show_progress=False)[0][0].tolist()
        return places

    return find


def with_tantivy(passages: list[list[str]]) -> Find:
    """tantivy in memory, with one thread."""
    import tantivy  # type: ignore[import-not-found,unused-ignore]

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field("place", stored=True)
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(128_000_000, 1)
    for place, passage in enumerate(passages):
        writer.add_document(tantivy.Document(words=" ".join(passage), place=place))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    should, term = tantivy.Occur.Should, tantivy.Query.term_query

    def find(query: list[str]) -> list[int]:
        clauses = [(should, term(schema, "words", word, index_option="freq")) for word in query]
        hits = searcher.search(tantivy.Query.boolean_query(clauses), K, count=False).hits
        return [searcher.doc(address)["place"][0] for _, address in hits]

    return find


def with_fts5(passages: list[list[str]]) -> Find:
    """SQLite's full-text search in memory, with its own BM25."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE passages USING fts5(words, content='', tokenize='unicode61')")
    rows = ((place, " ".join(passage)) for place, passage in enumerate(passages))
    database.executemany("INSERT INTO passages (rowid, words) VALUES (?, ?)", rows)
    database.execute("INSERT INTO passages (passages) VALUES ('optimize')")
    database.commit()

    def find(query: list[str]) -> list[int]:
        either = " OR ".join(f'"{word}"' for word in query)
        sql = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"
        return [place for (place,) in database.execute(sql, (either, K))]

    return find


def with_rank_bm25(passages: list[list[str]]) -> Find:
    """rank_bm25, which goes through all passages in Python."""
    import numpy as np
    import rank_bm25  # type: ignore[import-not-found,unused-ignore]

    index = rank_bm25.BM25Okapi(passages)

    def find(query: list[str]) -> list[int]:
        places: list[int] = np.argsort(-index.get_scores(query))[:K].tolist()
        return places

    return find


PEERS: dict[str, tuple[Callable[[list[list[str]]], Find], float]] = {
    "bm25s": (with_bm25s, 1.0),
    "tantivy": (with_tantivy, 1.0),
    "SQLite FTS5": (with_fts5, 0.05),
    "rank_bm25": (with_rank_bm25, 0.02),
}
"""Each peer, and the share of the queries that it is asked."""


def measure_peer(name: str, texts: list[str], queries: list[str]) -> Row | None:
    """Build from the texts and search; None when it is not installed."""
    start, share = PEERS[name]
    some = queries[: max(1, round(share * len(queries)))]
    started = time.perf_counter()
    try:
        find = start([words(text) for text in texts])
    except ImportError:
        return None
    built = time.perf_counter()
    for query in some:
        find(words(query))
    return Row(name, built - started, len(some) / (time.perf_counter() - built))


def lines(ours: Row, opened: float, peers: dict[str, Row | None]) -> Iterator[str]:
    """The table."""
    yield f"{'':<28} {'build s':>8} {'queries/s':>10} {'ratio':>7}"
    yield f"{ours.name:<28} {ours.build:>8.2f} {ours.rate:>10,.0f}"
    for name, row in peers.items():
        cells = (
            "not installed" if row is None else f"{row.build:>8.2f} {row.rate:>10,.0f} {ours.rate / row.rate:>6.1f}×"
        )
        yield f"{name:<28} {cells}"
    yield f"opening the index again: {opened:.2f} s; peak memory of all: {_peak_mb():,.0f} MB"


def _peak_mb() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 1e6 if sys.platform == "darwin" else used * 1024 / 1e6


def save(passages: int, queries: int, ours: Row, peers: list[Row]) -> None:
    """Write the results file."""
    rows = {"Mores": ours, **{row.name: row for row in peers}}
    versions = {"Mores": mores.__version__, "SQLite FTS5": sqlite3.sqlite_version}
    versions |= {name: version(name) for name in rows if name not in versions}
    figures = {
        "queries/s (more is better)": {name: row.rate for name, row in rows.items()},
        "s to build the index": {name: row.build for name, row in rows.items()},
    }
    record.save(
        "search", f"Search: {passages:,} passages, {queries:,} queries of {WORDS_ASKED} words", versions, figures
    )


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a corpus of your own instead of made-up documents")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="made-up ones (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=QUERIES, help="(default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        path = options.corpus or Path(name) / "documents.jsonl"
        if options.corpus is None:
            write_documents(path, options.documents)
        texts = read_texts(path)
        queries = make_queries([tokens for text in texts if (tokens := words(text))], options.queries)
        ours, opened = measure_ours(path, queries, Path(name) / "cache")
        peers = {peer: measure_peer(peer, texts, queries) for peer in PEERS}
    if options.json:
        rows: list[Any] = [row._asdict() for row in (ours, *peers.values()) if row is not None]
        print(json.dumps({"rows": rows, "opened": opened}))
    else:
        print("\n".join(lines(ours, opened, peers)))
    if options.save:
        save(len(texts), len(queries), ours, [row for row in peers.values() if row])


if __name__ == "__main__":
    main()
