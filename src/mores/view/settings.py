"""The settings of the viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mores.engine.settings import AskSettings
from mores.metric.settings import EvidenceSettings, ReportSettings
from mores.models.settings import MODELS
from mores.report.settings import FolderSettings, ListenSettings
from mores.settings import setting
from mores.settings.values import Names

if TYPE_CHECKING:
    from mores.models.base import Model

TOKEN_VARIABLE = "MORES_VIEW_TOKEN"


class ViewAppSettings(EvidenceSettings, ReportSettings, AskSettings, FolderSettings):
    """A folder of runs, who may see and change it, and the judge of the box in which a text is tried."""

    model: str | Model = setting(
        default="embedded", metavar="MODEL", help=f"Judge of texts that are tried: {MODELS}.", result=True
    )
    token: str = setting(
        default="", command=False, help="What visitors must show once; empty to let in everybody who reaches it."
    )
    write: bool = setting(
        default=False,
        help="Allow notes, the judge's box and handing texts to people also where other machines can reach the viewer.",
    )
    allow_host: Names = setting(
        default=(), metavar="NAME", help="Further name under which browsers reach the viewer (may be repeated)."
    )


class ViewSettings(ViewAppSettings, ListenSettings, table="view"):
    """The viewer as a program."""

    port: int = setting(default=8020, at_least=1, at_most=65535, help="Port to listen on.")
