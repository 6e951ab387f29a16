"""The settings of what a command shows of its result."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mores.metric.settings import known_formats
from mores.settings import Settings, setting
from mores.settings.records import RECORDS
from mores.settings.values import AnyPath, Names, OptionalPath

if TYPE_CHECKING:
    from mores.run import Run


class JsonSettings(Settings):
    """The form in which a result is printed."""

    json: bool = setting(default=False, help="Print JSON instead of tables.")


class ColumnSettings(Settings):
    """Columns of the texts or questions that a result is shown by."""

    by: Names = setting(
        default=(),
        metavar="COLUMN",
        help="Also show the result by this column of the texts or questions, with differences where texts are paired "
        "(may be repeated).",
    )


class FigureSettings(Settings):
    """The look of figures for a paper."""

    figure_width: float = setting(default=5.5, at_least=1.5, at_most=40, metavar="INCHES", help="Width of figures.")
    font_size: float = setting(
        default=8.0, at_least=4, at_most=30, metavar="POINTS", help="Size of letters in figures."
    )
    order: Literal["page", "value", "name"] = setting(
        default="page",
        option="--figure-order",
        help="Order of the rows of figures: as on the page, by value (the highest first) or by name.",
    )
    names: OptionalPath = setting(
        default=None,
        place="file",
        metavar="FILE",
        help='TOML file with names for figures and their tables, a line for each: "openai:gpt-4.1" = "GPT-4.1".',
    )


class FileSettings(FigureSettings):
    """Files that show a result."""

    html: OptionalPath = setting(
        default=None, place="new file", metavar="FILE", help="Also write the page: one file that shows everything."
    )
    figures: OptionalPath = setting(
        default=None,
        place="new folder",
        metavar="DIR",
        help="Write the page's charts as SVG and PDF, and its tables as LaTeX and CSV, into this folder.",
    )


class ShowSettings(FileSettings, ColumnSettings):
    """A run that is shown."""

    run: Run | Path | str = setting(kw_only=False, help="A run, or its folder.")


class OutputSettings(FileSettings, JsonSettings, table="output"):
    """The outputs of a run besides its tables, and their places."""


class TextOutputSettings(ColumnSettings, OutputSettings, table="output"):
    """The outputs of judged texts besides their tables, and their places."""


class CISettings(Settings):
    """The outputs of judged texts in hosted continuous integration."""

    junit: OptionalPath = setting(
        default=None,
        place="new file",
        metavar="FILE",
        help="Also write JUnit XML: a test for each text, which fails if --fail-on forbids one of its errors.",
    )
    annotations: bool = setting(
        default=False, help="Also print each error with its file and line, as GitHub's runners show it."
    )


class DryRunSettings(Settings):
    """The choice to do the work or only estimate it."""

    dry_run: bool = setting(default=False, help="Show what the run would send and cost, and stop.")


class PushSettings(Settings):
    """The place to which a result is uploaded."""

    push_to_hub: str | None = setting(
        default=None,
        metavar="OWNER/NAME",
        help="Then upload the result to this private repository of the Hugging Face Hub.",
    )
    push_dry_run: bool = setting(
        default=False, help="With --push-to-hub: list what would be uploaded, and send nothing."
    )


class ShownFiles(Settings):
    """The run or the judgements to show."""

    files: Names = setting(
        kw_only=False, metavar="RUN | [TEXTS] JUDGEMENTS...", help="A run, or judgements and perhaps their texts."
    )
    format: str | None = setting(
        default=None, choices=known_formats, help="Format of TEXTS.", default_text="by the name of the file"
    )
    title: str = setting(default="Cultural errors", help="Title of the page of JUDGEMENTS.")
    quiet: bool = setting(default=False, help="Print no table.")


class CiteSettings(Settings):
    """Runs that are cited."""

    runs: Run | Path | str | Iterable[Run | Path | str] = setting(
        kw_only=False, place="folder", metavar="RUN...", help="Folders of runs."
    )


class FolderSettings(Settings):
    """A folder of runs."""

    folder: AnyPath = setting(
        default=Path(), place="folder", metavar="[FOLDER]", kw_only=False, help="Folder with runs."
    )


class ListenSettings(Settings):
    """The address of a program that is reached by a browser or over HTTP."""

    host: str = setting(default="127.0.0.1", help="Address to listen on; 0.0.0.0 for other machines.")


class DoctorSettings(Settings):
    """The settings of `mores doctor`."""

    config: OptionalPath = setting(default=None, place="file", metavar="FILE", help="Settings file.")
    ask: bool = setting(default=False, help="Also ask the servers which models they have.")


class ConfigSettings(Settings):
    """The command whose settings are shown."""

    of: str = setting(
        default="asking", option="--command", metavar="COMMAND", choices=lambda: list(RECORDS), help="Command."
    )
    config: OptionalPath = setting(default=None, place="file", metavar="FILE", help="Settings file.")
    model: str | None = setting(default=None, metavar="MODEL", help="Model, or a name of a settings file.")
