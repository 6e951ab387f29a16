"""NormAd (Rao et al. 2025): stories from 75 countries and whether what happens is socially acceptable there.

Neutral rows are left out: they pair a story with another culture's rule, and so say nothing about the country. In the
first release they name the story's country, in the corrected one (the authors' `v2_fix_neutral`) that of the rule.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from mores.culture import region, region_name
from mores.errors import InputError
from mores.factory.items import Source, SourceItem, Task
from mores.factory.sources.files import read_tables
from mores.factory.sources.rows import SourceRow, digest

LABEL = "Gold Label"
_SENTENCE = re.compile(
    r"(?:It(?: is|['’]s)|One (?:should|must)|(?:When|While|If|In|At|Before|After|During|Upon) [^,]+, [a-z]"
    r"|Always|Never|Do not|Don['’]t|Avoid|.+ (?:is|are|should|must|may|can|shows?) )", re.IGNORECASE,
)  # fmt: skip
"""A rule of thumb that is a whole sentence; others are phrases, such as "Bringing a gift when visiting"."""
OTHER = {"Yes": "No", "No": "Yes"}


def is_corrected(rows: Sequence[SourceRow]) -> bool:
    """Return whether these are the rows of the corrected release: by the name of its file, or by their contents.

    A rule of thumb with both a neutral and another story belongs to the other story's country. The corrected release
    gives the neutral row the same country; in the first one, none of eleven such rows has it.
    """
    if any("neutral_fixed" in row.file.name for row in rows):
        return True
    fields = [
        [str(row.values.get(name)).strip().lower() for name in ("Rule-of-Thumb", "Country", LABEL)] for row in rows
    ]
    owners: dict[str, set[str]] = defaultdict(set)
    for rule, country, label in fields:
        if label in {"yes", "no"}:
            owners[rule].add(country)
    matches = [country in owners[rule] for rule, country, label in fields if label == "neutral" and rule in owners]
    return 2 * sum(matches) > len(matches)


def _item(row: SourceRow) -> SourceItem | None:
    label = row.text(LABEL).capitalize()
    if label == "Neutral":
        return None
    if label not in OTHER:
        raise InputError(f"unknown Gold Label {label!r}, not yes, no or neutral; correct or remove the row")
    country = region(row.text("Country").replace("_", " "))
    story, rule = row.text("Story"), row.text("Rule-of-Thumb")
    return SourceItem(
        source="normad",
        id=f"{country}:{digest(story)}",
        task=Task.IMPERSONATION,
        question=story,
        answer=label,
        wrong=(OTHER[label],),
        context=rule,
        norm=rule if rule.endswith(".") and _SENTENCE.match(rule) else None,
        role=(("Country", region_name(country)),),
        explanation=row.maybe("Explanation"),
        region=country,
        language="en",
        topic=row.maybe("Subaxis", "Axis"),
        unit=f"{country}:{digest(rule)}",
    )


SOURCE = Source(
    name="normad",
    title="NormAd: what is acceptable in 75 countries",
    task=Task.IMPERSONATION,
    licence="CC-BY-4.0",
    commercial=True,
    homepage="https://huggingface.co/datasets/akhilayerukola/NormAd",
    files="normad*.csv or .jsonl with Country, Story, Rule-of-Thumb, Gold Label",
    stratify="region",
    read=read_tables(_item, "normad*.jsonl", "*ormad*.csv", "*.csv", "*.parquet"),
    hub="akhilayerukola/NormAd",
)
