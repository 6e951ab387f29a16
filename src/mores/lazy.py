"""Names of a package that are imported when they are first used, so that a short command need not wait for the rest."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def find_lazily(
    package: str, places: Mapping[str, Sequence[str]], otherwise: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """Return a package's `__getattr__`: `places` are its modules with the names that it has from each."""
    modules = {name: module for module, names in places.items() for name in names}

    def find(name: str) -> Any:
        if name not in modules:
            if otherwise:
                return otherwise(name)
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
