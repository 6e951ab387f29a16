"""Mores measures how well language models know the cultures that they write about, and shows every mistake.

import mores
for judgement in mores.score(["In Japan people eat sushi with a fork."], model="openai:gpt-4.1-mini"):
    print(judgement.score, judgement.report)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mores.metric import Metric as Metric
    from mores.metric import judge as score
    from mores.types import Sample as Sample

__version__ = "0.1.0"
__all__ = ["Metric", "Sample", "__version__", "score"]

_LAZY = {
    "Metric": ("mores.metric", "Metric"),
    "score": ("mores.metric", "judge"),
    "Sample": ("mores.types", "Sample"),
}


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used: `mores --help` need not wait for them."""
    if name not in _LAZY:
        raise AttributeError(f"module 'mores' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LAZY[name]
    return getattr(import_module(module), attribute)
