"""Marks as judgements like a metric's, as MQM TSV and in JuICE's schema, and the organiser's figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import Any

from mores import formatting
from mores.metaevaluation.juice.data import CATEGORIES, COUNTRIES, paragraphs
from mores.metric.mqm_tsv import COLUMNS, write_rows
from mores.metric.score import score
from mores.signature import sign
from mores.stats import marks as spans
from mores.studio.campaigns.marking.errors import MARK, VALIDATE, PersonMark, agreed, found_in, group
from mores.studio.campaigns.marking.forms import MarkingSettings
from mores.studio.figures import show_figure
from mores.studio.files import ExportFile, spool_files, to_line
from mores.studio.marks import Mark, sample_of, to_errors
from mores.studio.phrase import phrase_share, with_missing
from mores.studio.provenance import range_of
from mores.studio.records import CampaignItem, Content, ItemStatus
from mores.types import DEFAULT_INSTRUCTION, ErrorReport, Failure, FailureKind, Judgement, Result, Sample, Signature

FILES = ("texts.jsonl", "judgements.jsonl", "agreed.jsonl", "mqm.tsv", "juice.json")
DECLINED = "the person could not judge this text"
VALIDATIONS = {"valid": "valid", "other": "valid_diff_category", "invalid": "invalid"}


def export(settings: MarkingSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield judgements of each person and of all together, MQM TSV, JuICE JSON, and the texts."""
    counts: Counter[str] = Counter()
    yield from spool_files(FILES, _parts(settings, items, counts))
    yield ExportFile("README.md", _readme(settings, counts).encode())


def _parts(
    settings: MarkingSettings, items: Iterable[CampaignItem], counts: Counter[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield what each text adds to each file, and count what the README says."""
    names = Counter(item.content.get("id") for item in items if item.status is not ItemStatus.WITHDRAWN)
    yield "mqm.tsv", "\t".join(COLUMNS).encode() + b"\n"
    for item in items:
        if item.status is ItemStatus.WITHDRAWN:
            continue
        sample = to_sample(item, unique=names[item.content.get("id")] == 1)
        counts["texts"] += 1
        yield "texts.jsonl", to_line(sample)
        for judgement in judgements_of(settings, item, sample):
            counts["judgements"] += 1
            counts["failed"] += judgement.failure is not None
            yield "judgements.jsonl", to_line(judgement)
            yield "mqm.tsv", "".join(f"{row}\n" for row in write_rows(judgement, sample.source or "")).encode()
        if item.status is ItemStatus.ACCEPTED:
            yield "agreed.jsonl", to_line(agreed_judgement(settings, item, sample))
            if item.region and item.language:
                text = json.dumps({sample.id: to_juice(item)}, ensure_ascii=False, indent=1)
                yield "juice.json", f"{',' if counts['juice'] else '{'}{text[1:-2]}".encode()
            counts["juice" if item.region and item.language else "left out"] += 1
    yield "juice.json", b"\n}\n" if counts["juice"] else b"{}\n"


def to_sample(item: CampaignItem, *, unique: bool = True) -> Sample:
    """Return the text of an item, with the id that it came with; the item's is behind one that several came with."""
    content, name = item.content, item.content.get("id") or ""
    identifier = name if name and unique else f"{name}/{item.id}" if name else item.id
    return sample_of(item, identifier, content.get("instruction"), str(content.get("text", "")), content.get("source"))


def judgements_of(settings: MarkingSettings, item: CampaignItem, sample: Sample) -> Iterator[Judgement]:
    """Yield one judgement for each person who marked the text; of who could not judge it, a failure."""
    signature = _signature(settings, item, "marks")
    for vote in item.votes_at(MARK):
        report = ErrorReport(errors=to_errors(_quoted(item, mark) for mark in vote.answer.get("marks", ())))
        yield Judgement.of(sample, judge=vote.person, score=score(report), report=report, signature=signature)
    failure = Failure(kind=FailureKind.MODEL, reason=DECLINED)
    voted = {vote.person for vote in item.votes_at(MARK)}
    for person in dict.fromkeys(person for person, stage in item.declined if stage == MARK and person not in voted):
        yield Judgement.of(sample, judge=person, failure=failure, signature=signature)


def agreed_judgement(settings: MarkingSettings, item: CampaignItem, sample: Sample) -> Judgement:
    """Return what all people together say about a text: each error that stands, once."""
    report = ErrorReport(errors=to_errors(_quoted(item, each.mark) for each in agreed(item)))
    signature = _signature(settings, item, "agreed")
    return Judgement.of(sample, judge="people", score=score(report), report=report, signature=signature)


def _quoted(item: CampaignItem, mark: Mark) -> Mark:
    """Return a mark as a report has it: its quote is what the text has there, with the text's own line ends."""
    if mark["start"] is None:
        return mark | {"quote": ""}
    return mark | {"quote": str(item.content.get(mark["part"], ""))[mark["start"] : mark["end"]]}


def _signature(settings: MarkingSettings, item: CampaignItem, what: str) -> Signature:
    fields = {"task": f"marking.1 {what}", "campaign": item.campaign, "taxonomy": settings.taxonomy}
    return sign(fields | {"begin": settings.begin, "people": settings.markers, "validated": settings.validated})


# -- JuICE -------------------------------------------------------------------------------------------------


def to_juice(item: CampaignItem) -> dict[str, Any]:
    """Return a text in the schema of JuICE's release; marks of the instruction have no place in it."""
    countries = {code: name for name, code in COUNTRIES.items()}
    english = item.language.split("-")[0] == "en"
    everything = found_in(item)
    dropped = [[place] for place, found in enumerate(everything) if not found.stands]
    places = [[place for place in members if everything[place].mark["part"] == "text"] for members in group(item)]
    groups = [members for members in (*places, *dropped) if members]
    return {
        "country": countries.get(item.region, item.region),
        "language_type": "english" if english else "native",
        "language": item.language,
        "query_text": item.content.get("instruction") or DEFAULT_INSTRUCTION,
        "response_text": item.content.get("text", ""),
        "error_groups": {
            f"group_{number}": _juice_group(item, {place: everything[place] for place in members})
            for number, members in enumerate(groups, 1)
        },
    }


def _juice_group(item: CampaignItem, members: dict[int, PersonMark]) -> dict[str, Any]:
    errors = {f"annotation_{place + 1}": _juice_error(item, found) for place, found in members.items()}
    categories = [error["thick_category"] for error in errors.values() if error["thick_category"]]
    return {
        "errors": errors,
        "paragraph_idx_list": sorted({number for error in errors.values() for number in error["paragraph_idx_list"]}),
        "thick_categories": list(dict.fromkeys(categories)),
    }


def _juice_error(item: CampaignItem, found: PersonMark) -> dict[str, Any]:
    mark = _quoted(item, found.mark)
    start, end = mark["start"], mark["end"]
    blocks = enumerate(paragraphs(str(item.content.get("text", ""))))
    touched = [number for number, (first, last) in blocks if start is not None and start < last and first < end]
    raw = {
        "error_type": "Linguistic Error" if "Linguistic" in found.type else "Cultural Error",
        "error_correction": mark.get("correction", ""),
        "error_criticality": mark.get("severity", ""),
        "validation_type": VALIDATIONS[found.verdict],
        "category": found.type,
    }
    return {
        "paragraph_idx_list": touched,
        "detector_id": found.person,
        "detector_type": "human",
        "span": mark["quote"],
        "explanation": mark.get("explanation", ""),
        "raw_annotation": json.dumps(raw, ensure_ascii=False),
        "thick_category": found.type if found.type in CATEGORIES else None,
    }


def _readme(settings: MarkingSettings, counts: Counter[str]) -> str:
    texts, judgements, failed = counts["texts"], counts["judgements"], counts["failed"]
    lines = [
        "# Marked errors",
        "",
        f"{texts} texts, {judgements} judgements, {failed} of them failures: a person could not judge.",
        "",
        "| file | what |",
        "| --- | --- |",
        "| texts.jsonl | the texts; `mores score texts.jsonl` lets a metric judge the same |",
        "| judgements.jsonl | what each person marked, as `mores score` writes what a metric finds |",
        "| agreed.jsonl | of each decided text the errors that stand, each once |",
        "| mqm.tsv | the judgements for Marot and for WMT's tools |",
        "| juice.json | decided texts in the schema of JuICE; `mores meta` tests metrics on it |",
        "",
        f"Types of errors: `{settings.taxonomy}`. A score is the sum of the severities: minor -1, major -5.",
    ]
    if counts["left out"]:
        lines.append(f"{counts['left out']} decided texts have no region or no language and are not in juice.json.")
    return "\n".join(lines) + "\n"


def label(stage: str, answer: Content) -> str | None:
    """Return the worst error that a person marked, or that there is none; validators answer about each mark apart."""
    if stage != MARK:
        return None
    severities = {mark.get("severity") for mark in answer.get("marks", ())}
    return next((severity for severity in ("major", "minor") if severity in severities), "no error")


def summarise(settings: MarkingSettings, items: Iterable[CampaignItem]) -> Mapping[str, Any]:
    """Count of texts, marks and errors; agreement on places without regard to labels, then on labels."""
    counts, severities, scores = Counter[str](), Counter[str](), list[float | None]()
    texts: list[spans.MarkedText] = []
    for item in items:
        found, votes = found_in(item), item.votes_at(MARK)
        counts["texts"] += 1
        counts["marked"] += bool(votes)
        counts["marks"] += len(found)
        counts["missing"] += sum(each.mark["start"] is None for each in found)
        counts["none"] += sum(not vote.answer.get("marks") for vote in votes)
        severities.update(each.mark.get("severity", "") for each in found)
        if item.votes_at(VALIDATE):
            counts["validated"] += len(found)
            counts["valid"] += sum(each.stands for each in found)
            counts["other"] += sum(each.verdict == "other" for each in found)
        if item.status is ItemStatus.ACCEPTED:
            for error in agreed(item):
                counts["errors"] += 1
                counts["several"] += len(error.people) > 1
        scores += [judgement.score for judgement in judgements_of(settings, item, to_sample(item))]
        texts += _texts(item) if len(votes) > 1 else ()
    known = [score for score in scores if score is not None]
    every = Result(name="judgements", value=None, n=len(known), unscored=len(scores) - len(known))
    figures: dict[str, Any] = {
        "Texts": counts["texts"],
        "Texts that are marked": counts["marked"],
        "Judgements": len(known),
        "Judgements that failed: the person could not judge": every.unscored,
        "Judgements without an error": phrase_share(counts["none"], len(known), every.unscored),
        "Marks": counts["marks"],
        "Minor": severities["minor"],
        "Major": severities["major"],
        "Something is missing": counts["missing"],
        "Mean score": with_missing(formatting.number(fmean(known)), every) if known else "–",
        "Marks that are valid": phrase_share(counts["valid"], counts["validated"]),
        "Valid, of another type": phrase_share(counts["other"], counts["validated"]),
        "Errors after grouping": counts["errors"],
        "Errors that several people found": phrase_share(counts["several"], counts["errors"]),
    }
    agreement = spans.span_agreement(texts)
    if agreement is not None:
        figures |= {
            "Agreement on marked characters (F1)": with_missing(show_figure(agreement.f1), every),
            "The same by chance": formatting.number(agreement.chance),
            "Agreement above chance (κ)": with_missing(show_figure(agreement.kappa), every),
            "Krippendorff's α over characters": with_missing(show_figure(agreement.alpha), every),
        }
        if agreement.labels:
            same = phrase_share(agreement.labels.same, agreement.labels.matched)
            figures["The same type, where two marked the same words"] = same
    return figures


def _texts(item: CampaignItem) -> Iterator[spans.MarkedText]:
    """Yield each part of a text with what every person marked in it."""
    votes = {vote.person: vote.answer.get("marks", ()) for vote in item.votes_at(MARK)}
    for part in dict.fromkeys(["text", *(mark["part"] for marks in votes.values() for mark in marks)]):
        by_person = {
            person: [
                spans.SpanMark(mark["start"], mark["end"], mark.get("type") or None)
                for mark in marks
                if mark["part"] == part and mark["start"] is not None
            ]
            for person, marks in votes.items()
        }
        yield spans.MarkedText(str(item.content.get(part, "")), by_person)


def method(settings: MarkingSettings, items: Iterable[CampaignItem]) -> str:
    """Return a paragraph for the Method section of a paper."""
    people: Counter[int] = Counter()
    checked = 0
    for item in items:
        if votes := item.votes_at(MARK):
            people[len(votes)] += 1
            checked += bool(item.votes_at(VALIDATE))
    counted = people.total()
    types = {"excam": "free", "juice": "those of JuICE", "mqm": "those of MQM", "own": "a list of ours"}
    begin = {
        "blank": "They began with an unmarked text",
        "report": "Where a metric had judged a text, they began with its report",
        "previous": "They began with what the person before them had marked",
    }
    sentences = [
        f"{counted} texts were marked for cultural errors, each by {range_of(people)} speakers of its language.",
        "They selected the wrong words, and gave each error a severity (minor or major) and a type; "
        f"types were {types[settings.taxonomy]}.",
        f"{begin[settings.begin]}.",
        "Marks of several people that overlap are one error, whatever their type.",
    ]
    if checked:
        begun = f"In {checked} of the texts another person" if checked < counted else "Another person"
        sentences.insert(3, f"{begun} then said of each mark whether it is an error, and of which type.")
    return " ".join(sentences)
