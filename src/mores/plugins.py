"""What users add from outside: entry points of installed packages, and folders of Python code.

| group | what an entry point names |
| --- | --- |
| `mores.benchmarks` | a `mores.benchmark.benchmark.Benchmark` |
| `mores.sources` | a `mores.factory.items.Source` |
| `mores.models` | a function that takes a model's name and `mores.models.Options` and returns a `mores.models.Model` |

The code is the user's and is executed. What is wrong with it becomes a ConfigError that names the file and the line.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from mores.errors import ConfigError, MoresError
from mores.extras import extra_of

BENCHMARKS, SOURCES, MODELS = "mores.benchmarks", "mores.sources", "mores.models"
_OURS = Path(__file__).parent


@cache
def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group.

    Scanning all packages takes some 20 ms, so this happens once, when it is needed.
    """
    return tuple(sorted(entry_points(group=group), key=lambda point: (point.name, owner(point))))


def all_names(group: str, ours: Collection[str]) -> list[str]:
    """Return our names, then those from outside."""
    return list(dict.fromkeys((*ours, *(point.name for point in installed(group)))))


def find_plugin(group: str, name: str, ours: Collection[str]) -> EntryPoint | None:
    """Return the entry point of a name; None where no package has one. ConfigError where the name is taken."""
    points = [point for point in installed(group) if point.name == name]
    owners = [*(["Mores"] if name in ours else []), *map(owner, points)]
    if points and len(owners) > 1:
        fix = "uninstall one of the packages, or change the name in its entry points"
        raise ConfigError(f"{name}: both {' and '.join(owners)} have a {group} entry of this name; {fix}")
    return points[0] if points else None


def load_plugin(point: EntryPoint, kind: Any, wanted: str) -> Any:
    """Return what an entry point names; ConfigError where it cannot be loaded or is not an instance of `kind`."""
    place = f"{point.name}: {point.value} of {owner(point)}"
    try:
        value = point.load()
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{place} cannot be loaded: {explain(error)}; correct or uninstall it") from error
    if not isinstance(value, kind):
        raise ConfigError(f"{place} is of type {type(value).__name__}; expected {wanted}: correct or uninstall it")
    return value


def owner(point: EntryPoint) -> str:
    """Return the package that an entry point comes from, with its version."""
    return f"the package {point.dist.name} {point.dist.version}" if point.dist else "a package"


def import_folder(folder: Path) -> ModuleType:
    """Return the Python package in a folder, which may lie anywhere.

    It is executed anew at each call, with its modules.
    """
    folder = folder.resolve()
    name = f"mores_folder_{sha256(str(folder).encode()).hexdigest()[:16]}"
    for loaded in [loaded for loaded in sys.modules if loaded == name or loaded.startswith(f"{name}.")]:
        del sys.modules[loaded]
    spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ConfigError(explain(error, folder)) from error
    return module


def explain(error: BaseException, folder: Path | None = None) -> str:
    """Return an error in code of others, in one line: the last file and line that is theirs, the error, and a fix."""
    words = " ".join(str(error).split())
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}; correct the syntax"
    frames = [frame for frame in extract_tb(error.__traceback__) if _is_theirs(frame.filename, folder)]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("mores"):
        extra = extra_of(error.name)
        return f"{place}{words}; pip install " + (f"'mores[{extra}]'" if extra else error.name)
    return f"{place}{words}" if isinstance(error, MoresError) else f"{place}{type(error).__name__}: {words}"


def _is_theirs(filename: str, folder: Path | None) -> bool:
    path = Path(filename)
    return path.is_relative_to(folder) if folder else not (filename.startswith("<") or path.is_relative_to(_OURS))
