"""Speed of finding repetition, as ratios measured in one run.

    python benchmarks/repetition.py                       # made-up answers
    python benchmarks/repetition.py texts.txt             # one text on each line

Against the plain way, which counts every window of 20 tokens as a tuple; both must say the same of every text. Then
the time for one text that gets twice as long again and again, which must grow as its length does. Times are the best of
three.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mores.longanswer.repetition import TIMES, WINDOW, find_repetitions, repeated_window
from mores.longanswer.tokens import default_tokenizer, tokenize

TEXTS, LENGTH, LONGEST = 2_000, 400, 800_000
WORDS = ["water", "river", "people", "village", "song", "bread", "stone", "light", "market", "winter", "elder", "dance"]


def make_texts(count: int) -> list[str]:
    """Answers of about 400 tokens from the same few words; one in ten runs into a loop, as models do."""
    rng = np.random.default_rng(0)
    texts = []
    for at in range(count):
        words = [WORDS[n] for n in rng.integers(0, len(WORDS), LENGTH)]
        if at % 10 == 0:
            words[100:] = (words[100:130] * 10)[:300]
        texts.append(" ".join(words))
    return texts


def count_windows(tokens_of_text: Sequence[int]) -> int:
    """The plain way: how often the most frequent window occurs."""
    windows = Counter(tuple(tokens_of_text[at : at + WINDOW]) for at in range(len(tokens_of_text) - WINDOW + 1))
    return max(windows.values(), default=0)


def find_windows(token_lists: Sequence[Sequence[int]]) -> list[int]:
    """Ours: the same number where it is high enough, else 0."""
    return [0 if places is None else places.size for places in map(repeated_window, token_lists)]


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least seconds of three runs, and what the last gave."""
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return min(seconds), result


def compare(texts: list[str]) -> None:
    """Windows alone, and the share of all the time that is tokenization."""
    tokenizing, token_lists = clock(lambda: [tokenize(text) for text in texts])
    plain, counts = clock(lambda: [count_windows(token_list) for token_list in token_lists])
    ours, sizes = clock(lambda: find_windows(token_lists))
    if sizes != [count if count >= TIMES else 0 for count in counts]:
        raise SystemExit("the two ways do not agree")
    whole, _ = clock(lambda: find_repetitions(texts))
    total = sum(map(len, token_lists))
    print(f"{len(texts):,} texts, {total:,} tokens by {type(default_tokenizer()).__name__}")
    print(f"windows: plain {plain:.3f} s, ours {ours:.3f} s: {plain / ours:.1f} times as fast")
    print(f"tokenization {tokenizing:.3f} s; all together {whole:.3f} s, {len(texts) / whole:,.0f} texts/s")


def grow(longest: int) -> None:
    """Seconds by length, for a text in which nothing repeats and one in which everything does."""
    print(f"{'tokens':>9} {'distinct':>10} {'ns/token':>9} {'repeating':>10} {'ns/token':>9}")
    length = longest // 32
    while length <= longest:
        distinct = np.random.default_rng(length).integers(0, 199_998, length).tolist()
        looped = (distinct[:37] * (length // 37 + 1))[:length]
        first, second = (clock(partial(repeated_window, sequence))[0] for sequence in (distinct, looped))
        print(f"{length:>9,} {first:>9.3f}s {first / length * 1e9:>9.0f} {second:>9.3f}s {second / length * 1e9:>9.0f}")
        length *= 2


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("texts", nargs="?", type=Path, help="a file with one text on each line")
    parser.add_argument("--count", type=int, default=TEXTS, help="how many texts to make up")
    parser.add_argument("--longest", type=int, default=LONGEST, help="tokens of the longest text")
    options = parser.parse_args()
    compare(options.texts.read_text("utf-8").splitlines() if options.texts else make_texts(options.count))
    grow(options.longest)


if __name__ == "__main__":
    main()
