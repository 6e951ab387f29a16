"""The settings of the studio."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mores.engine.settings import AskSettings
from mores.models.settings import MODELS
from mores.report.settings import ListenSettings
from mores.settings import setting
from mores.settings.values import AnyPath, Names, OptionalPath

if TYPE_CHECKING:
    from mores.models.base import Model
    from mores.studio.store.database import Database


class StudioAppSettings(AskSettings):
    """The studio's database, and the model that answers what people ask."""

    database: str | Path | Database = setting(
        default="studio.db",
        kw_only=False,
        metavar="PATH|URL",
        envvar="MORES_DATABASE",
        help="An SQLite file, or postgresql://user:password@host/name [env: MORES_DATABASE].",
    )
    root_path: str = setting(
        default="", metavar="PATH", help="Path under which a server in front of it offers the studio, such as /studio."
    )
    model: str = setting(
        default="embedded",
        metavar="MODEL",
        help="Model that answers what people ask: embedded, reader, openai:NAME, hf:PATH, vllm:PATH, or none.",
    )
    workers: int = setting(default=1, at_least=1, at_most=64, help="Processes that answer requests; they share limits.")


class StudioSettings(StudioAppSettings, ListenSettings, table="studio"):
    """The studio as a program."""

    port: int = setting(default=8000, at_least=1, at_most=65535, help="Port to listen on.")
    demo: bool | None = setting(
        default=None,
        help="Fill the database with a campaign of each kind.",
        default_text="if no database is given",
    )
    share: bool = setting(
        default=False, help="Let phones and computers of your network reach it; prints the address and its QR code."
    )
    log: Literal["text", "json"] = setting(
        default="text", help="What the log is: text, warnings for people; json, an object for each request and warning."
    )


class DraftSettings(AskSettings):
    """Datasets and pages, and the model that drafts items from them."""

    sources: Names = setting(
        kw_only=False,
        metavar="SOURCE...",
        help="Datasets by name (mores sources, mores bench list), tables of questions, and pages:INPUT for texts, "
        "PDFs, folders, dumps, web addresses or files of these.",
    )
    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
    out: AnyPath = setting(default=Path("drafts.jsonl"), place="new file", help="File for the drafts.")
    data: OptionalPath = setting(
        default=None,
        place="folder",
        help="Folder with one folder per dataset.",
        default_text="from the Hugging Face Hub",
    )
    limit: int = setting(
        default=100, at_least=1, help="Maximum excerpts, spread evenly over sources and regions.", result=True
    )
    translate: bool = setting(
        default=False,
        help="First translate each text of a known region into the main language there, as the paper's authors did.",
        result=True,
    )
    topics: OptionalPath = setting(
        default=None,
        place="file",
        help="Table of topics, as its authors have it.",
        default_text="the paper's 16",
    )
