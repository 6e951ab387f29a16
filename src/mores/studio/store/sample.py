"""A sample of the accepted items, to be judged once more: at random, and the same whoever draws it."""

from __future__ import annotations

from mores.studio.form import draw_lot
from mores.studio.records import ItemStatus, Person
from mores.studio.store.database import Database
from mores.studio.store.items import Campaign, perform, read_items
from mores.studio.workflow import Recheck, Refused, may


def draw_sample(database: Database, campaign: Campaign, person: Person, count: int) -> int:
    """Have so many accepted items judged once more, of those that were not; how many it became.

    The order depends on the campaign and on the items' ids alone. A second draw goes on where the first ended.
    """
    drawn = 0
    accepted = read_items(database, campaign, status=ItemStatus.ACCEPTED)
    left = [item for item in accepted if may(campaign.flow, item, person, Recheck) is None]
    for item in sorted(left, key=lambda item: draw_lot(campaign.id, item.id))[:count]:
        try:
            perform(database, campaign, person, Recheck(), item=item.id)
        except Refused:  # it was withdrawn or drawn at this moment
            continue
        drawn += 1
    return drawn
