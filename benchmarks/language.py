"""Speed and accuracy of the language check, beside CLD2 (pycld2) in the same run where it is installed.

    python benchmarks/language.py                         # texts per second, on made-up texts
    python benchmarks/language.py --data DIR              # on CaLMQA's questions and answers
    python benchmarks/language.py --data DIR --table      # accuracy by language, beside the paper's check and Table 13
    python benchmarks/language.py --data DIR --answers    # wrong language of each model, by the paper's check and ours

DIR holds dataset-agnostic-LANGUAGE.json.gz and dataset-specific-LANGUAGE.json.gz of the authors' repository. Times are
the best of three, in CPU seconds of one process, so that other programs on the machine do not count.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mores.culture import language, language_name
from mores.language import check, detect
from mores.language.paper import LEFT_OUT, TABLE_13, check_as_paper, detect_as_paper
from mores.longform.answers import REFUSED

MADE_UP = (
    "Why do people in my village plant rice before the first rain of the year?",
    "¿Por qué la gente de mi pueblo siembra arroz antes de la primera lluvia?",
    "Warum pflanzen die Leute in meinem Dorf Reis vor dem ersten Regen?",
    "Почему люди в моей деревне сажают рис до первого дождя?",
    "मेरे गाँव के लोग पहली बारिश से पहले धान क्यों लगाते हैं?",
    "なぜ私の村の人々は最初の雨の前に米を植えるのですか。",
)


def read_entries(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each entry with its kind (agnostic or specific) and the name of its language."""
    for path in sorted(folder.glob("dataset-*.json.gz")):
        kind, _, name = path.name.removeprefix("dataset-").removesuffix(".json.gz").partition("-")
        for entry in json.loads(gzip.decompress(path.read_bytes()))["entries"]:
            yield kind, name.capitalize(), entry


def read_questions(folder: Path) -> tuple[list[str], list[str]]:
    """The questions and their languages."""
    pairs = [
        (name, entry["question"]["translations"].get(name, {}).get("text")) for _, name, entry in read_entries(folder)
    ]
    return [text for _, text in pairs if text], [language(name) for name, text in pairs if text]


def read_answers(folder: Path) -> dict[tuple[str, str], tuple[list[str], list[str]]]:
    """The answers that were given and their languages, by kind of question and model."""
    by_model: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for kind, name, entry in read_entries(folder):
        for answer in entry["answers"]:
            text = answer["translations"].get(name, {}).get("text")
            if text and text.strip() not in REFUSED and answer["language"] == name:
                texts, tags = by_model[kind, answer["prompting_state"]["model_name"]]
                texts.append(text)
                tags.append(language(name))
    return by_model


def rate(work: Callable[[], object], count: int) -> float:
    """Texts per CPU second, the best of three."""
    work()
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return count / min(times)


def measure(name: str, texts: Sequence[str]) -> None:
    """Print the rates on some texts."""
    ours = rate(lambda: detect(texts), len(texts))
    print(f"| {name} | {len(texts):,} | {ours:,.0f} | {_against(texts, ours)} |")


def _against(texts: Sequence[str], ours: float) -> str:
    try:
        import pycld2
    except ImportError:
        return "pycld2 is not installed"
    clean = ["".join(c for c in text if c.isprintable() or c == "\n") for text in texts]
    theirs = rate(lambda: [pycld2.detect(text, bestEffort=True) for text in clean], len(texts))
    return f"{theirs:,.0f} | {ours / theirs:.2f}"


def print_speed(folder: Path | None) -> None:
    """Rates on questions and on long answers."""
    questions = read_questions(folder)[0] if folder else list(MADE_UP)
    answers = [text for texts, _ in read_answers(folder).values() for text in texts] if folder else []
    print("| texts | number | ours/s | pycld2/s | ratio |\n| --- | ---: | ---: | ---: | ---: |")
    measure("questions", (questions * (6000 // len(questions) + 1))[:6000])
    measure("long answers", answers[:1500] or [" ".join([text] * 20) for text in MADE_UP] * 100)


def print_table(folder: Path) -> None:
    """Accuracy on the questions by language: restricted to these languages, open, and the paper's check."""
    texts, tags = read_questions(folder)
    correct = np.array(tags)
    columns = [
        np.array([detected.language for detected in detect(texts, candidates=sorted(set(tags)))]) == correct,
        np.array([detected.language for detected in detect(texts)]) == correct,
        np.array(detect_as_paper(texts, tags)) == correct,
    ]
    print("| language | questions | ours restricted | ours open | --lid paper | Table 13 |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    names = sorted(set(tags), key=language_name)
    for tag in names:
        cells = [f"{100 * column[correct == tag].mean():.1f}" for column in columns]
        print(f"| {language_name(tag)} | {(correct == tag).sum()} | {' | '.join(cells)} | {TABLE_13[tag]:.1f} |")
    macro = [f"{100 * np.mean([column[correct == tag].mean() for tag in names]):.1f}" for column in columns]
    print(f"| macro | {len(texts)} | {' | '.join(macro)} | {np.mean(list(TABLE_13.values())):.1f} |")


def print_answers(folder: Path) -> None:
    """Wrong-language rates of each model, the paper's four languages left out, and ours with all."""
    print("| questions | model | n | wrong, --lid paper | wrong, ours | unsure | n, all 23 | wrong, ours | unsure |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for (kind, model), (texts, tags) in sorted(read_answers(folder).items()):
        counted = np.array([tag not in LEFT_OUT for tag in tags])
        if counted.sum() < 100:
            continue
        verdicts = [checked.correct for checked in check(texts, tags)]
        wrong, unsure = np.array([v is False for v in verdicts]), np.array([v is None for v in verdicts])
        paper = ~np.array(check_as_paper(texts, tags))
        rates = [100 * part.mean() for part in (paper[counted], wrong[counted], unsure[counted], wrong, unsure)]
        cells = [f"{value:.1f}" for value in rates]
        print(
            f"| {kind} | {model} | {counted.sum()} | {' | '.join(cells[:3])} | {len(texts)} | {' | '.join(cells[3:])} |"
        )


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description="Speed and accuracy of the language check.")
    parser.add_argument("--data", type=Path, help="folder of CaLMQA's files")
    parser.add_argument("--table", action="store_true", help="accuracy by language")
    parser.add_argument("--answers", action="store_true", help="wrong-language rates of the models")
    options = parser.parse_args()
    if (options.table or options.answers) and options.data is None:
        parser.error("--table and --answers need --data DIR")
    if options.table:
        print_table(options.data)
    if options.answers:
        print_answers(options.data)
    if not (options.table or options.answers):
        print_speed(options.data)


if __name__ == "__main__":
    main()
