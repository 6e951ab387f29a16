"""How well `mores meta`'s similarity baseline tells a text's country, by character n-grams and with each encoder.

    pip install '.[meta,dense,embed]'
    python benchmarks/similarity.py DATA --out benchmarks/results/similarity.json

| case | text | correct | wrong |
| --- | --- | --- | --- |
| `blend` | a question of BLEnD with people's answer, in the country's language | with its country | with another one |
| `blend, answers` | the answer alone | with its country | with another one |
| `blend, English` | a question of BLEnD with people's answer, in English | with its country | with another one |
| `calmqa` | people's answers in CaLMQA, no English | with the country of most speakers | with another one |
| `exams` | options of EXAMS, no English, with the country of most speakers | the correct option | another one |

DATA has the folders `blend`, `calmqa` and `exams`. The threshold is set on one half of the questions; the figure is the
scaled accuracy on the other, 2 · accuracy − 1: 0 is chance, 1 is no mistake.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from crosslingual import blend_rows, half_of
from langcodes import Language

from mores.factory.gold import Gold
from mores.factory.items import Task
from mores.factory.sources import exams
from mores.factory.sources.calmqa import PERSON, read_entries
from mores.metaevaluation.baselines.similarity import Similarity
from mores.types import Error, ErrorReport, Sample, Severity

TEXTS = 800
"""Of each case, at most; each is used twice, or with its wrong option."""
ENCODERS = {"ngrams": None, "minilm": "minilm", "use": "use"}


class Pair(NamedTuple):
    """A correct and a wrong sample, each a text and its country."""

    key: str
    """The question: what has the same key is in the same half."""
    correct: tuple[str, str]
    wrong: tuple[str, str]


def blend(data: Path) -> Iterator[Pair]:
    """Facts in the language of their country."""
    return _of_blend(data, "native_fact")


def blend_answers(data: Path) -> Iterator[Pair]:
    """Answers that do not name the country."""
    return _of_blend(data, "native_answer")


def blend_english(data: Path) -> Iterator[Pair]:
    """The same facts in English."""
    return _of_blend(data, "english_fact")


def _of_blend(data: Path, field: str) -> Iterator[Pair]:
    rows, draw = [row for row in blend_rows(data) if row["language"] != "en"], random.Random(0)
    regions = sorted({row["region"] for row in rows})
    for row in rows:
        other = draw.choice([region for region in regions if region != row["region"]])
        yield Pair(row["key"], (row[field], row["region"]), (row[field], other))


def calmqa(data: Path) -> Iterator[Pair]:
    """Answers by people, where the language is spoken."""
    entries = [
        (entry.question, _country(entry.language), answer.text)
        for entry in read_entries(data / "calmqa", lambda _: None)
        for answer in entry.answers
        if entry.specific and entry.language != "en" and answer.model == PERSON and answer.text
    ]
    draw, regions = random.Random(0), sorted({region for _, region, _ in entries})
    for question, region, text in entries:
        yield Pair(question, (text, region), (text, draw.choice([other for other in regions if other != region])))


def options_of_exams(data: Path) -> Iterator[Pair]:
    """Options in school exams."""
    draw = random.Random(0)
    for item in exams.SOURCE.read(data / "exams", lambda _: None):
        if item.language != "en" and item.wrong:
            region = _country(item.language or "")
            yield Pair(item.id, (item.answer, region), (draw.choice(item.wrong), region))


CASES: dict[str, Callable[[Path], Iterator[Pair]]] = {
    "blend": blend,
    "blend, answers": blend_answers,
    "blend, English": blend_english,
    "calmqa": calmqa,
    "exams": options_of_exams,
}


def _country(language: str) -> str:
    """Where most people speak it, after CLDR."""
    return Language.get(language).maximize().territory or "US"


def golds(pairs: list[Pair], half: int) -> list[Gold]:
    """The samples of one half of the questions."""
    samples = []
    for number, pair in enumerate(pairs):
        for wrong, (text, region) in ((False, pair.correct), (True, pair.wrong)):
            error = Error(side="text", quote=text, severity=Severity.MAJOR, type="country", explanation="")
            samples.append(
                Gold(
                    sample=Sample(id=f"{number}{'w' if wrong else 'c'}", text=text, region=region),
                    report=ErrorReport(errors=(error,) if wrong else ()), task=Task.FREEFORM,
                    kind="hard" if wrong else "correct", maker="source", item=str(number),
                )
            )  # fmt: skip
    halves = [half_of(pair.key) for pair in pairs for _ in range(2)]
    return [gold for gold, its_half in zip(samples, halves, strict=True) if its_half == half]


def measure(pairs: list[Pair], encoder: str | None) -> float:
    """The scaled accuracy on the second half, with the threshold of the first."""
    baseline, learned, judged = Similarity(encoder), golds(pairs, 0), golds(pairs, 1)
    baseline.fit([], learned)
    correct = [
        (score < 0) == bool(gold.report.errors)
        for score, gold in zip(baseline.scores(judged), judged, strict=True)
        if isinstance(score, float)
    ]
    return 2 * sum(correct) / len(correct) - 1


def main() -> None:
    """Measure every case with every encoder, print the table and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with blend, calmqa and exams in it")
    parser.add_argument("--out", type=Path, help="file for the figures as JSON")
    options = parser.parse_args()
    rows = []
    print(f"{'scaled accuracy':<18}{'samples':>8}" + "".join(f"{name:>9}" for name in ENCODERS))
    for name, read in CASES.items():
        every = list(read(options.data))
        pairs = random.Random(0).sample(every, min(TEXTS, len(every)))
        figures = {label: round(measure(pairs, encoder), 3) for label, encoder in ENCODERS.items()}
        rows.append({"case": name, "samples": len(golds(pairs, 1)), **figures})
        shown = "".join(f"{figures[label]:>9.2f}" for label in ENCODERS)
        print(f"{name:<18}{rows[-1]['samples']:>8}{shown}", flush=True)
    if options.out:
        result = {"command": "python benchmarks/similarity.py DATA", "rows": rows}
        options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
