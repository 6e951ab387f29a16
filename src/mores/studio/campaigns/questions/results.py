"""The accepted questions as a dataset that `mores bench` and `mores collect` read, and the campaign's own figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mores.culture import language_name
from mores.formatting import count
from mores.studio.campaigns.questions.forms import (
    ACCEPT,
    CRITERIA,
    INVALID,
    NONE,
    LongQuestionSettings,
    host_of,
    is_english,
    sent_by,
)
from mores.studio.export import Runnable, bench_folder, spool_rows
from mores.studio.files import ExportFile
from mores.studio.kind import slug
from mores.studio.phrase import Phrase, phrase_share
from mores.studio.records import CampaignItem, Content, ItemStatus

ABOUT = """{count} {kind} questions that need long answers, collected as for CaLMQA (Arora et al. 2025, Section 2.2).
{checked} Answers are judged without a reference: `mores bench FOLDER --model MODEL --judge JUDGE --facts serper`.

`mores collect FOLDER/data/{file} --model MODEL` filters, translates and labels them. To compare specific with agnostic
questions, put the files of the `data` folders of both campaigns into `BOTH/calmqa`, and run `mores bench calmqa --data
BOTH --model MODEL`.

## Fidelity

The questions are asked and judged as those of `mores bench calmqa`; the questions are others than the paper's.
"""


def export(settings: LongQuestionSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield the accepted questions as a benchmark that runs; websites of a survey as a table."""
    if settings.source == "survey":
        columns = ("website", "language", "criteria", "examples")
        websites = ([as_cell(row[name]) for name in columns] for row in map(website_row, items))
        yield ExportFile.of_table("websites.csv", columns, websites)
        return
    kind = "agnostic" if settings.source == "translation" else "specific"
    file = f"dataset-{kind}-{slug(settings.title) or 'campaign'}.jsonl"
    checked = Counter[bool]()

    def rows() -> Iterator[Content]:
        for item in items:
            checked[is_checked(item)] += 1
            yield question_row(settings, item)

    lines, first = spool_rows(rows())
    about = ABOUT.format(count=checked.total(), kind=f"culturally {kind}", file=file, checked=describe_check(checked))
    benchmark = Runnable("calmqa:CALMQA", groupings=("kind", "language"))
    yield from bench_folder(settings, [benchmark], {file: lines}, {file: first}, about)


def question_row(settings: LongQuestionSettings, item: CampaignItem) -> Content:
    """Return one question in the columns of the published dataset, with where it is from."""
    content, is_translation = item.content, settings.source == "translation"
    english = content.get("english") if is_translation else content.get("translation")
    return {
        "id": f"{content['id']}:{item.language}" if content.get("id") else item.id,
        "question_type": "culturally agnostic" if is_translation else "culturally specific",
        "language": item.language,
        "question": content.get("question", ""),
        "question_english": None if is_english(item) else english,
        "answer": content.get("answer"),
        "answer_english": content.get("answer_translation"),
        "source": content.get("link") or content.get("source"),
    }


def website_row(item: CampaignItem) -> Content:
    """Return one website of the survey."""
    names = ("website", "criteria", "examples")
    return {name: item.content.get(name, "") for name in names} | {"language": item.language}


def as_cell(value: Any) -> str:
    """Return a value as one cell of a table."""
    return " | ".join(value) if isinstance(value, list) else str(value)


def summarise(settings: LongQuestionSettings, items: Sequence[CampaignItem]) -> Mapping[str, Any]:
    """Return what was sent, accepted and returned and why, and what it costs by the piece."""
    accepted = [item for item in items if item.status is ItemStatus.ACCEPTED]
    checks = [vote.answer for item in items for vote in item.votes if vote.stage == "check"]
    broken = Counter(name for answer in checks for name in answer["problems"] if name != NONE)
    figures: dict[str, Any] = {
        "Items": len(items),
        "Accepted by reviewers": phrase_share(sum(answer["verdict"] == ACCEPT for answer in checks), len(checks)),
        "Refused without pay": sum(answer["verdict"] == INVALID for answer in checks),
        "Returned at least once": sum(item.returns > 0 for item in items),
    }
    figures |= {text: broken[name] for name, text in CRITERIA[settings.source].items()}
    if settings.source == "survey":
        figures["Different websites"] = len({host_of(item.content["website"]) for item in accepted})
    people = {item.author for item in items} | {vote.person for item in items for vote in item.votes}
    paid = [item for person in people if person for item in sent_by(settings, items, person)]
    answers = sum(bool(item.content.get("answer")) for item in paid)
    cost = f"{len(paid) * settings.per_question + answers * settings.per_answer:,.2f} {settings.currency}"
    figures["Pay by the piece"] = Phrase("{cost} for {count}", cost=cost, count=len(paid))
    return figures


def describe(settings: LongQuestionSettings, items: Iterable[CampaignItem]) -> str:
    """Return a paragraph for the Method section of a paper."""
    every, found, checked = 0, set(), Counter[bool]()
    for item in items:
        every += 1
        if item.status is ItemStatus.ACCEPTED:
            checked[is_checked(item)] += 1
            found |= {language_name(item.language)} if item.language else set()
    languages, accepted = sorted(found), checked.total()
    what = {
        "native": "native speakers wrote {} with English translations",
        "websites": "people took {} and their answers from websites in their language",
        "survey": "people named {}",
        "translation": "people translated {} from English",
    }[settings.source].format(count(every, "website" if settings.source == "survey" else "question"))
    test = f"They read guidelines and took a test of {len(settings.practice)} items" if settings.practice else ""
    pilot = f"a pilot of {count(settings.pilot, 'item')} came first" if settings.pilot and test else ""
    trained = f"{'; '.join(filter(None, (test, pilot)))}. " if test else ""
    named = f" ({', '.join(languages)})" if languages else ""
    return (
        f"Following CaLMQA (Arora et al. 2025), {what}. {trained}{describe_check(checked)} "
        f"{accepted:,} were accepted, in {count(len(languages), 'language')}{named}."
    )


def is_checked(item: CampaignItem) -> bool:
    """Return whether somebody checked an item."""
    return any(vote.stage == "check" for vote in item.votes)


def describe_check(checked: Counter[bool]) -> str:
    """Return who checked the accepted items, as their votes show it."""
    each = "each" if not checked[False] else f"{checked[True]:,} of {checked.total():,}"
    return f"Another person checked {each} against the rules." if checked[True] else "Nobody checked them."
