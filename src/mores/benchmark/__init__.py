"""Benchmarks: how well a model knows cultures. One folder each; `run.py` runs any of them.

    benchmark("msqa")                       # one of ours, or of an installed package (entry points `mores.benchmarks`)
    benchmark("path/to/folder")             # your folder; its code is executed
    benchmark("path/to/folder:proverbs")    # one of several in it

`BENCHMARKS` names the module and the attribute of each of ours, so that a benchmark is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

from mores import plugins
from mores.benchmark.benchmark import Benchmark
from mores.errors import ConfigError
from mores.prompts import read_prompt

BENCHMARKS = {
    "culturalbench-easy": "culturalbench:EASY",
    "culturalbench-hard": "culturalbench:HARD",
    "culturall": "culturall:CULTURALL",
    "calmqa": "calmqa:CALMQA",
    "blend": "blend:CHOICE",
    "blend-short": "blend:SHORT",
    "normad": "normad:NORMAD",
    "include": "include:INCLUDE",
    "global-mmlu-sensitive": "global_mmlu:SENSITIVE",
    "global-mmlu-agnostic": "global_mmlu:AGNOSTIC",
    "global-piqa": "global_piqa:GLOBAL_PIQA",
    "global-piqa-parallel": "global_piqa:PARALLEL",
    "arabculture": "arabculture:ARABCULTURE",
    "globalopinionqa": "globalopinionqa:GLOBALOPINIONQA",
    "msqa": "msqa:MSQA",
    "simpleqa": "simpleqa:SIMPLEQA",
    "chinese-simpleqa": "simpleqa:CHINESE",
}


def names() -> list[str]:
    """Return the names of all benchmarks, those of installed packages last."""
    return plugins.all_names(plugins.BENCHMARKS, BENCHMARKS)


def benchmark(name: str | Path | Benchmark) -> Benchmark:
    """The benchmark of a name, or in a folder; where both are there the name counts, and `./msqa` is the folder."""
    if isinstance(name, Benchmark):
        return name
    text = str(name)
    plugin = None if isinstance(name, Path) else plugins.find_plugin(plugins.BENCHMARKS, text, BENCHMARKS)
    if plugin:
        return _installed(plugin)
    if text in BENCHMARKS and not isinstance(name, Path):
        return _ours(text)
    if place := split_path(text):
        return _choose(load_folder(place[0]), *place)
    near = get_close_matches(text, names(), 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    what = "folder" if len(Path(text).parts) > 1 else "benchmark"
    raise ConfigError(f"{text}: no such {what}; {hint}there are {', '.join(names())}")


def all_in(name: str | Path) -> list[Benchmark]:
    """Return the benchmark of a name, or all in a folder."""
    place = split_path(str(name))
    if place and not place[1] and name not in names():
        return load_folder(place[0])
    return [benchmark(name)]


def benchmarks(on_bad: Callable[[ConfigError], None]) -> Iterator[Benchmark]:
    """Yield all benchmarks that have a name; what is wrong with one of an installed package goes to the callback."""
    for name in names():
        try:
            yield benchmark(name)
        except ConfigError as error:
            on_bad(error)


def load_folder(folder: Path) -> list[Benchmark]:
    """Return the benchmarks that the `__init__.py` of a folder defines. It is executed."""
    code = folder.resolve() / "__init__.py"
    if not code.is_file():
        fix = f"define a Benchmark in {code}, as docs/benchmarks.md shows"
        raise ConfigError(f"{folder}: no such benchmark, and the folder has no __init__.py; {fix}")
    read_prompt.cache_clear()
    values = {id(value): value for value in vars(plugins.import_folder(folder)).values()}.values()
    defined = [value for value in values if isinstance(value, Benchmark) and not _is_ours(value)]
    if not defined:
        raise ConfigError(f"{code}: defines no Benchmark; write NAME = Benchmark(…) outside of any function")
    for definition in defined:
        if definition.name in BENCHMARKS:
            raise ConfigError(f"{code}: its benchmark {definition.name!r} has the name of one of Mores; rename it")
    if len({definition.name for definition in defined}) < len(defined):
        raise ConfigError(f"{code}: two benchmarks have the same name; rename one")
    return [replace(definition, folder=code.parent) for definition in defined]


def reference(definition: Benchmark) -> str:
    """Return what `benchmark` finds it by, from any working folder: its name, or folder and name."""
    named = definition.name in names() and benchmark(definition.name).folder == definition.folder
    return definition.name if named or definition.folder is None else f"{definition.folder}:{definition.name}"


def split_path(text: str) -> tuple[Path, str] | None:
    """Return a folder and the name behind the colon, if there is one; None where there is no such folder."""
    folder, _, name = text.rpartition(":")
    return next(
        ((Path(path), rest) for path, rest in ((text, ""), (folder, name)) if path and Path(path).is_dir()), None
    )


def is_folder(name: str) -> bool:
    """Return whether it is the path of a benchmark's folder, with or without a name behind it."""
    place = split_path(name)
    return place is not None and (place[0] / "__init__.py").is_file()


def _ours(name: str) -> Benchmark:
    module, _, attribute = BENCHMARKS[name].partition(":")
    definition: Benchmark = getattr(import_module(f"mores.benchmark.{module}"), attribute)
    return replace(definition, folder=Path(__file__).parent / module)


def _is_ours(value: Benchmark) -> bool:
    """Return whether it is only imported, to be built on."""
    return value.name in BENCHMARKS and replace(value, folder=None) == replace(_ours(value.name), folder=None)


def _installed(plugin: EntryPoint) -> Benchmark:
    definition: Benchmark = plugins.load_plugin(plugin, Benchmark, "a mores.benchmark.benchmark.Benchmark")
    if definition.name != plugin.name:
        what = f"{plugin.value} of {plugins.owner(plugin)} has the name {definition.name!r}"
        raise ConfigError(f"{plugin.name}: {what}; give the entry point the same name")
    file = import_module(plugin.module).__file__
    return replace(definition, folder=Path(file).parent if file else None)


def _choose(defined: list[Benchmark], folder: Path, name: str) -> Benchmark:
    chosen = [definition for definition in defined if definition.name == name or not name]
    if len(chosen) == 1:
        return chosen[0]
    what = f"has no benchmark {name!r}" if name else "has several benchmarks"
    raise ConfigError(f"{folder}: {what}; write {' or '.join(f'{folder}:{definition.name}' for definition in defined)}")
