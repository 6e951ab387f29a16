"""The data card of a campaign's export, and the paragraph for a paper's Method section, from settings and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from mores import formatting as form
from mores.canary import make_canary, tell_canary
from mores.culture import language_name, region_name
from mores.hub import licence_name
from mores.stats.distributions import ShareEstimate, share_of
from mores.studio.data.snapshot import Snapshot, workers
from mores.studio.figures import show_figure
from mores.studio.records import ItemStatus, Role
from mores.studio.setup import dump_campaign
from mores.studio.workflow import CampaignStage, is_judged
from mores.types import Signature

HIDDEN = {"checks", "practice"}
"""Settings that a card does not show: whoever knows the answers passes every check."""


def write_card(snapshot: Snapshot) -> str:
    """Return the sections of the card, in Markdown; the same events and settings give the same text."""
    settings = snapshot.campaign.settings
    instructions = settings.instructions.splitlines()
    sections = [
        ("Data card", _about(snapshot)),
        ("Items", _items(snapshot)),
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

    digest = sha256()
    for item in snapshot.items:
        digest.update(item.model_dump_json(exclude={"author", "votes", "holds"}).encode())
    fields = {"task": snapshot.campaign.kind.name, "campaign": snapshot.campaign.id, "items": str(len(snapshot.items))}
    fields |= {"events": str(snapshot.last_event), "data": digest.hexdigest()[:12], "mores": __version__}
    return Signature(fields)


def hub_fields(snapshot: Snapshot) -> dict[str, Any]:
    """Return what the Hub reads from a card's beginning."""
    languages = sorted({item.language.partition("-")[0] for item in snapshot.items if item.language})
    campaign = snapshot.campaign
    licence = licence_name([campaign.settings.licence])
    return {"pretty_name": campaign.title, "license": licence, "language": languages}


def _about(snapshot: Snapshot) -> str:
    campaign = snapshot.campaign
    rows = [
        ("Campaign", f"{one_line(campaign.title)} (`{campaign.id}`)"),
        ("Kind", f"{campaign.kind.title}: {campaign.kind.summary}"),
        ("Licence", campaign.settings.licence),
        ("Contact", one_line(campaign.settings.contact)),
        ("Last event", snapshot.at.strftime("%Y-%m-%d %H:%M UTC") if snapshot.at else "none"),
        ("Items", f"{len(snapshot.items):,}, of which {snapshot.statuses[ItemStatus.ACCEPTED]:,} accepted"),
    ]
    return _table(("", ""), [row for row in rows if row[1]])


def _items(snapshot: Snapshot) -> str:
    stages = [
        (f"open at “{stage.title}”", str(count))
        for stage in snapshot.campaign.flow.stages
        if (count := sum(item.status is ItemStatus.OPEN and item.stage == stage.name for item in snapshot.items))
    ]
    closed = [
        (status.value, f"{snapshot.statuses[status]:,}") for status in ItemStatus if status is not ItemStatus.OPEN
    ]
    share, returned = _accepted(snapshot), sum(item.returns > 0 for item in snapshot.items)
    sent_back = f" {form.count(returned, 'item')} came back to the author at least once." if returned else ""
    decided = f"Accepted: {_share(share)} of {share.n:,} decided items.{sent_back}" if share else ""
    parts = [_table(("status", "items"), stages + closed), decided or "No item is decided yet."]
    for key, name in (("region", region_name), ("language", language_name)):
        counts = Counter(getattr(item, key) for item in snapshot.items)
        accepted = Counter(getattr(item, key) for item in snapshot.accepted)
        rows = [
            (name(code) if code else "–", f"{count:,}", f"{accepted[code]:,}")
            for code, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        parts.append(_table((key, "items", "accepted"), rows) if rows else "")
    return "\n\n".join(part for part in parts if part)


def _accepted(snapshot: Snapshot) -> ShareEstimate | None:
    """Return the share of accepted items among those that are decided."""
    accepted, rejected = (snapshot.statuses[status] for status in (ItemStatus.ACCEPTED, ItemStatus.REJECTED))
    return share_of(accepted, accepted + rejected) if accepted + rejected else None


def _people(snapshot: Snapshot) -> str:
    people = workers(snapshot)
    if not people:
        return "Nobody has worked yet."
    regions = Counter(code for member in people for code in member.person.regions)
    roles = Counter(role.value for member in people for role in member.person.roles)
    named = ", ".join(f"{count} as {role}" for role, count in sorted(roles.items()))
    rows = [(region_name(code), str(count)) for code, count in sorted(regions.items(), key=lambda p: (-p[1], p[0]))]
    text = f"{form.count(len(people), 'person')} took part".replace("persons", "people") + f" ({named})."
    return f"{text}\n\n{_table(('region of nationality and home before 18', 'people'), rows)}" if rows else text


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
    calls = Counter((ask.model, ask.task) for item in snapshot.items for ask in item.asks)
    failed = Counter((ask.model, ask.task) for item in snapshot.items for ask in item.asks if ask.failure)
    title = snapshot.campaign.kind.title_of
    rows = [(model, title(task), f"{n:,}", f"{failed[model, task]:,}") for (model, task), n in sorted(calls.items())]
    return _table(("model", "question", "asked", "failed"), rows) if rows else "No model was asked."


def write_method(snapshot: Snapshot) -> str:
    """Return the paragraph for a paper's Method section: the kind's own or a general one, then people and agreement."""
    kind, settings = snapshot.campaign.kind, snapshot.campaign.settings
    people = workers(snapshot)
    regions = sorted({region_name(code) for member in people for code in member.person.regions})
    sentences = [kind.method(settings, snapshot.items) if kind.method else _general(snapshot)]
    if people:
        names = " and ".join(filter(None, (", ".join(regions[:-1]), *regions[-1:])))
        sentences.append(f"{len(people)} people took part{f', from {names}' if regions else ''}.")
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
    return " ".join(sentences)


def _general(snapshot: Snapshot) -> str:
    kind, share = snapshot.campaign.kind, _accepted(snapshot)
    stages = "; ".join(_stage(stage, snapshot) for stage in snapshot.campaign.flow.stages)
    decided = f" ({_share(share)} of those decided)" if share else ""
    return (
        f"{one_line(snapshot.campaign.title)} was made with Mores in a campaign of the kind {kind.title}: "
        f"{kind.summary} Items passed {len(snapshot.campaign.flow.stages)} stages: {stages}. "
        f"Of {len(snapshot.items):,} items, {snapshot.statuses[ItemStatus.ACCEPTED]:,} were accepted{decided}."
    )


def _stage(stage: CampaignStage, snapshot: Snapshot) -> str:
    if stage.role is None:
        return f"{stage.title} (models)"
    who = Role(stage.role).value
    if not is_judged(stage):
        return f"{stage.title} ({who})"
    votes = [len(snapshot.last_votes(item, stage.name)) for item in snapshot.items]
    given = [count for count in votes if count]
    mean = f", {sum(given) / len(given):.1f} answers for each item" if given else ""
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
