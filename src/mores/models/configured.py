"""A named configuration of a model (`[models.NAME]` of a settings file): what it sends, and what is known about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from mores.errors import ConfigError
from mores.models.base import Completion, Model, Request
from mores.models.settings import ModelSettings
from mores.settings.files import ModelConfiguration

SENT = ("temperature", "top_p", "top_k", "seed", "max_tokens")
"""What a configuration changes in each request."""


class ConfiguredModel:
    """A model under the name of its configuration. Its identity has what changes its requests, and not the name."""

    def __init__(self, name: str, model: Model, changes: Mapping[str, Any], configuration: ModelConfiguration) -> None:
        self.name, self._model, self._changes = name, model, dict(changes)
        self.configuration = configuration

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def identity(self) -> str:
        """The identity of the model itself, with what changes its requests."""
        sent = self._changes | self.configuration.body()
        shown = json.dumps(sent, sort_keys=True, separators=(",", ":"), ensure_ascii=False) if sent else ""
        return self._model.identity + shown

    async def __aenter__(self) -> Self:
        await self._model.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._model.__aexit__(*exc)

    async def complete(self, request: Request) -> Completion:
        """Ask the model, with the configuration's sampling."""
        changed = request._replace(**self._changes)
        if "seed" in self._changes and request.seed:  # several answers to one question differ in their seeds
            changed = changed._replace(seed=self._changes["seed"] + request.seed)
        return await self._model.complete(changed)


def configured_settings(name: str, configuration: ModelConfiguration, settings: ModelSettings) -> ModelSettings:
    """Return the settings with which the model of a configuration is opened.

    Its key is bound to its server, so that another address is refused.
    """
    if settings.base_url and configuration.base_url and settings.base_url != configuration.base_url:
        reason = f"{name} has the server {configuration.base_url}, and its key is for that one alone"
        raise ConfigError(f"{reason}; leave the address out, or change the settings file", setting="base_url")
    return replace(
        settings,
        base_url=configuration.base_url or settings.base_url,
        adapter=configuration.adapter or settings.adapter,
        key_variable=configuration.key_variable or "",
        body=configuration.body(),
    )


def configuration_of(model: Model) -> dict[str, Any]:
    """Return the name, price and facts of a model's configuration, and how it thinks and searches, for manifests.

    Empty without one.
    """
    if not isinstance(model, ConfiguredModel):
        return {}
    known = model.configuration
    thought = {"reasoning_effort": known.reasoning_effort, "thinking_budget": known.thinking_budget}
    asked = thought | {"web_search": known.web_search is not False or None}
    described = {"name": model.name, "price": list(known.price) if known.price else None, "facts": dict(known.facts)}
    return described | {name: value for name, value in asked.items() if value is not None}
