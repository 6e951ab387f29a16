"""Exports of a campaign: the accepted items as files of its kind, the same bytes for the same events.

`bench_folder` makes the folder that `mores bench FOLDER` runs; every kind that exports a benchmark uses it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mores.benchmark import BENCHMARKS
from mores.studio.files import ExportFile, Spool
from mores.studio.kind import CampaignSettings, slug

SAMPLE = 5
"""Questions of a sample."""


@dataclass(frozen=True)
class Runnable:
    """One benchmark of an exported folder: one of ours that reads the campaign's data."""

    base: str
    """Where it is defined in `mores.bench`, for example `culturalbench:EASY`."""
    suffix: str = ""
    """What its name and title have after the campaign's, where a folder has several: `easy`."""
    groupings: tuple[str, ...] = ("region",)
    """What results are broken down by: fields that the campaign's items have."""


def bench_folder(
    settings: CampaignSettings,
    runnables: Sequence[Runnable],
    data: Mapping[str, bytes | Spool],
    sample: Mapping[str, bytes | Spool],
    about: str,
) -> Iterator[ExportFile]:
    """Yield a folder that `mores bench FOLDER` runs at once; a kind's `export` yields these files, then its own.

        yield from bench_folder(settings, [Runnable("msqa:MSQA")], {"msqa.jsonl": rows}, {"msqa.jsonl": first}, "…")

    `data` are the files in the published schema, as the benchmark's `read` finds them, and `sample` the first five
    questions in the same files (`mores bench check FOLDER` asks for them). `about` says in Markdown what the items are
    and how they were checked. With several benchmarks `mores bench FOLDER` runs all, `mores bench FOLDER:NAME` one.
    """
    stem = slug(settings.title) or "campaign"
    named = [("-".join(filter(None, (stem, runnable.suffix))), runnable) for runnable in runnables]
    named = [(f"{name}-campaign" if name in BENCHMARKS else name, runnable) for name, runnable in named]
    yield ExportFile("README.md", _readme(settings, [name for name, _ in named], about).encode())
    yield ExportFile("__init__.py", _module(settings, named).encode())
    for folder, contents in (("data", data), ("sample", sample)):
        for name in sorted(contents):
            yield ExportFile(f"{folder}/{name}", contents[name])


def spool_rows(rows: Iterable[Mapping[str, Any]]) -> tuple[Spool, bytes]:
    """Return the rows of a file of `data` as lines of JSON, and the first of them, for `sample`."""
    file, first = Spool(), b""
    for number, row in enumerate(rows):
        line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
        first += line if number < SAMPLE else b""
        file.write(line)
    return file, first


def _module(settings: CampaignSettings, named: Sequence[tuple[str, Runnable]]) -> str:
    """Return the code of the folder: benchmarks of ours under new names."""
    modules = sorted({runnable.base.partition(":")[0] for _, runnable in named})
    lines = [
        f"{settings.title!r}  # the questions of a campaign; run them with `mores bench`",
        "",
        "from dataclasses import replace",
        "",
        f"from mores.benchmark import {', '.join(modules)}",
    ]
    for name, runnable in named:
        module, _, attribute = runnable.base.partition(":")
        title = f"{settings.title} ({runnable.suffix})" if runnable.suffix else settings.title
        fields: dict[str, object] = {"name": name, "title": title, "version": "1"}
        fields |= {"licence": settings.licence, "groupings": runnable.groupings, "hub": None, "revision": None}
        values = [f"    {field}={value!r}," for field, value in fields.items()]
        lines += ["", f"{attribute} = replace(", f"    {module}.{attribute},", *values, ")"]
    return "\n".join(lines) + "\n"


def _readme(settings: CampaignSettings, names: Sequence[str], about: str) -> str:
    title = " ".join(settings.title.split())
    one = [f"    mores bench FOLDER:{name} --model MODEL" for name in names] if len(names) > 1 else []
    run = "\n".join(["    mores bench FOLDER --model MODEL", *one])
    listed = ", ".join(f"`{name}`" for name in names)
    return f"# {title}\n\nBenchmark: {listed}. Licence: {settings.licence}.\n\n{run}\n\n{about.strip()}\n"
