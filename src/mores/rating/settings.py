"""The settings of people's ratings: what a file calls our columns and values, and the scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mores.engine.progress import SILENT
from mores.errors import ConfigError
from mores.settings import Settings, setting
from mores.settings.names import read_columns
from mores.settings.values import Names, OptionalPath

if TYPE_CHECKING:
    from mores.engine.progress import Progress
    from mores.rating.ratings import Rating


def read_aliases(given: str | Iterable[str] | Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return, for each of our columns, what the file writes for a value, from texts such as `language.fi=fj`."""
    from mores.rating.ratings import COLUMNS

    if isinstance(given, Mapping):
        return {column: dict(values) for column, values in given.items()}
    aliases: dict[str, dict[str, str]] = {}
    for text in [given] if isinstance(given, str) else given:
        left, sign, ours = text.rpartition("=")  # OURS may be empty: no value
        column, dot, theirs = left.partition(".")
        if not sign or not dot or column not in COLUMNS:
            problem = "expected COLUMN.THEIRS=OURS, for example language.fi=fj"
            raise ConfigError(f"{text!r}: {problem}; the columns are {', '.join(COLUMNS)}", setting="alias")
        aliases.setdefault(column, {})[theirs] = ours.strip()
    return aliases


def read_splits(given: str | Iterable[str] | Mapping[str, str]) -> dict[str, str]:
    """Return columns with the patterns of their cells, from texts such as `id={question_id}__{model}`."""
    if isinstance(given, Mapping):
        return dict(given)
    parts = [text.partition("=") for text in ([given] if isinstance(given, str) else given)]
    if wrong := next(("".join(part) for part in parts if not part[2]), ""):
        problem = "expected COLUMN=PATTERN, for example id={question_id}__{model}"
        raise ConfigError(f"{wrong!r}: {problem}", setting="split")
    return {column.strip(): pattern for column, _, pattern in parts}


def read_scale(given: str | Sequence[float] | None) -> tuple[float, float] | None:
    """Return the lowest and the highest rating, from a text such as `1-5`."""
    if given is None:
        return None
    try:
        low, high = (float(part) for part in (given.rsplit("-", 1) if isinstance(given, str) else given))
    except ValueError:
        low, high = 0.0, 0.0
    if not low < high:
        raise ConfigError(f"{given!r}: expected the lowest and the highest rating, for example 1-5", setting="scale")
    return low, high


class PeopleSettings(Settings):
    """The settings of reading a table that people filled in."""

    columns: Mapping[str, str] | None = setting(
        default=None,
        metavar="OURS=THEIRS",
        parse=read_columns,
        help="Names of our columns in the file, for example rating=overall; several with commas, or repeated. OURS= "
        "reads none.",
        result=True,
    )
    aliases: Mapping[str, Mapping[str, str]] | None = setting(
        default=None,
        option="--alias",
        metavar="COLUMN.THEIRS=OURS",
        parse=read_aliases,
        help="Our name for a value in the file, for example language.fi=fj or model.GPT-4=gpt4; rating.Skip= reads no "
        "value (may be repeated).",
        result=True,
    )


class RateSettings(PeopleSettings, table="rate"):
    """People's ratings of answers, and how they are analysed."""

    ratings: Path | str | Iterable[Rating] = setting(
        kw_only=False, place="file", metavar="RATINGS", help="Table with a row for each answer that a person rated."
    )
    wide: str | None = setting(
        default=None,
        metavar="PATTERN",
        help="Names of the columns of a table with a row for each person, for example '{question} [{model}]'; {column} "
        "stands for one of our columns, such as rating or comment.",
        result=True,
    )
    split: Mapping[str, str] | None = setting(
        default=None,
        metavar="COLUMN=PATTERN",
        parse=read_splits,
        help="Column of which each cell has several of ours, for example 'id={question_id}__{model}' (may be "
        "repeated).",
        result=True,
    )
    participants: OptionalPath = setting(
        default=None,
        place="file",
        help="Prolific's export of submissions: people whose submission was returned, rejected or timed out are left "
        "out.",
        result=True,
    )
    languages: Mapping[str, str] | None = setting(
        default=None, command=False, help="Our name for a language in the file, such as {'fi': 'fj'}.", result=True
    )
    scale: tuple[float, float] | None = setting(
        default=None,
        metavar="LOW-HIGH",
        parse=read_scale,
        help="Lowest and highest possible rating.",
        default_text="1-5 if all are whole numbers from 1 to 5, otherwise what occurs",
        result=True,
    )
    analysis: Literal["crossed", "calmqa"] = setting(
        default="crossed",
        option="--as",
        help="Models of the ratings: crossed, with random effects of raters, questions and answers, or calmqa, with "
        "the formulas of that paper.",
        result=True,
    )
    codes: str | Path | None = setting(
        default=None,
        metavar="FILE",
        help="Codes for comments: a YAML file (docs/rate.md), calmqa-ranking, calmqa-factuality or calmqa-comments.",
        result=True,
    )
    by: Names = setting(
        default=(),
        metavar="COLUMN",
        help="Also show the ratings by this column of the file, whatever it is (may be repeated).",
    )
    out: OptionalPath = setting(default=None, place="new folder", help="Folder for the run.", default_text="NAME.rate")
    progress: Progress = setting(default=SILENT, command=False, help="Shows what was read as what.")
