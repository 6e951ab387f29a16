"""What may happen to an item, and what follows: the rules of every campaign, without any I/O.

    events = act(flow, item, person, Cast(answer), now)      # or Refused, with the reason
    for event in events: item = apply(item, event)

A `Flow` is a campaign's stages. An action of a person or a model gives events: its own, and those that the rules add
(the item moves on, goes back, a model is asked). The store writes them and the item that they lead to in one
transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from mores.errors import MoresError
from mores.studio.form import Form, is_complete
from mores.studio.phrase import Phrase
from mores.studio.records import Ask, Content, Event, EventKind, Hold, Item, Person, Role, Status, Vote

UNDO = timedelta(minutes=10)
"""How long a vote can be changed, while its item is still in the same stage."""
EVERYBODY = 1_000_000
"""How many people an attention check still needs, always."""
DECIDED = {
    Status.ACCEPTED: "This item is accepted.",
    Status.REJECTED: "This item is rejected.",
    Status.WITHDRAWN: "This item is withdrawn.",
}
ROUNDS = 50
"""The most moves that one action may set off: more means that a campaign's rules run in a circle."""


class Refused(MoresError):  # noqa: N818 - reads as what it is: `except Refused`
    """The rules do not allow an action; the message says why, to the person."""


class Unknown(Refused):
    """There is no such thing, or not for this person, which looks the same."""


@dataclass(frozen=True)
class Decision:
    """What a stage concludes about an item."""

    outcome: Literal["next", "back", "rejected"]
    note: str = ""
    """Why, for the author and the history."""
    result: Content = field(default_factory=dict)
    """What the stage found out; kept in `Item.results`."""
    to: str = ""
    """The stage to go to, where it is not the usual one."""
    content: Content | None = None
    """The item as a reviewer revised it."""
    region: str = ""
    """The item's region, where the stage corrects it."""


@dataclass(frozen=True)
class Question:
    """Something to ask a model about an item."""

    task: str
    model: str = ""
    """Empty for the campaign's own model; without one it is not asked."""
    sample: int = 0
    data: Content = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """One step of an item's way: who works on it, how many of them, what they fill in, and what follows."""

    name: str
    title: str
    role: Role | None
    """None where only models work; the organiser decides in place of a vote where it is theirs."""
    form: Callable[[Item], Form]
    """What a person fills in; it may depend on the item."""
    decide: Callable[[Item], Decision | None]
    """What follows from the votes and answers so far; None while more are needed."""
    own: bool = False
    """The author works on their own item here; others only where an item has no author."""
    people: Callable[[Item], int] = lambda _item: 1
    """How many people's answers are needed, given those so far."""
    regional: bool = False
    """Only people from the item's region."""
    speaking: bool = False
    """Only people who know the item's language."""
    hold: timedelta = timedelta(hours=24)
    """How long a person keeps an item before it is given to another."""
    send: str = "Send"
    """What the button says with which an author sends the item on."""
    tasks: frozenset[str] = frozenset()
    """What a person may ask a model here."""
    opening: str = ""
    """The one of them that is asked in the author's name as soon as they bring the item here."""
    questions: Callable[[Item], Sequence[Question]] = lambda _item: ()
    """What models should have been asked by now: when an item arrives, and again after each answer.

    The same task, model and sample is asked once about a version; what is in the list already is not asked again.
    """
    back: str = ""
    """Where an item goes when it is returned; the first stage where this is empty."""
    adjudge: Callable[[Item, Content], Content] | None = None
    """The stage's result where an organiser fills in its form in place of the votes; None where they need not."""


@dataclass(frozen=True)
class Flow:
    """A campaign, as far as the rules need to know it."""

    campaign: str
    stages: tuple[Stage, ...]
    model: str = ""
    """Who answers what people ask; empty where there is no model."""
    budget: int = 30
    """The most questions to a model that an author may ask about one item."""
    open: bool = True
    skills: Mapping[str, float] = field(default_factory=dict)
    """How often each person's answers are correct, as far as it is known."""
    named: Mapping[str, Stage] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", {stage.name: stage for stage in self.stages})

    def stage(self, name: str) -> Stage:
        """The stage of that name."""
        return self.named[name]

    def place(self, name: str) -> int:
        """Which stage in order it is, from 0."""
        return self.stages.index(self.named[name])

    def after(self, name: str) -> Stage | None:
        """The stage that follows; None after the last."""
        place = self.place(name) + 1
        return self.stages[place] if place < len(self.stages) else None


# What people and models do


@dataclass(frozen=True)
class Create:
    """A person begins an item."""

    item: str
    content: Content
    region: str = ""
    language: str = ""
    stage: str = ""
    """The first one, unless the organiser imports further along."""
    check: Content | None = None
    """The known answer of an attention check."""


@dataclass(frozen=True)
class Edit:
    """The author changes the item: a new version."""

    content: Content
    region: str = ""
    language: str = ""


@dataclass(frozen=True)
class Submit:
    """The author sends the item on, with its last changes."""

    content: Content
    seconds: float = 0.0
    region: str = ""
    language: str = ""


@dataclass(frozen=True)
class Take:
    """A person gets the item to work on."""


@dataclass(frozen=True)
class Release:
    """The person gives the item back; with a reason they cannot judge it and do not get it again.

    Without a person who acts, everybody who kept it too long gives it back, or the one that `of` names.
    """

    reason: str = ""
    of: str = ""


@dataclass(frozen=True)
class Cast:
    """A person answers the stage's form."""

    answer: Content
    seconds: float = 0.0
    comment: str = ""
    """What the person wants to tell the organiser."""


@dataclass(frozen=True)
class AskModel:
    """A person asks the campaign's model."""

    ask: str
    task: str
    data: Content = field(default_factory=dict)


@dataclass(frozen=True)
class Answered:
    """A model answers, or fails to."""

    ask: str
    answer: Content | None
    failure: str = ""
    usage: Content = field(default_factory=dict)
    """Tokens, and dollars where the price is known."""


@dataclass(frozen=True)
class AskAgain:
    """The organiser has models asked again what they could not answer."""


@dataclass(frozen=True)
class Adjudicate:
    """The organiser decides in place of the votes."""

    outcome: Literal["next", "back", "rejected"]
    note: str = ""
    result: Content = field(default_factory=dict)
    to: str = ""
    """The stage to go to, where it is not the usual one."""


@dataclass(frozen=True)
class Reconsider:
    """The organiser has changed the settings: what waits is decided again by the answers that it has."""


@dataclass(frozen=True)
class Withdraw:
    """The author or the organiser takes the item out."""

    reason: str = ""


Action = (
    Create | Edit | Submit | Take | Release | Cast | AskModel | Answered | AskAgain | Adjudicate | Reconsider | Withdraw
)


def may(flow: Flow, item: Item | None, person: Person | None, action: type[Action]) -> str | None:  # noqa: C901 - one case for each action
    """Why someone may not do something to an item; None where they may. `None` as a person is a model or the clock."""
    if action is Answered:
        return None if person is None else "Only a model answers."
    if person is None:
        return None if action is Release else "Please sign in."
    organiser = Role.ORGANISER in person.roles
    if not flow.open and action is not Withdraw:
        return "This campaign is closed."
    if item is None:
        return _may_create(flow, person) if action is Create else "There is no such item."
    if action is Withdraw and item.status is not Status.WITHDRAWN:
        return None if organiser or person.id == item.author else "Only its author can withdraw an item."
    if item.status is not Status.OPEN and not (action is Adjudicate and item.status is Status.REJECTED):
        return DECIDED[item.status]
    if action is Adjudicate:
        return None if organiser else "Only an organiser decides."
    if action is Reconsider:
        return None if organiser else "Only an organiser decides."
    if action is AskAgain:
        return None if organiser else "Only an organiser has models asked again."
    stage = flow.stage(item.stage)
    if action is AskModel:
        return _may_ask(flow, stage, item, person)
    if action in (Edit, Submit):
        return _may_write(stage, item, person)
    if action is Take:
        return _may_take(flow, stage, item, person)
    if action is Release:
        return None if _holds(item, person) else "You do not have this item."
    return _may_vote(stage, item, person)


def _may_create(flow: Flow, person: Person) -> str | None:
    if Role.ORGANISER in person.roles:
        return None
    if flow.stages[0].role not in person.roles:
        return "You cannot write items in this campaign."
    if person.left is not None and person.left <= 0:
        return "Your first items are being looked at. The organiser will let you go on."
    return None if person.qualified else "Please take the test first."


def _may_write(stage: Stage, item: Item, person: Person) -> str | None:
    if not stage.own:
        return "This item is being checked and cannot be changed now."
    if person.id == item.author or Role.ORGANISER in person.roles:
        return None
    return "Only its author can change this item."


def _may_ask(flow: Flow, stage: Stage, item: Item, person: Person) -> str | None:
    if not stage.tasks:
        return "No model can be asked here."
    if not flow.model:
        return "This campaign has no model. You can go on without it."
    if Role.ORGANISER in person.roles:
        return None
    reason = _may_write(stage, item, person) if stage.own else None if _holds(item, person) else "Not your item."
    if reason:
        return reason
    asked = sum(ask.person == person.id for ask in item.asks)
    return (
        None
        if asked < flow.budget
        else Phrase("You have asked {count} times about this item, the most allowed.", count=flow.budget)
    )


def _may_take(flow: Flow, stage: Stage, item: Item, person: Person) -> str | None:
    if not judged(stage):
        return "There is nothing to judge at this stage."
    if stage.role not in person.roles:
        return "This item waits for people in another role."
    if not person.qualified:
        return "Please take the test first."
    if item.author == person.id or any(ask.person == person.id for ask in item.asks):
        return "You cannot judge your own item."
    if stage.regional and item.region not in person.regions:
        return "This item is for people from its region."
    if stage.speaking and item.language not in person.languages:
        return "This item is for people who know its language."
    if _holds(item, person):
        return "You have this item already."
    if (person.id, stage.name) in item.declined or any(vote.person == person.id for vote in item.votes_at(stage.name)):
        return "You have answered this item already."
    return None if missing(flow, item) else "Others have taken this item."


def _may_vote(stage: Stage, item: Item, person: Person) -> str | None:
    if item.author == person.id:
        return "You cannot judge your own item."
    if _holds(item, person) or any(vote.person == person.id for vote in item.votes_at(stage.name)):
        return None
    return "You do not have this item any more. Please take the next one."


def judged(stage: Stage) -> bool:
    """Whether people take items of others at this stage and answer a form about them."""
    return not stage.own and stage.role not in (None, Role.ORGANISER)


def _holds(item: Item, person: Person) -> bool:
    return any(hold.person == person.id and hold.stage == item.stage for hold in item.holds)


def taken(item: Item) -> int:
    """How many people have answered or are answering about this version at this stage."""
    return len(item.votes_at(item.stage)) + len(item.holds)


def act(  # noqa: C901 - one case for each action
    flow: Flow, item: Item | None, person: Person | None, action: Action, now: datetime, key: str = ""
) -> list[Event]:
    """The events of an action, and of everything that follows from it; raises `Refused` with the reason."""
    if reason := may(flow, item, person, type(action)):
        raise Refused(reason)
    write = _Writer(flow, item, person.id if person else None, now, key)
    match action:
        case Create():
            write.create(action)
        case Edit(content, region, language):
            write.add(EventKind.EDITED, content=content, region=region, language=language)
        case Submit(content, seconds, region, language):
            if (content, region, language) != (write.current.content, write.current.region, write.current.language):
                write.add(EventKind.EDITED, content=content, region=region, language=language)
            write.add(EventKind.SUBMITTED, seconds=seconds)
            write.settle(submitted=True)
        case Take():
            until = now + flow.stage(write.current.stage).hold
            write.add(EventKind.ASSIGNED, until=until.isoformat())
        case Release(reason, of):
            write.release(reason, of)
        case Cast():
            write.cast(action)
        case AskModel(ask, task, data):
            if task not in flow.stage(write.current.stage).tasks:
                raise Refused("The model cannot be asked this here.")
            write.add(EventKind.ASKED_MODEL, ask=ask, task=task, model=flow.model, sample=0, data=data)
        case Answered():
            write.answer(action)
        case AskAgain():
            write.ask_again()
        case Reconsider():
            write.settle()
        case Adjudicate(outcome, note, result, to):
            write.adjudicate(Decision(outcome, note, result, to))
        case Withdraw(reason):
            write.add(EventKind.WITHDRAWN, reason=reason)
    return write.events


@dataclass
class _Writer:
    """Collects the events of one action, and the item that they lead to."""

    flow: Flow
    item: Item | None
    person: str | None
    now: datetime
    key: str
    events: list[Event] = field(default_factory=list)

    @property
    def current(self) -> Item:
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
        )
        self.events.append(event)
        self.item = apply(self.item, event)

    def create(self, action: Create) -> None:
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
        )
        if action.stage:
            self.inquire()
            self.settle()

    def cast(self, action: Cast) -> None:
        earlier = [vote for vote in self.current.votes_at(self.current.stage) if vote.person == self.person]
        if earlier and self.now - earlier[-1].at > UNDO:
            raise Refused("Your answer is final now.")
        skill = self.flow.skills.get(self.person or "")
        self.add(EventKind.VOTED, answer=action.answer, seconds=action.seconds, comment=action.comment, skill=skill)
        self.settle()

    def release(self, reason: str, of: str) -> None:
        """Give back one's own item, or, as the clock, all that were kept too long."""
        giver = self.person or of
        for hold in self.current.holds:
            if hold.person == giver or (not giver and hold.until <= self.now):
                self.add(EventKind.RELEASED, of=hold.person, reason=reason)

    def answer(self, action: Answered) -> None:
        ask = next((ask for ask in self.current.asks if ask.id == action.ask), None)
        if ask is None or not ask.waiting:
            return
        given: Content = {"ask": action.ask, "answer": action.answer, "failure": action.failure}
        self.add(EventKind.MODEL_ANSWERED, **given, usage=action.usage)
        if self.current.status is Status.OPEN:
            self.inquire()
        self.settle()

    def adjudicate(self, decision: Decision) -> None:
        """Do what the organiser decided; what an author has not finished cannot go on."""
        flow, item = self.flow, self.current
        if decision.to and decision.to not in flow.named:
            raise Refused("There is no such stage.")
        passed = range(flow.place(decision.to) if decision.to else flow.place(item.stage) + 1)
        if decision.outcome == "next" and flow.stage(item.stage).own:
            own = [flow.stages[place] for place in passed if flow.stages[place].own]
            if not all(is_complete(stage.form(item), item.content) for stage in own):
                raise Refused("This item is not complete. Its author has to finish it first.")
        self.add(EventKind.ADJUDICATED, outcome=decision.outcome, note=decision.note, result=decision.result)
        self.move(decision, by=None)
        self.settle()

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
            if self.current.status is not Status.OPEN or self.current.check is not None:
                return
            if stage.own and not submitted:
                return
            decision = stage.decide(self.current)
            if decision is None:
                return
            self.move(decision, by=None)
            submitted = False
        raise AssertionError(f"the rules of {self.flow.campaign} run in a circle at {self.current.stage}")

    def move(self, decision: Decision, by: str | None) -> None:
        """Send the item on, back or out."""
        here = self.current.stage
        region = decision.region if decision.region != self.current.region else ""
        if decision.content is not None or region:
            content = self.current.content if decision.content is None else decision.content
            self.add(EventKind.EDITED, by=by, content=content, region=region)
        payload: Content = {"note": decision.note, "result": decision.result}
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


def apply(item: Item | None, event: Event) -> Item:
    """The item after an event."""
    payload = event.payload
    if event.kind is EventKind.CREATED:
        return Item(
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


def _change(item: Item, event: Event) -> dict[str, Any]:  # noqa: C901 - one case for each kind of event
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
        case EventKind.VOTED:
            return _voted(item, event)
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
            status = Status.OPEN if payload["to"] else Status.ACCEPTED
            return _moved(item, event) | {"stage": stage, "status": status, "note": ""}
        case EventKind.RETURNED:
            moved = {"stage": payload["to"], "status": Status.OPEN, "returns": item.returns + 1}
            return _moved(item, event) | moved
        case EventKind.REJECTED:
            return _moved(item, event) | {"status": Status.REJECTED}
        case EventKind.ADJUDICATED:
            return {"adjudicated": (*item.adjudicated, (event.stage, item.version))}
        case EventKind.WITHDRAWN:
            return {"status": Status.WITHDRAWN, "holds": (), "note": payload.get("reason", "")}
        case _:
            return {}


def _voted(item: Item, event: Event) -> dict[str, Any]:
    vote = Vote(
        person=event.person or "",
        stage=event.stage,
        version=item.version,
        answer=event.payload["answer"],
        at=event.at,
        seconds=event.payload.get("seconds", 0.0),
        comment=event.payload.get("comment", ""),
        skill=event.payload.get("skill"),
    )
    same = (vote.person, vote.stage, vote.version)
    others = [vote for vote in item.votes if (vote.person, vote.stage, vote.version) != same]
    return {"votes": (*others, vote), "holds": _without(item.holds, vote.person)}


def _moved(item: Item, event: Event) -> dict[str, Any]:
    results = item.results | {event.stage: event.payload.get("result", {})}
    return {"results": results, "note": event.payload.get("note", ""), "holds": ()}


def _without(holds: Iterable[Hold], person: str) -> tuple[Hold, ...]:
    return tuple(hold for hold in holds if hold.person != person)


def next_state(item: Item | None, events: Iterable[Event]) -> Item | None:
    """What an item's events add up to."""
    for event in events:
        item = apply(item, event)
    return item


def assign(
    flow: Flow, people: Collection[Person], items: Iterable[Item], load: Mapping[str, int] | None = None
) -> list[tuple[str, str]]:
    """Who should get which items, as pairs of a person and an item.

    Items that need the fewest further answers come first, then the oldest; each goes to the people who have the least
    to do. Nobody gets more than one, and no item more people than it needs.
    """
    busy = Counter(load or {})
    free = sorted(people, key=lambda person: (busy[person.id], person.id))
    pairs: list[tuple[str, str]] = []
    for item in sorted(items, key=lambda item: (missing(flow, item), item.created, item.id)):
        slots = missing(flow, item)
        for person in list(free):
            if slots > 0 and may(flow, item, person, Take) is None:
                pairs.append((person.id, item.id))
                free.remove(person)
                slots -= 1
    return pairs


def missing(flow: Flow, item: Item) -> int:
    """How many more people the item needs at its stage."""
    stage = flow.stage(item.stage)
    if item.status is not Status.OPEN or not judged(stage):
        return 0
    return EVERYBODY if item.check is not None else max(stage.people(item) - taken(item), 0)
