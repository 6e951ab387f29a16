"""The results of a validation: tables beside the paper's, answers and marks as votes and judgements, a paragraph."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from mores import formatting as form
from mores.culture import language_name
from mores.factory.validation import SampleVote
from mores.metaevaluation.votes import ERROR_PARTLY, SIMILARITY, holds
from mores.metric.score import score
from mores.report.base.grid import Grid
from mores.stats.marks import MarkedText, SpanMark, span_agreement
from mores.studio.campaigns.validation.forms import MARKS, PREFIX, ValidationSettings
from mores.studio.campaigns.validation.results import JudgedSample, beside, counted, likeness, measure
from mores.studio.campaigns.validation.tables import all_tables, describe
from mores.studio.data.tables import CsvTable
from mores.studio.files import ExportFile, spool_files, to_line
from mores.studio.marks import sample_of, to_errors
from mores.studio.provenance import range_of
from mores.studio.records import CampaignItem, Content, ItemStatus, ItemVote
from mores.types import Error, ErrorReport, Judgement, Record, Sample

V = TypeVar("V")
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
        answers={sys.intern(vote.person): share(tuple(to_answer(item.content, vote).items())) for vote in votes},
        complete=closed or len(votes) >= settings.needed(item.language),
        declined=len({person for person, _ in item.declined}),
        metrics=share(tuple((finds | dict.fromkeys(item.content.get("failed", ()), None)).items())),
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


@lru_cache(maxsize=4096)
def share(pairs: tuple[tuple[str, V], ...]) -> Mapping[str, V]:
    """Return the same mapping for the same pairs: most people give the same few answers, and there may be many."""
    return dict(pairs)


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
                sys.intern(person): [SpanMark(mark["start"], mark["end"]) for mark in given if mark["part"] == part]
                for person, given in marks.items()
            }
            gold = any(mark["part"] == part for mark in item.content.get(MARKS, []))
            if gold or any(places.values()):
                yield MarkedText(item.content[part], places)


def to_sample(item: CampaignItem) -> Sample:
    """Return the text that people judged."""
    instruction, text, source = (item.content.get(name, "") for name in ("instruction", "text", "source"))
    return sample_of(item, item.content.get("sample") or item.id, instruction, text, source)


def _errors(item: CampaignItem, marks: Iterable[Content], about: Content) -> tuple[Error, ...]:
    """Return marks as errors; each quotes the text with its own line ends, where the mark has it as it was shown."""
    quotes = ((mark, item.content[mark["part"]][mark["start"] : mark["end"]]) for mark in marks)
    return to_errors(mark | about | {"quote": quote} for mark, quote in quotes)


def gold_judgement(item: CampaignItem) -> Judgement:
    """Return the gold report, as a judgement of `gold`."""
    content = item.content
    about = {name: content[name] for name in ("severity", "type", "explanation")}
    errors = _errors(item, content[MARKS], about)
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
    report = ErrorReport(errors=_errors(item, marks, about))
    return Judgement.of(to_sample(item), judge=f"person:{vote.person}", score=score(report), report=report)


TABLES = "tables"
"""Where `summarise` has the tables."""
ABOUT = """\
# {title}

What people say about {samples}, after ExCAM (Section 4, Appendix G). Licence: {licence}.

| file | what |
| --- | --- |
| `tables.md` | all tables, each with the paper's own |
| `*.csv`, `*.tex` | each of them, for spreadsheets and papers (booktabs) |
| `answers.csv` | every answer, with the names of the metrics |
| `samples.jsonl` | the texts, for `mores score` and `mores show` |
| `gold.jsonl` | the gold reports, as judgements of `gold` |
| `votes.jsonl` | the answers as votes, for `mores meta` on the dataset that the samples are from |
| `judgements.jsonl` | what each person finds wrong, as judgements; `mores show samples.jsonl judgements.jsonl` |
"""


def make_tables(
    settings: ValidationSettings, samples: Sequence[JudgedSample], texts: Sequence[MarkedText]
) -> dict[str, Grid]:
    """Return every table of a campaign."""
    return all_tables(samples, settings.main, measure(samples), span_agreement(texts))


def summarise(settings: ValidationSettings, items: Sequence[CampaignItem]) -> Mapping[str, Any]:
    """Return counts, and the tables, which the kind's own page draws."""
    samples = judged_items(settings, items)
    texts = list(marked_texts(item for item in items if item.status is not ItemStatus.WITHDRAWN))
    left = beside(samples)
    return {
        "Samples": len(samples),
        "Samples with all their answers": len(counted(samples)),
        "Samples with too few answers": left.waiting,
        "Samples without an answer": left.untouched,
        "Answers": sum(len(sample.answers) for sample in samples),
        "Times that somebody could not judge": left.declined,
        TABLES: list(make_tables(settings, samples, texts).values()),
    }


def export(settings: ValidationSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield the tables as CSV, LaTeX and Markdown, and what people said as records."""
    samples: list[JudgedSample] = []
    texts: list[MarkedText] = []
    answers = CsvTable()

    def parts() -> Iterator[tuple[str, bytes]]:
        for item in items:
            if item.status is ItemStatus.WITHDRAWN:
                continue
            samples.append(to_judged(settings, item))
            texts.extend(marked_texts([item]))
            answers.fill(_answers(item))
            for name, records in _records(item, samples[-1]).items():
                yield from ((f"{name}.jsonl", to_line(record)) for record in records)

    records = spool_files([f"{name}.jsonl" for name in ("samples", "votes", "gold", "judgements")], parts())
    about = {"title": " ".join(settings.title.split()), "licence": settings.licence}
    yield ExportFile("README.md", ABOUT.format(samples=form.count(len(samples), "sample"), **about).encode())
    tables = make_tables(settings, samples, texts)
    yield ExportFile("tables.md", "\n".join(map(to_markdown, tables.values())).encode())
    for name, grid in tables.items():
        yield ExportFile(f"{name}.csv", grid.csv().encode())
        yield ExportFile(f"{name}.tex", grid.latex(name).encode())
    yield answers.close("answers.csv")
    yield from records


def _records(item: CampaignItem, judged: JudgedSample) -> dict[str, Iterable[Record]]:
    """Return what a sample adds to each file of records."""
    sample, votes = to_sample(item), item.votes_at(STAGE)
    return {
        "samples": [sample] if sample.text else [],
        "votes": to_votes(sample.id, judged.answers),
        "gold": [gold_judgement(item)] if item.content.get(MARKS) else [],
        "judgements": (to_judgement(item, vote) for vote in votes),
    }


def _answers(item: CampaignItem) -> Iterator[dict[str, Any]]:
    """Yield every answer as a row; likeness has the names of metrics in place of their numbers."""
    metrics = [explanation["metric"] for explanation in item.content.get("explanations", [])]
    names = {f"{PREFIX}{number}": f"likeness {metric}" for number, metric in enumerate(metrics, 1)}
    about = {"item": item.id, "sample": to_sample(item).id, "language": item.language, "region": item.region}
    for vote in item.votes_at(STAGE):
        given = {names.get(name, name): value for name, value in vote.answer.items()}
        yield about | {"person": vote.person, "seconds": vote.seconds} | given


def to_markdown(grid: Grid) -> str:
    """Return a table in Markdown, with its title and notes."""
    lines = [f"## {grid.title}", "", _line(grid.names), _line(["---"] * len(grid.columns))]
    for heading, rows in grid.sections:
        if heading:
            lines.append(_line([f"**{heading}**", *[""] * (len(grid.columns) - 1)]))
        lines += [
            _line([cell if isinstance(cell, str) else " ".join(filter(None, cell)) for cell in row]) for row in rows
        ]
    notes = [f"\n{note}" for note in grid.notes if note]
    return "\n".join([*lines, *notes, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def method(settings: ValidationSettings, items: Iterable[CampaignItem]) -> str:
    """Return a paragraph for the Method section of a paper."""
    samples = judged_items(settings, items)
    whole = counted(samples)
    languages = sorted({language_name(sample.language) for sample in whole if sample.language})
    people = {
        main: range_of(len(sample.answers) for sample in whole if (sample.language == settings.main) is main)
        for main in (True, False)
    }
    valid = sum(holds(sample.ballot("error"), ERROR_PARTLY) for sample in whole)
    text = (
        f"Following ExCAM (Section 4, Appendix G), people validated {form.count(len(whole), 'sample')} with introduced "
        f"cultural errors in {', '.join(languages) or 'no language yet'}. Each was judged by {people[True]} people "
        f"in {language_name(settings.main)} and by {people[False]} in other languages, in three steps: the "
        f"cultural relation and the error with its spans; the explanation, severity and type; and the likeness of "
        f"metrics' explanations to the gold one, blind and in random order. By majority, {form.count(valid)} of "
        f"{form.count(len(whole))} samples contain a cultural error. {describe(beside(samples))}"
    )
    rated = [metric for metric in likeness(samples) if metric.mean.value is not None]
    means = [f"{metric.metric} {form.number(metric.mean.value)}" for metric in rated]
    return f"{text} Mean likeness from 1 to 5: {', '.join(means)}." if means else text
