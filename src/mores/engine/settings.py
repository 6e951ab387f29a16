"""The settings with which a model is asked; the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mores.cache import store_path
from mores.engine.cost import Price, read_price
from mores.engine.limits import Limits
from mores.engine.progress import SILENT
from mores.models.settings import MODELS, ModelSettings
from mores.settings import Settings, setting

if TYPE_CHECKING:
    from mores.engine.progress import Progress
    from mores.engine.store import Store
    from mores.models.base import Model


class ProgressSettings(Settings):
    """The progress of work that takes a while."""

    progress: Progress = setting(default=SILENT, command=False, help="Shows the progress of the work.")


class SeedSettings(Settings):
    """The seed of a model's answers."""

    seed: int | None = setting(default=0, help="Seed that is sent, or 'none' to send none.", result=True)


class SamplingSettings(SeedSettings):
    """The sampling of a model's answers."""

    temperature: float | None = setting(default=0.0, help="Sampling temperature, or 'none' to send none.", result=True)


class AskSettings(ModelSettings, Limits, ProgressSettings, table="asking"):
    """The settings of reaching and asking a model."""

    store: Store | Path | str | None = setting(
        default_factory=store_path,
        place="new file",
        metavar="FILE",
        off="--no-store",
        help="File that keeps every answer.",
        default_text="in the user's cache folder",
    )
    fresh: bool = setting(default=False, help="Ask again for answers that the store has.")
    retry_failed: bool = setting(
        default=False, help="Ask again for stored failures and for stored answers that could not be used."
    )
    price: Price | None = setting(
        default=None,
        metavar="IN,OUT",
        parse=read_price,
        help="US dollars per million prompt and completion tokens.",
        default_text="the list price, where it is known",
    )


class ModelAskSettings(AskSettings):
    """A model, and how it is reached and asked."""

    model: str | Model = setting(default="embedded", kw_only=False, metavar="MODEL", help=MODELS + ".", result=True)
