"""Speed and accuracy of the language check, beside CLD2 (pycld2) in the same run where it is installed.

    python benchmarks/language.py                         # texts per second, on made-up texts
    python benchmarks/language.py --data DIR              # on CaLMQA's questions and answers
    python benchmarks/language.py --data DIR --table      # accuracy by language, beside the paper's check and Table 13
    python benchmarks/language.py --data DIR --answers    # wrong language of each model, by the paper's check and ours
    python benchmarks/language.py --examples FOLDER       # short texts, beside CLD2 and py3langid; or big-test.txt
    python benchmarks/language.py --related FOLDER        # related languages, and what each is taken for
    python benchmarks/language.py --unknown FOLDER        # languages that the model does not know; Cantonese

DIR holds dataset-agnostic-LANGUAGE.json.gz and dataset-specific-LANGUAGE.json.gz of the authors' repository. Times are
the best of three, in CPU seconds of one process, so that other programs on the machine do not count. FOLDER is
`spacy/lang` of the wheel of spaCy (MIT licence), whose `examples.py` have sentences in some sixty languages on which
nothing here was trained; they are cut into pieces of 20 to 200 characters. `--related` takes the folder `django` of the
wheel of Django (BSD licence), whose interface is translated into some eighty languages, also with `--examples` in place
of spaCy's. `big-test.txt` is in the source package of eld 1.0.6 (Apache 2.0): 1,000 sentences of news and web pages in
each of 60 languages, of which the first 100 are taken. `--unknown` takes Common Voice's sentences, one file such as
`tig.txt` for each language.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mores.culture import language, language_name
from mores.errors import InputError
from mores.language import check, detect, model_tag
from mores.language.paper import detect_as_paper, is_expected
from mores.longanswer.answers import REFUSED
from mores.longanswer.summary import LEFT_OUT

MADE_UP = (
    "Why do people in my village plant rice before the first rain of the year?",
    "¿Por qué la gente de mi pueblo siembra arroz antes de la primera lluvia?",
    "Warum pflanzen die Leute in meinem Dorf Reis vor dem ersten Regen?",
    "Почему люди в моей деревне сажают рис до первого дождя?",
    "मेरे गाँव के लोग पहली बारिश से पहले धान क्यों लगाते हैं?",
    "なぜ私の村の人々は最初の雨の前に米を植えるのですか。",
)
TABLE_13 = {
    "aa": 100.0, "ar": 100.0, "bal": 0.0, "zh": 100.0, "en": 100.0, "fo": 100.0, "fj": 98.67, "de": 100.0, "he": 100.0,
    "hil": 0.0, "hi": 100.0, "hu": 100.0, "ja": 100.0, "rn": 35.85, "ko": 100.0, "pap": 0.0, "ps": 100.0, "ru": 97.33,
    "sm": 92.0, "es": 100.0, "to": 100.0, "tn": 96.92, "wo": 90.0,
}  # fmt: skip
"""The paper's accuracy on its questions, in percent."""


SIZES = (20, 50, 100, 200)
RELATED = ("id ms", "hr sr bs", "nb nn da", "cs sk", "ckb fa ar ur", "mk bg sr", "gl es pt")
"""Languages that are easily confused, of those that Django's interface is translated into."""
LEAST = 15
"""Characters of the shortest message that counts."""
MOST = 100
"""Sentences of a language in `big-test.txt`."""
LABELS = {"ku": "ckb"}
"""What it calls Sorani; its Norwegian ("no") is Bokmål and Nynorsk, and left out."""


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
        detected = detect_as_paper(texts, tags)
        paper = np.array([not is_expected(found, tag) for found, tag in zip(detected, tags, strict=True)])
        rates = [100 * part.mean() for part in (paper[counted], wrong[counted], unsure[counted], wrong, unsure)]
        cells = [f"{value:.1f}" for value in rates]
        print(
            f"| {kind} | {model} | {counted.sum()} | {' | '.join(cells[:3])} | {len(texts)} | {' | '.join(cells[3:])} |"
        )


def read_examples(folder: Path, size: int) -> list[tuple[str, str]]:
    """Pieces of whole words with at least so many characters, each with its language."""
    is_interface = (folder / "conf" / "locale").is_dir()
    read = read_sentences if folder.is_file() else read_interface if is_interface else read_spacy
    sentences = read(folder)
    return [(tag, piece) for tag, sentence in sentences for piece in cut(sentence.split(), size)]


def read_spacy(folder: Path) -> Iterator[tuple[str, str]]:
    """The example sentences of spaCy's languages that the model knows."""
    for path in sorted(folder.glob("*/examples.py")):
        if tag := known_tag(path.parent.name):
            for sentence in re.findall(r'^    "(.+)",?$', path.read_text("utf-8"), re.MULTILINE):
                yield tag, sentence


def read_sentences(path: Path) -> Iterator[tuple[str, str]]:
    """The first sentences of each language in a file with a code and a sentence on each line."""
    seen = Counter[str]()
    for line in path.read_text("utf-8").splitlines():
        code, _, sentence = line.partition("\t")
        seen[code] += 1
        if code != "no" and seen[code] <= MOST:
            yield same(LABELS.get(code, code)), sentence


def read_interface(folder: Path, also: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """The translated messages of Django's interface, without names of fields; not those of regional variants."""
    for path in sorted(folder.glob("**/locale/*/LC_MESSAGES/*.mo")):
        name = path.parent.parent.name
        tag = name if name in also else known_tag(name.replace("_", "-"))
        if tag is None or (name.partition("_")[2] and not name.startswith(("sr", "zh"))) or name == "en":
            continue
        for original, message in messages(path.read_bytes()):
            text = " ".join(re.sub(r"%\(\w+\)\w|%\w|\{[^}]*\}|<[^>]*>|[“\"'`][\w./-]+[”\"'`]", " ", message).split())
            if original != message and len(text) >= LEAST:
                yield tag, text


def messages(catalogue: bytes) -> Iterator[tuple[str, str]]:
    """The originals and the translations in a compiled catalogue of GNU gettext, without the one of the header."""
    count, originals, translations = np.frombuffer(catalogue, np.uint32, 3, offset=8)
    starts = [np.frombuffer(catalogue, np.uint32, 2 * count, offset=int(at)) for at in (originals, translations)]
    for place in range(1, int(count)):
        pair = [catalogue[table[2 * place + 1] :][: table[2 * place]].decode() for table in starts]
        yield pair[0].rpartition("\4")[2].partition("\0")[0], pair[1].partition("\0")[0]


def known_tag(code: str) -> str | None:
    """The model's tag of a code; None if it has none, or the code is none."""
    try:
        return model_tag(language(code))
    except InputError:
        return None


def same(code: str) -> str:
    """The model's tag of another library's code; the code itself where the model does not know the language."""
    return known_tag({"no": "nb", "iw": "he", "jw": "jv"}.get(code, code)) or code


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

    known = {same(code) for _, code in pycld2.LANGUAGES} & {same(str(code)) for code in identifier.labels}
    print("| characters | texts | languages | ours | CLD2 | py3langid | certain | correct of these |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in SIZES:
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


def print_related(folder: Path) -> None:
    """Accuracy on related languages by length, and what else texts are taken for, by 50 characters."""
    groups = [group.split() for group in RELATED]
    tags = {tag for group in groups for tag in group}
    sentences = [(tag, text) for tag, text in read_interface(folder, also=["bs"]) if tag in tags]
    print("| language | texts of 50 | 20 characters | 50 | 100 | certain at 50 | correct of these | taken for, at 50 |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for tag in dict.fromkeys(tag for group in groups for tag in group):
        of_size = {
            size: detect([piece for name, text in sentences if name == tag for piece in cut(text.split(), size)])
            for size in SIZES[:3]
        }
        names = [[detection.language for detection in detections] for detections in of_size.values()]
        certain = [detection.detected for detection in of_size[50] if detection.detected]
        correct = "hr" if tag == "bs" else tag  # the model takes Bosnian for Croatian
        cells = [f"{100 * np.mean([name == correct for name in row]):.1f}" for row in names]
        cells += [f"{100 * len(certain) / len(names[1]):.0f}", f"{100 * np.mean([c == correct for c in certain]):.1f}"]
        others = Counter(name for name in names[1] if name != correct).most_common(3)
        print(f"| {tag} | {len(names[1])} | {' | '.join(cells)} | {', '.join(f'{n} {count}' for n, count in others)} |")


def print_unknown(folder: Path) -> None:
    """How often a text in a language that the model does not know is called one with certainty."""
    print("| language | texts of 50 | by letters: at 20 | 50 | 100 | certain: at 20 | 50 | 100 | mostly, at 50 |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for path in sorted(folder.glob("*.txt")):
        if known_tag(path.stem):
            continue
        words = path.read_text("utf-8").split()
        of_size = [detect(list(cut(words, size))[:500]) for size in SIZES[:3]]
        shares = [np.mean([bool(d.detected or d.strange) for d in detections]) for detections in of_size]
        shares += [np.mean([d.detected is not None for d in detections]) for detections in of_size]
        cells = [f"{100 * share:.0f}" for share in shares]
        mostly = Counter(d.detected for d in of_size[1] if d.detected).most_common(2)
        print(f"| {path.stem} | {len(of_size[1])} | {' | '.join(cells)} | {', '.join(f'{n} {c}' for n, c in mostly)} |")


def print_cantonese(folder: Path) -> None:
    """Whole sentences in Cantonese and Chinese, which are told apart by characters and not by training text."""
    print("| file | sentences | correct | certain | correct of these |\n| --- | ---: | ---: | ---: | ---: |")
    for name, tag in (("yue", "yue"), ("zh-CN", "zh"), ("zh-TW", "zh")):
        detections = detect((folder / f"{name}.txt").read_text("utf-8").splitlines())
        certain = [detection.detected for detection in detections if detection.detected]
        correct = sum(detection.language == tag for detection in detections)
        shares = [correct / len(detections), len(certain) / len(detections), certain.count(tag) / len(certain)]
        print(f"| {name} | {len(detections)} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |")


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description="Speed and accuracy of the language check.")
    parser.add_argument("--data", type=Path, help="folder of CaLMQA's files")
    parser.add_argument("--table", action="store_true", help="accuracy by language")
    parser.add_argument("--answers", action="store_true", help="wrong-language rates of the models")
    parser.add_argument("--examples", type=Path, help="folder spacy/lang of the wheel of spaCy, or django")
    parser.add_argument("--related", type=Path, help="folder django of the wheel of Django")
    parser.add_argument("--unknown", type=Path, help="folder of Common Voice's sentences, a file for each language")
    options = parser.parse_args()
    tables = (
        (print_examples, options.examples),
        (print_related, options.related),
        (print_unknown, options.unknown),
        (print_cantonese, options.unknown),
    )
    for print_figures, folder in tables:
        if folder:
            print_figures(folder)
    if any(folder for _, folder in tables):
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
