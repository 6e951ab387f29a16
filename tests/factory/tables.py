"""Tables of items and drafts, as a build has them, from lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mores.factory.drafts import Draft
from mores.factory.items import SourceItem
from mores.factory.table import DraftTable, ItemTable


def item_table(items: Iterable[SourceItem], folds: Sequence[int] | None = None) -> ItemTable:
    """Items that are each a group, in these folds."""
    table = ItemTable(items)
    table.put_in(np.arange(len(table)), np.array(folds or [0] * len(table)))
    return table


def draft_table(items: ItemTable, drafts: Iterable[Draft]) -> DraftTable:
    """Drafts of these items."""
    place_of, table = {name: place for place, name in enumerate(items.names)}, DraftTable(items)
    for draft in drafts:
        table.append(place_of[draft.item.name], draft)
    return table
