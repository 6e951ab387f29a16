"""The settings of a diagnosis: what is diagnosed, and how missing runs are made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mores.benchmark.settings import QuestionSettings
from mores.models.settings import MODELS
from mores.settings import setting
from mores.settings.names import read_names
from mores.settings.values import Names, OptionalPath

if TYPE_CHECKING:
    from mores.benchmark.benchmark import Benchmark
    from mores.models.base import Model
    from mores.run import Run

Diagnosis = Literal[
    "calibration", "stability", "retrieval", "translation", "errors", "locality", "items", "contamination", "all"
]


if TYPE_CHECKING:
    Given = Run | Benchmark | Path | str
    """What a user may name as a target."""

    class Targets:
        """Several runs or benchmarks, or one."""

        def __get__(self, record: object, owner: Any = None) -> tuple[Given, ...]: ...
        def __set__(self, record: object, value: Given | Sequence[Given]) -> None: ...
else:
    Targets = Sequence[str]


class DiagnoseSettings(QuestionSettings, table="diagnose"):
    """Runs or benchmarks, and what is asked about them."""

    kind: Diagnosis = setting(kw_only=False, command=False, help="The diagnosis, or all of them.")
    targets: Targets = setting(
        default=(),
        kw_only=False,
        metavar="RUN_OR_BENCH...",
        help="Runs of `mores bench`, their folders, or names of benchmarks.",
        code=True,
    )
    model: str | Model | None = setting(
        default=None,
        metavar="MODEL",
        help=MODELS + ".",
        default_text="embedded for a benchmark; for a RUN, no model is asked",
        result=True,
    )
    samples: int = setting(
        default=0,
        at_least=0,
        help="Answers per question in a new run.",
        default_text="10 for stability and all, otherwise 1",
        result=True,
    )
    sources: Names = setting(
        default=(),
        option="--from",
        metavar="LIST",
        parse=read_names,
        only=("calibration",),
        help="Sources of confidence: stated, likelihood, agreement.",
        default_text="all that are available",
        result=True,
    )
    by: str = setting(
        default="language", only=("locality",), help="Group questions by this field or label.", result=True
    )
    labelled: OptionalPath = setting(
        default=None,
        place="file",
        option="--check",
        only=("errors",),
        help="Answers whose type people gave (item_id, answer, type), to test the judge.",
        result=True,
    )
    item_model: Literal["1pl", "2pl"] = setting(
        default="1pl",
        only=("items",),
        help="Item response model: one discrimination for all questions, or one for each, which needs 75 models.",
        result=True,
    )
    short: int | None = setting(
        default=None,
        at_least=1,
        only=("items",),
        help="Questions of the short form.",
        default_text="as few as rank models like all questions do",
        result=True,
    )
    force: bool = setting(
        default=False,
        only=("retrieval", "translation", "locality", "items"),
        help="Compare runs even if their signatures are not comparable.",
    )
    out: OptionalPath = setting(
        default=None,
        place="new folder",
        help="Folder for the page, the figures, and all questions and answers.",
        default_text="diagnose, or diagnose-2, … if that holds another run",
    )
