"""The language check against pycld2, py3langid and lingua on the same short texts: accuracy and texts per second.

    python benchmarks/language_peers.py spacy/lang           # the folder of spaCy's wheel (see language.py), or django
    python benchmarks/language_peers.py spacy/lang --save    # and writes results/peers/language.json
    pip install pycld2 py3langid lingua-language-detector    # all are needed

The texts are in languages that all four know; accuracy is the mean over the languages. Everybody may name every
language that it knows. Texts per second are per CPU second, the best of three. Models are loaded before.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import peers
from language import rate, read_examples, same

import mores
from mores.language import detect, languages

SIZES = (20, 50)
"""Characters."""


class Detector(NamedTuple):
    """One library: its version, the codes of the languages that it knows, and how it names those of some texts."""

    version: str
    codes: Sequence[str]
    name: Callable[[Sequence[str]], list[str]]


def with_mores() -> Detector:
    return Detector(
        mores.__version__, languages(), lambda texts: [found.language or "" for found in detect(list(texts))]
    )


def with_pycld2() -> Detector:
    import pycld2

    def name(texts: Sequence[str]) -> list[str]:
        return [pycld2.detect(text, bestEffort=True)[2][0][1] for text in texts]

    return Detector(version("pycld2"), [code for _, code in pycld2.LANGUAGES], name)


def with_py3langid() -> Detector:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)

    def name(texts: Sequence[str]) -> list[str]:
        return [str(identifier.classify(text)[0]) for text in texts]

    return Detector(version("py3langid"), [str(code) for code in identifier.labels], name)


def with_lingua() -> Detector:
    from lingua import Language, LanguageDetectorBuilder

    codes = {each: each.iso_code_639_1.name.lower() for each in Language.all()}
    detector = LanguageDetectorBuilder.from_all_languages().with_preloaded_language_models().build()

    def name(texts: Sequence[str]) -> list[str]:
        return [codes.get(detector.detect_language_of(text), "") for text in texts]

    return Detector(version("lingua-language-detector"), list(codes.values()), name)


DETECTORS: dict[str, Callable[[], Detector]] = {
    "Mores": with_mores,
    "pycld2": with_pycld2,
    "py3langid": with_py3langid,
    "lingua": with_lingua,
}


def clean(text: str) -> str:
    """Without control characters, which CLD2 refuses."""
    return "".join(letter for letter in text if letter.isprintable())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="spacy/lang of spaCy's wheel, or django of Django's")
    parser.add_argument("--save", action="store_true", help="write the results file and the table of README.md")
    options = parser.parse_args()
    detectors = {name: make() for name, make in DETECTORS.items()}
    known = set.intersection(*({same(code) for code in detector.codes} for detector in detectors.values()))
    figures: dict[str, dict[str, float]] = {}
    counts = []
    for size in SIZES:
        pieces = [(tag, clean(text)) for tag, text in read_examples(options.folder, size) if tag in known]
        texts, tags = [text for _, text in pieces], np.array([tag for tag, _ in pieces])
        names = sorted(set(tags))
        counts.append(f"{len(texts):,} texts of {size} characters in {len(names)} languages")
        correct = {
            name: np.array([same(code) for code in detector.name(texts)]) == tags
            for name, detector in detectors.items()
        }
        figures[f"accuracy in %, {size} characters"] = {
            name: 100 * float(np.mean([row[tags == tag].mean() for tag in names])) for name, row in correct.items()
        }
        figures[f"texts/s, {size} characters (more is better)"] = {
            name: rate(partial(detector.name, texts), len(texts)) for name, detector in detectors.items()
        }
    print(f"{'; '.join(counts)}\n\n{'':<42}" + "".join(f"{name:>12}" for name in detectors))
    for figure, values in figures.items():
        print(f"{figure:<42}" + "".join(f"{value:>12,.1f}" for value in values.values()))
    if options.save:
        versions = {name: detector.version for name, detector in detectors.items()}
        peers.save("language", f"Language detection: {', '.join(counts)}", versions, figures)


if __name__ == "__main__":
    main()
