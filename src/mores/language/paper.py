"""The language check of the CaLMQA paper (Section 3.1 and Appendix C), for `--lid paper`.

CLD2 (the paper used it through polyglot) for 14 languages, with langid where CLD2 cannot decide; langid for the rest.
Their answer counts as the language, certain or not. The check does not know Balochi, Hiligaynon and Papiamento, and
takes most Kirundi for Kinyarwanda, so the paper excludes these four from its averages (Table 13).

    pip install '.[lid]'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mores.culture import accepts, language
from mores.errors import ConfigError, InputError
from mores.extras import install_command

BY_CLD2 = frozenset({"aa", "hil", "tn", "fj", "sm", "to", "rn", "wo", "hi", "fo", "ps", "ru", "ar", "bal"})


def detect_as_paper(texts: Sequence[str], expected: Sequence[str]) -> list[str | None]:
    """Return the language that the paper's check detects in each text, given the expected one; None for none."""
    if len(expected) != len(texts):
        raise InputError(f"{len(expected)} expected languages for {len(texts)} texts; give one for each")
    detected: list[str | None] = []
    for text, tag in zip(texts, expected, strict=True):
        code = _by_cld2(text) if _base(language(tag)) in BY_CLD2 else None
        code = code or str(_import("py3langid").classify(text)[0])
        try:
            detected.append(_base(language(code)))
        except InputError:  # CLD2 has codes for scripts
            detected.append(None)
    return detected


def is_expected(detected: str | None, expected: str) -> bool:
    """Return whether the detected language is the expected one; the detectors know some only as their macrolanguage."""
    return detected is not None and (accepts(_base(language(expected)), detected) or accepts(detected, expected))


def _by_cld2(text: str) -> str | None:
    """Return CLD2's first language, or None; a second try takes its best guess, like polyglot."""
    cld2 = _import("pycld2")
    printable = "".join(c for c in text if c.isprintable() or c in "\n\t").encode("utf-8", "ignore")
    for best_effort in (False, True):
        try:
            reliable, _, languages = cld2.detect(printable, bestEffort=best_effort)
        except cld2.error:  # bytes that it cannot read
            return None
        if reliable and languages[0][1] != "un":
            return str(languages[0][1])
    return None


def _base(tag: str) -> str:
    return tag.partition("-")[0]


def _import(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise ConfigError(f"the paper's language check needs {name}; run: {install_command('lid')}") from None
