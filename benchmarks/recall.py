"""What the local corpus finds with and without the region of a question: the share of queries whose passage is found.

    python benchmarks/recall.py DATA          # a folder with factscore and blend in it

| case | query | passage | region |
| --- | --- | --- | --- |
| biographies | an atomic fact of FActScore's biographies | the sentence that it was taken from | US for all |
| blend | a question of BLEnD without the name of the country | the question with it and people's answer | the country |
| wrong | a question of BLEnD with what another country answers | the question with people's own answer | the country |

A region must find the country's passages in the last two cases and must not hide the sentence in the first.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from mores.culture import region_name
from mores.engine.loop import run
from mores.factory.sources.blend import REGIONS
from mores.search.base import Query
from mores.search.corpus import Corpus

QUERIES = 1000
AT = (1, 5)


class Case(NamedTuple):
    """Passages, and queries each with the passage that it should find."""

    passages: list[str]
    asked: list[tuple[Query, str]]


class Recall(NamedTuple):
    """The share of queries whose passage is among the first, and the first five."""

    without: tuple[float, ...]
    with_region: tuple[float, ...]


def biographies(data: Path) -> Case:
    """FActScore's sentences and their facts, none of which says much of a country."""
    rows = map(json.loads, (data / "factscore" / "ChatGPT.jsonl").read_text("utf-8").splitlines())
    parts = [part for row in rows for part in row["annotations"] or ()]
    queries = [(Query(fact["text"], region="US"), part["text"])
             for part in parts for fact in part.get("human-atomic-facts") or ()]  # fmt: skip
    return Case([part["text"] for part in parts], queries)


def blend(data: Path) -> Case:
    """BLEnD's questions, asked as if everybody knew the country."""
    facts = _facts(data)
    queries = [(Query(general.replace("*", "your country"), region=region), fact) for general, region, fact, _ in facts]
    return Case([fact for *_, fact, _ in facts], queries)


def wrong(data: Path) -> Case:
    """BLEnD's questions with an answer that is common elsewhere."""
    facts, draw = _facts(data), random.Random(0)
    elsewhere: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for general, region, _, answer in facts:
        elsewhere[general].append((region, answer))
    queries = []
    for general, region, fact, _ in facts:
        if others := [answer for land, answer in elsewhere[general] if land != region]:
            queries.append(
                (Query(f"{general.replace('*', region_name(region))} {draw.choice(others)}", region=region), fact)
            )
    return Case([fact for *_, fact, _ in facts], queries)


CASES: dict[str, Callable[[Path], Case]] = {"biographies": biographies, "blend": blend, "wrong": wrong}


def _facts(data: Path) -> list[tuple[str, str, str, str]]:
    """Question with a star for the country, region, the fact in words, and the answer; each fact stands once."""
    by_fact = {}
    for name, region in REGIONS.items():
        rows = json.loads((data / "blend" / f"{name.replace(' ', '_')}_data.json").read_text("utf-8"))
        for row in rows.values() if isinstance(rows, dict) else rows:
            general = re.sub(rf"\b{re.escape(name)}\b", "*", row["en_question"])
            if "*" in general and row["annotations"] and (answers := row["annotations"][0]["en_answers"]):
                fact = f"{general.replace('*', region_name(region))} {answers[0]}"
                by_fact[fact] = (general, region, fact, answers[0])
    return list(by_fact.values())


def measure(case: Case, folder: Path, limit: int = QUERIES) -> Recall:
    """Search for some of the queries, with their regions and without."""
    path = folder / "passages.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in dict.fromkeys(case.passages)), "utf-8")
    corpus = Corpus(path, folder / "cache")
    chosen = random.Random(1).sample(case.asked, min(limit, len(case.asked)))

    def shares(queries: Iterable[Query]) -> tuple[float, ...]:
        results = run(corpus.find(list(queries), max(AT)))
        texts = [[evidence.text for evidence in result.evidence] for result in results]
        wanted = [" ".join(passage.split()) for _, passage in chosen]
        hits = [[passage in ranked[:k] for ranked, passage in zip(texts, wanted, strict=True)] for k in AT]
        return tuple(sum(ranked) / len(chosen) for ranked in hits)

    return Recall(shares(query._replace(region=None) for query, _ in chosen), shares(query for query, _ in chosen))


def main() -> None:
    """Measure every case and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with factscore and blend in it")
    parser.add_argument("--queries", type=int, default=QUERIES, help="of each case (default: %(default)s)")
    options = parser.parse_args()
    print(f"{'found, %':<14}{'no region @1':>14}{'@5':>8}{'region @1':>14}{'@5':>8}")
    for name, read in CASES.items():
        with TemporaryDirectory() as folder:
            recall = measure(read(options.data), Path(folder), options.queries)
        cells = [100 * share for share in (*recall.without, *recall.with_region)]
        print(f"{name:<14}{cells[0]:>14.1f}{cells[1]:>8.1f}{cells[2]:>14.1f}{cells[3]:>8.1f}")


if __name__ == "__main__":
    main()
