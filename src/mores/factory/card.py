"""The data card: what is in a dataset, where it comes from, what it may be used for, and what gives it away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from mores import __version__
from mores.culture import language_name, region_name
from mores.factory import sources as datasets
from mores.factory.build import Built
from mores.factory.gold import Gold
from mores.factory.recipe import Recipe
from mores.factory.split import SPLITS


def facts(built: Built, recipe: Recipe) -> dict[str, Any]:
    """Everything that the card says, as plain data."""
    golds = built.golds
    errors = [error for gold in golds for error in gold.report.errors]
    return {
        "recipe": recipe.model_dump(mode="json"),
        "mores": __version__,
        "samples": len(golds),
        "missing": built.missing,
        "sources": [_source(name, built) for name in sorted(built.items)],
        "tables": {
            "split": _counts(golds, lambda g: g.split),
            "task": _counts(golds, lambda g: g.task.value),
            "kind": _counts(golds, lambda g: g.kind),
            "maker": _counts(golds, lambda g: g.maker),
            "language": _counts(golds, lambda g: language_name(g.sample.language) if g.sample.language else "unknown"),
            "region": _counts(golds, lambda g: region_name(g.sample.region) if g.sample.region else "none"),
            "severity": dict(sorted(Counter(error.severity.value for error in errors).items())),
            "error type": dict(sorted(Counter(error.type for error in errors).items())),
        },
        "length": {
            "instruction": median(len(g.sample.instruction) for g in golds),
            "text": median(len(g.sample.text) for g in golds),
        },
        "shortcut": {name: found.model_dump() for name, found in built.shortcuts.items()},
        "paper_shortcut": {name: found.model_dump() for name, found in built.paper_shortcuts.items()},
        "examples": [gold.model_dump(mode="json") for gold in _examples(golds)],
    }


def render(about: dict[str, Any], form: str) -> str:
    """The card in Markdown (`md`) or HTML (`html`)."""
    environment = Environment(
        loader=PackageLoader("mores.factory", "cards"), autoescape=form == "html", undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(f"card.{form}.j2").render(about)


def _source(name: str, built: Built) -> dict[str, Any]:
    known = name in datasets.names()
    source = datasets.source(name) if known else None
    splits = Counter(str(gold.split) for gold in built.golds if gold.sample.source == name)
    return {
        "name": name,
        "title": source.title if source else "items of one's own",
        "licence": source.licence if source else "as stated by their owner",
        "commercial": source.commercial if source else None,
        "items": built.items[name],
        "bad": built.bad[name],
        "lost": built.lost.get(name, 0),
        **{split: splits[split] for split in SPLITS},
    }


def _counts(golds: list[Gold], key: Callable[[Gold], str]) -> dict[str, int]:
    return dict(sorted(Counter(map(key, golds)).items(), key=lambda row: (-row[1], row[0])))


def _examples(golds: list[Gold]) -> list[Gold]:
    """The first of each source, task and kind."""
    first: dict[tuple[str | None, str, str], Gold] = {}
    for gold in golds:
        first.setdefault((gold.sample.source, gold.task, gold.kind), gold)
    return [first[key] for key in sorted(first, key=str)]
