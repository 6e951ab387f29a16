"""The kinds of campaign: one folder and one line each; others come from packages (`mores.campaigns`)."""

from __future__ import annotations

from functools import cache
from logging import getLogger
from typing import Any

from mores.registry import Registry
from mores.studio.kind import CampaignKind

KINDS = {
    name: f"mores.studio.campaigns.{name}:KIND"
    for name in ("culturall", "culturalteaming", "marking", "msqa", "questions", "rating", "validation")
}
REGISTRY: Registry[CampaignKind[Any]] = Registry(
    noun="kind of campaign",
    group="mores.campaigns",
    ours=KINDS,
    expected="a mores.studio.kind.CampaignKind",
    accepts=lambda value: isinstance(value, CampaignKind),
)


@cache
def open_kind(name: str) -> CampaignKind[Any]:
    """Return the kind of campaign of that name."""
    return REGISTRY.find(name)


def all_kinds() -> list[CampaignKind[Any]]:
    """Return every kind of campaign; one of an installed package that cannot be loaded is logged and left out."""
    return list(REGISTRY.find_all(lambda error: getLogger(__name__).error("%s", error)))
