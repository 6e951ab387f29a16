"""The events that show how an item was made and checked; every sentence of an export is taken from here.

    find_irregular(flow, item)       # stages that it passed by an organiser's decision, or without an answer
    describe_irregular(flow, found)  # the same of all accepted items, in words

An item is regular when the rules of its campaign decided it. Others are accepted too, and exports say which, but a
benchmark has them only where the organiser wants it (`CampaignSettings.include_overrides`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from mores import formatting as form
from mores.culture import region_name
from mores.studio.records import CampaignItem, ItemVote, PersonStanding, Role, StagePassage
from mores.studio.workflow import CampaignStage, Flow, is_judged

SMALLEST = 5
"""A group of fewer people is not named in what is published: its members could be recognised."""

Reason = Literal["overridden", "skipped", "edited", "same person"]


class Irregular(NamedTuple):
    """A stage that an item passed in another way than by the rules."""

    stage: str
    reason: Reason
    """`edited`: a person changed the item after it was judged. `same person`: one person answered more than once."""
    votes: int = 0
    """Answers that the stage had."""
    rejected: bool = False
    """The rules had rejected the item there."""


def follow_path(flow: Flow, item: CampaignItem) -> dict[str, StagePassage]:
    """Return how the item left each stage on its way to where it is; what it was sent back over does not count."""
    way: dict[str, StagePassage] = {}
    for passage in item.path:
        if passage.outcome == "back":
            kept = flow.place(passage.to) if passage.to in flow.named else 0
            way = {name: known for name, known in way.items() if name in flow.named and flow.place(name) < kept}
        else:
            way[passage.stage] = passage
    return way


def last_votes(item: CampaignItem, stage: str) -> list[ItemVote]:
    """Return the votes of a stage about the last version that was judged there."""
    given = [vote for vote in item.votes if vote.stage == stage]
    if item.version == 1 or not given:
        return given
    last = max([vote.version for vote in given])
    return [vote for vote in given if vote.version == last]


def find_irregular(flow: Flow, item: CampaignItem, same: Mapping[str, str] | None = None) -> list[Irregular]:
    """Return the stages that an item did not pass by the rules; `same` names the account of who has several."""
    found: dict[str, Irregular] = {}
    rejected = {passage.stage for passage in item.path if passage.outcome == "rejected"}
    for name, passage in follow_path(flow, item).items():
        stage = flow.named.get(name)
        if stage is None or passage.outcome != "next":
            continue
        if passage.organiser and stage.role is not Role.ORGANISER and not stage.own:
            reason: Reason = "overridden" if passage.votes else "skipped"
            found[name] = Irregular(name, reason, passage.votes, name in rejected)
        if passage.organiser:
            end = flow.place(passage.to) if passage.to in flow.named else 0
            for other in flow.stages[flow.place(name) + 1 : end]:
                if not other.own and not other.sample:
                    found[other.name] = Irregular(other.name, "skipped", len(last_votes(item, other.name)))
        if is_judged(stage) and name not in found:
            people = [(same or {}).get(vote.person, vote.person) for vote in last_votes(item, name)]
            if passage.votes and passage.version < item.edited:
                found[name] = Irregular(name, "edited", passage.votes)
            elif len(set(people)) < len(people):
                found[name] = Irregular(name, "same person", len(people))
    return list(found.values())


def describe_irregular(flow: Flow, irregular: Sequence[Sequence[Irregular]], *, included: bool = False) -> str:
    """Return sentences about accepted items that the rules did not decide; empty where there are none."""
    stages = {stage.name: stage for stage in flow.stages}
    if not irregular:
        return ""
    counts = Counter(
        (entry.stage, entry.reason, entry.rejected, bool(entry.votes)) for found in irregular for entry in found
    )
    order = {stage.name: number for number, stage in enumerate(flow.stages)}
    parts = [
        _tell(stages[stage], reason, rejected, voted, count)
        for (stage, reason, rejected, voted), count in sorted(
            counts.items(), key=lambda pair: (order[pair[0][0]], pair[0][1:])
        )
    ]
    where = "They are exported with the others." if included else "They are not in the exported benchmark."
    total = form.count(len(irregular), "accepted item")
    return f"{total} did not pass every stage by the rules: {'; '.join(parts)}. {where}"


def _tell(stage: CampaignStage, reason: Reason, rejected: bool, voted: bool, count: int) -> str:
    at = f"at “{stage.title}”"
    if reason == "same person":
        return f"{count} had several answers of one person {at}"
    if reason == "edited":
        return f"{count} were changed after people had judged them {at}"
    if reason == "skipped":
        earlier = "; the answers there are about an earlier version" if voted else ""
        without = "without a model's answer that decides" if stage.role is None else "without an answer of anybody"
        return f"{count} passed “{stage.title}” {without}, by decision of an organiser{earlier}"
    against = "after the answers had rejected them" if rejected else "in place of the answers"
    return f"{count} were accepted {at} by an organiser {against}"


def describe_regions(known: Counter[bool | None]) -> str:
    """Return whether those who answered came from the items' regions then, from answers by `matches_region`."""
    if not known.total() or known[True] == known.total():
        return ""
    parts = [f"{known[False]:,} are of people who did not"] if known[False] else []
    parts += [f"of {known[None]:,} it is not known"] if known[None] else []
    return f"{known[True]:,} of {known.total():,} answers are of people who did; {' and '.join(parts)}"


def matches_region(item: CampaignItem, standing: PersonStanding | None) -> bool | None:
    """Return whether someone came from an item's region then; None where that is not known."""
    if standing is None or standing.source == "import":
        return None
    matched = item.region in standing.regions
    return True if matched else None if standing.source == "upgrade" else False


def matches_language(item: CampaignItem, standing: PersonStanding | None) -> bool | None:
    """Return whether someone knew an item's language then; None where that is not known."""
    if standing is None or standing.source == "import":
        return None
    matched = item.language in standing.languages
    return True if matched else None if standing.source == "upgrade" else False


def add_standings(found: dict[str, list[PersonStanding]], item: CampaignItem) -> None:
    """Add everybody who wrote or judged an item, with who they were each time it changed; empty where not known."""
    acted = [(vote.person, vote.standing) for vote in item.votes]
    acted += [(item.author, item.standing)] if item.author else []
    for person, standing in acted:
        known = found.setdefault(person, [])
        # comparing what they hold takes a fifth of the time that comparing records does
        if standing and standing.__dict__ not in [other.__dict__ for other in known]:
            known.append(standing)


def count_regions(standings: Mapping[str, Sequence[PersonStanding]]) -> tuple[dict[str, int], int, int]:
    """Return how many people came from each region, how many regions have too few people to be named, and these people.

    Who changed their region counts for every region that they answered from.
    """
    people = {person: {code for standing in known for code in standing.regions} for person, known in standings.items()}
    counts = Counter(code for codes in people.values() for code in codes)
    named = {code: count for code, count in counts.items() if count >= SMALLEST}
    hidden = sum(bool(codes) and not codes & named.keys() for codes in people.values())
    return dict(sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))), len(counts) - len(named), hidden


def name_regions(standings: Mapping[str, Sequence[PersonStanding]]) -> str:
    """Return where people came from, for a sentence: regions of few people are only counted."""
    named, others, _ = count_regions(standings)
    names = sorted(map(region_name, named))
    more = [f"{form.count(others, 'region')} of fewer than {SMALLEST} people"] if others else []
    *first, last = [*names, *more] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def range_of(counts: Iterable[int]) -> str:
    """Return a number, or the least and the most of several: `5`, `3 to 5`; `0` of none."""
    known = sorted(counts) or [0]
    return f"{known[0]}" if known[0] == known[-1] else f"{known[0]} to {known[-1]}"
