"""Search for evidence: the web, a local corpus, or a recording, behind one protocol (`base.py`).

search = open_search("corpus:documents.jsonl")  # or an object of the protocol
async for claim, found in find_all(search, pairs, k=10): ...
await search.close()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mores.engine.counts import Counts
from mores.engine.progress import SILENT, Progress
from mores.errors import ConfigError
from mores.registry import Registry, identity_of, name_of, split_name
from mores.search.base import Evidence, Found, Query, Search
from mores.search.ground import ground, shorten
from mores.search.stream import find_all

if TYPE_CHECKING:
    from mores.engine.limits import Limits

__all__ = [
    "KINDS",
    "READS_FILES",
    "REGISTRY",
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
    """The settings of a search besides its name; a kind takes what it knows."""

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


def _provider(kind: str, name: str, options: Options) -> Search:
    from mores.search.cached import Cached
    from mores.search.online import WebSearch
    from mores.search.providers import PROVIDERS

    if name:
        raise ConfigError(f"{kind}:{name}: no such search; it is called {kind}")
    web = WebSearch(PROVIDERS[kind], options.base_url, options.limits, options.counts)
    return Cached(web, options.store, counts=options.counts, fresh=options.fresh)


def _open(module: str, name: str, *given: object, **options: object) -> Search:
    search: Search = getattr(import_module(f"mores.search.{module}"), name)(*given, **options)
    return search


def _shipped(name: str, options: Options) -> Search:
    if name:
        raise ConfigError(f"mores:{name}: no such search; the facts that come with Mores are called mores")
    return _open("shipped", "shipped_facts", options.progress)


KINDS: dict[str, Callable[[str, Options], Search]] = {
    "serper": _serper,
    "brave": partial(_provider, "brave"),
    "tavily": partial(_provider, "tavily"),
    "searxng": partial(_provider, "searxng"),
    "corpus": lambda path, _: _open("corpus", "Corpus", path),
    "dense": lambda path, options: _open("dense", "DenseCorpus", path, fused=False, progress=options.progress),
    "fused": lambda path, options: _open("dense", "DenseCorpus", path, progress=options.progress),
    "mores": _shipped,
    "replay": lambda path, _: _open("replay", "Replay", path),
    "fake": lambda name, _: _open("fake", "fake", name),
}
"""Every kind of search; each is imported when it is used."""
REGISTRY: Registry[Callable[[str, Options], Search]] = Registry(
    noun="search",
    group="mores.searches",
    ours=KINDS,
    expected="a function of a name and mores.search.Options that returns a Search",
    method="find",
    written={kind: f"{kind}:PATH" for kind in ("corpus", "dense", "fused", "replay")} | {"fake": ""},
)
READS_FILES = ("corpus", "dense", "fused", "replay")
"""The kinds whose names contain a path."""


def open_search(name: str | Search, options: Options | None = None) -> Search:
    """Return the search that the user named, for example `corpus:PATH`, or gave."""
    options = options or Options()
    search: Search = REGISTRY.open(name, options)
    if not all(hasattr(search, attribute) for attribute in ("name", "identity", "close")):
        search = GivenSearch(search)
        if not hasattr(name, "identity"):
            about = f"{search.name} has no identity: the signature has {search.identity}, whatever it finds"
            options.progress.note(f"note: {about}")
    if options.record is None:
        return search
    from mores.search.replay import Recording

    return Recording(search, options.record)


class GivenSearch:
    """A search of a user that has `find` alone: it is named and identified by its class, and needs no closing."""

    def __init__(self, search: Search) -> None:
        self.name, self.identity, self._search = name_of(search), identity_of(search), search

    def __getattr__(self, name: str) -> Any:
        return getattr(self._search, name)

    async def find(self, queries: Sequence[Query], k: int) -> list[Found]:
        """Return what the user's search finds."""
        return await self._search.find(queries, k)

    async def close(self) -> None:
        """Close the user's search, where it can be closed."""
        if close := getattr(self._search, "close", None):
            await close()


def search_or_corpus(name: str | Search) -> str | Search:
    """Return the search that is meant where the path of a corpus will do.

    `fused:documents/` for `documents/` where an encoder is installed and documents are few enough to encode them at
    once, or are encoded already; otherwise `corpus:documents/`.
    """
    if not isinstance(name, str) or (split_name(name)[0] in REGISTRY.names() and not Path(name).exists()):
        return name
    from mores.search.dense import is_soon_encoded

    return f"{'fused' if is_soon_encoded(name) else 'corpus'}:{name}"


def search_cost(name: str | Search, queries: int, k: int, price: float | None = None) -> float:
    """Return the US dollars for so many queries; `price` is that of one credit of a web search, if not the usual one.

    A search of a user's own counts as free.
    """
    kind = split_name(name)[0] if isinstance(name, str) else ""
    if kind == "serper":
        from mores.search.serper import PRICE, credits_for

        return queries * credits_for(k) * (PRICE if price is None else price)
    from mores.search.providers import PROVIDERS

    if kind not in PROVIDERS:
        return 0.0
    return queries * (PROVIDERS[kind].price(k) if price is None else price)
