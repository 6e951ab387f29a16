"""The settings of meta-evaluation: metrics, what they judge, and how two judges are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mores.engine.settings import AskSettings
from mores.metric.settings import ReportSettings
from mores.rating.settings import PeopleSettings
from mores.settings import setting
from mores.settings.names import read_names
from mores.settings.values import Names, OptionalPath

if TYPE_CHECKING:
    from mores.metaevaluation.scorers import AnyMetric
    from mores.run import Run
    from mores.types import Judgement

Split = Literal["train", "dev", "test"]
THRESHOLD = 0.5
"""The intersection over union from which on a marked span finds an error."""


if TYPE_CHECKING:

    class Metrics:
        """Several metrics, or one."""

        def __get__(self, record: object, owner: Any = None) -> tuple[str | AnyMetric, ...]: ...
        def __set__(self, record: object, value: str | AnyMetric | Sequence[str | AnyMetric] | None) -> None: ...
else:
    Metrics = Sequence[str]


class MetaSettings(ReportSettings, PeopleSettings, AskSettings, table="meta"):
    """Metrics, and the data that shows how good they are."""

    data: Path | str = setting(
        kw_only=False,
        metavar="DIR|FILE|KIND:FILE",
        place="KIND:path",
        option="--data",
        help="Dataset: a folder of `mores build`, a file of your own pairs (texts, each with correct: true or false), "
        "juice:FILE (the JSON file of JuICE), ratings:FILE (people's ratings of answers) or marks:FILE (errors that "
        "people marked, as judgements or MQM TSV).",
        result=True,
    )
    metrics: Metrics = setting(
        default=(),
        kw_only=False,
        option="--metric",
        metavar="NAME",
        help="excam:MODEL, count:MODEL, severity:MODEL, binary:MODEL (with +p: count+p:MODEL), a FILE.jsonl of "
        "judgements, a run of `mores score`, or a baseline; with ratings also a table of scores, FILE.csv:COLUMN "
        "(may be repeated).",
        result=True,
    )
    baselines: Names = setting(
        default=("all",),
        parse=read_names,
        metavar="NAMES",
        help="Baselines to compare with: all (without similarity-*), none, or some names with commas.",
        result=True,
    )
    split: Split = setting(default="test", help="Split that is judged.", result=True)
    limit: int | None = setting(
        default=None, at_least=2, help="Maximum samples of a source, half of them with errors.", result=True
    )
    leave_one_out: bool = setting(
        default=False,
        help="Also train the baselines without each source in turn, and use every {source} model on all samples.",
        result=True,
    )
    votes: OptionalPath = setting(
        default=None, place="file", help="Votes of annotators on the samples, as JSON lines.", result=True
    )
    by: Names = setting(
        default=(),
        metavar="COLUMN",
        help="What the second table is broken down by: source, language, region, subregion, task, kind, or any column "
        "of your own pairs; the page has all (may be repeated).",
        default_text="source",
    )
    settings: ReportSettings | None = setting(
        default=None, command=False, help="The settings of reports together, as in 0.2.0."
    )
    iou: float = setting(
        default=THRESHOLD,
        at_least=0,
        at_most=1,
        help="JuICE: the intersection over union from which on a marked span finds an error; 0 for any overlap.",
        result=True,
    )
    out: OptionalPath = setting(
        default=None,
        place="new folder",
        help="Folder for judgements, tables and page.",
        default_text="NAME.meta",
    )


class CompareSettings(PeopleSettings, table="compare"):
    """Two judges, one judge's verdicts on two versions of the same texts, or two models on the same questions."""

    first: Path | str | Run | Iterable[Judgement] = setting(
        kw_only=False,
        metavar="A",
        place="path:COLUMN",
        help="Run of `mores score` or `bench`, file of judgements, or FILE.csv:COLUMN.",
    )
    second: Path | str | Run | Iterable[Judgement] = setting(
        kw_only=False, metavar="B", place="path:COLUMN", help="The other one."
    )
    data: Path | str | None = setting(
        default=None,
        metavar="DIR|KIND:FILE",
        place="KIND:path",
        help="Dataset that A and B judge: compare how well they find its errors. With ratings:FILE or marks:FILE, "
        "how well they agree with people.",
    )
    split: Split = setting(default="test", help="Split of the dataset that they judge.")
    force: bool = setting(default=False, help="Also compare what the signatures say is not comparable.")
    by: Names = setting(
        default=(),
        metavar="COLUMN",
        help="What the second table is broken down by: any column of the texts or questions, and with --data also "
        "source, subregion, task, kind, model or type; the page has more (may be repeated).",
        default_text="the first of those with several groups of ten",
    )
