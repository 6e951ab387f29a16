"""The checks of an answer's language: ours, and that of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from typing import NamedTuple, Protocol

from mores.longanswer.records import LanguageCheck, LongAnswer
from mores.registry import Registry, identity_of


class LanguageChecker(Protocol):
    """A check of the language of answers."""

    @property
    def identity(self) -> str:
        """Name and version, for the signature."""

    def check(self, answers: Sequence[LongAnswer], /) -> list[LanguageCheck]:
        """Return for each answer which language it is in, and whether that is the expected one."""


class Checker(NamedTuple):
    """A check that a function makes."""

    check: Callable[[Sequence[LongAnswer]], list[LanguageCheck]]
    identity: str


def checker(given: str | LanguageChecker) -> Checker:
    """Return the check of that name, or the given one."""
    opened: LanguageChecker = REGISTRY.open(given)
    return Checker(opened.check, identity_of(opened))


def _mores(_name: str) -> Checker:
    from mores.language import check, model, strangers

    def by_ours(answers: Sequence[LongAnswer]) -> list[LanguageCheck]:
        checks = check([answer.answer or "" for answer in answers], [answer.language for answer in answers])
        return [LanguageCheck(**vars(verdict)) for verdict in checks]

    content = b"".join(files("mores.language").joinpath(name).read_bytes() for name in (model.FILE, strangers.FILE))
    return Checker(by_ours, f"mores.{blake2b(content, digest_size=4).hexdigest()}")


def _paper(_name: str) -> Checker:
    """Check as the paper does: a language that is not detected counts as wrong."""
    from mores.language.paper import detect_as_paper, is_expected

    def by_papers(answers: Sequence[LongAnswer]) -> list[LanguageCheck]:
        expected = [answer.language for answer in answers]
        tags = detect_as_paper([answer.answer or "" for answer in answers], expected)
        pairs = zip(tags, expected, strict=True)
        return [LanguageCheck(detected=tag, correct=is_expected(tag, language)) for tag, language in pairs]

    detect_as_paper(["Hello"], ["en"])  # says now what is not installed
    return Checker(by_papers, "paper." + ".".join(f"{name}-{version(name)}" for name in ("pycld2", "py3langid")))


CHECKERS: Mapping[str, Callable[[str], LanguageChecker]] = {"mores": _mores, "paper": _paper}
REGISTRY: Registry[Callable[[str], LanguageChecker]] = Registry(
    noun="language check",
    group="mores.language_checks",
    ours=CHECKERS,
    expected="a function that returns a mores.longanswer.lid.LanguageChecker",
    method="check",
    setting="lid",
)
