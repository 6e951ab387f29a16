"""Groups of names that belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


class Components:
    """Names in groups (union-find): names that have a key in common, or are joined, are in one."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._sizes: Counter[str] = Counter()

    def add(self, name: str, keys: Iterable[str] = ()) -> None:
        """Add a name and join it with all names that have one of its keys; no key is also a name."""
        self._sizes[self._root(name)] += 1
        for key in keys:
            self.join(name, key)

    def join(self, first: str, second: str) -> None:
        """Make one group of the groups of two names."""
        kept, other = sorted((self._root(first), self._root(second)))
        if kept != other:
            self._parent[other] = kept
            self._sizes[kept] += self._sizes.pop(other, 0)

    def size(self, name: str) -> int:
        """Return the number of names in the group of a name."""
        return self._sizes[self._root(name)]

    def by_first(self, names: Iterable[str]) -> dict[str, str]:
        """Return the group of each name, called after the first of these names that is in it."""
        first: dict[str, str] = {}
        return {name: first.setdefault(self._root(name), name) for name in names}

    def _root(self, node: str) -> str:
        parent = self._parent
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node
