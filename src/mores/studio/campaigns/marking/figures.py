"""Figures of a marking campaign for its organiser: what was marked, what stands, and how far people agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from mores import formatting
from mores.stats import marks as spans
from mores.studio.campaigns.marking.errors import MARK, VALIDATE, agreed, found_in
from mores.studio.campaigns.marking.export import judgements_of, sample_of
from mores.studio.campaigns.marking.settings import MarkingSettings
from mores.studio.phrase import phrase_share
from mores.studio.records import CampaignItem, Content, ItemStatus


def label(stage: str, answer: Content) -> str | None:
    """Return the worst error that a person marked, or that there is none; validators answer about each mark apart."""
    if stage != MARK:
        return None
    severities = {mark.get("severity") for mark in answer.get("marks", ())}
    return next((severity for severity in ("major", "minor") if severity in severities), "no error")


def summarise(settings: MarkingSettings, items: Sequence[CampaignItem]) -> Mapping[str, Any]:
    """Count of texts, marks and errors; agreement on places without regard to labels, then on labels."""
    marked = [item for item in items if item.votes_at(MARK)]
    everything = [found for item in marked for found in found_in(item)]
    validated = [found for item in marked if item.votes_at(VALIDATE) for found in found_in(item)]
    errors = [error for item in items if item.status is ItemStatus.ACCEPTED for error in agreed(item)]
    scores = [judgement.score for item in marked for judgement in judgements_of(settings, item, sample_of(item))]
    known = [score for score in scores if score is not None]
    none = sum(not vote.answer.get("marks") for item in marked for vote in item.votes_at(MARK))
    severities = Counter(found.mark.get("severity") for found in everything)
    figures: dict[str, Any] = {
        "Texts": len(items),
        "Texts that are marked": len(marked),
        "Judgements": len(known),
        "Judgements that failed: the person could not judge": len(scores) - len(known),
        "Judgements without an error": phrase_share(none, len(known)),
        "Marks": len(everything),
        "Minor": severities["minor"],
        "Major": severities["major"],
        "Something is missing": sum(found.mark["start"] is None for found in everything),
        "Mean score": formatting.number(fmean(known)) if known else "–",
        "Marks that are valid": phrase_share(sum(found.stands for found in validated), len(validated)),
        "Valid, of another type": phrase_share(sum(found.verdict == "other" for found in validated), len(validated)),
        "Errors after grouping": len(errors),
        "Errors that several people found": phrase_share(sum(len(error.people) > 1 for error in errors), len(errors)),
    }
    agreement = spans.span_agreement(_texts(marked))
    if agreement is not None:
        figures |= {
            "Agreement on marked characters (F1)": _figure(agreement.f1),
            "The same by chance": "–" if agreement.chance is None else formatting.number(agreement.chance),
            "Agreement above chance (κ)": _figure(agreement.kappa),
            "Krippendorff's α over characters": _figure(agreement.alpha),
        }
        if agreement.labels:
            same = phrase_share(agreement.labels.same, agreement.labels.matched)
            figures["The same type, where two marked the same words"] = same
    return figures


def _texts(items: Iterable[CampaignItem]) -> list[spans.MarkedText]:
    """Return each part of each text with what every person marked in it."""
    texts = []
    for item in items:
        votes = {vote.person: vote.answer.get("marks", ()) for vote in item.votes_at(MARK)}
        for part in {"text", *(mark["part"] for marks in votes.values() for mark in marks)}:
            by_person = {
                person: [
                    spans.SpanMark(mark["start"], mark["end"], mark.get("type") or None)
                    for mark in marks
                    if mark["part"] == part and mark["start"] is not None
                ]
                for person, marks in votes.items()
            }
            texts.append(spans.MarkedText(str(item.content.get(part, "")), by_person))
    return texts


def _figure(figure: spans.AgreementFigure) -> str:
    if figure.value is None:
        return "–"
    return " ".join(filter(None, (formatting.number(figure.value), formatting.span(figure.low, figure.high))))


def method(settings: MarkingSettings, items: Iterable[CampaignItem]) -> str:
    """Return a paragraph for the Method section of a paper."""
    counted = [item for item in items if item.votes_at(MARK)]
    types = {"excam": "free", "juice": "those of JuICE", "mqm": "those of MQM", "own": "a list of ours"}
    begin = {
        "blank": "They began with an unmarked text",
        "report": "Where a metric had judged a text, they began with its report",
        "previous": "They began with what the person before them had marked",
    }
    sentences = [
        f"{len(counted)} texts were marked for cultural errors, each by {settings.markers} speakers of its language.",
        "They selected the wrong words, and gave each error a severity (minor or major) and a type; "
        f"types were {types[settings.taxonomy]}.",
        f"{begin[settings.begin]}.",
        "Marks of several people that overlap are one error, whatever their type.",
    ]
    if settings.validated:
        sentences.insert(3, "Another person then said of each mark whether it is an error, and of which type.")
    return " ".join(sentences)
