"""The kinds of campaign: one folder and one line each; others come from packages (`mores.campaigns`)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from mores.culture.names import close
from mores.errors import ConfigError
from mores.studio.kind import CampaignKind

KINDS = {
    "culturall": "mores.studio.campaigns.culturall",
    "culturalteaming": "mores.studio.campaigns.culturalteaming",
    "marking": "mores.studio.campaigns.marking",
    "msqa": "mores.studio.campaigns.msqa",
    "rating": "mores.studio.campaigns.rating",
    "validation": "mores.studio.campaigns.validation",
}


@cache
def open_kind(name: str) -> CampaignKind[Any]:
    """Return the kind of campaign of that name."""
    if name not in KINDS:
        near = close(name, KINDS)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigError(f"there is no kind of campaign {name!r}{hint} There are {', '.join(KINDS)}")
    kind: CampaignKind[Any] = import_module(KINDS[name]).KIND
    return kind
