"""Speed and accuracy of the language check, beside CLD2 (pycld2) in the same run where it is installed.

    python benchmarks/language.py                         # texts per second, on made-up texts
    python benchmarks/language.py --data DIR              # on CaLMQA's questions and answers
    python benchmarks/language.py --data DIR --table      # accuracy by language, beside the paper's check and Table 13
    python benchmarks/language.py --data DIR --answers    # wrong language of each model, by the paper's check and ours
    python benchmarks/language.py --examples FOLDER       # short texts, beside CLD2 and py3langid

DIR holds dataset-agnostic-LANGUAGE.json.gz and dataset-specific-LANGUAGE.json.gz of the authors' repository. Times are
the best of three, in CPU seconds of one process, so that other programs on the machine do not count. FOLDER is
`spacy/lang` of the wheel of spaCy (MIT licence), whose `examples.py` have sentences in some sixty languages on which
nothing here was trained; they are cut into pieces of 20 and 50 characters.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mores.culture import language, language_name
from mores.errors import InputError
from mores.language import check, detect, model_tag
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


def read_examples(folder: Path, size: int) -> list[tuple[str, str]]:
    """Pieces of whole words with at least so many characters, each with its language."""
    pieces = []
    for path in sorted(folder.glob("*/examples.py")):
        try:
            tag = model_tag(language(path.parent.name))
        except InputError:
            continue
        sentences = re.findall(r'^    "(.+)",?$', path.read_text("utf-8"), re.MULTILINE)
        pieces += [(tag, piece) for sentence in sentences for piece in cut(sentence.split(), size) if tag]
    return pieces


def cut(words: Sequence[str], size: int) -> Iterator[str]:
    """Runs of words with at least so many characters."""
    run = ""
    for word in words:
        run = f"{run} {word}".strip()
        if len(run) >= size:
            yield run
            run = ""


def print_examples(folder: Path) -> None:
    """Macro accuracy on short texts in the languages that all three know, and how often ours is certain."""
    import pycld2
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)

    def by_cld2(text: str) -> str:
        clean = "".join(letter for letter in text if letter.isprintable())
        return same(pycld2.detect(clean, bestEffort=True)[2][0][1])

    def same(code: str) -> str:
        try:
            return model_tag(language({"no": "nb", "iw": "he", "jw": "jv"}.get(code, code))) or code
        except InputError:
            return code

    known = {same(code) for _, code in pycld2.LANGUAGES} & {same(str(code)) for code in identifier.labels}
    print("| characters | texts | languages | ours | CLD2 | py3langid | certain | correct of these |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in (20, 50):
        pieces = [(tag, text) for tag, text in read_examples(folder, size) if tag in known]
        tags = np.array([tag for tag, _ in pieces])
        detections = detect([text for _, text in pieces])
        ours = np.array([detection.language for detection in detections]) == tags
        certain = np.array([detection.detected is not None for detection in detections])
        others = [np.array([name(text) for _, text in pieces]) == tags
                  for name in (by_cld2, lambda text: same(str(identifier.classify(text)[0])))]  # fmt: skip
        names = sorted(set(tags))
        cells = [f"{100 * np.mean([row[tags == tag].mean() for tag in names]):.1f}" for row in (ours, *others)]
        cells += [f"{100 * certain.mean():.0f}", f"{100 * ours[certain].mean():.1f}"]
        print(f"| {size} | {len(pieces)} | {len(names)} | {' | '.join(cells)} |")


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description="Speed and accuracy of the language check.")
    parser.add_argument("--data", type=Path, help="folder of CaLMQA's files")
    parser.add_argument("--table", action="store_true", help="accuracy by language")
    parser.add_argument("--answers", action="store_true", help="wrong-language rates of the models")
    parser.add_argument("--examples", type=Path, help="folder spacy/lang of the wheel of spaCy")
    options = parser.parse_args()
    if options.examples:
        print_examples(options.examples)
        return
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
