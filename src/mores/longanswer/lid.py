"""Which check of an answer's language is used: ours, or that of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from typing import NamedTuple

from mores.language import check, model, strangers
from mores.language.paper import detect_as_paper, is_expected
from mores.longanswer.records import LanguageCheck, LongAnswer


class Checker(NamedTuple):
    """A check of languages."""

    check: Callable[[Sequence[LongAnswer]], list[LanguageCheck]]
    identity: str
    """Name and version, for the signature."""


def checker(name: str) -> Checker:
    """Return the check of that name."""
    return CHECKERS[name]()


def _mores() -> Checker:
    content = b"".join(files("mores.language").joinpath(name).read_bytes() for name in (model.FILE, strangers.FILE))
    return Checker(_by_ours, f"mores.{blake2b(content, digest_size=4).hexdigest()}")


def _by_ours(answers: Sequence[LongAnswer]) -> list[LanguageCheck]:
    checks = check([answer.answer or "" for answer in answers], [answer.language for answer in answers])
    return [
        LanguageCheck(detected=c.detected, certainty=c.certainty, shares=c.shares, correct=c.correct) for c in checks
    ]


def _paper() -> Checker:
    detect_as_paper(["Hello"], ["en"])  # says now what is not installed
    return Checker(_by_papers, "paper." + ".".join(f"{name}-{version(name)}" for name in ("pycld2", "py3langid")))


def _by_papers(answers: Sequence[LongAnswer]) -> list[LanguageCheck]:
    """Check as the paper does: a language that is not detected counts as wrong."""
    expected = [answer.language for answer in answers]
    tags = detect_as_paper([answer.answer or "" for answer in answers], expected)
    return [
        LanguageCheck(detected=tag, correct=is_expected(tag, language))
        for tag, language in zip(tags, expected, strict=True)
    ]


CHECKERS: Mapping[str, Callable[[], Checker]] = {"mores": _mores, "paper": _paper}
