"""The settings of the metric: how a model is asked for reports, and which texts it judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mores.engine.settings import AskSettings, SamplingSettings
from mores.models.base import Style
from mores.models.settings import MODELS
from mores.settings import Settings, setting
from mores.settings.names import read_columns
from mores.settings.values import Names, OptionalPath
from mores.types import Sample

if TYPE_CHECKING:
    from mores.models.base import Model
    from mores.search import Search


SampleLike = Sample | str | tuple[str, str] | Mapping[str, Any]
"""A sample, a text alone, an (instruction, text) pair, or a mapping with the fields of a sample; a frame is many."""
PREFIX = "ensemble:"
"""What the name of several judges begins with."""


def known_formats() -> Iterable[str]:
    """Return the formats of tables."""
    from mores.io.source import FORMATS

    return FORMATS


class ReportSettings(SamplingSettings, table="report"):
    """The settings of asking a model for an error report."""

    style: Style | None = setting(
        default=None,
        help="Prompt: the paper's, with fences, or with fences and a guide to the report.",
        default_text="the one that the model was tuned with, or guided",
        result=True,
    )
    constrain: bool | None = setting(
        default=None,
        help="Constrain the model to the report's JSON schema, and local models to quotes from the text.",
        default_text="for embedded and tuned models",
        result=True,
    )
    max_errors: int | None = setting(
        default=None,
        at_least=1,
        help="Maximum errors in a report under the constraint.",
        default_text="3 for embedded and tuned models",
        result=True,
    )
    explain: bool = setting(
        default=False,
        help="Ask for a summary of the report in free text; that of judges that were tuned is made of their errors.",
        result=True,
    )
    repair: bool = setting(
        default=False, help="Ask once more, under the constraint, when an answer is not a report.", result=True
    )
    max_tokens: int = setting(default=1024, at_least=1, help="Maximum length of a report, in tokens.", result=True)
    max_characters: int = setting(default=200_000, at_least=1, help="Longer samples are not sent.", result=True)

    @property
    def report(self) -> ReportSettings:
        """The settings of reports alone."""
        given: ReportSettings | None = getattr(self, "settings", None)
        return given or self.part(ReportSettings)


class EnsembleSettings(Settings):
    """Further judges of the same texts."""

    ensemble: Names = setting(
        default=(),
        metavar="MODEL",
        help="Another judge of the same texts, repeated for more; errors that a majority finds are kept.",
        result=True,
    )


class JudgeSettings(EnsembleSettings, ReportSettings, AskSettings):
    """A model that judges texts, and how it is asked."""

    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    settings: ReportSettings | None = setting(
        default=None, kw_only=False, command=False, help="The settings of reports together, as in 0.2.0."
    )


class EvidenceSettings(Settings):
    """The evidence that is looked up about each text, and shown to the judge."""

    evidence: str | Search | None = setting(
        default=None,
        metavar="SEARCH",
        help="Look each text up first and show the judge what is found: a file or folder of documents, mores (the "
        "facts that come with it), serper, brave, tavily, searxng or replay:FILE; none for no evidence. Each error "
        "then cites its evidence.",
        default_text="mores for embedded and reader, otherwise none",
        result=True,
    )
    passages: int = setting(
        default=3,
        at_least=1,
        at_most=20,
        help="Maximum passages of evidence for a text; a text of several sentences gets one more for each.",
        result=True,
    )


class DialogueSettings(Settings):
    """Texts that are whole conversations."""

    dialogue: bool = setting(
        default=False,
        help="Judge whole conversations and locate errors by turn: all of a chat instead of its last answer, lists of "
        "turns, or texts in which 'Name: …' begins each turn.",
        result=True,
    )


class ScoreSettings(DialogueSettings, EvidenceSettings, EnsembleSettings, ReportSettings, AskSettings):
    """Texts in memory, and how they are judged."""

    samples: Iterable[SampleLike] = setting(kw_only=False, help="Texts, pairs, mappings, samples, or a data frame.")
    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    settings: ReportSettings | None = setting(
        default=None, kw_only=False, command=False, help="The settings of reports together, as in 0.2.0."
    )
    columns: Mapping[str, str] | None = setting(
        default=None, parse=read_columns, help="Names of our columns in a table, for example {'text': 'Answer'}."
    )


class RowSettings(Settings):
    """The rows of a table that cannot be read."""

    skip_bad: bool = setting(default=False, help="Leave out rows that cannot be read, instead of stopping.")


class ScoreFileSettings(
    RowSettings, DialogueSettings, EvidenceSettings, EnsembleSettings, ReportSettings, AskSettings, table="score"
):
    """A table of texts, and how they are judged."""

    texts: Path | str = setting(
        kw_only=False,
        metavar="[TEXTS]...",
        help="A table of texts, a file of plain texts, one per line, or - for stdin.",
    )
    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    settings: ReportSettings | None = setting(
        default=None, kw_only=False, command=False, help="The settings of reports together, as in 0.2.0."
    )
    out: Path | str | None = setting(
        default=None,
        place="new folder or -",
        metavar="DIR",
        help="Folder for the run; - writes judgements to stdout only.",
        default_text="TEXTS.MODEL.score",
    )
    format: str | None = setting(
        default=None, choices=known_formats, help="Format of TEXTS.", default_text="by the name of the file"
    )
    columns: Mapping[str, str] | None = setting(
        default=None,
        metavar="OURS=THEIRS",
        parse=read_columns,
        help="Names of our columns in TEXTS, for example text=Answer; several with commas, or repeated.",
        result=True,
    )
    limit: int | None = setting(default=None, at_least=1, help="Maximum texts; the first ones are judged.", result=True)


class LineSettings(Settings):
    """Files with one text per line, as COMET reads them, and logs of other harnesses."""

    log: str | None = setting(
        default=None,
        option="--from",
        metavar="KIND:LOG",
        help="Instead of TEXTS: the answers in a log of another harness, inspect:LOG.eval (or .json), "
        "lm-eval:SAMPLES.jsonl or promptfoo:RESULTS.json.",
    )
    sources: str | None = setting(
        default=None,
        option="-s,--sources",
        metavar="FILE",
        help="With -t: instructions, one per line.",
        default_text="to write a culturally correct text",
    )
    systems: Names = setting(
        default=(),
        option="-t,--translations",
        metavar="FILE",
        help="Instead of TEXTS: what a system wrote, one text per line; prints a score for each line and one for the "
        "system (several: repeat it, or name more files).",
    )
    references: Names = setting(
        default=(),
        option="-r,--references",
        metavar="FILE",
        help="With -t: what is known to be correct, one per line; the judge sees it as evidence.",
    )
    only_system: bool = setting(default=False, help="With -t: print the scores of the systems alone.")


class AuditSettings(ReportSettings, AskSettings, table="audit"):
    """Injections that a judge must withstand, and how it is asked."""

    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    categories: Names = setting(
        default=(), option="--category", help="Kinds of injection (may be repeated).", default_text="all", result=True
    )
    limit: int | None = setting(default=None, at_least=1, help="Maximum injections of each category.", result=True)
    out: OptionalPath = setting(
        default=None,
        place="new folder",
        help="Folder for the run.",
        default_text="audit, or audit-2, … for other settings",
    )
