"""The datasets that the factory reads: one file per source, each with a `SOURCE` and how its published files are read.

Adding a source is one file and one line in `SOURCES`, or an entry point of the group `mores.sources` in a package of
your own. `mores sources` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from mores.errors import ConfigError, InputError
from mores.extras import install_command
from mores.factory.items import Source, SourceItem
from mores.registry import Registry

SOURCES = {
    "blend": "mores.factory.sources.blend:SOURCE",
    "culturalbench": "mores.factory.sources.culturalbench:SOURCE",
    "include": "mores.factory.sources.include:SOURCE",
    "mango": "mores.factory.sources.mango:SOURCE",
    "globalopinionqa": "mores.factory.sources.globalopinionqa:SOURCE",
    "nativqa": "mores.factory.sources.nativqa:SOURCE",
    "normad": "mores.factory.sources.normad:SOURCE",
    "calmqa": "mores.factory.sources.calmqa:SOURCE",
    "epic": "mores.factory.sources.epic:SOURCE",
    "exams": "mores.factory.sources.exams:SOURCE",
    "cultureatlas": "mores.factory.sources.cultureatlas:SOURCE",
    "candle": "mores.factory.sources.candle:SOURCE",
}
"""Every source and where it is defined: the nine of ExCAM (Table 2), then stand-ins."""
REGISTRY: Registry[Source] = Registry(
    noun="source",
    group="mores.sources",
    ours=SOURCES,
    expected="a mores.factory.items.Source",
    accepts=lambda value: isinstance(value, Source),
)

REVISIONS = {
    "culturalbench": "996d62a55f6a49c13596f0a31b772812a1aacd67",
    "globalopinionqa": "5c87e48d8db8ffc9ae8a6738f958d5130ee116e5",
    "nativqa": "361109d5bad48792c3d77640bc2c016ad19d90d4",
    "normad": "0ea94a1eb4a9c9495cd7c3248a6e8dd9a307feb0",
    "calmqa": "a31ec3378b1d009839544f64d339714072b405b4",
}
"""The commit of the Hub that is read; a source without one is read at its newest commit, see `folder_of`."""
COUNTS = ("items", "bad", "languages", "regions")
"""What `count_items` counts."""
SHOWN = 3
"""Bad rows of a source that are named one by one."""


def names() -> list[str]:
    """Return the names of all sources, those from outside last."""
    return REGISTRY.names()


def source(name: str) -> Source:
    """Return the source of a name."""
    return REGISTRY.find(name)


def sources(on_bad: Callable[[ConfigError], None]) -> Iterator[Source]:
    """Return all sources; what is wrong with one of an installed package goes to the callback."""
    return REGISTRY.find_all(on_bad)


def load(name: str, folder: Path, on_bad: Callable[[InputError], None]) -> Iterator[SourceItem]:
    """Return the items of a source in a folder; a bad row goes to `on_bad`, with file and line, and is left out."""
    dataset = source(name)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; put there {dataset.files} (from {dataset.homepage})")
    return dataset.read(folder, on_bad)


def has_facts(name: str) -> bool:
    """Return whether what items of a source say is a fact; that of a user's own items is."""
    return name not in names() or source(name).no_facts is None


def describe(source: Source) -> dict[str, Any]:
    """Return the description, licence and origin of a source."""
    return {
        "name": source.name,
        "task": source.task.value,
        "title": source.title,
        "licence": source.licence,
        "commercial": source.commercial,
        "from": source.homepage,
        "hub": source.hub,
        "revision": REVISIONS.get(source.name),
        "files": source.files,
        "no_facts": source.no_facts,
        "soft": source.soft,
        "stands_in_for": source.stands_in_for,
    }


def count_items(source: Source, data: Path, on_note: Callable[[str], None]) -> dict[str, int | None]:
    """Return the counts of a source in a data folder, by `COUNTS`; None where it is missing or cannot be read."""
    folder = folder_of(source.name, data)
    if not folder.is_dir():
        return dict.fromkeys(COUNTS)
    bad: list[InputError] = []
    languages, regions, count = set(), set(), 0
    try:
        for item in load(source.name, folder, bad.append):
            count += 1
            languages.add(item.language)
            regions.add(item.region)
    except InputError as error:
        on_note(str(error))
        return dict.fromkeys(COUNTS)
    for problem in bad[:SHOWN]:
        on_note(f"left out {problem}")
    if len(bad) > SHOWN:
        on_note(f"left out {len(bad) - SHOWN} more of {source.name}")
    return dict(zip(COUNTS, (count, len(bad), len(languages - {None}), len(regions - {None})), strict=True))


def folder_of(name: str, data: Path | None = None, revision: str | None = None) -> Path:
    """Return the folder of a source: in a data folder with one folder per source, or else downloaded from the Hub.

    A download uses the given commit, or else the one in `REVISIONS`, or else the newest; `revision_of` returns which
    it was, so that a dataset can record it and a recipe can request it.
    """
    dataset = source(name)
    if data is not None:
        return Path(data) / name
    return download(name, dataset.hub, revision or REVISIONS.get(name), dataset.homepage)


def revision_of(place: Path) -> str:
    """Return the commit of a folder downloaded from the Hub; of any other folder or file the hash of its contents."""
    if place.parent.name == "snapshots":
        return place.name
    total = sha256()
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if path.is_file():
            total.update(f"{path.relative_to(place)}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"sha256:{total.hexdigest()}"


def download(name: str, hub: str | None, revision: str | None, homepage: str) -> Path:
    """Return the folder of a dataset of the Hub, at a commit or the newest."""
    if hub is None:
        raise ConfigError(f"{name} is not on the Hub; get it from {homepage} and name its folder", setting="data")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        fix = f"`{install_command('hub')}`, or name a folder that has the data"
        raise ConfigError(f"{name}: the Hub needs the package huggingface_hub; {fix}", setting="data") from error
    try:
        return Path(snapshot_download(hub, repo_type="dataset", revision=revision))
    except Exception as error:  # the library raises a dozen kinds, all of which mean this
        fix = f"check the network, or get it from {homepage} and name its folder"
        reason = f"{hub} could not be downloaded from the Hub ({error})"
        raise InputError(f"{name}: {reason}; {fix}", setting="data") from error
