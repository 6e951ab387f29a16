"""An item of the campaign as what its results are made of: samples with answers, marks and judgements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mores.metaevaluation.votes import SIMILARITY, SampleVote
from mores.metric.score import score
from mores.stats.marks import MarkedText, SpanMark
from mores.studio.campaigns.validation.forms import MARKS, PREFIX
from mores.studio.campaigns.validation.results import JudgedSample
from mores.studio.campaigns.validation.settings import ValidationSettings
from mores.studio.marks import to_errors
from mores.studio.records import CampaignItem, Content, ItemStatus, ItemVote
from mores.types import DEFAULT_INSTRUCTION, ErrorReport, Judgement, Sample

STAGE = "validate"
DEGREES = {"valid": "valid", "partly": "partial", "not": "invalid"}
"""What people answer, and what a vote calls it."""
NONE = "none"
"""The severity that people give where they find no error."""


def to_judged(settings: ValidationSettings, item: CampaignItem) -> JudgedSample:
    """Return a sample with its answers; complete where it has as many as it needs, or an organiser has decided it."""
    votes = item.votes_at(STAGE)
    closed = item.status in (ItemStatus.ACCEPTED, ItemStatus.REJECTED)
    finds: dict[str, bool | None] = {each["metric"]: True for each in item.content.get("explanations", [])}
    finds |= dict.fromkeys(item.content.get("silent", ()), False)
    return JudgedSample(
        id=item.id,
        language=item.language,
        severity=item.content.get("severity", ""),
        answers={vote.person: to_answer(item.content, vote) for vote in votes},
        complete=closed or len(votes) >= settings.needed(item.language),
        declined=len({person for person, _ in item.declined}),
        metrics=finds | dict.fromkeys(item.content.get("failed", ()), None),
    )


def judged_items(settings: ValidationSettings, items: Iterable[CampaignItem]) -> list[JudgedSample]:
    """Return all samples but those that were taken out."""
    return [to_judged(settings, item) for item in items if item.status is not ItemStatus.WITHDRAWN]


def to_answer(content: Content, vote: ItemVote) -> dict[str, str]:
    """Return what one person says by criterion, in the values of `mores.metaevaluation.votes`."""
    given = vote.answer
    answer = {
        "culture": given["cultural"],
        "error": DEGREES[given["error"]],
        "explanation": DEGREES[given["explained"]],
        "severity": given["severity_ok"],
        "type": given["type_ok"],
        "changed": given["changed"],
    }
    explanations = enumerate(content.get("explanations", []), 1)
    ratings = {f"{SIMILARITY}{each['metric']}": given.get(f"{PREFIX}{number}") for number, each in explanations}
    return answer | {name: str(rating) for name, rating in ratings.items() if rating}


def to_votes(sample: str, answers: Mapping[str, Mapping[str, str]]) -> Iterator[SampleVote]:
    """Yield people's answers about a sample as votes for `mores meta`, which makes the same tables of them."""
    for person, given in answers.items():
        for criterion, value in given.items():
            yield SampleVote(sample_id=sample, annotator=person, criterion=criterion, value=value)


def marks_of(item: CampaignItem, vote: ItemVote) -> list[Content]:
    """Return the words that one person finds wrong: the gold ones where the error is valid, none where it is not."""
    gold: list[Content] = item.content.get(MARKS, [])
    marks: list[Content] = vote.answer.get(MARKS) or gold
    return {"valid": gold, "partly": marks, "not": []}[vote.answer["error"]]


def marked_texts(items: Iterable[CampaignItem]) -> Iterator[MarkedText]:
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


def to_sample(item: CampaignItem) -> Sample:
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


def gold_judgement(item: CampaignItem) -> Judgement:
    """Return the gold report, as a judgement of `gold`."""
    content = item.content
    about = {name: content[name] for name in ("severity", "type", "explanation")}
    errors = to_errors(mark | about for mark in content[MARKS])
    report = ErrorReport(errors=errors, explanation=content["explanation"])
    return Judgement.of(to_sample(item), judge="gold", score=score(report), report=report)


def to_judgement(item: CampaignItem, vote: ItemVote) -> Judgement:
    """Return one person's report: the words that they find wrong, with the severity and type that they give them.

    What the explanation changed counts: where it did, the error is as they judge it after.
    """
    content, given = item.content, vote.answer
    grade = given["error_after"] if given["changed"] == "yes" and given.get("error_after") else given["error"]
    severity = content["severity"] if given["severity_ok"] == "yes" else given["own_severity"]
    kind = content["type"] if given["type_ok"] == "yes" else given["own_type"]
    explanation = content["explanation"] if given["explained"] == "valid" else given.get("note", "")
    after = vote.model_copy(update={"answer": given | {"error": grade}})
    marks = [] if severity == NONE else marks_of(item, after)
    about = {"severity": severity, "type": kind, "explanation": explanation}
    report = ErrorReport(errors=to_errors(mark | about for mark in marks))
    return Judgement.of(to_sample(item), judge=f"person:{vote.person}", score=score(report), report=report)
