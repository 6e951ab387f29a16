"""The settings of the service: how much it accepts, whom it answers, and where it listens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mores.errors import ConfigError
from mores.metric.settings import EvidenceSettings, JudgeSettings
from mores.report.settings import ListenSettings
from mores.settings import Settings, setting
from mores.settings.values import OptionalPath

if TYPE_CHECKING:
    from collections.abc import Iterable

KEYS_VARIABLE = "MORES_SERVE_KEYS"


class Bounds(Settings):
    """The limits of what a service accepts."""

    max_waiting: int = setting(
        default=1000, at_least=1, help="Maximum texts that wait; further requests are told when to come again."
    )
    max_share: int | None = setting(
        default=None, at_least=1, help="Maximum texts of one key that wait.", default_text="no other limit"
    )
    max_batch: int = setting(default=256, at_least=1, help="Maximum texts in one request.")
    max_body: int = setting(default=4_000_000, at_least=1, help="Maximum bytes of one request.")
    deadline: float = setting(
        default=120.0,
        above=0,
        metavar="SECONDS",
        help="Time after which a text that is not judged yet becomes a failure.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        room = min(self.max_waiting, self.max_share or self.max_waiting)
        if self.max_batch > room:
            reason = f"{self.max_batch} texts in one request can never be accepted where only {room} may wait"
            raise ConfigError(f"{reason}; choose a smaller max_batch", setting="max_batch")


class ServiceSettings(EvidenceSettings, JudgeSettings):
    """The judge behind a service, its evidence and its limits."""

    keys: Iterable[str] = setting(default=(), command=False, help="Keys that clients must show; none for everybody.")
    bounds: Bounds | None = setting(default=None, command=False, help="How much the service accepts.")


class ServeSettings(ListenSettings, Bounds, EvidenceSettings, JudgeSettings, table="serve"):
    """The service as a program."""

    port: int = setting(default=8010, at_least=1, at_most=65535, help="Port to listen on.")
    key_file: OptionalPath = setting(
        default=None, place="file", option="--keys", help=f"File with one key in each line [env: {KEYS_VARIABLE}]."
    )
    no_keys: bool = setting(default=False, help="Let everybody who reaches it ask, also from other machines.")
