"""What an item's events add up to."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from mores.studio.phrase import read_phrases
from mores.studio.records import Ask, Begun, CampaignItem, Event, EventKind, Hold, ItemStatus, ItemVote


def apply(item: CampaignItem | None, event: Event) -> CampaignItem:
    """Return the item after an event."""
    payload = event.payload
    if event.kind is EventKind.CREATED:
        return CampaignItem(
            id=event.item,
            campaign=event.campaign,
            author=None if payload.get("imported") else event.person,
            content=payload["content"],
            stage=event.stage,
            region=payload.get("region", ""),
            language=payload.get("language", ""),
            check=payload.get("check"),
            created=event.at,
            updated=event.at,
        )
    if item is None:
        raise ValueError(f"the first event of {event.item} is {event.kind.value}, not created")
    return item.model_copy(update={"updated": event.at} | _change(item, event))


def _change(item: CampaignItem, event: Event) -> dict[str, Any]:  # noqa: C901 - one case for each kind of event
    payload = event.payload
    match event.kind:
        case EventKind.EDITED:
            return {
                "content": payload["content"],
                "version": item.version + 1,
                "region": payload.get("region") or item.region,
                "language": payload.get("language") or item.language,
            }
        case EventKind.ASSIGNED:
            hold = Hold(person=event.person or "", stage=event.stage, until=datetime.fromisoformat(payload["until"]))
            return {"holds": (*item.holds, hold)}
        case EventKind.RELEASED:
            declined = ((payload["of"], event.stage),) if payload.get("reason") else ()
            return {"holds": _without(item.holds, payload["of"]), "declined": (*item.declined, *declined)}
        case EventKind.STEPPED:
            earlier = item.begun_by(event.person or "")
            begun = Begun(
                person=event.person or "",
                stage=event.stage,
                version=item.version,
                step=payload["step"],
                answer=(earlier.answer if earlier else {}) | payload["answer"],
                seconds=(earlier.seconds if earlier else 0.0) + payload.get("seconds", 0.0),
            )
            return {"begun": (*(other for other in item.begun if other != earlier), begun)}
        case EventKind.VOTED:
            place = event.person or "", event.stage, item.version
            given = dict(zip(("person", "stage", "version"), place, strict=True)) | payload
            vote = ItemVote.model_validate({"at": event.at} | given)
            others = [vote for vote in item.votes if (vote.person, vote.stage, vote.version) != place]
            return {"votes": (*others, vote), "holds": _without(item.holds, vote.person)}
        case EventKind.ASKED_MODEL:
            fields = {name: payload[name] for name in ("task", "model", "sample", "data")}
            attempt = payload.get("attempt", 0)
            fields |= {"stage": event.stage, "version": item.version, "attempt": attempt}
            # what the organiser has asked again is still the stage's question
            ask = Ask(id=payload["ask"], person=None if attempt else event.person, **fields)
            return {"asks": (*item.asks, ask)}
        case EventKind.MODEL_ANSWERED:
            answered = {name: payload[name] for name in ("answer", "failure")}
            answered["usage"] = payload.get("usage", {})
            asks = (ask.model_copy(update=answered) if ask.id == payload["ask"] else ask for ask in item.asks)
            return {"asks": tuple(asks)}
        case EventKind.ADVANCED:
            stage = payload["to"] or item.stage
            status = ItemStatus.OPEN if payload["to"] else ItemStatus.ACCEPTED
            without = tuple((person, stage) for person in payload.get("without", ()))
            moved = {"stage": stage, "status": status, "note": "", "declined": (*item.declined, *without)}
            return _moved(item, event) | moved
        case EventKind.RETURNED:
            moved = {"stage": payload["to"], "status": ItemStatus.OPEN, "returns": item.returns + 1}
            return _moved(item, event) | moved
        case EventKind.REJECTED:
            return _moved(item, event) | {"status": ItemStatus.REJECTED}
        case EventKind.ADJUDICATED:
            return {"adjudicated": (*item.adjudicated, (event.stage, item.version))}
        case EventKind.WITHDRAWN:
            return {"status": ItemStatus.WITHDRAWN, "holds": (), "note": read_phrases(payload.get("reason", ""))}
        case _:
            return {}


def _moved(item: CampaignItem, event: Event) -> dict[str, Any]:
    results = item.results | {event.stage: read_phrases(event.payload.get("result", {}))}
    return {"results": results, "note": read_phrases(event.payload.get("note", "")), "holds": ()}


def _without(holds: Iterable[Hold], person: str) -> tuple[Hold, ...]:
    return tuple(hold for hold in holds if hold.person != person)
