"""The errors of an item: what each person marked, what another said about it, and which marks are the same error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from mores.stats.marks import trim
from mores.studio.marks import Mark
from mores.studio.records import CampaignItem

MARK, VALIDATE, GROUP = "mark", "validate", "group"


class PersonMark(NamedTuple):
    """One mark of one person."""

    person: str
    mark: Mark
    verdict: str = "valid"
    """What the validator says: valid, other (of another type) or invalid; valid where nobody was asked."""
    category: str = ""
    """The type that the validator says fits better."""

    @property
    def stands(self) -> bool:
        """True if it is an error, of whatever type."""
        return self.verdict != "invalid"

    @property
    def type(self) -> str:
        """Its type, as the validator corrected it."""
        return self.category if self.verdict == "other" else str(self.mark.get("type", ""))


def found_in(item: CampaignItem) -> list[PersonMark]:
    """Return every mark of every person, in the order in which the people answered, with what the validator says."""
    verdicts = item.votes_at(VALIDATE)
    answer = verdicts[-1].answer if verdicts else {}
    marks = [(vote.person, mark) for vote in item.votes_at(MARK) for mark in vote.answer.get("marks", ())]
    return [
        PersonMark(person, mark, answer.get(f"verdict_{place}") or "valid", answer.get(f"category_{place}") or "")
        for place, (person, mark) in enumerate(marks)
    ]


def group(item: CampaignItem) -> list[list[int]]:
    """Return the places in `found_in` of marks that are the same error: as the organiser said, else by overlap.

    Marks that overlap most are joined first, whatever their labels; no group has two marks of one person, so that one
    long mark does not join two errors. Marks that are not valid, and what is missing, are not joined.
    """
    if (kept := item.results.get(GROUP, {}).get("groups")) is not None:
        return [list(members) for members in kept]
    everything = found_in(item)
    standing = [place for place, found in enumerate(everything) if found.stands]
    groups = {place: [place] for place in standing}
    pairs = combinations(standing, 2)
    likeness = {pair: alike(item, everything[pair[0]].mark, everything[pair[1]].mark) for pair in pairs}
    for first, second in sorted(
        (pair for pair in likeness if likeness[pair]), key=lambda pair: (-likeness[pair], pair)
    ):
        one, other = groups[first], groups[second]
        people = [everything[place].person for place in (*one, *other)]
        if one is not other and len(set(people)) == len(people):
            one += other
            groups |= dict.fromkeys(other, one)
    return sorted({id(members): sorted(members) for members in groups.values()}.values())


def alike(item: CampaignItem, first: Mark, second: Mark) -> float:
    """Return the intersection of two marks over their union, in characters, without space and punctuation around."""
    if first["part"] != second["part"] or first["start"] is None or second["start"] is None:
        return 0.0
    text = str(item.content.get(first["part"], ""))
    (start, end), (from_, to) = (
        trim(text, mark["start"], mark["end"]) or (mark["start"], mark["end"]) for mark in (first, second)
    )
    both = min(end, to) - max(start, from_)
    return max(both, 0) / (max(end, to) - min(start, from_))


class Agreed(NamedTuple):
    """An error that one or several people marked."""

    mark: Mark
    """The mark that is most like those of the others, with the type that the validator gave it."""
    people: tuple[str, ...]


def agreed(item: CampaignItem) -> Iterator[Agreed]:
    """Yield the errors that stand, each once."""
    everything = found_in(item)
    for places in group(item):
        members = [everything[place] for place in places]
        central = max(members, key=lambda found: sum(alike(item, found.mark, other.mark) for other in members))
        counts = Counter(str(found.mark.get("severity", "")) for found in members)
        severity = central.mark.get("severity", "")
        if counts[severity] < max(counts.values()):
            severity = counts.most_common(1)[0][0]
        mark = central.mark | {"type": central.type, "severity": severity}
        yield Agreed(mark, tuple(found.person for found in members))
