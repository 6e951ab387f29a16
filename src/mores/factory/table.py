"""The items and drafts of a build: in files, with what grouping and balancing ask of each in columns.

As objects, a million items and the drafts of them would need ten gigabytes. A *place* is the number of an item, a *row*
the number of a draft.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mores.factory.columns import Folds, Integers, Labels
from mores.factory.drafts import Draft, Stratum, draw_number
from mores.factory.gold import ChangedText, Gold, Kind
from mores.factory.items import SourceItem, Task
from mores.factory.looks import Looks
from mores.factory.scratch import Shelf, TextFile

KINDS: tuple[Kind, ...] = ("correct", "hard", "soft")


class ItemTable:
    """Items, with the source, group and fold of each in memory."""

    def __init__(self, items: Iterable[SourceItem] = ()) -> None:
        self.names = TextFile()
        """`source/id`."""
        self.sources: list[str] = []
        """Each source once."""
        self.group = array("i")
        """The place of the item that gives its name to the group of each."""
        self.fold = array("b")
        self._shelf = Shelf[SourceItem]()
        self._shelved, self._source_of = array("q"), array("i")
        self._parts, self._parts_end = array("i"), array("q")
        self._source_number: dict[str, int] = {}
        self._rank = np.zeros(0, np.int64)
        self._last: tuple[int, SourceItem | None] = -1, None
        for item in items:
            self.append(item)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[SourceItem]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, place: int) -> SourceItem:
        last, item = self._last
        if item is None or place != last:  # the drafts of an item are read one after the other
            item = self._shelf.take(self._shelved[place])
            self._last = place, item
        return item

    def append(self, item: SourceItem, parts: Sequence[int] = ()) -> int:
        """Add an item, and return its place; `parts` are the items of a composed text, which gives them its fold."""
        if parts:
            self.group.append(len(self))
            self.fold.append(self.fold[parts[0]])
        return self.take_up(self.shelve(item), item.source, item.id, parts)

    def shelve(self, item: SourceItem) -> int:
        """Write an item that may be taken up later, and return where it is."""
        return self._shelf.put(item)

    def take_up(self, where: int, source: str, name: str, parts: Sequence[int] = ()) -> int:
        """Add an item that was shelved, and return its place."""
        if source not in self._source_number:
            self._source_number[source] = len(self.sources)
            self.sources.append(source)
        self._source_of.append(self._source_number[source])
        self._shelved.append(where)
        self._parts.extend(parts)
        self._parts_end.append(len(self._parts))
        self.names.append(f"{source}/{name}")
        return len(self.names) - 1

    def put_in(self, groups: Integers, folds: Integers) -> None:
        """Say in which group and fold each item is."""
        self.group, self.fold = array("i", groups.tolist()), array("b", folds.tolist())

    def parts(self, place: int) -> Sequence[int]:
        """Return the items of a composed text, or the item itself."""
        start = self._parts_end[place - 1] if place else 0
        return tuple(self._parts[start : self._parts_end[place]]) or (place,)

    def id(self, place: int) -> str:
        """Return the id of an item in its source."""
        return self.names[place][len(self.sources[self._source_of[place]]) + 1 :]

    @property
    def source_of(self) -> npt.NDArray[np.int32]:
        """The number of the source of each item."""
        return np.asarray(self._source_of)

    def by_source(self, places: npt.NDArray[np.integer[Any]]) -> tuple[Integers, Integers]:
        """Return the keys of an order by source and then by id, the last first, as NumPy sorts by them."""
        numbers = np.unique(self.sources, return_inverse=True)[1]
        return self.rank[places], numbers[self.source_of[places]]

    @property
    def order(self) -> Integers:
        """The items in the order of their names."""
        return np.argsort(self.rank)

    @property
    def rank(self) -> Integers:
        """The place of each item in the order of names."""
        if len(self._rank) != len(self):
            names, self._rank = list(self.names), np.empty(len(self), np.int64)
            self._rank[sorted(range(len(self)), key=names.__getitem__)] = np.arange(len(self))
        return self._rank


class DraftTable:
    """Drafts, with the item, kind and stratum of each in memory."""

    def __init__(self, items: ItemTable) -> None:
        self.items = items
        self.strata: list[Stratum] = []
        """Each stratum once."""
        self._answers, self._text = TextFile(), array("i")
        """The answers of each item once, and which one each draft has."""
        self._known: tuple[int, dict[str, int]] = -1, {}
        """The last item, and the numbers of its answers."""
        self.looks = Looks(self._answers.__getitem__)
        """The answers as the shortcut audit sees them."""
        self._shelf = Shelf[tuple[str, ChangedText | None, Gold | None]]()
        self._made = array("q")
        """Where the maker of each and what it made are on the shelf."""
        self._places, self._kinds = array("i"), array("b")
        self._strata, self._options = array("i"), array("h")
        self._keys = bytearray()
        self._stratum_number: dict[Stratum, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def append(self, place: int, draft: Draft) -> None:
        """Add a draft of the item at a place."""
        stratum = draft.stratum
        if stratum not in self._stratum_number:
            self._stratum_number[stratum] = len(self.strata)
            self.strata.append(stratum)
        is_plain = draft.maker == "source" and draft.change is None and draft.worded is None
        is_option = draft.task is Task.QA and draft.answer in draft.item.options
        self._places.append(place)
        self._kinds.append(KINDS.index(draft.kind))
        self._strata.append(self._stratum_number[stratum])
        self._options.append(draft.item.options.index(draft.answer) if is_option else 0)
        self._keys += draft.digest
        if place != self._known[0]:
            self._known = place, {}
        known = self._known[1]
        if draft.answer not in known:
            known[draft.answer] = len(self._answers)
            self._answers.append(draft.answer)
        self._text.append(known[draft.answer])
        self._made.append(-1 if is_plain else self._shelf.put((draft.maker, draft.change, draft.worded)))

    def __getitem__(self, row: int) -> Draft:
        place, made = self._places[row], self._made[row]
        _, task, form = self.strata[self._strata[row]]
        maker, change, worded = ("source", None, None) if made < 0 else self._shelf.take(made)
        parts = self.items.parts(place) if form == "composed" else ()
        names = tuple(self.items.names[part] for part in parts)
        kind = KINDS[self._kinds[row]]
        return Draft(self.items[place], task, self._answers[self._text[row]], kind, maker, change, worded, form, names)

    def by_stratum(self, rows: Integers | None = None) -> dict[Stratum, Integers]:
        """Return the rows of each stratum, in the order of the first of each."""
        numbers = self.stratum if rows is None else self.stratum[rows]
        places = [np.flatnonzero(numbers == number) for number in range(len(self.strata))]
        firsts = sorted((int(at[0]), number) for number, at in enumerate(places) if len(at))
        return {self.strata[n]: places[n] if rows is None else rows[places[n]] for _, n in firsts}

    def answers(self, rows: Iterable[int]) -> Iterator[str]:
        """Yield the answers of some drafts."""
        return (self._answers[self._text[row]] for row in rows)

    def draws(self, rows: Integers, seed: int, *words: str) -> npt.NDArray[np.uint64]:
        """Return a random but reproducible place of each draft in an order."""
        drawn = (draw_number(seed, *words, key) for key in self.keys(rows))
        return np.fromiter(drawn, np.uint64, len(rows))

    def keys(self, rows: Integers) -> Iterator[str]:
        """Yield the keys of some drafts."""
        for row in map(int, rows):
            yield self._keys[12 * row : 12 * row + 12].hex()

    @property
    def sortable_key(self) -> npt.NDArray[np.bytes_]:
        """The key of each draft; those of one length are in their order although NumPy leaves out zeros at the end."""
        return np.frombuffer(self._keys, "S12")

    @property
    def place(self) -> npt.NDArray[np.int32]:
        """The place of the item of each draft."""
        return np.asarray(self._places)

    @property
    def text(self) -> npt.NDArray[np.int32]:
        """The number of the answer of each draft."""
        return np.asarray(self._text)

    @property
    def fold(self) -> Folds:
        """The fold of each draft."""
        return np.asarray(self.items.fold)[self.place]

    @property
    def correct(self) -> Labels:
        return np.equal(self._kinds, KINDS.index("correct"))

    @property
    def soft(self) -> Labels:
        return np.equal(self._kinds, KINDS.index("soft"))

    @property
    def stratum(self) -> npt.NDArray[np.int32]:
        """The number of the stratum of each draft."""
        return np.asarray(self._strata)

    @property
    def option(self) -> npt.NDArray[np.int16]:
        """The place of each answer among the options of its question, or 0."""
        return np.asarray(self._options)
