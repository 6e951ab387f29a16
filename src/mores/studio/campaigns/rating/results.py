"""The results of a campaign: `ratings.csv` for `mores rate`, marked mistakes as judgements, and quick figures."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mores.metric.score import score
from mores.rating.agreement import measure_agreement
from mores.rating.groups import FIVE, LEVELS, RatingColumns, find_groups, spread
from mores.rating.ranking import rank_models
from mores.rating.ratings import InLanguage, IssueLevel, Rating, RatingMark
from mores.rating.records import Distribution, Pairwise, Placing, RatingAgreement
from mores.stats.marks import MarkAgreement, MarkedText, SpanMark, span_agreement
from mores.studio.campaigns.rating.forms import RatingSettings
from mores.studio.files import ExportFile, to_line
from mores.studio.marks import sample_of, to_errors
from mores.studio.provenance import range_of
from mores.studio.records import CampaignItem, Content, ItemStatus, ItemVote
from mores.types import ErrorReport, Judgement, Result

STAGE = "rate"
COLUMNS = (
    *("question_id", "question", "answer", "model", "annotator", "language", "type", "rating", "factuality"),
    *("omissions", "language_correct", "comment", "rank", "reason", "spans", "at", "seconds", "position"),
)


def export(_settings: RatingSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield the ratings of every question that was not taken out, and the judgements of those who marked mistakes."""
    yield ExportFile.of_table("ratings.csv", COLUMNS, (to_row(to_rating(*given)) for given in judged(items)))
    yield ExportFile.of_parts("judgements.jsonl", map(to_line, read_judgements(items)))


def to_row(rating: Rating) -> list[object]:
    """Return a rating as a row of the table."""
    values = rating.model_dump(mode="json")
    spans = [{name: value for name, value in span.items() if value not in ("", None)} for span in values["spans"] or ()]
    values["spans"] = "" if rating.spans is None else json.dumps(spans, ensure_ascii=False)
    values["rating"] = f"{rating.rating:g}" if rating.rating is not None else ""
    values["seconds"] = f"{rating.seconds:.1f}" if rating.seconds is not None else ""
    return ["" if values[name] is None else values[name] for name in COLUMNS]


def judged(items: Iterable[CampaignItem]) -> Iterator[tuple[CampaignItem, ItemVote, Content]]:
    """Yield every answer with every vote about it; not of questions that were withdrawn or rejected."""
    for item in items:
        if item.status in (ItemStatus.WITHDRAWN, ItemStatus.REJECTED):
            continue
        for vote in sorted(item.votes_at(STAGE), key=lambda vote: (vote.at, vote.person)):
            for answer in item.content.get("answers") or ():
                yield item, vote, answer


def read_ratings(items: Iterable[CampaignItem]) -> list[Rating]:
    """Return the ratings, one for each person and answer."""
    return [to_rating(item, vote, answer) for item, vote, answer in judged(items)]


def to_rating(item: CampaignItem, vote: ItemVote, answer: Content) -> Rating:
    """Return what one person says about one answer; the time is that of the question, in equal parts."""
    letter, given = answer["letter"], vote.answer
    rating, rank, spans = (given.get(f"{name}_{letter}") for name in ("rating", "rank", "spans"))
    return Rating(
        question=item.content["question"],
        question_id=item.id,
        model=answer["model"],
        annotator=vote.person,
        rating=float(rating) if rating else None,
        answer=answer["text"],
        language=item.language or None,
        type=item.content.get("type") or None,
        factuality=IssueLevel(given[f"factuality_{letter}"]) if given.get(f"factuality_{letter}") else None,
        omissions=IssueLevel(given[f"omissions_{letter}"]) if given.get(f"omissions_{letter}") else None,
        language_correct=InLanguage(given[f"language_{letter}"]) if given.get(f"language_{letter}") else None,
        comment=given.get(f"comment_{letter}") or None,
        rank=int(rank) if rank else None,
        reason=given.get("reason") or None,
        spans=None if spans is None else tuple(_mark(span, answer["text"]) for span in spans),
        at=vote.at,
        seconds=vote.seconds / len(item.content["answers"]) if vote.seconds else None,
        position=vote.order.index(letter) + 1 if letter in vote.order else None,
    )


def _mark(span: Content, text: str) -> RatingMark:
    fields = {name: span[name] for name in ("start", "end", "severity", "type", "explanation") if span.get(name)}
    return RatingMark(**{"start": 0} | fields, quote=text[span["start"] : span["end"]])


def read_judgements(items: Iterable[CampaignItem]) -> Iterator[Judgement]:
    """Yield the mistakes that people marked, as the reports of a metric: one for each person and answer."""
    for item, vote, answer in judged(items):
        letter, text = answer["letter"], answer["text"]
        spans = vote.answer.get(f"spans_{letter}")
        if spans is None:
            continue
        marks = [{"type": "", **span, "quote": text[span["start"] : span["end"]]} for span in spans]
        report = ErrorReport(errors=to_errors(marks), explanation=vote.answer.get(f"comment_{letter}") or "")
        sample = sample_of(item, f"{item.id}.{letter}", item.content["question"], text, answer["model"])
        yield Judgement.of(sample, judge=vote.person, score=score(report), report=report)


def method(settings: RatingSettings, items: Iterable[CampaignItem]) -> str:
    """Return a paragraph for the Method section."""
    waits, ratings, models, people = 0, 0, set(), set()
    votes: list[int] = []
    for item in items:
        given, answers = item.votes_at(STAGE), item.content.get("answers") or ()
        if item.status in (ItemStatus.WITHDRAWN, ItemStatus.REJECTED):
            continue
        if not given:
            waits += 1
            continue
        votes.append(len(given))
        ratings += len(given) * len(answers)
        models |= {answer["model"] for answer in answers}
        people |= {vote.person for vote in given if answers}
    waiting = f" {waits:,} more questions have no rating yet." if waits else ""
    marking = " marked mistakes," if settings.marking else ""
    names = ", ".join(sorted(models))
    ties = "ties allowed" if settings.ties else "without ties"
    return (
        f"Following CaLMQA, people rated the answers of {len(models)} models ({names}) to {len(votes):,} "
        "questions in a campaign with Mores. They did not know which model wrote an answer, and each person saw the "
        f"answers in an order of their own. For each answer they said whether it is in the correct language,{marking} "
        "judged factual mistakes and omissions, wrote a comment and rated it on five points (excellent, good, average, "
        f"poor, unusable); then they ranked the answers from best to worst, {ties}, with a reason. Each question was "
        f"rated by {range_of(votes)} of {len(people)} people; there are {ratings:,} ratings.{waiting}"
    )


@dataclass(frozen=True)
class ModelResult:
    """The opinions of people about one model's answers."""

    model: str
    spread: Distribution
    """How often each rating was given, from 1 to 5, and their mean."""
    placing: Placing | None
    """None where nobody ranked its answers."""
    levels: Mapping[str, Counter[str]]
    """By aspect (language, factuality, omissions): how often each level was chosen."""
    failed: int
    """Questions to which it has no answer."""


@dataclass(frozen=True)
class Results:
    """The results so far."""

    ratings: int
    questions: int
    people: int
    models: Sequence[ModelResult]
    """The best mean first."""
    pairs: Sequence[Pairwise]
    agreement: RatingAgreement | None
    """None where nobody rated the same answer as another."""
    marks: MarkAgreement | None


def summarise(_settings: RatingSettings, items: Sequence[CampaignItem]) -> Mapping[str, Any]:
    """Return the results so far, under one name; empty without a rating."""
    kept = [item for item in items if item.status not in (ItemStatus.WITHDRAWN, ItemStatus.REJECTED)]
    ratings = read_ratings(kept)
    if not ratings:
        return {}
    groups, ranking = find_groups(ratings), rank_models(ratings, find_groups(ratings))
    placings = {placing.model: placing for placing in ranking.placings if placing.type is None} if ranking else {}
    failed = Counter(model for item in kept for model in item.content.get("failed") or ())
    missing: dict[str, list[Rating]] = defaultdict(list)
    for rating in _missing(kept):
        missing[rating.model].append(rating)

    def compared(figure: Result, *names: str) -> Result:
        """Return a share of comparisons with those that are missing because one of the models has no rating."""
        absent = {(rating.question_id, rating.annotator) for name in names for rating in missing[name]}
        return figure.model_copy(update={"unscored": len(absent)})

    models = []
    for model in groups.models:
        members = [rating for rating in ratings if rating.model == model]
        levels = {aspect: Counter(str(getattr(each, aspect) or "") for each in members) for aspect in LEVELS}
        if placing := placings.get(model):
            placing = placing.model_copy(update={"wins": compared(placing.wins, model)})
        columns = RatingColumns([*members, *missing[model]])
        rated = spread(columns, columns.rows_of(), FIVE)
        models.append(ModelResult(model, rated, placing, levels, failed[model]))
    pairs = [
        pair.model_copy(update={"rate": compared(pair.rate, pair.first, pair.second)})
        for pair in (ranking.pairs if ranking else ())
    ]
    results = Results(
        ratings=len(ratings),
        questions=len({rating.question_key for rating in ratings}),
        people=len(groups.annotators),
        models=sorted(models, key=lambda each: -(each.spread.mean.value or 0)),
        pairs=pairs,
        agreement=measure_agreement(ratings, FIVE),
        marks=span_agreement(marked_texts(ratings)),
    )
    return {"results": results}


def _missing(items: Iterable[CampaignItem]) -> Iterator[Rating]:
    """Yield a rating without a number where somebody could not judge a question, or a model had no answer to rate."""
    for item in items:
        voted = {vote.person for vote in item.votes_at(STAGE)}
        answered = [answer["model"] for answer in item.content.get("answers") or ()]
        declined = {person for person, stage in item.declined if stage == STAGE} - voted
        for person in sorted(voted | declined):
            for model in [*(answered if person in declined else ()), *(item.content.get("failed") or ())]:
                question = item.content["question"]
                yield Rating(question=question, question_id=item.id, model=model, annotator=person, rating=None)


def marked_texts(ratings: Iterable[Rating]) -> list[MarkedText]:
    """Return each answer with what each person marked in it."""
    texts: dict[tuple[str, ...], dict[str, list[SpanMark]]] = defaultdict(dict)
    for rating in ratings:
        if rating.spans is not None:
            marks = [SpanMark(span.start, span.end, span.severity and span.severity.value) for span in rating.spans]
            texts[rating.answer_key][rating.annotator] = marks
    return [MarkedText(key[-1], marks) for key, marks in texts.items()]


def shown(_settings: RatingSettings, item: CampaignItem) -> Mapping[str, Any]:
    """Return what the organiser sees: each answer with its model and what people said about it."""
    answers: list[Content] = []
    for answer in item.content.get("answers") or ():
        votes = item.votes_at(STAGE)
        marks = [mark for vote in votes for mark in vote.answer.get(f"spans_{answer['letter']}") or ()]
        answers.append(answer | {"ratings": [to_rating(item, vote, answer) for vote in votes], "marks": marks})
    return {"answers": answers, "failed": item.content.get("failed") or {}}
