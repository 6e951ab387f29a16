"""How often the facts that come with Mores are shown for a text that they answer, and for one that they do not.

    mores build free-2 --data DATA --out free
    python benchmarks/facts.py free                  # by words; with the extra dense also by meaning

The texts are training pairs of BLEnD, correct and wrong. `own`: the fact of the text's own question and region is among
the facts shown. `other`: any fact is shown when all facts of the text's question, in every region, are taken out.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np

from mores.factory.gold import Gold
from mores.factory.output import read_split
from mores.search import encoders
from mores.search.base import about
from mores.search.ground import query_of
from mores.search.shipped import FusedFacts, ShippedFacts


def measure(facts: ShippedFacts, golds: list[Gold], k: int) -> dict[str, object]:
    """Return the shares."""
    sources = np.array([facts.passage(place)["evidence"]["source"] for place in range(len(facts))])
    questions = np.array([source.partition(":")[0] for source in sources])
    own = other = 0
    for gold in golds:
        query = about(query_of(gold.sample), f"{gold.sample.instruction}\n{gold.sample.text}", "")
        scores = facts.scores([query])[0]
        own += any(sources[place] == gold.item for place in facts.best(scores, query, k))
        without = np.where(questions == gold.item.partition(":")[0], np.float32(0), scores)
        other += bool(facts.best(without, query, k))
    name = "words and meaning" if isinstance(facts, FusedFacts) else "words"
    return {
        "search": name,
        "pairs": len(golds),
        "own": round(own / len(golds), 3),
        "other": round(other / len(golds), 3),
    }


def main() -> None:
    """Print one line for each search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("built", type=Path, help="folder of `mores build free-2`")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--passages", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    searches = [ShippedFacts(), *([FusedFacts()] if encoders.has_encoder() else [])]
    known = {searches[0].passage(place)["evidence"]["source"] for place in range(len(searches[0]))}
    golds = [
        gold for gold in read_split(options.built, "train") if gold.item in known and gold.item.startswith("blend")
    ]
    golds = random.Random(options.seed).sample(golds, min(options.pairs, len(golds)))
    for facts in searches:
        print(json.dumps(measure(facts, golds, options.passages)))


if __name__ == "__main__":
    main()
