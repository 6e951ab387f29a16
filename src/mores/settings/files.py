"""Settings files: TOML, one table for each record of settings, and one for each named configuration of a model.

    [asking]                    # for every command that asks a model
    concurrency = 50

    [bench]
    limit = 200

    [models.careful]            # `--model careful` everywhere
    model = "openai:gpt-4.1-mini"
    temperature = 0.7
    facts = { provider = "OpenAI", country = "US" }

A file is read only if it is named, or is `settings.toml` in the user's own configuration folder.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from mores.errors import ConfigError, suggest
from mores.settings.declare import Settings, setting
from mores.settings.records import RECORDS, load_record

NAME = "settings.toml"
_SECRET = re.compile(r"(api.?key|secret|password|token|authorization|bearer)$", re.IGNORECASE)


class ModelFacts(Settings, table="facts"):
    """Facts about a model, by which results are grouped; they change no request."""

    provider: str = setting(default="", help="Company or group that made the model.")
    country: str = setting(default="", help="The provider's home country, as an ISO 3166 code.")
    parameters: str = setting(default="", help="Number of parameters, such as 8B.")
    released: str = setting(default="", help="Date of release, such as 2025-04-14.")
    open: bool | None = setting(default=None, help="Weights are open.")
    family: str = setting(default="", help="Family of models in which sizes and versions are compared.")
    home: str = setting(
        default="", help="Regions and languages that it was made for, such as 'CN, zh'.", default_text="the country"
    )

    def shown(self) -> dict[str, str]:
        """Return the facts that are known, as text."""
        known = {name: value for name, value in vars(self).items() if value not in ("", None)}
        return {name: {True: "yes", False: "no"}.get(value, value) for name, value in known.items()}


class ModelConfiguration(Settings, table="models"):
    """A named configuration of a model: `[models.NAME]` in a settings file. NAME works wherever a model does."""

    model: str = setting(help="The model itself, such as openai:NAME or hf:PATH.", result=True, code=True)
    base_url: str | None = setting(default=None, help="Address of its server.", result=True)
    key_variable: str | None = setting(
        default=None, help="Environment variable that holds the server's key; the key is sent to this server alone."
    )
    adapter: str | None = setting(default=None, help="LoRA adapter, as for --adapter.", result=True)
    temperature: float | None = setting(default=None, at_least=0, help="Sampling temperature.", result=True)
    top_p: float | None = setting(default=None, above=0, at_most=1, help="Nucleus sampling.", result=True)
    top_k: int | None = setting(default=None, at_least=1, help="Number of tokens to sample from.", result=True)
    seed: int | None = setting(default=None, help="Seed that is sent.", result=True)
    max_tokens: int | None = setting(default=None, at_least=1, help="Maximum length of an answer.", result=True)
    reasoning_effort: str | None = setting(default=None, help="Reasoning effort, such as low or high.", result=True)
    thinking_budget: int | None = setting(default=None, at_least=0, help="Maximum tokens of thought.", result=True)
    web_search: bool | Mapping[str, object] = setting(
        default=False, help="The provider's own web search: true, or a table of its options.", result=True
    )
    extra_body: Mapping[str, object] = setting(
        default_factory=dict, help="Further fields of the request's body, sent unchanged.", result=True
    )
    price: tuple[float, float] | None = setting(
        default=None, parse=tuple, help="US dollars per million prompt and completion tokens."
    )
    facts: Mapping[str, object] = setting(default_factory=dict, help="Facts about the model (a table).")

    def body(self) -> dict[str, Any]:
        """Return the fields of the request's body that only this configuration knows."""
        body: dict[str, Any] = {"reasoning_effort": self.reasoning_effort}
        if self.thinking_budget is not None:
            body["thinking"] = {"type": "enabled", "budget_tokens": self.thinking_budget}
        if self.web_search is not False:
            body["web_search_options"] = {} if self.web_search is True else self.web_search
        return {name: value for name, value in body.items() if value is not None} | dict(self.extra_body)


@dataclass(frozen=True)
class SettingsFile:
    """A settings file that was read."""

    path: Path
    tables: Mapping[str, Mapping[str, Any]]

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table; empty if the file has none of this name."""
        return self.tables.get(name, {})


def user_file() -> Path:
    """Return the path of the user's own settings file, which need not exist."""
    return user_config_path("mores") / NAME


def settings_files(named: Path | str | None) -> list[SettingsFile]:
    """Return the settings files that apply, the strongest first: the named one, then the user's own."""
    files = [read_settings_file(Path(named))] if named else []
    return files + ([read_settings_file(user_file())] if user_file().is_file() else [])


def read_settings_file(path: Path) -> SettingsFile:
    """Read a settings file; ConfigError where it is not one, or holds a key."""
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the settings file ({error.strerror})", setting="config") from error


@lru_cache(maxsize=16)
def _read(path: Path, _changed: int) -> SettingsFile:
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a settings file in TOML: {error}", setting="config") from None
    for name, table in tables.items():
        if not isinstance(table, dict):
            fix = "put it into the table of a command, such as [bench], or into [asking]"
            raise ConfigError(f"{path}: {name} stands in no table; {fix}", setting="config")
        refuse_secrets(path, name, table)
        if name == "models":
            continue
        if name not in RECORDS:
            raise ConfigError(
                f"{path}: unknown table [{name}]; {suggest(name, RECORDS)}there are {', '.join(RECORDS)}",
                setting="config",
            )
        known = {entry.name for entry in fields(load_record(name))}  # type: ignore[arg-type]
        if unknown := next((key for key in table if key not in known), None):
            hint = suggest(unknown, known) or f"there are {', '.join(sorted(known))}"
            raise ConfigError(f"{path}: [{name}]: unknown setting {unknown}; {hint}".rstrip(), setting="config")
    return SettingsFile(path, tables)


def refuse_secrets(path: Path, place: str, table: Mapping[str, Any]) -> None:
    """Raise ConfigError where a table holds what looks like a key: files get shared."""
    for name, value in table.items():
        if isinstance(value, dict):
            refuse_secrets(path, f"{place}.{name}", value)
        elif _SECRET.search(name) and isinstance(value, str) and value:
            fix = "name the environment variable that holds it: key_variable"
            raise ConfigError(f"{path}: [{place}] {name} holds a key; {fix}", setting="config")


def redact(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values without what looks like a key, and addresses without a password."""
    shown: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            shown[name] = redact(value)
        elif _SECRET.search(name) and value:
            shown[name] = "…"
        else:
            shown[name] = re.sub(r"(?<=//)[^/@]+@", "…@", value) if isinstance(value, str) else value
    return shown
