"""One lookup for all that users name: models, searches, metrics, benchmarks, sources, runs, campaigns, language checks.

A user gives one of these (docs/extending.md has an example of each):

| given | for example |
| --- | --- |
| a name, or `kind:name` | `msqa`, `openai:gpt-4.1-mini` |
| a path | the folder of a benchmark, a corpus, a file of judgements |
| an object of the protocol | `MySearch()` |

A name is one of ours, or an entry point of an installed package. What is registered is the thing itself (a benchmark, a
source, a campaign, the class of a run), or a function that opens one from the text behind the colon and the options.

The code is the user's and is executed. What is wrong with it becomes a ConfigError that names the file and the line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mores.errors import ConfigError, MoresError, suggest
from mores.extras import extra_of, install_command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
_OURS = Path(__file__).parent


def split_name(name: str) -> tuple[str, str]:
    """Return the kind and the rest of `kind:name`; the rest is empty where there is no colon."""
    kind, _, rest = name.partition(":")
    return kind, rest


def name_of(thing: object) -> str:
    """Return a name as it is; of an object its `name`, or else the name of its class."""
    return thing if isinstance(thing, str) else getattr(thing, "name", "") or type(thing).__qualname__


def identity_of(thing: object) -> str:
    """Return a name as it is; of an object its `identity`, or else its class with the module, for signatures."""
    return (
        thing
        if isinstance(thing, str)
        else getattr(thing, "identity", "") or f"{type(thing).__module__}.{type(thing).__qualname__}"
    )


@dataclass(frozen=True)
class Registry(Generic[T]):
    """Everything of one kind that has a name: ours, and what installed packages add."""

    noun: str
    """What messages call one of them."""
    group: str
    """The group of entry points."""
    ours: Mapping[str, str | T]
    """What each of our names stands for: the thing itself, or `module:attribute`, which is imported when it is used."""
    expected: str
    """What an entry point must name, for messages."""
    accepts: Callable[[Any], bool] = callable
    """Whether something is what an entry point must name."""
    method: str = ""
    """The method that makes something an object of the protocol; empty where names stand for the things themselves."""
    written: Mapping[str, str] = field(default_factory=dict)
    """How a name is written where more belongs to it, for example `hf:PATH`; "" for one that messages leave out."""
    also: tuple[str, ...] = ()
    """What may be given besides a name, for messages: a path."""
    setting: str = ""
    """The setting that takes a name."""

    def names(self) -> list[str]:
        """Return our names, then those of installed packages."""
        return list(dict.fromkeys((*self.ours, *(point.name for point in installed(self.group)))))

    def entry_point(self, name: str) -> EntryPoint | None:
        """Return the entry point of a name; None where no package has one. ConfigError where the name is taken."""
        points = [point for point in installed(self.group) if point.name == name]
        owners = [*(["Mores"] if name in self.ours else []), *map(owner, points)]
        if points and len(owners) > 1:
            fix = "uninstall one of the packages, or change the name in its entry points"
            raise ConfigError(f"{name}: both {' and '.join(owners)} have a {self.group} entry of this name; {fix}")
        return points[0] if points else None

    def find(self, name: str) -> T:
        """Return what a name stands for; ConfigError with the nearest name where nothing has it."""
        value: Any = self.ours.get(name)
        if point := self.entry_point(name):
            place = f"{point.name}: {point.value} of {owner(point)}"
            try:
                value = point.load()
            except (Exception, SystemExit) as error:
                raise ConfigError(f"{place} cannot be loaded: {explain(error)}; correct or uninstall it") from error
            if not self.accepts(value):
                kind = type(value).__name__
                raise ConfigError(f"{place} is of type {kind}; expected {self.expected}: correct or uninstall it")
        elif value is None:
            raise self.unknown(name)
        elif isinstance(value, str):
            module, attribute = split_name(value)
            value = getattr(import_module(module), attribute)
        found: T = value
        return found

    def find_all(self, on_bad: Callable[[ConfigError], None]) -> Iterator[T]:
        """Yield what every name stands for; what is wrong with one of an installed package goes to the callback."""
        for name in self.names():
            try:
                yield self.find(name)
            except ConfigError as error:
                on_bad(error)

    def open(self, given: object, *options: object) -> Any:
        """Return the object that is given or named, where names stand for functions that open one."""
        if not isinstance(given, str):
            return self.check(given)
        kind, rest = split_name(given)
        if kind not in self.names():
            raise self.unknown(given)
        opener: Any = self.find(kind)
        return opener(rest, *options)

    def check(self, thing: Any) -> Any:
        """Return an object of the protocol; ConfigError for anything else, such as a class."""
        if isinstance(thing, type) or not callable(getattr(thing, self.method, None)):
            what = f"the class {thing.__qualname__}" if isinstance(thing, type) else f"this {type(thing).__qualname__}"
            problem = f"{self.noun}: {what} has no method {self.method!r} to call"
            raise ConfigError(f"{problem}; give an object as docs/extending.md shows", setting=self.setting)
        return thing

    def unknown(self, name: str) -> ConfigError:
        """Return the error about a name that nothing has."""
        names = self.names()
        kind, rest = split_name(name)
        hint = suggest(kind, names, after=f":{rest}" if rest else "")
        more = ":NAME" if self.method else ""
        known = [self.written.get(known, known if known in self.ours else known + more) for known in names]
        text = f"unknown {self.noun} {name!r}; {hint}there are {', '.join(filter(None, (*known, *self.also)))}"
        return ConfigError(text, setting=self.setting)


@cache
def scan() -> dict[str, list[EntryPoint]]:
    """Return what installed packages add, by group and in order; it takes some 40 ms, and few packages add anything."""
    if not any(map(_may_add, sys.path)):
        return {}
    from importlib.metadata import entry_points

    points: Any = entry_points()
    ours = [group for group in points.groups if group.startswith("mores.")]
    return {group: sorted(points.select(group=group), key=lambda point: (point.name, owner(point))) for group in ours}


def _may_add(folder: str) -> bool:
    """Return whether a package in a folder of `sys.path` may have entry points for us."""
    try:
        infos = [path for path in Path(folder).iterdir() if path.name.endswith(("-info", ".egg"))]
    except NotADirectoryError:  # an archive
        return True
    except OSError:
        return False
    for path in infos:
        with suppress(OSError):
            if path.suffix == ".egg" or b"[mores." in (path / "entry_points.txt").read_bytes():
                return True
    return False


def installed(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, in order."""
    return scan().get(group, [])


def owner(point: EntryPoint) -> str:
    """Return the package that an entry point comes from, with its version."""
    return f"the package {point.dist.name} {point.dist.version}" if point.dist else "a package"


def import_code(path: Path) -> ModuleType:
    """Return a Python file, or the package in a folder, as a module; either may lie anywhere.

    It is executed anew at each call, with the modules of the package.
    """
    path = path.resolve()
    name = f"mores_code_{sha256(str(path).encode()).hexdigest()[:16]}"
    for loaded in [loaded for loaded in sys.modules if loaded == name or loaded.startswith(f"{name}.")]:
        del sys.modules[loaded]
    folder = path.is_dir()
    file, inside = (path / "__init__.py", [str(path)]) if folder else (path, None)
    spec = spec_from_file_location(name, file, submodule_search_locations=inside)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ConfigError(explain(error, path)) from error
    return module


def explain(error: BaseException, path: Path | None = None) -> str:
    """Return an error in code of others, in one line: the last file and line that is theirs, the error, and a fix.

    Theirs is what lies in the folder or file `path`; without it, what is neither ours nor Python's own.
    """
    words = " ".join(str(error).split())
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}; correct the syntax"
    frames = [
        frame
        for frame in extract_tb(error.__traceback__)
        if (
            Path(frame.filename).is_relative_to(path)
            if path
            else not (frame.filename.startswith("<") or Path(frame.filename).is_relative_to(_OURS))
        )
    ]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("mores"):
        return f"{place}{words}; {install_command(extra_of(error.name) or error.name)}"
    return f"{place}{words}" if isinstance(error, MoresError) else f"{place}{type(error).__name__}: {words}"
