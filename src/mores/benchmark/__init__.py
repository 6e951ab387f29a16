"""Benchmarks: how well a model knows cultures. One folder each; `run.py` runs any of them.

    benchmark("msqa")                       # one of ours, or of an installed package (entry points `mores.benchmarks`)
    benchmark("path/to/folder")             # your folder; its code is executed
    benchmark("path/to/folder:proverbs")    # one of several in it
    benchmark("questions.csv")              # your table of questions, or a TOML or YAML file about one

`BENCHMARKS` names the module and the attribute of each of ours, so that a benchmark is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from mores.benchmark.benchmark import Benchmark
from mores.errors import ConfigError
from mores.io.source import SUFFIXES
from mores.prompts import read_prompt
from mores.registry import Registry, import_code, owner, split_name

BENCHMARKS = {
    "culturalbench-easy": "mores.benchmark.culturalbench:EASY",
    "culturalbench-hard": "mores.benchmark.culturalbench:HARD",
    "culturall": "mores.benchmark.culturall:CULTURALL",
    "calmqa": "mores.benchmark.calmqa:CALMQA",
    "blend": "mores.benchmark.blend:CHOICE",
    "blend-short": "mores.benchmark.blend:SHORT",
    "normad": "mores.benchmark.normad:NORMAD",
    "include": "mores.benchmark.include:INCLUDE",
    "global-mmlu-sensitive": "mores.benchmark.global_mmlu:SENSITIVE",
    "global-mmlu-agnostic": "mores.benchmark.global_mmlu:AGNOSTIC",
    "global-piqa": "mores.benchmark.global_piqa:GLOBAL_PIQA",
    "global-piqa-parallel": "mores.benchmark.global_piqa:PARALLEL",
    "arabculture": "mores.benchmark.arabculture:ARABCULTURE",
    "globalopinionqa": "mores.benchmark.globalopinionqa:GLOBALOPINIONQA",
    "world-values": "mores.benchmark.globalopinionqa:WORLD_VALUES",
    "msqa": "mores.benchmark.msqa:MSQA",
    "simpleqa": "mores.benchmark.simpleqa:SIMPLEQA",
    "chinese-simpleqa": "mores.benchmark.simpleqa:CHINESE",
}
REGISTRY: Registry[Benchmark] = Registry(
    noun="benchmark",
    group="mores.benchmarks",
    ours=BENCHMARKS,
    expected="a mores.benchmark.benchmark.Benchmark",
    accepts=lambda value: isinstance(value, Benchmark),
)


def names() -> list[str]:
    """Return the names of all benchmarks, those of installed packages last."""
    return REGISTRY.names()


def benchmark(name: str | Path | Benchmark) -> Benchmark:
    """Return the benchmark of a name, a table or a folder; a name comes before a folder, which is then `./msqa`."""
    if isinstance(name, Benchmark):
        return name
    text = str(name)
    if not isinstance(name, Path) and text in REGISTRY.names():
        return _registered(text)
    if place := split_path(text):
        folder, chosen = place
        defined = load_folder(folder)
        matching = [definition for definition in defined if definition.name == chosen or not chosen]
        if len(matching) == 1:
            return matching[0]
        what = f"has no benchmark {chosen!r}" if chosen else "has several benchmarks"
        written = " or ".join(f"{folder}:{definition.name}" for definition in defined)
        raise ConfigError(f"{folder}: {what}; write {written}")
    if Path(text).is_file():
        return _of_file(Path(text))
    if Path(text).suffix.lower() in (*SUFFIXES, ".toml", ".yaml", ".yml"):
        raise ConfigError(f"{text}: no such file; check the path. `mores bench init {text}` writes an example")
    if len(Path(text).parts) > 1:
        raise ConfigError(f"{text}: no such folder; give a folder with a benchmark, or one of {', '.join(names())}")
    raise REGISTRY.unknown(text)


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
    values = {id(value): value for value in vars(import_code(folder)).values()}.values()
    found = [value for value in values if isinstance(value, Benchmark)]
    # One of ours is only imported, to be built on.
    ours = {value.name: replace(_registered(value.name), folder=None) for value in found if value.name in BENCHMARKS}
    defined = [value for value in found if replace(value, folder=None) != ours.get(value.name)]
    if not defined:
        raise ConfigError(f"{code}: defines no Benchmark; write NAME = Benchmark(…) outside of any function")
    for definition in defined:
        if definition.name in BENCHMARKS:
            raise ConfigError(f"{code}: its benchmark {definition.name!r} has the name of one of Mores; rename it")
    if len({definition.name for definition in defined}) < len(defined):
        raise ConfigError(f"{code}: two benchmarks have the same name; rename one")
    return [replace(definition, folder=code.parent) for definition in defined]


def reference(definition: Benchmark) -> str:
    """Return what `benchmark` finds it by, from any working folder: its name, its file, or folder and name."""
    if definition.file:
        return str(definition.file)
    named = definition.name in names() and benchmark(definition.name).folder == definition.folder
    return definition.name if named or definition.folder is None else f"{definition.folder}:{definition.name}"


def split_path(text: str) -> tuple[Path, str] | None:
    """Return a folder and the name behind the colon, if there is one; None where there is no such folder."""
    folder, _, name = text.rpartition(":")
    return next(
        ((Path(path), rest) for path, rest in ((text, ""), (folder, name)) if path and Path(path).is_dir()), None
    )


def is_path(name: str) -> bool:
    """Return whether it is the path of a benchmark's table or folder, with or without a name behind it."""
    place = split_path(name)
    return Path(name).is_file() or (place is not None and (place[0] / "__init__.py").is_file())


def _of_file(file: Path) -> Benchmark:
    from mores.benchmark.questions import load_questions

    loaded = load_questions(file)
    if loaded.name in names():
        fix = 'give it another in a definition (name = "…", `mores bench init`)'
        raise ConfigError(f"{file}: {loaded.name!r} is the name of another benchmark; {fix}, or rename the file")
    return loaded


def _registered(name: str) -> Benchmark:
    """Return the benchmark of a name, with the folder of the module that defines it."""
    definition, point = REGISTRY.find(name), REGISTRY.entry_point(name)
    if definition.name != name and point:
        what = f"{point.value} of {owner(point)} has the name {definition.name!r}"
        raise ConfigError(f"{name}: {what}; give the entry point the same name")
    file = import_module(point.module if point else split_name(BENCHMARKS[name])[0]).__file__
    return replace(definition, folder=Path(file).parent if file else None)
