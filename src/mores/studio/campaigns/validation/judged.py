"""An item of the campaign as what its results are made of: samples with answers, marks and judgements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mores.metaevaluation.votes import SIMILARITY
from mores.metaevaluation.votes import SampleVote as Ballot
from mores.metric.score import score
from mores.stats.marks import MarkedText, SpanMark
from mores.studio.campaigns.validation.forms import MARKS, PREFIX
from mores.studio.campaigns.validation.results import Answer, Grade, Judged
from mores.studio.campaigns.validation.settings import ValidationSettings
from mores.studio.marks import to_errors
from mores.studio.records import Content, Item, Status, Vote
from mores.types import DEFAULT_INSTRUCTION, ErrorReport, Judgement, Sample

STAGE = "validate"
NONE = "none"
"""The severity that people give where they find no error."""


def to_judged(settings: ValidationSettings, item: Item) -> Judged:
    """Return a sample with its answers; complete where it has as many as it needs, or an organiser has decided it."""
    votes = item.votes_at(STAGE)
    closed = item.status in (Status.ACCEPTED, Status.REJECTED)
    return Judged(
        id=item.id,
        language=item.language,
        severity=item.content.get("severity", ""),
        answers=tuple(to_answer(item.content, vote) for vote in votes),
        complete=closed or len(votes) >= settings.needed(item.language),
        declined=len({person for person, _ in item.declined}),
        metrics=_metrics(item.content),
    )


def judged_items(settings: ValidationSettings, items: Iterable[Item]) -> list[Judged]:
    """Return all samples but those that were taken out."""
    return [to_judged(settings, item) for item in items if item.status is not Status.WITHDRAWN]


def to_answer(content: Content, vote: Vote) -> Answer:
    """Return what one person says."""
    given = vote.answer
    metrics = [explanation["metric"] for explanation in content.get("explanations", [])]
    ratings = {metric: given.get(f"{PREFIX}{number}") for number, metric in enumerate(metrics, 1)}
    return Answer(
        person=vote.person,
        cultural=given["cultural"] == "yes",
        error=Grade(given["error"]),
        explanation=Grade(given["explained"]),
        severity_ok=given["severity_ok"] == "yes",
        type_ok=given["type_ok"] == "yes",
        changed=given["changed"] == "yes",
        likeness={metric: int(rating) for metric, rating in ratings.items() if rating},
    )


DEGREES = {Grade.VALID: "valid", Grade.PARTLY: "partial", Grade.NOT: "invalid"}


def to_votes(sample: str, answers: Iterable[Answer]) -> Iterator[Ballot]:
    """People's answers about a sample as votes for `mores meta`, which makes the same tables of them."""
    for answer in answers:
        values = {
            "culture": answer.cultural,
            "error": DEGREES[answer.error],
            "explanation": DEGREES[answer.explanation],
            "severity": answer.severity_ok,
            "type": answer.type_ok,
            "changed": answer.changed,
        } | {f"{SIMILARITY}{metric}": str(rating) for metric, rating in answer.likeness.items()}
        for criterion, value in values.items():
            text = value if isinstance(value, str) else "yes" if value else "no"
            yield Ballot(sample_id=sample, annotator=answer.person, criterion=criterion, value=text)


def _metrics(content: Content) -> Mapping[str, bool | None]:
    """Return whether each metric finds an error."""
    finds: dict[str, bool | None] = {each["metric"]: True for each in content.get("explanations", [])}
    finds |= dict.fromkeys(content.get("silent", ()), False)
    return finds | dict.fromkeys(content.get("failed", ()), None)


def marks_of(item: Item, vote: Vote) -> list[Content]:
    """Return the words that one person finds wrong: the gold ones where the error is valid, none where it is not."""
    grade = Grade(vote.answer["error"])
    if grade is Grade.NOT:
        return []
    gold: list[Content] = item.content.get(MARKS, [])
    marks: list[Content] = vote.answer.get(MARKS) or gold
    return gold if grade is Grade.VALID else marks


def marked_texts(items: Iterable[Item]) -> Iterator[MarkedText]:
    """Yield every text with an error, by the gold report or somebody's, with what each person finds wrong in it."""
    for item in items:
        marks = {vote.person: marks_of(item, vote) for vote in item.votes_at(STAGE)}
        for part in ("instruction", "text"):
            places = {
                person: [SpanMark(mark["start"], mark["end"]) for mark in given if mark["part"] == part]
                for person, given in marks.items()
            }
            gold = any(mark["part"] == part for mark in item.content.get(MARKS, []))
            if gold or any(places.values()):
                yield MarkedText(item.content[part], places)


def to_sample(item: Item) -> Sample:
    """Return the text that people judged."""
    content = item.content
    return Sample(
        id=content.get("sample") or item.id,
        instruction=content.get("instruction") or DEFAULT_INSTRUCTION,
        text=content.get("text", ""),
        language=item.language or None,
        region=item.region or None,
        source=content.get("source") or None,
    )


def gold_judgement(item: Item) -> Judgement:
    """Return the gold report, as a judgement of `gold`."""
    content = item.content
    about = {name: content[name] for name in ("severity", "type", "explanation")}
    errors = to_errors(mark | about for mark in content[MARKS])
    report = ErrorReport(errors=errors, explanation=content["explanation"])
    return Judgement.of(to_sample(item), judge="gold", score=score(report), report=report)


def to_judgement(item: Item, vote: Vote) -> Judgement:
    """Return one person's report: the words that they find wrong, with the severity and type that they give them.

    What the explanation changed counts: where it did, the error is as they judge it after.
    """
    content, given = item.content, vote.answer
    grade = given["error_after"] if given["changed"] == "yes" and given.get("error_after") else given["error"]
    severity = content["severity"] if given["severity_ok"] == "yes" else given["own_severity"]
    kind = content["type"] if given["type_ok"] == "yes" else given["own_type"]
    explanation = content["explanation"] if given["explained"] == Grade.VALID.value else given.get("note", "")
    after = vote.model_copy(update={"answer": given | {"error": grade}})
    marks = [] if severity == NONE else marks_of(item, after)
    about = {"severity": severity, "type": kind, "explanation": explanation}
    report = ErrorReport(errors=to_errors(mark | about for mark in marks))
    return Judgement.of(to_sample(item), judge=f"person:{vote.person}", score=score(report), report=report)
