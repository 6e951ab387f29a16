"""The settings of benchmarks: how questions are asked and graded, and what is made of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mores.engine.settings import AskSettings, SeedSettings
from mores.longanswer.settings import LongAnswerSettings
from mores.models.settings import MODELS
from mores.settings import Settings, setting
from mores.settings.values import AnyPath, Names, OptionalPath, Paths

if TYPE_CHECKING:
    from mores.benchmark.benchmark import Benchmark
    from mores.models.base import Model
    from mores.run import Run
    from mores.search import Search


if TYPE_CHECKING:

    class Judges:
        """Several models that grade, or one."""

        def __get__(self, record: object, owner: Any = None) -> tuple[str | Model, ...]: ...
        def __set__(self, record: object, value: str | Model | Sequence[str | Model] | None) -> None: ...
else:
    Judges = Sequence[str]


def known_rules() -> Sequence[str]:
    """Return the names of the rules that make tiers."""
    from mores.benchmark.labels import RULES

    return list(RULES)


class DataSettings(Settings):
    """The questions of a benchmark."""

    data: OptionalPath = setting(
        default=None,
        place="folder",
        help="Folder with one folder per dataset.",
        default_text="from the Hugging Face Hub",
        result=True,
    )
    limit: int | None = setting(
        default=None, at_least=1, help="Maximum questions, spread evenly over the dataset.", result=True
    )


class ProtocolSettings(Settings):
    """The judge of MSQA's authors."""

    judge_protocol: OptionalPath = setting(
        default=None,
        place="folder",
        metavar="CLONE",
        help="Clone of MSQA's repository: its judge's prompts are read, and none of its code is executed.",
        default_text="our prompts",
        only=("bench", "judge-check"),
        result=True,
    )


class VariantSettings(Settings):
    """The form in which questions are asked."""

    variant: str | None = setting(
        default=None, help="Another way to ask, where a benchmark has one, for example english.", result=True
    )
    shots: int = setting(
        default=0,
        at_least=0,
        help="Solved examples before each question, in its language; they are left out of the test.",
        only=("bench", "export-task"),
        result=True,
    )


class QuestionSettings(LongAnswerSettings, DataSettings, ProtocolSettings, VariantSettings, SeedSettings, AskSettings):
    """The settings of asking and grading the questions of a benchmark."""

    judge: Judges = setting(
        default=(),
        metavar="MODEL",
        help="Model that grades answers, where a benchmark needs one; of several, the majority counts.",
        result=True,
    )
    judge_url: str | None = setting(
        default=None, metavar="URL", help="Address of the judge's server.", default_text="the model's", result=True
    )
    labels: Paths = setting(
        default=(),
        place="path",
        help="File of `mores tiers` or run of `mores topics`; results are broken down by its labels.",
    )
    ids: OptionalPath = setting(
        default=None,
        place="file",
        help="Ask only the questions with these ids, one in a line, such as a short form of `mores diagnose items`.",
        result=True,
    )
    samples: int = setting(default=1, at_least=1, help="Answers to each question.", result=True)
    temperature: float | Literal["default"] | None = setting(
        default="default",
        help="Sampling temperature, or 'none' to send none.",
        default_text="the benchmark's",
        result=True,
    )
    max_tokens: int | None = setting(
        default=None,
        at_least=1,
        help="Maximum length of an answer, in tokens.",
        default_text="the benchmark's",
        result=True,
    )
    shuffle: int | None = setting(
        default=None,
        option="--shuffle-options",
        metavar="SEED",
        help="Multiple choice with the options of each question in another order, drawn by its id and SEED.",
        result=True,
    )
    search: str | Search | None = setting(
        default=None,
        metavar="SEARCH",
        help="Show the model what a search finds: serper, brave, tavily, searxng, corpus:PATH, fused:PATH or "
        "replay:FILE.",
        only=("retrieval", "all"),
        result=True,
    )
    results: int = setting(
        default=5, at_least=1, help="Maximum results of a search.", only=("retrieval", "all"), result=True
    )
    by_logprob: bool = setting(
        default=False,
        help="Multiple choice by the likeliest option as the first word, instead of by what the model writes.",
        only=("bench",),
        result=True,
    )
    judge_failures: Literal["unscored", "incorrect"] = setting(
        default="unscored",
        help="How to count answers that the judge could not grade; MSQA's authors count them as incorrect.",
        only=("bench",),
        result=True,
    )


class BenchSettings(QuestionSettings, table="bench"):
    """A benchmark, a model, and how it is asked."""

    benchmark: str | Path | Benchmark = setting(
        kw_only=False,
        metavar="BENCHMARK...",
        help="Name of a benchmark, a table of questions, or a folder.",
        result=True,
        code=True,
    )
    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    out: AnyPath = setting(
        default=Path("bench"),
        place="new folder",
        help="Folder for the runs: one folder for each benchmark and model.",
    )
    by: Names = setting(
        default=(),
        metavar="COLUMN",
        help="Also show the result by this column of the questions, whatever their table or dataset has (may be "
        "repeated).",
    )


class MoreModels(Settings):
    """Further models of one command."""

    also: Names = setting(
        default=(),
        metavar="MODEL",
        help="Further models for the same questions, such as named configurations with other reasoning or web search; "
        "a table has all of them side by side.",
    )


class BoardSettings(Settings, table="board"):
    """Runs whose models are ranked."""

    runs: Iterable[Run | Path | str] = setting(
        kw_only=False, place="folder", metavar="DIR...", help="Runs of `mores bench`, or folders with runs."
    )
    force: bool = setting(default=False, help="Also join runs whose signatures say that they are not comparable.")
    by: str | None = setting(
        default=None, metavar="FACT", help="Group models by a fact of their configuration, for example provider."
    )
    ability: bool = setting(
        default=False, help="Also show each model's ability by an item response model of three or more runs."
    )


class JudgeCheckSettings(DataSettings, ProtocolSettings, AskSettings, table="judge-check"):
    """A judge, and answers whose grades are known."""

    benchmark: str | Path | Benchmark = setting(
        kw_only=False, metavar="BENCHMARK", help="Name of a benchmark with a judge, or its folder.", result=True
    )
    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    pairs: OptionalPath = setting(
        default=None,
        place="file",
        help="Answers graded by people: JSON lines with item_id, answer and label (correct, incorrect, not_attempted).",
        result=True,
    )
    limit: int = setting(
        default=100, at_least=1, help="Maximum questions, spread evenly over the dataset.", result=True
    )
    out: OptionalPath = setting(
        default=None,
        place="new folder",
        help="Folder for the run.",
        default_text="judge-check, or judge-check-2, … for other settings",
    )


class TopicsSettings(DataSettings, AskSettings, table="topics"):
    """Questions that a model sorts by topic."""

    benchmark: str | Path | Benchmark = setting(
        kw_only=False, metavar="BENCHMARK", help="Name of a benchmark, or its folder.", result=True
    )
    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    topics: OptionalPath = setting(
        default=None,
        place="file",
        help="TOML file with the names and descriptions of topics.",
        default_text="the benchmark's; only CulturalBench has some",
        result=True,
    )
    out: OptionalPath = setting(
        default=None,
        place="new folder",
        help="Folder for the run, which `mores bench --labels` reads.",
        default_text="topics, or topics-2, … for other settings",
    )


class TiersSettings(Settings, table="tiers"):
    """Runs by which questions are sorted into tiers."""

    runs: Iterable[Run | Path | str] = setting(
        kw_only=False, place="folder", metavar="RUN...", help="Runs of `mores bench`, or folders with runs."
    )
    rule: str | None = setting(
        default=None, choices=known_rules, help="Rule that makes the tiers.", default_text="the benchmark's"
    )
    out: AnyPath = setting(
        default=Path("tiers.jsonl"),
        place="new file",
        help="File for the tiers, which `mores bench --labels` reads.",
    )
