"""The settings of the studio."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mores.engine.settings import AskSettings
from mores.settings import setting

if TYPE_CHECKING:
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


class StudioSettings(StudioAppSettings, table="studio"):
    """The studio as a program."""

    host: str = setting(default="127.0.0.1", help="Address to listen on; 0.0.0.0 for other machines.")
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
