"""Whether written contrasts give their labels away: how often a claim alone, or a passage alone, tells the label.

    python benchmarks/contrasts.py --out benchmarks/results/contrasts.jsonl --against PAIRS

A classifier of words and pairs of letters sees one side of four fifths of the items, and guesses for the rest whether
the passage refutes the claim. What it gets beyond the share of the larger class is a shortcut. The same of the written
pairs, which are no contrasts. And how often a second reader, who did not see the labels, agrees with them. And how many
texts share eight words in a row (in Japanese, sixteen letters) with any text of other pairs.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_union

from mores.training.pairs import ClaimPair, group, name_of, read_pairs

FOLDER = Path(__file__).parent.parent / "examples" / "train"
SIDES: dict[str, Callable[[ClaimPair], str]] = {
    "claim": lambda pair: pair.claim,
    "passage": lambda pair: pair.evidence[0],
}
FEATURES = make_union(
    HashingVectorizer(ngram_range=(1, 2), n_features=2**17, token_pattern=r"(?u)\w+"),
    HashingVectorizer(analyzer="char_wb", ngram_range=(2, 2), n_features=2**17),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file for the figures")
    parser.add_argument("--against", type=Path, help="folder with pairs that are no part of the data")
    given = parser.parse_args()
    lines: list[dict[str, float | str]] = []
    data = {name: read_pairs(FOLDER / name) for name in ("contrasts", "written")}
    for name, pairs in data.items():
        for language in sorted({pair.language for pair in pairs}):
            members = [pair for pair in pairs if pair.language == language]
            lines.append({"data": name, "language": language, "pairs": len(members), **shortcuts(members)})
            print(json.dumps(lines[-1]), flush=True)
    lines.append(second_reader(data["contrasts"]))
    print(json.dumps(lines[-1]), flush=True)
    if given.against:
        lines.append(shared([*data["contrasts"], *data["written"]], read_pairs(given.against)))
        print(json.dumps(lines[-1]))
    if given.out:
        given.out.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def shortcuts(pairs: Sequence[ClaimPair]) -> dict[str, float | str]:
    """The share of the larger class, and of correct guesses from each side alone; items are never split."""
    refuted = np.array([pair.label == "refuted" for pair in pairs])
    items = group(pairs)
    groups = [items[name_of(pair)] for pair in pairs]
    share = float(refuted.mean())
    figures: dict[str, float | str] = {"majority": round(max(share, 1 - share), 3)}
    guesser = SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=20, tol=None, random_state=0)
    for name, side in SIDES.items():
        rows = FEATURES.transform(list(map(side, pairs)))
        scores = cross_val_score(guesser, rows, refuted, groups=groups, cv=GroupKFold(5))
        figures[f"{name} alone"] = round(float(scores.mean()), 3)
    return figures


def second_reader(pairs: Sequence[ClaimPair]) -> dict[str, float | str]:
    """How many labels, and how many decisions for or against an error, are also those of the second reader."""
    labels = {name_of(pair): pair.label for pair in pairs}
    with (FOLDER / "contrasts" / "second-reader.tsv").open(encoding="utf-8", newline="") as file:
        rows = [(labels[row["pair"]], row["answer"]) for row in csv.DictReader(file, delimiter="\t")]
    same = sum((label == "refuted") == (answer == "refuted") for label, answer in rows)
    return {
        "data": "second reader",
        "pairs": len(rows),
        "same label": sum(a == b for a, b in rows),
        "same verdict": same,
    }


def shared(pairs: Sequence[ClaimPair], others: Sequence[ClaimPair]) -> dict[str, float | str]:
    """How many different texts have a run of words in common with the others."""
    known = {run for pair in others for text in (pair.claim, *pair.evidence) for run in runs(text, pair.language)}
    texts = dict.fromkeys((text, pair.language) for pair in pairs for text in (pair.claim, *pair.evidence))
    return {"data": "shared", "texts": len(texts), "shared": sum(not known.isdisjoint(runs(*text)) for text in texts)}


def runs(text: str, language: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w" if language == "ja" else r"\w+", text.lower())
    length = 16 if language == "ja" else 8
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


if __name__ == "__main__":
    main()
