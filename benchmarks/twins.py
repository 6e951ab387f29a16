"""Near twins between training and test, by a definition that the splits were not made with.

    python benchmarks/twins.py DATASET                     # a folder that `mores build` wrote
    python benchmarks/twins.py DATASET --examples 20       # the nearest pairs

`mores build` keeps items together that share half of their rare runs of five characters. Here two facts are near twins
if 80% or 70% of their words, common ones too, are the same in the same order: twice the length of the longest common
subsequence over the words of both. In a script without spaces characters are compared.

The table has the facts of the test split with a near twin in the training split, and beside them how many there would
be if facts were drawn into splits of the same sizes one by one, and not by group.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from mores.errors import MoresError
from mores.factory.facts import FACTS, CorrectFact
from mores.io import read_records
from mores.language.units import keys

BY_WORDS: tuple[float, ...] = (0.8, 0.7)
_ROWS = 200
"""Facts of the test that are compared at a time, for the memory that they need."""


class Nearest(NamedTuple):
    """A fact of the test and the nearest one of training; both are numbers of facts."""

    likeness: float
    tested: int
    trained: int


Compare = Callable[[Sequence[int], Sequence[int]], Iterator[Nearest]]
"""Finds the nearest training fact of each fact of the test, from the numbers of both."""


def by_words(texts: Sequence[str]) -> Compare:
    """Compares the words of facts, in their order."""
    words = [[key.casefold() for key in keys(text)] for text in texts]
    bags, lengths = _bags(words), np.array([len(of_text) for of_text in words])

    def compare(tested: Sequence[int], trained: Sequence[int]) -> Iterator[Nearest]:
        columns = bags[trained].T.tocsc()
        for start in range(0, len(tested), _ROWS):
            rows = tested[start : start + _ROWS]
            total = np.maximum(1, lengths[rows][:, None] + lengths[trained])
            in_any_order = 2 * (bags[rows] @ columns).toarray() / total
            for row, most in zip(rows, in_any_order, strict=True):
                best = Nearest(0.0, row, trained[0])
                for place in np.argsort(-most, kind="stable"):  # no order has more words than any order
                    if most[place] <= max(best.likeness, min(BY_WORDS) - 0.01):
                        break
                    best = max(best, Nearest(_likeness(words[row], words[trained[place]]), row, trained[place]))
                yield best

    return compare


def _bags(words: Sequence[Sequence[str]]) -> Any:
    """A row for each text; the second “the” of a text is another column than the first."""
    columns: dict[tuple[str, int], int] = {}
    cells, ends = [], [0]
    for of_text in words:
        times: Counter[str] = Counter()
        for word in of_text:
            times[word] += 1
            cells.append(columns.setdefault((word, times[word]), len(columns)))
        ends.append(len(cells))
    return csr_matrix((np.ones(len(cells), np.int32), cells, ends), shape=(len(words), len(columns)))


def _likeness(first: Sequence[str], second: Sequence[str]) -> float:
    return 2 * common_length(first, second) / (len(first) + len(second))


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, a bit for each word of the first (Hyyrö, 2004)."""
    places: dict[str, int] = defaultdict(int)
    for place, word in enumerate(first):
        places[word] |= 1 << place
    every = unmatched = (1 << len(first)) - 1
    for word in second:
        matched = unmatched & places[word]
        unmatched = ((unmatched + matched) | (unmatched - matched)) & every
    return len(first) - unmatched.bit_count()


def find_nearest(splits: Sequence[str], compare: Compare) -> list[Nearest]:
    """The nearest training fact of each fact of the test, the most alike first."""
    tested, trained = ([n for n, its_split in enumerate(splits) if its_split == split] for split in ("test", "train"))
    return sorted(compare(tested, trained), reverse=True)


def by_source(facts: Sequence[CorrectFact], numbers: Iterable[int]) -> Counter[str]:
    """How many of these facts each source has, and how many there are in all."""
    sources = Counter(facts[number].id.partition("/")[0] for number in numbers)
    return sources + Counter(all=sources.total())


def main() -> None:
    """Compare all facts of the test with those of training, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder that `mores build` wrote")
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="print the N nearest pairs")
    options = parser.parse_args()
    try:
        facts = list(read_records(options.data / FACTS, CorrectFact))
    except MoresError as error:
        parser.error(str(error))
    splits = [fact.split for fact in facts]
    one_by_one = random.Random(0).sample(splits, len(splits))
    columns = [("tested", by_source(facts, (number for number, split in enumerate(splits) if split == "test")))]
    compare = by_words([fact.text for fact in facts])
    pairs, drawn = (find_nearest(given, compare) for given in (splits, one_by_one))
    for least in BY_WORDS:
        for label, nearest in ((f"words {least}", pairs), ("one by one", drawn)):
            twins = by_source(facts, (pair.tested for pair in nearest if pair.likeness >= least))
            columns.append((label, twins))
    for pair in pairs[: options.examples]:
        print(f"{pair.likeness:.2f}  {facts[pair.tested].text}\n      {facts[pair.trained].text}")
    print(f"{'near twins':<16}" + "".join(f"{label:>12}" for label, _ in columns))
    for source in sorted(columns[0][1], key=lambda source: (source == "all", source)):
        print(f"{source:<16}" + "".join(f"{counts[source]:>12,}" for _, counts in columns))


if __name__ == "__main__":
    main()
