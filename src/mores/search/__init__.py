"""Search for evidence: the web, a local corpus, or a recording, behind one protocol (`base.py`).

search = open_search("corpus:documents.jsonl")
async for claim, found in find_all(search, pairs, k=10): ...
await search.close()
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from mores.engine import SILENT, Counts, Limits, Progress
from mores.errors import ConfigError
from mores.search.base import Evidence, Found, Query, Search
from mores.search.ground import ground, shorten
from mores.search.stream import find_all

__all__ = [
    "KINDS",
    "READS_FILES",
    "Evidence",
    "Found",
    "Options",
    "Query",
    "Search",
    "find_all",
    "ground",
    "open_search",
    "search_cost",
    "search_or_corpus",
    "shorten",
]


@dataclass(frozen=True)
class Options:
    """What a user may set besides the search's name; a kind takes what it knows."""

    base_url: str | None = None
    """Another address of a web search, for example of a proxy."""
    limits: Limits | None = None
    """Of a web search: calls at once, tries, seconds."""
    store: Path | None = None
    """Where results that were paid for are kept; None means the user's cache."""
    fresh: bool = False
    """Search again for what is kept."""
    record: Path | None = None
    """A file to record all searches in, for `replay:`."""
    counts: Counts | None = None
    """Where calls, retries and cached results are counted while it searches."""
    progress: Progress = SILENT
    """Where the building of an index is shown."""


def _serper(name: str, options: Options) -> Search:
    from mores.search.cached import Cached
    from mores.search.serper import Serper

    if name not in ("", "boxes"):
        raise ConfigError(f"serper:{name}: no such search; there are serper and serper:boxes")
    web = Serper(name == "boxes", options.base_url, options.limits, options.counts)
    return Cached(web, options.store, counts=options.counts, fresh=options.fresh)


def _corpus(path: str, options: Options) -> Search:  # noqa: ARG001 - one form for all kinds
    from mores.search.corpus import Corpus

    return Corpus(path)


def _dense(path: str, options: Options) -> Search:
    from mores.search.dense import DenseCorpus

    return DenseCorpus(path, fused=False, progress=options.progress)


def _fused(path: str, options: Options) -> Search:
    from mores.search.dense import DenseCorpus

    return DenseCorpus(path, progress=options.progress)


def _replay(path: str, options: Options) -> Search:  # noqa: ARG001
    from mores.search.replay import Replay

    return Replay(path)


def _fake(name: str, options: Options) -> Search:  # noqa: ARG001
    from mores.search.fake import fake

    return fake(name)


KINDS: dict[str, Callable[[str, Options], Search]] = {
    "serper": _serper,
    "corpus": _corpus,
    "dense": _dense,
    "fused": _fused,
    "replay": _replay,
    "fake": _fake,
}
"""Every kind of search; the imports are inside, so that unused ones cost no time."""
READS_FILES = ("corpus", "dense", "fused", "replay")
"""The kinds whose names contain a path."""


def open_search(name: str, options: Options | None = None) -> Search:
    """Return the search that the user named: one of KINDS, for example `corpus:PATH`."""
    options = options or Options()
    kind, _, rest = name.partition(":")
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        known = "serper, corpus:PATH, dense:PATH, fused:PATH and replay:FILE"
        raise ConfigError(f"search {name!r}: no such kind; {hint}there are {known}")
    search = KINDS[kind](rest, options)
    if options.record is None:
        return search
    from mores.search.replay import Recording

    return Recording(search, options.record)


def search_or_corpus(name: str) -> str:
    """Return the search meant by a name or by the path of a corpus: `corpus:documents/` for `documents/`."""
    kind = name.partition(":")[0]
    return name if kind in KINDS and not Path(name).exists() else f"corpus:{name}"


def search_cost(name: str, queries: int, k: int, price: float | None = None) -> float:
    """Return US dollars for so many queries; `price` is that of one credit of a web search, if not the usual."""
    if name.partition(":")[0] != "serper":
        return 0.0
    from mores.search.serper import PRICE, credits_for

    return queries * credits_for(k) * (PRICE if price is None else price)
