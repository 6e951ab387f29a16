"""Large packages that only some tests use, imported by the first test that runs with them.

    torch: Any = package("torch", reason="needs the extra hf: pip install '.[hf]'")

Collecting the tests, which every worker does, takes half the time without them.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

_ASKED = ("__bases__", "__test__", "__wrapped__", "_mock_name")
"""What pytest asks everything in a file for while it collects."""


class _Package:
    """Stands for a package, and has its attributes."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute in _ASKED:
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)

    def __setattr__(self, attribute: str, value: Any) -> None:
        raise TypeError(f"patch it by its name: monkeypatch.setattr('{self._name}.{attribute}', …)")


def package(name: str, reason: str) -> Any:
    """The package, or a module of one; the tests of a file that calls this are skipped where it is not installed."""
    if find_spec(name) is None:
        pytest.skip(reason, allow_module_level=True)
    return _Package(name)
