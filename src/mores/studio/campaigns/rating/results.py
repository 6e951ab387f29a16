"""What people think of each model so far, for the organiser: the figures of `mores rate` that are quick to make."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mores.rating.agreement import measure_agreement
from mores.rating.groups import FIVE, LEVELS, find_groups, spread
from mores.rating.ranking import rank_models
from mores.rating.ratings import Rating
from mores.rating.records import Distribution, Pairwise, Placing, RatingAgreement
from mores.stats.marks import MarkAgreement, MarkedText, SpanMark, span_agreement
from mores.studio.campaigns.rating.export import STAGE, read_ratings, to_rating
from mores.studio.campaigns.rating.settings import RatingSettings
from mores.studio.records import CampaignItem, Content, ItemStatus


@dataclass(frozen=True)
class ModelResult:
    """What people think of one model's answers."""

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
    models = []
    for model in groups.models:
        members = [rating for rating in ratings if rating.model == model]
        levels = {aspect: Counter(str(getattr(each, aspect) or "") for each in members) for aspect in LEVELS}
        models.append(ModelResult(model, spread(members, FIVE), placings.get(model), levels, failed[model]))
    results = Results(
        ratings=len(ratings),
        questions=len({rating.question_key for rating in ratings}),
        people=len(groups.annotators),
        models=sorted(models, key=lambda each: -(each.spread.mean.value or 0)),
        pairs=ranking.pairs if ranking else (),
        agreement=measure_agreement(ratings, FIVE),
        marks=span_agreement(marked_texts(ratings)),
    )
    return {"results": results}


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
