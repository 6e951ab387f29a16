"""The items of a campaign as of one moment, in a temporary file, read again for each pass: few are in memory."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from sqlalchemy import Connection, Text, cast, false, select

from mores.studio.progress import report
from mores.studio.records import CampaignItem
from mores.studio.store.items import Campaign
from mores.studio.store.tables import items

PAGE = 500
"""Items that are in memory at a time."""
KEPT = 1000
"""A campaign of so many items is kept in memory whole, where it is read faster."""


class StoredItems(Sequence[CampaignItem]):
    """Items in the order in which they were made, without attention checks."""

    def __init__(self, connection: Connection, campaign: Campaign) -> None:
        self.ids: list[str] = []
        self._kept: list[CampaignItem] | None = None
        self._pages: list[tuple[int, int]] = []
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the items
        weakref.finalize(self, self._file.close)
        query = select(items.c.id, cast(items.c.state, Text)).order_by(items.c.created, items.c.id)
        mine = (items.c.campaign == campaign.id, items.c.is_check == false())
        for rows in connection.execute(query.where(*mine).execution_options(yield_per=PAGE)).partitions():
            self.ids += [row[0] for row in rows]
            page = "\n".join([row[1] for row in rows]).encode()
            self._pages.append((self._file.tell(), len(page)))
            self._file.write(page)
            report()
        self._file.flush()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[CampaignItem]:
        if len(self) > KEPT:
            return self._read()
        if self._kept is None:
            self._kept = list(self._read())
        return iter(self._kept)

    @overload
    def __getitem__(self, place: int) -> CampaignItem: ...
    @overload
    def __getitem__(self, place: slice) -> list[CampaignItem]: ...
    def __getitem__(self, place: int | slice) -> CampaignItem | list[CampaignItem]:
        if isinstance(place, slice):
            return [self[number] for number in range(len(self))[place]]
        page, within = divmod(range(len(self))[place], PAGE)
        return CampaignItem.model_validate_json(self._lines(page)[within])

    def _read(self) -> Iterator[CampaignItem]:
        for page in range(len(self._pages)):
            report(page * PAGE, len(self))
            yield from map(CampaignItem.model_validate_json, self._lines(page))

    def _lines(self, page: int) -> list[bytes]:
        start, size = self._pages[page]
        self._file.seek(start)
        return self._file.read(size).split(b"\n")


@dataclass(frozen=True)
class ChosenItems:
    """Some of the items, or items changed, each time they are read."""

    read: Callable[[], Iterator[CampaignItem]]
    choose: Callable[[CampaignItem], CampaignItem | None]
    """The item as it is given; None to leave it out."""

    def __iter__(self) -> Iterator[CampaignItem]:
        return (given for item in self.read() if (given := self.choose(item)) is not None)
