"""EPIC (Frenda et al. 2023): whether people of five English-speaking countries find a reply ironic.

Two shapes are read: the corpus itself, one row per annotator (user, label `iro` or `not`, id_original, text,
parent_text, Age, Sex and so on), whose attributes become the role; and its majority per group (nationality, gender,
generation), where the role is the group. Everything made of one reply stays together.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from mores.culture import region, region_name
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import find, read_all
from mores.factory.sources.rows import OnBad, SourceRow, collect, digest, items

QUESTION = "Indicate whether this text is ironic or non-ironic: {text}"
IRONIC, OTHER = "The text is ironic.", "The text is non-ironic."
"""The task and the answer as in ExCAM, Table 10."""
LABELS = {"1": IRONIC, "iro": IRONIC, "0": OTHER, "not": OTHER}

GENERATIONS = {"Boomer": "Baby Boomers", "GenX": "Generation X", "GenY": "Generation Y", "GenZ": "Generation Z"}
GENDERS = ("Female", "Male")
NO_GROUP = {"aggregated", "Unknown"}
COLUMNS = {"Age": "Age", "Sex": "Sex", "Ethnicity simplified": "Ethnicity", "Nationality": "Nationality"}
"""Columns about an annotator, and their names in the role."""


def _read(folder: Path, on_bad: OnBad) -> Iterator[SourceItem]:
    rows = read_all(find(folder, "EPIC*.csv", "epic*.jsonl", "*.parquet"))
    yield from items(chain.from_iterable(collect(rows, _expand, on_bad)), _item, on_bad)


def _expand(row: SourceRow) -> list[SourceRow]:
    """Return one row per reply and group; a row of the corpus is one already."""
    if "labels" not in row.values:
        return [row]
    groups = [(group, label) for group, label in row.mapping("labels").items() if group not in NO_GROUP]
    return [row.having({**row.values, "user": group, "label": label}) for group, label in groups]


def _item(row: SourceRow) -> SourceItem:
    label = row.text("label")
    if label not in LABELS:
        raise InputError(f"unknown label {label!r}, not one of {', '.join(LABELS)}; correct or remove the row")
    text = row.text("id_text", "id_original")
    role = _role(row)
    nationality = dict(role).get("Nationality")
    return SourceItem(
        source="epic",
        id=f"{text}:{row.text('user')}",
        task=Task.IMPERSONATION,
        question=QUESTION.format(text=row.text("text")),
        answer=LABELS[label],
        wrong=(OTHER if LABELS[label] == IRONIC else IRONIC,),
        context=row.maybe("parent_text"),
        role=role,
        region=region(nationality) if nationality else None,
        language="en",
        unit=digest(row.text("text"), row.maybe("parent_text") or ""),
    )


def _role(row: SourceRow) -> tuple[tuple[str, str], ...]:
    """Return the attributes of a group, or of an annotator."""
    if "labels" in row.values:
        name = row.text("user")
        if name in GENDERS:
            return (("Gender", name),)
        if name in GENERATIONS:
            return (("Generation", GENERATIONS[name]),)
        return (("Nationality", region_name(region(name.replace("_", " ")))),)
    known = [(name, (row.maybe(column) or "").removesuffix(".0")) for column, name in COLUMNS.items()]
    role = [
        (name, value) for name, value in known if value and value.upper() not in {"CONSENT_REVOKED", "DATA_EXPIRED"}
    ]
    if not role:
        raise InputError("no data about the annotator; expected Age, Sex, Ethnicity simplified, Nationality")
    return tuple(role)


SOURCE = Source(
    name="epic",
    title="EPIC: irony as five English-speaking countries see it",
    task=Task.IMPERSONATION,
    licence="CC-BY-NC-SA-4.0",
    commercial=False,
    homepage="https://huggingface.co/datasets/Multilingual-Perspectivist-NLU/EPIC",
    files="EPICorpus.csv, or epic*.jsonl with the majority per group",
    stratify="region",
    read=_read,
    no_facts="tweets, and whether some readers find them ironic",
    hub="Multilingual-Perspectivist-NLU/EPIC",
)
