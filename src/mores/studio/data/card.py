"""The data card of a campaign's export, and the paragraph for a paper's Method section, from settings and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mores import formatting as form
from mores.canary import make_canary, tell_canary
from mores.culture import language_name, region_name
from mores.hub import licence_name
from mores.stats.distributions import ShareEstimate, share_of
from mores.studio.data.snapshot import Snapshot
from mores.studio.figures import show_figure
from mores.studio.provenance import SMALLEST, count_regions, describe_irregular, name_regions
from mores.studio.records import ItemStatus, Role
from mores.studio.setup import dump_campaign
from mores.studio.workflow import CampaignStage, is_judged
from mores.types import Signature

HIDDEN = {"checks", "practice", "target", "hourly"}
"""Settings that a card does not show: whoever knows the answers passes every check; plans and pay are nobody's."""


def write_card(snapshot: Snapshot) -> str:
    """Return the sections of the card, in Markdown; the same events and settings give the same text."""
    settings = snapshot.campaign.settings
    instructions = settings.instructions.splitlines()
    sections = [
        ("Data card", _about(snapshot)),
        ("Items", _items(snapshot)),
        ("Decisions", _decisions(snapshot)),
        ("People", _people(snapshot)),
        ("Agreement", _agreement(snapshot)),
        ("Models", _models(snapshot)),
        ("Method", write_method(snapshot)),
        ("Instructions", "\n".join(f"> {line}".rstrip() for line in instructions) or "None were given."),
        ("Settings", f"```yaml\n{dump_campaign(snapshot.campaign.kind, settings, hidden=HIDDEN)}```"),
        ("Canary", tell_canary(canary_of(snapshot))),
        ("Signature", f"`{sign(snapshot)}`"),
    ]
    return "\n".join(f"## {title}\n\n{text}\n" for title, text in sections if text)


def canary_of(snapshot: Snapshot) -> str:
    """Return the words by which a copy of the campaign's data can be found."""
    return make_canary("campaign", snapshot.campaign.id, snapshot.campaign.title)


def sign(snapshot: Snapshot) -> Signature:
    """Return what must be the same for two exports to hold the same."""
    from mores import __version__

    fields = {"task": snapshot.campaign.kind.name, "campaign": snapshot.campaign.id, "items": str(len(snapshot.items))}
    fields |= {"events": str(snapshot.last_event), "data": snapshot.tally.digest[:12], "mores": __version__}
    return Signature(fields)


def hub_fields(snapshot: Snapshot) -> dict[str, Any]:
    """Return what the Hub reads from a card's beginning."""
    languages = sorted({language.partition("-")[0] for language in snapshot.tally.places["language"] if language})
    campaign = snapshot.campaign
    licence = licence_name([campaign.settings.licence])
    return {"pretty_name": campaign.title, "license": licence, "language": languages}


def _about(snapshot: Snapshot) -> str:
    campaign = snapshot.campaign
    rows = [
        ("Campaign", f"{one_line(campaign.title)} (`{campaign.id}`)"),
        ("Kind", campaign.kind.title),
        ("Licence", campaign.settings.licence),
        ("Contact", one_line(campaign.settings.contact)),
        ("Last event", snapshot.at.strftime("%Y-%m-%d %H:%M UTC") if snapshot.at else "none"),
        ("Items", f"{len(snapshot.items):,}, of which {snapshot.tally.statuses[ItemStatus.ACCEPTED]:,} accepted"),
    ]
    return _table(("", ""), [row for row in rows if row[1]])


def _items(snapshot: Snapshot) -> str:
    stages = [
        (f"open at “{stage.title}”", str(count))
        for stage in snapshot.campaign.flow.stages
        if (count := snapshot.tally.open[stage.name])
    ]
    closed = [
        (status.value, f"{snapshot.tally.statuses[status]:,}") for status in ItemStatus if status is not ItemStatus.OPEN
    ]
    share, returned = _accepted(snapshot), snapshot.tally.returned
    sent_back = f" {form.count(returned, 'item')} came back to the author at least once." if returned else ""
    decided = f"Accepted: {_share(share)} of {share.n:,} decided items.{sent_back}" if share else ""
    parts = [_table(("status", "items"), stages + closed), decided or "No item is decided yet."]
    for key, name in (("region", region_name), ("language", language_name)):
        counts, accepted = snapshot.tally.places[key], snapshot.tally.exported[key]
        rows = [
            (name(code) if code else "–", f"{count:,}", f"{accepted[code]:,}")
            for code, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        parts.append(_table((key, "items", "accepted"), rows) if rows else "")
    if snapshot.campaign.kind.topic:
        parts.append(_topics(snapshot.tally.topics))
    return "\n\n".join(part for part in parts if part)


def _topics(counts: Mapping[str, Counter[str]]) -> str:
    """Return the most frequent topics of each region among accepted items, with their intervals."""
    rows = [
        (
            region_name(region) if region else "–",
            f"{topics.total():,}",
            "; ".join(f"{topic} {_share(share_of(k, topics.total()))}" for topic, k in topics.most_common(3)),
        )
        for region, topics in sorted(counts.items())
    ]
    return _table(("region", "accepted", "most frequent topics"), rows) if rows else ""


def _accepted(snapshot: Snapshot) -> ShareEstimate | None:
    """Return the share of accepted items among those that are decided."""
    accepted, rejected = (snapshot.tally.statuses[status] for status in (ItemStatus.ACCEPTED, ItemStatus.REJECTED))
    return share_of(accepted, accepted + rejected) if accepted + rejected else None


def _decisions(snapshot: Snapshot) -> str:
    """Return what was not decided by the rules, and which items nobody wrote here."""
    settings, flow = snapshot.campaign.settings, snapshot.campaign.flow
    shown = describe_irregular(flow, snapshot.tally.overrides, included=settings.include_overrides)
    imported = snapshot.tally.imported
    brought = f"{form.count(imported, 'item')} {'was' if imported == 1 else 'were'} imported." if imported else ""
    return " ".join(filter(None, (brought, shown or "The rules of the campaign decided every accepted item.")))


def _people(snapshot: Snapshot) -> str:
    tally, standings = snapshot.tally, snapshot.tally.standings
    if not standings:
        return "Nobody has worked yet."
    acted = {(author, Role.AUTHOR.value) for author in tally.authors}
    for stage in snapshot.campaign.flow.stages:
        acted |= {(person, Role(stage.role).value) for person in tally.judges[stage.name] if stage.role}
    roles = Counter(role for _, role in acted)
    named = ", ".join(f"{count} as {role}" for role, count in sorted(roles.items()))
    regions, others, hidden = count_regions(standings)
    rows = [(region_name(code), str(count)) for code, count in regions.items()]
    few = f"{form.count(others, 'more region')}, each with fewer than {SMALLEST} people"
    rows += [(few, str(hidden) if hidden >= SMALLEST else f"fewer than {SMALLEST}")] if others else []
    table = _table(("region of nationality and home before 18", "people"), rows) if rows else ""
    return "\n\n".join(filter(None, (f"{_count_people(snapshot)} took part ({named}).", _identity(snapshot), table)))


def _count_people(snapshot: Snapshot) -> str:
    """Return how many people wrote or judged; accounts of one person count once."""
    people = len({snapshot.same.get(person, person) for person in snapshot.tally.standings})
    return "1 person" if people == 1 else f"{people:,} people"


def _identity(snapshot: Snapshot) -> str:
    """Return what is doubtful about who the people are: accounts that look alike, changed and deleted profiles."""
    standings, sentences = snapshot.tally.standings, []
    alike = {
        settled: {m.person.id for m in snapshot.members for a in m.alike.values() if a.get("settled", "") == settled}
        & standings.keys()
        for settled in ("", "same")
    }
    compared = {frozenset((m.person.id, other)) for m in snapshot.members for other in m.alike}
    alike[""] |= {other for pair in snapshot.figures.copies for other in pair[1:] if frozenset(pair) not in compared}
    if count := len(alike[""] - alike["same"]):
        sentences.append(f"{form.count(count, 'account')} may belong to somebody who also has another one.")
    if count := len(alike["same"]):
        sentences.append(f"{form.count(count, 'account')} of people who have several count once.")
    sent = [m for m in snapshot.members if m.participant and m.person.id in standings and not m.place.get("confirmed")]
    if sent:
        sentences.append(f"{form.count(len(sent), 'id')} of a panel's participants were not compared with its list.")
    places = [{(known.regions, known.languages) for known in every} for every in standings.values()]
    if count := sum(len(place) > 1 for place in places):
        changed = "1 person" if count == 1 else f"{count} people"
        sentences.append(f"{changed} changed regions or languages meanwhile; each answer has those of its time.")
    sources = Counter(known.source for every in standings.values() for known in every)
    if sources["import"]:
        sentences.append(f"Nothing is known about {sources['import']:,} people whose answers were imported.")
    if count := sum(not member.name for member in snapshot.members if member.person.id in standings):
        sentences.append(f"{count:,} of them {'has' if count == 1 else 'have'} deleted their data since.")
    return " ".join(sentences)


def _agreement(snapshot: Snapshot) -> str:
    titles = {stage.name: stage.title for stage in snapshot.campaign.flow.stages}
    rows = [
        (
            titles[found.stage],
            show_figure(found.alpha),
            f"{show_figure(found.kappa)} ({found.kappa_name}, {found.kappa_items:,} items)",
            f"{form.percent(found.percent.value)} ({form.shares(found.percent.low, found.percent.high)})",
            f"{found.items:,}",
            f"{found.votes:,}",
        )
        for found in snapshot.figures.agreement
    ]
    if not rows:
        return "No item has answers of two people."
    head = ("stage", "Krippendorff's α", "κ", "same answer", "items", "answers")
    return f"{_table(head, rows)}\n\nWith 95% intervals."


def _models(snapshot: Snapshot) -> str:
    calls, failed = snapshot.tally.calls, snapshot.tally.failed
    title = snapshot.campaign.kind.title_of
    rows = [(model, title(task), f"{n:,}", f"{failed[model, task]:,}") for (model, task), n in sorted(calls.items())]
    return _table(("model", "question", "asked", "failed"), rows) if rows else "No model was asked."


def write_method(snapshot: Snapshot) -> str:
    """Return the paragraph for a paper's Method section: the kind's own or a general one, then people and agreement.

    The kind's own is about what the rules decided; what they did not follows.
    """
    settings, total = snapshot.campaign.settings, len(snapshot.items)
    sentences = [snapshot.method or _general(snapshot)]
    if snapshot.method and (left_out := len(snapshot.tally.irregular)):
        about = f"{total - left_out:,} of {form.count(total, 'item')} were left to the rules of the campaign"
        sentences.insert(0, f"{about}; the next sentences are about these.")
    overrides, included = snapshot.tally.overrides, settings.include_overrides
    sentences.append(describe_irregular(snapshot.campaign.flow, overrides, included=included))
    if snapshot.tally.standings:
        names = name_regions(snapshot.tally.standings)
        sentences.append(f"{_count_people(snapshot)} took part{f', from {names}' if names else ''}.")
        sentences.append(_identity(snapshot))
    title = {stage.name: stage.title for stage in snapshot.campaign.flow.stages}
    sentences += [
        f"At “{title[found.stage]}”, {found.people} people gave {found.votes:,} answers about "
        f"{found.items:,} items that at least two of them judged: Krippendorff's α = {show_figure(found.alpha)}, "
        f"{found.kappa_name} = {show_figure(found.kappa)}, and {form.percent(found.percent.value)} of the pairs of "
        "answers were the same."
        for found in snapshot.figures.agreement
    ]
    sentences += [
        f"An answer at “{title[time.stage]}” took {form.duration(time.median)} (median)."
        for time in snapshot.figures.times
    ]
    if settings.pay:
        sentences.append(f"Pay: {one_line(settings.pay)}")
    return " ".join(filter(None, sentences))


def _general(snapshot: Snapshot) -> str:
    kind, share = snapshot.campaign.kind, _accepted(snapshot)
    stages = "; ".join(_stage(stage, snapshot) for stage in snapshot.campaign.flow.stages)
    decided = f" ({_share(share)} of those decided)" if share else ""
    return (
        f"{one_line(snapshot.campaign.title)} was made with Mores in a campaign of the kind {kind.title}. "
        f"Its stages are: {stages}. "
        f"Of {len(snapshot.items):,} items, {snapshot.tally.statuses[ItemStatus.ACCEPTED]:,} were accepted{decided}."
    )


def _stage(stage: CampaignStage, snapshot: Snapshot) -> str:
    if stage.role is None:
        return f"{stage.title} (models)"
    who = Role(stage.role).value
    if not is_judged(stage):
        return f"{stage.title} ({who})"
    items, answers = snapshot.tally.judged[stage.name]
    mean = f", {answers / items:.1f} answers for each item" if items else ""
    matched = " from the item's region" if stage.regional else " who know its language" if stage.speaking else ""
    return f"{stage.title} ({who}s{matched}{mean})"


def _share(share: ShareEstimate) -> str:
    return f"{form.percent(share.value)} (95% interval {form.shares(share.low, share.high)})"


def one_line(text: str) -> str:
    """Return a text without line breaks, which would end a row or a heading."""
    return " ".join(text.split())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [[one_line(str(cell)).replace("|", r"\|") for cell in line] for line in (head, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], ["---"] * len(head), *lines[1:]))
