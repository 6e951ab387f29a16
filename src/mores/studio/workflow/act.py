"""The events of an action and of everything that follows from it, and what an item's events add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

import mores.studio.workflow.actions as actions
from mores.studio.form import is_complete
from mores.studio.phrase import keep_phrases, read_phrases
from mores.studio.records import (
    Ask,
    Begun,
    CampaignItem,
    Content,
    Event,
    EventKind,
    Hold,
    ItemStatus,
    ItemVote,
    Person,
    PersonStanding,
    StagePassage,
)
from mores.studio.workflow.actions import Action
from mores.studio.workflow.rules import may
from mores.studio.workflow.stages import Flow, Refused, StageDecision

UNDO = timedelta(minutes=10)
"""How long a vote can be changed, while its item is still in the same stage."""
CLAIMS = {EventKind.CREATED, EventKind.SUBMITTED, EventKind.VOTED, EventKind.ADJUDICATED}
"""Events about which exports say who did them: they keep who the person was."""
ROUNDS = 50
"""The most moves that one action may set off: more means that a campaign's rules run in a circle."""


def act(  # noqa: C901 - one case for each action
    flow: Flow, item: CampaignItem | None, person: Person | None, action: Action, now: datetime, key: str = ""
) -> list[Event]:
    """Return the events of an action, and of everything that follows from it; raises `Refused` with the reason."""
    if reason := may(flow, item, person, type(action)):
        raise Refused(reason)
    write = _Writer(flow, item, person.id if person else None, now, key, person.standing if person else None)
    match action:
        case actions.Create():
            write.create(action)
        case actions.Revise(content, region, language):
            write.add(EventKind.EDITED, content=content, region=region, language=language)
        case actions.Submit(content, seconds, region, language):
            if (content, region, language) != (write.current.content, write.current.region, write.current.language):
                write.add(EventKind.EDITED, content=content, region=region, language=language)
            write.add(EventKind.SUBMITTED, seconds=seconds)
            write.settle(submitted=True)
        case actions.Take():
            until = now + flow.stage(write.current.stage).hold
            write.add(EventKind.ASSIGNED, until=until.isoformat())
        case actions.Release(reason, of):
            write.release(reason, of)
        case actions.Step():
            write.step(action)
        case actions.Cast():
            write.cast(action)
        case actions.AskModel(ask, task, data):
            if task not in flow.stage(write.current.stage).tasks:
                raise Refused("The model cannot be asked this here.")
            write.add(EventKind.ASKED_MODEL, ask=ask, task=task, model=flow.model, sample=0, data=data)
        case actions.Answered():
            write.answer(action)
        case actions.AskAgain():
            write.ask_again()
        case actions.Reconsider():
            write.settle()
        case actions.Recheck():
            write.recheck()
        case actions.Adjudicate(outcome, note, result, to):
            write.adjudicate(StageDecision(outcome, note, result, to))
        case actions.Withdraw(reason):
            write.add(EventKind.WITHDRAWN, reason=keep_phrases(reason))
    return write.events


@dataclass
class _Writer:
    """Collects the events of one action, and the item that they lead to."""

    flow: Flow
    item: CampaignItem | None
    person: str | None
    now: datetime
    key: str
    standing: PersonStanding | None
    events: list[Event] = field(default_factory=list)

    @property
    def current(self) -> CampaignItem:
        assert self.item is not None
        return self.item

    def add(self, kind: EventKind, *, by: str | None = "", item: str = "", stage: str = "", **payload: Any) -> None:
        """Add an event; by the person who acts, unless `by` says otherwise (None: the rules)."""
        number = len(self.events)
        event = Event(
            key=self.key if number == 0 else f"{self.key}+{number}",
            at=self.now,
            campaign=self.flow.campaign,
            item=item or self.current.id,
            stage=stage or self.current.stage,
            kind=kind,
            person=self.person if by == "" else by,
            payload=payload,
            standing=self.standing if by == "" and kind in CLAIMS else None,
        )
        self.events.append(event)
        self.item = apply(self.item, event)

    def create(self, action: actions.Create) -> None:
        stage = action.stage or self.flow.stages[0].name
        self.add(
            EventKind.CREATED,
            item=action.item,
            stage=stage,
            content=action.content,
            region=action.region,
            language=action.language,
            imported=bool(action.stage),
            check=action.check,
            **({"since": action.since.isoformat()} if action.since else {}),
        )
        if action.stage:
            self.inquire()
            self.settle()

    def step(self, action: actions.Step) -> None:
        begun = self.current.begun_by(self.person or "")
        if action.step != (begun.step if begun else 0) + 1:
            raise Refused("You have answered this step already. Please load the page again.")
        given: Content = {"answer": action.answer, "seconds": action.seconds, "order": list(action.order)}
        self.add(EventKind.STEPPED, step=action.step, **given)

    def cast(self, action: actions.Cast) -> None:
        earlier = [vote for vote in self.current.votes_at(self.current.stage) if vote.person == self.person]
        if earlier and self.now - earlier[-1].at > UNDO:
            raise Refused("Your answer is final now.")
        skill = self.flow.skills.get(self.person or "")
        begun = self.current.begun_by(self.person or "")
        answer = action.answer | (begun.answer if begun else {})
        seconds = action.seconds + (begun.seconds if begun else 0.0)
        given: Content = {"answer": answer, "seconds": seconds, "order": list(action.order)}
        offline: Content = {"offline": action.offline} if action.offline else {}
        self.add(EventKind.VOTED, **given, comment=action.comment, skill=skill, **offline)
        self.settle()

    def release(self, reason: str, of: str) -> None:
        """Give back one's own item, or, as the clock, all that were kept too long."""
        giver = self.person or of
        for hold in self.current.holds:
            if hold.person == giver or (not giver and hold.until <= self.now):
                self.add(EventKind.RELEASED, of=hold.person, reason=keep_phrases(reason))

    def answer(self, action: actions.Answered) -> None:
        ask = next((ask for ask in self.current.asks if ask.id == action.ask), None)
        if ask is None or not ask.waiting:
            return
        given: Content = {"ask": action.ask, "answer": action.answer, "failure": action.failure}
        self.add(EventKind.MODEL_ANSWERED, **given, usage=action.usage)
        if self.current.status is ItemStatus.OPEN:
            self.inquire()
        self.settle()

    def adjudicate(self, decision: StageDecision) -> None:
        """Do what the organiser decided; what an author has not finished cannot go on."""
        flow, item = self.flow, self.current
        if decision.to and decision.to not in flow.named:
            raise Refused("There is no such stage.")
        passed = range(flow.place(decision.to) if decision.to else flow.place(item.stage) + 1)
        if decision.outcome == "next" and flow.stage(item.stage).own:
            own = [flow.stages[place] for place in passed if flow.stages[place].own]
            if not all(is_complete(stage.form(item), item.content) for stage in own):
                raise Refused("This item is not complete. Its author has to finish it first.")
        note = keep_phrases(decision.note)
        self.add(EventKind.ADJUDICATED, outcome=decision.outcome, note=note, result=decision.result)
        self.move(decision, by=None)
        self.settle()

    def recheck(self) -> None:
        """Bring an accepted item to the stage of the sample; who judged it before does not get it there."""
        assert self.flow.sampling is not None
        item, to = self.current, self.flow.sampling.name
        judges = sorted({vote.person for vote in item.votes})
        result = keep_phrases(item.results.get(item.stage, {}))
        self.add(EventKind.ADVANCED, to=to, note="", result=result, without=judges)
        self.inquire()

    def ask_again(self) -> None:
        failed = self.current.failed
        self.inquire()  # settings may have changed
        if not failed and not self.events:
            raise Refused("No model has failed here.")
        for number, ask in enumerate(failed, len(self.current.asks)):
            fields: Content = {"task": ask.task, "model": ask.model, "sample": ask.sample, "data": ask.data}
            self.add(EventKind.ASKED_MODEL, ask=f"{self.current.id}.{number}", **fields, attempt=ask.attempt + 1)

    def settle(self, *, submitted: bool = False) -> None:
        """Let the stage decide, and the next one, until people or models have to act."""
        for _ in range(ROUNDS):
            stage = self.flow.stage(self.current.stage)
            if self.current.status is not ItemStatus.OPEN or self.current.check is not None:
                return
            if stage.own and not submitted:
                return
            decision = stage.decide(self.current)
            if decision is None:
                return
            self.move(decision, by=None)
            submitted = False
        raise AssertionError(f"the rules of {self.flow.campaign} run in a circle at {self.current.stage}")

    def move(self, decision: StageDecision, by: str | None) -> None:
        """Send the item on, back or out."""
        here = self.current.stage
        region = decision.region if decision.region != self.current.region else ""
        if decision.content is not None or region:
            content = self.current.content if decision.content is None else decision.content
            self.add(EventKind.EDITED, by=by, content=content, region=region)
        payload: Content = {"note": keep_phrases(decision.note), "result": keep_phrases(decision.result)}
        if decision.outcome == "rejected":
            self.add(EventKind.REJECTED, by=by, **payload)
        elif decision.outcome == "back":
            target = decision.to or self.flow.stage(here).back or self.flow.stages[0].name
            self.add(EventKind.RETURNED, by=by, to=target, **payload)
            self.inquire()
        else:
            following = self.flow.after(here)
            to = decision.to or (following.name if following else "")
            self.add(EventKind.ADVANCED, by=by, to=to, **payload)
            if to:
                self.inquire()

    def inquire(self) -> None:
        """Ask models what the stage wants to know and nobody has asked yet."""
        known = {(ask.task, ask.model, ask.sample) for ask in self.current.asks_now if ask.person is None}
        for question in self.flow.stage(self.current.stage).questions(self.current):
            model = question.model or self.flow.model
            if model and (question.task, model, question.sample) not in known:
                known.add((question.task, model, question.sample))
                ask = f"{self.current.id}.{len(self.current.asks)}"
                self.add(EventKind.ASKED_MODEL, by=None, ask=ask, **asdict(question) | {"model": model})


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
            standing=None if payload.get("imported") else event.standing,
        )
    if item is None:
        raise ValueError(f"the first event of {event.item} is {event.kind.value}, not created")
    deciding = event.kind is EventKind.ADJUDICATED
    return item.model_copy(update={"updated": event.at, "deciding": deciding} | _change(item, event))


def _change(item: CampaignItem, event: Event) -> dict[str, Any]:  # noqa: C901 - one case for each kind of event
    payload = event.payload
    match event.kind:
        case EventKind.EDITED:
            return {
                "content": payload["content"],
                "version": item.version + 1,
                "edited": item.edited if event.person is None else item.version + 1,
                "region": payload.get("region") or item.region,
                "language": payload.get("language") or item.language,
            }
        case EventKind.ASSIGNED:
            until = datetime.fromisoformat(payload["until"])
            hold = Hold(person=event.person or "", stage=event.stage, until=until, taken=event.at)
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
            others = [vote for vote in item.votes if (vote.person, vote.stage, vote.version) != place]
            before = [vote.taken for vote in item.votes if vote not in others]
            held = [hold.taken for hold in item.holds if (hold.person, hold.stage) == place[:2]]
            kept = {"at": event.at, "taken": next(iter(before + held), None), "standing": event.standing}
            vote = ItemVote.model_validate(kept | given)
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
            return _moved(item, event, "next") | moved
        case EventKind.RETURNED:
            moved = {"stage": payload["to"], "status": ItemStatus.OPEN, "returns": item.returns + 1}
            return _moved(item, event, "back") | moved
        case EventKind.REJECTED:
            return _moved(item, event, "rejected") | {"status": ItemStatus.REJECTED}
        case EventKind.ADJUDICATED:
            return {"adjudicated": (*item.adjudicated, (event.stage, item.version))}
        case EventKind.WITHDRAWN:
            return {"status": ItemStatus.WITHDRAWN, "holds": (), "note": read_phrases(payload.get("reason", ""))}
        case _:
            return {}


def _moved(item: CampaignItem, event: Event, outcome: Literal["next", "back", "rejected"]) -> dict[str, Any]:
    results = item.results | {event.stage: read_phrases(event.payload.get("result", {}))}
    passage = StagePassage(
        stage=event.stage,
        to=event.payload.get("to", ""),
        outcome=outcome,
        organiser=item.deciding,
        version=item.version,
        votes=len(item.votes_at(event.stage)),
    )
    moved = {"results": results, "note": read_phrases(event.payload.get("note", "")), "holds": ()}
    is_sample = "without" in event.payload  # it was decided before, and is judged once more
    return moved | {"path": item.path if is_sample else (*item.path, passage)}


def _without(holds: Iterable[Hold], person: str) -> tuple[Hold, ...]:
    return tuple(hold for hold in holds if hold.person != person)
