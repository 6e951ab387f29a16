"""How many texts are marked as not covered by their evidence, by shared words and by meaning.

    mores build ground free --out grounded
    python benchmarks/coverage.py grounded           # needs the extra dense

A mark is correct where the passage that decides a text is not among its evidence (`uncovered`), and wrong where it is
(`covered` and `reworded`). `prose` are the texts of examples/free.jsonl with their passages, `prose uncovered` the same
without the passage that comes first. Prose is searched by words for the marks by words, and otherwise by both.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from mores.engine.loop import run
from mores.factory.output import read_split
from mores.io import read_samples
from mores.metric.metric import COVERED
from mores.search import open_search
from mores.search.encoders import SEARCH, open_encoder
from mores.search.ground import covered, ground, is_near, nearness
from mores.types import Sample

EXAMPLES = Path(__file__).parent.parent / "examples"


def splits(folder: Path, kind: str, pairs: int, seed: int) -> Iterator[tuple[str, list[Sample]]]:
    """Yield samples with evidence: the prose of the examples, then some of each development split."""
    samples = run(prose(kind))
    yield "prose", samples
    yield "prose uncovered", [s.model_copy(update={"evidence": s.evidence[1:]}) for s in samples if s.evidence[1:]]
    for name in ("covered", "reworded", "uncovered"):
        samples = [gold.sample for gold in read_split(folder, f"dev-{name}") if gold.sample.evidence]
        yield name, random.Random(seed).sample(samples, min(pairs, len(samples)))


async def prose(kind: str) -> list[Sample]:
    """Return the texts of the examples with what a search finds about them."""
    search = open_search(f"{kind}:{EXAMPLES / 'passages.jsonl'}")
    return [sample async for sample, _ in ground(read_samples(EXAMPLES / "free.jsonl"), search, 3)]


def main() -> None:
    """Print a line for each way to judge and each split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grounded", type=Path, help="folder of `mores build ground`")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    near = nearness(open_encoder(SEARCH))
    ways: dict[str, Callable[[Sample], bool]] = {
        "corpus": lambda sample: covered(sample) >= COVERED,
        "fused": lambda sample: covered(sample) >= COVERED or is_near(sample, near),
    }
    for kind, is_covered in ways.items():
        for name, samples in splits(options.grounded, kind, options.pairs, options.seed):
            marked = sum(not is_covered(sample) for sample in samples)
            print(json.dumps({"search": kind, "split": name, "texts": len(samples), "marked": marked}))


if __name__ == "__main__":
    main()
