"""What a validation gives: the tables beside the paper's, people's judgements, and a paragraph for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mores import formatting as form
from mores.culture import language_name
from mores.metaevaluation.votes import ERROR_PARTLY, holds
from mores.report.base.grid import Grid
from mores.stats.marks import span_agreement
from mores.studio.campaigns.validation.agreement import measure
from mores.studio.campaigns.validation.forms import MARKS, PREFIX
from mores.studio.campaigns.validation.judged import (
    STAGE,
    gold_judgement,
    judged_items,
    marked_texts,
    to_judged,
    to_judgement,
    to_sample,
    to_votes,
)
from mores.studio.campaigns.validation.results import beside, counted, likeness
from mores.studio.campaigns.validation.settings import ValidationSettings
from mores.studio.campaigns.validation.tables import all_tables, describe
from mores.studio.data.tables import to_csv
from mores.studio.kind import ExportFile
from mores.studio.records import CampaignItem, ItemStatus
from mores.types import Record

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


def make_tables(settings: ValidationSettings, items: Sequence[CampaignItem]) -> dict[str, Grid]:
    """Return every table of a campaign."""
    kept = [item for item in items if item.status is not ItemStatus.WITHDRAWN]
    samples = judged_items(settings, kept)
    return all_tables(samples, settings.main, measure(samples), span_agreement(marked_texts(kept)))


def summarise(settings: ValidationSettings, items: Sequence[CampaignItem]) -> Mapping[str, Any]:
    """Return counts, and the tables, which the kind's own page draws."""
    samples = judged_items(settings, items)
    left = beside(samples)
    return {
        "Samples": len(samples),
        "Samples with all their answers": len(counted(samples)),
        "Samples with too few answers": left.waiting,
        "Samples without an answer": left.untouched,
        "Answers": sum(len(sample.answers) for sample in samples),
        "Times that somebody could not judge": left.declined,
        TABLES: list(make_tables(settings, items).values()),
    }


def export(settings: ValidationSettings, items: Iterable[CampaignItem]) -> Iterator[ExportFile]:
    """Yield the tables as CSV, LaTeX and Markdown, and what people said as records."""
    kept = [item for item in items if item.status is not ItemStatus.WITHDRAWN]
    about = {"title": " ".join(settings.title.split()), "licence": settings.licence}
    yield ExportFile("README.md", ABOUT.format(samples=form.count(len(kept), "sample"), **about).encode())
    tables = make_tables(settings, kept)
    yield ExportFile("tables.md", "\n".join(map(to_markdown, tables.values())).encode())
    for name, grid in tables.items():
        yield ExportFile(f"{name}.csv", grid.csv().encode())
        yield ExportFile(f"{name}.tex", grid.latex().encode())
    yield ExportFile("answers.csv", to_csv(list(_answers(kept)), ()))
    records: dict[str, Iterator[Record]] = {
        "samples": (to_sample(item) for item in kept if item.content.get("text")),
        "votes": (vote for i in kept for vote in to_votes(to_sample(i).id, to_judged(settings, i).answers)),
        "gold": (gold_judgement(item) for item in kept if item.content.get(MARKS)),
        "judgements": (to_judgement(item, vote) for item in kept for vote in item.votes_at(STAGE)),
    }
    yield from (ExportFile.of_records(f"{name}.jsonl", lines) for name, lines in records.items())


def _answers(items: Iterable[CampaignItem]) -> Iterator[dict[str, Any]]:
    """Yield every answer as a row; likeness has the names of metrics in place of their numbers."""
    for item in items:
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
    valid = sum(holds(sample.ballot("error"), ERROR_PARTLY) for sample in whole)
    text = (
        f"Following ExCAM (Section 4, Appendix G), people validated {form.count(len(whole), 'sample')} with introduced "
        f"cultural errors in {', '.join(languages) or 'no language yet'}. Each was judged by {settings.people} people "
        f"in {language_name(settings.main)} and by {settings.people_elsewhere} in other languages, in three steps: the "
        f"cultural relation and the error with its spans; the explanation, severity and type; and the likeness of "
        f"metrics' explanations to the gold one, blind and in random order. By majority, {form.count(valid)} of "
        f"{form.count(len(whole))} samples contain a cultural error. {describe(beside(samples))}"
    )
    rated = [metric for metric in likeness(samples) if metric.mean.value is not None]
    means = [f"{metric.metric} {form.number(metric.mean.value)}" for metric in rated]
    return f"{text} Mean likeness from 1 to 5: {', '.join(means)}." if means else text
