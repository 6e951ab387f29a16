"""What a corpus finds by words, by meaning and by both, across languages and within one, by language.

    pip install '.[dense]'
    python benchmarks/crosslingual.py DATA --out benchmarks/results/crosslingual.json

| case | query | passages |
| --- | --- | --- |
| `native to English` | a question of BLEnD in the language of its country | all its English facts: question and answer, 16 regions |
| `English to native` | the same in English | the facts of the same language |
| `English to native answers` | a question of CaLMQA in English | people's answers in its language, cut to one passage |
| `same language` | a claim of the evidence sets | their passages in the same language |

DATA has the folders `blend`, `calmqa` and `evidence`. The share of queries whose passage is among the first 1, 3 and 10
is measured for `words` (BM25), `dense`, `fused`, and `ranks`, which is reciprocal rank fusion of the first two. The
questions of BLEnD are asked with their region and without it. The weight of words in `fused` is chosen on one half of
the questions, the same for all cases; every figure is of the other half.
"""  # noqa: E501 - a table

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from mores.engine.loop import run
from mores.factory.sources.blend import REGIONS
from mores.factory.sources.calmqa import PERSON, read_entries
from mores.search import dense
from mores.search.base import Query
from mores.search.corpus import Corpus
from mores.search.dense import DenseCorpus
from mores.search.encoders import SEARCH, Encoder, Floats, open_encoder, unit_vectors

AT = (1, 3, 10)
QUERIES = 150
"""Of each language and half."""
PASSAGES = 1200
"""Of an evidence set, at most."""
WEIGHTS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
FEWEST = 20
"""Questions of a language in CaLMQA; those with fewer are left out."""
ONE_PASSAGE = 550
"""Characters of an answer, which a corpus does not cut again."""
RANK, DEPTH = 60, 100
"""The usual constant of reciprocal rank fusion, and how many ranks of each list it gets."""
SPEED = 10_000
LANGUAGES = {
    "Algeria": "ar", "Assam": "as", "Azerbaijan": "az", "China": "zh", "Ethiopia": "am", "Greece": "el",
    "Indonesia": "id", "Iran": "fa", "Mexico": "es", "North Korea": "ko", "Northern Nigeria": "ha",
    "South Korea": "ko", "Spain": "es", "UK": "en", "US": "en", "West Java": "su",
}  # fmt: skip
SETS = (
    "ans", "farstail", "indonli", "klue_nli", "esxnli", "jsick", "jnli", "rte3_fr", "rcb_ru", "fm2", "fever_symmetric",
    "creak", "sick_nl", "swenli",
)  # fmt: skip
Shares = dict[str, list[float]]
"""Of each method, the share at each rank of `AT`."""


class Asked(NamedTuple):
    """A query and the passage that it should find."""

    query: Query
    passage: str
    half: int
    """0 for choosing the weight, 1 for measuring."""


class Case(NamedTuple):
    """Queries in one language, and the passages that they are asked of."""

    name: str
    language: str
    asked: list[Asked]
    passages: list[str]


class Remembering:
    """An encoder that encodes a text once."""

    def __init__(self, encoder: Encoder) -> None:
        self.identity, self.size = encoder.identity, encoder.size
        self._encoder, self._vectors = encoder, dict[str, Floats]()

    def encode(self, texts: Sequence[str]) -> Floats:
        """The vectors, of which those of new texts are made."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, unit_vectors(self._encoder, new), strict=True))
        return np.stack([self._vectors[text] for text in texts])


def blend(data: Path) -> Iterator[Case]:
    """BLEnD's questions, each way and with and without their regions."""
    rows = list(blend_rows(data))
    english = [row["english_fact"] for row in rows]
    for tag in sorted(set(LANGUAGES.values()) - {"en"}):
        some = [row for row in rows if row["language"] == tag]
        native = [row["native_fact"] for row in some]
        for suffix, known in (("", True), (", no region", False)):
            there = [_asked(row, "native", "english_fact", known) for row in some]
            yield Case(f"native to English{suffix}", tag, _sample(there), english)
            back = [_asked(row, "english", "native_fact", known) for row in some]
            yield Case(f"English to native{suffix}", tag, _sample(back), native)


def blend_rows(data: Path) -> Iterator[dict[str, str]]:
    """BLEnD's questions with the answer of most people, in English and in the language of their country."""
    for name, region in REGIONS.items():
        content = json.loads((data / "blend" / f"{name.replace(' ', '_')}_data.json").read_text("utf-8"))
        for row in content.values() if isinstance(content, dict) else content:
            answers = row["annotations"][0] if row["annotations"] else {"answers": [], "en_answers": []}
            if answers["answers"] and answers["en_answers"]:
                yield {
                    "language": LANGUAGES[name], "region": region, "native": row["question"],
                    "english": row["en_question"], "key": row["en_question"].replace(name, "*"),
                    "native_answer": answers["answers"][0], "native_fact": f"{row['question']} {answers['answers'][0]}",
                    "english_fact": f"{row['en_question']} {answers['en_answers'][0]}",
                }  # fmt: skip


def _asked(row: Mapping[str, str], query: str, passage: str, known: bool) -> Asked:
    return Asked(Query(row[query], region=row["region"] if known else None), row[passage], half_of(row["key"]))


def calmqa(data: Path) -> Iterator[Case]:
    """Questions that people asked in their language, in English, and what people answered in that language."""
    by_language: dict[str, list[Asked]] = defaultdict(list)
    for entry in read_entries(data / "calmqa", lambda problem: None):  # noqa: ARG005
        answers = [answer.text for answer in entry.answers if answer.model == PERSON and answer.text]
        if entry.specific and entry.english and answers:
            answer = " ".join(answers[0].split())[:ONE_PASSAGE]
            by_language[entry.language].append(Asked(Query(entry.english), answer, half_of(entry.english)))
    for tag, asked in sorted(by_language.items()):
        if len(asked) >= FEWEST:
            yield Case("English to native answers", tag, asked, [one.passage for one in asked])


def evidence(data: Path) -> Iterator[Case]:
    """Claims and what decides them, in the same language."""
    for name in SETS:
        rows = [json.loads(line) for line in (data / "evidence" / f"{name}.jsonl").read_text("utf-8").splitlines()]
        rows = [row for row in rows if "-plus-" not in row["id"] and "-derived-" not in row["id"]]
        passages = list(dict.fromkeys(" ".join(row["evidence"][0].split()) for row in rows))[:PASSAGES]
        pairs = [(row["claim"], " ".join(row["evidence"][0].split())) for row in rows if row["label"] != "unknown"]
        asked = [Asked(Query(claim), passage, half_of(passage)) for claim, passage in pairs if passage in set(passages)]
        yield Case("same language", f"{rows[0]['language']} ({name})", _sample(asked), passages)


def half_of(text: str) -> int:
    """0 or 1, the same for the same text."""
    return blake2b(text.encode(), digest_size=1).digest()[0] % 2


def _sample(asked: Sequence[Asked]) -> list[Asked]:
    halves = [[one for one in asked if one.half == half] for half in (0, 1)]
    return [one for half in halves for one in random.Random(0).sample(half, min(QUERIES, len(half)))]


def measure(case: Case, encoder: Encoder, folder: Path) -> tuple[Shares, dict[float, float]]:
    """The shares of the second half, and for each weight of words the mean of the shares of the first half."""
    path = folder / "passages.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in dict.fromkeys(case.passages)), "utf-8")
    words, meaning = Corpus(path, folder), DenseCorpus(path, folder, fused=False, encoder=encoder)
    both = DenseCorpus(path, folder, encoder=encoder)
    first, second = ([asked for asked in case.asked if asked.half == half] for half in (0, 1))
    lists = {"words": _find(words, second, DEPTH), "dense": _find(meaning, second, DEPTH)}
    lists["ranks"] = [_by_ranks(pair) for pair in zip(lists["words"], lists["dense"], strict=True)]
    tried = {weight: fmean(_shares(_find_weighted(both, first, weight), first)) for weight in WEIGHTS}
    lists["fused"] = _find(both, second, max(AT))
    return {method: _shares(ranked, second) for method, ranked in lists.items()}, tried


def _find(corpus: Corpus, asked: Sequence[Asked], k: int) -> list[list[str]]:
    results = run(corpus.find([one.query for one in asked], k))
    return [[piece.text for piece in result.evidence] for result in results]


def _find_weighted(corpus: DenseCorpus, asked: Sequence[Asked], weight: float) -> list[list[str]]:
    chosen, dense.WORDS = dense.WORDS, weight
    try:
        return _find(corpus, asked, max(AT))
    finally:
        dense.WORDS = chosen


def _by_ranks(lists: Sequence[Sequence[str]]) -> list[str]:
    """Reciprocal rank fusion (Cormack et al. 2009)."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for rank, text in enumerate(ranked, 1):
            scores[text] = scores.get(text, 0.0) + 1 / (RANK + rank)
    return sorted(scores, key=lambda text: -scores[text])


def _shares(lists: Sequence[Sequence[str]], asked: Sequence[Asked]) -> list[float]:
    wanted = [" ".join(one.passage.split()) for one in asked]
    return [round(fmean(text in ranked[:k] for text, ranked in zip(wanted, lists, strict=True)), 3) for k in AT]


def speed(data: Path) -> dict[str, float]:
    """Seconds of CPU and memory for ten thousand passages."""
    texts = list(dict.fromkeys(passage for case in evidence(data) for passage in case.passages))[:SPEED]
    before = _resident_mb()
    encoder = open_encoder(SEARCH)
    encoder.encode(["a text"])  # loads it
    loaded = _resident_mb()
    with TemporaryDirectory() as name:
        path = Path(name, "passages.jsonl")
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
        Corpus(path, Path(name))
        started = time.process_time()
        corpus = DenseCorpus(path, Path(name), encoder=encoder)
        encoded = time.process_time() - started
        size = next(corpus.folder.glob("vectors.*")).stat().st_size / 1e6
        queries = [Query(text[:100]) for text in texts[:256]]
        started = time.process_time()
        for start in range(0, len(queries), 32):  # as many as a run asks together
            run(corpus.find(queries[start : start + 32], 3))
        searched = time.process_time() - started
        resident = _resident_mb()
    return {
        "passages": len(corpus), "mean_characters": round(fmean(map(len, texts))), "encode_cpu_s": round(encoded, 1),
        "file_mb": round(size, 2), "query_cpu_ms": round(1000 * searched / len(queries), 1),
        "encoder_mb": round(loaded - before), "search_mb": round(resident - loaded),
    }  # fmt: skip


def _resident_mb() -> float:
    """Of this process, now; 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def write_result(path: Path, result: Mapping[str, Any]) -> None:
    """The figures as JSON, one row a line."""
    head = {name: value for name, value in result.items() if name != "rows"}
    rows = ",\n".join(json.dumps(row) for row in result["rows"])
    path.write_text(f'{json.dumps(head)[:-1]}, "rows": [\n{rows}\n]}}\n', "utf-8")


def lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The table, at 80 columns."""
    yield f"{'found, % at 1 and at 3':<42}" + "".join(f"{method:>9}" for method in ("words", "dense", "fused", "ranks"))
    for row in rows:
        cells = (row[method] for method in ("words", "dense", "fused", "ranks"))
        shown = "".join(f"{f'{100 * first:.0f} {100 * third:.0f}':>9}" for first, third, _ in cells)
        yield f"{row['case'][:25]:<26}{row['language'][:11]:<12}{row['queries']:>4}{shown}"


def means(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The mean over the languages of each case."""
    for case in dict.fromkeys(row["case"] for row in rows):
        some = [row for row in rows if row["case"] == case]
        shares = {
            method: [round(fmean(row[method][k] for row in some), 3) for k in range(len(AT))]
            for method in ("words", "dense", "fused", "ranks")
        }
        yield {"case": case, "language": "mean", "queries": sum(row["queries"] for row in some)} | shares


def main() -> None:
    """Measure every case, print the table and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with blend, calmqa and evidence in it")
    parser.add_argument("--out", type=Path, help="file for the figures as JSON")
    parser.add_argument("--languages", nargs="*", help="these alone, without time and memory")
    parser.add_argument("--speed", action="store_true", help="time and memory alone, as JSON")
    options = parser.parse_args()
    if options.speed:
        print(json.dumps(speed(options.data)))
        return
    encoder, rows, tried = Remembering(open_encoder(SEARCH)), [], []
    cases = (*blend(options.data), *calmqa(options.data), *evidence(options.data))
    for case in cases if options.languages is None else [c for c in cases if c.language[:2] in options.languages]:
        with TemporaryDirectory() as folder:
            shares, weights = measure(case, encoder, Path(folder))
        count = sum(asked.half == 1 for asked in case.asked)
        rows.append({"case": case.name, "language": case.language, "queries": count} | shares)
        tried.append(weights)
        print(list(lines(rows[-1:]))[-1], file=sys.stderr, flush=True)
    rows += [] if options.languages else list(means(rows))
    chosen = {weight: round(fmean(weights[weight] for weights in tried), 4) for weight in WEIGHTS}
    print("\n".join(lines(rows)))
    print("weight of words, mean share on the first half:", chosen)
    if options.out:
        settings = {"weights": chosen, "weight": dense.WORDS, "region": dense.REGION}
        only = f" --languages {' '.join(options.languages)}" if options.languages else ""
        head = {
            "command": f"python benchmarks/crosslingual.py DATA{only}",
            "encoder": encoder.identity,
            "at": AT,
        } | settings
        if not options.languages:
            # In a new process, whose memory is that of the search alone.
            alone = [sys.executable, __file__, str(options.data), "--speed"]
            head["speed"] = json.loads(subprocess.run(alone, capture_output=True, check=True).stdout)
        write_result(options.out, head | {"rows": rows})


if __name__ == "__main__":
    main()
