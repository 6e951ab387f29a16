"""Imports under the names that packages had in 0.2.0: they still work, with a DeprecationWarning.

`mores.bench`, for example, is a function now, and its package is `mores.benchmark`. An old import, such as
`from mores.bench.benchmark import Benchmark`, gives the new module; the function stays what `mores.bench` names,
because Python accepts any object with a `__path__` as a package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast
from warnings import warn

import mores

RENAMED = {
    "mores.bench": "mores.benchmark",
    "mores.diagnose": "mores.diagnosis",
    "mores.longform": "mores.longanswer",
    "mores.meta": "mores.metaevaluation",
    "mores.rate": "mores.rating",
    "mores.show": "mores.formatting",
    "mores.train": "mores.training",
}
"""Packages and modules by their old names."""


class _Renamed:
    """Finds and loads modules by their old names; the base classes of importlib would only cost start-up time."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make the module."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        old = ".".join(fullname.split(".")[:2])
        return ModuleSpec(fullname, cast(Any, self), is_package=True) if old in RENAMED else None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        old = ".".join(name.split(".")[:2])
        new = RENAMED[old] + name.removeprefix(old)
        warn(f"{name} is now {new}; import that", DeprecationWarning, stacklevel=2)
        loaded = import_module(new)
        for inner in [inner for inner in sys.modules if inner.startswith(f"{new}.")]:
            sys.modules.setdefault(name + inner.removeprefix(new), sys.modules[inner])  # so that none hides a function
        function = getattr(mores, name.removeprefix("mores."), None) if name == old else None
        if function is not None:
            vars(function).update({key: value for key, value in vars(loaded).items() if not key.startswith("__")})
            function.__path__, function.__spec__ = [], module.__spec__
        sys.modules[name] = loaded if function is None else function


def find_old_name(module: str, names: Mapping[str, str], stacklevel: int = 2) -> Callable[[str], Any]:
    """Return a module's `__getattr__`, which finds what has a new name in the module by its old one."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn(f"{module}.{name} is now {names[name]}; import that", DeprecationWarning, stacklevel=stacklevel)
        return getattr(sys.modules[module], names[name])

    return find


def accept_old_names() -> None:
    """Let old names be imported; called once, when `mores` is."""
    sys.meta_path.append(cast(Any, _Renamed()))
