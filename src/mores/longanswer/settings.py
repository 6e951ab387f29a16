"""The settings of long answers: how they are judged, and how questions for them are collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from mores.engine.settings import AskSettings, SamplingSettings
from mores.errors import ConfigError
from mores.metric.settings import RowSettings
from mores.models.settings import MODELS
from mores.settings import Settings, setting
from mores.settings.values import Names, OptionalPath

if TYPE_CHECKING:
    from mores.longanswer.answers import Answers
    from mores.longanswer.collection.candidates import Questions
    from mores.longanswer.lid import LanguageChecker
    from mores.models.base import Model
    from mores.search import Search

RESULTS = 10
"""Results of a search on which a claim is judged (CaLMQA, Section 3.1)."""
MEDIAN: Literal["median"] = "median"
"""K is the median number of claims of the run."""


def known_checks() -> Sequence[str]:
    """Return the names of the checks of a language."""
    from mores.longanswer.lid import REGISTRY

    return REGISTRY.names()


def known_stages() -> Sequence[str]:
    """Return the names of the stages of a collection."""
    from mores.longanswer.collection.asking import CollectStage

    return [str(stage) for stage in CollectStage]


class LongAnswerSettings(Settings):
    """The settings of judging long answers, wherever they are."""

    lid: str | LanguageChecker = setting(
        default="mores",
        choices=known_checks,
        help="Check of the language: ours, or CaLMQA's (CLD2 and langid).",
        result=True,
    )
    facts: str | Search | None = setting(
        default=None,
        metavar="SEARCH",
        help="Check facts against what a search finds: serper, brave, tavily, searxng, corpus:PATH, fused:PATH or "
        "replay:FILE.",
        result=True,
    )
    corpus: str | None = setting(default=None, metavar="PATH", help="The same as facts corpus:PATH.", result=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.facts and self.corpus:
            raise ConfigError("facts and corpus both name a search; give one", setting="facts")
        if self.corpus:
            object.__setattr__(self, "facts", f"corpus:{self.corpus}")
            object.__setattr__(self, "corpus", None)


class AppraiseSettings(LongAnswerSettings):
    """The judge and the search for long answers; without a judge only their surface is checked."""

    results: int = setting(default=RESULTS, at_least=1, help="Maximum search results per claim.", result=True)
    translator: str | Model | None = setting(
        default=None,
        metavar="MODEL",
        help="Model that translates into English.",
        default_text="the judge",
        result=True,
    )
    extractor: str | Model | None = setting(
        default=None, metavar="MODEL", help="Model that finds the claims.", default_text="the judge", result=True
    )
    verifier: str | Model | None = setting(
        default=None, metavar="MODEL", help="Model that checks the claims.", default_text="the judge", result=True
    )
    translate: bool = setting(default=True, help="Judge in English, as the paper does.", result=True)
    every: bool = setting(
        default=False, help="Also judge facts and relevance of answers with surface issues.", result=True
    )
    record: OptionalPath = setting(default=None, place="new file", help="Record all searches here, for replay:.")
    claims: int | Literal["median"] | None = setting(
        default=None,
        option="-k,--claims",
        metavar="K",
        at_least=1,
        at_most=2**31 - 1,
        help="Claims of a full answer, for recall and F1: a number, or 'median' of this run.",
        result=True,
    )


class LongformSettings(AppraiseSettings, AskSettings, table="longform"):
    """Long answers, and how they are judged."""

    answers: Answers = setting(
        kw_only=False,
        place="path",
        metavar="ANSWERS",
        help="Table with question, answer and language, a folder of CaLMQA's release, or records.",
    )
    judge: str | Model | None = setting(
        default=None,
        kw_only=False,
        metavar="MODEL",
        help="Model that judges facts and relevance; without one, only the surface is checked.",
        result=True,
    )
    missing_as_issue: bool = setting(
        default=False, help="Count a missing answer as one with an issue, as the paper does.", result=True
    )
    limit: int | None = setting(
        default=None, at_least=1, help="Maximum answers; the first ones are judged.", result=True
    )
    by: Names = setting(
        default=(),
        metavar="COLUMN",
        help="Also show the result by this column of the answers, whatever their table has (may be repeated).",
    )
    out: OptionalPath = setting(
        default=None,
        place="new folder",
        help="Folder for the run.",
        default_text="longform, or longform-2, … for other settings",
    )


class CollectSettings(AskSettings, SamplingSettings, RowSettings, table="collect"):
    """Candidate questions, and how they are filtered, translated and labelled."""

    questions: Questions = setting(
        kw_only=False,
        metavar="QUESTIONS",
        help="Table with question and language, saved pages of a forum (.html, or a folder), - for stdin, or records.",
    )
    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    without: Names = setting(
        default=(), choices=known_stages, help="Stage to leave out (may be repeated).", result=True
    )
    out: OptionalPath = setting(
        default=None,
        place="new folder",
        help="Folder for the run.",
        default_text="collection, or collection-2, … for other settings",
    )
    max_tokens: int = setting(default=1024, at_least=1, help="Maximum length of an answer, in tokens.", result=True)
